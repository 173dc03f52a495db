"""What the command says about a charge: the question before it, and the receipt after it."""

import sys
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import typer

from topgap.cli.errors import FAILED, print_error, print_waiting_warnings
from topgap.display.text import to_line
from topgap.ledger import Charge
from topgap.ledger.charging import LedgerCharge, describe_cost
from topgap.ledger.entry import NUMBER_OF_GROUPS
from topgap.numbers.format import format_short, parse_exact


def confirm_charge(pending: LedgerCharge) -> None:
    """Print what will be charged, and ask whether to go on, if somebody is there to answer.

    Raises:
        typer.Exit: They did not say yes.
    """
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    print_waiting_warnings()
    cost = describe_cost(pending.cost, pending.epsilon)
    sharing = describe_sharing(pending.parameters)
    whatever = "whatever comes of it"
    if pending.may_settle:
        whatever = "or more if the threshold ends the list early"
    print(
        f"This charges {cost}{sharing and f' for {sharing}'} to {to_line(pending.dataset)} and "
        f"leaves "
        f"{format_short(pending.left)}, {whatever} (--check tries it without a charge). "
        f"Go on? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        print_error("Not confirmed; nothing was charged or released.")
        raise typer.Exit(FAILED)


def describe_charge(charge: Charge) -> str:
    """The sentence about a charge that was made, with its receipt."""
    converted = ""
    if charge.stated_epsilon is not None and charge.is_converted:
        stated = f"{format_short(charge.stated_epsilon)} for {charge.stated_neighbours}"
        converted = f" ({stated}, which is twice as much for {charge.neighbours})"
    left, settled = charge.left, ""
    if charge.settled is not None and charge.left_settled is not None:
        left, settled = charge.left_settled, f", settled to {format_short(charge.settled)}"
    sharing = describe_sharing(charge.parameters)
    return (
        f"Charged to {to_line(charge.dataset)}: ε = {format_short(charge.epsilon)}{converted}"
        f"{sharing and f' for {sharing}'}{settled}, which leaves {format_short(left)}. "
        f"Receipt {charge.receipt}"
    )


def describe_sharing(parameters: Mapping[str, Any]) -> str:
    """How many groups share the ε of a charge, and how; nothing if it is not of lists by group.

    Args:
        parameters: Those of the charge. Where they were noted by hand, they can be anything.

    >>> describe_sharing({"number_of_groups": 20, "groups_per_person": 2, "group_epsilon": "1/2"})
    '20 groups together (2 · 0.5: at most 2 groups per person, 0.5 per group)'
    >>> describe_sharing({"number_of_groups": 20, "groups_per_person": 1, "group_epsilon": "1"})
    '20 groups together (at most 1 group per person, 1 per group)'
    >>> describe_sharing({"groups_per_person": "two"})
    ''
    """
    number, most = (parameters.get(name) for name in (NUMBER_OF_GROUPS, "groups_per_person"))
    found = _read_exact(parameters, "group_epsilon")
    if found is None or type(most) is not int:
        return ""
    share = format_short(found[0])
    together = f"{_count_groups(number)} together" if type(number) is int else "all groups together"
    product = "" if most == 1 else f"{most:,} · {share}: "
    groups = f"{product}at most {_count_groups(most)} per person, {share} per group"
    return f"{together} ({groups}{_describe_measuring(parameters)})"


def _describe_measuring(parameters: Mapping[str, Any]) -> str:
    """How many measurements of one person are charged beside the lists, if there are any."""
    found = _read_exact(parameters, "epsilon", "selection_epsilon", "measurement_epsilon")
    if found is None or found[2] == 0:
        return ""
    whole, selection, each = found
    times = format_short((whole - selection) / each)
    return f"; {format_short(selection)} to select and {times} · {format_short(each)} to measure"


def _read_exact(parameters: Mapping[str, Any], *names: str) -> list[Fraction] | None:
    """The numbers of these names, if all of them are there."""
    try:
        return [parse_exact(parameters[name]) for name in names]
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None


def _count_groups(number: int) -> str:
    return f"{number:,} group" if number == 1 else f"{number:,} groups"
