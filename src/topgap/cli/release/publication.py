"""What is published in every format: a release, alone or with estimates and their intervals."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.cli.csv_text import format_csv
from topgap.cli.files import OutputFormat
from topgap.display.items import split_items
from topgap.display.numbers import format_about, format_share
from topgap.display.text import format_text_table
from topgap.errors import MissingExtraError
from topgap.estimates import Estimates
from topgap.margins import NEAR_TIES, is_uncertain, least_certain_gap
from topgap.numbers.format import format_exact
from topgap.numbers.parse import LEVEL
from topgap.parameters import TopK
from topgap.release import Release, describe_room, describe_spent, explain_bias

if TYPE_CHECKING:
    import pyarrow as pa

    from topgap.report import Details

Grid = tuple[list[str], list[list[str]], str]


@dataclass(frozen=True)
class Publication:
    """A release, alone or with estimates.

    Attributes:
        result: The release; or the estimates, which hold it.
        level: The level of the intervals of estimates, or of counts.
        size: How many items took part, if that is known.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> Publication(release).cells()
    [['rank', 'item', 'gap'], [1, 'flu', '12.5']]
    >>> estimates = estimate(release, [60], variance=8, noise="laplace")
    >>> publication = Publication(estimates, Fraction(9, 10))
    >>> [row[:5] for row in publication.cells()]
    [['rank', 'item', 'gap', 'measurement', 'estimate'], [1, 'flu', '12.5', '60', 60.0]]
    >>> print(*publication.explanations)  # doctest: +NORMALIZE_WHITESPACE
    ± is the standard error; in 90 of 100 such publications an item's interval holds its true
    number, rounded down to the resolution.
    """

    result: Release | Estimates
    level: Fraction = LEVEL
    size: int | None = None

    @property
    def release(self) -> Release:
        """The winners and the gaps between them."""
        return self.result.release if isinstance(self.result, Estimates) else self.result

    @property
    def parameters(self) -> TopK:
        """The parameters of the release."""
        return self.release.parameters

    @property
    def spent(self) -> str | None:
        """What it cost, in words, if that is less than ε."""
        if self.release.spent == self.release.epsilon:
            return None
        return describe_spent(self.parameters, len(self.release))

    @property
    def is_empty(self) -> bool:
        """Whether no item is named."""
        return not len(self.release)

    @property
    def stands_out(self) -> bool:
        """Whether a gap is larger than noise alone often makes; also if there are no gaps."""
        gaps = self.release.gaps
        return not gaps or not all(is_uncertain(gap, self.parameters) for gap in gaps)

    @property
    def explanations(self) -> Sequence[str]:
        """Sentences that explain the columns of the table."""
        if isinstance(self.result, Estimates):
            return [
                f"± is the standard error; in {format_share(self.level)} such publications an "
                f"item's interval holds its true number, rounded down to the resolution."
            ]
        if not (self.result.has_counts and len(self.result)):
            return []
        room = describe_room(self.result.parameters)
        return [
            f"± is the standard error; in {format_share(self.level)} such publications the "
            f"interval of an item that is clearly on the list holds its true number{room}."
        ]

    @property
    def cautions(self) -> Sequence[str]:
        """Sentences about what must not be read into it: what ties do to estimates and values."""
        if isinstance(self.result, Estimates):
            return [NEAR_TIES] if self.result.has_near_ties else []
        if not (self.result.has_counts and len(self.result)):
            return []
        return explain_bias(self.result.gaps or (), self.result.parameters, self.level)

    @property
    def notes(self) -> Sequence[str]:
        """Those of the cautions that do not stand in the note below the table."""
        return self.cautions if isinstance(self.result, Estimates) else []

    def rows(self) -> Grid:
        """The table for people: its head, a row for each winner, and a note to put below."""
        return self.result.rows(level=self.level, most=len(self.result))

    def cells(self) -> list[list[Any]]:
        """The table for programs: its head, and a row for each winner, with every digit."""
        head, *rows = _list_winners(self.release)
        more: list[list[Any]] = []
        if isinstance(self.result, Estimates):
            more = _list_estimates(self.result, self.level)
        elif self.result.has_counts:
            more = _list_counts(self.result, self.level, self.size)
        if more:
            head = [*head, *more[0]]
            rows = [[*row, *others] for row, others in zip(rows, more[1:], strict=True)]
        for name, column in self.release.domain_columns.items():
            head = [*head, name]
            rows = [
                [*row, "true" if value is True else value]
                for row, value in zip(rows, column, strict=True)
            ]
        return [head, *rows]

    def to_format(self, output_format: OutputFormat) -> bytes:
        """The content of a file in this format.

        Raises:
            MissingExtraError: pyarrow is not installed, for Parquet.
        """
        if output_format == "csv":
            return format_csv(self.cells()).encode()
        if output_format == "json":
            return f"{self._to_json(indent=2)}\n".encode()
        return self._to_parquet() if output_format == "parquet" else self._to_text().encode()

    def to_html(self, details: "Details") -> str:
        """The HTML page, with what it says about the publication."""
        from topgap.report import to_html

        return to_html(self.result, details, level=self.level)

    def _to_json(self, *, indent: int | None = None) -> str:
        if isinstance(self.result, Estimates):
            return self.result.to_json(self.level, indent=indent)
        return self.result.to_json(indent=indent)

    def _to_text(self) -> str:
        head, rows, note = self.rows()
        lines = [format_text_table(head, rows), note] if rows else [note]
        if self.release.gaps:
            least = format_about(least_certain_gap(self.release.parameters))
            lines.append(f"A gap below {least} leaves the order of the two uncertain.")
        lines += [*self.explanations, *self.notes, *self.release.caveats]
        return "\n".join(lines) + "\n"

    def _to_parquet(self) -> bytes:
        """A table of columns, with the JSON and the caveats in its metadata."""
        measured = isinstance(self.result, Estimates)
        key = "topgap.estimates" if measured else "topgap.release"
        table = self.result.to_arrow(self.level)
        return format_parquet(table, key, self._to_json(), self.release.caveats)


def format_parquet(table: "pa.Table", key: str, json: str, caveats: Sequence[str]) -> bytes:
    """Format a table as a Parquet file, with the JSON and the caveats in its metadata.

    Raises:
        MissingExtraError: pyarrow is not installed.
    """
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow: pip install pyarrow.") from None
    metadata = {key: json}
    if caveats:
        metadata["topgap.caveat"] = " ".join(caveats)
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(metadata), sink)
    return sink.getvalue()


def _list_winners(release: Release) -> list[list[Any]]:
    """Rank, item or its members, and exact gap of each winner, below the names of the columns."""
    columns: dict[str, Sequence[Any]] = {"rank": range(1, len(release) + 1)}
    columns |= split_items(release.items)
    if release.gaps is not None:
        columns["gap"] = [*map(format_exact, release.gaps)]
    return [[*columns], *map(list, zip(*columns.values(), strict=True))]


def _list_estimates(estimates: Estimates, level: Fraction) -> list[list[Any]]:
    """Exact measurement, estimate, standard error and both intervals of each winner, likewise."""
    head = ["measurement", "estimate", "standard_error", "low", "high"]
    head += ["simultaneous_low", "simultaneous_high", "in_doubt"]
    columns = zip(
        estimates.measurements,
        estimates.estimates,
        estimates.standard_errors,
        estimates.intervals(level),
        estimates.intervals(level, simultaneous=True),
        estimates.in_doubt(level),
        strict=True,
    )
    rows = [
        [format_exact(measured), estimate, error, *alone, *at_once, str(in_doubt).lower()]
        for measured, estimate, error, alone, at_once, in_doubt in columns
    ]
    return [head, *rows]


def _list_counts(release: Release, level: Fraction, size: int | None) -> list[list[Any]]:
    """Exact count, standard error and both intervals of each winner, likewise.

    With Laplace noise it is called a value. Simultaneous intervals are there if it is known how
    many items took part.
    """
    is_noisy = release.parameters.noise == "laplace"
    counts = release.counts(level)
    head = ["value" if is_noisy else "count", "standard_error", "low", "high"]
    rows: list[list[Any]] = [
        [format_exact(each.value), each.standard_error, *map(format_exact, (each.low, each.high))]
        for each in counts
    ]
    if size is not None or release.domain is not None:
        head += ["simultaneous_low", "simultaneous_high"]
        for row, each in zip(
            rows, release.counts(level, simultaneous=True, size=size), strict=True
        ):
            row += map(format_exact, (each.low, each.high))
    if not is_noisy:
        head.append("is_biased")
        for row, each in zip(rows, counts, strict=True):
            row.append("true" if each.is_biased else "false")
    return [head, *rows]
