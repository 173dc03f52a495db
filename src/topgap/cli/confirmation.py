"""The question before a charge: `ask`."""

import sys

import typer

from topgap.cli import complain
from topgap.cli.complaints import FAILED
from topgap.display.text import to_line
from topgap.ledger.charging import LedgerCharge, describe_cost
from topgap.numbers.format import format_exact


def ask(pending: LedgerCharge) -> None:
    """Say what will be charged, and ask whether to go on, if somebody is there to answer.

    Raises:
        typer.Exit: They did not say yes.
    """
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    cost = describe_cost(pending.cost, pending.epsilon)
    print(
        f"This charges {cost} to {to_line(pending.dataset)} and leaves "
        f"{format_exact(pending.left)}, whatever comes of it (--check tries it without a charge). "
        f"Go on? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        complain("Not confirmed; nothing was charged or released.")
        raise typer.Exit(FAILED)
