"""`Estimates`: the winners of a release with an estimate and an interval for each."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, log, sqrt
from typing import TYPE_CHECKING, Any

from topgap.display import dataframes
from topgap.display.bars import Bar, explain_uncertain, list_number_bars
from topgap.display.html_table import format_html_note, format_html_table
from topgap.display.numbers import ChartScale, format_estimate, format_level, place_intervals
from topgap.display.plot import plot_estimates
from topgap.display.text import format_text_table, to_line, to_repr
from topgap.errors import EstimatesError
from topgap.estimates.combination import correct_measurements
from topgap.estimates.intervals import Ends, Errors, find_errors
from topgap.estimates.noise import Noise
from topgap.estimates.ordering import Ordered, put_in_order, weigh
from topgap.estimates.parsing import FORMAT, parse_estimates
from topgap.margins import NEAR_TIES, ONE_IN, is_any_uncertain, is_uncertain
from topgap.numbers.format import (
    format_exact,
    format_rounded,
    format_short,
    round_outwards,
    to_float,
)
from topgap.numbers.parse import LEVEL, Number, read_flag, read_level
from topgap.release import Release

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes

Interval = tuple[float, float]

_MOST_ROWS = 60


@dataclass(frozen=True, repr=False)
class Estimates:
    """The winners, measured, and the measurements made better by the gaps between them.

    Like a `Release` it holds nothing that is secret, and is made by `topgap.top_k_with_estimates`
    or `topgap.estimate`.

    Attributes:
        release: The winners and the gaps between them.
        measurements: What was measured for each winner, exactly.
        noise: What is known of the measurements' noise.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=2, epsilon=1, monotonic=True), [4, 0], [125, 3], ["flu", "cold"])
    >>> both = estimate(release, [60, 41], variance=8, noise="laplace")
    >>> [round(each, 2) for each in both.estimates]   # the gap was 12.5, and not 19
    [57.85, 43.15]
    >>> [round(each, 2) for each in both.standard_errors], both.measurement_errors[0] ** 2
    ([2.31, 2.31], 8.000000000000002)
    >>> print(both)   # 0.3 is a small gap: who comes last is in doubt, and the intervals are wide
    rank  item  ahead of the next by  estimate    ±  95% from    to
       1  flu                   12.5      57.9  2.3      53.1  66.0
       2  cold                   0.3      43.1  2.3      35.0  47.9
    ε = 1 to select, measured elsewhere, resolution 0.1, sensitivity 1, monotonic
    Where an order or the last place is uncertain, the estimates are biased and their standard \
