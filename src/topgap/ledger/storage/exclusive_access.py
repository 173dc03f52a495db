"""Exclusive access to a ledger's file, to the end of a transaction.

- `DirectoryLock` keeps other processes of topgap away. SQLite's own locks are not enough: the
  system drops them if the same process opens and closes the file by other means, as a backup does.
- `retry_while_busy` waits for those who have the file.
- `run_uninterrupted` lets no interrupt stop a transaction in the middle. Ctrl-C and signal handlers
  raise their exceptions in the main thread, and there between any two steps: also on the way out of
  a `finally`, and a traceback that a notebook keeps then keeps what was open. So the main thread
  lets another one do the work, and waits for it.
"""

import os
import random
import sqlite3
import threading
import time
from _thread import start_new_thread
from collections.abc import Callable
from contextlib import suppress
from sys import is_finalizing
from typing import Any, Generic, TypeVar

from topgap.errors import LedgerError
from topgap.ledger.storage.sqlite_errors import is_busy

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:  # as on Windows, where SQLite's locks are not dropped
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

_Result = TypeVar("_Result")
_LONGEST_PAUSE = 0.02


# --- The lock


class DirectoryLock:
    """The lock of a ledger's directory, held for one transaction.

    Raises:
        LedgerError: This process was forked amid one.

    Attributes:
        is_locked: Whether it has the lock.
    """

    def __init__(self) -> None:
        if _inherited:
            raise LedgerError(
                "This process was forked while a thread used a ledger, and cannot use one; start "
                "it before the threads, or with the method spawn."
            )
        self.is_locked = False
        self._descriptor: int | None = None
        _held.add(self)

    def lock(self, directory: str) -> None:
        """Lock the directory, if its file system has such locks; if not, SQLite's must do.

        Raises:
            BlockingIOError: Another has it.
            OSError: The directory cannot be opened.
        """
        if self._descriptor is None:
            self._descriptor = os.open(directory, os.O_RDONLY)
        try:
            flock(self._descriptor, LOCK_EX | LOCK_NB)
            self.is_locked = True
        except BlockingIOError:
            raise
        except OSError:
            pass

    def close(self) -> None:
        """Let others have it."""
        if self._descriptor is not None:
            with suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None
        _held.discard(self)


_held: set[DirectoryLock] = set()
"""The locks of this process."""
_inherited: set[DirectoryLock] = set()
"""The locks of the process that this one was forked from: SQLite takes them for its own."""


def _inherit() -> None:
    _inherited.update(_held)
    for each in _inherited:
        each.close()  # or it would be held for as long as this process lives


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_inherit)


# --- Without interrupts


class Task(Generic[_Result]):
    """Work that is done once, by another thread, while the main thread waits.

    Args:
        do: The work. It is given the task, so that it can see whether it is still wanted.

    Attributes:
        is_wanted: Whether somebody waits for it; False once they were interrupted.
    """

    def __init__(self, do: "Callable[[Task[_Result]], _Result]") -> None:
        self.is_wanted = True
        self._do = do
        self._claims: dict[str, str] = {}
        self._end = threading.Lock()  # which is released then
        self._end.acquire()
        self._has_ended = False
        self._results: list[_Result] = []
        self._error: BaseException | None = None

    def run(self) -> _Result:
        """Do the work, and return what it returns or raise what it raises.

        An interrupt is raised when the work has ended. Until then the work can see that it is no
        longer wanted, and end where nothing is lost.
        """
        is_interruptible = threading.get_ident() == threading.main_thread().ident
        if is_finalizing():  # a thread that is started now never runs
            is_interruptible = False
        if not (is_interruptible and self._is_done_by_another_thread()):
            return self._do(self)
        error, self._error = self._error, None
        if error is None:
            return self._results[0]
        try:
            raise error
        finally:
            del error  # or its traceback would hold itself

    def _is_done_by_another_thread(self) -> bool:
        """Wait for it; return False if no thread can be started.

        Further interrupts do not end the waiting: of several, the last is raised. One that comes in
        the instant between two rounds could; then the work ends by itself all the same, and what
        has not begun is not begun any more.
        """
        interrupt: BaseException | None = None
        is_asked_for = False
        while not self._has_ended:
            try:
                if interrupt is not None and self._is_claimed_by("the main thread"):
                    break  # nobody has begun, and nobody will
                if not is_asked_for:
                    is_asked_for = True
                    # threading.Thread takes many steps to start, and each could be interrupted.
                    start_new_thread(self._work, ())
                while not self._has_ended:
                    self._end.acquire()
            except BaseException as error:
                self.is_wanted = False
                interrupt = error
                try:
                    _raise_pending_interrupt()
                except BaseException as another:
                    interrupt = another
        if isinstance(interrupt, RuntimeError) and not self._has_ended:
            self.is_wanted = True
            return False  # no thread can be started, as at the end of the interpreter
        if interrupt is not None:
            try:
                raise interrupt
            finally:
                del interrupt
        return True

    def _work(self) -> None:
        if not self._is_claimed_by("another thread"):
            return
        try:
            if self.is_wanted:
                self._results.append(self._do(self))
        except BaseException as error:
            self._error = error
        finally:
            self._has_ended = True
            self._end.release()

    def _is_claimed_by(self, who: str) -> bool:
        """Whether it is up to them; the first who asks has it, however often they ask."""
        return self._claims.setdefault("by", who) == who


def _raise_pending_interrupt() -> None:
    """Let Python raise a further interrupt here, where it is expected."""


def run_uninterrupted(do: "Callable[[Task[_Result]], _Result]") -> _Result:
    """Do the work to its end, whatever interrupts the main thread meanwhile.

    Args:
        do: The work, done in a thread of its own if this is the main thread. Its argument tells
            whether it `is_wanted` still.

    Raises:
        BaseException: What it raises; or, when it has ended, what interrupted the main thread.

    >>> run_uninterrupted(lambda task: task.is_wanted)
    True
    """
    return Task(do).run()


# --- Waiting


def retry_while_busy(
    do: Callable[[], _Result], *, task: Task[Any], seconds: float, label: str
) -> _Result:
    """Do it as soon as others let us, for as long as somebody waits for the task.

    Args:
        do: What raises if others use the file.
        task: The task that this is a part of.
        seconds: How long to wait.
        label: What an error calls the file.

    Raises:
        LedgerError: Others have used it for all the time.
    """
    begun = time.monotonic()
    while True:
        try:
            return do()
        except BlockingIOError:
            pass
        except sqlite3.OperationalError as error:
            if not is_busy(error):
                raise
        waited = time.monotonic() - begun
        if waited >= seconds or not task.is_wanted:
            raise LedgerError(
                f"{label} has been in use by other processes for {seconds:g} seconds; try again "
                f"later."
            )
        # Of different lengths, or those who wait would come all at once; and shorter for those
        # who have waited longer, but not ever shorter: many who only ask would leave no time
        # to the one who is charging.
        time.sleep(random.uniform(0, _LONGEST_PAUSE / (1 + min(waited, 1))))
