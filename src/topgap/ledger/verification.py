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
from topgap.ledger.settlement import settled_cost
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
            raise LedgerError(f"{label} has another entry {entry.number} than the receipt.")
    if log.head() != (rules.entries, last):
        raise LedgerError(
            f"{label} lacks its last entries, or has different ones: it was modified outside "
            f"topgap."
        )
    if expected:
        missing = min(expected)
        raise LedgerError(f"{label} has no entry {missing}, for which there is a receipt.")
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
        self._charges: dict[int, Entry] = {}  # those without a result
        self._recorded: tuple[Entry, Entry] | None = None  # a result that came last, and its charge

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
        recorded, self._recorded = self._recorded, None
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
            self._charges[entry.number] = entry
            return self._is_summed_up(entry) and self._is_converted(entry)
        if entry.kind == "settlement":
            return recorded is not None and self._is_settled(entry, *recorded)
        charge = self._charges.pop(entry.charge or 0, None)  # for it has only one result
        if charge is None or charge.dataset != entry.dataset:
            return False
        self._recorded = entry, charge
        return True

    def _is_summed_up(self, entry: Entry, before: Fraction = Fraction(0)) -> bool:
        """Whether it has the sum up to it, to which it adds its ε in place of what was before."""
        self._spent[entry.dataset] += parse_epsilon(entry.epsilon) - before
        spent = self._spent[entry.dataset]
        return parse_epsilon(entry.spent) == spent <= self._totals[entry.dataset]

    def _is_settled(self, entry: Entry, result: Entry, charge: Entry) -> bool:
        """Whether it settles the charge of the result right before it to what that cost."""
        same = (entry.charge, entry.recorded, entry.dataset, entry.at, entry.who)
        if same != (charge.number, result.number, result.dataset, result.at, result.who):
            return False
        cost = settled_cost(charge, result.result or "", self._relations[entry.dataset])
        is_exact = cost == parse_epsilon(entry.epsilon)
        return is_exact and self._is_summed_up(entry, parse_epsilon(charge.epsilon))

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
            "A receipt is the number of an entry, a colon and all 64 digits of its hash."
        )
    return int(match[1])
