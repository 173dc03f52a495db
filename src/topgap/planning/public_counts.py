"""Public counts: the k largest, and how accurate lists of winners are."""

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


class ListAccuracy(NamedTuple):
    """The accuracy of many lists.

    Attributes:
        overlap: How many of the named are among the k largest.
        right: Whether all of them are.
        in_order: Whether they are also in the right order.
    """

    overlap: Steps
    right: Flags
    in_order: Flags


@dataclass(frozen=True)
class PublicCounts:
    """Public or made-up counts, as the kernel takes them and as lists are compared with them.

    Attributes:
        numbers: The counts, as `topgap.top_k` takes them.
        kernel_counts: The same as the kernel takes them; None if they are too large for it.
        in_steps: Whether those are steps of the resolution, and not units.
        span: How many steps the largest is above the smallest.
        ranks: A number per item, larger for a larger count and equal for equal ones.
        top_ranks: The ranks of the k largest, from the largest down.
        domain_size: How many items there are, if those that nobody has are not all written out.
            The last one that is has the count 0 then, and stands for the others in lists.
        shift: So many steps `kernel_counts` are below the counts.
    """

    numbers: Any
    kernel_counts: Steps | None
    in_steps: bool
    span: int
    ranks: Steps
    top_ranks: Steps
    domain_size: int | None = None
    shift: int = 0

    @classmethod
    def of(
        cls, numbers: "Array | list[Any]", parameters: TopK, domain_size: int | None = None
    ) -> "PublicCounts":
        """Prepare numbers that `answers.read` has read.

        Args:
            numbers: The counts.
            parameters: The parameters of the release.
            domain_size: How many items there are, no fewer than counts; the others have 0. If None,
                there are no others.

        Raises:
            AnswersError, AnswersTypeError: They are not finite numbers.

        >>> counts = PublicCounts.of([5, 4], TopK(k=2, epsilon=1), domain_size=10)
        >>> counts.numbers, counts.unlisted
        ([5, 4, 0], 7)
        """
        if domain_size is not None and domain_size > len(numbers):
            numbers = _append_zero(numbers)
        steps_per_unit = parameters.resolution.denominator
        taken = to_kernel_array(numbers, steps_per_unit)
        kernel_counts, in_steps, shift = (None, True, 0) if taken is None else taken
        if kernel_counts is None:
            steps = floor_answers(numbers, steps_per_unit)
            span = max(steps) - min(steps)
        else:
            span = int(kernel_counts.max()) - int(kernel_counts.min())
            span *= 1 if in_steps else steps_per_unit
        ranks = _rank(numbers, kernel_counts, in_steps=in_steps)
        others = 0 if domain_size is None else domain_size - len(numbers)
        zeros = np.repeat(ranks[-1:], min(others, parameters.k))
        top_ranks = np.sort(np.append(ranks, zeros))[: -parameters.k - 1 : -1]
        shift *= 1 if in_steps else steps_per_unit
        return cls(numbers, kernel_counts, in_steps, span, ranks, top_ranks, domain_size, shift)

    @property
    def unlisted(self) -> int:
        """How many items of the domain are not written out; all of them have the count 0."""
        return 0 if self.domain_size is None else self.domain_size - len(self.numbers)

    def compare(self, winners: Winners) -> ListAccuracy:
        """Compare lists, one in each row, with the truth; ties are decided in their favour.

        >>> counts = PublicCounts.of([5, 4, 4, 4, 3], TopK(k=2, epsilon=1))
        >>> counts.compare(np.array([[0, 3], [2, 0], [1, 2]]))   # not all of the fours can belong
        ListAccuracy(overlap=array([2, 2, 1]), right=array([ True,  True, False]), \
in_order=array([ True, False, False]))
        """
        named, last = self.ranks[winners], self.top_ranks[-1]
        above = int(np.count_nonzero(self.top_ranks > last))
        tied = np.minimum((named == last).sum(axis=1), len(self.top_ranks) - above)
        overlap = (named > last).sum(axis=1) + tied
        return ListAccuracy(
            overlap, overlap == len(self.top_ranks), (named == self.top_ranks).all(axis=1)
        )

    def count_empty(self, winners: Winners) -> Steps:
        """Count in each row the items that nobody has.

        >>> counts = PublicCounts.of([5, 0], TopK(k=2, epsilon=1), domain_size=9)
        >>> counts.count_empty(np.array([[0, 1], [2, 2], [1, 0]]))
        array([1, 2, 1])
        """
        numbers = self.numbers
        is_array = isinstance(numbers, np.ndarray)
        empty = numbers == 0 if is_array else np.array([number == 0 for number in numbers])
        counted: Steps = empty[winners].sum(axis=1)
        return counted

    def steps(self, winners: Winners, parameters: TopK, kind: Any) -> Whole:
        """The winners' counts, rounded down to steps of the resolution, less `shift`.

        Args:
            winners: A list in each row.
            parameters: Those with the resolution.
            kind: The type of the integers: that of int64, or object for those of any size.
        """
        steps_per_unit = parameters.resolution.denominator
        if self.kernel_counts is None:
            indices = np.ravel(winners).tolist()
            steps = floor_answers([self.numbers[i] for i in indices], steps_per_unit)
            return np.array(steps, dtype=kind).reshape(winners.shape)
        taken = self.kernel_counts[winners].astype(kind)
        return taken if self.in_steps else taken * steps_per_unit


def _append_zero(numbers: "Array | list[Any]") -> "Array | list[Any]":
    if isinstance(numbers, np.ndarray):
        return np.append(numbers, np.zeros(1, dtype=numbers.dtype))
    return [*numbers, 0]


def _rank(numbers: Any, kernel_counts: Steps | None, *, in_steps: bool) -> Steps:
    """Rank the numbers without rounding, so that the effect of a resolution shows."""
    if kernel_counts is not None and not in_steps:
        return np.unique(kernel_counts, return_inverse=True)[1].reshape(-1)
    if isinstance(numbers, np.ndarray):
        return np.unique(numbers, return_inverse=True)[1].reshape(-1)
    exact = [Fraction(*ratio(number)) for number in numbers]
    places = {number: place for place, number in enumerate(sorted({*exact}))}
    return np.array([places[number] for number in exact])
