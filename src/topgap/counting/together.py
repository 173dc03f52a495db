"""What goes together: pairs and triples of items, counted by the persons who have all of them.

A person counts once for each set of their items, and may be in any number of sets: one person more
or less moves each count by at most 1, so nobody's contribution is bounded.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from topgap.counting.counted import are_present, list_texts
from topgap.counting.engine import Engine
from topgap.counting.occurring import (
    Batch,
    Occurring,
    is_in_slice,
    join_columns,
    read_table,
    register_texts,
    to_texts,
)
from topgap.counting.tally import Tally
from topgap.domains import ABSENT, Domain
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

    Raises:
        SourceError: The source cannot be read.
        ParameterError: It has precomputed counts, which do not say who had what.
    """

    _table = "sets"

    def __init__(self, engine: Engine, domain: Domain, sets: Sets, tally: Tally) -> None:
        super().__init__(engine, domain, tally.opened.label)
        if tally.events is None:
            raise ParameterError(
                "Precomputed counts do not say who had what; count sets of items from events."
            )
        self._inner, self._size, self._tally = sets.inner, sets.together, tally
        self._counting = f"counting {self._label}"
        self._create_had(tally.events)
        self._create_sets()

    def _create_had(self, events: str) -> None:
        """Create the tables `members`, the items of the inner domain that occur, and `had`."""
        tally, texts = self._tally, list_texts(self._tally)
        self._engine.ignore_row_order()
        present = f"person IS NOT NULL AND {are_present(tally)}"
        self._run(f"events AS SELECT DISTINCT person, {texts} FROM ({events}) WHERE {present}")
        self._run(f"questioned AS SELECT DISTINCT {texts} FROM events")
        columns = ", ".join(f"text{n} VARCHAR" for n in range(tally.width))
        self._run(f"members ({columns}, place INTEGER)")
        count = 0
        for batch in read_table(self._engine, "questioned", self._label):
            count += self._add_members(batch, count)
        had = f"SELECT person, place FROM events JOIN members USING ({texts})"
        self._engine.trust_statistics()
        self._run(f"had AS {had} ORDER BY person, place")  # a person's rows together join faster
        self._engine.run("DROP TABLE events", label=self._label)

    def _add_members(self, columns: Sequence[Sequence[str]], count: int) -> int:
        """Put those of these items that are in the inner domain into the table `members`."""
        found, rows = self._inner.find_texts(join_columns(columns)), zip(*columns, strict=True)
        members = [row for row, member in zip(rows, found, strict=True) if member is not ABSENT]
        if members:
            register_texts(self._engine, "found", [*zip(*members, strict=True)])
            texts = list_texts(self._tally)
            query = f"INSERT INTO members SELECT {texts}, place + {count} FROM found"
            self._engine.run(query, label=self._label)
            self._engine.connection.unregister("found")
        return len(members)

    def _create_sets(self) -> None:
        places = ", ".join(f"h{n}.place AS place{n}" for n in range(self._size))
        joins = " ".join(
            f"JOIN had AS h{n} ON h{n}.person = h0.person AND h{n}.place > h{n - 1}.place"
            for n in range(1, self._size)
        )
        groups = ", ".join(str(n + 1) for n in range(self._size))
        self._run(
            f"sets AS SELECT {places}, count(*) AS n FROM had AS h0 {joins} GROUP BY {groups}"
        )

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
