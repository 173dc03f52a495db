"""The entries in an open file: read with their hashes checked, and appended: `Log`."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from topgap._core import __version__
from topgap.errors import LedgerError
from topgap.ledger.entry import (
    BEGINNING,
    COLUMNS,
    START_FROM_A_COPY,
    Entry,
    Kind,
    entry_of,
)

_ALL = ", ".join(COLUMNS)
_END = 2**63
"""SQLite has no number from here on."""


class Log:
    """The entries of a ledger in one transaction.

    Args:
        connection: The open file.
        label: What errors call it.
    """

    def __init__(self, connection: sqlite3.Connection, label: str) -> None:
        self._connection = connection
        self.label = label

    def last(self) -> Entry | None:
        """The last entry; None if there is none yet.

        Raises:
            LedgerError: It is not the one that was written last.
        """
        number, digest = self.head()
        (found,) = self._connection.execute("SELECT max(number) FROM entries").fetchone()
        if number == 0 and found is None and digest == BEGINNING:
            return None
        if found != number or self._hash(number) != digest or number + 1 >= _END:
            raise self.changed()
        return self.entry(number)

    def entry(self, number: int) -> Entry:
        """The entry of this number, if its hash is right.

        Raises:
            LedgerError: It is not, or there is none.
        """
        found = self._one(f"SELECT {_ALL} FROM entries WHERE number = ?", number)
        if found is None or not self._is_right(found, self._hash(number - 1), self._hash(number)):
            raise self.changed()
        return entry_of(found)

    def receipt(self, number: int) -> str:
        """The receipt of the entry of this number."""
        return receipt(number, self._hash(number))

    def charge(self, number: int) -> Entry | None:
        """The charge of this number; None if that is none."""
        if number >= _END:
            return None
        return self._first("kind = 'charge' AND number = ?", number)

    def datasets(self) -> list[str]:
        """The names of all data sets, in the order in which they were added.

        Raises:
            LedgerError: One has been changed.
        """
        query = "SELECT number FROM entries WHERE kind = 'dataset' ORDER BY number"
        found = self._connection.execute(query).fetchall()
        return [self.entry(number).dataset for (number,) in found]

    def how_many(self, kind: Kind, dataset: str) -> int:
        """How many entries of this kind a data set has."""
        query = "SELECT count(*) FROM entries WHERE kind = ? AND dataset = ?"
        (found,) = self._connection.execute(query, [kind, dataset]).fetchone()
        return int(found)

    def dataset(self, name: str) -> Entry | None:
        """The entry that sets the total of a data set."""
        return self._first("kind = 'dataset' AND dataset = ?", name)

    def last_charge(self, dataset: str) -> Entry | None:
        """The last charge of a data set."""
        return self._first("kind = 'charge' AND dataset = ?", dataset)

    def check_behind(self, entry: Entry) -> None:
        """See that no charge of this entry's data set comes after it, under whatever name.

        Raises:
            LedgerError: One does, or an entry there has been changed or is missing.
        """
        before = self._hash(entry.number)
        query = f"SELECT {_ALL}, hash FROM entries WHERE number > ? ORDER BY number"
        for *row, digest in self._connection.execute(query, [entry.number]):
            if not self._is_right(tuple(row), before, digest):
                raise self.changed(row[0])
            later = entry_of(tuple(row))
            if later.kind == "charge" and later.dataset == entry.dataset:
                raise self.changed(later.number)
            before = digest

    def result_of(self, charge: int) -> Entry | None:
        """The result of a charge."""
        return self._first("kind = 'result' AND charge = ?", charge)

    def all(self) -> Iterator[tuple[Entry, str]]:
        """The entries in their order, each with its hash, which is checked.

        Raises:
            LedgerError: One has been changed.
        """
        before = BEGINNING
        query = f"SELECT {_ALL}, hash FROM entries ORDER BY number"
        for expected, (*row, digest) in enumerate(self._connection.execute(query), 1):
            if row[0] != expected:
                raise LedgerError(f"{self.label} lacks entry {expected}; {START_FROM_A_COPY}.")
            if not self._is_right(tuple(row), before, digest):
                raise self.changed(row[0])
            yield entry_of(tuple(row)), digest
            before = digest

    def head(self) -> tuple[Any, Any]:
        """The number and hash that the last entry should have."""
        heads = self._connection.execute("SELECT number, hash FROM head").fetchall()
        if len(heads) != 1:
            raise self.changed()
        number, digest = heads[0]
        return number, digest

    def append(self, last: Entry | None, **columns: Any) -> tuple[Entry, str]:
        """Write an entry after the last one, and give it with its hash.

        Raises:
            LedgerError: It is not there when it is read back.
        """
        before, number = (BEGINNING, 0) if last is None else (self._hash(last.number), last.number)
        entry = Entry(number=number + 1, software=f"topgap {__version__}", **columns)
        digest = entry.hash(before)
        values = [*(getattr(entry, name) for name in COLUMNS), digest]
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO entries ({_ALL}, hash) VALUES ({marks})", values)
        self._connection.execute("UPDATE head SET number = ?, hash = ?", [entry.number, digest])
        if self.head() != (entry.number, digest) or self.last() != entry:
            raise LedgerError(
                f"{self.label} does not keep what is written to it, so nothing was written; "
                f"{START_FROM_A_COPY}."
            )
        return entry, digest

    def changed(self, number: int | None = None) -> LedgerError:
        """The error for a file that is not as it was written."""
        where = "" if number is None else f" at entry {number}"
        return LedgerError(
            f"{self.label} has been changed by other means{where}: what it says of what is left "
            f"cannot be trusted; {START_FROM_A_COPY}."
        )

    def _first(self, condition: str, value: object) -> Entry | None:
        query = f"SELECT number FROM entries WHERE {condition} ORDER BY number DESC LIMIT 1"
        found = self._one(query, value)
        return None if found is None else self.entry(found[0])

    def _hash(self, number: int) -> str:
        if number == 0:
            return BEGINNING
        found = self._one("SELECT hash FROM entries WHERE number = ?", number)
        if found is None or not isinstance(found[0], str):
            raise self.changed()
        return found[0]

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return found

    def _is_right(self, row: tuple[Any, ...], before: str, digest: object) -> bool:
        try:
            entry = entry_of(row)
            return entry.hash(before) == digest and entry.is_sound()
        except TypeError:  # a value that no entry has
            return False


def receipt(number: int, digest: str) -> str:
    """What tells an entry from any other: its number and its hash.

    >>> receipt(2, "3f2a")
    '2:3f2a'
    """
    return f"{number}:{digest}"
