"""What the entries of a ledger add up to."""

import json
from fractions import Fraction
from typing import NamedTuple

from topgap.display.text import to_line
from topgap.errors import LedgerError
from topgap.ledger import clock
from topgap.ledger.entry import Entry
from topgap.ledger.entry_log import Log, receipt
from topgap.ledger.models import Budget, Charge
from topgap.neighbours import Neighbours
from topgap.numbers.format import parse_exact


class Balance(NamedTuple):
    """The total of a data set, what is spent of it, and for which neighbours."""

    total: Fraction
    spent: Fraction
    neighbours: Neighbours


def balance(log: Log, dataset: str) -> Balance:
    """How a data set stands.

    Raises:
        LedgerError: There is no such data set, or a later charge of it was hidden.
    """
    total, charge = _total(log, dataset), log.last_charge(dataset)
    log.check_behind(charge or total)
    return Balance(number(total.epsilon), _spent(charge), total.relation)


def budget(log: Log, dataset: str) -> Budget:
    """All that is to be told of a data set.

    Raises:
        LedgerError: There is no such data set.
    """
    entry = _total(log, dataset)
    charges, results = log.how_many("charge", dataset), log.how_many("result", dataset)
    return Budget(
        dataset=dataset,
        total=number(entry.epsilon),
        spent=_spent(log.last_charge(dataset)),
        charges=charges,
        without_result=charges - results,
        since=clock.read(entry.at),
        who=entry.who,
        note=entry.note,
        neighbours=entry.relation,
        neighbours_stated=entry.neighbours is not None,
    )


def charges(log: Log, dataset: str | None) -> tuple[Charge, ...]:
    """The charges of a data set, or of all.

    Raises:
        LedgerError: There is no such data set.
    """
    if dataset is not None:
        _total(log, dataset)
    totals: dict[str, tuple[Fraction, Neighbours]] = {}
    charged: list[tuple[Entry, str]] = []
    results: dict[int | None, str | None] = {}
    for entry, digest in log.all():
        if entry.kind == "dataset":
            totals[entry.dataset] = number(entry.epsilon), entry.relation
        elif entry.kind == "result":
            results[entry.charge] = entry.result
        elif entry.dataset not in totals:
            raise log.changed(entry.number)
        elif dataset in (None, entry.dataset):
            charged.append((entry, digest))
    return tuple(
        charge_of(entry, digest, *totals[entry.dataset], results.get(entry.number))
        for entry, digest in charged
    )


def charge_of(
    entry: Entry, digest: str, total: Fraction, neighbours: Neighbours, result: str | None
) -> Charge:
    """The charge of an entry to a data set with this total, for these neighbours."""
    spent = _spent(entry)
    return Charge(
        number=entry.number,
        at=clock.read(entry.at),
        dataset=entry.dataset,
        epsilon=number(entry.epsilon),
        spent=spent,
        left=total - spent,
        mechanism=entry.mechanism or "",
        parameters=json.loads(entry.parameters or "{}"),
        who=entry.who,
        note=entry.note,
        software=entry.software,
        neighbours=neighbours,
        stated_epsilon=None if entry.stated is None else number(entry.stated),
        stated_neighbours=entry.neighbours,
        receipt=receipt(entry.number, digest),
        result=result,
    )


def number(text: str | None) -> Fraction:
    """The number of an entry that has one."""
    return parse_exact(text or "")


def _spent(charge: Entry | None) -> Fraction:
    return Fraction(0) if charge is None else number(charge.spent)


def _total(log: Log, dataset: str) -> Entry:
    entry = log.dataset(dataset)
    if entry is None:
        known = ", ".join(map(to_line, log.datasets()[:5]))
        raise LedgerError(
            f"There is no data set {to_line(dataset)} in {log.label}; there "
            f"{'are' if ',' in known else 'is'} {known or 'none'}."
        )
    return entry
