"""A table or a query of a SQLite file, which is opened for reading alone."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import NamedTuple
from urllib.parse import quote as escape_path

from topgap.counting.engine import (
    Column,
    Engine,
    Table,
    locate_columns,
    quote_identifier,
)
from topgap.counting.extraction import QUERY_LABEL, Extraction, SourceColumns, choose_table
from topgap.counting.query_check import (
    Catalogue,
    check_counts,
    check_rows,
    check_view,
)
from topgap.counting.query_tree import UnparsedError
from topgap.counting.sqlite_dialect import is_portable_sql, to_portable_sql
from topgap.display.text import to_line
from topgap.domains.cell_text import to_text
from topgap.errors import SourceError
from topgap.sources.columns import repeated_column

_ROWS = 50_000
_STEPS = 100_000  # of SQLite's machine, some milliseconds
_DETERMINISTIC = 0x800  # SQLITE_DETERMINISTIC


def read_sqlite(engine: Engine, path: str, label: str, extraction: Extraction) -> Table:
    """Copy the wanted columns of a table or query of a SQLite file into DuckDB.

    In SQLite values have types, and columns have none. So all values are copied as text, by the
    rule of `cells`, and binary values as hexadecimal digits. SQLite may only read: it refuses a
    statement that would attach, write or change anything.

    Raises:
        SourceError: As of `read_duckdb`.
    """
    try:
        database = sqlite3.connect(f"file:{escape_path(path)}?mode=ro", uri=True)
    except sqlite3.Error:
        raise SourceError(f"{label} cannot be read as a SQLite file.") from None
    try:
        known = _read_sqlite_names(database)
        database.execute("PRAGMA trusted_schema = OFF")
        database.set_authorizer(_read_only)
        database.set_progress_handler(lambda: 0, _STEPS)  # so that signals are handled
        if extraction.query is None:
            name = choose_table([*known.names], extraction.table, label)
            if extraction.person is not None and name.lower() in known.catalogue.views:
                check_view(engine, name, extraction.person, known.catalogue)
            rows = _execute(database, f"SELECT * FROM {quote_identifier(name)}")
        else:
            query = extraction.query
            if extraction.person is not None:
                query = to_portable_sql(extraction.query)
                try:
                    check_rows(engine, extraction.query, extraction.person, known.catalogue)
                except UnparsedError:
                    raise SourceError(_NOT_PARSED) from None
            if extraction.counts:
                with suppress(UnparsedError):  # SQLite may know better, and it is the user's word
                    check_counts(engine, extraction.query)
            _execute(database, f"EXPLAIN {query}")  # which is one statement, and reads no row
            # SQLite computes the first row when it executes a query.
            rows = _execute(
                database, query if extraction.run else f"SELECT * FROM ({query}\n) LIMIT 0"
            )
        heads = [each[0] for each in rows.description]
        named = label if extraction.query is None else QUERY_LABEL
        for name in extraction.columns:
            if any(re.fullmatch(rf"{re.escape(name)}:\d+", each) for each in heads):
                raise repeated_column(named, name)  # which SQLite tells by a number after it
        places = locate_columns(
            extraction.columns, heads, named, names_are_schema=extraction.query is None
        )
        _copy_rows(engine, rows, places, label, is_query=extraction.query is not None)
    except sqlite3.Error:
        raise SourceError(f"{label} is not a SQLite file, is damaged, or is in use.") from None
    finally:
        database.close()
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(extraction.columns)}
    return Table(
        label, "carried", columns, names_are_schema=extraction.query is None, is_quick=True
    )


def list_sqlite_columns(path: str, label: str, table: str | None) -> SourceColumns:
    """List the columns of a table of a SQLite file, or its tables if none is named.

    Raises:
        SourceError: The file cannot be read, or has no such table.
    """
    try:
        database = sqlite3.connect(f"file:{escape_path(path)}?mode=ro", uri=True)
        with closing(database):
            names = _read_sqlite_names(database).names
            if table is None and len(names) != 1:
                return SourceColumns([], names)
            name = quote_identifier(choose_table(names, table, label))
            database.execute("PRAGMA trusted_schema = OFF")
            database.set_authorizer(_read_only)
            heads = database.execute(f"SELECT * FROM {name} LIMIT 0").description
    except sqlite3.Error:
        raise SourceError(f"{label} is not a SQLite file, is damaged, or is in use.") from None
    return SourceColumns([(head[0], None) for head in heads])


def _read_only(action: int, *_: str | None) -> int:
    """Allow SQLite to read, and nothing else."""
    allowed = {
        sqlite3.SQLITE_SELECT,
        sqlite3.SQLITE_READ,
        sqlite3.SQLITE_FUNCTION,
        sqlite3.SQLITE_RECURSIVE,
    }
    return sqlite3.SQLITE_OK if action in allowed else sqlite3.SQLITE_DENY


def _execute(database: sqlite3.Connection, query: str) -> sqlite3.Cursor:
    try:
        rows = database.execute(query)
    except sqlite3.Error as error:
        text = str(error)
        if "syntax error" in text or "incomplete input" in text:  # which quote the query alone
            raise SourceError(f"The query cannot be parsed: {to_line(text)}.") from None
        if isinstance(error, sqlite3.ProgrammingError) or "not authorized" in text:
            raise SourceError("The query must be one SELECT, and nothing else.") from None
        raise SourceError(_FAILED_IN_SQLITE) from None
    if rows.description is None:
        raise SourceError("The query must be one SELECT, and nothing else.")
    return rows


_NOT_PARSED = (
    "The query cannot be parsed by DuckDB, which checks queries of SQLite, too; write it so that "
    "both can, or confirm that each row comes from only one person's rows "
    "(rows_are_per_person=True, --rows-are-per-person)."
)


_FAILED_IN_SQLITE = (
    "The query cannot be run: SQLite cannot find a table, column or function that it names, or the "
    "data do not fit the query."
)


class _SqliteSchema(NamedTuple):
    """What a SQLite file has: its tables and views, and what names stand for."""

    names: Sequence[str]
    catalogue: Catalogue


def _read_sqlite_names(database: sqlite3.Connection) -> _SqliteSchema:
    rows = database.execute(
        "SELECT name, type, sql FROM sqlite_schema WHERE type IN ('table', 'view') "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    # Of 1 argument, min and max are aggregates; of more, they are not. Both are taken for such.
    functions = database.execute("SELECT name, type, flags FROM pragma_function_list").fetchall()
    aggregates = {name.lower() for name, kind, _ in functions if kind != "s"} | {"count_star"}
    by_row = {name.lower() for name, kind, flags in functions if flags & _DETERMINISTIC}
    columns = database.execute(
        "SELECT lower(c.name) FROM sqlite_schema AS s, pragma_table_info(s.name) AS c"
    ).fetchall()
    names = {name.lower() for name, *_ in rows} | {name for (name,) in columns}
    catalogue = Catalogue(
        tables=frozenset(name.lower() for name, *_ in rows),
        views={
            name.lower(): sql if is_portable_sql(sql, names) else ""
            for name, kind, sql in rows
            if kind == "view"
        },
        by_row=frozenset(by_row - aggregates),
        aggregates=frozenset(aggregates),
        others=frozenset(name.lower() for name, *_ in functions) - by_row - aggregates,
        places=frozenset({"rowid", "_rowid_", "oid"}),
    )
    return _SqliteSchema([name for name, *_ in rows], catalogue)


def _copy_rows(
    engine: Engine,
    rows: sqlite3.Cursor,
    places: Sequence[int],
    label: str,
    *,
    is_query: bool,
) -> None:
    import numpy as np

    columns = ", ".join(f"w{n} VARCHAR" for n in range(len(places)))
    engine.run(f"CREATE TEMP TABLE carried ({columns})", label=label)
    while batch := _next_rows(rows, is_query=is_query):
        texts = [[_cell_text(row[place]) for row in batch] for place in places]
        arrays = {f"w{n}": np.array(column, dtype=object) for n, column in enumerate(texts)}
        engine.connection.register("batch", arrays)
        engine.run("INSERT INTO carried SELECT * FROM batch", label=label)
        engine.connection.unregister("batch")
        engine.report_progress("reading", None)


def _next_rows(rows: sqlite3.Cursor, *, is_query: bool) -> list[tuple[object, ...]]:
    try:
        return rows.fetchmany(_ROWS)
    except sqlite3.Error:
        if not is_query:
            raise
        raise SourceError(_FAILED_IN_SQLITE) from None


def _cell_text(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.hex()
    return None if cell is None or cell != cell else to_text(cell)
