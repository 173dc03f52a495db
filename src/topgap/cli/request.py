"""`topgap release`: from what the user asked for to files and standard output."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer

from topgap import counting
from topgap.cli import files
from topgap.cli.forms import Form, form_of, in_form
from topgap.cli.progress import Bar
from topgap.counting import FROM_DATA, NOT_PROTECTED, Domain, Format
from topgap.errors import DomainError, OutputError, SourceError
from topgap.leads import is_uncertain
from topgap.parameters import TopK
from topgap.release import Release

Neighbours = Literal["add-remove", "replace"]

_REMARKS: Mapping[str, str] = {
    "add-remove": "Data sets are neighbours if one person is added or removed: all counts then "
    "move the same way (monotonic), and half the noise is enough.",
    "replace": "Data sets are neighbours if one person is replaced by another.",
}


_NOTHING_STANDS_OUT = (
    "No gap is larger than noise alone often makes: if that surprises you, see whether the columns "
    "and the list of items are those of the data."
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the user typed, as `topgap release --help` explains it."""

    sources: list[str]
    person: str | None
    item: str | None
    count: str | None
    source_format: Format | None
    table: str | None
    query: str | None
    header: bool
    delimiter: str | None
    allow_empty: bool
    memory: str
    domain: Path | None
    domain_column: str | None
    domain_range: str | None
    domain_from_data: bool
    k: int
    epsilon: str
    resolution: str
    neighbours: Neighbours
    sensitivity: str | None
    form: Form | None
    output: Path | None
    report: Path | None
    title: str | None
    overwrite: bool
    quiet: bool

    @property
    def counted_as(self) -> Format | None:
        """The format of the source as far as the names tell; FIMI, if one of several is that."""
        if self.source_format is not None or self.sources == ["-"]:
            return self.source_format or "csv"
        named = {counting.format_by_name(each) for each in self.sources}
        return "fimi" if "fimi" in named else named.pop()

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.report) if each is not None]


def release(request: Request) -> None:
    """Do what was asked; everything public is checked before the data are looked at."""
    _check_usage(request)
    parameters = TopK(
        request.k,
        request.epsilon,
        resolution=request.resolution,
        sensitivity=1 if request.sensitivity is None else request.sensitivity,
        monotonic=request.neighbours == "add-remove",
    )
    read = [*request.sources, *([str(request.domain)] if request.domain else [])]
    files.check(request.targets, read, overwrite=request.overwrite, or_else=", or --overwrite")
    domain = _domain(request)
    if isinstance(domain, Domain) and len(domain) <= parameters.k:
        raise DomainError(
            f"With k = {parameters.k} the domain must have at least {parameters.k + 1} items; it "
            f"has {len(domain)}."
        )
    with Bar(shown=not request.quiet) as bar:
        counts = _counts(request, domain, bar)
    if len(counts) <= parameters.k:  # only where the data are the domain: how many is a secret
        raise DomainError(f"The data have too few different items for k = {parameters.k}.")
    _publish(request, parameters.release(counts))


def _check_usage(request: Request) -> None:
    """Refuse what contradicts itself, as a mistake in the command and not in the data."""
    given = [request.domain is not None, request.domain_range is not None, request.domain_from_data]
    if sum(given) != 1:
        raise typer.BadParameter(
            "give the public list of items by just one of --domain, --domain-range and "
            "--domain-from-data."
        )
    if request.domain_column is not None and request.domain is None:
        raise typer.BadParameter("--domain-column needs --domain.")
    if "-" in request.sources and len(request.sources) > 1:
        raise typer.BadParameter("standard input cannot be read together with files.")
    if request.person is not None and request.count is not None:
        raise typer.BadParameter("give --person for events or --count for ready counts, not both.")
    columns = request.person or request.count
    if request.counted_as == "fimi":
        _check_fimi(request)
    elif columns is None or request.item is None:
        raise typer.BadParameter(
            "say with --person and --item, or --item and --count, what to count."
        )
    if request.sensitivity is not None and request.count is None:
        raise typer.BadParameter("--sensitivity is for ready counts, with --count.")
    if request.title is not None and request.report is None:
        raise typer.BadParameter("--title is for the report, with --report.")
    if len({os.path.realpath(each) for each in request.targets}) < len(request.targets):
        raise typer.BadParameter("--output and --report name the same file.")
    if request.report is not None and request.report.suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter("the report is an HTML page; its name must end in .html.")
    if _form(request) is None:
        raise typer.BadParameter("the name of --output tells no format; give --format.")
    if _form(request) == "parquet" and request.output is None and _is_terminal():
        raise typer.BadParameter("a Parquet file is not for a terminal; give --output.")


