"""`Release`: the published result, at the boundary between secret and public data."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from topgap.display import dataframes
from topgap.display.bars import Bar, explain_uncertain
from topgap.display.html_table import format_html_note, format_html_table
from topgap.display.numbers import ChartScale
from topgap.display.text import format_text_table
from topgap.domains import DomainDescription
from topgap.errors import ReleaseError
from topgap.margins import near_the_end
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.release.charts import list_bars, place_counts, plot_release
from topgap.release.columns import (
    build_count_columns,
    build_domain_columns,
    build_error_columns,
    build_gap_columns,
    build_item_columns,
    build_value_columns,
)
from topgap.release.construction import (
    PackedUnits,
    Units,
    list_units,
    pack_checked,
    pack_units,
    to_exact,
    unpack_units,
)
from topgap.release.counts import (
    Count,
    Covariance,
    center_counts,
    compute_covariance,
    compute_value_intervals,
    explain_missing_counts,
    list_counts,
)
from topgap.release.coverage import read_coverage
from topgap.release.laplace_error import standard_error
from topgap.release.notes import NOT_PROTECTED, explain_missing_values
from topgap.release.parsing import parse_json, parse_release
from topgap.release.serialization import build_document, build_winners, write_json
from topgap.release.text import MOST_ROWS, Grid, build_table, describe_winners

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from matplotlib.axes import Axes


class Release:
    """The winners from the largest down, and the lead of each over the next.

    It holds nothing else: no answer, no noise, and not who came after the last winner. What its
    methods write may be published at the privacy loss `epsilon`. With Laplace noise it holds the
    noisy answers of the winners, too.

    Args:
        parameters: What the release was made with.
        indices: The winners' positions among the answers, from 0; None if only names are known.
        gap_units: Their leads over the next, as multiples of the resolution; None without gaps.
        items: The winners' names; None if items go by their position.
        value_units: Their noisy answers, as multiples of the resolution; only with Laplace noise,
            where they come with the gaps.
        domain_from_data: Whether the list of items was taken from the data: what is written says
            then that it is not protected that somebody has an item.
        domain: Which items took part, in words and with their number; None if that is unknown.

    Raises:
        ReleaseError: These cannot have been released with these parameters.

    >>> release = Release(TopK(k=2, epsilon=1), [4, 0], [125, 3], ["flu", "cold"])
    >>> release.items, release.gaps
    (('flu', 'cold'), (Fraction(25, 2), Fraction(3, 10)))
    >>> for item, gap in release:
    ...     print(item, float(gap))
    flu 12.5
    cold 0.3
    >>> print(release)
    rank  item  ahead of the next by
       1  flu                   12.5
       2  cold                   0.3
    ε = 1, resolution 0.1, sensitivity 1
    >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True, threshold=20)
    >>> print(Release(few, None, [19, 16], ["flu", "cold"], value_units=[55, 36]))
    rank  item  ahead of the next by  value    ±  95% from  to
       1  flu                     19     55  1.4        52  58
       2  cold                    16     36  1.4        33  39
    Cut at 20: 2 items reached it, as many as are named at most. The last gap is the lead over the \
next item, or over 20 if that is larger.
    ε = 1, resolution 1, sensitivity 1, monotonic
    Laplace noise of scale 1 on every answer, for at most 1 item per person; a value is an answer \
