"""Into which ranges the gaps of a case are sorted, so that no range has much of the probability.

The ranges of a case are the same for all mechanisms and know nothing of what they release. Any
choice is valid, and a good one only shows more; so floats and a fixed seed decide it.
"""

from bisect import bisect_right
from fractions import Fraction
from functools import lru_cache
from math import perm
from typing import Any, NamedTuple

import numpy as np

from topgap.auditing.cases.neighbours import Neighbours

Edges = tuple[int, ...]
"""Where ranges begin, from 0 up, in steps; each ends where the next one begins."""

MOST_CELLS = 300
"""So many probabilities are looked at, at most, for one thing that is looked at."""
_FEWEST_RANGES, _MOST_RANGES, _MOST_JOINT = 4, 16, 12
_SAMPLES = 2_048
_FARTHEST = 1e300


class GapBins(NamedTuple):
    """The ranges of all gaps of a case.

    Attributes:
        law: For each gap, those whose exact probability is computed.
        fine: The same and more, for what an observer may look at.
        joint: Few for each gap, for all gaps together.
        prefix: Orders are told apart by so many of their first winners, with the size of a gap.
        joint_prefix: The same with all gaps together.
    """

    law: tuple[Edges, ...]
    fine: tuple[Edges, ...]
    joint: tuple[Edges, ...]
    prefix: int
    joint_prefix: int


@lru_cache(maxsize=1024)
def make_gap_bins(case: Neighbours) -> GapBins:
    """The ranges for a case: small gaps one by one, others by their quantiles, as far as known.

    >>> from topgap.parameters import TopK
    >>> pair = Neighbours((0, 0), (1, 0), TopK(1, 1, resolution=1, monotonic=True))
    >>> make_gap_bins(pair).law[0][:5]
    (0, 1, 2, 3, 4)
    """
    k, n = case.parameters.k, len(case.answers)
    gaps = _gaps(case)
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
    )


def prefix_length(n: int, k: int, ranges: int) -> int:
    """How many first winners can be told apart, if each time so many ranges are.

    >>> prefix_length(5, 3, 4), prefix_length(9, 5, 4), prefix_length(1000, 2, 4)
    (3, 2, 0)
    """
    return max(m for m in range(k + 1) if m == 0 or perm(n, m) * ranges <= MOST_CELLS)


def bin_start(steps: int, edges: Edges) -> int:
    """Where the range of a gap begins; −1 for what is below 0.

    >>> bin_start(7, (0, 1, 5, 9)), bin_start(10**30, (0, 1, 5, 9)), bin_start(-3, (0, 1))
    (5, 9, -1)
    """
    return edges[bisect_right(edges, steps) - 1] if steps >= 0 else -1


def bin_end(first: int, edges: Edges) -> int | None:
    """Where the range that begins there ends; None if it has no end."""
    after = bisect_right(edges, first)
    return edges[after] if after < len(edges) else None


def _edges(gaps: list[int], ranges: int) -> Edges:
    """So many ranges at most: a quarter of them single steps, and the others quantiles."""
    single = range(1 + max(1, ranges // 4))
    number = ranges - len(single)
    shares = [(i + 1) / (number + 1) for i in range(number)]
    return tuple(sorted({*single, *(gaps[int(share * len(gaps))] for share in shares)}))


def _gaps(case: Neighbours) -> list[list[int]]:
    """For each gap, those that floats give for both data sets, from the smallest up."""
    k, rate, per_unit = case.parameters.k, case.parameters.rate, case.parameters.resolution
    generator = np.random.default_rng(0)
    found: list[list[int]] = [[] for _ in range(k)]
    for side in case.sides:
        least = min(side)
        heights = [_near((each - least) / per_unit * rate) for each in side]
        noisy = np.array(heights) + generator.exponential(size=(_SAMPLES, len(side)))
        top: Any = -np.sort(-noisy, axis=1)[:, : k + 1]
        for each, column in zip(found, (top[:, :-1] - top[:, 1:]).T, strict=True):
            each += [int(Fraction(gap) / rate) for gap in column.tolist()]
    return [sorted(each) for each in found]


def _near(height: Fraction) -> float:
    return float(height) if height < _FARTHEST else _FARTHEST


def _sizes() -> Edges:
    """Below 16 all, and from there on those of four binary digits and zeros."""
    larger = [first << zeros for zeros in range(1, 61) for first in range(8, 16)]
    return (*range(16), *(each for each in larger if each >= 16))


_SIZES = _sizes()
