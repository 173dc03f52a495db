"""A release as a table for people, with the sentences below it; and as one line."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from topgap.display.items import format_item
from topgap.display.numbers import format_estimate, format_level, format_signed
from topgap.display.text import to_line, to_repr
from topgap.domains import DomainDescription
from topgap.numbers.format import format_exact, format_rounded, to_float
from topgap.numbers.parse import LEVEL, Number
from topgap.parameters import TopK
from topgap.release.counts import Count
from topgap.release.notes import explain_bias, format_note
from topgap.release.threshold_notes import describe_spent, explain_threshold, format_threshold

Grid = tuple[list[str], list[list[str]], str]

MOST_ROWS = 60
"""So many winners are shown of a long list."""

_MOST_IN_LINE = 5


def build_table(
    parameters: TopK,
    items: Sequence[Any],
    gaps: Sequence[Fraction] | None,
    counts: Sequence[Count] | None,
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
        counts: How large they are, if that is known.
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
    has_counts = counts is not None
    if counts is not None:
        for row, count in zip(rows, counts, strict=False):
            row += _format_count(count, parameters)
        name = "value" if parameters.noise == "laplace" else "count"
        head += [name, "±", f"{format_level(level)} from", "to"]
    notes = [f"… and {len(items) - len(rows)} more"] if len(items) > len(rows) else []
    notes += explain_threshold(parameters, len(items), has_gaps=gaps is not None)
    shows_counts = has_counts and bool(rows)
    notes.append(format_note(parameters, cost, domain, len(items), has_counts=shows_counts))
    notes += explain_bias(gaps or (), parameters, level) if has_counts else []
    return head, rows, "\n".join(notes)


def format_number(count: Count, parameters: TopK) -> str:
    """Return a count with its standard error as a chart shows it.

    A value of Laplace noise is whole steps, and stands there exactly.

    >>> count = Count("flu", Fraction("645.4"), 5.66, Fraction(633), Fraction(658), False)
    >>> format_number(count, TopK(k=4, epsilon=1, threshold=500))
    '645.4 ± 5.7'
    """
    error = count.standard_error
    if parameters.noise == "laplace":
        number = format_signed(count.value, parameters.resolution)
    else:
        number = format_estimate(to_float(count.value), error)
    return f"{number} ± {format_estimate(error, error)}"


def _format_count(count: Count, parameters: TopK) -> list[str]:
    """Return the cells of a row: of a count, the digits that mean something."""
    numbers, error = (count.value, count.low, count.high), count.standard_error
    if parameters.noise == "laplace":
        value, low, high = map(format_exact, numbers)
    else:
        value, low, high = (format_rounded(to_float(each), error) for each in numbers)
    return [value, format_rounded(error, error), low, high]


def describe_winners(
    parameters: TopK, items: Sequence[Any], *, has_counts: bool, domain_from_data: bool
) -> str:
    """Return the release on one line, with the first of its winners."""
    count = len(items)
    shown = ", ".join(to_line(to_repr(item)) for item in items[:_MOST_IN_LINE])
    more = ", …" if count > _MOST_IN_LINE else ""
    cost = describe_spent(parameters, count) + ", of a list from the data" * domain_from_data
    named = f"the top {count}"
    if parameters.threshold is not None:
        many = f"{count:,} items" if count > 1 else "1 item"
        above = "above" if parameters.has_sentinel else "that reached"
        named = f"{many if count else 'no item'} {above} {format_threshold(parameters)}"
    name = "values" if parameters.noise == "laplace" else "counts"
    numbers = f" with {name}" * (has_counts and count > 0)
    return f"<Release of {named}{numbers} at {cost}{': ' if shown else ''}{shown}{more}>"
