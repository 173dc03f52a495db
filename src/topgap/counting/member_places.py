"""The places of what occurs of a domain: a table from the cells of some columns to numbers."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from topgap.counting.cells import build_item_sql, is_integer
from topgap.counting.contribution_bound import build_mark_sql
from topgap.counting.engine import Engine
from topgap.counting.listed_items import create_domain_table
from topgap.counting.occurring import join_columns, read_table
from topgap.domains import ABSENT, Domain, FromData
from topgap.domains.structure import order_members


class PlacedColumns(NamedTuple):
    """Columns that tell an item, or a group, of a relation.

    Attributes:
        relation: SQL for what stands after FROM.
        names: The names of the columns in it.
        kinds: Their types.
        label: What an error calls the source.
        folds: Whether upper and lower case are the same.
    """

    relation: str
    names: Sequence[str]
    kinds: Sequence[str]
    label: str
    folds: bool = False


def create_place_tables(
    engine: Engine, name: str, columns: PlacedColumns, domain: Domain | FromData
) -> Sequence[Any]:
    """Create two tables of what is in a domain, called by this name, `_places` and `_marks`.

    The first has the columns, each cell that occurs once, and its `place`: cells that mean the same
    member have the same. The second has each place once, with the `mark` by which it is hashed.

    Args:
        engine: Does the counting.
        name: The beginning of their names.
        columns: The columns.
        domain: The domain; or FROM_DATA, and then all that occurs is in it.

    Returns:
        The members by their places, in the domain's spelling and order: all of a list, and of
        others those alone that occur.
    """
    label, cells = columns.label, ", ".join(columns.names)
    texts = [f"text{n}" for n in range(len(columns.names))]
    pairs = zip(columns.names, columns.kinds, texts, strict=True)
    tidy = ", ".join(
        f"{build_item_sql(cell, kind, folds=columns.folds)} AS {text}" for cell, kind, text in pairs
    )
    listed, present = ", ".join(texts), " AND ".join(f"{text} IS NOT NULL" for text in texts)
    distinct = f"SELECT DISTINCT {cells} FROM {columns.relation}"
    engine.ignore_row_order()
    _create(engine, f"cells AS SELECT {tidy}, {cells} FROM ({distinct})", label)
    _create(engine, f"questioned AS SELECT DISTINCT {listed} FROM cells WHERE {present}", label)
    members: Sequence[Any]
    if isinstance(domain, FromData):
        members = _create_all(engine, columns, listed, present)
    elif domain.is_listed:
        create_domain_table(engine, domain)
        members = domain.names
        _create(engine, f"placed AS SELECT * FROM questioned JOIN domain USING ({listed})", label)
        engine.run("DROP TABLE domain", label=label)
    else:
        members = _create_found(engine, domain, listed, label)
    place = "CAST(place AS INTEGER) AS place"  # so many members are an error
    marked = f"SELECT {place}, {build_mark_sql(texts)} AS mark FROM placed"
    _create(engine, f"{name}_marks AS {marked}", label)
    placed = f"SELECT {cells}, {place} FROM cells JOIN placed USING ({listed})"
    _create(engine, f"{name}_places AS {placed}", label)
    engine.run("DROP TABLE cells; DROP TABLE questioned; DROP TABLE placed", label=label)
    return members


def _create_all(engine: Engine, columns: PlacedColumns, listed: str, present: str) -> Sequence[Any]:
    """Create the table `placed` of all texts that occur, in the order of what they mean."""
    parts = enumerate(zip(columns.names, columns.kinds, strict=True))
    named = ", ".join(
        f"{f'any_value({cell})' if is_integer(kind) else f'text{n}'} AS name{n}"
        for n, (cell, kind) in parts
    )
    names = ", ".join(f"name{n}" for n in range(len(columns.names)))
    grouped = f"SELECT {listed}, {named} FROM cells WHERE {present} GROUP BY {listed}"
    place = f"row_number() OVER (ORDER BY {names}) - 1 AS place"
    _create(engine, f"placed AS SELECT *, {place} FROM ({grouped})", columns.label)
    rows = engine.run(f"SELECT {names} FROM placed ORDER BY place", label=columns.label)
    return [row[0] if len(row) == 1 else row for row in rows]


def _create_found(engine: Engine, domain: Domain, listed: str, label: str) -> Sequence[Any]:
    """Create the table `placed` of those texts that are in a domain by a rule."""
    found, at, start = [], [], 0
    for texts in read_table(engine, "questioned", label):
        for n, member in enumerate(domain.find_texts(join_columns(texts))):
            if member is not ABSENT:
                found.append(member)
                at.append(start + n)
        start += len(texts[0])
    order = order_members(domain, found)
    rows = np.array([at[place] for place in order], dtype=np.int64)
    engine.connection.register("found", {"at": rows, "place": np.arange(len(rows))})
    placed = f"SELECT {listed}, place FROM questioned JOIN found ON questioned.rowid = found.at"
    _create(engine, f"placed AS {placed}", label)
    engine.connection.unregister("found")
    return [found[place] for place in order]


def _create(engine: Engine, table: str, label: str) -> None:
    engine.run(f"CREATE OR REPLACE TEMP TABLE {table}", label=label, doing=f"counting {label}")
