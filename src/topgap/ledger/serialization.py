"""Budgets and charges as JSON holds them: exact numbers and times as text."""

import json
from fractions import Fraction
from typing import Any

from topgap.ledger.entry import format_timestamp
from topgap.ledger.models import Budget, Charge
from topgap.numbers.format import format_exact

FORMAT = "topgap.ledger/1"


def budget_to_dict(budget: Budget) -> dict[str, Any]:
    """Return a data set with what is spent and left.

    >>> from datetime import UTC, datetime
    >>> from fractions import Fraction
    >>> since = datetime(2026, 1, 1, tzinfo=UTC)
    >>> budget = Budget("visits", Fraction(2), Fraction(1), Fraction(1, 3), 1, 1, 0, since, "ana",
    ...                 None, "add-remove", True)
    >>> made = budget_to_dict(budget)
    >>> made["reserved"], made["spent"], made["left"], made["since"]
    ('1', '1/3', '5/3', '2026-01-01T00:00:00.000000Z')
    """
    return {
        "dataset": budget.dataset,
        "total": format_exact(budget.total),
        "reserved": format_exact(budget.reserved),
        "spent": format_exact(budget.spent),
        "left": format_exact(budget.left),
        "charges": budget.charges,
        "settled": budget.settled,
        "without_result": budget.without_result,
        "since": format_timestamp(budget.since),
        "who": budget.who,
        "note": budget.note,
        "neighbours": budget.neighbours,
        "neighbours_stated": budget.neighbours_stated,
    }


def charge_to_dict(charge: Charge) -> dict[str, Any]:
    """Return a charge with its result and its settlement, if it has them."""
    return {
        "entry": charge.number,
        "at": format_timestamp(charge.at),
        "dataset": charge.dataset,
        "epsilon": format_exact(charge.epsilon),
        "spent": format_exact(charge.spent),
        "left": format_exact(charge.left),
        "mechanism": charge.mechanism,
        "parameters": charge.parameters,
        "who": charge.who,
        "note": charge.note,
        "software": charge.software,
        "neighbours": charge.neighbours,
        "stated_epsilon": _format_known(charge.stated_epsilon),
        "stated_neighbours": charge.stated_neighbours,
        "settled": _format_known(charge.settled),
        "left_settled": _format_known(charge.left_settled),
        "receipt": charge.receipt,
        "result": None if charge.result is None else json.loads(charge.result),
    }


def _format_known(number: Fraction | None) -> str | None:
    return None if number is None else format_exact(number)
