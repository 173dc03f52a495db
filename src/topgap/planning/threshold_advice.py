"""What public counts say of a threshold and of k, in sentences."""

from collections.abc import Sequence
from fractions import Fraction
from math import inf, log
from typing import NamedTuple

import numpy as np

from topgap.numbers.format import to_float
from topgap.planning.count_errors import Floats, in_units
from topgap.planning.formatting import format_error, format_items, format_threshold
from topgap.planning.threshold_counts import ThresholdCounts
from topgap.planning.threshold_rows import ONE_IN

_FARTHEST = 1.25
"""A threshold that is proposed is at most so many times as large, or as small."""
_FARTHER = 1.5
"""And at least so many times as far from the nearest count."""


class _Place(NamedTuple):
    """A place for a threshold, in the middle between two neighbouring counts.

    Attributes:
        middle: The middle, as a distance from the threshold that is planned.
        high: The count above, likewise.
        low: The count below.
    """

    middle: float
    high: float
    low: float

    @property
    def distance(self) -> float:
        """How far the counts are away from it."""
        return (self.high - self.low) / 2


def advise(
    all_counts: Sequence[ThresholdCounts], should_be_named: Sequence[int]
) -> tuple[str, ...]:
    """Say of each threshold how far it is from the counts, and of k whether it fits.

    Args:
        all_counts: The counts with each threshold, from the smallest threshold up, at one ε.
        should_be_named: How many items should be named with each of them, at most k.
    """
    sentences = [_advise_on_threshold(counts) for counts in all_counts]
    k = all_counts[0].parameters.k
    full = [
        format_threshold(counts.parameters.threshold or Fraction(0))
        for counts, count in zip(all_counts, should_be_named, strict=True)
        if count >= k
    ]
    if full:
        sentences.append(
            f"{format_items(k)} or more above {full[-1]}: most lists are full, cost all of ε and "
            f"have no counts; use a larger k or threshold."
        )
    elif 0 < (count := should_be_named[0]) < k / 3:
        sentences.append(
            f"At most {format_items(count)} should be named: k = {2 * count} leaves room for twice "
            f"as many, and has {2 * count / k:.2g} of the noise."
        )
    return tuple(sentences)


def _advise_on_threshold(counts: ThresholdCounts) -> str:
    parameters = counts.parameters
    threshold = parameters.threshold or Fraction(0)
    distances = in_units(counts.all_distances(), parameters.resolution)
    if counts.size > counts.listed:
        distances = np.append(distances, -to_float(threshold))

    def describe(distance: float) -> str:
        scale_at_one = to_float(parameters.scale * parameters.epsilon)
        clear = log(ONE_IN / 2) * scale_at_one / distance if distance else inf
        return f"{format_error(distance)} away" + f", clear from ε = {clear:.2g} on" * (clear < inf)

    def show(distance: float) -> str:
        shown = threshold + Fraction(distance)
        return format_threshold(Fraction(round(shown)) if abs(shown) >= 10 else shown)

    nearest = float(np.abs(distances).min())
    sentence = f"Threshold {format_threshold(threshold)}: the nearest count is {describe(nearest)}"
    better = _find_better(distances, to_float(threshold), nearest)
    if better is not None:
        sentence += (
            f"; {show(better.middle)}, in the middle between {show(better.high)} and "
            f"{show(better.low)}, is {describe(better.distance)}"
        )
    return f"{sentence}."


def _find_better(distances: Floats, threshold: float, nearest: float) -> _Place | None:
    """The place near the threshold that is farthest from all counts, if that is worth a move."""
    ordered = np.unique(distances[np.isfinite(distances)])
    places = [
        _Place((low + high) / 2, high, low)
        for low, high in zip(ordered[:-1].tolist(), ordered[1:].tolist(), strict=True)
        if threshold / _FARTHEST <= threshold + (low + high) / 2 <= threshold * _FARTHEST
    ]
    best = max(places, key=lambda place: place.distance, default=None)
    return best if best is not None and best.distance >= _FARTHER * nearest else None
