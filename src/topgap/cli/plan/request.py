"""A request for a plan: each option with its help, and their validation."""

import glob
import os
import re
from dataclasses import dataclass
from math import log10
from pathlib import Path
from typing import Annotated, Literal

import typer

from topgap import counting
from topgap.cli import files, options
from topgap.cli.options import DATA, OUTPUT, PRIVACY
from topgap.cli.release import domain_options
from topgap.cli.release.domain_choice import choose_domains
from topgap.display.figure import FORMS
from topgap.planning.planner import RELEASES, RELEASES_WITH_BOUNDS

PlanFormat = Literal["table", "csv", "json"]
SourceFormat = Literal["csv", "tsv", "jsonl", "parquet", "duckdb", "sqlite", "xlsx", "xls", "ods"]
LARGEST = 10_000
"""The largest of the made-up counts, unless the user gives another."""

_MOST_DIGITS = 4001
_BOUND = re.compile("[0-9]{1,9}")
_SIZE = re.compile(rf"(?P<base>[0-9]{{1,{_MOST_DIGITS}}})((\^|\*\*)(?P<exponent>[0-9]{{1,5}}))?")


def _refuse_persons(column: str | None) -> None:
    if column is not None:
        raise typer.BadParameter(
            "a plan is not private, so it takes public or made-up counts and no data of persons; "
            "if these events are public, name the column by --public-person."
        )


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """A request for a plan; its fields are the options of `topgap plan`."""

    k: Annotated[
        list[int],
        typer.Option(
            "-k",
            metavar="K",
            help="Number of named items. Can be repeated.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ]
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Public counts: CSV, TSV, JSON lines, Parquet, Excel or LibreOffice files (also "
            ".gz, .zst and .zip), or patterns of them; a table of a DuckDB or SQLite file; "
            "or - for standard input.",
            show_default=False,
        ),
    ] = None
    person: Annotated[
        str | None,
        typer.Option(hidden=True, callback=_refuse_persons, is_eager=True),
    ] = None
    item: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Column that holds the item. Repeat it for items that are tuples.",
            rich_help_panel=DATA,
            show_default=False,
        ),
    ] = None
    count: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Column with the counts.", rich_help_panel=DATA),
    ] = None
    public_person: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column that identifies the person, in place of --count: SOURCE then has public "
            "events. With --items-per-person.",
            rich_help_panel=DATA,
        ),
    ] = None
    public_baskets: Annotated[
        bool,
        typer.Option(
            "--public-baskets",
            help="SOURCE is public FIMI files: each line is a person with that person's items. "
            "With --items-per-person.",
            rich_help_panel=DATA,
        ),
    ] = False
    zipf: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In place of SOURCE: N made-up items with counts proportional to 1/rank.",
            rich_help_panel=DATA,
        ),
    ] = None
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help=f"Largest of the made-up counts. Default: {LARGEST:,}.",
            rich_help_panel=DATA,
        ),
    ] = None
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            help="Format of SOURCE. Default: detected from the name; csv for standard input.",
            rich_help_panel=DATA,
        ),
    ] = None
    table: options.Table = None
    header: options.Header = True
    delimiter: options.Delimiter = None
    encoding: options.Encoding = None
    fold_case: options.FoldCase = False
    domain_size: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Number of items of the domain: digits, or a power such as 10^12. Items that "
            "are not in SOURCE have count 0. Without SOURCE: show how many people an item "
            "needs to be named.",
            rich_help_panel=domain_options.PANEL,
        ),
    ] = None
    domain: domain_options.DomainFile = None
    domain_column: domain_options.DomainColumn = None
    domain_table: domain_options.DomainTable = None
    domain_encoding: domain_options.DomainEncoding = None
    domain_range: domain_options.DomainRange = None
    domain_pattern: domain_options.DomainPattern = None
    domain_strings: domain_options.DomainStrings = None
    max_length: domain_options.MaxLength = None
    together: domain_options.Together = None
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EPSILON",
            help="Privacy loss ε to plan for, read exactly: 1, 0.1 or 1/3. Can be repeated. "
            "Default: ten values from 0.01 to 10.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    items_per_person: Annotated[
        str | None,
        typer.Option(
            metavar="L,...",
            help="Contribution bounds to compare, such as 1,2,5: at most L items of each person "
            "count. For events and baskets the plan counts what a bound leaves out; for "
            "counts this is unknown.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    threshold: Annotated[
        list[str] | None,
        typer.Option(
            metavar="T",
            help="Plan a list of the items above this number, at most -k of them, with counts at "
            "no further cost. Can be repeated.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    resolution: options.Resolution = None
    neighbours: options.Neighbours = "add-remove"
    sensitivity: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="The most by which one person can change a count.",
            rich_help_panel=PRIVACY,
        ),
    ] = "1"
    selection_share: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="Share of ε that selects the items where counts are released too, between 0 and "
            "1. Default: 1/2.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    releases: Annotated[
        int | None,
        typer.Option(
            help=f"Number of simulated releases for each ε and kind of release. Default: "
            f"{RELEASES:,}; {RELEASES_WITH_BOUNDS:,} with --items-per-person or --threshold.",
            rich_help_panel=PRIVACY,
        ),
    ] = None
    output_format: Annotated[
        PlanFormat | None,
        typer.Option(
            "--format",
            help="Format of the plan. Default: from the name of --output, otherwise a table.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: options.Output = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a plot over ε: a .png, .svg or .pdf file. Needs Matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    overwrite: options.Overwrite = False
    quiet: options.Quiet = False

    @property
    def domain_from_data(self) -> bool:
        """False: a plan has either a domain or all items of public counts."""
        return False

    @property
    def all_rows(self) -> bool:
        """False, for the same reason."""
        return False

    @property
    def has_domain_options(self) -> bool:
        """Whether options say which items the domain has, and not only its size."""
        lists = [
            self.domain, self.domain_column, self.domain_table, self.domain_encoding,
            self.domain_range, self.domain_pattern, self.domain_strings, self.max_length,
        ]  # fmt: skip
        return any(lists) or self.together is not None

    @property
    def has_counts(self) -> bool:
        """Whether there are counts to plan with, and not only a domain."""
        return bool(self.sources) or self.zipf is not None

    @property
    def has_events(self) -> bool:
        """Whether SOURCE has public events or baskets, and not counts."""
        return self.public_person is not None or self.public_baskets

    @property
    def bounds(self) -> list[int] | None:
        """The contribution bounds to compare; None without any."""
        return None if self.items_per_person is None else parse_bounds(self.items_per_person)

    @property
    def resolved_format(self) -> str | None:
        """The format of the plan, by option or by name; None if neither gives one."""
        return self.output_format or files.format_by_name(self.output)

    @property
    def plot_format(self) -> str:
        """The format of the plot, as its name gives it."""
        return "" if self.plot is None else self.plot.suffix.lower().removeprefix(".")

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.plot) if each is not None]

    @property
    def inputs(self) -> list[str]:
        """The files that are read, or patterns of them: they must not be overwritten."""
        sources = self.sources or []
        choices = choose_domains(self) if self.has_domain_options else []
        listed = [choice.domain for choice in choices if choice.domain is not None]
        inside = [os.path.join(glob.escape(each), "*") for each in sources]
        return [*sources, *inside, *listed]


