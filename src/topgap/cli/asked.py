"""What the user typed, as `topgap release --help` explains it: `Request`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from topgap import counting
from topgap.cli.forms import Form, form_of
from topgap.counting import Format
from topgap.parameters import Neighbours

SourceFormat = Literal[Format, "arrow"]
_ARROW = (".arrow", ".arrows", ".feather", ".ipc")


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request for a release."""

    sources: list[str]
    person: str | None
    item: str | None
    count: str | None
    source_format: SourceFormat | None
    table: str | None
    query: str | None
    rows_are_per_person: bool
    header: bool
    delimiter: str | None
    memory: str
    domain: Path | None
    domain_column: str | None
    domain_range: str | None
    domain_from_data: bool
    all_rows: bool
    k: int
    epsilon: str
    resolution: str
    neighbours: Neighbours | None
    monotonic: bool | None
    sensitivity: str | None
    estimate: bool
    selection_share: str | None
    level: str | None
    ledger: Path | None
    dataset: str | None
    who: str | None
    note: str | None
    ignore_clock: bool
    form: Form | None
    output: Path | None
    report: Path | None
    title: str | None
    overwrite: bool
    quiet: bool
    check: bool
    yes: bool

    @property
    def named(self) -> set[SourceFormat | None]:
        """The formats that the names of the sources tell; None for one that tells none."""
        return {
            "arrow" if each.lower().endswith(_ARROW) else counting.format_by_name(each)
            for each in self.sources
        }

    @property
    def counted_as(self) -> SourceFormat | None:
        """The format of the source as far as is told; FIMI, if one of several is that."""
        if self.source_format is not None or self.sources == ["-"]:
            return self.source_format or ("arrow" if self.all_rows else "csv")
        named = self.named
        return "fimi" if "fimi" in named else named.pop()

    @property
    def written_as(self) -> Form | None:
        """The form of the release; None if nothing tells."""
        return self.form or form_of(self.output)

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.report) if each is not None]

    @property
    def is_shown(self) -> bool:
        """Whether the release goes to a terminal."""
        return self.output is None and sys.stdout is not None and sys.stdout.isatty()
