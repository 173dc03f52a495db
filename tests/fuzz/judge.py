"""Calls with anything, and how they end: with what was promised, or with one of our sentences."""

import signal
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

from tests.fuzz.hostile_values import MARK
from topgap.errors import KernelError, LargeEpsilonWarning

SECONDS = 30
"""No call on so little data may take longer, even on a busy machine."""

NOT_MENDED: list[tuple[str, type[BaseException], str]] = []
"""Defects that were found and are still there: the entry point, or any, the error, what it says."""

_Made = TypeVar("_Made")


class TooSlow(BaseException):
    """A call has not ended."""


class Judge:
    """Makes calls, and fails where one ends as none may.

    Attributes:
        made: How many calls of each entry point gave a result.
        refused: How many ended with an error that is documented for it.
        slowest: The seconds of the longest call of each.
        not_mended: How many ended as they should not, and are known to.
    """

    def __init__(self) -> None:
        self.made: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.not_mended: Counter[str] = Counter()
        self.slowest: dict[str, float] = {}

    def __call__(
        self,
        name: str,
        allowed: tuple[type[Exception], ...],
        function: Callable[..., _Made],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> _Made | None:
        """What a call gives; None if it ends with one of the errors that it may end with."""
        began = time.monotonic()
        try:
            with _limited(), warnings.catch_warnings():
                warnings.simplefilter("error")
                warnings.simplefilter("ignore", LargeEpsilonWarning)
                made = function(*args, **kwargs)
        except allowed as error:
            self.refused[name] += 1
            check_sentence(error)
            return None
        except Exception as error:
            if not any(
                known in ("", name) and type(error) is kind and text in str(error)
                for known, kind, text in NOT_MENDED
            ):
                raise
            self.refused[name] += 1
            self.not_mended[f"{name}: {type(error).__name__}: {error}"] += 1
            return None
        finally:
            seconds = time.monotonic() - began
            self.slowest[name] = max(seconds, self.slowest.get(name, 0))
        self.made[name] += 1
        return made

    @property
    def calls(self) -> Counter[str]:
        """How many calls of each entry point there were."""
        return self.made + self.refused

    def add(self, other: "Judge") -> None:
        """Take over what another has seen."""
        self.made += other.made
        self.refused += other.refused
        self.not_mended += other.not_mended
        for name, seconds in other.slowest.items():
            self.slowest[name] = max(seconds, self.slowest.get(name, 0))


def check_sentence(error: Exception) -> None:
    """See that an error speaks one sentence, shows no answer, and tells of no defect."""
    check_hidden(error)
    text = str(error)
    assert "\n" not in text, f"more than a line: {text!r}"
    assert text.endswith("."), f"no sentence: {text!r}"
    assert not (isinstance(error, KernelError) and "defect" in text), "a defect of the kernel"


def check_hidden(error: Exception) -> None:
    """See that neither an error nor what a traceback would show with it has an answer."""
    shown: BaseException | None = error
    while shown is not None:
        assert str(MARK) not in str(shown), f"an answer is shown: {shown}"
        shown = shown.__cause__ or (None if shown.__suppress_context__ else shown.__context__)


@contextmanager
def _limited() -> Iterator[None]:
    """Let nothing in here take longer than it may."""

    def stop(_: int, __: FrameType | None) -> None:
        raise TooSlow(f"not done after {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
