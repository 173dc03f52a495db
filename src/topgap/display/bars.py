"""Bars beside the rows of a table: gaps, or numbers with their intervals.

A terminal and a notebook each draw them in their own way.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from topgap.display.numbers import ChartScale, format_about
from topgap.margins import is_uncertain, leads, least_certain_gap
from topgap.parameters import TopK


class Bar(NamedTuple):
    """A bar, in the unit of the answers.

    Attributes:
        start: Where its full part starts; before it is the lead of the next item.
        end: Where it ends.
        interval: The ends of an error bar, if there is one.
        is_uncertain: Whether noise may have decided the order here.
        reach: The axis goes so far at least.
    """

    start: Fraction
    end: Fraction
    interval: tuple[Fraction, Fraction] | None
    is_uncertain: bool
    reach: Fraction


def list_gap_bars(gaps: Sequence[Fraction], parameters: TopK) -> list[Bar]:
    """Return a bar for each winner, up to its lead over the first item that is not named.

    Its full part is the winner's own gap.

    >>> bars = list_gap_bars([Fraction(30), Fraction(10)], TopK(k=2, epsilon=1))
    >>> [(int(bar.start), int(bar.end)) for bar in bars]
    [(10, 40), (0, 10)]
    """
    ends, least = [*leads(gaps), Fraction(0)], least_certain_gap(parameters)
    return [
        Bar(following, end, None, is_uncertain(gap, parameters), max(end, least))
        for gap, end, following in zip(gaps, ends, ends[1:], strict=False)
    ]


def list_number_bars(scale: ChartScale, uncertain: Sequence[bool]) -> list[Bar]:
    """Return a bar from 0 to each number, with its interval; of a negative number nothing."""
    zero = Fraction(0)
    return [
        Bar(zero, max(zero, number), (max(zero, low), max(zero, high)), doubt, max(high, number))
        for (low, number, high), doubt in zip(scale.spans, uncertain, strict=True)
    ]


def explain_uncertain(parameters: TopK) -> str:
    """Return the legend of the mark beside uncertain bars."""
    below = format_about(least_certain_gap(parameters))
    return (
        f"order uncertain: a gap below {below}; equal items come out that far apart with "
        f"probability 5%"
    )
