"""Where estimates and their intervals lie on a common scale, whatever their size: for charts."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import NamedTuple


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
    spans: tuple[Span, ...]


def scale_intervals(
    measurements: Sequence[Fraction],
    estimates: Sequence[float],
    intervals: Sequence[tuple[float, float]],
) -> ChartScale:
    """The estimates and their intervals as exact numbers.

    One that is too large for a float lies where the measurement does, which is exact. An interval
    one end of which is too large ends where the scale does.

    >>> found = scale_intervals([Fraction(60)], [60.0], [(53.5, 66.5)])
    >>> [float(each) for each in (found.start, *found.spans[0], found.end)]
    [0.0, 53.5, 60.0, 66.5, 66.5]
    """
    floats = [*estimates, *(end for interval in intervals for end in interval)]
    known = [*measurements, *(Fraction(each) for each in floats if abs(each) < inf)]
    start, end = min(Fraction(0), *known), max(Fraction(0), *known)
    if start == end:
        end += 1
    found = []
    rows = zip(measurements, estimates, intervals, strict=True)
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


def _within(number: float, start: Fraction, end: Fraction) -> Fraction:
    if abs(number) < inf:
        return Fraction(number)
    return end if number > 0 else start
