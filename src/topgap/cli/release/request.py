"""A request for a release: its options, what follows from them, and their validation."""

import glob
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from topgap import counting
from topgap.cli import files
from topgap.cli.files import OutputFormat
from topgap.cli.release.domain_choice import choose_domains, choose_groups
from topgap.cli.release.options import ReleaseOptions, SourceFormat
from topgap.counting import MEMORY
from topgap.counting.database_addresses import is_address
from topgap.display.text import format_path

_REPORT_OPTIONS = (
    "title", "publisher", "period", "date", "source_note", "labels", "person_word", "item_word",
    "locale", "in_order",
)  # fmt: skip
_ARROW = (".arrow", ".arrows", ".feather", ".ipc")


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest(ReleaseOptions):
    """A request for a release."""

    @property
    def formats_by_name(self) -> set[SourceFormat | None]:
        """The formats by the names of the sources; None for a name that has none."""
        if self.is_database:
            return {None}
        return {
            "arrow" if each.lower().endswith(_ARROW) else counting.format_by_name(each)
            for each in self.sources
        }

    @property
    def is_database(self) -> bool:
        """Whether a source is the address of a database."""
        return any(map(is_address, self.sources))

    @property
    def resolved_source_format(self) -> SourceFormat | None:
        """The format of the source, by option or by name; FIMI, if one of several is that."""
        if self.source_format is not None or self.sources == ["-"]:
            return self.source_format or ("arrow" if self.all_rows else "csv")
        by_name = self.formats_by_name
        return "fimi" if "fimi" in by_name else by_name.pop()

    @property
    def resolved_format(self) -> OutputFormat | None:
        """The format of the output, by option or by name; None if neither gives one."""
        return self.output_format or files.format_by_name(self.output)

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.report) if each is not None]

    @property
    def inputs(self) -> list[str]:
        """The files that are read, or patterns of them: they must not be overwritten."""
        choices = choose_domains(self) + (choose_groups(self) if self.has_groups else [])
        files_read = [choice.domain for choice in choices]
        others = [str(each) for each in (*files_read, self.ledger, self.labels) if each]
        inside = [os.path.join(glob.escape(each), "*") for each in self.sources]
        return [*self.sources, *inside, *others]

    @property
    def has_groups(self) -> bool:
        """Whether each group gets a list."""
        lists = (self.groups, self.groups_column, self.groups_table, self.groups_encoding)
        return any((self.by, *lists, self.groups_range))

    @property
    def has_laplace_noise(self) -> bool:
        """Whether the noise is Laplace noise, by these options, as `TopK` decides it."""
        if self.noise is not None or self.items_per_person is None:
            return self.noise == "laplace"
        return self.k is None or self.items_per_person < self.k

    @property
    def goes_to_terminal(self) -> bool:
        """Whether the release goes to a terminal."""
        return self.output is None and sys.stdout is not None and sys.stdout.isatty()

    def describe_source(self) -> dict[str, Any]:
        """What the ledger notes about the source: the options, but no passwords in paths."""
        options = {
            "sources": [*map(format_path, self.sources)],
            "table": self.table,
            "encoding": self.encoding,
            "fold_case": self.fold_case or None,
            "query": self.query,
            "rows_are_per_person": self.rows_are_per_person or None,
            "count_in_database": self.count_in_database or None,
            "person": self.person,
            "item": _note_values(self.item),
            "count": self.count,
            "neighbours": self.neighbours,
            "domain": _note_values([*map(format_path, self.domain or [])]),
            "domain_column": _note_values(self.domain_column),
            "domain_table": _note_values(self.domain_table),
            "domain_encoding": _note_values(self.domain_encoding),
            "domain_range": _note_values(self.domain_range),
            "domain_pattern": _note_values(self.domain_pattern),
            "domain_strings": _note_values(self.domain_strings),
            "max_length": _note_values(self.max_length),
            "together": self.together,
            "domain_from_data": self.domain_from_data or None,
            "all_rows": self.all_rows or None,
            "by": _note_values(self.by),
            "groups": _note_values([*map(format_path, self.groups or [])]),
            "groups_column": _note_values(self.groups_column),
            "groups_table": _note_values(self.groups_table),
            "groups_encoding": _note_values(self.groups_encoding),
            "groups_range": _note_values(self.groups_range),
        }
        return {name: value for name, value in options.items() if value is not None}


