"""What the entries of a ledger say of a data set: its budget, and its charges."""

from fractions import Fraction

from topgap.ledger.entry import Entry, parse_epsilon, parse_timestamp
from topgap.ledger.entry_log import EntryLog, charge_from_entry, parse_spent
from topgap.ledger.models import Budget, Charge
from topgap.parameters import Neighbours


def read_budget(log: EntryLog, dataset: str) -> Budget:
    """Return the budget of a data set.

    Raises:
        LedgerError: There is no such data set.
    """
    entry = log.dataset(dataset)
    charges, results = log.count("charge", dataset), log.count("result", dataset)
    return Budget(
        dataset=dataset,
        total=parse_epsilon(entry.epsilon),
        reserved=log.sum_of_charges(dataset),
        spent=parse_spent(log.find_last_sum(dataset)),
        charges=charges,
        settled=log.count("settlement", dataset),
        without_result=charges - results,
        since=parse_timestamp(entry.at),
        who=entry.who,
        note=entry.note,
        neighbours=entry.relation,
        neighbours_stated=entry.neighbours is not None,
    )


def read_budgets(log: EntryLog) -> tuple[Budget, ...]:
    """Return the budgets of all data sets, in the order in which they were added."""
    return tuple(read_budget(log, name) for name in log.datasets())


def read_charges(log: EntryLog, dataset: str | None) -> tuple[Charge, ...]:
    """Return the charges of a data set, or of all, with their results and settlements.

    Raises:
        LedgerError: There is no such data set.
    """
    if dataset is not None:
        log.dataset(dataset)
    totals: dict[str, tuple[Fraction, Neighbours]] = {}
    charged: list[tuple[Entry, str]] = []
    results: dict[int | None, str | None] = {}
    settlements: dict[int | None, Entry] = {}
    for entry, digest in log.entries():
        if entry.kind == "dataset":
            totals[entry.dataset] = parse_epsilon(entry.epsilon), entry.relation
        elif entry.kind == "result":
            results[entry.charge] = entry.result
        elif entry.kind == "settlement":
            settlements[entry.charge] = entry
        elif entry.dataset not in totals:
            raise log.tampered_error(entry.number)
        elif dataset in (None, entry.dataset):
            charged.append((entry, digest))
    return tuple(
        charge_from_entry(
            entry,
            digest,
            *totals[entry.dataset],
            results.get(entry.number),
            settlements.get(entry.number),
        )
        for entry, digest in charged
    )
