"""What occurs in a source of a domain that is not written out: `Occurring`, read in batches."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from topgap.counting.cells import build_folded_sql
from topgap.counting.contribution_bound import create_bounded_table
from topgap.counting.counted import are_present, create_counted_table, list_texts
from topgap.counting.engine import Engine
from topgap.counting.tally import Tally
from topgap.domains import ABSENT, Counts, Domain
from topgap.domains.cell_text import normalize_text, to_text
from topgap.domains.structure import fold_texts as fold_kinds
from topgap.errors import SourceError
from topgap.sealing import seal_library_errors

ROWS = 1 << 16
"""So many rows of a table are read at a time."""


class Batch(NamedTuple):
    """Some members that occur, in the domain's spelling, and their counts."""

    names: list[Any]
    counts: "np.ndarray[tuple[int], np.dtype[np.int64]]"


class Occurring(ABC):
    """The members of a domain that occur, which lie in a table of DuckDB, and their counts.

    They are read from there in batches, so that neither their names nor their counts are ever in
    memory all at once. All of it is secret.

    Args:
        engine: Has the table.
        domain: The domain, as it was given.
        label: What an error calls the source.
        bound: How many items of each person were kept; None for all of them.
        folded: The domain with texts as cells are compared, if case is folded.

    Attributes:
        domain: The domain.
        items_per_person: As `bound`.
    """

    def __init__(
        self,
        engine: Engine,
        domain: Domain,
        label: str,
        bound: int | None = None,
        folded: Domain | None = None,
    ) -> None:
        self.domain = domain
        self._folds = folded is not None
        self._lookup = domain if folded is None else folded
        self.items_per_person = bound
        self._engine = engine
        self._label = label
        self._count: int | None = None

    @property
    def count(self) -> int:
        """How many members occur."""
        if self._count is None:
            self._count = sum(len(batch.names) for batch in self.batches())
        return self._count

    def batches(self) -> Iterator[Batch]:
        """Read the members that occur and their counts, each member once.

        Raises:
            SourceError: They cannot be read, such as from a disk that fails.
        """
        unread = self._read_batches()
        while (batch := self._next_batch(unread)) is not None:
            yield batch

    def find(self, names: Iterable[Any]) -> set[Any]:
        """Find those of a few members that occur.

        Args:
            names: Members, in the domain's spelling.

        Raises:
            SourceError: They cannot be looked up.
        """
        return self._find([*names])

    def to_counts(self) -> Counts:
        """The counts of all members that occur, in memory; the caller seals its errors."""
        counts = Counts(domain=self.domain, items_per_person=self.items_per_person)
        for names, numbers in self._read_batches():
            dict.update(counts, zip(names, numbers.tolist(), strict=True))
        return counts

    @abstractmethod
    def _read_batch(self, start: int) -> Batch:
        """Read the members among the rows from this one on."""

    @abstractmethod
    def _select_wanted(self) -> str:
        """Write SQL for the places in the table `wanted` of what occurs of it."""

    @abstractmethod
    def _list_texts(self, name: Any) -> Sequence[str]:
        """The texts of a member, in as many columns."""

    _table: str
    """The table that is read."""

    @seal_library_errors(SourceError, "The source")
    def _next_batch(self, unread: Iterator[Batch]) -> Batch | None:
        return next(unread, None)

    def _read_batches(self) -> Iterator[Batch]:
        ((rows,),) = self._engine.run(f"SELECT count(*) FROM {self._table}", label=self._label)
        for start in range(0, rows, ROWS):
            self._engine.report_progress(f"reading the counts of {self._label}", start / rows)
            batch = self._read_batch(start)
            if batch.names:
                yield batch

    @seal_library_errors(SourceError, "The source")
    def _find(self, names: list[Any]) -> set[Any]:
        if not names:
            return set()
        columns: list[Sequence[str]] = [*zip(*map(self._list_texts, names), strict=True)]
        if self._folds:
            columns = [fold_texts(self._engine, column) for column in columns]
        register_texts(self._engine, "wanted", columns)
        places = self._engine.run(self._select_wanted(), label=self._label)
        self._engine.connection.unregister("wanted")
        return {names[place] for (place,) in places}