with its noise.
    """

    __slots__ = (
        "_domain",
        "_domain_from_data",
        "_gap_units",
        "_indices",
        "_items",
        "_parameters",
        "_value_units",
    )

    _parameters: TopK
    _indices: bytes | None  # of int64
    _gap_units: PackedUnits
    _items: tuple[Any, ...] | None
    _value_units: PackedUnits
    _domain_from_data: bool
    _domain: DomainDescription | None

    def __init__(
        self,
        parameters: TopK,
        indices: Sequence[int] | None = None,
        gap_units: Sequence[int] | None = None,
        items: Sequence[Any] | None = None,
        *,
        value_units: Sequence[int] | None = None,
        domain_from_data: bool = False,
        domain: DomainDescription | None = None,
    ) -> None:
        packed = pack_checked(
            parameters, indices, gap_units, items, value_units, domain_from_data, domain
        )
        for name, part in packed._asdict().items():
            object.__setattr__(self, f"_{name}", part)  # for our own refuses

    @classmethod
    def from_mechanism(
        cls,
        parameters: TopK,
        indices: bytes | None,
        gap_units: bytes | list[int] | None,
        items: list[Any] | None,
        *,
        value_units: bytes | list[int] | None = None,
        domain_from_data: bool = False,
        domain: DomainDescription | None = None,
    ) -> "Release":
        """Return the release of what the mechanism drew, without any check.

        For `topgap.selection` alone: others call `Release`, which checks its arguments.

        Args:
            parameters: The parameters of the release.
            indices: The winners' positions as int64, in bytes; None if they go by names alone.
            gap_units: The gaps as int64, in bytes; a list if one is larger; None without gaps.
            items: The winners' names; None if items go by their position.
            value_units: The noisy answers, as the gaps; None if they are not released.
            domain_from_data: Whether the list of items was taken from the data.
            domain: Which items took part.
        """
        release = object.__new__(cls)
        put = object.__setattr__
        put(release, "_parameters", parameters)
        put(release, "_indices", indices)
        put(release, "_gap_units", pack_units(gap_units) if type(gap_units) is list else gap_units)
        values = pack_units(value_units) if type(value_units) is list else value_units
        put(release, "_value_units", values)
        put(release, "_items", None if items is None else tuple(items))
        put(release, "_domain_from_data", domain_from_data)
        put(release, "_domain", domain)
        return release

    def with_items(self, items: Sequence[Any]) -> "Release":
        """Return the same release with other names for its winners, and without positions.

        For the ledger and the command, which write names as text.

        Raises:
            ReleaseError: There is not one name for each winner.
        """
        units, values = (list_units(each) for each in (self.gap_units, self.value_units))
        marks: dict[str, Any] = {"domain_from_data": self._domain_from_data, "domain": self._domain}
        return Release(self._parameters, None, units, items, value_units=values, **marks)

    @property
    def parameters(self) -> TopK:
        """What the release was made with."""
        return self._parameters

    @property
    def epsilon(self) -> Fraction:
        """The privacy loss of publishing all of it, as it was promised before it was drawn."""
        return self._parameters.epsilon

    @property
    def spent(self) -> Fraction:
        """What this output cost: at most ε, and less if a threshold ended the list early.

        What releases of one data set cost may be added up, even if each was chosen after the one
        before; to those who were promised ε beforehand, ε is still the bound (docs/ledger.md).

        >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)
        >>> Release(few, None, [125], ["flu"]).spent
        Fraction(1, 2)
        """
        return self._parameters.cost(len(self))

    @property
    def threshold(self) -> Fraction | None:
        """Only items above this were to be named; None if there was no threshold."""
        return self._parameters.threshold

    @property
    def threshold_reached(self) -> bool:
        """Whether the threshold ended the list, so that the last gap is the lead over it."""
        return self.threshold is not None and len(self) < self._parameters.k

    @property
    def indices(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """The winners' positions among the answers, from 0; a read-only array.

        Where items have names, positions are for your own use and nothing here writes them down:
        the order of a dict or of a Series can itself be a secret, as `value_counts` sorts by the
        true counts.

        Raises:
            ReleaseError: The release has names alone: it was read, or its domain is not a list.
        """
        if self._indices is None:
            raise ReleaseError("This release has only names, no positions.")
        return np.frombuffer(self._indices, dtype=np.int64)

    @property
    def items(self) -> tuple[Any, ...]:
        """The winners' names, or their positions if the answers came without names."""
        return tuple(self.indices.tolist()) if self._items is None else self._items

    @property
    def gap_units(self) -> Units | None:
        """The lead of each winner over the next as a multiple of the resolution.

        A read-only array of int64; of Python integers, where one is too large for that; None if
        the release has no gaps.
        """
        return unpack_units(self._gap_units)

    @property
    def gaps(self) -> tuple[Fraction, ...] | None:
        """The lead of each winner over the next, exactly; None if the release has no gaps."""
        return to_exact(self.gap_units, self._parameters.resolution)

    @property
    def value_units(self) -> Units | None:
        """The noisy answer of each winner as a multiple of the resolution, as `gap_units`.

        None if the noise is exponential, or the release has no gaps.
        """
        return unpack_units(self._value_units)

    @property
    def values(self) -> tuple[Fraction, ...] | None:
        """The noisy answer of each winner, exactly; None where `value_units` is None.

        It is the answer, rounded down to a multiple of the resolution, plus Laplace noise: unbiased
        for an item that is named in advance. A winner is named because it is large, noise included,
        so near the last place, and near ties, noisy answers are too large on average.

        >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
        >>> release = Release(few, None, [3, 4], ["flu", "cold"], value_units=[25, 22])
        >>> release.values
        (Fraction(25, 1), Fraction(22, 1))
        """
        return to_exact(self.value_units, self._parameters.resolution)

    @property
    def standard_error(self) -> float:
        """The standard deviation of the noise of each value, correctly rounded.

        Raises:
            ReleaseError: The release has no values.

        >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
        >>> release = Release(few, None, [3, 4], ["flu", "cold"], value_units=[25, 22])
        >>> round(release.standard_error, 3)
        1.357
        """
        self._require_values()
        return standard_error(self._parameters)

    def intervals(
        self,
        level: "Number" = LEVEL,
        *,
        simultaneous: bool = False,
        size: int | None = None,
    ) -> tuple[tuple[Fraction, Fraction], ...]:
        """An interval for the answer of each winner, rounded down to a multiple of the resolution.

        Its ends are exact quantiles of the noise. It covers the answer of an item that is named in
        advance with probability `level`, or more. Winners whose place is uncertain are covered less
        often, because their noise helped to name them; simultaneous intervals allow for that.

        Args:
            level: A number between 0 and 1.
            simultaneous: Whether all intervals are to cover at once with that probability, whoever
                wins: the lower ends then allow for the noise of every item that took part.
            size: How many items took part, for simultaneous intervals; needed if the release does
                not know its domain.

        Raises:
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1, or the size
                is missing or none.
            ReleaseError: The release has no values.

        >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
        >>> release = Release(few, None, [3, 4], ["flu", "cold"], value_units=[25, 22])
        >>> release.intervals()
        ((Fraction(22, 1), Fraction(28, 1)), (Fraction(19, 1), Fraction(25, 1)))
        >>> release.intervals(simultaneous=True, size=1000)[0]
        (Fraction(15, 1), Fraction(29, 1))
        """
        values = self._require_values()
        tail, took_part = read_coverage(
            level, simultaneous=simultaneous, size=size, winners=len(self), domain=self._domain
        )
        return compute_value_intervals(self._parameters, values, tail, took_part)

    @property
    def has_counts(self) -> bool:
        """Whether it tells how large the winners' answers are: see `counts`."""
        if self._gap_units is None:
            return False
        return self._value_units is not None or self.threshold_reached

    def counts(
        self,
        level: "Number" = LEVEL,
        *,
        simultaneous: bool = False,
        size: int | None = None,
    ) -> tuple[Count, ...]:
        """How large the answer of each winner is, with its standard error and an interval.

        Where a threshold ended the list, with exponential noise, the count of an item is the
        threshold plus the gaps from the item down to it, and half a step for each of these gaps,
        which rounding took. This costs nothing beyond the release. With Laplace noise it is the
        noisy answer, of `values`.

        The count of an item that is clearly above the threshold is unbiased, with a standard error
        of √2 times the scale, if k leaves room: where k items or more are above the threshold, the
        few lists that have counts have them because its noise was large, and all are too low. All
        counts share that noise (`count_covariance`). `is_biased` marks winners of which the gaps
        show that noise may have decided the rank, or that they are named (docs/gaps.md). The
        interval covers the answer, rounded down to a multiple of the resolution: whatever the data
        are, that an item chosen in advance is named with an interval that does not cover has a
        probability of at most 1 − `level`.

        Args:
            level: As of `intervals`.
            simultaneous: As of `intervals`.
            size: As of `intervals`.

        Raises:
            ParameterError, ParameterTypeError: As of `intervals`.
            ReleaseError: The release has no counts; the sentence says why.

        >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)   # noise of mean 4
        >>> release = Release(few, None, [1250, 203], ["flu", "cold"])
        >>> for count in release.counts():
        ...     print(count.item, float(count.value), float(count.low), float(count.high))
        flu 645.4 633.4 657.4
        cold 520.35 508.4 532.3
        >>> round(release.counts()[0].standard_error, 2), release.counts()[0].is_biased
        (5.66, False)
        """
        self._require_counts()
        tail, took_part = read_coverage(
            level, simultaneous=simultaneous, size=size, winners=len(self), domain=self._domain
        )
        found = self._parameters, self.items, self._gap_steps, self.values
        return list_counts(*found, tail=tail, size=took_part)

    @property
    def count_covariance(self) -> Covariance:
        """The covariance matrix of the errors of all counts.

        With exponential noise the noise of the threshold is in all counts: β² beside the diagonal
        and 2β² on it, where β is the scale, but for what rounding takes. So the sum of j counts has
        a standard error of about √(j + j²)·β. With Laplace noise the errors are independent.

        Raises:
            ReleaseError: The release has no counts; the sentence says why.

        >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)
        >>> Release(few, None, [1250, 203], ["flu", "cold"]).count_covariance.round(2)
        array([[32., 16.],
               [16., 32.]])
        """
        self._require_counts()
        if self._value_units is not None:
            return np.diag(np.full(len(self), self.standard_error * self.standard_error))
        return compute_covariance(self._parameters, len(self))

    def _require_counts(self) -> None:
        if not self.has_counts:
            has_gaps = self._gap_units is not None
            raise ReleaseError(explain_missing_counts(self._parameters, has_gaps=has_gaps))

    @property
    def _gap_steps(self) -> list[int]:
        return list_units(self.gap_units) or []

    def _require_values(self) -> tuple[Fraction, ...]:
        values = self.values
        if values is None:
            raise ReleaseError(explain_missing_values(self._parameters))
        return values

    @property
    def domain_from_data(self) -> bool:
        """Whether the list of items is known to be from the data, and so is not protected."""
        return self._domain_from_data

    @property
    def domain(self) -> DomainDescription | None:
        """Which items took part, in words and with their number; None if that is unknown."""
        return self._domain

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences about what is not protected, which all that is shown and written has."""
        return (NOT_PROTECTED,) if self._domain_from_data else ()

    def to_dict(self) -> dict[str, Any]:
        """Everything in a dict: gaps and parameters as exact strings, items as they are.

        Winners go by `item` if they have names, and by `index` otherwise; where a threshold ended
        the list, each has its `count`. `spent` is there where it can be less than ε, `domain` if it
        is known, and `domain_from_data` if it is True, with a `caveat` that says what that means.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
        >>> release.to_dict()["winners"]
        [{'item': 'flu', 'gap': '12.5'}]
        """
        name = "index" if self._items is None else "item"
        return build_document(
            self._parameters,
            build_winners(name, self.items, self._list_numbers()),
            domain=self._domain,
            domain_from_data=self._domain_from_data,
        )

    def _list_numbers(self) -> dict[str, Sequence[Fraction] | None]:
        """What is written of each winner, by name."""
        has_counts = self.has_counts and self._value_units is None
        counts = center_counts(self._parameters, self._gap_steps) if has_counts else None
        return {"value": self.values, "count": counts, "gap": self.gaps}

    @classmethod
    def from_dict(cls, read: dict[str, Any]) -> "Release":
        """Make the release that `to_dict` wrote.

        Raises:
            ReleaseError: This is not what `to_dict` writes.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125])
        >>> Release.from_dict(release.to_dict()) == release
        True
        """
        return cls(**parse_release(read)._asdict())

    def to_json(self, *, indent: int | None = None) -> str:
        """The release as JSON, from which `from_json` makes an equal one.

        Args:
            indent: Spaces by which inner lines are indented; None for a single line.

        Raises:
            ReleaseError: An item is not a string, number, True, False, None or a tuple of these,
                or is a whole number of more than 600 digits.

        >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
        >>> Release.from_json(release.to_json()) == release
        True
        """
        return write_json(self.to_dict(), self._items or (), indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> "Release":
        """Read what `to_json` wrote; lists come back as the tuples that they were.

        Raises:
            ReleaseError: The text is not the JSON of a release.

        >>> Release.from_json("{}")
        Traceback (most recent call last):
        topgap.errors.ReleaseError: This is not a release: it must have the format topgap.release/1.
        """
        return cls(**parse_json(text)._asdict())

    def to_pandas(self, level: "Number" = LEVEL) -> "pd.DataFrame":
        """A pandas data frame with one row per winner, from the largest down.

        The columns are `item`, or `item_1`, `item_2` and so on for tuples; with gaps `gap`, a float
        that is the exact gap rounded to the nearest, and `gap_units`, the exact multiple of the
        resolution; with Laplace noise `value` and `value_units` likewise, `standard_error`, `low`
        and `high`, as of `intervals`; where a threshold ended the list, with exponential noise,
        `count`, `standard_error`, `low`, `high` and `is_biased`, as of `counts`. In every row
        `domain` describes the domain, unless it is a written list, and `domain_from_data` is True
        if the list was taken from the data. Without a winner there are the columns and no row.

        Args:
            level: That of the intervals.

        Raises:
            ReleaseError: The items, or an enormous gap or value, fit no column.
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.
            MissingExtraError: pandas is not installed.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_pandas()
          item   gap  gap_units
        0  flu  12.5        125
        >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
        >>> release = Release(few, None, [3, 4], ["flu", "cold"], value_units=[25, 22])
        >>> release.to_pandas()[["item", "value", "low", "high"]]
           item  value   low  high
        0   flu   25.0  22.0  28.0
        1  cold   22.0  19.0  25.0
        >>> few = TopK(k=4, epsilon=1, monotonic=True, threshold=500)
        >>> release = Release(few, None, [1250, 203], ["flu", "cold"])
        >>> release.to_pandas()[["item", "count", "low", "high", "is_biased"]]
           item   count    low   high  is_biased
        0   flu  645.40  633.4  657.4      False
        1  cold  520.35  508.4  532.3      False
        """
        return dataframes.to_pandas(self.columns(level))

    def to_polars(self, level: "Number" = LEVEL) -> "pl.DataFrame":
        """A polars data frame with the columns of `to_pandas`, and the same errors.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_polars().rows()
        [('flu', 12.5, 125)]
        """
        return dataframes.to_polars(self.columns(level))

    def to_arrow(self, level: "Number" = LEVEL) -> "pa.Table":
        """An Arrow table with the columns of `to_pandas`, and the same errors.

        >>> Release(TopK(k=1, epsilon=1), [4], [125], ["flu"]).to_arrow().to_pylist()
        [{'item': 'flu', 'gap': 12.5, 'gap_units': 125}]
        """
        return dataframes.to_arrow(self.columns(level))

    def plot(self, ax: "Axes | None" = None, level: "Number" = LEVEL) -> "Axes":
        """A chart with a bar per winner: its lead over the first item not named, and its gap.

        If it has counts or values, it has a point per winner and an error bar, its interval. The
        point is hollow where it may be biased: where noise may have decided that the item is named,
        or the rank of a count, or that the threshold ended the list. A threshold is a dashed line;
        if no item reached it, the chart is empty and says so.

        Args:
            ax: The Matplotlib axes to draw on; new ones in a new figure unless given.
            level: That of the intervals, if there are counts or values.

        Raises:
            ReleaseError: The release has no gaps.
            ParameterError, ParameterTypeError: The level does not lie between 0 and 1.
            MissingExtraError: Matplotlib is not installed.
        """
        if self.gaps is None:
            raise ReleaseError("A release without gaps has no lengths to plot; print it instead.")
        counts = self.counts(level) if self.has_counts else None
        return plot_release(
            self._parameters,
            self.items,
            self.gaps,
            counts,
            ax,
            level=level,
            domain_from_data=self._domain_from_data,
        )

    def chart_scale(self, level: "Number" = LEVEL) -> ChartScale:
        """Where the counts, or values, and their intervals lie on a scale of a chart.

        Args:
            level: That of the intervals.
        """
        return place_counts(self.counts(level))

    def bars(self, level: "Number" = LEVEL) -> list[Bar]:
        """A bar for each winner: its count or value with the interval, or else its gap.

        Args:
            level: That of the intervals.
        """
        counts = self.counts(level) if self.has_counts else None
        return list_bars(counts, self.gaps, self._parameters)

    @property
    def near_the_end(self) -> tuple[bool, ...]:
        """For each winner, whether noise may have decided that it is named and biased its value.

        >>> few = TopK(k=2, epsilon=1, items_per_person=1, monotonic=True)
        >>> release = Release(few, None, [3, 4], ["flu", "cold"], value_units=[25, 22])
        >>> release.near_the_end   # a gap of 4 is as large once in 20 times between equal items
        (False, True)
        """
        return near_the_end(self.gaps or (), self._parameters)

    def columns(self, level: "Number" = LEVEL) -> dict[str, Any]:
        """What the data frames are made of: a list or array by each name.

        Args:
            level: That of the intervals of values.

        Raises:
            ReleaseError: An enormous gap or value fits no column.
        """
        columns = build_item_columns(self.items)
        gap_units, value_units = self.gap_units, self.value_units
        if gap_units is not None:
            columns |= build_gap_columns(self.gaps or (), gap_units)
        if value_units is not None:
            columns |= build_value_columns(self.values or (), value_units)
            columns |= build_error_columns(self.standard_error, self.intervals(level))
        elif self.has_counts:
            columns |= build_count_columns(self.counts(level))
        return columns | self.domain_columns

    @property
    def domain_columns(self) -> dict[str, list[Any]]:
        """The columns `domain` and `domain_from_data`, where there is something to say."""
        return build_domain_columns(
            self._domain, len(self), domain_from_data=self._domain_from_data
        )

    def __len__(self) -> int:
        if self._items is not None:
            return len(self._items)
        return 0 if self._indices is None else len(self._indices) // 8

    def __iter__(self) -> Iterator[tuple[Any, Fraction | None]]:
        """The winners from the largest down, each with its gap, or None without gaps."""
        return zip(self.items, self.gaps or [None] * len(self), strict=True)

    def rows(self, most: int, cost: str = "", level: "Number" = LEVEL) -> Grid:
        """The table to show: its head, at most so many rows, and what is to be said below.

        Args:
            most: So many winners are shown.
            cost: What it has cost in ε, if not only this release.
            level: That of the intervals of values.
        """
        counts = self.counts(level) if self.has_counts else None
        found = self._parameters, self.items, self.gaps, counts, self._domain
        return build_table(*found, most=most, cost=cost, level=level)

    def __str__(self) -> str:
        return self._format(MOST_ROWS, LEVEL)

    def to_text(self, level: "Number" = LEVEL) -> str:
        """The whole table as text; `str` shows the first winners of a long one.

        Args:
            level: That of the intervals, if there are values.
        """
        return self._format(len(self), level)

    def _format(self, most: int, level: "Number") -> str:
        head, rows, note = self.rows(most, level=level)
        table = [format_text_table(head, rows)] if rows else []
        return "\n".join([*table, note, *self.caveats])

    def __repr__(self) -> str:
        return describe_winners(
            self._parameters,
            self.items,
            has_counts=self.has_counts,
            domain_from_data=self._domain_from_data,
        )

    def _repr_html_(self) -> str:
        head, rows, note = self.rows(MOST_ROWS)
        bars = self.bars()[: len(rows)] or None
        table = format_html_table(head, rows, bars=bars) if rows else ""
        uncertain = any(bar.is_uncertain for bar in bars or ())
        legend = [f"? {explain_uncertain(self._parameters)}."] * uncertain
        return table + format_html_note([note, *legend, *self.caveats])

    def __eq__(self, other: object) -> bool:
        """Whether the same was released, by name if there are names, with the same parameters.

        If no item reached a threshold, it does not matter whether items have names or gaps.
        """
        if not isinstance(other, Release):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash((self._parameters, self._gap_units or None))

    def _identity(self) -> tuple[object, ...]:
        named = self._items is not None
        marks = self._domain_from_data, self._domain
        if not len(self):
            return self._parameters, *marks
        return self._parameters, self._gap_units, self._value_units, named, self.items, *marks

    def __copy__(self) -> "Release":
        return self

    def __deepcopy__(self, memo: object) -> "Release":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        # As in all that is written, positions go only where there are no names.
        indices = self.indices.tolist() if self._items is None else None
        units, values = (list_units(each) for each in (self.gap_units, self.value_units))
        marks = self._domain_from_data, self._domain
        return _restore, (self._parameters, indices, units, self._items, *marks, values)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError("A Release is frozen.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError("A Release is frozen.")


def _restore(
    parameters: TopK,
    indices: list[int] | None,
    gap_units: list[int] | None,
    items: tuple[Any, ...] | None,
    domain_from_data: bool,  # noqa: FBT001 - as it was pickled
    domain: DomainDescription | None,
    value_units: list[int] | None = None,
) -> Release:
    marks: dict[str, Any] = {"domain_from_data": domain_from_data, "domain": domain}
    return Release(parameters, indices, gap_units, items, value_units=value_units, **marks)
