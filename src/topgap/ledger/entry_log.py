"""The entries of a ledger in an open transaction: `EntryLog` checks, reads and appends them."""

import json
import sqlite3
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

from topgap._core import __version__
from topgap.display.text import to_line
from topgap.errors import LedgerError
from topgap.ledger.entry import (
    COLUMNS,
    INITIAL_HASH,
    RESTORE_ADVICE,
    Entry,
    Kind,
    entry_from_row,
    parse_epsilon,
    parse_timestamp,
)
from topgap.ledger.models import Charge
from topgap.parameters import Neighbours

_ALL = ", ".join(COLUMNS)
_END = 2**63
"""SQLite has no number from here on."""


class Balance(NamedTuple):
    """The total ε of a data set, what is spent of it, and the neighbours that both are true for.

    What is spent is the sum of all charges, those that are settled counted for that.
    """

    total: Fraction
    spent: Fraction
    neighbours: Neighbours


class EntryLog:
    """The entries of a ledger in one transaction. The hash of each is checked when it is read.

    Args:
        connection: The open database.
        label: What errors call it.
    """

    def __init__(self, connection: sqlite3.Connection, label: str) -> None:
        self._connection = connection
        self.label = label

    # --- Find entries

    def last(self) -> Entry | None:
        """Return the last entry; None if there is none yet.

        Raises:
            LedgerError: It is not the one that was written last.
        """
        number, digest = self.head()
        (found,) = self._connection.execute("SELECT max(number) FROM entries").fetchone()
        if number == 0 and found is None and digest == INITIAL_HASH:
            return None
        if found != number or self._hash(number) != digest or number + 1 >= _END:
            raise self.tampered_error()
        return self.entry(number)

    def head(self) -> tuple[Any, Any]:
        """Return the number and hash that the last entry should have."""
        heads = self._connection.execute("SELECT number, hash FROM head").fetchall()
        if len(heads) != 1:
            raise self.tampered_error()
        number, digest = heads[0]
        return number, digest

    def entry(self, number: int) -> Entry:
        """Return the entry of this number.

        Raises:
            LedgerError: There is none, or its hash is wrong.
        """
        found = self._one(f"SELECT {_ALL} FROM entries WHERE number = ?", number)
        if found is None or not self._is_intact(found, self._hash(number - 1), self._hash(number)):
            raise self.tampered_error()
        return entry_from_row(found)

    def entries(self) -> Iterator[tuple[Entry, str]]:
        """Yield all entries in their order, each with its hash.

        Raises:
            LedgerError: One has been changed, or is missing.
        """
        previous = INITIAL_HASH
        query = f"SELECT {_ALL}, hash FROM entries ORDER BY number"
        for expected, (*row, digest) in enumerate(self._connection.execute(query), 1):
            if row[0] != expected:
                raise LedgerError(f"{self.label} lacks entry {expected}; {RESTORE_ADVICE}.")
            if not self._is_intact(tuple(row), previous, digest):
                raise self.tampered_error(row[0])
            yield entry_from_row(tuple(row)), digest
            previous = digest

    def receipt(self, number: int) -> str:
        """Return the receipt of the entry of this number."""
        return format_receipt(number, self._hash(number))

    def datasets(self) -> list[str]:
        """Return the names of all data sets, in the order in which they were added.

        Raises:
            LedgerError: One has been changed.
        """
        query = "SELECT number FROM entries WHERE kind = 'dataset' ORDER BY number"
        found = self._connection.execute(query).fetchall()
        return [self.entry(number).dataset for (number,) in found]

    def find_dataset(self, name: str) -> Entry | None:
        """Return the entry that sets the total of a data set, if there is one."""
        return self._find_last("kind = 'dataset' AND dataset = ?", name)

    def dataset(self, name: str) -> Entry:
        """Return the entry that sets the total of a data set.

        Raises:
            LedgerError: There is no such data set.
        """
        found = self.find_dataset(name)
        if found is None:
            known = ", ".join(map(to_line, self.datasets()[:5]))
            raise LedgerError(
                f"There is no data set {to_line(name)} in {self.label}; it has {known or 'none'}."
            )
        return found

    def find_charge(self, number: int) -> Entry | None:
        """Return the charge of this number; None if that is none."""
        if number >= _END:
            return None
        return self._find_last("kind = 'charge' AND number = ?", number)

    def find_last_sum(self, dataset: str) -> Entry | None:
        """Return the last charge or settlement of a data set, if there is one."""
        charge = self._find_last("kind = 'charge' AND dataset = ?", dataset)
        settlement = self._find_last("kind = 'settlement' AND dataset = ?", dataset)
        if charge is None or settlement is None:
            return charge or settlement
        return max(charge, settlement, key=lambda entry: entry.number)

    def find_result(self, charge: int) -> Entry | None:
        """Return the result of a charge, if there is one."""
        return self._find_last("kind = 'result' AND charge = ?", charge)

    def count(self, kind: Kind, dataset: str) -> int:
        """Return how many entries of this kind a data set has."""
        query = "SELECT count(*) FROM entries WHERE kind = ? AND dataset = ?"
        (found,) = self._connection.execute(query, [kind, dataset]).fetchone()
        return int(found)

    def sum_of_charges(self, dataset: str) -> Fraction:
        """Return the sum of all charges of a data set as they were made, settled or not.

        Raises:
            LedgerError: One has been changed.
        """
        query = (
            "SELECT epsilon, count(*) FROM entries WHERE kind = 'charge' AND dataset = ? "
            "GROUP BY epsilon"
        )
        try:
            found = self._connection.execute(query, [dataset]).fetchall()
            return sum((parse_epsilon(each) * count for each, count in found), Fraction(0))
        except (TypeError, ValueError):
            raise self.tampered_error() from None

    # --- Charge

    def balance(self, dataset: str) -> Balance:
        """Return the total of a data set and what is spent of it.

        Raises:
            LedgerError: There is no such data set, or a later charge of it was hidden.
        """
        total, last = self.dataset(dataset), self.find_last_sum(dataset)
        self._check_no_sum_after(last or total)
        return Balance(parse_epsilon(total.epsilon), parse_spent(last), total.relation)

    def append(self, last: Entry | None, **columns: Any) -> tuple[Entry, str]:
        """Write an entry after the last one, and return it with its hash.

        Raises:
            LedgerError: It is not there when it is read back.
        """
        previous, number = (
            (INITIAL_HASH, 0) if last is None else (self._hash(last.number), last.number)
        )
        entry = Entry(number=number + 1, software=f"topgap {__version__}", **columns)
        digest = entry.hash(previous)
        values = [*(getattr(entry, name) for name in COLUMNS), digest]
        marks = ", ".join("?" * len(values))
        self._connection.execute(f"INSERT INTO entries ({_ALL}, hash) VALUES ({marks})", values)
        self._connection.execute("UPDATE head SET number = ?, hash = ?", [entry.number, digest])
        if self.head() != (entry.number, digest) or self.last() != entry:
            raise LedgerError(
                f"{self.label} does not keep what is written to it, so nothing was written; "
                f"{RESTORE_ADVICE}."
            )
        return entry, digest

    def tampered_error(self, number: int | None = None) -> LedgerError:
        """Return the error for a ledger that is not as it was written."""
        where = "" if number is None else f" at entry {number}"
        return LedgerError(
            f"{self.label} was modified outside topgap{where}, so its balance cannot be "
            f"trusted; {RESTORE_ADVICE}."
        )

    def _check_no_sum_after(self, entry: Entry) -> None:
        """See that no charge or settlement of this entry's data set comes after it.

        Raises:
            LedgerError: One does, or an entry there has been changed or is missing.
        """
        previous = self._hash(entry.number)
        query = f"SELECT {_ALL}, hash FROM entries WHERE number > ? ORDER BY number"
        for *row, digest in self._connection.execute(query, [entry.number]):
            if not self._is_intact(tuple(row), previous, digest):
                raise self.tampered_error(row[0])
            later = entry_from_row(tuple(row))
            if later.kind in ("charge", "settlement") and later.dataset == entry.dataset:
                raise self.tampered_error(later.number)
            previous = digest

    def _find_last(self, condition: str, value: object) -> Entry | None:
        query = f"SELECT number FROM entries WHERE {condition} ORDER BY number DESC LIMIT 1"
        found = self._one(query, value)
        return None if found is None else self.entry(found[0])

    def _hash(self, number: int) -> str:
        if number == 0:
            return INITIAL_HASH
        found = self._one("SELECT hash FROM entries WHERE number = ?", number)
        if found is None or not isinstance(found[0], str):
            raise self.tampered_error()
        return found[0]

    def _one(self, query: str, *values: object) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(query, values).fetchone()
        return found

    def _is_intact(self, row: tuple[Any, ...], previous: str, digest: object) -> bool:
        try:
            entry = entry_from_row(row)
            return entry.hash(previous) == digest and entry.is_valid()
        except TypeError:  # a value that no entry has
            return False