class OccurringItems(Occurring):
    """The members that occur, one by one.

    Raises:
        SourceError: The source cannot be read; see `create_counted_table`.
    """

    _table = "counted"

    def __init__(
        self,
        engine: Engine,
        domain: Domain,
        tally: Tally,
        bound: int | None = None,
        folded: Domain | None = None,
    ) -> None:
        super().__init__(engine, domain, tally.opened.label, bound, folded)
        if bound is None:
            self._tally = create_counted_table(engine, tally, self._has_member)
        else:
            self._tally = create_bounded_table(engine, tally, self._select_members, bound)

    def _has_member(self, selected: str) -> bool:
        create_temp = "CREATE OR REPLACE TEMP TABLE questioned AS"
        self._engine.run(f"{create_temp} {selected}", label=self._label)
        for texts in read_table(self._engine, "questioned", self._label):
            found = self._lookup.find_texts(join_columns(texts))
            if any(member is not ABSENT for member in found):
                return True
        return False

    def _select_members(self, selected: str) -> str:
        create_found_table(self._engine, self._lookup, selected, self._label)
        return "SELECT * EXCLUDE (place) FROM found"

    def _read_batch(self, start: int) -> Batch:
        query = (
            f"SELECT {list_texts(self._tally)}, n FROM counted WHERE {is_in_slice(start)} "
            f"AND {are_present(self._tally)} AND n > 0"
        )
        read = self._engine.run(query, label=self._label, fetch="fetchnumpy")
        *texts, counts = read.values()
        found = self._lookup.find_texts(join_columns([column.tolist() for column in texts]))
        are_members = [member is not ABSENT for member in found]
        mask = np.frombuffer(bytes(are_members), dtype=bool)
        return Batch([*compress(found, are_members)], counts[mask].astype(np.int64, copy=False))

    def _select_wanted(self) -> str:
        texts = list_texts(self._tally)
        return f"SELECT place FROM wanted JOIN counted USING ({texts}) WHERE n > 0"

    def _list_texts(self, name: Any) -> Sequence[str]:
        return to_texts(name, self.domain.columns)


def fold_texts(engine: Engine, texts: Sequence[str]) -> list[str]:
    """Fold the case of normalized texts, as cells are folded."""
    register_texts(engine, "unfolded", [texts])
    query = f"SELECT {build_folded_sql('text0')} AS text FROM unfolded ORDER BY place"
    folded = engine.run(query, label="The domain", fetch="fetchnumpy")["text"].tolist()
    engine.connection.unregister("unfolded")
    return [*folded]


def fold_domain(engine: Engine, domain: Domain) -> Domain:
    """Fold the texts by which the items of a domain are compared; its spelling stays.

    Raises:
        DomainError: Two items differ only by case, or a rule identifies items by their spelling.
    """
    return fold_kinds(domain, lambda texts: fold_texts(engine, texts))


def to_texts(name: Any, columns: int) -> list[str]:
    """The texts by which a member is compared with so many columns.

    >>> to_texts(("AT", 7), 2)
    ['AT', '7']
    """
    return [normalize_text(to_text(each) or "") for each in ([name] if columns == 1 else name)]


def join_columns(columns: Sequence[Sequence[str]]) -> Sequence[Any]:
    """Put columns of texts together, as `Domain.find_texts` takes them.

    >>> join_columns([["a", "b"]]), join_columns([["a", "b"], ["c", "d"]])
    (['a', 'b'], [('a', 'c'), ('b', 'd')])
    """
    return columns[0] if len(columns) == 1 else [*zip(*columns, strict=True)]


def read_table(engine: Engine, table: str, label: str) -> Iterator[list[list[str]]]:
    """Read a table of texts, in batches of columns."""
    ((rows,),) = engine.run(f"SELECT count(*) FROM {table}", label=label)
    for start in range(0, rows, ROWS):
        query = f"SELECT * FROM {table} WHERE {is_in_slice(start)}"
        read = engine.run(query, label=label, fetch="fetchnumpy")
        yield [column.tolist() for column in read.values()]


def create_found_table(engine: Engine, domain: Domain, selected: str, label: str) -> None:
    """Create the table `found` of those that are in the domain, each with a place of its own.

    Args:
        engine: Has the table.
        domain: The domain.
        selected: SQL for different texts, in columns text0 …
        label: What an error calls the source.
    """
    engine.run(f"CREATE OR REPLACE TEMP TABLE questioned AS {selected}", label=label)
    create = "CREATE OR REPLACE TEMP TABLE found AS SELECT *, 0 AS place FROM questioned LIMIT 0"
    engine.run(create, label=label)
    count = 0
    for columns in read_table(engine, "questioned", label):
        members = domain.find_texts(join_columns(columns))
        pairs = zip(zip(*columns, strict=True), members, strict=True)
        rows = [row for row, member in pairs if member is not ABSENT]
        if rows:
            register_texts(engine, "members_here", [*zip(*rows, strict=True)])
            query = f"INSERT INTO found SELECT * REPLACE (place + {count} AS place) "
            engine.run(f"{query} FROM members_here", label=label)
            engine.connection.unregister("members_here")
        count += len(rows)
    engine.run("DROP TABLE questioned", label=label)


def register_texts(engine: Engine, table: str, columns: Sequence[Sequence[str]]) -> None:
    """Hand columns text0 … over to DuckDB as a table, with their places in a column `place`."""
    arrays = {f"text{n}": np.array(column, dtype=object) for n, column in enumerate(columns)}
    engine.connection.register(table, {**arrays, "place": np.arange(len(columns[0]))})


def is_in_slice(start: int) -> str:
    """Write the condition that a row is one of those from this one on that are read at a time."""
    return f"rowid >= {start} AND rowid < {start + ROWS}"
