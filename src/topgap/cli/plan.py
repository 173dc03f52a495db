"""`topgap plan`: from what the user asked for to files and standard output."""

import glob
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer

from topgap import counting, planning
from topgap.cli import files, standard_output
from topgap.cli.csv_text import csv_text
from topgap.cli.forms import form_of
from topgap.cli.progress import Bar
from topgap.counting import FROM_DATA
from topgap.display.figure import FORMS, require_matplotlib
from topgap.errors import SourceError
from topgap.parameters import Neighbours
from topgap.planning import Plan
from topgap.planning import plot as drawing
from topgap.planning.result import NOT_PRIVATE

Form = Literal["table", "csv", "json"]
SourceFormat = Literal["csv", "tsv", "jsonl", "parquet", "duckdb", "sqlite"]
LARGEST = 10_000
"""The largest count of made-up ones, unless another is given."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request for a plan, as `topgap plan --help` explains it."""

    sources: list[str]
    item: str | None
    count: str | None
    source_format: SourceFormat | None
    table: str | None
    header: bool
    delimiter: str | None
    zipf: int | None
    largest: int | None
    k: int
    epsilons: list[str]
    resolution: str
    neighbours: Neighbours
    sensitivity: str
    selection_share: str
    releases: int
    form: Form | None
    output: Path | None
    plot: Path | None
    overwrite: bool
    quiet: bool

    @property
    def written_as(self) -> str | None:
        """The form of the plan; None if nothing tells."""
        return self.form or form_of(self.output)

    @property
    def drawn_as(self) -> str:
        """The form of the plot, as its name tells it."""
        return "" if self.plot is None else self.plot.suffix.lower().removeprefix(".")

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.plot) if each is not None]


def plan(request: Request) -> None:
    """Do what was asked; files that could not be written are told of before the work is done."""
    _check(request)
    inside = [os.path.join(glob.escape(each), "*") for each in request.sources]
    read = [*request.sources, *inside]
    files.check(request.targets, read, overwrite=request.overwrite, or_else=", or --overwrite")
    if request.plot is not None:
        require_matplotlib()
    with Bar(shown=not request.quiet) as bar:
        made = planning.plan(
            _counts(request, bar),
            request.k,
            request.epsilons or planning.EPSILONS,
            releases=request.releases,
            selection_share=request.selection_share,
            resolution=request.resolution,
            sensitivity=request.sensitivity,
            monotonic=request.neighbours == "add-remove",
            progress=bar,
        )
    _publish(request, made)


def _check(request: Request) -> None:
    """Refuse what contradicts itself.

    Raises:
        typer.BadParameter: Something does.
    """
    of_tables = [request.item, request.count, request.source_format, request.table]
    if bool(request.sources) == (request.zipf is not None):
        raise typer.BadParameter("give public counts as SOURCE, or made-up ones by --zipf.")
    if request.zipf is None:
        if request.item is None or request.count is None:
            raise typer.BadParameter("say with --item and --count which columns to read.")
        if request.largest is not None:
            raise typer.BadParameter("--largest is for made-up counts, with --zipf.")
        if "-" in request.sources and len(request.sources) > 1:
            raise typer.BadParameter("standard input cannot be read together with files.")
        if "fimi" in map(counting.format_by_name, request.sources):
            raise typer.BadParameter("FIMI files are of persons, and a plan is of public counts.")
    elif any(each is not None for each in [*of_tables, request.delimiter]) or not request.header:
        raise typer.BadParameter("--zipf reads no file; give no options of one.")
    if len({os.path.realpath(each) for each in request.targets}) < len(request.targets):
        raise typer.BadParameter("--output and --plot name the same file.")
    if request.written_as not in ("table", "csv", "json"):
        raise typer.BadParameter("a plan is written as table, csv or json; say which by --format.")
    if request.plot is not None and request.drawn_as not in FORMS:
        raise typer.BadParameter("the name of --plot must end in .png, .svg or .pdf.")


def _counts(request: Request, bar: Bar) -> Any:
    if request.zipf is not None:
        largest = LARGEST if request.largest is None else request.largest
        return planning.zipf(request.zipf, largest)
    source: Any = request.sources
    if source == ["-"]:
        if sys.stdin is None:
            raise SourceError("Standard input is closed.")
        source = sys.stdin.buffer
    return counting.read_counts(
        source,
        item=str(request.item),
        count=str(request.count),
        domain=FROM_DATA,  # all of it is public
        format=request.source_format or ("csv" if request.sources == ["-"] else None),
        table=request.table,
        header=request.header,
        delimiter=request.delimiter,
        progress=bar,
    )


def _publish(request: Request, made: Plan) -> None:
    """Write the files that were asked for, and show the rest."""
    content = _in_form(made, request.written_as)
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = content
    if request.plot is not None:
        contents[request.plot] = drawing.render(made.rows, made.k, made.title, request.drawn_as)
    files.write(contents, overwrite=request.overwrite)
    remarks = [*map(files.written, contents)]
    if request.written_as == "csv":  # which has no place for it
        remarks.insert(0, NOT_PRIVATE)
    if not request.quiet and sys.stderr is not None:
        for remark in remarks:
            print(remark, file=sys.stderr)
    if request.output is None:
        standard_output.write(content)


def _in_form(made: Plan, form: str | None) -> bytes:
    if form == "json":
        return f"{made.to_json(indent=2)}\n".encode()
    if form != "csv":
        return f"{made}\n".encode()
    columns = made.columns()
    return csv_text([columns, *zip(*columns.values(), strict=True)]).encode()
