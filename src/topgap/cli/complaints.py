"""How the command ends when something goes wrong: one sentence, an exit code, no traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from topgap.errors import TopgapError

FAILED = 1
INTERRUPTED = 130


@contextmanager
def one_sentence() -> Iterator[None]:
    """Turn what goes wrong inside into a sentence on standard error and an exit code."""
    try:
        yield
    except (typer.BadParameter, typer.Exit):
        raise  # a command that cannot be understood, which typer explains
    except TopgapError as error:
        _complain(str(error))
        raise typer.Exit(FAILED) from None
    except KeyboardInterrupt:
        _complain("Interrupted; nothing was released.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Whoever read our output has gone. What is left in the buffer has nowhere to go either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(FAILED) from None
    except MemoryError:
        _complain("There is not enough memory for this.")
        raise typer.Exit(FAILED) from None
    except Exception as error:
        # Its text is not shown: it could hold somebody's data.
        _complain(f"This is a defect of topgap ({type(error).__name__}); please report it.")
        raise typer.Exit(FAILED) from None


def _complain(sentence: str) -> None:
    print(f"topgap: {sentence}", file=sys.stderr)
