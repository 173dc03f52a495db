"""A release in the forms that the command writes: table, CSV, JSON, Parquet."""

import csv
import io
from pathlib import Path
from typing import Literal

from topgap.errors import MissingExtraError
from topgap.leads import certain_from
from topgap.release import Release
from topgap.report.numbers import about
from topgap.text import written

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


def in_form(release: Release, form: Form, caveat: str | None) -> bytes:
    """The release as a file holds it.

    Args:
        release: What to write.
        form: How to write it.
        caveat: What is not protected; a table says it too.
    """
    if form == "csv":
        return _csv(release).encode()
    if form == "json":
        return f"{release.to_json(indent=2)}\n".encode()
    if form == "parquet":
        return _parquet(release, caveat)
    lines = [release.to_text()]
    if release.gaps is not None:
        least = about(certain_from(release.parameters))
        lines.append(f"A gap below {least} leaves the order of the two uncertain.")
    lines += [caveat] if caveat else []
    return ("\n".join(lines) + "\n").encode()


def _csv(release: Release) -> str:
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    gaps = release.gaps
    rows.writerow(["rank", "item", *(["gap"] if gaps else [])])
    for rank, item in enumerate(release.items, 1):
        rows.writerow([rank, item, *([written(gaps[rank - 1])] if gaps else [])])
    return text.getvalue()


def _parquet(release: Release, caveat: str | None) -> bytes:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet files need pyarrow: pip install pyarrow.") from None
    notes = {"topgap.release": release.to_json()} | ({"topgap.caveat": caveat} if caveat else {})
    table = release.to_arrow().replace_schema_metadata(notes)
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()
