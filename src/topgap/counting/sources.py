"""Sources: which files a source means, their format, and how its table is opened."""

import glob
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple, get_args

from topgap.counting.data_frames import read_frame, refuse_spark
from topgap.counting.database_addresses import find_engine_file
from topgap.counting.databases import is_database, read_database
from topgap.counting.duckdb_files import read_duckdb
from topgap.counting.engine import Column, Engine, Table
from topgap.counting.extraction import Extraction
from topgap.counting.parquet import read_parquet_files
from topgap.counting.sqlite_files import read_sqlite
from topgap.counting.text_files import (
    build_lines_sql,
    read_delimited,
    read_json_lines,
    refuse_long_lines,
)
from topgap.errors import ParameterError, SourceError
from topgap.sources.paths import (
    check_readable,
    expand_paths,
    is_path,
    label_open_file,
    label_path,
)

Format = Literal["csv", "tsv", "jsonl", "parquet", "fimi", "duckdb", "sqlite"]
FORMATS: tuple[Format, ...] = get_args(Format)

_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".dat": "fimi",
    ".duckdb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
}
_CHUNK = 1 << 20


def open_table(
    engine: Engine,
    source: Any,
    wanted: Sequence[str],
    *,
    form: Format | None = None,
    table: str | None = None,
    query: str | None = None,
    person: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    most_copied: int | None = None,
    run: bool = True,
    counts: bool = False,
    count_in_database: bool = False,
) -> Table:
    """Open the table of a source, with the wanted columns.

    An empty text file has no rows, and any column.

    Args:
        engine: Reads it.
        source: Whatever holds the table.
        wanted: The names of the columns.
        form: The format of files, if their names do not tell.
        table: The table of a database.
        query: A SELECT to ask of it instead.
        person: The column that identifies persons, if it must be checked that each row of a query
            or view comes from one person's rows alone.
        header: Whether CSV and TSV files have names in their first lines.
        delimiter: What stands between the cells of a CSV file.
        most_copied: How many bytes a pipe may have; any number if None.
        run: Whether a query is run; otherwise it gives no rows.
        counts: Whether a query computes counts.
        count_in_database: Whether a database counts the distinct persons of the first column. The
            table has the other columns then, and that of the counts.

    Raises:
        SourceError: It cannot be read, or has no such columns.
        ParameterError: What was said of it does not fit its format.
    """
    for name in wanted:
        if not isinstance(name, str) or not name:
            raise ParameterError("The name of a column must be a string.")
    if len({*wanted}) < len(wanted):
        raise ParameterError("Persons, items, groups and counts must be in different columns.")
    for text in (*wanted, table or "", query or ""):
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            raise ParameterError("The name of a column or table, or a query, is not valid Unicode.")
    refuse_spark(source)
    extraction = Extraction(wanted, table, query, person, run, counts, count_in_database)
    source = find_engine_file(source) or source
    if is_database(source):
        if form is not None:
            raise ParameterError("A database has no format; leave format (--source-format) out.")
        opened = read_database(engine, source, extraction)
        wanted = [*opened.columns]
    elif count_in_database:
        raise ParameterError(
            "Only PostgreSQL counts by itself (count_in_database, --count-in-database); leave it "
            "out."
        )
    elif not _is_file(source):
        if table is not None or query is not None:
            raise ParameterError("A data frame has no tables to name, and is asked no query.")
        opened = read_frame(engine, source, wanted)
    else:
        files = find_files(engine, source, most_copied)
        form = detect_format(files, form)
        if form in {"duckdb", "sqlite"}:
            opened = _open_database(engine, files, form, extraction)
        elif table is not None or query is not None:
            raise ParameterError(
                "Only a database can be asked for a table or a query: a DuckDB or SQLite file, "
                "or PostgreSQL."
            )
        else:
            opened = _open_files(engine, files, form, wanted, header=header, delimiter=delimiter)
    for name in wanted:
        opened.column(name)
    return opened


def open_lines(engine: Engine, source: Any) -> Table:
    """Open the lines of text files, in the column `line`.

    Raises:
        SourceError: They cannot be read.
    """
    if not _is_file(source):
        raise SourceError("Transactions are read from files alone.")
    files = find_files(engine, source)
    for path, label in files.labels.items():
        refuse_long_lines(path, label)
    columns = {"line": Column("line", "VARCHAR")}
    return Table(files.label, build_lines_sql(files.paths), columns, names_are_schema=False)


def _open_database(
    engine: Engine, files: "SourceFiles", form: Format, extraction: Extraction
) -> Table:
    if extraction.table is not None and extraction.query is not None:
        raise ParameterError("Give a table or a query, not both.")
    if len(files.labels) > 1:
        raise SourceError("Only one database can be read at a time.")
    read = read_duckdb if form == "duckdb" else read_sqlite
    return read(engine, files.paths[0], files.label, extraction)


def _open_files(
    engine: Engine,
    files: "SourceFiles",
    form: Format,
    wanted: Sequence[str],
    *,
    header: bool,
    delimiter: str | None,
) -> Table:
    if form == "jsonl":
        return read_json_lines(engine, files.paths, files.label, wanted)
    if form == "parquet":
        return read_parquet_files(engine, files.paths, files.label, wanted)
    if form == "fimi":
        raise ParameterError(
            "The FIMI format has no columns: each line is a person, and holds the items."
        )
    return read_delimited(
        files.labels, files.label, form, wanted, header=header, delimiter=delimiter
    )


