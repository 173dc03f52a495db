"""A table or a query of a DuckDB or SQLite file, which is opened for reading alone."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import quote as escape_path

from topgap.counting.cells import is_text, to_text
from topgap.counting.engine import (
    Column,
    Engine,
    Table,
    locate_columns,
    quote_identifier,
    quote_literal,
)
from topgap.counting.query_check import (
    Catalogue,
    UnparsedError,
    check_counts,
    check_rows,
    check_view,
    rewrite_query,
)
from topgap.counting.sqlite_dialect import is_portable_sql, to_portable_sql
from topgap.display.text import to_line
from topgap.errors import SourceError
from topgap.sources.columns import quote, repeated_column

_ROWS = 50_000
_STEPS = 100_000  # of SQLite's machine, some milliseconds
_QUERY = "What the query selects"


class Extraction(NamedTuple):
    """What of a database is read.

    Attributes:
        columns: The columns that are wanted.
        table: The table or view, if it is named.
        query: The SELECT to ask instead.
        person: The column that identifies the person, if rows are to come from one person alone;
            None if they are of nobody, or if the user has said that they do.
        run: Whether the query is run; otherwise it is only seen that it can be.
        counts: Whether a query computes counts.
    """

    columns: Sequence[str]
    table: str | None = None
    query: str | None = None
    person: str | None = None
    run: bool = True
    counts: bool = False


def read_duckdb(engine: Engine, path: str, label: str, extraction: Extraction) -> Table:
    """The table of a DuckDB file that is named, or that a query gives.

    Once the file is attached, nothing else can be read or written: no file, extension or setting.

    Raises:
        SourceError: The file cannot be read, or has no such table, or the query cannot be run, or
            its rows may depend on more than one person.
    """
    engine.run(f"ATTACH {quote_literal(path)} AS source (READ_ONLY)", label=label)
    engine.lock()
    names = {_qualify(s, n): (s, n) for s, n in _tables_and_views(engine, label)}
    if extraction.query is None:
        chosen = _choose_table([*names], extraction.table, label)
        schema, name = names[chosen]
        known = _read_duckdb_catalogue(engine, label)
        if extraction.person is not None and chosen.lower() in known.views:
            check_view(engine, chosen, extraction.person, known)
        found = engine.describe(
            label, f"source.{quote_identifier(schema)}.{quote_identifier(name)}"
        )
        return replace(found, columns={n: _drop_collation(c) for n, c in found.columns.items()})

    # What a query gives may be another thing each time, and names in it are those of its database:
    # so it is run once, and what it gave is counted elsewhere.
    query = rewrite_query(engine, extraction.query)
    if extraction.person is not None:
        check_rows(engine, query, extraction.person, _read_duckdb_catalogue(engine, label))
    if extraction.counts:
        check_counts(engine, query)
    engine.run("USE source", label=label)
    try:
        selected = replace(engine.describe(_QUERY, f"({query})"), names_are_schema=False)
        # DuckDB invents names for those that come twice, but not here.
        rows = engine.run(f"DESCRIBE {query}", label=_QUERY)
    except SourceError:
        raise SourceError(
            f"The query cannot be run: {label} lacks a table, column or function that it names, or "
            f"its types do not fit together; try it in DuckDB itself, and put texts in single "
            f"quotes."
        ) from None
    locate_columns(extraction.columns, [name for name, *_ in rows], _QUERY, names_are_schema=False)
    columns = [selected.column(name) for name in extraction.columns]
    cells = ", ".join(f"{_drop_collation(each).cell} AS w{n}" for n, each in enumerate(columns))
    engine.run(
        f"CREATE TEMP TABLE carried AS SELECT {cells} FROM {selected.relation} "
        f"WHERE {extraction.run}",
        label=_QUERY,
        fallback=_FAILED,
    )
    engine.run("USE memory", label=label)
    carried = {name: Column(f"w{n}", columns[n].kind) for n, name in enumerate(extraction.columns)}
    return Table(label, "temp.carried", carried, names_are_schema=False)


_FAILED = "The query failed while it ran, such as by a cast of what cannot be cast; try TRY_CAST."


def _tables_and_views(engine: Engine, label: str) -> list[tuple[str, str]]:
    """The tables and views of a DuckDB file, each with its schema before it."""
    rows: list[tuple[str, str]] = engine.run(
        "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
        "UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
        "WHERE database_name = 'source' AND NOT internal ORDER BY ALL",
        label=label,
    )
    return rows


def _qualify(schema: str, name: str) -> str:
    """The name of a table, with that of its schema before it if this is not the usual one."""
    return name if schema == "main" else f"{schema}.{name}"


def _read_duckdb_catalogue(engine: Engine, label: str) -> Catalogue:
    views = engine.run(
        "SELECT schema_name, view_name, sql FROM duckdb_views() "
        "WHERE database_name = 'source' AND NOT internal",
        label=label,
    )
    kinds: dict[str, set[str]] = {}
    macros: dict[str, list[str]] = {}
    for name, kind, definition in engine.run(
        "SELECT lower(function_name), CASE stability WHEN 'VOLATILE' THEN 'volatile' "
        "ELSE function_type END, macro_definition FROM duckdb_functions()",
        label=label,
    ):
        kinds.setdefault(kind, set()).add(name)
        if kind == "macro":
            macros.setdefault(name, []).append(definition)
    return Catalogue(
        tables=frozenset(_qualify(*each).lower() for each in _tables_and_views(engine, label)),
        views={_qualify(schema, name).lower(): sql for schema, name, sql in views},
        by_row=frozenset(kinds["scalar"]),
        aggregates=frozenset(kinds["aggregate"]),
        macros=macros,
        others=frozenset(kinds["volatile"]),
    )


def _drop_collation(column: Column) -> Column:
    """The column without the collation that a table may have, by which other texts are equal."""
    return replace(column, cell=f"({column.cell} COLLATE C)") if is_text(column.kind) else column


def read_sqlite(engine: Engine, path: str, label: str, extraction: Extraction) -> Table:
    """The wanted columns of a table or query of a SQLite file, carried over into DuckDB.

    In SQLite a value has a type, and its column has none: all is carried over as text, by the rule
    of `cells`, and binary values as their hexadecimal digits. SQLite is told to do nothing but to
    read: a statement that would attach, write or change anything is refused by itself.

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
        database.set_progress_handler(lambda: 0, _STEPS)  # a signal is heard in it
        if extraction.query is None:
            name = _choose_table([*known.names], extraction.table, label)
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
            # SQLite looks for the first row when it is asked.
            rows = _execute(
                database, query if extraction.run else f"SELECT * FROM ({query}\n) LIMIT 0"
            )
        heads = [each[0] for each in rows.description]
        named = label if extraction.query is None else _QUERY
        for name in extraction.columns:
            if any(re.fullmatch(rf"{re.escape(name)}:\d+", each) for each in heads):
                raise repeated_column(named, name)  # which SQLite tells by a number after it
        places = locate_columns(
            extraction.columns, heads, named, names_are_schema=extraction.query is None
        )
        _copy_rows(engine, rows, places, label, is_query=extraction.query is not None)
    except sqlite3.Error:
        raise SourceError(f"{label} is no SQLite file, or damaged, or in use.") from None
    finally:
        database.close()
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(extraction.columns)}
    return Table(label, "carried", columns, names_are_schema=extraction.query is None)


def _read_only(action: int, *_: str | None) -> int:
    """Whether SQLite may do this: it may read, and nothing else."""
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
    "both can, or vouch that each row comes from one person's rows alone "
    "(rows_are_per_person=True, --rows-are-per-person)."
)
_FAILED_IN_SQLITE = (
    "The query cannot be run: SQLite does not find a table, column or function that it names, or "
    "its data do not fit it."
)


class _Known(NamedTuple):
    """What a SQLite file has: its tables and views, and what names stand for."""

    names: Sequence[str]
    catalogue: Catalogue


def _read_sqlite_names(database: sqlite3.Connection) -> _Known:
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
    return _Known([name for name, *_ in rows], catalogue)


_DETERMINISTIC = 0x800  # SQLITE_DETERMINISTIC


def _choose_table(names: Sequence[str], table: str | None, label: str) -> str:
    """The table that was named; if none was, the only one there is."""
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return str(table)
    shown = ", ".join(map(quote, names[:8])) + (", …" if len(names) > 8 else "")
    has = f"it has {shown}" if names else "it has none"
    if table is None:
        raise SourceError(f"Say which table of {label} is meant; {has}.")
    raise SourceError(f"{label} has no table {quote(table)}; {has}.")


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
