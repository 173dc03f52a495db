"""What goes together: pairs and triples of items, counted by the persons who have all of them.

A person counts once for each set of their items, and may be in any number of sets: one person more
or less moves each count by at most 1, so nobody's contribution has to be bounded. If it is, the
sets are the items: at most L of them are kept of each person, as `contribution_bound` says.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from topgap.counting.contribution_bound import build_hash_sql, build_mark_sql, to_limit
from topgap.counting.counted import are_present, list_texts
from topgap.counting.engine import Engine
from topgap.counting.occurring import (
    Batch,
    Occurring,
    create_found_table,
    is_in_slice,
    join_columns,
    to_texts,
)
from topgap.counting.tally import Tally
from topgap.domains import Domain
from topgap.domains.structure import Sets
from topgap.errors import ParameterError


class OccurringSets(Occurring):
    """The sets of so many different items that some person has all of, and how many persons do.

    Persons and items are first brought down to `had`: who had what, each once, by the places of the
    items in the table `members`. Joined with itself by the person it gives the table `sets`.

    Args:
        engine: Does the counting.
        domain: The domain of the sets.
        sets: What it is made of.
        tally: How the source is counted.
        bound: How many sets are kept of each person; None for all of them.
        folded: The domain with texts as cells are compared, if case is folded.

    Raises:
        SourceError: The source cannot be read.
        ParameterError: It has precomputed counts, which do not say which person has which item.
    """

    _table = "sets"

    def __init__(
        self,
        engine: Engine,
        domain: Domain,
        sets: Sets,
        tally: Tally,
        bound: int | None = None,
        folded: Domain | None = None,
    ) -> None:
        super().__init__(engine, domain, tally.opened.label, bound, folded)
        if tally.events is None:
            raise ParameterError(
                "Precomputed counts do not say which person has which item; count sets of items "
                "from events."
            )
        self._inner, self._size, self._tally = sets.inner, sets.together, tally
        self._counting = f"counting {self._label}"
        self._create_had(tally.events)
        self._create_sets()

    def _create_had(self, events: str) -> None:
        """Create the tables `members`, the items of the inner domain that occur, and `had`."""
        tally, texts = self._tally, list_texts(self._tally)
        bounded = self.items_per_person is not None
        self._engine.ignore_row_order()
        present = f"person IS NOT NULL AND {are_present(tally)}"
        who = f", {tally.person_text} AS person_text" if bounded else ""
        events = f"SELECT DISTINCT person{who}, {texts} FROM ({events}) WHERE {present}"
        self._run(f"events AS {events}")
        selected = f"SELECT DISTINCT {texts} FROM events"
        create_found_table(self._engine, self._inner, selected, self._label)
        if bounded:
            # In the order of the items as they are hashed, whatever else occurs.
            mark = build_mark_sql([f"text{n}" for n in range(tally.width)])
            place = f"CAST(row_number() OVER (ORDER BY {mark}) - 1 AS INTEGER) AS place"
            self._run(f"members AS SELECT {texts}, {mark} AS mark, {place} FROM found")
        else:
            self._run("members AS SELECT * FROM found")
        more = ", person_text, mark" if bounded else ""
        had = f"SELECT person, place{more} FROM events JOIN members USING ({texts})"
        self._engine.trust_statistics()
        self._run(f"had AS {had} ORDER BY person, place")  # a person's rows together join faster
        self._engine.run("DROP TABLE events; DROP TABLE found", label=self._label)

    def _create_sets(self) -> None:
        places = ", ".join(f"h{n}.place AS place{n}" for n in range(self._size))
        joins = " ".join(
            f"JOIN had AS h{n} ON h{n}.person = h0.person AND h{n}.place > h{n - 1}.place"
            for n in range(1, self._size)
        )
        groups = ", ".join(f"place{n}" for n in range(self._size))
        sets = f"SELECT {places} FROM had AS h0 {joins}"
        if self.items_per_person is not None:
            limit = to_limit(self.items_per_person)
            hashed = build_hash_sql([f"h{n}.mark" for n in range(self._size)], "h0.person_text")
            sets = f"SELECT h0.person, {places}, {hashed} AS hash FROM had AS h0 {joins}"
            number = f"row_number() OVER (PARTITION BY person ORDER BY hash, {groups})"
            sets = f"SELECT {groups} FROM ({sets}) QUALIFY {number} <= {limit}"
        self._run(f"sets AS SELECT {groups}, count(*) AS n FROM ({sets}) GROUP BY {groups}")

    def _run(self, table: str) -> None:
        self._engine.run(f"CREATE TEMP TABLE {table}", label=self._label, doing=self._counting)

    def _read_batch(self, start: int) -> Batch:
        columns = [f"place{n}" for n in range(self._size)]
        query = f"SELECT {', '.join(columns)}, n FROM sets WHERE {is_in_slice(start)}"
        read = self._engine.run(query, label=self._label, fetch="fetchnumpy")
        places, indices = np.unique([read[name] for name in columns], return_inverse=True)
        names, order = self._read_members(places)
        # In the order of the inner domain, as its sets are written.
        ordered = np.sort(order[indices.reshape(self._size, -1)], axis=0)
        return Batch([*zip(*names[ordered].tolist(), strict=True)], read["n"])

    def _read_members(self, places: Any) -> tuple[Any, Any]:
        """The members at these places, in the order of the inner domain, and the order of each."""
        self._engine.connection.register("wanted", {"place": places})
        query = f"SELECT {list_texts(self._tally)} FROM members JOIN wanted USING (place)"
        read = self._engine.run(f"{query} ORDER BY place", label=self._label, fetch="fetchnumpy")
        self._engine.connection.unregister("wanted")
        texts = join_columns([column.tolist() for column in read.values()])
        members = self._inner.find_texts(texts)
        by_rank = sorted(range(len(members)), key=[*map(self._inner.rank, members)].__getitem__)
        order = np.empty(len(members), dtype=np.int64)
        order[by_rank] = np.arange(len(members))
        return np.fromiter((members[place] for place in by_rank), dtype=object), order

    def _select_wanted(self) -> str:
        width, size = self._tally.width, self._size
        joins = []
        for i in range(size):
            texts = (f"m{i}.text{n} = wanted.text{i * width + n}" for n in range(width))
            joins.append(f"JOIN members AS m{i} ON {' AND '.join(texts)}")
        ordered = f"list_sort([{', '.join(f'm{i}.place' for i in range(size))}])"
        places = " AND ".join(f"place{i} = {ordered}[{i + 1}]" for i in range(size))
        return f"SELECT wanted.place FROM wanted {' '.join(joins)} JOIN sets ON {places}"

    def _list_texts(self, name: Any) -> Sequence[str]:
        return [text for item in name for text in to_texts(item, self._tally.width)]
