"""What is published, as every form takes it: a release, or estimates with their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

from topgap.display.numbers import format_share
from topgap.estimates import Estimates
from topgap.margins import NEAR_TIES
from topgap.numbers.format import format_exact
from topgap.release import Release

if TYPE_CHECKING:
    import pyarrow as pa

Grid = tuple[list[str], list[list[str]], str]


class Publication(Protocol):
    """A release, alone or with more."""

    @property
    def release(self) -> Release:
        """The winners and the gaps between them."""

    @property
    def explanations(self) -> Sequence[str]:
        """Sentences without which its table is not understood."""

    @property
    def cautions(self) -> Sequence[str]:
        """Sentences about what must not be read into it."""

    def rows(self) -> Grid:
        """The table for people: its head, a row for each winner, and a note to put below."""

    def cells(self) -> list[list[Any]]:
        """The table for programs: its head, and a row for each winner, with every digit."""

    def to_json(self) -> str:
        """All of it, exactly."""

    def to_arrow(self) -> "pa.Table":
        """A table of columns, which has the JSON in its metadata."""

    def to_html(self, **said: str) -> str:
        """The page, with what `topgap.report.to_html` can be told to say."""


@dataclass(frozen=True)
class Released:
    """A release alone.

    >>> from topgap import TopK
    >>> Released(Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])).cells()
    [['rank', 'item', 'gap'], [1, 'flu', '12.5']]
    """

    release: Release
    explanations: Sequence[str] = ()
    cautions: Sequence[str] = ()

    def rows(self) -> Grid:
        """As `Publication` says; and so do the others."""
        return self.release.rows(len(self.release))

    def cells(self) -> list[list[Any]]:
        """Rank, item and gap."""
        return _marked(self.release, _winners(self.release))

    def to_json(self) -> str:
        """The JSON of the release."""
        return self.release.to_json(indent=2)

    def to_arrow(self) -> "pa.Table":
        """The release's columns."""
        notes = {"topgap.release": self.release.to_json(), **_caveat(self.release)}
        return self.release.to_arrow().replace_schema_metadata(notes)

    def to_html(self, **said: str) -> str:
        """The release's page."""
        from topgap.report import to_html

        return to_html(self.release, **said)


@dataclass(frozen=True)
class Estimated:
    """A release with estimates, whose intervals have this level.

    >>> from topgap import TopK, estimate
    >>> release = Release(TopK(k=1, epsilon=1), [4], [125], ["flu"])
    >>> made = Estimated(estimate(release, [60], variance=8, noise="laplace"), Fraction(9, 10))
    >>> [row[:5] for row in made.cells()]
    [['rank', 'item', 'gap', 'measurement', 'estimate'], [1, 'flu', '12.5', '60', 60.0]]
    >>> print(*made.explanations)  # doctest: +NORMALIZE_WHITESPACE
    ± is the standard error; in 90 of 100 such publications an item's interval holds its true
    number, rounded down to the resolution.
    """

    estimates: Estimates
    level: Fraction

    @property
    def release(self) -> Release:
        """The winners and the gaps between them."""
        return self.estimates.release

    @property
    def explanations(self) -> Sequence[str]:
        """What the columns mean."""
        return [
            f"± is the standard error; in {format_share(self.level)} such publications an item's "
            f"interval holds its true number, rounded down to the resolution."
        ]

    @property
    def cautions(self) -> Sequence[str]:
        """What ties do to estimates, if there may be some."""
        return [NEAR_TIES] if self.estimates.has_near_ties else []

    def rows(self) -> Grid:
        """The release's, and more columns."""
        return self.estimates.rows(self.level, len(self.estimates))

    def cells(self) -> list[list[Any]]:
        """The release's, and measurements, estimates, standard errors and both kinds of interval.

        What was released and measured is exact.
        """
        made = self.estimates
        head, *rows = _winners(self.release)
        head += ["measurement", "estimate", "standard_error", "low", "high"]
        head += ["simultaneous_low", "simultaneous_high", "in_doubt"]
        columns = zip(
            rows,
            made.measurements,
            made.estimates,
            made.standard_errors,
            made.intervals(self.level),
            made.intervals(self.level, simultaneous=True),
            made.in_doubt(self.level),
            strict=True,
        )
        more = [
            [*row, format_exact(measured), estimate, error, *alone, *at_once, str(in_doubt).lower()]
            for row, measured, estimate, error, alone, at_once, in_doubt in columns
        ]
        return _marked(self.release, [head, *more])

    def to_json(self) -> str:
        """The JSON of the estimates."""
        return self.estimates.to_json(self.level, indent=2)

    def to_arrow(self) -> "pa.Table":
        """The estimates' columns."""
        json = self.estimates.to_json(self.level)  # the release is in it
        notes = {"topgap.estimates": json, **_caveat(self.release)}
        return self.estimates.to_arrow(self.level).replace_schema_metadata(notes)

    def to_html(self, **said: str) -> str:
        """The estimates' page."""
        from topgap.report import to_html

        return to_html(self.estimates, level=self.level, **said)


def _winners(release: Release) -> list[list[Any]]:
    """Rank, item and gap of each winner, below the names of these columns."""
    rows = [[rank, item] for rank, item in enumerate(release.items, 1)]
    if release.gaps is None:
        return [["rank", "item"], *rows]
    exact = [[*row, format_exact(gap)] for row, gap in zip(rows, release.gaps, strict=True)]
    return [["rank", "item", "gap"], *exact]


def _marked(release: Release, cells: list[list[Any]]) -> list[list[Any]]:
    """The cells, with one more column if the list of items was taken from the data."""
    if not release.domain_from_data:
        return cells
    head, *rows = cells
    return [[*head, *release.caveat_columns], *([*row, "true"] for row in rows)]


def _caveat(release: Release) -> dict[str, str]:
    """What a file's metadata says of what is not protected."""
    return {"topgap.caveat": " ".join(release.caveats)} if release.caveats else {}
