"""A table, a view or a query of PostgreSQL, which is read in a transaction that changes nothing.

Only the wanted columns leave the server, as Arrow, and only different rows of them if the server
expects that to be much less. Or the server counts them itself.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from topgap.counting.cells import build_item_sql, is_text
from topgap.counting.database_session import Session, create_empty_table
from topgap.counting.engine import (
    Column,
    Engine,
    Table,
    locate_columns,
    quote_identifier,
)
from topgap.counting.extraction import QUERY_LABEL, Extraction, SourceColumns, choose_table
from topgap.counting.postgresql_catalogue import (
    check_merging,
    check_portable,
    read_catalogue,
    read_relations,
    rewrite_lists,
)
from topgap.counting.postgresql_columns import ServerType, build_normal_sql, build_sent_sql
from topgap.counting.query_check import check_counts, check_rows, check_view
from topgap.counting.query_tree import UnparsedError
from topgap.errors import SourceError
from topgap.sources.columns import quote

COUNT = ""
"""The name of the column of what the server counted; no column of a database has it."""

_SETTINGS = {
    "client_encoding": "UTF8",
    "DateStyle": "ISO, YMD",
    "TimeZone": "UTC",
    "IntervalStyle": "postgres",
    "extra_float_digits": "1",
    "standard_conforming_strings": "on",
    "transform_null_equals": "off",
}
_NOT_PARSED = (
    "The query cannot be parsed by DuckDB, which checks queries of PostgreSQL, too; write it so "
    "that both can, or confirm that each row comes from only one person's rows "
    "(rows_are_per_person=True, --rows-are-per-person)."
)
_UNKNOWN = 200  # so many values the planner expects of a column of which it knows nothing
_BASE_TYPES = """
    WITH RECURSIVE base(place, oid) AS (
        SELECT place, oid FROM (VALUES {values}) AS given(place, oid)
        UNION ALL SELECT place, t.typbasetype FROM base JOIN pg_type AS t USING (oid)
            WHERE t.typtype = 'd')
    SELECT t.typname::text, t.typtype::text, t.typnamespace <> 'pg_catalog'::regnamespace
    FROM base JOIN pg_type AS t USING (oid) WHERE t.typtype <> 'd' ORDER BY place
