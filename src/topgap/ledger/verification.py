"""Whether a ledger is as it was written, from the file's pages to the sums: `verify_entries`."""

import re
import sqlite3
from collections.abc import Iterable
from fractions import Fraction

from topgap.errors import LedgerError, ParameterError
from topgap.ledger.entry import (
    INITIAL_HASH,
    RESTORE_ADVICE,
    Entry,
    conversion_factor,
    parse_epsilon,
)
from topgap.ledger.entry_log import EntryLog, format_receipt
from topgap.ledger.models import Verification
from topgap.ledger.storage.database import has_our_tables
from topgap.parameters import Neighbours

_RECEIPT = re.compile(r"([1-9][0-9]{0,17}):[0-9a-f]{64}")


def verify_entries(
    connection: sqlite3.Connection, label: str, receipts: Iterable[str]
) -> Verification:
    """Verify a ledger from its pages to its sums, as `Ledger.verify` does.

    Raises:
        LedgerError: It is not as it was written.
    """
    expected: dict[int, set[str]] = {}
    for each in receipts:
        expected.setdefault(_entry_number(each), set()).add(each)
    log = EntryLog(connection, label)
    _check_file(connection, log)
    rules = _Rules(log)
    last = INITIAL_HASH
    for entry, last in log.entries():
        rules.check(entry)
        kept = expected.pop(entry.number, set())
        if not kept <= {format_receipt(entry.number, last)}:
            raise LedgerError(f"{label} has another entry {entry.number} than the receipt is of.")
    if log.head() != (rules.entries, last):
        raise LedgerError(f"{label} has lost its last entries, or got others, by other means.")
    if expected:
        missing = min(expected)
        raise LedgerError(f"{label} has no entry {missing}, of which there is a receipt.")
    if not has_our_tables(connection):
        raise LedgerError(
            f"{label} has lost some of the tables, indices and triggers that topgap makes, or got "
            f"others; its entries are as they were written."
        )
    return Verification(rules.entries, format_receipt(rules.entries, last))


def _check_file(connection: sqlite3.Connection, log: EntryLog) -> None:
    """See that its pages are sound."""
    findings = connection.execute("PRAGMA integrity_check(1)").fetchall()
    if findings != [("ok",)]:
        raise LedgerError(f"{log.label} is damaged; {RESTORE_ADVICE}.")


class _Rules:
    """What each entry must be after those before it, even if its hash is right."""

    def __init__(self, log: EntryLog) -> None:
        self._log = log
        self.entries = 0
        self._at = ""
        self._totals: dict[str, Fraction] = {}
        self._relations: dict[str, Neighbours] = {}
        self._spent: dict[str, Fraction] = {}
        self._charges: dict[int, str] = {}

    def check(self, entry: Entry) -> None:
        """See that the next entry can follow.

        Raises:
            LedgerError: It cannot.
        """
        if entry.at < self._at or not self._is_consistent(entry):
            raise self._log.tampered_error(entry.number)
        self.entries += 1
        self._at = entry.at

    def _is_consistent(self, entry: Entry) -> bool:
        if entry.kind == "dataset":
            if entry.dataset in self._totals:
                return False
            self._totals[entry.dataset] = parse_epsilon(entry.epsilon)
            self._relations[entry.dataset] = entry.relation
            self._spent[entry.dataset] = Fraction(0)
            return True
        if entry.dataset not in self._totals:
            return False
        if entry.kind == "charge":
            self._spent[entry.dataset] += parse_epsilon(entry.epsilon)
            self._charges[entry.number] = entry.dataset
            spent = self._spent[entry.dataset]
            is_summed_up = parse_epsilon(entry.spent) == spent <= self._totals[entry.dataset]
            return is_summed_up and self._is_converted(entry)
        return self._charges.pop(entry.charge or 0, None) == entry.dataset  # and only once

    def _is_converted(self, entry: Entry) -> bool:
        """Whether its ε is what was stated, for the relation of its data set."""
        times = conversion_factor(entry.neighbours, self._relations[entry.dataset])
        if times is None or entry.stated is None:
            return times is not None
        return parse_epsilon(entry.epsilon) == parse_epsilon(entry.stated) * times


def _entry_number(text: str) -> int:
    """Return the number of the entry that a receipt is of."""
    match = _RECEIPT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise ParameterError(
            "A receipt is the number of an entry, a colon and its hash of 64 digits, all of them."
        )
    return int(match[1])
