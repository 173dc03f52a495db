"""Public counts with a threshold: what is drawn, and what should be named."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from topgap.numbers.format import to_float
from topgap.parameters import TopK
from topgap.planning.bounded_counts import Floats, Numbers
from topgap.planning.public_counts import Flags, PublicCounts, Steps, Whole, Winners

_NO_RANK = -1  # below that of any item
_FAR = 2**61  # steps; the sum of two of these is an int64


@dataclass(frozen=True)
class ThresholdCounts:
    """Counts of which releases with a threshold are drawn, by the law as it is defined.

    With exponential noise the threshold is one more item, the sentinel, and releases of all these
    items are cut at it. With Laplace noise the noisy counts are cut at the threshold.

    Attributes:
        parameters: The parameters of the release.
        drawn: Those of what is drawn before it is cut: with the same noise, and no more winners
            than there are items.
        counts: The counts, and the sentinel in `sentinel`, if there is one.
        listed: How many items are written out.
        size: The number of items.
        missing: How much the counts are below those of all items, in units of the noise's scale.
    """

    parameters: TopK
    drawn: TopK
    counts: PublicCounts
    listed: int
    size: int
    missing: Floats = field(repr=False)

    @classmethod
    def of(
        cls,
        numbers: Numbers,
        parameters: TopK,
        domain_size: int | None = None,
        missing: "Floats | None" = None,
    ) -> "ThresholdCounts":
        """Prepare counts.

        Args:
            numbers: Them, as `topgap.selection.answers.read` gives them.
            parameters: Those of the release, with a threshold.
            domain_size: How many items there are; those without counts have 0.
            missing: How much each of them is below that of all items.

        Raises:
            AnswersError, AnswersTypeError: They are not finite numbers.

        >>> cut = ThresholdCounts.of([5, 4], TopK(k=9, epsilon=3, threshold=3), domain_size=8)
        >>> cut.counts.numbers, cut.counts.unlisted, cut.drawn.k, cut.drawn.rate
        ([5, 4, 3, 0], 5, 8, Fraction(1, 60))
        """
        listed = len(numbers)
        size = listed if domain_size is None else domain_size
        drawn = draw_without_threshold(parameters, size)
        if parameters.has_sentinel:
            counts = add_sentinel(numbers, parameters, drawn, domain_size)
        else:
            counts = PublicCounts.of(numbers, drawn, domain_size)
        left_out = np.zeros(listed + 2)
        if missing is not None:
            left_out[:listed] = missing[:listed] / to_float(parameters.scale)
        return cls(parameters, drawn, counts, listed, size, left_out)

    @property
    def sentinel(self) -> int | None:
        """The place of the sentinel; None if there is none."""
        return self.listed if self.parameters.has_sentinel else None

    def distances(self, places: Any, kind: Any) -> Whole:
        """How many steps the counts of the items at these places are above the threshold."""
        if self.sentinel is not None:
            own = self.counts.steps(np.array([self.sentinel]), self.drawn, kind)[0]
        else:
            own = (self.parameters.threshold_units or 0) - self.counts.shift
            kind = kind if abs(own) < _FAR else object
        distances: Whole = self.counts.steps(places, self.drawn, kind) - own
        return distances

    def all_distances(self) -> Whole:
        """The same of all that are written out."""
        kind = np.int64 if self.counts.span < _FAR else object
        return self.distances(np.arange(self.listed), kind)


@dataclass(frozen=True)
class ShouldBeNamed:
    """Which items should be named: those above the threshold, or the k largest of them.

    Attributes:
        certain: Whether an item is one of them, by its place. Two places more stand for the
            sentinel and for an item that is not written out.
        tied: Whether it is one of equal ones, of which `tied_places` should be named.
        tied_places: So many.
        count: How many should be named.
    """

    certain: Flags
    tied: Flags
    tied_places: int
    count: int

    @classmethod
    def of(
        cls, numbers: Numbers, parameters: TopK, domain_size: int | None = None
    ) -> "ShouldBeNamed":
        """Find them among the counts of all items, without rounding these.

        >>> found = ShouldBeNamed.of([5, 4, 9], TopK(k=3, epsilon=1, threshold=4))
        >>> found.certain[:3], found.count
        (array([ True, False,  True]), 2)
        >>> found = ShouldBeNamed.of([5, 5, 9], TopK(k=2, epsilon=1, threshold=4))
        >>> found.certain[:3], found.tied[:3], found.tied_places
        (array([False, False,  True]), array([ True,  True, False]), 1)
        """
        listed, k = len(numbers), parameters.k
        unlisted = 0 if domain_size is None else domain_size - listed
        drawn = draw_without_threshold(parameters, listed + unlisted)
        ranks = add_sentinel(numbers, parameters, drawn, domain_size).ranks
        threshold = ranks[listed]
        ranks[listed] = ranks[-1] if unlisted else _NO_RANK
        ranks = np.append(ranks[: listed + 1], ranks[listed])
        others = np.repeat(ranks[-1:], min(unlisted, k))
        largest = np.sort(np.concatenate([ranks[:listed], others]))[::-1][:k]
        count = int(np.count_nonzero(largest > threshold))
        if count < k:
            return cls(ranks > threshold, np.zeros(len(ranks), dtype=bool), 0, count)
        tied_places = int(np.count_nonzero(largest == largest[-1]))
        return cls(ranks > largest[-1], ranks == largest[-1], tied_places, count)

    def count_right(self, winners: Winners, named: Whole) -> Steps:
        """Count in each row the named items that should be."""
        tied = (self.tied[winners] & named).sum(axis=1)
        certain = (self.certain[winners] & named).sum(axis=1)
        right: Steps = certain + np.minimum(tied, self.tied_places)
        return right


def draw_without_threshold(parameters: TopK, size: int) -> TopK:
    """The parameters of the same noise without the threshold, of no more winners than items.

    >>> nine = TopK(k=9, epsilon=3, threshold=3)
    >>> draw_without_threshold(nine, 6).scale == nine.scale
    True
    """
    k, epsilon, bound = parameters.k, parameters.epsilon, parameters.items_per_person
    if parameters.has_sentinel:
        k, bound = min(k, size), None
        epsilon = epsilon * k / parameters.k
    return TopK(
        k,
        epsilon,
        resolution=parameters.resolution,
        sensitivity=parameters.sensitivity,
        monotonic=parameters.monotonic,
        items_per_person=bound,
        noise=parameters.noise,
    )


def add_sentinel(
    numbers: Numbers, parameters: TopK, drawn: TopK, domain_size: int | None
) -> PublicCounts:
    """The counts, and the threshold after them, as one more item."""
    size = None if domain_size is None else domain_size + 1
    threshold = parameters.threshold
    assert threshold is not None  # noqa: S101 - all here have one
    return PublicCounts.of(append_exactly(numbers, threshold), drawn, size)


def append_exactly(numbers: Numbers, number: Fraction) -> Numbers:
    """Append a number, in an array only if that holds it as it is.

    >>> append_exactly(np.array([7, 5]), Fraction(3)), append_exactly(np.array([7]), Fraction(1, 3))
    (array([7, 5, 3]), [7, Fraction(1, 3)])
    """
    exact: Any = int(number) if number.denominator == 1 else number
    if not isinstance(numbers, np.ndarray):
        return [*numbers, exact]
    if numbers.dtype.kind in "iu" and type(exact) is int:
        limits = np.iinfo(numbers.dtype)
        if limits.min <= exact <= limits.max:
            return np.append(numbers, np.array([exact], dtype=numbers.dtype))
    if numbers.dtype.kind == "f" and numbers.dtype.itemsize <= 8 and to_float(number) == number:
        return np.append(numbers.astype(np.float64), to_float(number))
    return [*numbers.tolist(), exact]
