"""Bins for the noisy values of a case, where they are released: ranges with no end on either side.

Like those of gaps, they are the same for all mechanisms and independent of their releases.
"""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from typing import NamedTuple

ValueEdges = tuple[int, ...]
"""Where a bin ends and the next one begins. Bin 0 lies below the first of them."""

_SIZES = (*range(16), *(first << zeros for zeros in range(1, 61) for first in range(8, 16)))


class ValueBins(NamedTuple):
    """The bins of all values of a case.

    Attributes:
        law: For each value, the bins whose exact probability is computed.
        fine: For each value, these and more, for what an observer may see.
        joint: For each value, a few bins, to be combined over all values and with the last gap.
        last_gap: The bins of the last gap that they are combined with.
        joint_prefix: How many of the first winners are distinguished together with all of them.
    """

    law: tuple[ValueEdges, ...]
    fine: tuple[ValueEdges, ...]
    joint: tuple[ValueEdges, ...]
    last_gap: tuple[int, ...]
    joint_prefix: int


def make_value_edges(values: Sequence[int], answers: Collection[int], ranges: int) -> ValueEdges:
    """Make at most this number of bins: half of them around the answers, others between quantiles.

    Args:
        values: A sorted sample.
        answers: All answers in steps. One that is likely to be a value has a bin of its own.
        ranges: The number of bins, at least 2.

    >>> make_value_edges(range(-50, 51), [0], 8)
    (-30, -10, 0, 1, 2, 10, 30)
    """
    single = [a + step for a in _nearest(values, answers) for step in (0, 1, 2)]
    return _fill([*dict.fromkeys(single)][: ranges // 2], values, ranges)


def make_joint_edges(values: Sequence[int], answers: Collection[int], ranges: int) -> ValueEdges:
    """Make at most this number of bins that begin at answers, where the probability changes.

    >>> make_joint_edges(range(-50, 51), [0, 3], 3), make_joint_edges(range(-50, 51), [0], 3)
    ((0, 3), (0,))
    """
    return _fill(_nearest(values, answers)[: ranges - 1], values, ranges)


def _nearest(values: Sequence[int], answers: Collection[int]) -> list[int]:
    """The answers, those that are nearest to the median of the sample first."""
    middle = values[len(values) // 2]
    return sorted({*answers}, key=lambda each: abs(each - middle))


def _fill(edges: Sequence[int], values: Sequence[int], ranges: int) -> ValueEdges:
    """Add quantiles of the sample, up to this number of bins."""
    number = ranges - 1 - len(edges)
    quantiles = [values[(i + 1) * len(values) // (number + 1)] for i in range(number)]
    return tuple(sorted({*edges, *quantiles}))


def make_fine_edges(edges: ValueEdges) -> ValueEdges:
    """Add edges at distances from the middle one that grow by at most an eighth."""
    middle = edges[len(edges) // 2]
    return tuple(sorted({*edges, *(middle + sign * size for size in _SIZES for sign in (-1, 1))}))


def value_bin(value: int, edges: ValueEdges) -> int:
    """The number of the bin that holds a value.

    >>> [value_bin(value, (-3, 5)) for value in (-4, -3, 4, 5)]
    [0, 1, 1, 2]
    """
    return bisect_right(edges, value)


def value_range(number: int, edges: ValueEdges) -> tuple[int | None, int | None]:
    """Where a bin begins, and before what it ends; None for no end on that side.

    >>> [value_range(number, (-3, 5)) for number in range(3)]
    [(None, -3), (-3, 5), (5, None)]
    """
    return (
        edges[number - 1] if number > 0 else None,
        edges[number] if number < len(edges) else None,
    )