"""

_Build = Callable[[str, ServerType], str | None]


class _Source(NamedTuple):
    """What is read: SQL for what stands after FROM, what an error calls it, and its columns."""

    relation: str
    label: str
    names: Sequence[str]


def read_postgresql(engine: Engine, session: Session, extraction: Extraction) -> Table:
    """Copy the wanted columns of a table, a view or a query into DuckDB, or their counts.

    Raises:
        SourceError: There is no such table or column, or the query cannot be run, or its rows may
            depend on more than one person, or the connection is lost.
    """
    session.run("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
    settings = dict(_SETTINGS)
    if extraction.person is not None:
        settings["row_security"] = "off"  # an error instead of rows that are hidden
    calls = [f"set_config('{name}', '{value}', true)" for name, value in settings.items()]
    session.read_rows(f"SELECT {', '.join(calls)}")
    find = _find_table if extraction.query is None else _find_query
    source = find(engine, session, extraction)
    is_query = extraction.query is not None
    locate_columns(extraction.columns, source.names, source.label, names_are_schema=not is_query)
    kinds = _read_types(session, source.relation, extraction.columns)
    if extraction.count_there:
        return _read_counts(engine, session, source, extraction, kinds)
    sent = _build_cells(extraction.columns, kinds, source.label, build_sent_sql)
    if extraction.run:
        session.copy_rows(_select_rows(session, source, extraction, sent), "carried")
    else:
        kinds_sent = [each.duckdb_kind for each in kinds]
        create_empty_table(engine, "carried", kinds_sent, session.label)
    return _describe(engine, source, extraction, kinds)


def list_postgresql_columns(session: Session, table: str | None) -> SourceColumns:
    """List the columns of a table or view, or the tables and views if there are several.

    Raises:
        SourceError: There is no such table, or the connection is lost.
    """
    session.run("BEGIN TRANSACTION READ ONLY")
    relations = read_relations(session)
    if table is None and len(relations.shown) != 1:
        return SourceColumns([], relations.shown)
    known = table is not None and table in relations.sql
    name = str(table) if known else choose_table(relations.shown, table, session.label)
    names = session.read_names(f"SELECT * FROM {relations.sql[name]}")
    kinds = _read_types(session, relations.sql[name], names)
    return SourceColumns([(each, kind.name) for each, kind in zip(names, kinds, strict=True)])


def _find_table(engine: Engine, session: Session, extraction: Extraction) -> _Source:
    relations = read_relations(session)
    is_full = extraction.table is not None and extraction.table in relations.sql
    name = (
        str(extraction.table)
        if is_full
        else choose_table(relations.shown, extraction.table, session.label)
    )
    relation = relations.sql[name]
    if extraction.person is not None and relation not in relations.plain:
        known = read_catalogue(session, relations)
        check_view(engine, name, extraction.person, known)
        check_merging(session, known.views.values())
    names = session.read_names(f"SELECT * FROM {relation}")
    return _Source(relation, session.label, names)


def _find_query(engine: Engine, session: Session, extraction: Extraction) -> _Source:
    query = str(extraction.query).strip().rstrip(";").rstrip()
    if extraction.person is not None:
        known = read_catalogue(session, read_relations(session))
        check_portable(session, query, known.views.values())
        try:
            check_rows(engine, rewrite_lists(query), extraction.person, known)
        except UnparsedError:
            raise SourceError(_NOT_PARSED) from None
    if extraction.counts:
        with suppress(UnparsedError):  # PostgreSQL may know better, and it is the user's word
            check_counts(engine, query)
    names = session.read_names(query)  # which is one statement, and is not run
    if not names:
        raise SourceError("The query must be one SELECT, and nothing else.")
    lower = [each.lower() for each in names]
    if extraction.person is not None and lower.count(extraction.person.lower()) > 1:
        raise SourceError(
            f"{QUERY_LABEL} has columns that differ from {quote(extraction.person)} only by upper "
            f"and lower case; give them other names."
        )
    return _Source(f"({query}\n) AS selected", QUERY_LABEL, names)


def _read_types(session: Session, relation: str, columns: Sequence[str]) -> list[ServerType]:
    """Read the types of columns, without reading a row."""
    types = ", ".join(f"pg_typeof(r.{quote_identifier(each)})::oid::int8" for each in columns)
    (oids,) = session.read_rows(
        f"SELECT {types} FROM (SELECT) AS one LEFT JOIN (SELECT * FROM {relation}) AS r ON false"
    )
    values = ", ".join(f"({place}, {oid}::oid)" for place, oid in enumerate(oids))
    return [ServerType(*row) for row in session.read_rows(_BASE_TYPES.format(values=values))]


def _build_cells(
    columns: Sequence[str], kinds: Sequence[ServerType], label: str, build: _Build
) -> list[str]:
    cells = []
    for name, kind in zip(columns, kinds, strict=True):
        cell = build(quote_identifier(name), kind)
        if cell is None:
            raise SourceError(
                f"{label} has a column {quote(name)} of a type that cannot be used here "
                f"({kind.name}); cast it to text in a query."
            )
        cells.append(cell)
    return cells


def _select_rows(
    session: Session, source: _Source, extraction: Extraction, sent: Sequence[str]
) -> str:
    """Write the SELECT for the cells: for different rows of them, if they are events."""
    cells = ", ".join(f"{cell} AS w{n}" for n, cell in enumerate(sent))
    if extraction.counts:  # an item that comes twice must be seen to
        return f"SELECT {cells} FROM {source.relation}"
    rows = f"{cells} FROM {source.relation} WHERE {_are_present(extraction.columns)}"
    return f"SELECT {'DISTINCT ' if _has_few_rows(session, source, sent) else ''}{rows}"


def _are_present(columns: Sequence[str]) -> str:
    return " AND ".join(f"{quote_identifier(each)} IS NOT NULL" for each in columns)


def _has_few_rows(session: Session, source: _Source, sent: Sequence[str]) -> bool:
    """Whether the server's statistics show that different rows are less than half of all.

    They are at most as many as the product of the columns' different values. What the planner
    expects of several columns together is a guess, and often far too low.
    """
    rows = _estimate_rows(session, f"SELECT 1 FROM {source.relation}")
    most = 1.0
    for cell in sent:
        different = _estimate_rows(session, f"SELECT DISTINCT {cell} FROM {source.relation}")
        if different == _UNKNOWN:
            return False
        most *= different
    return 2 * most < rows


def _estimate_rows(session: Session, query: str) -> float:
    """How many rows the server's planner expects; it runs nothing."""
    ((plan,),) = session.read_rows(f"EXPLAIN (FORMAT JSON) {query}")
    parsed = json.loads(plan) if isinstance(plan, str) else plan
    return float(parsed[0]["Plan"]["Plan Rows"])


