"""The command `topgap`."""

import signal
import sys
from types import FrameType


def main() -> None:
    """Run the command and end with its exit code."""
    try:
        signal.signal(signal.SIGTERM, _end)
        try:
            from topgap.cli.commands import app
        except ImportError as error:
            if (error.name or "").partition(".")[0] != "typer":
                raise
            print("topgap: The command needs typer: pip install typer.", file=sys.stderr)
            sys.exit(1)
        app(prog_name="topgap")
    except KeyboardInterrupt:
        sys.exit(130)


def _end(number: int, _: FrameType | None) -> None:
    """End in the ordinary way, so that temporary files are removed."""
    sys.exit(128 + number)
