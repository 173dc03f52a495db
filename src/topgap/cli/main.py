"""The entry point of the command `topgap`."""

import sys

from topgap.cli.errors import print_error, signal_exit_code, unwatch_signals, watch_signals
from topgap.signals import defer_signals


def main() -> None:
    """Run the command and end with its exit code: 128 and its number if a signal came."""
    try:
        try:
            watch_signals()
            _run()
        finally:
            unwatch_signals()
    except KeyboardInterrupt:
        sys.exit(signal_exit_code() or 130)  # it may have come before all others
    except BaseException:
        if signal_exit_code() is None:
            raise
    sys.exit(signal_exit_code())


def _run() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is None where it is closed
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        with defer_signals():  # NumPy reports one as a broken installation
            from topgap.cli.app import app
    except ImportError as error:
        if (error.name or "").partition(".")[0] != "typer":
            raise
        print_error("The command needs typer: pip install typer.")
        sys.exit(1)
    try:
        try:
            app(prog_name="topgap")
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except OSError as error:
        # Help or version that could not be shown; whatever is left to show has nowhere to go.
        sys.stdout = None
        if not isinstance(error, BrokenPipeError):
            print_error(f"Standard output cannot be written: {error.strerror}.")
        sys.exit(1)
