"""Leads and uncertain orders, computed from the gaps of a release; and what count stands out."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import log

from topgap.parameters import TopK

ONE_IN = 20
"""An order is uncertain if the gap of two equal items is as large once in this many releases."""

NEAR_TIES = (
    "Where an order or the last place is uncertain, the estimates lean one way or the other and "
    "are off by more than their standard errors say; the intervals allow for that, and the "
    "measurements alone, which files and the page have too, do not lean."
)
"""The note on estimates if any order or the last place is uncertain."""


def leads(gaps: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return the lead of each winner over the first item that is not named.

    >>> leads([Fraction("12.5"), Fraction("0.3")])
    (Fraction(64, 5), Fraction(3, 10))
    """
    total = Fraction(0)
    ahead = []
    for gap in reversed(gaps):
        total += gap
        ahead.append(total)
    return tuple(reversed(ahead))


def least_certain_gap(parameters: TopK) -> Fraction:
    """Return the smallest gap whose order is not called uncertain: scale · ln 20, nearly.

    The difference of two independent exponential noises has an exponentially distributed size, of
    the same mean, so two items with equal answers come out at least g apart with probability
    e to the power of −g/scale: here, once in 20 times.

    >>> round(float(least_certain_gap(TopK(k=2, epsilon=1))), 3)  # noise of mean 4
    11.983
    """
    return parameters.scale * Fraction(log(ONE_IN))


def is_uncertain(gap: Fraction, parameters: TopK) -> bool:
    """Whether noise alone often separates two equal items by this gap.

    >>> parameters = TopK(k=2, epsilon=1)
    >>> is_uncertain(Fraction(10), parameters), is_uncertain(Fraction(15), parameters)
    (True, False)
    """
    return gap < least_certain_gap(parameters)


def is_any_uncertain(gaps: Iterable[Fraction], parameters: TopK) -> bool:
    """Whether the order of any two adjacent winners, or the last place, is uncertain.

    >>> is_any_uncertain([Fraction("12.5"), Fraction("0.3")], TopK(k=2, epsilon=1))
    True
    """
    return any(is_uncertain(gap, parameters) for gap in gaps)


def count_to_stand_out(parameters: TopK, size: int) -> Fraction:
    """Return about how large a count must be to stand out in a domain of this size.

    The k-th largest of `size` independent exponential noises lies near scale · (ln size − ln k), so
    an item whose count is below that comes out among items that nobody has. It is a public number.

    Args:
        parameters: The parameters of the release.
        size: The number of items in the domain; an integer of any size.

    >>> parameters = TopK(k=10, epsilon=1, monotonic=True)
    >>> [round(count_to_stand_out(parameters, size)) for size in (10**12, 26**12, 2**160)]
    [253, 368, 1086]
    """
    return max(Fraction(0), parameters.scale * Fraction(log(size) - log(parameters.k)))
