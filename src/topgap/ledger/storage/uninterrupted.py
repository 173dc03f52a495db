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
        self._claims: dict[str, str] = {}
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
                    _take_what_came_meanwhile()
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


def _take_what_came_meanwhile() -> None:
    """Let Python raise a further interrupt here, where it is expected."""


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
