"""SIGINT and SIGTERM end the command in the ordinary way, and it does not forget them.

A handler raises, so that temporary files are removed and transactions are undone. But what is
raised while Python runs a finalizer or a callback of a library in C is dropped there, or turned
into another error. So it is remembered that the signal came, and the exit code tells it.
"""

import signal
import sys
from types import FrameType
from typing import Any

from topgap.signals import SIGNALS

_came: list[int] = []


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C, in a class of its own.

    If the one of Python passes through an `eval` or `exec` of text, Python remembers it and at the
    end kills itself, whatever the exit code is.
    """


def watch() -> None:
    """Handle signals from here on, those that are not ignored."""
    sys.unraisablehook = _drop_interrupts
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # as under nohup
            signal.signal(number, _end)


def unwatch() -> None:
    """Let signals end the process at once, for all that is left to do is to exit."""
    for number in SIGNALS:
        if signal.getsignal(number) is _end:
            signal.signal(number, signal.SIG_DFL)


def exit_code() -> int | None:
    """The exit code for the signal that came; None if none did."""
    return 128 + _came[0] if _came else None


def raise_again() -> None:
    """End the command if a signal came and what it raised was lost.

    Raises:
        KeyboardInterrupt: SIGINT came.
        SystemExit: SIGTERM came.
    """
    if _came:
        _raise(_came[0])


def _end(number: int, _: FrameType | None) -> None:
    _came.append(number)
    _raise(number)


def _raise(number: int) -> None:
    if number == signal.SIGINT:
        raise _Interrupt
    sys.exit(128 + number)


def _drop_interrupts(unraisable: Any) -> None:
    """Say nothing of what a handler raised where nothing can be raised."""
    if not issubclass(unraisable.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(unraisable)
