"""Text files: CSV and TSV, JSON lines, and plain lines."""

import csv
import gzip
import io
import os
import zlib
from codecs import getincrementaldecoder
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, NamedTuple

from topgap.counting.encodings import find_wrong_text, not_utf8, open_text
from topgap.counting.engine import LONGEST_LINE, Column, Engine, Table, quote_literal
from topgap.domains.cell_text import INVISIBLE
from topgap.errors import ParameterError, SourceError
from topgap.sources.columns import LISTS_COLUMNS, quote, repeated_column

_DELIMITERS = {"csv": ",;\t|", "tsv": "\t"}
_TABS = {"tab": "\t", "\\t": "\t"}
_BUFFER = 4 * LONGEST_LINE
_GLANCE = 1 << 16
_FIRST_OBJECTS = 10_000
_MOST_COLUMNS = 10_000
_NO_DELIMITER = "\x1f\x1e\x1d"  # leaves a line whole; a line that has it is refused, not misread


def build_lines_sql(paths: Sequence[str]) -> str:
    """Build SQL for the lines of text files, a table with the column `line`."""
    return _build_csv_sql(paths, _NO_DELIMITER, ["line"], quote="", header=False)


def read_delimited(
    labels: Mapping[str, str],
    label: str,
    form: str,
    wanted: Sequence[str],
    *,
    header: bool,
    delimiter: str | None,
) -> Table:
    """Read CSV or TSV files, each with its own order of columns. Every cell is text as it stands.

    The default delimiter is the one by which the first line has the wanted columns: a comma,
    semicolon, tab or bar in a CSV file, a tab in a TSV file.

    Args:
        labels: The files; what an error calls each.
        label: What an error calls all of them.
        form: "csv" or "tsv".
        wanted: The names of the columns; without a header, their numbers, from 1.
        header: Whether the first line holds the names of the columns.
        delimiter: What stands between the cells, if it is known.

    Raises:
        SourceError: A file has no such columns.
        ParameterError: The delimiter is not one character.
    """
    delimiter = read_delimiter(delimiter)
    paths_by_layout: dict[_Layout, list[str]] = {}
    for path, name in labels.items():
        if os.path.getsize(path) > 0:
            refuse_long_lines(path, name)
            start, delimiters = _read_start(path, name), delimiter or _DELIMITERS[form]
            layout = _detect_layout(start, delimiters, wanted, name, header=header)
            paths_by_layout.setdefault(layout, []).append(path)
    nothing = ", ".join(f"CAST(NULL AS VARCHAR) AS w{n}" for n in range(len(wanted)))
    selects = [f"SELECT {nothing} WHERE false"]
    for layout, files in paths_by_layout.items():
        names = [f"c{each}" for each in range(layout.width)]
        rows = _build_csv_sql(files, layout.delimiter, names, quote='"', header=header)
        cells = ", ".join(f"c{place} AS w{n}" for n, place in enumerate(layout.places))
        selects.append(f"SELECT {cells} FROM {rows}")
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(wanted)}
    return Table(label, f"({' UNION ALL '.join(selects)})", columns, names_are_schema=False)


class _Layout(NamedTuple):
    """The layout of a file: delimiter, number of columns, positions of the wanted ones."""

    delimiter: str
    width: int
    places: tuple[int, ...]


def _detect_layout(
    start: str, delimiters: str, wanted: Sequence[str], label: str, *, header: bool
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
            " in its first line (names are case-sensitive)"
            if header
            else "; without a header columns are numbered from 1"
        )
        raise SourceError(f"{label} has no column {quote(missing[0])}{where}; {LISTS_COLUMNS}.")
    splitting = [each for each in fitting if each.width > 1] or fitting[:1]
    if len(splitting) > 1:
        raise SourceError(
            f"{label} can be read with several delimiters; give the right one (delimiter=, "
            f"--delimiter)."
        )
    return splitting[0]


def list_delimited_columns(
    path: str, label: str, form: str, *, header: bool, delimiter: str | None
) -> list[str]:
    """List the columns of a CSV or TSV file, by the delimiter that its first line has most of.

    Raises:
        SourceError: It cannot be read.
        ParameterError: The delimiter is not one character.
    """
    delimiter = read_delimiter(delimiter)
    if os.path.getsize(path) == 0:
        return []
    start = _read_start(path, label)
    rows = [_parse_first_record(start, each) for each in delimiter or _DELIMITERS[form]]
    cells = max(rows, key=len)
    return [each.strip(INVISIBLE) for each in cells] if header else _number_columns(cells)


