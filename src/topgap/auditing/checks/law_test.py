"""A test of the exact law: frequencies of outcomes against their probabilities, by binomial tails.

Three partitions of the outcomes into cells are tested: by the winners; by the winners and the size
of one gap; by the winners and the sizes of all gaps. Where there are too many winners, only the
first of them are distinguished.

The fourth test is of the last bits of large gaps. For t ≥ max − min of the answers, in steps,
P[gap i ≥ t] = C·x^(it) with x = e^−ρ: if winners 1 to i are lowered by t, they lie below all other
answers, where the probability to exceed something has a factor x for each step. So a gap i that is
at least t, a multiple of 8, has remainder r by 8 with the probability
P[gap i ≥ t]·x^(ir)/(1 + x^i + … + x^(7i)). This holds for exponential noise; for Laplace noise
`laplace_cells` has what takes its place.

With a threshold there are such cells for each number of winners. The sentinel is one more item: it
comes next after the winners if there are fewer than k, and is one of the losers if there are k.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import perm, sqrt

from topgap.auditing.cases.neighbours import Neighbours
from topgap.auditing.checks.cells import MOST_ORDERS, Cell, Key, OrderLaw
from topgap.auditing.checks.laplace_cells import (
    LaplaceLaw,
    count_cells_of_values,
    make_cells_of_values,
    read_labels_of_values,
)
from topgap.auditing.observing.event_text import describe_number, format_range, format_steps
from topgap.auditing.observing.gap_bins import (
    Edges,
    GapBins,
    bin_end,
    bin_start,
    make_gap_bins,
    prefix_length,
)
from topgap.auditing.observing.observables import (
    ITEMS,
    ITEMS_AND_GAPS,
    MODULUS,
    Tally,
)
from topgap.auditing.probability.binomial import tail_bound
from topgap.auditing.probability.directed_rounding import round_down, round_up
from topgap.auditing.probability.event_probability import (
    Range,
    Winners,
    bound_probability,
    is_computable,
    power_bounds,
)
from topgap.auditing.results.findings import LawCheck, Misfit
from topgap.law import Bounds

_MOST_WORK = 4_000
_FROM_0: Range = (0, None)


def count_tails(case: Neighbours, *, gaps: bool) -> int:
    """The number of tails in the test of both data sets: two for each cell.

    The law is not computed for this, so that early failures do not wait for it.

    >>> from topgap.parameters import TopK
    >>> count_tails(Neighbours((1, 0), (0, 0), TopK(k=1, epsilon=1)), gaps=False)
    8
    """
    number = sum(_count_cells_of(case, winners, gaps=gaps) for winners in _numbers(case))
    return sum(2 * number for side in case.sides if _laws(case, side, gaps=gaps))


def _numbers(case: Neighbours) -> range:
    """The possible numbers of winners."""
    return range(case.parameters.fewest_winners, case.parameters.k + 1)


def _count_cells_of(case: Neighbours, winners: int, *, gaps: bool) -> int:
    """The number of cells of outcomes with so many winners."""
    n, bins = len(case.answers), make_gap_bins(case)
    number = perm(n, min(winners, prefix_length(n, case.parameters.k, 1)))
    if gaps:
        number += perm(n, min(winners, bins.prefix)) * sum(map(len, bins.law[:winners]))
        number += perm(n, min(winners, bins.joint_prefix)) * len(_joint_starts(case, winners))
        number += MODULUS * winners if bins.values is None else count_cells_of_values(case)
    return number


@lru_cache(maxsize=1024)
def make_cells(case: Neighbours, answers: tuple[int, ...], *, gaps: bool) -> tuple[Cell, ...]:
    """The cells of this side of a case; none where the law would take too long to compute."""
    laws = _laws(case, answers, gaps=gaps)
    return tuple(cell for law in laws for cell in _make_cells_of(case, law, gaps=gaps))


def _make_cells_of(case: Neighbours, law: "Law", *, gaps: bool) -> Iterator[Cell]:
    """Make the cells of outcomes with one number of winners."""
    k, n, bins = case.parameters.k, len(case.answers), make_gap_bins(case)
    everything = [_FROM_0] * law.k
    yield from law.make_cells_of_gaps(ITEMS, prefix_length(n, k, 1), [((), "", everything)])
    if not gaps:
        return
    for i, edges in enumerate(bins.law[: law.k]):
        name = f"gap {i + 1}" if k > 1 else "gap"
        ranges = [
            (
                (first,),
                f"{name} of {format_steps(first, end)}",
                _replace_range(everything, i, (first, end)),
            )
            for first, end in _ranges(edges)
        ]
        yield from law.make_cells_of_gaps(_size_of_gap(i), bins.prefix, ranges)
        if isinstance(law, _ExponentialLaw):
            yield from law.last_bits(i, _first_large_gap(case))
    boxes = [_box(firsts, bins) for firsts in _joint_starts(case, law.k)]
    yield from law.make_cells_of_gaps(ITEMS_AND_GAPS, bins.joint_prefix, boxes)
    if isinstance(law, LaplaceLaw):
        yield from make_cells_of_values(case, law)


def _joint_starts(case: Neighbours, winners: int) -> list[tuple[int, ...]]:
    """The first steps of the joint bins of all gaps; none if there is at most one gap."""
    return [*product(*make_gap_bins(case).joint[:winners])] if winners > 1 else []


def _laws(case: Neighbours, answers: tuple[int, ...], *, gaps: bool) -> "list[Law]":
    """The law of this side, by the number of winners; none if it would take too long to compute."""
    k, rate = case.parameters.k, case.parameters.rate
    steps = tuple(int(each / case.parameters.resolution) for each in answers)
    if perm(len(steps), k) > MOST_ORDERS:
        return []
    if case.parameters.noise == "laplace":
        of_values = count_cells_of_values(case) if gaps else 0
        of_laplace = LaplaceLaw(steps, k, rate)
        fits = of_laplace.is_computable(_count_boxes(case, k, gaps=gaps) + of_values)
        return [of_laplace] if fits else []
    sentinel = case.parameters.threshold_units
    ranked = steps if sentinel is None else (*steps, sentinel)
    laws = [_ExponentialLaw(steps, j, rate, sentinel, reached=j < k) for j in _numbers(case)]
    work = sum(law.patterns * _count_boxes(case, law.k, gaps=gaps) for law in laws)
    return [*laws] if is_computable(ranked) and work <= _MOST_WORK else []


def _count_boxes(case: Neighbours, winners: int, *, gaps: bool) -> int:
    """The number of probabilities for each order of so many winners."""
    of_each = sum(map(len, make_gap_bins(case).law[:winners]))
    return 1 + gaps * (of_each + len(_joint_starts(case, winners)) + winners)


class _ExponentialLaw(OrderLaw[Sequence[Range]]):
    """The law of one data set with exponential noise.

    Where there is a sentinel, it comes next after the winners if it was reached, and is one of the
    losers otherwise.
    """

    def __init__(
        self, steps: Winners, k: int, rate: Fraction, sentinel: int | None, *, reached: bool
    ) -> None:
        super().__init__(steps, k, rate)
        self._sentinel, self._reached = sentinel, reached

    def box(self, gaps: Sequence[Range]) -> Sequence[Range]:
        """What is asked of the gaps."""
        return gaps

    def bound(self, winners: Winners, losers: Winners, box: Sequence[Range]) -> Bounds:
        """Bound the probability of winners with these answers, in this order, and of the box."""
        if self._sentinel is None:
            return bound_probability(winners, losers, box, self.rate)
        if self._reached:
            return bound_probability((*winners, self._sentinel), losers, (*box, _FROM_0), self.rate)
        return bound_probability(winners, (*losers, self._sentinel), box, self.rate)

    def last_bits(self, i: int, far: int) -> Iterator[Cell]:
        """Make the cells of the remainders of gap i by 8, where it is large."""
        box = _replace_range([_FROM_0] * self.k, i, (far, None))
        large = self.sum_over_orders(box)
        powers = [power_bounds(self.rate, (i + 1) * r) for r in range(MODULUS)]
        least, most = (sum(side, Fraction(0)) for side in zip(*powers, strict=True))
        for r, power in enumerate(powers):
            bounds = Bounds(large.low * power.low / most, large.high * power.high / least)
            said = f"gap {i + 1} of {far} or more steps that leave {r} when divided by {MODULUS}"
            yield Cell(self.k, _last_bits_of_gap(i), ((), (r,)), said, bounds)


Law = _ExponentialLaw | LaplaceLaw


def _box(firsts: tuple[int, ...], bins: GapBins) -> tuple[tuple[int, ...], str, list[Range]]:
    box = [(a, bin_end(a, edges)) for a, edges in zip(firsts, bins.joint, strict=False)]
    return firsts, f"gaps of {', '.join(format_range(*each) for each in box)} steps", box


def _ranges(edges: Edges) -> list[Range]:
    return [(first, bin_end(first, edges)) for first in edges]


def _replace_range(box: Sequence[Range], i: int, one: Range) -> list[Range]:
    return [one if place == i else each for place, each in enumerate(box)]


def _size_of_gap(i: int) -> str:
    return f"items and size of gap {i + 1}"


def _last_bits_of_gap(i: int) -> str:
    return f"last bits of gap {i + 1}"


def _first_large_gap(case: Neighbours) -> int:
    """A power of two, at least 8, that exceeds all distances of what is ranked, in steps."""
    apart = max(max(each) - min(each) for each in case.ranked) / case.parameters.resolution
    return max(MODULUS, 1 << (int(apart) - 1).bit_length() if apart >= 1 else 0)


def check_law(
    case: Neighbours, tallies: Sequence[Tally], level: Fraction, *, gaps: bool
) -> tuple[LawCheck, ...]:
    """Test the law on both data sets.

    If the law holds, each tail is rejected with probability at most `level`, and nothing impossible
    comes.

    Args:
        case: The data sets and parameters.
        tallies: What came on each data set.
        level: The false-positive probability of one tail.
        gaps: Whether there are gaps.
    """
    return tuple(
        _check_side(case, side, one, level, gaps=gaps)
        for side, one in zip(case.sides, tallies, strict=True)
    )


def _check_side(
    case: Neighbours, answers: tuple[int, ...], one: Tally, level: Fraction, *, gaps: bool
) -> LawCheck:
    compared = make_cells(case, answers, gaps=gaps)
    never = [Misfit(why, times, 0.0, 0.0) for why, times in one.impossible.most_common()]
    counts = _count_cells(case, one, gaps=gaps) if compared else {}
    found = []
    for cell in compared:
        count = counts[cell.winners, cell.feature][cell.key]
        if _is_misfit(count, one.releases, cell.bounds, level):
            low, high = round_down(cell.bounds.low), round_up(cell.bounds.high)
            said = describe_number(cell.winners, cell.feature, cell.said, case.parameters)
            found.append(Misfit(said, count, low, high))
    found.sort(key=lambda each: _surprise(each, one.releases), reverse=True)
    return LawCheck(answers, case, one.releases, len(compared), (*never, *found))


def _count_cells(
    case: Neighbours, one: Tally, *, gaps: bool
) -> dict[tuple[int | None, str], Counter[Key]]:
    """Count the outcomes in each cell, from the finer labels of the tally."""
    k, bins = case.parameters.k, make_gap_bins(case)
    winners = prefix_length(len(case.answers), k, 1)
    keys: dict[str, Callable[..., Key]] = {ITEMS: lambda *order: (order[:winners], ())}
    far = _first_large_gap(case).bit_length()
    for i in range(k * gaps):
        edges = bins.law[i]
        keys[_size_of_gap(i)] = lambda order, first, edges=edges: (
            order[: bins.prefix],
            (bin_start(first, edges),),
        )
        keys[_last_bits_of_gap(i)] = lambda digits, r: ((), (r if digits >= far else -1,))
    values = bins.values is not None and gaps
    if values:
        keys |= read_labels_of_values(case)
    keys[ITEMS_AND_GAPS] = lambda order, firsts: (order[: bins.joint_prefix], firsts)
    found: dict[tuple[int | None, str], Counter[Key]] = defaultdict(Counter)
    for (number, feature), labels in one.counts.items():
        if feature in keys:
            count = found[number, feature]
            for label, times in labels.items():
                count[keys[feature](*label)] += times  # type: ignore[misc]
    return found


def _is_misfit(count: int, releases: int, bounds: Bounds, level: Fraction) -> bool:
    """Whether a count is too large for the upper bound, or too small for the lower bound."""
    too_often = tail_bound(releases, count, bounds.high)
    too_rare = tail_bound(releases, releases - count, 1 - bounds.low)
    return min(too_often, too_rare) < level


def _surprise(misfit: Misfit, releases: int) -> float:
    """About how many standard deviations it is off, to sort the worst first."""
    expected = max(misfit.low * releases, 1e-9)
    return abs(misfit.count - expected) / sqrt(expected)