def validate(request: PlanRequest) -> None:
    """Refuse options that contradict each other, before anything is read.

    Raises:
        typer.BadParameter: Some do.
    """
    if request.domain_size is not None:
        if request.has_domain_options:
            raise typer.BadParameter("give the domain, or its size by --domain-size, not both.")
        parse_size(request.domain_size)
    elif request.has_domain_options:
        choose_domains(request)
    if request.items_per_person is not None:
        parse_bounds(request.items_per_person)
    if request.threshold and request.selection_share is not None:
        raise typer.BadParameter(
            "--selection-share is for measured counts; with --threshold none are measured."
        )
    if request.sources:
        _validate_source(request)
    else:
        _validate_without_source(request)
    if not files.are_distinct(request.targets):
        raise typer.BadParameter("--output and --plot name the same file.")
    if request.resolved_format not in ("table", "csv", "json"):
        raise typer.BadParameter("a plan is written as table, csv or json; say which by --format.")
    if request.plot is not None and request.plot_format not in FORMS:
        raise typer.BadParameter("the name of --plot must end in .png, .svg or .pdf.")
    if request.plot is not None and len({*request.k}) > 1:
        raise typer.BadParameter("a plot is of one -k; make one for each.")


def _validate_source(request: PlanRequest) -> None:
    sources = request.sources or []
    if request.zipf is not None:
        raise typer.BadParameter("give public counts as SOURCE, or made-up ones by --zipf.")
    if request.has_events:
        _validate_events(request)
    elif not request.item or request.count is None:
        raise typer.BadParameter("say with --item and --count which columns to read.")
    if len({*(request.item or [])}) < len(request.item or []):
        raise typer.BadParameter("--item names each column once.")
    if request.together is not None:
        raise typer.BadParameter(
            "a plan does not count combinations of items; give --together without SOURCE, or "
            "--domain-size."
        )
    if request.largest is not None:
        raise typer.BadParameter("--largest is for made-up counts, with --zipf.")
    if "-" in sources and len(sources) > 1:
        raise typer.BadParameter("standard input cannot be read together with files.")
    if "fimi" in map(counting.format_by_name, sources) and not request.public_baskets:
        raise typer.BadParameter(
            "FIMI files are of persons, and a plan is of public counts; if these baskets are "
            "public, say --public-baskets."
        )


