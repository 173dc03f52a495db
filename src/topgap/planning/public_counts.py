"""The counts that are planned with: who truly is among the k largest."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from topgap.numbers.parse import ratio
from topgap.parameters import TopK
from topgap.selection.answers import Array, floor_answers, to_kernel_array

Steps = np.ndarray[tuple[int], np.dtype[np.int64]]
Winners = np.ndarray[tuple[int, int], np.dtype[np.int64]]
Whole = np.ndarray[Any, np.dtype[Any]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Judged(NamedTuple):
    """How right each of many lists is.

    Attributes:
        overlap: How many of the named truly are among the k largest.
        right: Whether all of them are.
        in_order: Whether they are in the right order, too.
    """

    overlap: Steps
    right: Flags
    in_order: Flags


@dataclass(frozen=True)
class Counts:
    """Public or made-up counts, as they are released and as lists of them are judged.

    Attributes:
        numbers: The counts, as `topgap.top_k` takes them.
        counted: The same as the kernel takes them; None if they are too large for it.
        in_steps: Whether those are steps of the resolution, and not units.
        span: How many steps the largest is above the smallest.
        standings: A number per item, larger for a larger count and equal for equal ones.
        best: The standings of the k largest, from the largest down.
    """

    numbers: Any
    counted: Steps | None
    in_steps: bool
    span: int
    standings: Steps
    best: Steps

    @classmethod
    def of(cls, numbers: "Array | list[Any]", parameters: TopK) -> "Counts":
        """Look at these numbers, which `answers.read` has taken out of what held them.

        Raises:
            AnswersError, AnswersTypeError: They are no finite numbers.
        """
        steps_per_unit = parameters.resolution.denominator
        taken = to_kernel_array(numbers, steps_per_unit)
        counted, in_steps = (None, True) if taken is None else taken[:2]
        if counted is None:
            steps = floor_answers(numbers, steps_per_unit)
            span = max(steps) - min(steps)
        else:
            span = (int(counted.max()) - int(counted.min())) * (1 if in_steps else steps_per_unit)
        standings = _standings(numbers, counted, in_steps)
        best = np.sort(standings)[: -parameters.k - 1 : -1]
        return cls(numbers, counted, in_steps, span, standings, best)

    def judge(self, winners: Winners) -> Judged:
        """How right these lists are, one in each row: ties are decided in their favour.

        >>> counts = Counts.of([5, 4, 4, 4, 3], TopK(k=2, epsilon=1))
        >>> counts.judge(np.array([[0, 3], [2, 0], [1, 2]]))   # not all of the fours can belong
        Judged(overlap=array([2, 2, 1]), right=array([ True,  True, False]), \
in_order=array([ True, False, False]))
        """
        named, last = self.standings[winners], self.best[-1]
        above = int(np.count_nonzero(self.best > last))
        tied = np.minimum((named == last).sum(axis=1), len(self.best) - above)
        overlap = (named > last).sum(axis=1) + tied
        return Judged(overlap, overlap == len(self.best), (named == self.best).all(axis=1))

    def steps(self, winners: Winners, parameters: TopK, kind: Any) -> Whole:
        """The winners' counts, rounded down to steps of the resolution, up to a common shift.

        Args:
            winners: A list in each row.
            parameters: Those with the resolution.
            kind: The type of the integers: that of int64, or object for those of any size.
        """
        steps_per_unit = parameters.resolution.denominator
        if self.counted is None:
            indices = np.ravel(winners).tolist()
            steps = floor_answers([self.numbers[i] for i in indices], steps_per_unit)
            return np.array(steps, dtype=kind).reshape(winners.shape)
        taken = self.counted[winners].astype(kind)
        return taken if self.in_steps else taken * steps_per_unit


def _standings(numbers: Any, counted: Steps | None, in_steps: bool) -> Steps:
    """By the numbers as they are, not rounded: what a resolution hides is to be seen."""
    if counted is not None and not in_steps:
        return np.unique(counted, return_inverse=True)[1].reshape(-1)
    if isinstance(numbers, np.ndarray):
        return np.unique(numbers, return_inverse=True)[1].reshape(-1)
    exact = [Fraction(*ratio(number)) for number in numbers]
    places = {number: place for place, number in enumerate(sorted({*exact}))}
    return np.array([places[number] for number in exact])