def validate(request: ReleaseRequest) -> None:
    """Refuse options that contradict each other, before anything is read.

    Raises:
        typer.BadParameter: Some do.
    """
    if not request.epsilon:
        raise typer.BadParameter("the privacy loss is missing; give --epsilon, such as 1 or 0.1.")
    _check_domain(request)
    _check_source(request)
    _check_groups(request)
    _check_noise(request)
    _check_estimate(request)
    _check_ledger(request)
    _check_output(request)


def check_order(request: ReleaseRequest) -> None:
    """Refuse to make numbers at least 0 that may truly be below it.

    Raises:
        typer.BadParameter: They may.
    """
    any_row = request.all_rows and (request.monotonic or request.neighbours == "replace")
    if request.in_order and (request.monotonic is False or any_row):
        raise typer.BadParameter(
            "--in-order is for counts; with --no-monotonic, or --all-rows with --monotonic or "
            "replace-one neighbours, true numbers may be below 0."
        )


def _note_values(values: list[str] | None) -> list[str] | str | None:
    """The values of an option: the only one, if it is given once."""
    if not values:
        return None
    return values[0] if len(values) == 1 else values


def _check_domain(request: ReleaseRequest) -> None:
    choose_domains(request)
    if request.domain_from_data and request.all_rows:
        raise typer.BadParameter("give one of --domain-from-data and --all-rows, not both.")
    if request.together is not None:
        if request.count is not None:
            raise typer.BadParameter(
                "precomputed counts do not say which person has which item; --together is for "
                "--person, or for FIMI files."
            )
        if request.domain_from_data:
            raise typer.BadParameter("--together needs public items, not --domain-from-data.")


def _check_source(request: ReleaseRequest) -> None:
    if "-" in request.sources and len(request.sources) > 1:
        raise typer.BadParameter("standard input cannot be read together with files.")
    if "-" in request.sources and request.query is not None:
        raise typer.BadParameter("a query is asked of a file, not of standard input.")
    if request.person is not None and request.count is not None:
        raise typer.BadParameter(
            "give --person for events or --count for precomputed counts, not both."
        )
    if request.all_rows:
        _check_all_rows(request)
    elif request.resolved_source_format == "fimi":
        _check_fimi(request)
    elif not (request.person or request.count) or not request.item:
        raise typer.BadParameter(
            "say with --person and --item, or --item and --count, what to count."
        )
    elif "arrow" in {request.source_format, *request.formats_by_name}:
        raise typer.BadParameter("Arrow files are read only for --all-rows.")
    if request.count_in_database:
        _check_counting_there(request)
    if request.sensitivity is not None and request.count is None:
        raise typer.BadParameter("--sensitivity is for precomputed counts, with --count.")
    if request.monotonic is not None and request.count is None:
        raise typer.BadParameter("--monotonic is for precomputed counts, with --count.")
    if request.monotonic and request.neighbours == "replace":
        raise typer.BadParameter(
            "a replaced person moves numbers both ways; give --monotonic or --neighbours replace."
        )
    has_sql = request.query is not None or request.table is not None
    if request.rows_are_per_person and not (has_sql and request.person is not None):
        raise typer.BadParameter("--rows-are-per-person is for --query or --table, with --person.")


def _check_counting_there(request: ReleaseRequest) -> None:
    if not request.is_database or request.person is None:
        raise typer.BadParameter(
            "--count-in-database is for --person and the address of a PostgreSQL database."
        )
    options = {
        "--by": request.has_groups,
        "--together": request.together is not None,
        "--items-per-person": request.items_per_person is not None,
    }
    for name, is_given in options.items():
        if is_given:
            raise typer.BadParameter(
                f"{name} looks at the items of each person, so that the rows must be moved; leave "
                f"it or --count-in-database out."
            )


def _check_all_rows(request: ReleaseRequest) -> None:
    if request.has_groups:
        raise typer.BadParameter(
            "--all-rows is for one list of all rows; with --by give the public items, such as with "
            "--domain."
        )
    if not request.item or request.count is None:
        raise typer.BadParameter("--all-rows is for precomputed counts, with --item and --count.")
    if len(request.item) > 1:
        raise typer.BadParameter("--all-rows takes one --item column.")
    formats = {request.source_format} if request.source_format else request.formats_by_name
    if formats - {"parquet", "arrow", None}:
        raise typer.BadParameter(
            "--all-rows is for Parquet and Arrow files (say so with --source-format if a name does "
            "not show it); give the items of others with --domain."
        )
    other_options = [request.table, request.query, request.delimiter, request.encoding]
    changed = not request.header or request.memory != MEMORY or request.fold_case
    if changed or any(each is not None for each in other_options):
        raise typer.BadParameter(
            "with --all-rows give no --table, --query, --delimiter, --encoding, --fold-case, "
            "--no-header or --memory."
        )


