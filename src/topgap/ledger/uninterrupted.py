"""Work that no interrupt can stop in the middle: `run_to_end`.

Ctrl-C and signal handlers raise their exceptions in the main thread, and there between any two
steps: also on the way out of a `finally`, and a traceback that a notebook keeps then keeps what was
open. So the main thread lets another one do the work, and waits for it.
"""

import threading
from _thread import start_new_thread
from collections.abc import Callable
from sys import is_finalizing
from typing import Generic, TypeVar

_Got = TypeVar("_Got")


class Work(Generic[_Got]):
    """Something that is done once, while the main thread waits.

    Args:
        do: What is done; it is given this, so that it can see whether it is still wanted.

    Attributes:
        is_wanted: Whether somebody waits for it; not, once they were interrupted.
    """

    def __init__(self, do: "Callable[[Work[_Got]], _Got]") -> None:
        self.is_wanted = True
        self._do = do
        self._claim = threading.Lock()  # whoever has it decides whether it is done
        self._end = threading.Lock()  # which is released then
        self._end.acquire()
        self._has_ended = False
        self._results: list[_Got] = []
        self._error: BaseException | None = None

    def run(self) -> _Got:
        """Do it, and give what it gives or raise what it raises.

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
        """Wait for it; False if no thread can be started.

        After an interrupt nothing is called but what takes one step. So a second one can end the
        waiting, but not the work.
        """
        interrupt: BaseException | None = None
        is_begun = False
        while not self._has_ended:
            try:
                if not is_begun:
                    is_begun = True
                    # threading.Thread takes many steps to start, and each could be interrupted.
                    start_new_thread(self._work, ())
                while not self._has_ended:
                    self._end.acquire()
            except BaseException as error:
                self.is_wanted = False
                if self._claim.acquire(blocking=False):  # nobody has begun, and nobody will
                    if isinstance(error, RuntimeError):  # as at the end of the interpreter
                        self.is_wanted = True
                        return False
                    raise
                interrupt = error
        if interrupt is not None:
            try:
                raise interrupt
            finally:
                del interrupt
        return True

    def _work(self) -> None:
        if not self._claim.acquire(blocking=False):
            return
        try:
            self._results.append(self._do(self))
        except BaseException as error:
            self._error = error
        finally:
            self._has_ended = True
            self._end.release()


def run_to_end(do: "Callable[[Work[_Got]], _Got]") -> _Got:
    """Do it to its end, whatever interrupts the main thread meanwhile.

    Args:
        do: What is done, in a thread of its own if this is the main thread. Its argument tells
            whether it `is_wanted` still.

    Raises:
        BaseException: What it raises; or, when it has ended, what interrupted the main thread.

    >>> run_to_end(lambda work: work.is_wanted)
    True
    """
    return Work(do).run()
