"""How the command ends when something goes wrong: one sentence, an exit code, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from topgap.cli import signals
from topgap.cli.main import complain
from topgap.errors import TopgapError

FAILED = 1
INTERRUPTED = 130


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn what goes wrong inside into a sentence on standard error and an exit code.

    After a signal nothing else is said, whatever became of what its handler raised.
    """
    try:
        yield
    except (typer.BadParameter, typer.Exit, BrokenPipeError):
        raise  # what cannot be understood typer explains; and a reader who has gone needs nothing
    except BaseException as error:
        code = signals.exit_code()
        if code is None and isinstance(error, SystemExit):
            raise
        if code is None and isinstance(error, KeyboardInterrupt):
            code = INTERRUPTED
        if code is None:
            complain(_sentence(error))
        else:
            complain("Interrupted." if code == INTERRUPTED else "Terminated.")
        if code is not None or isinstance(error, TopgapError):
            _add_notes(error)
        if isinstance(error, OSError) and not isinstance(error, TopgapError):
            sys.stdout = None  # what is left to be shown may have nowhere to go
        raise typer.Exit(code or FAILED) from None


def _sentence(error: BaseException) -> str:
    if isinstance(error, TopgapError):
        return str(error)
    if isinstance(error, OSError):
        return f"The system refuses: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    # Its text is not shown: it could hold somebody's data.
    return f"This is a defect of topgap ({type(error).__name__}); please report it."


def _add_notes(error: BaseException) -> None:
    """Say what was noted on the way, such as what has been charged."""
    for note in getattr(error, "__notes__", ()):
        complain(note)
