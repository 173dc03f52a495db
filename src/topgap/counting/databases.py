"""A table or a query of a DuckDB or SQLite file, which is opened for reading alone."""

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import quote

from topgap.counting.cells import is_text, text_of
from topgap.counting.engine import Engine
from topgap.counting.tables import (
    Column,
    Table,
    described,
    identifier,
    literal,
    more_than_one,
    places_of,
    quoted,
)
from topgap.errors import SourceError

_ROWS = 50_000
_ASKED = "What the query selects"


def read_duckdb(
    engine: Engine,
    path: str,
    label: str,
    wanted: Sequence[str],
    table: str | None,
    query: str | None,
) -> Table:
    """The table of a DuckDB file that is named, or that a query gives.

    Raises:
        SourceError: The file cannot be read, or has no such table, or the query cannot be run.
    """
    engine.run(f"ATTACH {literal(path)} AS source (READ_ONLY)", of=label)
    if query is None:
        rows = engine.run(
            "SELECT schema_name, table_name FROM duckdb_tables() WHERE database_name = 'source' "
            "UNION ALL SELECT schema_name, view_name FROM duckdb_views() "
            "WHERE database_name = 'source' AND NOT internal ORDER BY ALL",
            of=label,
        )
        names = {n if s == "main" else f"{s}.{n}": (s, n) for s, n in rows}
        schema, name = names[_chosen([*names], table, label)]
        found = described(engine, label, f"source.{identifier(schema)}.{identifier(name)}")
        return replace(found, columns={n: _uncollated(c) for n, c in found.columns.items()})

    # What a query gives may be another thing each time, and names in it are those of its database:
    # so it is run once, and what it gave is counted elsewhere.
    engine.run("USE source", of=label)
    asked = described(engine, _ASKED, f"({_one_select(query)}\n)", query)
    # DuckDB invents names for those that come twice, but not here.
    rows = engine.run(f"DESCRIBE {_one_select(query)}", of=_ASKED)
    places_of(wanted, [name for name, *_ in rows], _ASKED, typed=False)
    columns = [asked.column(name) for name in wanted]
    cells = ", ".join(f"{_uncollated(each).cell} AS w{n}" for n, each in enumerate(columns))
    engine.run(f"CREATE TEMP TABLE carried AS SELECT {cells} FROM {asked.relation}", of=label)
    engine.run("USE memory", of=label)
    carried = {name: Column(f"w{n}", columns[n].kind) for n, name in enumerate(wanted)}
    return Table(label, "temp.carried", carried, typed=False)


def _uncollated(column: Column) -> Column:
    """The column without the collation that a table may have, by which other texts are equal."""
    return replace(column, cell=f"({column.cell} COLLATE C)") if is_text(column.kind) else column


def read_sqlite(
    engine: Engine,
    path: str,
    label: str,
    wanted: Sequence[str],
    table: str | None,
    query: str | None,
) -> Table:
    """The wanted columns of a table or query of a SQLite file, carried over into DuckDB.

    In SQLite a value has a type, and its column has none: all is carried over as text, by the rule
    of `cells`, and binary values as their hexadecimal digits.

    Raises:
        SourceError: The file cannot be read, or has no such table or columns, or the query cannot
            be run.
    """
    try:
        database = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True)
    except sqlite3.Error:
        raise SourceError(f"{label} cannot be read as a SQLite file.") from None
    try:
        if query is not None:
            relation = f"({_one_select(query)}\n)"
        else:
            rows = database.execute(
                "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') "
                "AND name NOT LIKE 'sqlite_%' ORDER BY name"
            )
            relation = identifier(_chosen([name for (name,) in rows], table, label))
        try:
            head = database.execute(f"SELECT * FROM {relation} LIMIT 0").description
        except sqlite3.Error as error:
            if query is None:
                raise
            raise SourceError(f"The query cannot be run: {error}.") from None
        empty = Column("NULL", "NULL")
        named = label if query is None else _ASKED
        seen = Table(named, relation, {each[0]: empty for each in head}, typed=query is None)
        for name in wanted:
            seen.column(name)
            if any(re.fullmatch(rf"{re.escape(name)}:\d+", each[0]) for each in head):
                raise more_than_one(named, name)  # which SQLite tells by a number after it
        cells = ", ".join(map(identifier, wanted))
        _carry(engine, database.execute(f"SELECT {cells} FROM {relation}"), len(wanted), label)
    except sqlite3.Error:
        raise SourceError(f"{label} is no SQLite file, or damaged, or in use.") from None
    finally:
        database.close()
    columns = {name: Column(f"w{n}", "VARCHAR") for n, name in enumerate(wanted)}
    return Table(label, "carried", columns, typed=query is None)


def _chosen(names: Sequence[str], table: str | None, label: str) -> str:
    """The table that was named; if none was, the only one there is."""
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return str(table)
    shown = ", ".join(map(quoted, names[:8])) + (", …" if len(names) > 8 else "")
    has = f"it has {shown}" if names else "it has none"
    if table is None:
        raise SourceError(f"Say which table of {label} is meant; {has}.")
    raise SourceError(f"{label} has no table {quoted(table)}; {has}.")


def _one_select(query: str) -> str:
    return query.strip().rstrip(";")


def _carry(engine: Engine, rows: sqlite3.Cursor, width: int, label: str) -> None:
    import numpy as np

    columns = ", ".join(f"w{n} VARCHAR" for n in range(width))
    engine.run(f"CREATE TEMP TABLE carried ({columns})", of=label)
    while batch := rows.fetchmany(_ROWS):
        texts = [[_text(cell) for cell in column] for column in zip(*batch, strict=True)]
        arrays = {f"w{n}": np.array(column, dtype=object) for n, column in enumerate(texts)}
        engine.connection.register("batch", arrays)
        engine.run("INSERT INTO carried SELECT * FROM batch", of=label)
        engine.connection.unregister("batch")
        engine.tell("reading", None)


def _text(cell: object) -> str | None:
    if isinstance(cell, bytes):
        return cell.hex()
    return None if cell is None or cell != cell else text_of(cell)
