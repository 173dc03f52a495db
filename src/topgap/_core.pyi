"""The compiled kernel of topgap."""

from collections.abc import Callable, Sequence
from typing import Final, final

import numpy as np

__all__ = ["Kernel", "Laplace", "Pattern", "Stream", "Streams", "__version__", "floor_to_steps"]

__version__: Final[str]

@final
class Kernel:
    """What of the parameters the kernel works with, prepared once."""

    def __new__(
        cls, k: int, numerator: int, denominator: int, steps_per_unit: int, *, is_laplace: bool
    ) -> Kernel:
        """The kernel for k winners and noise of rate numerator/denominator per step.

        It is exponential, or Laplace noise, which is drawn in steps.
        """

    @property
    def refinement(self) -> int:
        """Noise is drawn in ticks, of which 2^refinement make a step of the resolution."""

    def release(
        self,
        answers: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        in_steps: bool,
        threads: int,
        floor: int | None = None,
        sentinel: int | None = None,
    ) -> tuple[bytes, bytes | list[int]]:
        """Release the top k of the answers, given in units or in steps: indices and gaps.

        With Laplace noise, the noisy answers of the winners and of the next item take the place of
        the gaps. Both are bytes of int64; gaps or noisy answers are a list of int where one does
        not fit. With threads=0 the kernel chooses the number of threads. With a floor in steps,
        which is for Laplace noise, only those are there that reach it. With a sentinel in steps,
        which is for exponential noise, one more item has this answer: only the winners above it are
        there, and the last gap may be the lead over it. OverflowError if it is more than 2^124
        ticks from 0.
        """

    def release_with_runs(
        self,
        answers: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        runs: Sequence[tuple[int, int, int]],
        find_listed: Callable[[int, list[bytes]], Sequence[int]],
        in_steps: bool,
        threads: int,
        floor: int | None = None,
        sentinel: int | None = None,
    ) -> tuple[bytes, bytes | list[int]]:
        """The same release where some items are in runs, none of which is written out.

        A run is the answer of its items, how many there are, and how many of them are listed among
        the answers, too. `find_listed` is given a run's number and a few ranks, each as bytes, the
        highest first. It returns the places of those that are listed among these ranks. Indices
        from the number of answers on count through the items that it was asked about.
        """

    def release_groups(
        self,
        answers: np.ndarray[tuple[int], np.dtype[np.int64]],
        ends: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        in_steps: bool,
        threads: int,
        floor: int | None = None,
        sentinel: int | None = None,
        run: tuple[int, int] | None = None,
        find_listed: Callable[[int, list[bytes]], Sequence[int]] | None = None,
        constant_work: bool = False,
        stream: Stream | None = None,
    ) -> tuple[bytes, bytes, bytes, bytes | list[int]]:
        """The same release for each of many groups, with independent noise, in threads.

        How many winners each group has, the indices of all, how many numbers each group has, and
        all numbers, one group after the other.

        `ends` has where the answers of each group end. A run is the answer and the number of a
        domain's members: each group has all of them, and its answers are of those that are listed.
        `find_listed` is given the number of a group and a few ranks, as by `release_with_runs`.
        With a stream there are no threads, and the groups use it up one after the other.
        """

    def run_candidates(
        self,
        runs: Sequence[tuple[int, int, int]],
        *,
        find_listed: Callable[[int, list[bytes]], Sequence[int]],
        in_steps: bool,
        floor: int | None,
    ) -> tuple[bytes, list[int]]:
        """Add noise to the items of runs, and find what can be among the k + 1 largest of a whole.

        The indices among the items that `find_listed` was asked about, as bytes of int64, and the
        noisy answers, in ticks: all but those that lie below k + 1 others, or below the floor.
        """

    def release_constant_work(
        self,
        answers: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        in_steps: bool,
        sentinel: int | None = None,
    ) -> tuple[bytes, bytes | list[int]]:
        """The same release, with the same work for all answers."""

    def candidates(
        self,
        answers: np.ndarray[tuple[int], np.dtype[np.int64]],
        *,
        in_steps: bool,
        floor: int | None,
        stream: Stream | None,
        threads: int,
    ) -> tuple[bytes, list[int]]:
        """Add noise to the answers, and find what can be among the k + 1 largest of a larger whole.

        The indices, as bytes of int64, and the noisy answers, in ticks, of all items but those that
        lie below k + 1 others, or below the floor. With a stream there are no threads.
        """

@final
class Laplace:
    """Discrete Laplace noise of a rate, prepared once.

    It is x whole steps with a probability proportional to e^−(rate·|x|).
    """

    def __new__(cls, numerator: int, denominator: int) -> Laplace:
        """Noise of rate numerator/denominator per step.

        ValueError if either is 0, OverflowError if the kernel's integers are too short for it.
        """

    def draw(self, count: int) -> list[int]:
        """So many independent draws, in steps, from a key of their own."""

@final
class Pattern:
    """The texts that match a pattern whole, in their order. It is public and sees no answer."""

    def __new__(
        cls, pattern: str, *, max_length: int | None, blank: list[tuple[str, str]], most: int
    ) -> Pattern:
        """The texts of at most so many characters; ValueError in a sentence if it is no domain.

        No text begins or ends with a character of `blank`, pairs of the first and the last of a
        range, and there are at most `most` texts.
        """

    @property
    def size(self) -> int:
        """How many texts there are."""

    def contains_all(self, names: list[object]) -> list[bool]:
        """Whether each of any objects is one of the texts."""

    def may_have(self, first: int, last: int) -> bool:
        """Whether any text may have a byte from the first to the last of these in its UTF-8."""

    def rank(self, text: str) -> int:
        """The place of a text; KeyError if it is none of them."""

    def unrank(self, rank: int) -> str:
        """The text at a place; IndexError if there are not so many."""

@final
class Streams:
    """The independent streams of one release, for parts of the answers that are far apart.

    Pickled, it goes where they are, and nowhere else: who has it knows the noise.
    """

    def __new__(cls) -> Streams:
        """Streams that nobody else has, keyed by the operating system."""

    def open(self, number: int) -> Stream:
        """The stream of this number, from its beginning."""

    @staticmethod
    def _received(key: bytes) -> Streams: ...

@final
class Stream:
    """A stream of random bits."""

    def take(self, count: int) -> int:
        """The next `count` bits as a number."""

def floor_to_steps(
    numbers: np.ndarray[tuple[int], np.dtype[np.float64]], steps_per_unit: int
) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Round floats down to steps; ValueError if one is not finite, OverflowError if too large."""
