"""The counts of each group: persons and items by their places, and flat arrays of what occurs."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from topgap.counting.contribution_bound import to_limit
from topgap.counting.counted import missing_counts
from topgap.counting.engine import Engine
from topgap.counting.group_bound import create_kept_view, number_by_hash
from topgap.counting.member_places import PlacedColumns, create_place_tables
from topgap.counting.tally import Tally
from topgap.domains import Domain, FromData, GroupedCounts
from topgap.domains.structure import find_sets
from topgap.errors import DomainError, ParameterError, SourceError


class GroupBounds(NamedTuple):
    """How much of a person counts.

    Attributes:
        groups: c, in how many groups.
        items: L, for how many items in each of them; None for all.
    """

    groups: int
    items: int | None = None


def count_groups(
    engine: Engine,
    tally: Tally,
    groups: Domain,
    public: Domain | FromData,
    bounds: GroupBounds,
) -> GroupedCounts:
    """Count the items of a domain in each group.

    Args:
        engine: Does the counting.
        tally: How the source is counted; its first columns tell the group, as many as the groups
            take, and the others the item.
        groups: The public groups.
        public: The domain.
        bounds: How much of a person counts.

    Raises:
        SourceError: The source cannot be read; or precomputed counts are missing, or there twice.
        ParameterError: Precomputed counts do not say what goes together.
        DomainError: The data are the domain, and have no items.
    """
    label, has_counts = tally.opened.label, tally.rows is None
    sets = None if isinstance(public, FromData) else find_sets(public)
    if sets is not None and has_counts:
        raise ParameterError(
            "Precomputed counts do not say which person has which item; count sets of items from "
            "events."
        )
    engine.ignore_row_order()
    rows = f"({tally.by_cell if tally.rows is None else tally.rows})"
    if not tally.opened.is_quick:
        _create(engine, f"events AS {rows}", label)
        rows = "events"
    cells = [f"item{n}" for n in range(tally.width)]
    of_group, of_item = slice(groups.columns), slice(groups.columns, None)
    inner = public if sets is None else sets.inner
    members = {}
    for name, domain, which in (
        ("group", groups, of_group),
        ("item", inner, of_item),
    ):
        columns = PlacedColumns(rows, cells[which], tally.kinds[which], label, tally.folds)
        members[name] = create_place_tables(engine, name, columns, domain)
    joined = (
        f"SELECT events.* EXCLUDE ({', '.join(cells)}), g.place AS grp, i.place AS place "
        f"FROM {rows} AS events JOIN group_places AS g USING ({', '.join(cells[of_group])}) "
        f"JOIN item_places AS i USING ({', '.join(cells[of_item])})"
    )
    names = members["item"]
    if has_counts:
        _create(engine, f"counted AS {joined}", label)
        _check_counts(engine, label)
    else:
        create_kept_view(engine, label, joined, person_text=tally.person_text, most=bounds.groups)
        if sets is not None:
            names = _create_sets(engine, names, sets.together, bounds.items, tally)
    key = f"CAST(grp AS BIGINT) * {max(len(names), 1)} + place"
    if has_counts or sets is not None:
        counted = f"SELECT {key} AS key, CAST(n AS BIGINT) AS n FROM counted"
    elif bounds.items is None:
        counted = f"SELECT {key} AS key, count(DISTINCT person) AS n FROM kept GROUP BY key"
    else:
        bounded = _select_bounded(bounds.items, tally)
        counted = f"SELECT {key} AS key, count(*) AS n FROM ({bounded}) GROUP BY key"
    counts = _read_counts(engine, label, groups, public, {**members, "item": names}, counted)
    if not has_counts:
        counts.groups_per_person, counts.items_per_person = bounds
    return counts


def _check_counts(engine: Engine, label: str) -> None:
    """Refuse precomputed counts that are none, and items with two in one group."""
    ((missing,),) = engine.run("SELECT count(*) FROM counted WHERE n IS NULL", label=label)
    if missing:
        raise missing_counts(label)
    repeated = "SELECT 1 FROM counted GROUP BY grp, place HAVING count(*) > 1 LIMIT 1"
    if engine.run(repeated, label=label):
        raise SourceError(
            f"{label} has an item more than once in one group; add up its counts or, if these are "
            f"events, name the column of the persons."
        )


def _select_bounded(bound: int, tally: Tally) -> str:
    """Write SQL for at most so many items of each person in a group, each once."""
    marked = "SELECT * FROM (SELECT DISTINCT * FROM kept) JOIN item_marks USING (place)"
    number = number_by_hash("person, grp", ["mark"], tally.person_text)
    return f"SELECT grp, place FROM ({marked}) QUALIFY {number} <= {to_limit(bound)}"


def _create_sets(
    engine: Engine, names: Sequence[Any], size: int, bound: int | None, tally: Tally
) -> list[Any]:
    """Create the table `counted` of sets of so many items, and return the sets by their places."""
    label = tally.opened.label
    engine.trust_statistics()
    # A person's rows together join faster.
    had = "SELECT DISTINCT * FROM kept JOIN item_marks USING (place) ORDER BY person, grp, place"
    _create(engine, f"owned AS {had}", label)
    joins = "".join(
        f" JOIN owned AS h{n} ON h{n}.person = h0.person AND h{n}.grp = h0.grp "
        f"AND h{n}.place > h{n - 1}.place"
        for n in range(1, size)
    )
    places = ", ".join(f"place{n}" for n in range(size))
    # In the order of the items as they are hashed, which their places do not have.
    marks = f"array_to_string(list_sort([{', '.join(f'h{n}.mark' for n in range(size))}]), '')"
    named = ", ".join(f"h{n}.place AS place{n}" for n in range(size))
    sets = f"SELECT h0.* EXCLUDE (place, mark), {marks} AS mark, {named} FROM owned AS h0{joins}"
    if bound is not None:
        number = number_by_hash("person, grp", ["mark"], tally.person_text)
        sets = f"SELECT * FROM ({sets}) QUALIFY {number} <= {to_limit(bound)}"
    _create(engine, f"sets AS SELECT grp, {places}, count(*) AS n FROM ({sets}) GROUP BY ALL",
            label)  # fmt: skip
    number = f"row_number() OVER (ORDER BY {places}) - 1 AS place"
    _create(engine, f"named AS SELECT *, {number} FROM (SELECT DISTINCT {places} FROM sets)", label)
    _create(engine, f"counted AS SELECT grp, place, n FROM sets JOIN named USING ({places})", label)
    read = engine.run(f"SELECT {places} FROM named ORDER BY place", label=label, fetch="fetchnumpy")
    columns = (map(names.__getitem__, column.tolist()) for column in read.values())
    return [*zip(*columns, strict=True)]


def _read_counts(
    engine: Engine,
    label: str,
    groups: Domain,
    public: Domain | FromData,
    members: Mapping[str, Sequence[Any]],
    counted: str,
) -> GroupedCounts:
    """Read what was counted into arrays, with the names of those items alone that occur.

    Args:
        engine: Has the table.
        label: What an error calls the source.
        groups: The public groups.
        public: The domain.
        members: The groups, and the items, by their places.
        counted: SQL for the counts, as n, by the key that both places make.
    """
    names = members["item"]
    size = max(len(names), 1)
    read = engine.run(
        f"SELECT key, n FROM ({counted}) WHERE n > 0 ORDER BY key",
        label=label,
        doing=f"counting {label}",
        fetch="fetchnumpy",
    )
    keys, counts = read["key"], read["n"]
    ends = np.searchsorted(keys, _count_places(groups, members["group"]) * size)
    places = keys % size
    occurs = np.zeros(size, dtype=bool)
    occurs[places] = True
    renumbered = np.cumsum(occurs) - 1
    occurring = [names[place] for place in np.flatnonzero(occurs).tolist()]
    from_data = isinstance(public, FromData)
    if from_data and not occurring:
        raise DomainError("The data have no items.")
    return GroupedCounts(
        [*groups],
        public if isinstance(public, Domain) else Domain(occurring),
        occurring,
        ends=ends.astype(np.int64, copy=False),
        places=renumbered[places],
        counts=np.ascontiguousarray(counts, dtype=np.int64),
        domain_from_data=from_data,
    )


def _count_places(groups: Domain, members: Sequence[Any]) -> "np.ndarray[Any, Any]":
    """For each group, how many places there are up to its own: some groups have none."""
    if groups.is_listed:
        return np.arange(1, groups.size + 1, dtype=np.int64)
    ranks = np.array([*map(groups.rank, members)], dtype=np.int64)
    return np.searchsorted(ranks, np.arange(groups.size), side="right")


def _create(engine: Engine, table: str, label: str) -> None:
    engine.run(f"CREATE TEMP TABLE {table}", label=label, doing=f"counting {label}")