def _check_fimi(request: ReleaseRequest) -> None:
    if request.formats_by_name - {"fimi", None} and request.source_format is None:
        raise typer.BadParameter("FIMI files cannot be read together with others.")
    if request.by:
        raise typer.BadParameter(
            "a FIMI file has no columns: the first item of each line is its group; give --groups "
            "without --by."
        )
    if request.groups_per_person not in (None, 1):
        raise typer.BadParameter(
            "a line of a FIMI file is in one group; leave --groups-per-person out."
        )
    options = [request.person, request.count, request.table, request.query, request.delimiter]
    if request.item or any(each is not None for each in options) or not request.header:
        raise typer.BadParameter(
            "a FIMI file is not a table; give no --person, --item, --count, --table, --query, "
            "--delimiter or --no-header."
        )


def _check_groups(request: ReleaseRequest) -> None:
    if not request.has_groups:
        if request.groups_per_person is not None:
            raise typer.BadParameter("--groups-per-person is for --by, with --groups.")
        return
    if not request.by and request.resolved_source_format != "fimi":
        raise typer.BadParameter("--groups needs --by, the column that says in which group.")
    choose_groups(request)
    by = request.by or []
    if {*by} & {*(request.item or []), request.person, request.count}:
        raise typer.BadParameter(
            "--by must name another column than --person, --item and --count: each list is of "
            "items within a group of persons."
        )


def _check_noise(request: ReleaseRequest) -> None:
    if request.noise == "laplace" and request.items_per_person is None:
        raise typer.BadParameter("--noise laplace needs --items-per-person.")
    if request.k is None and (request.threshold is None or not request.has_laplace_noise):
        raise typer.BadParameter(
            "say with -k how many items are named at most; it can be left out only if both "
            "--threshold and --items-per-person are given."
        )


def _check_estimate(request: ReleaseRequest) -> None:
    if request.estimate and request.has_laplace_noise:
        raise typer.BadParameter(
            "with Laplace noise noisy counts come with the release; leave --estimate out, or give "
            "--noise exponential."
        )
    if request.estimate and request.threshold is not None:
        raise typer.BadParameter(
            "with --threshold counts come with the release, at no cost, where the threshold ends "
            "the list; leave --estimate out."
        )
    if not request.estimate and request.selection_share is not None:
        raise typer.BadParameter("--selection-share is for --estimate.")
    has_intervals = request.estimate or request.has_laplace_noise or request.threshold is not None
    if request.level is not None and not has_intervals:
        raise typer.BadParameter("--level is for --estimate, --threshold or Laplace noise.")
    if request.in_order and not has_intervals:
        raise typer.BadParameter("--in-order is for --estimate, --threshold or Laplace noise.")
    check_order(request)


def _check_ledger(request: ReleaseRequest) -> None:
    if (request.ledger is None) != (request.dataset is None):
        raise typer.BadParameter("--ledger and --dataset go together; give both, or none.")
    noted = request.who is not None or request.note is not None or request.ignore_clock
    if request.ledger is None and noted:
        raise typer.BadParameter("--who, --note and --ignore-clock are for --ledger.")
    if request.yes and request.ledger is None:
        raise typer.BadParameter("--yes is for --ledger; without one nothing is asked.")


def _check_output(request: ReleaseRequest) -> None:
    if request.report is None:
        for name in _REPORT_OPTIONS:
            if getattr(request, name) not in (None, False):
                raise typer.BadParameter(
                    f"--{name.replace('_', '-')} is for the report, with --report."
                )
    if not files.are_distinct(request.targets):
        raise typer.BadParameter("--output and --report name the same file.")
    if request.report is not None and request.report.suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter("the report is an HTML page; its name must end in .html.")
    if request.resolved_format is None:
        raise typer.BadParameter(
            "the name of --output has no known format; let it end in .csv, .json, .parquet or "
            ".txt, or give --format; --report writes a page."
        )
    if request.resolved_format == "parquet" and request.goes_to_terminal:
        raise typer.BadParameter("a Parquet file is not for a terminal; give --output.")