def _is_file(source: Any) -> bool:
    several = isinstance(source, list | tuple) and all(map(is_path, source))
    return is_path(source) or several or hasattr(source, "read")


class SourceFiles(NamedTuple):
    """The files of a source.

    Attributes:
        labels: What an error calls each file, by a path that DuckDB takes as it is.
        label: What an error calls all of them.
    """

    labels: dict[str, str]
    label: str

    @property
    def paths(self) -> list[str]:
        """The paths of the files."""
        return [*self.labels]


def find_files(engine: Engine, source: Any, most_copied: int | None = None) -> SourceFiles:
    """Find the files that a source means.

    Args:
        engine: Keeps a copy of what can be read only once, and links to what has an odd name.
        source: A path, a pattern such as `visits-*.parquet`, several of them, or an open binary
            file such as standard input.
        most_copied: How many bytes a stream may have; as many as the disk holds unless given.

    Raises:
        SourceError: There is no such file, or it cannot be read.
    """
    if hasattr(source, "read"):
        label = label_open_file(source)
        copy = _copy(engine, source, label, engine.new_path(""), most_copied)
        return SourceFiles({copy: label}, label)
    found: dict[tuple[int, int], str] = {}  # a file that is named twice is read once
    for path in expand_paths(source):
        status = _check_file(path)
        found.setdefault((status.st_dev, status.st_ino), path)
    labels = {
        _make_readable(engine, path, most_copied): label_path(path) for path in found.values()
    }
    first = next(iter(labels.values()))
    others = "" if len(labels) == 1 else f" (or another of the {len(labels)} files)"
    return SourceFiles(labels, first + others)


def detect_format(files: SourceFiles, given: Format | None) -> Format:
    """Detect the format of all files, by their first bytes or else by their names.

    Raises:
        ParameterError: A format was given that is not known.
        SourceError: It cannot be told, or they have several.
    """
    if given is not None:
        if given not in FORMATS:
            raise ParameterError(f"The format of a source must be one of {', '.join(FORMATS)}.")
        return given
    formats = {_detect_by_content(path) or format_by_name(path) for path in files.paths}
    if len(formats) > 1:
        raise SourceError(f"{files.label}: the files must all have the same format.")
    (only,) = formats
    if only is None:
        raise SourceError(
            f"{files.label} does not tell its format by its name; say which of "
            f"{', '.join(FORMATS)} it is (format=, --source-format)."
        )
    return only


def _check_file(path: str) -> os.stat_result:
    if os.path.isdir(path):
        label = label_path(path)
        raise SourceError(f"{label} is a directory; name the files in it, as in '{label}/*.csv'.")
    return check_readable(path)


def _make_readable(engine: Engine, path: str, most_copied: int | None) -> str:
    """Give a file a path that DuckDB takes for no pattern; copy what can be read only once."""
    ends = [each.lower() for each in Path(path).suffixes[-2:]]  # such as .csv.gz
    ending = "".join(each for each in ends if each[1:].isalnum() and each.isascii())
    if not os.path.isfile(path):
        label = label_path(path)
        try:
            pipe = open(path, "rb")  # noqa: SIM115 - closed below, and its errors are another's
        except OSError as error:
            raise SourceError(f"{label} cannot be read: {error.strerror}.") from None
        with pipe:
            return _copy(engine, pipe, label, engine.new_path(ending), most_copied)
    if path.isascii() and path.isprintable() and not (glob.has_magic(path) or path[0] == "~"):
        return path
    link = engine.new_path(ending)
    try:
        link.symlink_to(os.path.abspath(path))
    except OSError:  # as on Windows, where not everybody may make one
        with open(path, "rb") as file:
            return _copy(engine, file, label_path(path), link, None)
    return str(link)


def _detect_by_content(path: str) -> Format | None:
    with open(path, "rb") as file:
        start = file.read(16)
    if start == b"SQLite format 3\0":
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    return "parquet" if start[:4] == b"PAR1" else None


def format_by_name(path: str) -> Format | None:
    """Detect the format by the end of a name; None if it shows none.

    >>> format_by_name("visits.csv.gz"), format_by_name("visits.txt")
    ('csv', None)
    """
    name = Path(path)
    if name.suffix.lower() == ".gz":
        name = name.with_suffix("")
    return _SUFFIXES.get(name.suffix.lower())


def _copy(engine: Engine, source: IO[bytes], label: str, path: Path, most: int | None) -> str:
    """Make a private copy on disk: a stream can be read only once, and only from its start."""
    copied = 0
    with open(path, "wb") as copy:
        for chunk in _read_chunks(source, label):
            copied += len(chunk)
            if most is not None and copied > most:
                raise SourceError(f"{label} has more than {most:,} bytes.")
            try:
                copy.write(chunk)
            except OSError:
                raise SourceError(f"{label} cannot be copied: there is no space left.") from None
            engine.report_progress(f"reading {label}", None)
    return str(path)


def _read_chunks(source: IO[bytes], label: str) -> Iterable[bytes]:
    while True:
        try:
            chunk = source.read(_CHUNK)
        except (OSError, ValueError):
            raise SourceError(f"{label} cannot be read.") from None
        if not isinstance(chunk, bytes):
            raise SourceError(f"{label} must be open for reading bytes.")
        if not chunk:
            return
        yield chunk
