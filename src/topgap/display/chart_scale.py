"""Where estimates and their intervals lie on a common scale, whatever their size: for charts."""

from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple

from topgap.estimates.result import Estimates
from topgap.margins import ONE_IN
from topgap.numbers.parse import Number


class Span(NamedTuple):
    """Where one estimate lies, and the ends of its interval."""

    low: Fraction
    estimate: Fraction
    high: Fraction


@dataclass(frozen=True)
class ChartScale:
    """All of them, and the ends of a scale that has them all on it, and 0."""

    start: Fraction
    end: Fraction
    of: tuple[Span, ...]


def scale_intervals(estimates: Estimates, level: Number) -> ChartScale:
    """The estimates and intervals of this level as exact numbers.

    One that is too large for a float lies where the measurement does, which is exact. An interval
    one end of which is too large ends where the scale does.

    Raises:
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1.

    >>> from topgap import Release, TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> found = scale_intervals(estimate(release, [60], variance=8, noise="laplace"), 0.95)
    >>> [round(float(each), 2) for each in (found.start, *found.of[0], found.end)]
    [0.0, 53.96, 60.0, 66.04, 66.04]
    """
    intervals = estimates.intervals(level)
    floats = [*estimates.estimates, *(end for interval in intervals for end in interval)]
    known = [*estimates.measurements, *(Fraction(each) for each in floats if abs(each) < inf)]
    start, end = min(Fraction(0), *known), max(Fraction(0), *known)
    if start == end:
        end += 1
    found = []
    rows = zip(estimates.measurements, estimates.estimates, intervals, strict=True)
    for measured, estimate, (low, high) in rows:
        both_beyond = low == high and abs(low) == inf
        found.append(
            Span(
                measured if both_beyond else _within(low, start, end),
                measured if abs(estimate) == inf else Fraction(estimate),
                measured if both_beyond else _within(high, start, end),
            )
        )
    return ChartScale(start, end, tuple(found))


def near_ties(estimates: Estimates) -> tuple[bool, ...]:
    """Which estimates may lean: those beside an uncertain order, or all if the last place is.

    >>> from topgap import Release, TopK, estimate
    >>> release = Release(TopK(k=3, epsilon=1, monotonic=True), [4, 0, 2], [125, 3, 125])
    >>> near_ties(estimate(release, [60, 48, 47], variance=8))
    (False, True, True)
    """
    return estimates.in_doubt(1 - Fraction(2, ONE_IN))


def _within(number: float, start: Fraction, end: Fraction) -> Fraction:
    if abs(number) < inf:
        return Fraction(number)
    return end if number > 0 else start
