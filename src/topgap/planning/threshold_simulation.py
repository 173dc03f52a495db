"""Simulation of many releases with a threshold, and what is computed beside them."""

from fractions import Fraction
from math import log, sqrt
from typing import NamedTuple

import numpy as np

from topgap.numbers.format import to_float
from topgap.parameters import TopK
from topgap.planning.count_errors import Floats, in_units
from topgap.planning.progress import Report
from topgap.planning.public_counts import Flags, Steps, Whole
from topgap.planning.simulation import SimulatedReleases, simulate_releases
from topgap.planning.statistics import (
    Figure,
    Mean,
    estimate_probability,
    root_mean_square,
    scale,
)
from topgap.planning.threshold_counts import ShouldBeNamed, ThresholdCounts
from topgap.planning.threshold_rows import ONE_IN, ThresholdRow
from topgap.release.laplace_error import standard_error

_RARELY = 100
"""Counts that come more rarely than once in so many releases have no error in a plan."""


class CutReleases(NamedTuple):
    """Releases that were cut at the threshold, one in each row.

    Attributes:
        lengths: How many items are named.
        counted: Whether there are counts.
        off: How far off the count of each winner is, in units of the noise's scale; what it is of
            those that are not named, or have no count, means nothing.
    """

    lengths: Steps
    counted: Flags
    off: Floats


def simulate_threshold(
    counts: ThresholdCounts, truth: ShouldBeNamed, releases: int, report: Report
) -> ThresholdRow:
    """Simulate releases, and compare them with what should be named."""
    parameters = counts.parameters
    named, right, spent, counted = Mean(), Mean(), Mean(), Mean()
    squares, biases = Mean(), Mean()
    for drawn in simulate_releases(counts.counts, counts.drawn, releases, report):
        cut = cut_releases(counts, drawn)
        is_named = np.arange(drawn.winners.shape[1]) < cut.lengths[:, None]
        named.add(cut.lengths)
        right.add(truth.count_right(drawn.winners, is_named))
        spent.add(_share_spent(parameters, cut.lengths))
        counted.add(cut.counted)
        rows = cut.counted & (cut.lengths > 0)
        off = np.where(is_named, cut.off, 0.0)[rows]
        squares.add((off**2).sum(axis=1) / cut.lengths[rows])
        biases.add(off.sum(axis=1) / cut.lengths[rows])
    distances = in_units(counts.all_distances(), parameters.rate)
    has_counts = squares.count >= max(2, releases / _RARELY)
    return ThresholdRow(
        epsilon=parameters.epsilon,
        threshold=parameters.threshold or Fraction(0),
        items_per_person=parameters.items_per_person,
        noise=parameters.noise,
        scale=parameters.scale,
        above=truth.count,
        expected_above=expect_above(counts, distances),
        margin=scale(log(ONE_IN / 2), parameters.scale),
        near=int(np.count_nonzero(np.abs(distances) < log(ONE_IN / 2))),
        deviation=(
            scale(sqrt(2), parameters.scale)
            if parameters.has_sentinel
            else standard_error(parameters)
        ),
        named=named.figure(),
        right=right.figure(),
        spent=_in_unit(spent.figure(), parameters.epsilon),
        counted=estimate_probability(counted),
        error=root_mean_square(squares, parameters.scale) if has_counts else None,
        bias=_in_unit(biases.figure(), parameters.scale) if has_counts else None,
    )


def cut_releases(counts: ThresholdCounts, drawn: SimulatedReleases) -> CutReleases:
    """Cut releases at the threshold.

    Where a sentinel ended a list, the count of an item is the threshold plus the gaps down to it,
    plus half a step for each, which is what rounding takes on average. If the list has k names, it
    is not released whether the sentinel comes next. If there are fewer items than k, it does.
    """
    rate, missing = counts.parameters.rate, counts.missing[drawn.winners]
    distances = counts.distances(drawn.winners, drawn.gaps.dtype)
    if counts.sentinel is None:
        lengths = np.count_nonzero(distances + drawn.gaps >= 0, axis=1)
        return CutReleases(
            lengths, np.ones(len(lengths), dtype=bool), in_units(drawn.gaps, rate) - missing
        )
    width = drawn.winners.shape[1]
    is_sentinel = drawn.winners == counts.sentinel
    counted = is_sentinel.any(axis=1)
    lengths = np.where(counted, is_sentinel.argmax(axis=1), width)
    if counts.parameters.k > counts.size:
        counted[:] = True
    left = np.maximum(lengths[:, None] - np.arange(width), 0)  # gaps down to the sentinel
    gaps = np.where(left > 0, drawn.gaps, 0)
    leads: Whole = gaps[:, ::-1].cumsum(axis=1)[:, ::-1]
    off = in_units(leads - distances, rate) + left * (to_float(rate) / 2) - missing
    return CutReleases(lengths, counted, off)


def expect_above(counts: ThresholdCounts, distances: Floats) -> float:
    """How many items come out above the threshold on average, if any number may be named.

    Against the sentinel the noise of an item is Laplace noise, the difference of two exponential
    ones: an item that is x scales above comes out above with probability 1 − e^−x/2, and one that
    is x below with e^−x/2. Discrete Laplace noise is −d steps or more with 1 − t^(d+1)/(1 + t), and
    d or more with t^d/(1 + t), where t = e^−rate.

    >>> few = TopK(k=2, epsilon=1, monotonic=True, threshold=3)   # noise of mean 2
    >>> counts = ThresholdCounts.of([7, 3], few)
    >>> round(expect_above(counts, np.array([2.0, 0.0])), 4)   # 1 − e^−2/2 and 1/2
    1.4323
    """
    parameters = counts.parameters
    others = counts.size - counts.listed
    of_zero = -to_float((parameters.threshold or 0) / parameters.scale)
    every = np.append(distances, of_zero)
    rate = 0.0 if parameters.has_sentinel else min(to_float(parameters.rate), 700.0)
    # By d + 1 in place of d, and by 1 + t in place of 2.
    wrong = np.exp(-np.abs(every) - np.where(every >= 0, rate, 0.0)) / (1 + np.exp(-rate))
    above = np.where(every >= 0, 1 - wrong, wrong)
    return float(above[:-1].sum()) + scale(float(above[-1]), Fraction(others))


def _share_spent(parameters: TopK, lengths: Steps) -> Floats:
    """What outputs with so many names cost, as a part of ε."""
    found, places = np.unique(lengths, return_inverse=True)
    costs = [parameters.cost(length) / parameters.epsilon for length in found.tolist()]
    shares: Floats = np.array([*map(to_float, costs)])[places.reshape(-1)]
    return shares


def _in_unit(figure: Figure, unit: Fraction) -> Figure:
    return Figure(scale(figure.value, unit), scale(figure.standard_error, unit))
