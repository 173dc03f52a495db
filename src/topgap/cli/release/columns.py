"""`--list-columns`: which columns a source has, only for the holder of the data."""

from collections.abc import Sequence
from difflib import get_close_matches

import typer

from topgap import counting
from topgap.cli import files
from topgap.cli.errors import print_error
from topgap.cli.release.request import ReleaseRequest
from topgap.cli.release.source import open_source
from topgap.display.text import to_line
from topgap.sources.columns import quote


def write_columns(request: ReleaseRequest) -> None:
    """Print the columns, or the tables if there are several; and what a wrong name may mean.

    Raises:
        typer.BadParameter: A query is given, or a format that has no such list.
        SourceError, ParameterError: The source cannot be read.
    """
    if request.query is not None:
        raise typer.BadParameter("a query names its columns itself; give --table or neither.")
    form = request.source_format or ("csv" if request.sources == ["-"] else None)
    if form == "arrow" or "arrow" in request.formats_by_name:
        raise typer.BadParameter("the columns of Arrow files are not listed.")
    found = counting.list_columns(
        open_source(request),
        format=form,
        table=request.table,
        header=request.header,
        delimiter=request.delimiter,
        encoding=request.encoding,
    )
    if found.tables:
        lines = ["It has several tables; name one with --table:", *map(to_line, found.tables)]
    else:
        lines = [
            to_line(name) if kind is None else f"{to_line(name)}  {to_line(kind)}"
            for name, kind in found.columns
        ]
    files.write_standard_output("".join(f"{line}\n" for line in lines).encode())
    if not found.tables:
        _explain_wrong_names(request, [name for name, _ in found.columns])


def _explain_wrong_names(request: ReleaseRequest, names: Sequence[str]) -> None:
    """Say of each column that is asked for and is not there which one is nearest to it."""
    asked: dict[str, Sequence[str | None]] = {
        "--person": [request.person],
        "--item": request.item or [],
        "--count": [request.count],
        "--by": request.by or [],
    }
    for option, wanted in asked.items():
        for name in wanted:
            if name is None or name in names:
                continue
            nearest = find_nearest(name, names)
            meant = "" if nearest is None else f"; {quote(nearest)} is the nearest"
            print_error(f"{option}: there is no column {quote(name)}{meant}.")


def find_nearest(name: str, names: Sequence[str]) -> str | None:
    """Find the name that is most like a wrong one, in any case; None if none is like it.

    >>> find_nearest("Pateint", ["visit", "patient"]), find_nearest("x", ["visit"])
    ('patient', None)
    """
    folded = {each.casefold(): each for each in reversed(names)}
    matches = get_close_matches(name.casefold(), folded, n=1)
    return folded[matches[0]] if matches else None
