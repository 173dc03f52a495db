"""How the command ends when something goes wrong: one sentence, an exit code, no traceback."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from topgap.cli import complain
from topgap.errors import TopgapError

FAILED = 1
INTERRUPTED = 130


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn what goes wrong inside into a sentence on standard error and an exit code."""
    try:
        yield
    except (typer.BadParameter, typer.Exit, BrokenPipeError):
        raise  # what cannot be understood typer explains; and a reader who has gone needs nothing
    except TopgapError as error:
        complain(str(error))
        _add_notes(error)
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt as error:
        complain("Interrupted.")
        _add_notes(error)
        raise typer.Exit(INTERRUPTED) from None
    except OSError as error:
        complain(f"The system refuses: {error.strerror}.")
        sys.stdout = None  # what is left to be shown may have nowhere to go
        raise typer.Exit(FAILED) from None
    except MemoryError:
        complain("There is not enough memory for this.")
        raise typer.Exit(FAILED) from None
    except Exception as error:
        # Its text is not shown: it could hold somebody's data.
        complain(f"This is a defect of topgap ({type(error).__name__}); please report it.")
        raise typer.Exit(FAILED) from None


def _add_notes(error: BaseException) -> None:
    """Say what was noted on the way, such as what has been charged."""
    for note in getattr(error, "__notes__", ()):
        complain(note)