def read_delimiter(delimiter: str | None) -> str | None:
    """Read a delimiter, which may be written as `tab`.

    Raises:
        ParameterError: It is not one character.
    """
    delimiter = _TABS.get(delimiter or "", delimiter)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '"\r\n'):
        raise ParameterError(
            "The delimiter must be one character or tab, and not a quote or line end."
        )
    return delimiter


def list_json_columns(engine: Engine, paths: Sequence[str], label: str) -> list[str]:
    """List the names of the first JSON objects, in the order in which they come."""
    files = ", ".join(map(quote_literal, paths))
    listed = f"[{files}], format = 'newline_delimited', hive_partitioning = false"
    first = f"SELECT json_keys(json) AS names FROM read_json_objects({listed})"
    rows = engine.run(f"{first} LIMIT {_FIRST_OBJECTS}", label=label)
    return [*dict.fromkeys(name for (names,) in rows for name in names or [])]


def _number_columns(cells: Sequence[str]) -> list[str]:
    return [str(number) for number in range(1, len(cells) + 1)]


def _read_start(path: str, label: str) -> str:
    """Read as much of the file as its first record can take."""
    with open_text(path) as file:
        start = file.read(LONGEST_LINE)
    try:
        return getincrementaldecoder("utf-8-sig")().decode(start)
    except UnicodeDecodeError:
        _, encoding = find_wrong_text([path]) or (path, None)
        raise SourceError(not_utf8(label, encoding)) from None


def _parse_first_record(start: str, delimiter: str) -> list[str]:
    """Parse the cells of the first record; none if the delimiter does not fit."""
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


def read_json_lines(
    engine: Engine, paths: Sequence[str], label: str, wanted: Sequence[str]
) -> Table:
    """Read JSON objects, one in each line.

    Raises:
        SourceError: They have no such columns, or cannot be read.
    """
    files = ", ".join(map(quote_literal, paths))
    listed = f"[{files}], format = 'newline_delimited', hive_partitioning = false"
    names = ", ".join(f"bool_or(list_contains(names, {quote_literal(name)}))" for name in wanted)
    # The first objects show which names there are; in later ones a missing name is a NULL.
    first = (
        f"SELECT json_keys(json) AS names FROM read_json_objects({listed}) LIMIT {_FIRST_OBJECTS}"
    )
    (seen,) = engine.run(f"SELECT {names} FROM ({first})", label=label)
    for name, is_there in zip(wanted, seen, strict=True):
        if is_there is False:
            raise SourceError(
                f"{label} has no column {quote(name)} in its first objects (names are "
                f"case-sensitive); {LISTS_COLUMNS}."
            )
    if len({name.casefold() for name in wanted}) < len(wanted):
        raise SourceError(
            f"{label}: DuckDB cannot read two names of JSON objects that differ only by case; "
            f"rename one."
        )
    columns = ", ".join(f"{quote_literal(name)}: 'JSON'" for name in wanted)
    return engine.describe(label, f"read_json({listed}, columns = {{{columns}}})")


def refuse_long_lines(path: str, label: str) -> None:
    """Refuse a file with a line of more than twice `LONGEST_LINE` bytes.

    DuckDB reports shorter ones, but loses the last line of a file if it is larger than a buffer.
    Such a line fills a whole block of `LONGEST_LINE` bytes without an end of line. In most files
    the start of each block is enough to find one.

    Raises:
        SourceError: There is one, or the file cannot be unpacked.
    """
    try:
        if path.lower().endswith(".gz"):
            with gzip.open(path, "rb") as file:
                fine = all(map(_has_line_end, _read_blocks(file)))
        else:
            with open(path, "rb") as plain:
                fine = all(_block_has_line_end(plain, start) for start in _block_starts(plain))
    except (EOFError, OSError, zlib.error):
        raise SourceError(f"{label} is damaged or incomplete.") from None
    if not fine:
        raise SourceError(f"{label} has a line that is longer than {LONGEST_LINE:,} bytes.")


def _block_starts(file: IO[bytes]) -> range:
    """List the starts of the full blocks; the rest of the file is shorter than one."""
    return range(0, file.seek(0, 2) - LONGEST_LINE + 1, LONGEST_LINE)


def _block_has_line_end(file: IO[bytes], start: int) -> bool:
    file.seek(start)
    return _has_line_end(file.read(_GLANCE)) or _has_line_end(file.read(LONGEST_LINE - _GLANCE))


def _read_blocks(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    while len(block := file.read(LONGEST_LINE)) == LONGEST_LINE:
        yield block


def _has_line_end(block: bytes) -> bool:
    return b"\n" in block or b"\r" in block