errors understate the error; the intervals allow for that, and the measurements, which files and \
the page have too, are not biased.
    """

    release: Release
    measurements: tuple[Fraction, ...]
    noise: Noise

    @property
    def epsilon(self) -> Fraction | None:
        """The privacy loss of publishing all of it; None if that of the measurements is unknown."""
        each = self.noise.epsilon
        return None if each is None else self.release.epsilon + len(self) * each

    @property
    def items(self) -> tuple[Any, ...]:
        """The winners' names, or their positions if the answers came without names."""
        return self.release.items

    @property
    def cost(self) -> str:
        """What the whole has cost, and what for, in words."""
        selecting = format_short(self.release.epsilon)
        if self.noise.epsilon is None:
            return f"ε = {selecting} to select, measured elsewhere"
        whole = format_short(self.release.epsilon + len(self) * self.noise.epsilon)
        measuring = format_short(self.noise.epsilon)
        return f"ε = {whole}: {selecting} to select and {measuring} for each measurement"

    @property
    def estimates(self) -> tuple[float, ...]:
        """The best linear unbiased estimate of each winner's answer, from the largest winner down.

        The answer is the one that was rounded down to a multiple of the resolution. What is beyond
        the largest float is infinite; the measurements are exact.
        """
        return tuple(map(to_float, self._exact))

    @cached_property
    def standard_errors(self) -> tuple[float, ...]:
        """The standard deviation of each estimate's error, where the order is not in doubt."""
        return tuple(self._in_units(sqrt(each)) for each in self._errors.combination.variances)

    @cached_property
    def measurement_errors(self) -> tuple[float, ...]:
        """The standard deviation of each measurement's error: what the gaps make smaller."""
        return tuple(self._in_units(sqrt(each)) for each in self._errors.variances)

    def intervals(
        self,
        level: "Number" = LEVEL,
        *,
        simultaneous: bool = False,
        measured_only: bool = False,
    ) -> tuple[Interval, ...]:
        """An interval for each winner's answer, which covers it with probability `level`.

        It leaves equal probabilities to either side. Where a winner's place is in doubt, the
        error may be larger than the standard error says: there the interval extends as far as that
        of the measurement, which covers whoever should have won. docs/estimates.md has
        the coverage that was measured, near ties and far from them. Either end is half a step
        farther out than noise without rounding asks for.

        Args:
            level: A number between 0 and 1.
            simultaneous: Whether all k intervals are to cover at once, with that probability.
            measured_only: Whether the gaps are left aside, and the intervals lie around the
                measurements.

        Returns:
            The ends of each interval, from the largest winner down. If nothing but the variance of
            the noise is known, they are Chebyshev's, which allow for noise of any law.

        Raises:
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.

        >>> from topgap import TopK, estimate
        >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
        >>> one = estimate(release, [60], variance=8, noise="laplace")
        >>> [round(end, 2) for end in one.intervals(0.9)[0]]   # ∓2·ln 10, and half a step
        [55.34, 64.66]
        """
        alpha = 1 - read_level(level)
        simultaneous = read_flag(simultaneous, "simultaneous")
        measured_only = read_flag(measured_only, "measured_only")
        if simultaneous:
            alpha /= len(self)  # by Bonferroni's inequality
        in_doubt = (True,) * len(self) if measured_only else self._in_doubt(alpha)
        alone: Sequence[Interval] = ()
        if any(in_doubt):  # which takes as long as all the rest
            ends = self._errors.ends_of_measurements(alpha / 2)
            alone = self._around(self.measurements, ends, self.noise.step / 2)
        if measured_only:
            return tuple(alone)
        half = max(self.release.parameters.resolution, self.noise.step) / 2
        combined = self._around(self._exact, self._errors.ends(alpha / 2), half)
        if not alone:
            return combined
        return tuple(
            (min(one[0], both[0]), max(one[1], both[1])) if doubt else both
            for one, both, doubt in zip(alone, combined, in_doubt, strict=True)
        )

    def in_order(self, level: "Number" = LEVEL) -> tuple[Ordered, ...]:
        """The estimates made at least 0 and put in the order of the ranks, with their intervals.

        This is isotonic regression, weighted with 1/variance: post-processing, which costs no ε.
        It is for answers that are counts, which are not below 0. The intervals are those of
        `intervals`, cut at 0 and widened to hold the new number (`topgap.estimates.ordering`).

        Args:
            level: That of the intervals.

        Raises:
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.

        >>> from topgap import TopK, estimate
        >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [5, 3], ["flu", "cold"])
        >>> crossed = estimate(release, [40, 44], variance=8)
        >>> [round(each, 2) for each in crossed.estimates]
        [40.76, 43.24]
        >>> [float(each.value) for each in crossed.in_order()]
        [42.0, 42.0]
        """
        variances = self._errors.combination.variances
        return put_in_order(self.items, self._exact, weigh(variances), self.intervals(level))

    def in_doubt(self, level: "Number" = LEVEL) -> tuple[bool, ...]:
        """For each winner, whether noise may have decided its place and biased its estimate.

        With α one minus the level, a place is not in doubt if the gaps before and after it are so
        large that two equal items come out so far apart with probability at most α/2, and so is the
        gap after the last winner: else the winners may be those whose noise was largest, and all
        are in doubt. All are as well, after any small gap, if the order of other winners matters
        to an estimate.
        """
        return self._in_doubt(1 - read_level(level))

    def _in_doubt(self, alpha: Fraction) -> tuple[bool, ...]:
        gaps = self.release.gaps or ()
        enough = self.release.parameters.scale * Fraction(log(2 / alpha))
        small = [gap < enough for gap in gaps]
        if small[-1] or (any(small) and not self._errors.are_exchangeable):
            return (True,) * len(small)
        return tuple(a or b for a, b in zip(small, [False, *small], strict=False))

    def _around(
        self, centres: Sequence[Fraction], ends: Sequence[Ends], half: Fraction
    ) -> tuple[Interval, ...]:
        unit = self._errors.unit
        return tuple(
            (
                round_outwards(centre - Fraction(high) * unit - half, -inf),
                round_outwards(centre - Fraction(low) * unit + half, inf),
            )
            for centre, (low, high) in zip(centres, ends, strict=True)
        )

    @cached_property
    def _errors(self) -> Errors:
        return find_errors(self.release.parameters, self.noise)

    @cached_property
    def _exact(self) -> tuple[Fraction, ...]:
        return correct_measurements(
            self._errors.combination,
            self.measurements,
            self.release.gaps or (),
            resolution=self.release.parameters.resolution,
            unit=self._errors.unit,
        )

    def _in_units(self, number: float) -> float:
        return to_float(Fraction(number) * self._errors.unit)

    def to_dict(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """Everything in a dict: released and measured numbers as exact strings, others as floats.

        Args:
            level: That of the intervals, of which both kinds are written.
        """
        return {
            "format": FORMAT,
            "epsilon": None if self.epsilon is None else str(self.epsilon),
            "release": self.release.to_dict(),
            "measurements": [format_exact(each) for each in self.measurements],
            "noise": self.noise.to_dict(),
            "level": format_exact(read_level(level)),
            "estimates": [
                {
                    "estimate": _finite_or_none(estimate),
                    "standard_error": _finite_or_none(error),
                    "interval": [*map(_finite_or_none, alone)],
                    "simultaneous_interval": [*map(_finite_or_none, at_once)],
                    "in_doubt": doubt,
                }
                for estimate, error, alone, at_once, doubt in zip(
                    self.estimates,
                    self.standard_errors,
                    self.intervals(level),
                    self.intervals(level, simultaneous=True),
                    self.in_doubt(level),
                    strict=True,
                )
            ],
        }

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> "Estimates":
        """Make the estimates that `to_dict` wrote, anew from what was released and measured.

        Raises:
            EstimatesError, ReleaseError: This is not what `to_dict` writes.
        """
        return cls(*parse_estimates(read))

    def to_json(self, level: "Number" = LEVEL, *, indent: int | None = None) -> str:
        """The estimates as JSON, from which `from_json` makes equal ones.

        Args:
            level: That of the intervals.
            indent: Spaces by which inner lines are indented; None for a single line.

        Raises:
            ReleaseError: An item is not a string, number, True, False, None or a tuple of these.
        """
        self.release.to_json()  # which refuses items that JSON has not
        return json.dumps(self.to_dict(level), ensure_ascii=False, indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Estimates":
        """Read what `to_json` wrote.

        Raises:
            EstimatesError, ReleaseError: The text is not the JSON of estimates.

        >>> Estimates.from_json("{}")
        Traceback (most recent call last):
        topgap.errors.EstimatesError: These are not estimates: they must have the format \
topgap.estimates/1.
        """
        try:
            read = json.loads(text)
        except Exception:  # it is no text, or not JSON, or nested too deeply
            raise EstimatesError("These are not estimates: they must be JSON.") from None
        estimates = cls.from_dict(read)
        estimates.release.to_json()  # which refuses items that JSON has not, such as NaN
        return estimates

    def to_pandas(self, level: "Number" = LEVEL) -> "pd.DataFrame":
        """A pandas data frame with one row per winner, from the largest down.

        The columns are those of `Release.to_pandas`, and `measurement`, `estimate`,
        `standard_error`, `low` and `high`, the ends of each winner's own interval, and `in_doubt`,
        whether noise may have decided on its place; `domain` and `domain_from_data`, if they are
        there, are the last.

        Args:
            level: That of the intervals.

        Raises:
            ReleaseError: The items, or an enormous gap, fit no column.
            MissingExtraError: pandas is not installed.
        """
        return dataframes.to_pandas(self.columns(level))

    def to_polars(self, level: "Number" = LEVEL) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_polars(self.columns(level))

    def to_arrow(self, level: "Number" = LEVEL) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors."""
        return dataframes.to_arrow(self.columns(level))

    def plot(self, ax: "Axes | None" = None, level: "Number" = LEVEL) -> "Axes":
        """A chart with a point per winner, its estimate, and an error bar, its interval.

        The point is hollow where the estimate may be biased.

        Args:
            ax: The Matplotlib axes to draw on; new ones in a new figure unless given.
            level: That of the intervals.

        Raises:
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.
            MissingExtraError: Matplotlib is not installed.
        """
        errors = self.standard_errors
        labels = [
            f"{format_estimate(number, error)} ± {format_estimate(error, error)}"
            for number, error in zip(self.estimates, errors, strict=True)
        ]
        if self.epsilon is None:
            selecting = format_short(self.release.epsilon)
            cost = f"selected at ε = {selecting} and measured elsewhere"
        else:
            cost = f"measured at ε = {format_short(self.epsilon)}"
        return plot_estimates(
            self.items,
            self.chart_scale(level),
            labels,
            self.near_ties,
            ax,
            level=format_level(level),
            cost=cost,
            domain_from_data=self.release.domain_from_data,
        )

    def chart_scale(self, level: "Number" = LEVEL) -> ChartScale:
        """Where the estimates and their intervals lie on a scale of a chart.

        Args:
            level: That of the intervals.
        """
        return place_intervals(self.measurements, self.estimates, self.intervals(level))

    def bars(self, level: "Number" = LEVEL) -> list[Bar]:
        """A bar for each winner: its estimate, with the interval; marked where its gap is small.

        Args:
            level: That of the intervals.
        """
        parameters = self.release.parameters
        uncertain = [is_uncertain(gap, parameters) for gap in self.release.gaps or ()]
        return list_number_bars(self.chart_scale(level), uncertain)

    @property
    def near_ties(self) -> tuple[bool, ...]:
        """Which estimates may be biased: those at an uncertain order, or all if the last place is.

        >>> from topgap import TopK, estimate
        >>> release = Release(TopK(k=3, epsilon=1, monotonic=True), [4, 0, 2], [125, 3, 125])
        >>> estimate(release, [60, 48, 47], variance=8).near_ties
        (False, True, True)
        """
        return self.in_doubt(1 - Fraction(2, ONE_IN))

    def columns(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """What the data frames are made of: a list or array by each name.

        Args:
            level: That of the intervals.
        """
        intervals, last = self.intervals(level), self.release.domain_columns
        return {
            **{name: each for name, each in self.release.columns().items() if name not in last},
            "measurement": [to_float(each) for each in self.measurements],
            "estimate": [*self.estimates],
            "standard_error": [*self.standard_errors],
            "low": [low for low, _ in intervals],
            "high": [high for _, high in intervals],
            "in_doubt": [*self.in_doubt(level)],
            **last,
        }

    def __len__(self) -> int:
        return len(self.measurements)

    def __iter__(self) -> Iterator[tuple[Any, float]]:
        """The winners from the largest down, each with its estimate."""
        return zip(self.release.items, self.estimates, strict=True)

    def __str__(self) -> str:
        return self._format(LEVEL, _MOST_ROWS)

    def to_text(self, level: "Number" = LEVEL) -> str:
        """The whole table as text; `str` shows the first winners of a long one.

        Args:
            level: That of the intervals.
        """
        return self._format(level, len(self))

    def _format(self, level: "Number", most: int) -> str:
        head, rows, note = self.rows(level, most)
        return "\n".join([format_text_table(head, rows), note, *self._notes])

    @property
    def has_near_ties(self) -> bool:
        """Whether an order or the last place is uncertain, so that estimates may be biased."""
        return is_any_uncertain(self.release.gaps or (), self.release.parameters)

    @property
    def _notes(self) -> list[str]:
        near_ties = [NEAR_TIES] if self.has_near_ties else []
        return [*near_ties, *self.release.caveats]

    def _repr_html_(self) -> str:
        head, rows, note = self.rows(LEVEL, _MOST_ROWS)
        bars = self.bars()[: len(rows)]
        uncertain = any(bar.is_uncertain for bar in bars)
        legend = [f"? {explain_uncertain(self.release.parameters)}."] * uncertain
        table = format_html_table(head, rows, bars=bars)
        return table + format_html_note([note, *legend, *self._notes])

    def rows(self, level: "Number", most: int) -> tuple[list[str], list[list[str]], str]:
        """The table to show: its head, at most so many rows, and what is to be said below."""
        head, rows, note = self.release.rows(most, self.cost)
        columns = zip(self.estimates, self.standard_errors, self.intervals(level), strict=True)
        for row, (estimate, error, interval) in zip(rows, columns, strict=False):
            row += [format_rounded(each, error) for each in (estimate, error, *interval)]
        head += ["estimate", "±", f"{format_level(level)} from", "to"]
        return head, rows, note

    def __repr__(self) -> str:
        shown = ", ".join(to_line(to_repr(item)) for item in self.release.items[:5])
        more = ", …" if len(self) > 5 else ""
        caveat = ", of a list from the data" * self.release.domain_from_data
        return f"<Estimates of the top {len(self)}{caveat}: {shown}{more}>"


def _finite_or_none(number: float) -> float | None:
    """JSON has no infinite numbers."""
    return number if isfinite(number) else None
