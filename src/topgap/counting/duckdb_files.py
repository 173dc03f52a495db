"""A table or a query of a DuckDB file, which is opened for reading alone."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from topgap.counting.cells import is_text
from topgap.counting.engine import (
    Column,
    Engine,
    Table,
    locate_columns,
    quote_identifier,
    quote_literal,
)
from topgap.counting.extraction import QUERY_LABEL, Extraction, SourceColumns, choose_table
from topgap.counting.query_check import (
    Catalogue,
    check_counts,
    check_rows,
    check_view,
)
from topgap.counting.query_tree import rewrite_query
from topgap.errors import SourceError

_Run = Callable[[str], Any]


def read_duckdb(engine: Engine, path: str, label: str, extraction: Extraction) -> Table:
    """Read a table, a view or a query of a DuckDB file.

    Once the file is attached, nothing else can be read or written: no file, extension or setting.

    Raises:
        SourceError: The file cannot be read, or has no such table, or the query cannot be run, or
            its rows may depend on more than one person.
    """
    engine.run(f"ATTACH {quote_literal(path)} AS source (READ_ONLY)", label=label)
    engine.lock()

    def run(sql: str) -> Any:
        return engine.run(sql, label=label)

    names = {_qualify(s, n): (s, n) for s, n in _list_tables(run, "source")}
    if extraction.query is None:
        chosen = choose_table([*names], extraction.table, label)
        schema, name = names[chosen]
        known = read_duckdb_catalogue(run, "source")
        if extraction.person is not None and chosen.lower() in known.views:
            check_view(engine, chosen, extraction.person, known)
        described = engine.describe(
            label, f"source.{quote_identifier(schema)}.{quote_identifier(name)}"
        )
        uncollated = {n: _drop_collation(c) for n, c in described.columns.items()}
        return replace(described, columns=uncollated)

    # A query may give other rows each time, and its names are those of its database. So it is run
    # once, and its rows are counted outside of the database.
    query = rewrite_query(engine, extraction.query)
    if extraction.person is not None:
        check_rows(engine, query, extraction.person, read_duckdb_catalogue(run, "source"))
    if extraction.counts:
        check_counts(engine, query)
    engine.run("USE source", label=label)
    try:
        selected = replace(engine.describe(QUERY_LABEL, f"({query})"), names_are_schema=False)
        # DuckDB invents names for those that come twice, but not here.
        rows = engine.run(f"DESCRIBE {query}", label=QUERY_LABEL)
    except SourceError:
        raise SourceError(
            f"The query cannot be run: {label} lacks a table, column or function that it names, or "
            f"its types do not match; try the query in DuckDB itself, and put text in "
            f"single quotes."
        ) from None
    locate_columns(
        extraction.columns, [name for name, *_ in rows], QUERY_LABEL, names_are_schema=False
    )
    columns = [selected.column(name) for name in extraction.columns]
    cells = ", ".join(f"{_drop_collation(each).cell} AS w{n}" for n, each in enumerate(columns))
    engine.run(
        f"CREATE TEMP TABLE carried AS SELECT {cells} FROM {selected.relation} "
        f"WHERE {extraction.run}",
        label=QUERY_LABEL,
        fallback=_FAILED,
    )
    engine.run("USE memory", label=label)
    carried = {name: Column(f"w{n}", columns[n].kind) for n, name in enumerate(extraction.columns)}
    return Table(label, "temp.carried", carried, names_are_schema=False, is_quick=True)


def list_duckdb_columns(engine: Engine, path: str, label: str, table: str | None) -> SourceColumns:
    """List the columns of a table of a DuckDB file, or its tables if none is named.

    Raises:
        SourceError: The file cannot be read, or has no such table.
    """
    engine.run(f"ATTACH {quote_literal(path)} AS source (READ_ONLY)", label=label)
    engine.lock()
    found = _list_tables(lambda sql: engine.run(sql, label=label), "source")
    names = {_qualify(s, n): (s, n) for s, n in found}
    if table is None and len(names) != 1:
        return SourceColumns([], [*names])
    schema, name = names[choose_table([*names], table, label)]
    described = engine.describe(
        label, f"source.{quote_identifier(schema)}.{quote_identifier(name)}"
    )
    return SourceColumns([(each, c.kind) for each, c in described.columns.items()])


_FAILED = (
    "The query failed while it ran, such as in a cast of a value that cannot be cast; try TRY_CAST."
)


def _list_tables(run: _Run, database: str) -> list[tuple[str, str]]:
    """List the tables and views of a database of DuckDB, each with its schema before it."""
    there = f"database_name IN ({quote_literal(database)}, 'temp')"
    rows: list[tuple[str, str]] = run(
        f"SELECT schema_name, table_name FROM duckdb_tables() WHERE {there} "
        f"UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
        f"WHERE {there} AND NOT internal ORDER BY ALL"
    )
    return rows


def _qualify(schema: str, name: str) -> str:
    """Put the schema before the name of a table, unless it is the default schema."""
    return name if schema == "main" else f"{schema}.{name}"


def read_duckdb_catalogue(run: _Run, database: str) -> Catalogue:
    """Read what the names in a query can stand for.

    Args:
        run: Runs SQL, and returns all rows.
        database: The name of the database; what is temporary hides what it has.
    """
    views = run(
        f"SELECT schema_name, view_name, sql FROM duckdb_views() WHERE NOT internal "
        f"AND database_name IN ({quote_literal(database)}, 'temp') ORDER BY database_name = 'temp'"
    )
    kinds: dict[str, set[str]] = {}
    macros: dict[str, list[str]] = {}
    for name, kind, definition in run(
        "SELECT lower(function_name), CASE stability WHEN 'VOLATILE' THEN 'volatile' "
        "ELSE function_type END, macro_definition FROM duckdb_functions()"
    ):
        kinds.setdefault(kind, set()).add(name)
        if kind == "macro":
            macros.setdefault(name, []).append(definition)
    return Catalogue(
        tables=frozenset(_qualify(*each).lower() for each in _list_tables(run, database)),
        views={_qualify(schema, name).lower(): sql for schema, name, sql in views},
        by_row=frozenset(kinds["scalar"]),
        aggregates=frozenset(kinds["aggregate"]),
        macros=macros,
        others=frozenset(kinds["volatile"]),
    )


def _drop_collation(column: Column) -> Column:
    """Remove a collation of the table, by which other texts would be equal."""
    return replace(column, cell=f"({column.cell} COLLATE C)") if is_text(column.kind) else column
