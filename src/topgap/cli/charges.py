"""What the command says about a charge: the question before it, and the receipt after it."""

import sys

import typer

from topgap.cli.errors import FAILED, print_error
from topgap.display.text import to_line
from topgap.ledger import Charge
from topgap.ledger.charging import LedgerCharge, describe_cost
from topgap.numbers.format import format_exact


def confirm_charge(pending: LedgerCharge) -> None:
    """Print what will be charged, and ask whether to go on, if somebody is there to answer.

    Raises:
        typer.Exit: They did not say yes.
    """
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    cost = describe_cost(pending.cost, pending.epsilon)
    whatever = "whatever comes of it"
    if pending.may_settle:
        whatever = "or more if the threshold ends the list early"
    print(
        f"This charges {cost} to {to_line(pending.dataset)} and leaves "
        f"{format_exact(pending.left)}, {whatever} (--check tries it without a charge). "
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
        stated = f"{format_exact(charge.stated_epsilon)} for {charge.stated_neighbours}"
        converted = f" ({stated}, which is twice as much for {charge.neighbours})"
    left, settled = charge.left, ""
    if charge.settled is not None and charge.left_settled is not None:
        left, settled = charge.left_settled, f", settled to {format_exact(charge.settled)}"
    return (
        f"Charged to {to_line(charge.dataset)}: ε = {format_exact(charge.epsilon)}{converted}"
        f"{settled}, which leaves {format_exact(left)}. Receipt {charge.receipt}"
    )
