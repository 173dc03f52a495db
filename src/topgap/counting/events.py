"""Counting: `count_events`, `count_transactions` and `read_counts`."""

from typing import Any

import numpy as np

from topgap.counting.cells import build_count_sql, build_item_sql, build_person_sql, is_integer
from topgap.counting.domain import to_domain
from topgap.counting.engine import MEMORY, Engine, Table
from topgap.counting.sources import Format, open_lines, open_table
from topgap.domains import Counts, Domain, FromData
from topgap.errors import DomainError, SourceError
from topgap.sealing import seal_library_errors
from topgap.sources.columns import quote
from topgap.sources.progress import Progress


@seal_library_errors(SourceError, "The source")
def count_events(
    source: Any,
    *,
    person: str,
    item: str,
    domain: Any,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    rows_are_per_person: bool = False,
    header: bool = True,
    delimiter: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    """Count the distinct persons of each item.

    Args:
        source: A CSV, TSV, JSON lines or Parquet file, a pattern of them, or a list; a DuckDB or
            SQLite file; an open binary file; a pandas or polars data frame; an Arrow table.
        person: The column that says who. Events without a person are left out.
        item: The column that says what. Events without an item are left out.
        domain: The public list of items: an iterable, a range, the path of a text file with an
            item a line, a `Domain`, or FROM_DATA, which does not protect who is in it; what is
            released from the counts says so then.
        format: The format of a file, if its name does not tell.
        table: The table of a DuckDB or SQLite file.
        query: One SELECT to ask of it instead; it reaches no other file. Each of its rows must come
            from one person's rows alone, or one person can move a count by more than 1. So limits,
            windows, joins, subqueries, random functions, and aggregates over more than one person
            are refused, and views that have them too.
        rows_are_per_person: Accept such a query or view: that each of its rows depends on the rows
            of one person alone is then your word.
        header: Whether CSV and TSV files have names in their first lines; otherwise columns go by
            their numbers, "1", "2" and so on.
        delimiter: What stands between the cells of a CSV file, if the first line does not tell.
        memory: What DuckDB may use of it; more goes to disk, in a private directory.
        progress: A function that is told what is done and which share of it.

    Returns:
        The count of each item of the domain, in its order. It is secret.

    Raises:
        SourceError: The source cannot be read; no error text has a value of it.
        DomainError: The domain cannot be used.
        ParameterError: What was said of the source does not fit it.
        MissingExtraError: DuckDB is not installed.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"who": ["Ann", "Ann", "Bob"], "what": ["flu", "flu", "flu"]})
    >>> count_events(visits, person="who", item="what", domain=["flu", "cold"])
    {'flu': 2, 'cold': 0}
    """
    public = to_domain(domain)
    with Engine(memory, progress) as engine:
        opened = open_table(
            engine, source, [person, item], form=format, table=table, query=query,
            person=None if rows_are_per_person else person, header=header, delimiter=delimiter,
        )  # fmt: skip
        what = opened.column(item)
        key, text = _person_sql(opened, person), _item_sql(opened, item)
        persons = f"count(DISTINCT {key}) AS n FROM {opened.relation} GROUP BY 1"
        by_cell = f"SELECT {what.cell} AS item, {persons}"
        by_text = f"SELECT {text} AS item, {persons}"
        return _count_items(engine, opened, public, what.kind, by_cell, by_text)


@seal_library_errors(SourceError, "The source")
def count_transactions(
    source: Any,
    *,
    domain: Any,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    r"""Count the lines that hold each item, in files of the FIMI format.

    Each line is one person; it holds the items, separated by spaces or tabs, and an item that
    stands there more than once counts once.

    Args:
        source: The path of a file, packed by gzip or not; a pattern, a list, or an open
            binary file.
        domain: As for `count_events`, and so are the others.
        memory: As there.
        progress: As there.

    Returns:
        The count of each item of the domain, in its order. It is secret.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import io
    >>> count_transactions(io.BytesIO(b"1 3\n1 1 2\n"), domain=range(1, 5))
    {1: 2, 2: 1, 3: 1, 4: 0}
    """
    public = to_domain(domain)
    with Engine(memory, progress) as engine:
        opened = open_lines(engine, source)
        cells = "string_split(translate(line, chr(9), ' '), ' ')"
        tidy = f"list_transform({cells}, lambda each: {build_item_sql('each', 'VARCHAR')})"

        def lines_with(items: str) -> str:
            each = f"SELECT unnest(list_distinct({items})) AS item FROM {opened.relation}"
            return f"SELECT item, count(*) AS n FROM ({each}) GROUP BY 1"

        by_cell, by_text = lines_with(cells), lines_with(tidy)
        return _count_items(engine, opened, public, "VARCHAR", by_cell, by_text)


@seal_library_errors(SourceError, "The source")
def read_counts(
    source: Any,
    *,
    item: str,
    count: str,
    domain: Any,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    table: str | None = None,
    query: str | None = None,
    header: bool = True,
    delimiter: str | None = None,
    memory: str = MEMORY,
    progress: Progress | None = None,
) -> Counts:
    """Read precomputed counts.

    How far one person can move such a count, its sensitivity, is for you to know.

    Args:
        source: As for `count_events`, and so are those not named here.
        item: The column that says what is counted; no item of the domain may come twice.
        count: The column with the counts: whole numbers from 0 to below 2^63, none missing.
        domain: As there.
        format: As there.
        table: As there.
        query: One SELECT to ask of it instead. How far one person moves its counts is your word.
        header: As there.
        delimiter: As there.
        memory: As there.
        progress: As there.

    Returns:
        The count of each item of the domain, in its order. It is secret.

    Raises:
        SourceError, DomainError, ParameterError, MissingExtraError: As for `count_events`.

    >>> import pandas as pd
    >>> counts = pd.DataFrame({"page": ["start", "help"], "people": [51260, 960]})
    >>> read_counts(counts, item="page", count="people", domain=["start", "help", "legal"])
    {'start': 51260, 'help': 960, 'legal': 0}
    """
    public = to_domain(domain)
    with Engine(memory, progress) as engine:
        opened = open_table(
            engine, source, [item, count], form=format, table=table, query=query,
            header=header, delimiter=delimiter, counts=True,
        )  # fmt: skip
        what, whole = opened.column(item), _count_sql(opened, count)
        _item_sql(opened, item)
        ready = f"SELECT {what.cell} AS item, {whole} AS n FROM {opened.relation}"
        return _count_items(engine, opened, public, what.kind, ready, None)


@seal_library_errors(SourceError, "The source")
def check_query(
    source: Any,
    *,
    query: str,
    item: str,
    person: str | None = None,
    count: str | None = None,
    format: Format | None = None,  # noqa: A002 - what everyone calls it
    rows_are_per_person: bool = False,
) -> None:
    """Check a query, by its text and by the schema, without reading a row.

    Raises:
        SourceError, ParameterError, MissingExtraError: As for `count_events` and `read_counts`.
    """
    wanted = [each for each in (person, item, count) if each is not None]
    checked = None if rows_are_per_person else person
    with Engine() as engine:
        opened = open_table(
            engine, source, wanted, form=format, query=query, person=checked, run=False,
            counts=count is not None,
        )  # fmt: skip
        _item_sql(opened, item)
        if person is not None:
            _person_sql(opened, person)
        if count is not None:
            _count_sql(opened, count)


def _count_items(
    engine: Engine,
    opened: Table,
    public: Domain | FromData,
    kind: str,
    by_cell: str,
    by_text: str | None,
) -> Counts:
    """Count the domain's items, with 0 for those that do not occur.

    Args:
        engine: Does the counting.
        opened: The table of the source.
        public: The items.
        kind: The type of their column.
        by_cell: SQL that counts by the cells as they are: quick, and right as long as no two cells
            mean the same item.
        by_text: SQL that counts by the text that they mean, for when two do; None if two must not.
    """
    _create_counted_table(engine, opened, by_cell, kind)
    _create_domain_table(engine, public)
    if by_text is None and _query_flag(engine, f"SELECT bool_or(n IS NULL) FROM ({_MATCHED})"):
        raise SourceError(
            f"{opened.label} has counts that are missing, or no whole numbers from 0 to below "
            f"2^63; other numbers are read from Parquet and Arrow files with --all-rows "
            f"(topgap.streams)."
        )
    if _query_flag(engine, f"SELECT count(*) > count(DISTINCT text) FROM ({_MATCHED})"):
        if by_text is None:
            raise SourceError(
                f"{opened.label} has an item more than once; add its counts up, or if these are "
                f"events, name the column of the persons."
            )
        kind = "VARCHAR"
        _create_counted_table(engine, opened, by_text, kind)

    if isinstance(public, FromData):
        name = "item" if is_integer(kind) else "text"
        rows = engine.run(f"SELECT {name}, n FROM ({_MATCHED}) ORDER BY 1", label=opened.label)
        return Counts(rows, domain_from_data=True)
    found_counts = engine.run(
        f"SELECT place, n FROM ({_MATCHED})", label=opened.label, fetch="fetchnumpy"
    )
    counts = np.zeros(len(public), dtype=np.int64)
    counts[found_counts["place"]] = found_counts["n"]
    return Counts(zip(public.names, counts.tolist(), strict=True))


_MATCHED = "SELECT * FROM counted JOIN domain USING (text)"


def _create_counted_table(engine: Engine, opened: Table, counting: str, kind: str) -> None:
    """Create the table `counted`: each item of the source, its text, its count."""
    text = build_item_sql("item", kind)
    engine.ignore_row_order()
    engine.run(
        f"CREATE OR REPLACE TEMP TABLE counted AS SELECT {text} AS text, item, n FROM ({counting})",
        label=opened.label,
        doing=f"counting {opened.label}",
    )


def _create_domain_table(engine: Engine, public: Domain | FromData) -> None:
    """Create the table `domain`: the items' texts and their positions in the public list."""
    if isinstance(public, FromData):
        items = "SELECT DISTINCT text, 0 AS place FROM counted WHERE text IS NOT NULL"
        engine.run(f"CREATE TEMP TABLE domain AS {items}", label="The domain")
        return
    given = {"given": np.array(public.texts, dtype=object), "place": np.arange(len(public))}
    engine.connection.register("public", given)
    text = build_person_sql(
        "given", "VARCHAR"
    )  # normalized once more, by DuckDB's own tables of Unicode
    engine.run(
        f"CREATE TEMP TABLE domain AS SELECT {text} AS text, place FROM public", label="The domain"
    )
    engine.connection.unregister("public")
    if _query_flag(engine, "SELECT count(*) > count(DISTINCT text) FROM domain"):
        raise DomainError("The domain has two items that are the same.")


def _query_flag(engine: Engine, query: str) -> bool:
    ((opened,),) = engine.run(query, label="The source")
    return bool(opened)


def _item_sql(opened: Table, name: str) -> str:
    """Build SQL for the text of an item."""
    column = opened.column(name)
    return _require_sql(opened, name, build_item_sql(column.cell, column.kind))


def _person_sql(opened: Table, name: str) -> str:
    """Build SQL by which persons are compared."""
    column = opened.column(name)
    return _require_sql(opened, name, build_person_sql(column.cell, column.kind))


def _count_sql(opened: Table, name: str) -> str:
    """Build SQL for a precomputed count."""
    column = opened.column(name)
    return _require_sql(opened, name, build_count_sql(column.cell, column.kind))


def _require_sql(opened: Table, name: str, sql: str | None) -> str:
    if sql is not None:
        return sql
    raise SourceError(f"{opened.label} has a column {quote(name)} of a type that cannot be used.")
