"""How a command ends: with one sentence and an exit code, after an error or a signal.

A signal's handler raises, so that temporary files are removed and transactions are undone. But
Python drops what is raised inside a finalizer or inside a callback of a C library, or turns it into
another error. So this module remembers that a signal came, and the exit code tells it.

`main` imports this module before anything that is slow to load, so it loads Typer late.
"""

import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from topgap.errors import LargeEpsilonWarning, LedgerWarning, TopgapError
from topgap.signals import SIGNALS

FAILED = 1
INTERRUPTED = 130
_NARROWEST = 40
_came: list[int] = []
_waiting: list[str] = []
_costs: list[str] = []


def print_error(sentence: str) -> None:
    """Print the sentence on standard error, if that is open."""
    print_remark(f"topgap: {sentence}")


def print_remark(sentence: str) -> None:
    """Print the sentence on standard error, if that is open; in lines that fit a terminal."""
    if sys.stderr is None:
        return
    if sys.stderr.isatty():
        from shutil import get_terminal_size
        from textwrap import fill

        columns = max(get_terminal_size().columns, _NARROWEST)
        sentence = fill(sentence, columns, break_long_words=False, break_on_hyphens=False)
    print(sentence, file=sys.stderr)


@contextmanager
def report_errors() -> Iterator[None]:
    """Turn an exception into a sentence on standard error and an exit code.

    After a signal nothing else is printed about the exception, whatever became of that of its
    handler. What was noted with `note_cost` follows in any case. Notes on the exception itself are
    not printed: they could hold somebody's data.
    """
    import typer

    _costs.clear()
    try:
        yield
    except (typer.BadParameter, typer.Exit, BrokenPipeError):
        raise  # Typer explains a wrong option; and a reader who has gone needs no sentence
    except BaseException as error:
        code = signal_exit_code()
        if code is None and isinstance(error, SystemExit):
            raise
        if code is None and isinstance(error, KeyboardInterrupt):
            code = INTERRUPTED
        if code is None:
            print_error(_describe(error))
        else:
            print_error("Interrupted." if code == INTERRUPTED else "Terminated.")
        for sentence in _costs:
            print_error(sentence)
        if isinstance(error, OSError) and not isinstance(error, TopgapError):
            sys.stdout = None  # what is left to be shown may have nowhere to go
        raise typer.Exit(code or FAILED) from None


def note_cost(*sentences: str) -> None:
    """Have these sentences printed if the command ends with an error or a signal, whatever it is.

    They are kept here and not as notes of the exception, on which libraries leave notes, too.
    """
    _costs[:] = sentences


def _describe(error: BaseException) -> str:
    if isinstance(error, TopgapError):
        return str(error)
    if isinstance(error, OSError):
        return f"The system refuses: {error.strerror}."
    if isinstance(error, MemoryError):
        return "There is not enough memory for this."
    # Its text is not shown: it could hold somebody's data.
    return f"This is a defect of topgap ({type(error).__name__}); please report it."


@contextmanager
def format_warnings(*, is_quiet: bool) -> Iterator[None]:
    """Print each warning of topgap as one sentence; if quiet, only those of the ledger.

    That of a large ε waits until something is released or asked: an error has one sentence.
    """
    _waiting.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("always", LedgerWarning)
        warnings.simplefilter("ignore" if is_quiet else "always", LargeEpsilonWarning)
        show_other = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if category is LargeEpsilonWarning:
                _waiting.append(str(message))
            elif category is LedgerWarning:
                print_error(str(message))
            else:
                show_other(message, category, *where, **more)

        warnings.showwarning = show
        yield
    print_waiting_warnings()


def print_waiting_warnings() -> None:
    """Print the warnings that waited for a release, or for a question before it."""
    for sentence in _waiting:
        print_error(sentence)
    _waiting.clear()


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C, in a class of its own.

    If Python's own class passes through an `eval` or `exec` of text, Python remembers it and at the
    end kills itself, whatever the exit code is.
    """


def watch_signals() -> None:
    """Handle SIGINT and SIGTERM from here on, unless they are ignored."""
    sys.unraisablehook = _drop_interrupts
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _handle)


def unwatch_signals() -> None:
    """Let signals end the process at once: all that is left to do is to exit."""
    for number in SIGNALS:
        if signal.getsignal(number) is _handle:
            signal.signal(number, signal.SIG_DFL)


def signal_exit_code() -> int | None:
    """The exit code for the signal that came; None if none did."""
    return 128 + _came[0] if _came else None


def raise_lost_signal() -> None:
    """End the command if a signal came and the exception of its handler was lost.

    Raises:
        KeyboardInterrupt: SIGINT came.
        SystemExit: SIGTERM came.
    """
    if _came:
        _raise(_came[0])


def _handle(number: int, _: FrameType | None) -> None:
    _came.append(number)
    _raise(number)


def _raise(number: int) -> None:
    if number == signal.SIGINT:
        raise _Interrupt
    sys.exit(128 + number)


def _drop_interrupts(unraisable: Any) -> None:
    """Print nothing about a handler's exception where none can be raised."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(unraisable)