def _check_fimi(request: Request) -> None:
    others = {counting.format_by_name(each) for each in request.sources} - {"fimi", None}
    if others and request.source_format is None:
        raise typer.BadParameter("FIMI files cannot be read together with others.")
    of_tables = [request.person, request.item, request.count, request.table, request.query]
    if any(each is not None for each in [*of_tables, request.delimiter]) or not request.header:
        raise typer.BadParameter(
            "a FIMI file is no table; give no --person, --item, --count, --table, --query, "
            "--delimiter or --no-header."
        )


def _domain(request: Request) -> Any:
    if request.domain_from_data:
        return FROM_DATA
    if request.domain is not None:
        return counting.read_domain(request.domain, request.domain_column)
    ends = re.fullmatch(r"\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*", request.domain_range or "")
    if ends is None:
        raise typer.BadParameter("--domain-range must be two integers, as in 1:942.")
    return Domain(range(int(ends[1]), int(ends[2]) + 1))


def _counts(request: Request, domain: Any, bar: Bar) -> dict[Any, int]:
    source: Any = request.sources
    if request.sources == ["-"]:
        if sys.stdin is None:
            raise SourceError("Standard input is closed.")
        source = sys.stdin.buffer
    common: dict[str, Any] = {
        "domain": domain,
        "allow_empty": request.allow_empty,
        "memory": request.memory,
        "progress": bar,
    }
    if request.counted_as == "fimi":
        return counting.count_transactions(source, **common)
    common |= {
        "item": request.item,
        "format": request.counted_as if request.sources == ["-"] else request.source_format,
        "table": request.table,
        "query": request.query,
        "header": request.header,
        "delimiter": request.delimiter,
    }
    if request.count is not None:
        return counting.read_counts(source, count=request.count, **common)
    return counting.count_events(source, person=str(request.person), **common)


def _publish(request: Request, made: Release) -> None:
    caveat = NOT_PROTECTED if request.domain_from_data else None
    form = _form(request) or "table"
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = in_form(made, form, caveat)
    if request.report is not None:
        from topgap.report import to_html

        title = {} if request.title is None else {"title": request.title}
        page = to_html(made, counted=_what_was_counted(request), caveat=caveat, **title)
        contents[request.report] = page.encode()
    files.write(contents, overwrite=request.overwrite)

    remarks = [] if request.quiet else [_REMARKS[request.neighbours]]
    if caveat and (request.output is not None or form != "table"):
        remarks.append(caveat)
    remarks += [] if request.quiet else [f"Written: {target}" for target in contents]
    if not request.quiet and all(is_uncertain(gap, made.parameters) for gap in made.gaps or ()):
        remarks.append(_NOTHING_STANDS_OUT)
    if sys.stderr is not None:
        for remark in remarks:
            print(remark, file=sys.stderr)
    if request.output is None:
        _print(made, form, caveat)


def _what_was_counted(request: Request) -> str:
    if request.counted_as == "fimi":
        return "Counted for each item: the people who have it."
    if request.count is not None:
        return f"Counted for each {request.item}: {request.count}."
    return f"Counted for each {request.item}: every {request.person} who has it, once."


def _print(made: Release, form: Form, caveat: str | None) -> None:
    if sys.stdout is None:
        raise OutputError("Standard output is closed.")
    if form == "table" and _is_terminal():
        from topgap.cli.terminal import print_release

        print_release(made, caveat)
        return
    try:
        sys.stdout.buffer.write(in_form(made, form, caveat))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"Standard output cannot be written: {error.strerror}.") from None


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _form(request: Request) -> Form | None:
    return request.form or form_of(request.output)
