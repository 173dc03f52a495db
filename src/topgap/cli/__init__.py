"""The command `topgap`."""

import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command and end with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is None where it is closed
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        signal.signal(signal.SIGTERM, _end)
        try:
            from topgap.cli.commands import app
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "typer":
                raise
            complain("The command needs typer: pip install typer.")
            sys.exit(1)
        try:
            app(prog_name="topgap")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        # Help or version that could not be shown; whatever is left to show has nowhere to go.
        sys.stdout = None
        if not isinstance(error, BrokenPipeError):
            complain(f"Standard output cannot be written: {error.strerror}.")
        sys.exit(1)


def complain(sentence: str) -> None:
    """Say it on standard error, if that is open."""
    if sys.stderr is not None:
        print(f"topgap: {sentence}", file=sys.stderr)


def _end(number: int, _: FrameType | None) -> None:
    """End in the ordinary way, so that temporary files are removed."""
    sys.exit(128 + number)
