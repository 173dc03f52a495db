"""CSV and TSV: every cell is the text that stands in the file."""

import csv
import gzip
import io
import os
from codecs import getincrementaldecoder
from collections.abc import Sequence
from typing import NamedTuple

from topgap.counting.cells import INVISIBLE
from topgap.counting.engine import LONGEST_LINE
from topgap.counting.files import Found
from topgap.counting.lines import refuse_long_lines
from topgap.counting.tables import Column, Table, quote_literal
from topgap.errors import ParameterError, SourceError
from topgap.sources.columns import quote, repeated_column

_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_TABS = {"tab": "\t", "\\t": "\t"}
_BUFFER = 4 * LONGEST_LINE
_MOST_COLUMNS = 10_000
_NO_DELIMITER = "\x1f\x1e\x1d"  # leaves a line whole; a line that has it is refused, not misread


def build_lines_sql(paths: Sequence[str]) -> str:
    """SQL for the lines of text files, as a table with the column `line`."""
    return _build_csv_sql(paths, _NO_DELIMITER, ["line"], quote="", header=False)


def read_delimited(
    found: Found,
    form: str,
    wanted: Sequence[str],
    header: bool,
    delimiter: str | None,
) -> Table:
    """The table of all the files, in each of which the first line says where the columns are.

    Unless it is given, the delimiter is the one by which the first line has the columns that are
    wanted: a comma, semicolon, tab or bar in a CSV file, a tab in a TSV file.

    Args:
        found: The files.
        form: "csv" or "tsv".
        wanted: The names of the columns; without a header, their numbers, from 1.
        header: Whether the first line holds the names of the columns.
        delimiter: What stands between the cells, if it is known.

    Raises:
        SourceError: A file has no such columns.
        ParameterError: The delimiter is not one character.
    """
    delimiter = _TABS.get(delimiter or "", delimiter)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(
            "The delimiter must be one character, or tab, and no quote or line end."
        )
    alike: dict[_Layout, list[str]] = {}
    for path, label in zip(found.paths, found.labels, strict=True):
        if os.path.getsize(path) > 0:
            refuse_long_lines(path, label)
            start, delimiters = _read_start(path, label), delimiter or _DELIMITERS[form]
            layout = _detect_layout(start, delimiters, wanted, header, label)
            alike.setdefault(layout, []).append(path)
    nothing = ", ".join(f"CAST(NULL AS VARCHAR) AS w{n}" for n in range(len(wanted)))
    selects = [f"SELECT {nothing} WHERE false"]
    for layout, files in alike.items():
        names = [f"c{each}" for each in range(layout.width)]
        rows = _build_csv_sql(files, layout.delimiter, names, quote='"', header=header)
        cells = ", ".join(f"c{place} AS w{n}" for n, place in enumerate(layout.places))
        selects.append(f"SELECT {cells} FROM {rows}")
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(wanted)}
    return Table(found.label, f"({' UNION ALL '.join(selects)})", columns, names_are_schema=False)


class _Layout(NamedTuple):
    """How a file is made: its delimiter, its number of columns, where the wanted ones are."""

    delimiter: str
    width: int
    places: tuple[int, ...]


def _detect_layout(
    start: str, delimiters: str, wanted: Sequence[str], header: bool, label: str
) -> _Layout:
    fitting = []
    missing = [*wanted]
    for delimiter in delimiters:
        cells = _parse_first_record(start, delimiter)
        if len(cells) > _MOST_COLUMNS:
            raise SourceError(f"{label} has more than {_MOST_COLUMNS:,} columns.")
        names = [each.strip(INVISIBLE) for each in cells] if header else _number_columns(cells)
        for name in wanted:
            if names.count(name) > 1:
                raise repeated_column(label, name)
        lacking = [name for name in wanted if name not in names]
        missing = min(missing, lacking, key=len)
        if not lacking:
            places = tuple(names.index(name) for name in wanted)
            fitting.append(_Layout(delimiter, len(cells), places))
    if not fitting:
        where = (
            " in its first line (upper and lower case differ)"
            if header
            else "; without a header they go by number, from 1"
        )
        raise SourceError(f"{label} has no column {quote(missing[0])}{where}.")
    splitting = [each for each in fitting if each.width > 1] or fitting[:1]
    if len(splitting) > 1:
        raise SourceError(f"{label} can be read with several delimiters; say which one it has.")
    return splitting[0]


def _number_columns(cells: Sequence[str]) -> list[str]:
    return [str(number) for number in range(1, len(cells) + 1)]


def _read_start(path: str, label: str) -> str:
    """As much of the file as its first record can take."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        start = file.read(LONGEST_LINE)
    try:
        return getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        raise SourceError(f"{label} is not UTF-8 text; save it as UTF-8.") from None


def _parse_first_record(start: str, delimiter: str) -> list[str]:
    """The cells of the first record; none if it is not to be read with this delimiter."""
    try:
        return next(
            csv.reader(io.StringIO(start, newline=""), delimiter=delimiter, strict=True), []
        )
    except csv.Error:
        return []


def _build_csv_sql(
    paths: Sequence[str], delimiter: str, names: Sequence[str], *, quote: str, header: bool
) -> str:
    files = ", ".join(map(quote_literal, paths))
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    return (
        f"read_csv([{files}], auto_detect = false, header = {header}, "
        f"delim = {quote_literal(delimiter)}, quote = {quote_literal(quote)}, "
        f"escape = {quote_literal(quote)}, "
        f"columns = {{{columns}}}, hive_partitioning = false, "
        f"max_line_size = {LONGEST_LINE}, buffer_size = {_BUFFER})"
    )
