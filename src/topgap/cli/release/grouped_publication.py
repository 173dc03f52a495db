"""What is published of many groups in every format: their lists, alone or with estimates."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from topgap.cli.csv_text import format_csv
from topgap.cli.files import OutputFormat
from topgap.cli.release.publication import Publication, format_parquet
from topgap.display.items import split_items
from topgap.estimates import GroupedEstimates
from topgap.margins import least_certain_gap
from topgap.numbers.parse import LEVEL
from topgap.parameters import TopK
from topgap.release import GroupedRelease

if TYPE_CHECKING:
    from topgap.report import Details


@dataclass(frozen=True)
class GroupedPublication:
    """The lists of all groups, alone or with estimates.

    Attributes:
        result: The lists; or the estimates, which hold them.
        level: The level of the intervals of estimates, or of counts.

    >>> from topgap import Release, TopKByGroup
    >>> parameters = TopKByGroup(k=1, epsilon=1)
    >>> north = Release(parameters.each, None, [125], ["flu"])
    >>> GroupedPublication(GroupedRelease(parameters, {"North": north})).cells()
    [['group', 'rank', 'item', 'gap'], ['North', 1, 'flu', '12.5']]
    """

    result: GroupedRelease | GroupedEstimates
    level: Fraction = LEVEL

    @property
    def parameters(self) -> TopK:
        """The parameters of the list of one group."""
        return self.release.parameters.each

    @property
    def release(self) -> GroupedRelease:
        """The winners of all groups and the gaps between them."""
        return self.result.release if isinstance(self.result, GroupedEstimates) else self.result

    @property
    def explanations(self) -> Sequence[str]:
        """Sentences that explain the columns of the table; those of one list are those of all."""
        each = (Publication(result, self.level).explanations for result in self.result.values())
        return next((sentences for sentences in each if sentences), [])

    @property
    def cautions(self) -> Sequence[str]:
        """Sentences about what must not be read into it."""
        return self.result.cautions(self.level)

    @property
    def spent(self) -> str | None:
        """What it cost, in words, if that is less than ε."""
        return self.release.cost if self.release.spent < self.release.epsilon else None

    @property
    def is_empty(self) -> bool:
        """Whether no list names an item."""
        return not any(self.release.sizes)

    @property
    def stands_out(self) -> bool:
        """Whether a gap in any list is larger than noise alone often makes."""
        least = least_certain_gap(self.parameters) / self.parameters.resolution
        return any(gap >= least for gaps in self.release.list_gap_units() for gap in gaps)

    def cells(self) -> list[list[Any]]:
        """The table for programs: its head, and a row for each winner, with every digit.

        A group without winners has a row with only its name: else it would look like no group.
        """
        parts = [Publication(each, self.level).cells() for each in self.result.values()]
        with_rows = [part for part in parts if len(part) > 1] or parts[:1]
        head = max((part[0] for part in with_rows), key=len)
        groups = split_items(self.release.groups)
        rows = []
        for own, (names, *winners) in zip(zip(*groups.values(), strict=True), parts, strict=True):
            for winner in winners or [[None] * len(names)]:
                found = dict(zip(names, winner, strict=True))
                rows.append([*own, *(found.get(name) for name in head)])
        return [[*(name.replace("item", "group", 1) for name in groups), *head], *rows]

    def to_format(self, output_format: OutputFormat) -> bytes:
        """The content of a file in this format.

        Raises:
            MissingExtraError: pyarrow is not installed, for Parquet.
        """
        if output_format == "csv":
            return format_csv(self.cells()).encode()
        if output_format == "json":
            return f"{self.result.to_json(self.level, indent=2)}\n".encode()
        if output_format == "parquet":
            measured = isinstance(self.result, GroupedEstimates)
            key = "topgap.grouped_estimates" if measured else "topgap.grouped_release"
            json = self.result.to_json(self.level)
            return format_parquet(self.result.to_arrow(self.level), key, json, self.result.caveats)
        lines = [self.result.to_text(self.level), *self.explanations]
        return "".join(f"{line}\n" for line in lines).encode()

    def to_html(self, details: "Details") -> str:
        """The HTML page, with what it says about the publication."""
        from topgap.report import to_html

        return to_html(self.result, details, level=self.level)
