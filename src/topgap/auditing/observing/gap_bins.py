"""Bins for the gaps of a case, chosen so that no bin has a large share of the probability.

And for its noisy values, where they are released.

The bins of a case are the same for all mechanisms and independent of their releases. Any choice is
valid; a good one only makes tests more powerful. So floats and a fixed seed may choose them.
"""

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from math import perm
from typing import Any, NamedTuple

import numpy as np

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.observing.value_bins import (
    ValueBins,
    make_fine_edges,
    make_joint_edges,
    make_value_edges,
)

Edges = tuple[int, ...]
"""The first step of each bin, from 0 up; a bin ends where the next one begins."""

MOST_CELLS = 300
"""The largest number of probabilities for one observable."""
_FEWEST_RANGES, _MOST_RANGES, _MOST_JOINT = 4, 16, 12
_SAMPLES = 2_048
_FARTHEST = 1e300


class GapBins(NamedTuple):
    """The bins of all gaps of a case.

    Attributes:
        law: For each gap, the bins whose exact probability is computed.
        fine: For each gap, these and more, for what an observer may see.
        joint: For each gap, a few bins, to be combined over all gaps.
        prefix: How many of the first winners are distinguished together with the size of a gap.
        joint_prefix: How many are distinguished together with the sizes of all gaps.
        values: The bins of the values; None where they are not released.
    """

    law: tuple[Edges, ...]
    fine: tuple[Edges, ...]
    joint: tuple[Edges, ...]
    prefix: int
    joint_prefix: int
    values: ValueBins | None = None


@lru_cache(maxsize=1024)
def make_gap_bins(case: Neighbours) -> GapBins:
    """Make the bins of a case: small gaps one by one, others between estimated quantiles.

    >>> from topgap.parameters import TopK
    >>> pair = Neighbours((0, 0), (1, 0), TopK(1, 1, resolution=1, monotonic=True))
    >>> make_gap_bins(pair).law[0][:5]
    (0, 1, 2, 3, 4)
    """
    k, n = case.parameters.k, len(case.answers)
    gaps, values = _sample(case)
    prefix, joint_prefix = prefix_length(n, k, _FEWEST_RANGES), prefix_length(n, k, 2**k)
    ranges = min(_MOST_RANGES, MOST_CELLS // perm(n, prefix))
    together = int((MOST_CELLS / perm(n, joint_prefix) + 1e-9) ** (1 / k))
    law = tuple(_edges(each, ranges) for each in gaps)
    return GapBins(
        law,
        tuple(tuple(sorted({*each, *_SIZES})) for each in law),
        tuple(_edges(each, max(2, min(together, _MOST_JOINT))) for each in gaps),
        prefix,
        joint_prefix,
        _make_value_bins(case, values, gaps[-1], ranges) if values else None,
    )


def _make_value_bins(
    case: Neighbours, values: list[list[int]], last_gaps: list[int], ranges: int
) -> ValueBins:
    k, n = case.parameters.k, len(case.answers)
    steps = {int(each / case.parameters.resolution) for side in case.sides for each in side}
    law = tuple(make_value_edges(each, steps, ranges) for each in values)
    joint_prefix = prefix_length(n, k, 2 ** (k + 1))
    together = int((MOST_CELLS / perm(n, joint_prefix) + 1e-9) ** (1 / (k + 1)))
    together = max(2, min(together, _MOST_JOINT))
    return ValueBins(
        law,
        tuple(map(make_fine_edges, law)),
        tuple(make_joint_edges(each, steps, together) for each in values),
        _edges(last_gaps, together),
        joint_prefix,
    )


def prefix_length(n: int, k: int, ranges: int) -> int:
    """How many first winners can be distinguished if each order of them has this number of bins.

    >>> prefix_length(5, 3, 4), prefix_length(9, 5, 4), prefix_length(1000, 2, 4)
    (3, 2, 0)
    """
    return max(m for m in range(k + 1) if m == 0 or perm(n, m) * ranges <= MOST_CELLS)


def bin_start(steps: int, edges: Edges) -> int:
    """The first step of the bin that holds a gap; −1 for a negative gap.

    >>> bin_start(7, (0, 1, 5, 9)), bin_start(10**30, (0, 1, 5, 9)), bin_start(-3, (0, 1))
    (5, 9, -1)
    """
    return edges[bisect_right(edges, steps) - 1] if steps >= 0 else -1


def bin_end(first: int, edges: Edges) -> int | None:
    """The end of the bin that begins there; None if it has no end."""
    after = bisect_right(edges, first)
    return edges[after] if after < len(edges) else None


def _edges(gaps: list[int], ranges: int) -> Edges:
    """At most this number of bins: a quarter of them single steps, the others between quantiles."""
    single = range(1 + max(1, ranges // 4))
    number = ranges - len(single)
    shares = [(i + 1) / (number + 1) for i in range(number)]
    return tuple(sorted({*single, *(gaps[int(share * len(gaps))] for share in shares)}))


def _sample(case: Neighbours) -> tuple[list[list[int]], list[list[int]]]:
    """For each gap, and for each value that is released, a sorted sample of both data sets.

    It is simulated with floats.
    """
    k, rate, per_unit = case.parameters.k, case.parameters.rate, case.parameters.resolution
    generator = np.random.default_rng(0)
    is_laplace = case.parameters.noise == "laplace"
    gaps: list[list[int]] = [[] for _ in range(k)]
    values: list[list[int]] = [[] for _ in range(k * is_laplace)]
    for ranked in case.ranked:
        least = min(ranked)
        heights = [_near((each - least) / per_unit * rate) for each in ranked]
        shape = (_SAMPLES, len(ranked))
        noise = generator.laplace(size=shape) if is_laplace else generator.exponential(size=shape)
        top: Any = -np.sort(-(np.array(heights) + noise), axis=1)[:, : k + 1]
        for each, column in zip(gaps, (top[:, :-1] - top[:, 1:]).T, strict=True):
            each += [int(Fraction(gap) / rate) for gap in column.tolist()]
        for each, column in zip(values, top.T, strict=False):
            below = least / per_unit
            each += [round(below + Fraction(value) / rate) for value in column.tolist()]
    return [sorted(each) for each in gaps], [sorted(each) for each in values]


def _near(height: Fraction) -> float:
    return float(height) if height < _FARTHEST else _FARTHEST


def _sizes() -> Edges:
    """All sizes below 16; above, numbers with at most four significant binary digits."""
    larger = [first << zeros for zeros in range(1, 61) for first in range(8, 16)]
    return (*range(16), *(each for each in larger if each >= 16))


_SIZES = _sizes()
