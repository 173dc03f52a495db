"""At most L items of each person: which are kept, and how these are counted.

A person's items are ordered by a hash of the person and the item, and the first L are kept. So what
is kept of a person is a function of that person's rows alone, as a set. The order of rows, files
and threads does not matter, and a person who comes or goes moves nothing that is kept of others:
at most L counts change, each by at most 1. This needs nothing of the hash; that it is a good one
keeps all items about equally often.

The hash is the MD5 of "length:text" of each text of the item, in the order of the columns (and for
what goes together of each item, ordered by these), followed by the text of the person. Lengths are
in bytes of UTF-8, so that no two pairs of person and item are written alike. Its last four bytes,
the last one first, are compared as a number, and where two are equal the items as they are written.
`topgap.spark` keeps the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from topgap.counting.cells import is_integer
from topgap.counting.counted import are_present, list_texts
from topgap.counting.engine import Engine
from topgap.counting.tally import Tally
from topgap.errors import ParameterError
from topgap.numbers.parse import read_whole

SelectMembers = Callable[[str], str]
"""Writes SQL for those of the texts that this SQL selects, as text0 …, which are in the domain."""

_PLACES = 2**31


def read_bound(items_per_person: Any, count: str | None = None) -> int | None:
    """Read a contribution bound; None if there is none.

    Args:
        items_per_person: The bound.
        count: The column of precomputed counts, if it is these that are read.

    Raises:
        ParameterTypeError: It is not a whole number.
        ParameterError: It is less than 1, or of precomputed counts.

    >>> read_bound(None), read_bound(3)
    (None, 3)
    """
    if items_per_person is None:
        return None
    if count is not None:
        raise ParameterError(
            "Precomputed counts do not say which person has which item; items_per_person needs "
            "events."
        )
    return read_whole(items_per_person, "items_per_person", least=1)


def create_bounded_table(
    engine: Engine, tally: Tally, select_members: SelectMembers, bound: int
) -> Tally:
    """Create the table `counted` of the items that are kept, at most so many of each person.

    It has columns item0 …, their texts text0 …, and n, as `create_counted_table` makes it. All of
    its items are members of the domain, each in one row.

    Args:
        engine: Does the counting.
        tally: How the source is counted.
        select_members: Looks items up in the domain.
        bound: How many different members of the domain are kept of a person.

    Returns:
        The tally, with the types of the columns item0 … of the table.

    Raises:
        SourceError: The source cannot be read.
    """
    label = tally.opened.label

    def run(table: str) -> None:
        engine.run(f"CREATE OR REPLACE TEMP TABLE {table}", label=label, doing=f"counting {label}")

    engine.ignore_row_order()
    events = f"({tally.rows})"
    if not tally.opened.is_quick:
        run(f"events AS {tally.rows}")
        events = "events"
    cells = ", ".join(f"item{n}" for n in range(tally.width))
    texts = tally.build_texts_sql()
    run(f"cells AS SELECT {texts}, * FROM (SELECT DISTINCT {cells} FROM {events})")
    present = f"SELECT DISTINCT {list_texts(tally)} FROM cells WHERE {are_present(tally)}"
    # Cells that mean the same item have one place, and places are in the order of the items as they
    # are hashed: which of two comes first does not depend on what else occurs.
    mark = build_mark_sql([f"text{n}" for n in range(tally.width)])
    # Places are less than _PLACES, or this is an error.
    place = f"CAST(dense_rank() OVER (ORDER BY {mark}) AS INTEGER) AS place"
    run(
        f"members AS SELECT *, {mark} AS mark, {place} "
        f"FROM cells SEMI JOIN ({select_members(present)}) USING ({list_texts(tally)})"
    )
    key = f"{build_hash_sql(['mark'], tally.person_text)} * {_PLACES} + place"
    keyed = f"SELECT person, {key} AS key FROM {events} JOIN members USING ({cells})"
    kept = _select_least_keys(keyed, bound)
    run(f"kept AS SELECT key % {_PLACES} AS place, count(*) AS n FROM ({kept}) GROUP BY 1")
    kinds = [kind if is_integer(kind) else "VARCHAR" for kind in tally.kinds]
    names = ", ".join(
        f"item{n}" if is_integer(kind) else f"text{n} AS item{n}" for n, kind in enumerate(kinds)
    )
    items = f"SELECT DISTINCT place, {names}, {list_texts(tally)} FROM members"
    run(f"counted AS SELECT * EXCLUDE (place) FROM kept JOIN ({items}) USING (place)")
    for table in ("events", "cells", "members", "kept"):
        engine.run(f"DROP TABLE IF EXISTS {table}", label=label)
    return replace(tally, kinds=kinds)


def build_mark_sql(texts: Sequence[str]) -> str:
    """Build SQL for an item as it is hashed: of each text its length in bytes and the text."""
    return f"concat({', '.join(f'strlen({text}), chr(58), {text}' for text in texts)})"


def build_hash_sql(marks: Sequence[str], person: str) -> str:
    """Build SQL for the number from 0 to below 2^32 by which a person's items are ordered.

    It is NULL if the person is missing, and so is the place of what is kept then, which joins none.
    To leave such rows out beforehand would compute the person twice.

    Args:
        marks: SQL for the item as it is hashed, in parts.
        person: SQL for the text of the person.
    """
    return f"CAST(md5_number({' || '.join([*marks, person])}) >> 96 AS BIGINT)"


def to_limit(bound: int) -> int:
    """The bound as DuckDB can compare it: nobody has as many rows as its largest numbers say."""
    return min(bound, 2**62)


def _select_least_keys(keyed: str, bound: int) -> str:
    """Select the least keys of each person, so many, each once.

    Args:
        keyed: SQL for rows with the columns person and key, of which some may be the same.
        bound: How many keys are kept.
    """
    if bound == 1:
        return f"SELECT min(key) AS key FROM ({keyed}) GROUP BY person"
    ranked = (
        f"SELECT key, dense_rank() OVER keys AS number, lag(key) OVER keys AS before "
        f"FROM ({keyed}) WINDOW keys AS (PARTITION BY person ORDER BY key)"
    )
    first = "before IS DISTINCT FROM key"
    return f"SELECT key FROM ({ranked}) WHERE number <= {to_limit(bound)} AND {first}"
