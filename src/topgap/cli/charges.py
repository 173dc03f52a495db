"""The question before a charge: `ask`."""

import sys

import typer

from topgap.cli.errors import FAILED
from topgap.cli.main import complain
from topgap.display.text import to_line
from topgap.ledger.charging import Charged, cost_in_words
from topgap.numbers.format import format_exact


def ask(payment: Charged) -> None:
    """Say what will be charged, and ask whether to go on, if somebody is there to answer.

    Raises:
        typer.Exit: They did not say yes.
    """
    if sys.stdin is None or sys.stderr is None or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return
    cost = cost_in_words(payment.cost, payment.epsilon)
    print(
        f"This charges {cost} to {to_line(payment.dataset)} and leaves "
        f"{format_exact(payment.left)}, whatever comes of it (--check tries it without a charge). "
        f"Go on? [y/N] ",
        end="",
        file=sys.stderr,
        flush=True,
    )
    if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
        complain("Not confirmed; nothing was charged or released.")
        raise typer.Exit(FAILED)
