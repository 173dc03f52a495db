"""How many: the numbers beside the named items, from estimates, counts or values alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import floor, inf, isfinite, log10
from typing import NamedTuple

from topgap.display.numbers import ChartScale, format_about, format_estimate, place_intervals
from topgap.estimates import Estimates, Ordered, counts_in_order
from topgap.numbers.format import format_exact, to_float
from topgap.numbers.parse import Number
from topgap.release import Release

_LARGEST_IN_DIGITS = 10**12
_MOST_PLACES = 6


class Figure(NamedTuple):
    """The number of one item, its standard error, and the ends of its interval."""

    number: Fraction | float
    error: float
    low: Fraction | float
    high: Fraction | float


@dataclass(frozen=True)
class Figures:
    """The numbers of all named items.

    Attributes:
        rows: One for each, from the first rank down.
        places: The decimal places of all of them.
        scale: Where they lie on a chart.
    """

    rows: Sequence[Figure]
    places: int
    scale: ChartScale

    def format(self, number: Fraction | float) -> str:
        """Return a number with the decimal places of the column, and a minus sign.

        >>> figures = Figures((), 1, ChartScale(Fraction(0), Fraction(1), ()))
        >>> [figures.format(each) for each in (Fraction(1, 3), -0.01, -1234.56, 1e30)]
        ['0.3', '0.0', '−1234.6', '1.000 × 10³⁰']
        """
        size: Fraction | float = -number if number < 0 else number
        if size == inf:
            return format_estimate(float(number), 1.0)
        if size >= _LARGEST_IN_DIGITS:
            return f"{'−' * (number < 0)}{format_about(Fraction(size))}"
        text = f"{float(size):.{self.places}f}"
        return f"−{text}" if number < 0 and text.strip("0.") else text

    @property
    def crossings(self) -> list[int]:
        """The ranks, counted from 1, of which the number is less than the next."""
        numbers = [each.number for each in self.rows]
        pairs = pairwise(numbers)
        return [rank for rank, (one, other) in enumerate(pairs, 1) if one < other]

    @property
    def is_any_below_zero(self) -> bool:
        """Whether any number is less than 0."""
        return any(each.number < 0 for each in self.rows)


def find_figures(
    result: Release | Estimates, level: "Number", *, in_order: bool = False
) -> Figures | None:
    """Return the numbers of a release; None if it has none.

    Args:
        result: The release, or estimates.
        level: That of the intervals.
        in_order: Whether numbers are made at least 0 and put in the order of the ranks.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> figures = find_figures(estimate(release, [60], variance=8, noise="laplace"), 0.95)
    >>> [figures.format(each) for each in figures.rows[0]]
    ['60.0', '2.8', '54.0', '66.0']
    >>> find_figures(release, 0.95) is None
    True
    """
    if isinstance(result, Estimates):
        errors: Sequence[float] = result.standard_errors
        places = _choose_places(errors)
        if in_order:
            return _build_ordered(result.in_order(level), errors, places)
        intervals = result.intervals(level)
        rows = [
            Figure(number, error, low, high)
            for number, error, (low, high) in zip(result.estimates, errors, intervals, strict=True)
        ]
        scale = place_intervals(result.measurements, result.estimates, intervals)
        return Figures(rows, places, scale)
    if not (result.has_counts and len(result)):
        return None
    counts = result.counts(level)
    errors = [each.standard_error for each in counts]
    places = _choose_places(errors)
    if result.parameters.noise == "laplace":
        places = _limit_places(places, result.parameters.resolution)
    if in_order:
        return _build_ordered(counts_in_order(result, level), errors, places)
    rows = [Figure(each.value, each.standard_error, each.low, each.high) for each in counts]
    return Figures(rows, places, result.chart_scale(level))


def _build_ordered(ordered: Sequence[Ordered], errors: Sequence[float], places: int) -> Figures:
    rows = [
        Figure(each.value, error, each.low, each.high)
        for each, error in zip(ordered, errors, strict=True)
    ]
    ends = [(_to_float(each.low), _to_float(each.high)) for each in ordered]
    values = [each.value for each in ordered]
    return Figures(rows, places, place_intervals(values, [*map(to_float, values)], ends))


def _to_float(end: Fraction | float) -> float:
    return to_float(end) if isinstance(end, Fraction) else end


def _choose_places(errors: Sequence[float]) -> int:
    """Return the places at which rounding is small beside the smallest standard error.

    >>> [_choose_places([error]) for error in (8.0, 2.8, 0.2, 0.0, float("inf"))]
    [0, 1, 2, 0, 0]
    """
    known = [each for each in errors if each > 0 and isfinite(each)]
    if not known:
        return 0
    return min(max(-floor(log10(min(known) / 3)), 0), _MOST_PLACES)


def _limit_places(places: int, resolution: Fraction) -> int:
    """Numbers that are multiples of the resolution have no more places than it has."""
    exact = format_exact(resolution)
    return places if "/" in exact else min(places, len(exact.partition(".")[2]))
