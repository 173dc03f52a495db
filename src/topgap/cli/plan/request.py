"""A request for a plan: each option with its help, and their validation."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from topgap import counting
from topgap.cli import files, options
from topgap.cli.options import DATA, OUTPUT, PRIVACY
from topgap.display.figure import FORMS
from topgap.planning.planner import RELEASES

PlanFormat = Literal["table", "csv", "json"]
SourceFormat = Literal["csv", "tsv", "jsonl", "parquet", "duckdb", "sqlite"]
LARGEST = 10_000
"""The largest of the made-up counts, unless the user gives another."""


def _refuse_persons(column: str | None) -> None:
    if column is not None:
        raise typer.BadParameter(
            "a plan is not private, so it takes public or made-up counts and no data of persons."
        )


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """A request for a plan; its fields are the options of `topgap plan`."""

    k: options.K
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="Counts that everyone may know: CSV, TSV, JSON lines or Parquet files (.gz too), "
            "or patterns of them; a table of a DuckDB or SQLite file; or - for standard input.",
            show_default=False,
        ),
    ] = None
    person: Annotated[
        str | None,
        typer.Option(hidden=True, callback=_refuse_persons, is_eager=True),
    ] = None
    item: options.Item = None
    count: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The column with the counts.", rich_help_panel=DATA),
    ] = None
    zipf: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="In place of SOURCE: N made-up items whose counts fall like 1/rank.",
            rich_help_panel=DATA,
        ),
    ] = None
    largest: Annotated[
        int | None,
        typer.Option(
            metavar="COUNT",
            help=f"The largest of the made-up counts; {LARGEST:,} unless given.",
            rich_help_panel=DATA,
        ),
    ] = None
    source_format: Annotated[
        SourceFormat | None,
        typer.Option(
            help="The format of SOURCE, if its name does not tell; csv for -.",
            rich_help_panel=DATA,
        ),
    ] = None
    table: options.Table = None
    header: options.Header = True
    delimiter: options.Delimiter = None
    epsilon: Annotated[
        list[str] | None,
        typer.Option(
            help="A privacy loss to plan for, exactly: 1, 0.1 or 1/3; as often as you like. Ten "
            "values from 0.01 to 10 unless given.",
            rich_help_panel=PRIVACY,
            show_default=False,
        ),
    ] = None
    resolution: options.Resolution = "1/10"
    neighbours: options.Neighbours = "add-remove"
    sensitivity: Annotated[
        str,
        typer.Option(help="How far one person can move a count.", rich_help_panel=PRIVACY),
    ] = "1"
    selection_share: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The part of ε that selects where counts are released too; between 0 and 1.",
            rich_help_panel=PRIVACY,
        ),
    ] = "1/2"
    releases: Annotated[
        int,
        typer.Option(
            help="How many releases are simulated, for each ε and kind of release.",
            rich_help_panel=PRIVACY,
        ),
    ] = RELEASES
    output_format: Annotated[
        PlanFormat | None,
        typer.Option(
            "--format",
            help="How the plan is written; a table, unless the name of --output says otherwise.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: options.Output = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A plot over ε, too: a .png, .svg or .pdf file. It needs Matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    overwrite: options.Overwrite = False
    quiet: options.Quiet = False

    @property
    def resolved_format(self) -> str | None:
        """The format of the plan, by option or by name; None if neither tells."""
        return self.output_format or files.format_by_name(self.output)

    @property
    def plot_format(self) -> str:
        """The format of the plot, as its name tells it."""
        return "" if self.plot is None else self.plot.suffix.lower().removeprefix(".")

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.plot) if each is not None]

    @property
    def inputs(self) -> list[str]:
        """The files that are read, or patterns of them: they must not be overwritten."""
        sources = self.sources or []
        return [*sources, *(os.path.join(glob.escape(each), "*") for each in sources)]


def validate(request: PlanRequest) -> None:
    """Refuse options that contradict each other, before anything is read.

    Raises:
        typer.BadParameter: Some do.
    """
    sources, columns = request.sources or [], [request.item, request.count]
    table_options = [*columns, request.source_format, request.table, request.delimiter]
    if bool(sources) == (request.zipf is not None):
        raise typer.BadParameter("give public counts as SOURCE, or made-up ones by --zipf.")
    if request.zipf is None:
        if request.item is None or request.count is None:
            raise typer.BadParameter("say with --item and --count which columns to read.")
        if request.largest is not None:
            raise typer.BadParameter("--largest is for made-up counts, with --zipf.")
        if "-" in sources and len(sources) > 1:
            raise typer.BadParameter("standard input cannot be read together with files.")
        if "fimi" in map(counting.format_by_name, sources):
            raise typer.BadParameter("FIMI files are of persons, and a plan is of public counts.")
    elif (
        any(each is not None for each in [*table_options, request.delimiter]) or not request.header
    ):
        raise typer.BadParameter("--zipf reads no file; give no options of one.")
    if not files.are_distinct(request.targets):
        raise typer.BadParameter("--output and --plot name the same file.")
    if request.resolved_format not in ("table", "csv", "json"):
        raise typer.BadParameter("a plan is written as table, csv or json; say which by --format.")
    if request.plot is not None and request.plot_format not in FORMS:
        raise typer.BadParameter("the name of --plot must end in .png, .svg or .pdf.")