def charge_from_entry(
    entry: Entry,
    digest: str,
    total: Fraction,
    neighbours: Neighbours,
    result: str | None = None,
    settlement: Entry | None = None,
) -> Charge:
    """Return the charge of an entry to a data set with this total, for these neighbours.

    Args:
        entry: The entry of the charge.
        digest: Its hash.
        total: The total of its data set.
        neighbours: The relation of its data set.
        result: What came of it, if that was recorded.
        settlement: Its settlement, if it has one.
    """
    spent = parse_spent(entry)
    return Charge(
        number=entry.number,
        at=parse_timestamp(entry.at),
        dataset=entry.dataset,
        epsilon=parse_epsilon(entry.epsilon),
        spent=spent,
        left=total - spent,
        mechanism=entry.mechanism or "",
        parameters=json.loads(entry.parameters or "{}"),
        who=entry.who,
        note=entry.note,
        software=entry.software,
        neighbours=neighbours,
        stated_epsilon=None if entry.stated is None else parse_epsilon(entry.stated),
        stated_neighbours=entry.neighbours,
        receipt=format_receipt(entry.number, digest),
        result=result,
        settled=None if settlement is None else parse_epsilon(settlement.epsilon),
        left_settled=None if settlement is None else total - parse_spent(settlement),
    )


def parse_spent(entry: Entry | None) -> Fraction:
    """Return what is spent up to the last charge or settlement; nothing if there is none."""
    return Fraction(0) if entry is None else parse_epsilon(entry.spent)


def format_receipt(number: int, digest: str) -> str:
    """Return what tells an entry from any other: its number and its hash.

    >>> format_receipt(2, "3f2a")
    '2:3f2a'
    """
    return f"{number}:{digest}"