def _validate_events(request: PlanRequest) -> None:
    if request.items_per_person is None:
        raise typer.BadParameter(
            "public events and baskets are for --items-per-person; without it give counts."
        )
    if request.count is not None:
        raise typer.BadParameter("--count is of counts, not of events and baskets.")
    if "-" in (request.sources or []):
        raise typer.BadParameter(
            "events and baskets are counted with each bound, so give files; - is read once."
        )
    if not request.public_baskets:
        if not request.item:
            raise typer.BadParameter("say with --item and --public-person which columns to read.")
        return
    of_a_table = [request.public_person, request.source_format, request.table, request.delimiter]
    if (
        any(each is not None for each in of_a_table)
        or not request.header
        or (request.item and not request.has_domain_options)
    ):
        raise typer.BadParameter("baskets have no columns; give no options of them.")


def _validate_without_source(request: PlanRequest) -> None:
    of_a_file = [
        request.count, request.source_format, request.table, request.delimiter,
        request.public_person, request.encoding,
    ]  # fmt: skip
    needs_source = bool(request.item) and not request.has_domain_options
    reads_file = request.public_baskets or not request.header or request.fold_case
    if needs_source or any(each is not None for each in of_a_file) or reads_file:
        raise typer.BadParameter("no file is read without SOURCE; give no options of one.")
    if request.zipf is not None:
        return
    if request.domain_size is None and not request.has_domain_options:
        raise typer.BadParameter(
            "give public counts as SOURCE, made-up ones by --zipf, or a domain, such as by "
            "--domain-size."
        )
    of_counts = [
        request.largest, request.selection_share, request.releases, request.plot,
        request.threshold or None,
    ]  # fmt: skip
    if any(each is not None for each in of_counts):
        raise typer.BadParameter(
            "--largest, --selection-share, --releases, --threshold and --plot need counts: SOURCE "
            "or --zipf."
        )


def parse_bounds(text: str) -> list[int]:
    """Parse contribution bounds, whole numbers that commas separate.

    Raises:
        typer.BadParameter: They are none.

    >>> parse_bounds("1, 2,10")
    [1, 2, 10]
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(_BOUND.fullmatch(part) and int(part) for part in parts):
        raise typer.BadParameter(
            "--items-per-person takes whole numbers from 1 on, separated by commas, such as 1,2,5."
        )
    return [*map(int, parts)]


def parse_size(text: str) -> int:
    """Parse the size of a domain: digits, which _ and , may group, or a power such as 10^12.

    Raises:
        typer.BadParameter: It is none, or larger than any domain may be.

    >>> parse_size("41,270"), parse_size("26^12"), parse_size("2**64") == 2**64
    (41270, 95428956661682176, True)
    """
    found = _SIZE.fullmatch(text.strip().replace("_", "").replace(",", ""))
    if found is None:
        raise typer.BadParameter(
            "--domain-size must be a whole number, in digits or as a power such as 10^12."
        )
    base, exponent = int(found["base"]), int(found["exponent"] or 1)
    if exponent * log10(max(base, 1)) > _MOST_DIGITS:
        raise typer.BadParameter("--domain-size must be at most 10^4000.")
    return int(base**exponent)
