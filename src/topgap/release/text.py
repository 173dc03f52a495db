"""A release as a table for people, with the sentences below it; and as one line."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from topgap.display.items import format_item
from topgap.display.numbers import format_level
from topgap.display.text import to_line, to_repr
from topgap.domains import DomainDescription
from topgap.numbers.format import format_exact, format_rounded
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.release.notes import (
    explain_bias,
    explain_threshold,
    format_note,
    format_threshold,
)

Grid = tuple[list[str], list[list[str]], str]

MOST_ROWS = 60
"""So many winners are shown of a long list."""

_MOST_IN_LINE = 5


class ShownNumbers(NamedTuple):
    """How large the winners' answers are, as a table shows it.

    Attributes:
        name: What such a number is called.
        values: One for each winner.
        errors: The standard errors.
        intervals: The ends of the intervals.
    """

    name: str
    values: Sequence[Fraction]
    errors: Sequence[float]
    intervals: Sequence[tuple[Fraction, Fraction]]


def build_table(
    parameters: TopK,
    items: Sequence[Any],
    gaps: Sequence[Fraction] | None,
    numbers: ShownNumbers | None,
    domain: DomainDescription | None,
    *,
    most: int,
    cost: str = "",
    level: "Number" = LEVEL,
) -> Grid:
    """Return the head of the table, at most so many rows, and what is to be said below.

    Args:
        parameters: The parameters of the release.
        items: All winners.
        gaps: Their gaps, if there are any.
        numbers: How large they are, if that is known.
        domain: Which items took part, if that is known.
        most: So many winners are shown.
        cost: What it has cost in ε, if not only this release.
        level: That of the intervals.
    """
    head = ["rank", "item"] + ["ahead of the next by"] * (gaps is not None)
    ranked = enumerate(items[:most], 1)
    rows = [[str(rank), to_line(format_item(item))] for rank, item in ranked]
    for row, gap in zip(rows, gaps or (), strict=False):
        row.append(format_exact(gap))
    if numbers is not None:
        columns = zip(numbers.values, numbers.errors, numbers.intervals, strict=True)
        for row, (value, error, interval) in zip(rows, columns, strict=False):
            low, high = map(format_exact, interval)
            row += [format_exact(value), format_rounded(error, error), low, high]
        head += [numbers.name, "±", f"{format_level(level)} from", "to"]
    notes = [f"… and {len(items) - len(rows)} more"] if len(items) > len(rows) else []
    notes += explain_threshold(parameters, len(items))
    has_values = numbers is not None
    shows_values = has_values and bool(rows)
    notes.append(format_note(parameters, cost, domain, has_values=shows_values))
    notes += explain_bias(gaps or (), parameters, level) if has_values else []
    return head, rows, "\n".join(notes)


def describe_winners(
    parameters: TopK, items: Sequence[Any], *, has_values: bool, domain_from_data: bool
) -> str:
    """Return the release on one line, with the first of its winners."""
    count = len(items)
    shown = ", ".join(to_line(to_repr(item)) for item in items[:_MOST_IN_LINE])
    more = ", …" if count > _MOST_IN_LINE else ""
    cost = f"ε = {parameters.epsilon}" + ", of a list from the data" * domain_from_data
    named = f"the top {count}"
    if parameters.threshold is not None:
        many = f"{count:,} items" if count > 1 else "1 item"
        named = many if count else "no item"
        named += f" that reached {format_threshold(parameters)}"
    values = " with values" * (has_values and count > 0)
    return f"<Release of {named}{values} at {cost}{': ' if shown else ''}{shown}{more}>"
