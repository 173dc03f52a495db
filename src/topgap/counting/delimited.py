"""CSV and TSV: every cell is the text that stands in the file."""

import csv
import gzip
import io
from codecs import getincrementaldecoder
from collections.abc import Sequence

from topgap.counting.cells import SPACES
from topgap.counting.engine import LONGEST_LINE
from topgap.counting.lines import refuse_long_lines
from topgap.counting.tables import Column, Table, literal, quoted
from topgap.errors import SourceError

_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_BUFFER = 4 * LONGEST_LINE
_MOST_COLUMNS = 10_000
_NO_DELIMITER = "\x1f\x1e\x1d"  # leaves a line whole; a line that has it is refused, not misread


def read_lines(paths: Sequence[str]) -> str:
    """SQL for the lines of text files, as a table with the column `line`."""
    return _read_csv(paths, _NO_DELIMITER, ["line"], quote="", header=False)


def read_delimited(
    paths: Sequence[str], label: str, form: str, wanted: Sequence[str], header: bool
) -> Table:
    """The table of all the files, in each of which the first line says where the columns are.

    The delimiter is the one by which the first line has the columns that are wanted: a comma,
    semicolon, tab or bar in a CSV file, a tab in a TSV file.

    Args:
        paths: The files.
        label: What to call them in an error.
        form: "csv" or "tsv".
        wanted: The names of the columns; without a header, their numbers, from 1.
        header: Whether the first line holds the names of the columns.

    Raises:
        SourceError: A file has no such columns.
    """
    alike: dict[tuple[str, int, tuple[int, ...]], list[str]] = {}
    for path in paths:
        shown = quoted(path)[1:-1] if len(paths) > 1 else label
        refuse_long_lines(path, shown)
        layout = _layout(_start(path, shown), form, wanted, header, shown)
        alike.setdefault(layout, []).append(path)
    selects = []
    for (delimiter, width, places), files in alike.items():
        names = [f"c{each}" for each in range(width)]
        rows = _read_csv(files, delimiter, names, quote='"', header=header)
        cells = ", ".join(f"c{place} AS w{n}" for n, place in enumerate(places))
        selects.append(f"SELECT {cells} FROM {rows}")
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(wanted)}
    return Table(label, f"({' UNION ALL '.join(selects)})", columns, typed=False)


def _layout(
    start: str, form: str, wanted: Sequence[str], header: bool, label: str
) -> tuple[str, int, tuple[int, ...]]:
    """The delimiter, the number of columns, and where the wanted ones are."""
    missing = [*wanted]
    for delimiter in _DELIMITERS[form]:
        cells = _first_record(start, delimiter)
        if len(cells) > _MOST_COLUMNS:
            raise SourceError(f"{label} has more than {_MOST_COLUMNS:,} columns.")
        names = [each.strip(SPACES) for each in cells] if header else _numbered(cells)
        for name in wanted:
            if names.count(name) > 1:
                raise SourceError(f"{label} has more than one column {quoted(name)}.")
        lacking = [name for name in wanted if name not in names]
        if not lacking:
            return delimiter, len(cells), tuple(names.index(name) for name in wanted)
        missing = min(missing, lacking, key=len)
    where = " in its first line" if header else "; without a header, columns go by number, from 1"
    raise SourceError(f"{label} has no column {quoted(missing[0])}{where}.")


def _numbered(cells: Sequence[str]) -> list[str]:
    return [str(number) for number in range(1, len(cells) + 1)]


def _start(path: str, label: str) -> str:
    """As much of the file as its first record can take."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    with opened(path, "rb") as file:
        start = file.read(LONGEST_LINE)
    try:
        return getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        raise SourceError(f"{label} is not UTF-8 text.") from None


def _first_record(start: str, delimiter: str) -> list[str]:
    """The cells of the first record; none if it is not to be read with this delimiter."""
    try:
        return next(
            csv.reader(io.StringIO(start, newline=""), delimiter=delimiter, strict=True), []
        )
    except csv.Error:
        return []


def _read_csv(
    paths: Sequence[str], delimiter: str, names: Sequence[str], *, quote: str, header: bool
) -> str:
    files = ", ".join(map(literal, paths))
    columns = ", ".join(f"'{name}': 'VARCHAR'" for name in names)
    return (
        f"read_csv([{files}], auto_detect = false, header = {header}, "
        f"delim = {literal(delimiter)}, quote = {literal(quote)}, escape = {literal(quote)}, "
        f"columns = {{{columns}}}, "
        f"strict_mode = {bool(quote)}, "  # which is about quotes; without it, line ends may differ
        f"max_line_size = {LONGEST_LINE}, buffer_size = {_BUFFER})"
    )
