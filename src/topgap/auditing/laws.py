"""Frequencies against the exact law, by binomial tails that err to the safe side."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import perm, sqrt
from typing import NamedTuple

from topgap.auditing.binomial import tail
from topgap.auditing.cases import Neighbours
from topgap.auditing.features import ITEMS, WHOLE, Labels, Tally, in_words
from topgap.auditing.findings import LawCheck, Misfit
from topgap.law import Bounds, gap_top_k, top_k
from topgap.parameters import TopK

MOST_CELLS = 64
_MOST_STEPS = 12
_MOST_ORDERS = 128
_FARTHEST_APART = 200
_BITS = 96
_REST = "any other outcome"


class Cell(NamedTuple):
    """A label of a feature, and bounds of its probability; None for the label: all others."""

    feature: int
    label: object
    bounds: Bounds


def cap(case: Neighbours) -> int:
    """Gaps below so many steps are told apart when the law is looked at.

    >>> cap(Neighbours((1, 0), (0, 0), TopK(k=1, epsilon=1)))
    12
    """
    orders = perm(len(case.answers), case.parameters.k)
    return max(1, min(_MOST_STEPS, int((MOST_CELLS / orders + 1e-9) ** (1 / case.parameters.k))))


def tails(case: Neighbours, *, gaps: bool) -> int:
    """How many tails the law of both data sets is looked at by: two for each cell.

    >>> tails(Neighbours((1, 0), (0, 0), TopK(k=1, epsilon=1)), gaps=True)
    108
    """
    orders = perm(len(case.answers), case.parameters.k)
    number = orders + gaps * (orders * cap(case) ** case.parameters.k + 1)
    return sum(2 * number for side in case.sides if _is_computed(side, case.parameters))


@lru_cache(maxsize=1024)
def cells(answers: tuple[int, ...], parameters: TopK, most: int, *, gaps: bool) -> tuple[Cell, ...]:
    """The cells whose probability is computed; none where that would take too long.

    With gaps these are all outcomes with every gap below `most` steps, one cell for the rest, and
    the winners alone; without gaps, the winners.
    """
    k, n = parameters.k, len(answers)
    if not _is_computed(answers, parameters):
        return ()
    orders = list(permutations(range(n), k))
    least = min(answers)  # only differences matter, and small numbers are read faster
    small = tuple(each - least for each in answers)
    winners = [Cell(int(gaps), each, top_k(small, parameters, each, bits=_BITS)) for each in orders]
    if not gaps:
        return tuple(winners)
    whole = []
    for order, steps in product(orders, product(range(most), repeat=k)):
        pairs = [(i, s * parameters.resolution) for i, s in zip(order, steps, strict=True)]
        whole.append(Cell(0, (order, steps), gap_top_k(small, parameters, pairs, bits=_BITS)))
    low = sum((each.bounds.low for each in whole), Fraction(0))
    high = sum((each.bounds.high for each in whole), Fraction(0))
    rest = Cell(0, None, Bounds(max(1 - high, Fraction(0)), 1 - low))
    return (*whole, rest, *winners)


def _is_computed(answers: tuple[int, ...], parameters: TopK) -> bool:
    apart = (max(answers) - min(answers)) / parameters.resolution
    return perm(len(answers), parameters.k) <= _MOST_ORDERS and apart <= _FARTHEST_APART


def check(
    case: Neighbours, tallies: Sequence[Tally], level: Fraction, *, gaps: bool
) -> tuple[LawCheck, ...]:
    """Hold what came on both data sets against the law.

    With the right law, each tail is cut off with probability at most `level`; and what is
    impossible does not come at all.

    Args:
        case: The data sets and parameters.
        tallies: What came on each of both.
        level: The probability with which one tail may be found too small by chance.
        gaps: Whether there are gaps.
    """
    return tuple(
        _check(case, side, one, level, gaps=gaps)
        for side, one in zip(case.sides, tallies, strict=True)
    )


def _check(
    case: Neighbours, answers: tuple[int, ...], one: Tally, level: Fraction, *, gaps: bool
) -> LawCheck:
    most = cap(case)
    looked_at = cells(answers, case.parameters, most, gaps=gaps)
    never = [Misfit(why, times, 0.0, 0.0) for why, times in one.impossible.most_common()]
    told_apart = {cell.label for cell in looked_at}
    found = []
    for cell in looked_at:
        count = _count(one.counts[cell.feature], cell, told_apart)
        if _is_misfit(count, one.releases, cell.bounds, level):
            feature = (WHOLE if gaps else ITEMS, ITEMS)[cell.feature]
            said = _REST if cell.label is None else in_words(feature, [cell.label], most)
            found.append(Misfit(said, count, float(cell.bounds.low), float(cell.bounds.high)))
    found.sort(key=lambda each: _surprise(each, one.releases), reverse=True)
    return LawCheck(answers, case, one.releases, len(looked_at), (*never, *found))


def _count(counts: Labels, cell: Cell, told_apart: set[object]) -> int:
    if cell.label is not None:
        return counts[cell.label]
    return sum(times for label, times in counts.items() if label not in told_apart)


def _is_misfit(count: int, releases: int, bounds: Bounds, level: Fraction) -> bool:
    """Whether it is too much even for the largest probability, or too little for the smallest."""
    too_often = tail(releases, count, bounds.high)
    too_rare = tail(releases, releases - count, 1 - bounds.low)
    return min(too_often, too_rare) < level


def _surprise(misfit: Misfit, releases: int) -> float:
    """About how many standard deviations it is off, to tell the worst first."""
    expected = max(misfit.low * releases, 1e-9)
    return abs(misfit.count - expected) / sqrt(expected)
