"""Sources: which files a source means, their format, and how its table is opened."""

from collections.abc import Sequence
from typing import Any

from topgap.counting.data_frames import read_frame, refuse_spark
from topgap.counting.database_addresses import find_engine_file
from topgap.counting.databases import is_database, read_database
from topgap.counting.duckdb_files import read_duckdb
from topgap.counting.engine import Column, Engine, Table
from topgap.counting.extraction import Extraction
from topgap.counting.parquet import read_parquet_files
from topgap.counting.source_files import (
    WORKBOOKS,
    Format,
    SourceFiles,
    decode_files,
    detect_format,
    find_files,
)
from topgap.counting.spreadsheets import read_workbook
from topgap.counting.sqlite_files import read_sqlite
from topgap.counting.text_files import (
    build_lines_sql,
    read_delimited,
    read_json_lines,
    refuse_long_lines,
)
from topgap.errors import ParameterError, SourceError
from topgap.sources.paths import is_path


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
    encoding: str | None = None,
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
        table: The table of a database, or the sheet of a workbook.
        query: A SELECT to ask of it instead.
        person: The column that identifies persons, if it must be checked that each row of a query
            or view comes from one person's rows alone.
        header: Whether CSV and TSV files have names in their first lines.
        delimiter: What stands between the cells of a CSV file.
        encoding: The encoding of text files; UTF-8 unless given, or told by a mark.
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
        if encoding is not None:
            raise ParameterError(
                "A database states its own encoding; leave encoding (--encoding) out."
            )
        opened = read_database(engine, source, extraction)
        wanted = [*opened.columns]
    elif count_in_database:
        raise ParameterError(
            "Only PostgreSQL can count in the database (count_in_database, --count-in-database); "
            "leave it out."
        )
    elif not _is_file(source):
        if table is not None or query is not None:
            raise ParameterError("A data frame takes neither a table nor a query; leave them out.")
        if encoding is not None:
            raise ParameterError(
                "Only text files have an encoding; leave encoding (--encoding) out."
            )
        opened = read_frame(engine, source, wanted)
    else:
        files = find_files(engine, source, most_copied)
        form = detect_format(files, form)
        if form in {"csv", "tsv", "jsonl"}:
            files = decode_files(engine, files, encoding)
        elif encoding is not None:
            raise ParameterError(
                "Only text files have an encoding; leave encoding (--encoding) out."
            )
        if form in {"duckdb", "sqlite"}:
            opened = _open_database(engine, files, form, extraction)
        elif query is not None or (table is not None and form not in WORKBOOKS):
            raise ParameterError(
                "Only a database has a table or a query (a DuckDB or SQLite file, or PostgreSQL), "
                "and only a workbook has a sheet; leave them out."
            )
        elif form in WORKBOOKS:
            opened = read_workbook(engine, files, wanted, sheet=table, header=header)
        else:
            opened = _open_files(engine, files, form, wanted, header=header, delimiter=delimiter)
    for name in wanted:
        opened.column(name)
    return opened


def open_lines(engine: Engine, source: Any, encoding: str | None = None) -> Table:
    """Open the lines of text files, in the column `line`.

    Raises:
        SourceError: They cannot be read.
    """
    if not _is_file(source):
        raise SourceError("Transactions are read only from files.")
    files = decode_files(engine, find_files(engine, source), encoding)
    for path, label in files.labels.items():
        refuse_long_lines(path, label)
    columns = {"line": Column("line", "VARCHAR")}
    return Table(files.label, build_lines_sql(files.paths), columns, names_are_schema=False)


def _open_database(
    engine: Engine, files: SourceFiles, form: Format, extraction: Extraction
) -> Table:
    if extraction.table is not None and extraction.query is not None:
        raise ParameterError("Give a table or a query, not both.")
    if len(files.labels) > 1:
        raise SourceError("Only one database can be read at a time.")
    read = read_duckdb if form == "duckdb" else read_sqlite
    return read(engine, files.paths[0], files.label, extraction)


def _open_files(
    engine: Engine,
    files: SourceFiles,
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
            "The FIMI format has no columns: each line holds the items of one person."
        )
    return read_delimited(
        files.labels, files.label, form, wanted, header=header, delimiter=delimiter
    )


def _is_file(source: Any) -> bool:
    several = isinstance(source, list | tuple) and all(map(is_path, source))
    return is_path(source) or several or hasattr(source, "read")
