"""The forms in which the command writes what is published: table, CSV, JSON, Parquet."""

import io
from pathlib import Path
from typing import Literal

from topgap.cli.csv_text import csv_text
from topgap.cli.publications import Publication
from topgap.display.numbers import format_about
from topgap.display.text import format_text_table
from topgap.errors import MissingExtraError
from topgap.margins import least_certain_gap

Form = Literal["table", "csv", "json", "parquet"]
_SUFFIXES: dict[str, Form] = {
    ".csv": "csv",
    ".json": "json",
    ".parquet": "parquet",
    ".txt": "table",
    "": "table",
}


def form_of(target: Path | None) -> Form | None:
    """The form that the name of a file asks for; None if it asks for an unknown one.

    >>> form_of(Path("out.csv")), form_of(Path("out.txt")), form_of(Path("out.xlsx"))
    ('csv', 'table', None)
    """
    return "table" if target is None else _SUFFIXES.get(target.suffix.lower())


def in_form(made: Publication, form: Form) -> bytes:
    """What is published as a file holds it."""
    if form == "csv":
        return csv_text(made.cells()).encode()
    if form == "json":
        return f"{made.to_json()}\n".encode()
    if form == "parquet":
        return _parquet(made)
    return _table(made).encode()


def _table(made: Publication) -> str:
    head, rows, note = made.rows()
    lines = [format_text_table(head, rows), note]
    if made.release.gaps is not None:
        least = format_about(least_certain_gap(made.release.parameters))
        lines.append(f"A gap below {least} leaves the order of the two uncertain.")
    lines += [*made.explanations, *made.cautions, *made.release.caveats]
    return "\n".join(lines) + "\n"


def _parquet(made: Publication) -> bytes:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow: pip install pyarrow.") from None
    sink = io.BytesIO()
    pq.write_table(made.to_arrow(), sink)
    return sink.getvalue()
