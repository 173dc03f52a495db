"""Record the result of a charge, and settle the charge, in one transaction: `record_result`."""

from topgap.errors import ChargeMissingError, LedgerError
from topgap.ledger.entry import Entry, make_timestamp, parse_epsilon
from topgap.ledger.entry_log import EntryLog, charge_from_entry
from topgap.ledger.models import Charge
from topgap.ledger.settlement import settled_cost
from topgap.ledger.validation import Recordable, convert_epsilon
from topgap.numbers.format import format_exact, format_short

MOST_DIGITS = 2_000
"""How many digits the denominator of a sum may have."""


def record_result(
    log: EntryLog,
    number: int,
    receipt: str | None,
    result: Recordable,
    who: str,
    *,
    settles: bool,
) -> Charge:
    """Append the result of a charge, and the settlement that follows from it.

    Args:
        log: The entries, in the transaction of both.
        number: The number of the charge.
        receipt: Its receipt; None if only the number is known.
        result: What came of it.
        who: Who records it.
        settles: Whether a settlement may follow: only what a call has drawn itself settles.

    Returns:
        The charge with its result and its settlement.

    Raises:
        ChargeMissingError: There is no such charge.
        LedgerError: It has a result already, or the result cost more.
    """
    last, charged = log.last(), log.find_charge(number)
    if last is None or charged is None:
        raise ChargeMissingError(f"{log.label} has no charge {number}.")
    found = log.receipt(number)
    if receipt not in (None, found):
        raise ChargeMissingError(f"{log.label} has another charge {number} than this one.")
    dataset = log.find_dataset(charged.dataset)
    if dataset is None:
        raise log.tampered_error()
    _check_cost(charged, result, dataset)
    if log.find_result(number) is not None:
        raise LedgerError(
            f"Charge {number} already has its result; a result is recorded only once."
        )
    # Whatever the clock says, for what is there now must not be lost.
    at = make_timestamp(last.at, check=False)
    recorded, _ = log.append(
        last, kind="result", at=at, dataset=charged.dataset, charge=number, result=result.json,
        who=who,
    )  # fmt: skip
    settlement = _settle(log, charged, recorded, dataset) if settles else None
    total = parse_epsilon(dataset.epsilon)
    digest = found.partition(":")[2]
    return charge_from_entry(charged, digest, total, dataset.relation, result.json, settlement)


def _check_cost(charged: Entry, result: Recordable, dataset: Entry) -> None:
    """See that no more was released than charged."""
    if result.cost is None:
        return
    cost = convert_epsilon(result.cost, result.neighbours, dataset.relation, charged.dataset)
    promised = parse_epsilon(charged.epsilon)
    if cost > promised:
        raise LedgerError(
            f"Charge {charged.number} is of ε = {format_short(promised)}, and the result cost "
            f"more: {format_short(cost)}."
        )


def _settle(log: EntryLog, charged: Entry, recorded: Entry, dataset: Entry) -> Entry | None:
    """Append the settlement of a charge right after its result, if it cost less than charged."""
    cost = settled_cost(charged, recorded.result or "", dataset.relation)
    if cost is None:
        return None
    spent = log.balance(charged.dataset).spent - parse_epsilon(charged.epsilon) + cost
    if spent.denominator >= 10**MOST_DIGITS:
        return None  # all of it stays charged
    settlement, _ = log.append(
        recorded, kind="settlement", at=recorded.at, dataset=charged.dataset,
        epsilon=format_exact(cost), spent=format_exact(spent), charge=charged.number,
        recorded=recorded.number, who=recorded.who,
    )  # fmt: skip
    return settlement