def _read_counts(
    engine: Engine,
    session: Session,
    source: _Source,
    extraction: Extraction,
    kinds: Sequence[ServerType],
) -> Table:
    """Let the server count the distinct persons, in the first column, of the items in the others.

    A text that the rule of `cells` would change again is left out. All others are told apart by
    that rule as by their bytes, so that no two counts are ever added up.
    """
    if any(each.is_text for each in kinds):
        _require_unicode(session)
    normal = _build_cells(extraction.columns, kinds, source.label, build_normal_sql)
    sent = [each.duckdb_kind for each in kinds]
    for name, kind in zip(extraction.columns[1:], sent[1:], strict=True):
        if build_item_sql("item", kind) is None:
            raise SourceError(f"{source.label} has a column {quote(name)} that names no items.")
    if extraction.run:
        session.copy_rows(_select_counts(source, extraction.columns, normal), "sent")
    else:
        create_empty_table(engine, "sent", [*sent[1:], "BIGINT"], session.label)
    width = len(kinds) - 1
    unchanged = " AND ".join(
        f"({build_item_sql(f'w{n}', 'VARCHAR')}) IS NOT DISTINCT FROM w{n}"
        for n, kind in enumerate(sent[1:])
        if is_text(kind)
    )
    engine.run(
        f"CREATE TEMP TABLE carried AS SELECT * FROM sent WHERE {unchanged or 'true'}",
        label=session.label,
    )
    columns = {
        name: Column(f"w{n}", kinds[n + 1].counted_kind)
        for n, name in enumerate(extraction.columns[1:])
    }
    columns[COUNT] = Column(f"w{width}", "BIGINT")
    return Table(session.label, "carried", columns, extraction.query is None, is_quick=True)


def _select_counts(source: _Source, columns: Sequence[str], normal: Sequence[str]) -> str:
    """Write the SELECT that counts: cells first become what they mean, and then are counted."""
    cells = ", ".join(f"{cell} AS k{n}" for n, cell in enumerate(normal))
    items = ", ".join(f"k{n}" for n in range(1, len(normal)))
    rows = f"SELECT {cells} FROM {source.relation} WHERE {_are_present(columns)}"
    return f"SELECT {items}, count(DISTINCT k0)::int8 AS n FROM ({rows}) AS spelt GROUP BY {items}"


def _require_unicode(session: Session) -> None:
    """Refuse a server that cannot compose letters as the rule of equal cells does."""
    ((version, encoding),) = session.read_rows(
        "SELECT current_setting('server_version_num')::int8, current_setting('server_encoding')"
    )
    if version < 130_000 or encoding != "UTF8":
        raise SourceError(
            f"{session.label} cannot count text itself, which needs PostgreSQL 13 or newer and a "
            f"database in UTF8; leave out count_in_database (--count-in-database)."
        )


def _describe(
    engine: Engine, source: _Source, extraction: Extraction, kinds: Sequence[ServerType]
) -> Table:
    """Make the table of what was sent; JSON comes as text."""
    described = [*engine.describe(source.label, "carried").columns.values()]
    columns = {}
    for name, column, kind in zip(extraction.columns, described, kinds, strict=True):
        columns[name] = Column(column.cell, kind.counted_kind)
        if kind.is_json:
            columns[name] = Column(f"CAST({column.cell} AS JSON)", "JSON")
    names_are_schema = extraction.query is None
    return Table(source.label, "carried", columns, names_are_schema, is_quick=True)
