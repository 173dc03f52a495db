"""What contradicts itself in a command: refused as a mistake in it, before anything is read."""

import os

import typer

from topgap.cli.release.request import Request
from topgap.counting import MEMORY


def check(request: Request) -> None:
    """Refuse what contradicts itself.

    Raises:
        typer.BadParameter: Something does.
    """
    _check_domain(request)
    _check_source(request)
    _check_estimate(request)
    _check_ledger(request)
    _check_output(request)


def _check_domain(request: Request) -> None:
    given = [request.domain is not None, request.domain_range is not None]
    if sum([*given, request.domain_from_data, request.all_rows]) != 1:
        raise typer.BadParameter(
            "give the public list of items by just one of --domain, --domain-range, "
            "--domain-from-data and --all-rows."
        )
    if str(request.domain) == "-":
        raise typer.BadParameter("--domain names a file; standard input is for SOURCE alone.")
    if request.domain_column is not None and request.domain is None:
        raise typer.BadParameter("--domain-column needs --domain.")


def _check_source(request: Request) -> None:
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
    elif request.counted_as == "fimi":
        _check_fimi(request)
    elif not (request.person or request.count) or request.item is None:
        raise typer.BadParameter(
            "say with --person and --item, or --item and --count, what to count."
        )
    elif "arrow" in {request.source_format, *request.named}:
        raise typer.BadParameter("Arrow files are read for --all-rows alone.")
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


def _check_all_rows(request: Request) -> None:
    if request.item is None or request.count is None:
        raise typer.BadParameter("--all-rows is for precomputed counts, with --item and --count.")
    told = {request.source_format} if request.source_format else request.named
    if told - {"parquet", "arrow", None}:
        raise typer.BadParameter(
            "--all-rows is for Parquet and Arrow files (say so with --source-format if a name does "
            "not tell); give the items of others with --domain."
        )
    of_others = [request.table, request.query, request.delimiter]
    changed = not request.header or request.memory != MEMORY
    if changed or any(each is not None for each in of_others):
        raise typer.BadParameter(
            "with --all-rows give no --table, --query, --delimiter, --no-header or --memory."
        )


def _check_fimi(request: Request) -> None:
    if request.named - {"fimi", None} and request.source_format is None:
        raise typer.BadParameter("FIMI files cannot be read together with others.")
    of_tables = [request.person, request.item, request.count, request.table, request.query]
    if any(each is not None for each in [*of_tables, request.delimiter]) or not request.header:
        raise typer.BadParameter(
            "a FIMI file is no table; give no --person, --item, --count, --table, --query, "
            "--delimiter or --no-header."
        )


def _check_estimate(request: Request) -> None:
    if not request.estimate and (request.selection_share, request.level) != (None, None):
        raise typer.BadParameter("--selection-share and --level are for --estimate.")


def _check_ledger(request: Request) -> None:
    if (request.ledger is None) != (request.dataset is None):
        raise typer.BadParameter("--ledger and --dataset go together; give both, or none.")
    said = request.who is not None or request.note is not None or request.ignore_clock
    if request.ledger is None and said:
        raise typer.BadParameter("--who, --note and --ignore-clock are for --ledger.")
    if request.yes and request.ledger is None:
        raise typer.BadParameter("--yes is for --ledger; without one nothing is asked.")


def _check_output(request: Request) -> None:
    if request.title is not None and request.report is None:
        raise typer.BadParameter("--title is for the report, with --report.")
    if len({os.path.realpath(each) for each in request.targets}) < len(request.targets):
        raise typer.BadParameter("--output and --report name the same file.")
    if request.report is not None and request.report.suffix.lower() not in {".html", ".htm"}:
        raise typer.BadParameter("the report is an HTML page; its name must end in .html.")
    if request.written_as is None:
        raise typer.BadParameter(
            "the name of --output tells no format; let it end in .csv, .json, .parquet or .txt, or "
            "give --format; --report writes a page."
        )
    if request.written_as == "parquet" and request.is_shown:
        raise typer.BadParameter("a Parquet file is not for a terminal; give --output.")
