"""What the kernel must do with a sentinel on every random tape, case by case."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from tests.checking.cached_law import exp_minus, gap_top_k
from tests.kernel.law_cases import Case, Plan, Run, Select, counting_domain, splits
from tests.kernel.probe import Selection
from topgap import TopK
from topgap.law import Bounds
from topgap.law.polynomial import ONE, ZERO, Polynomial, U, X, power_of_x

IMPOSSIBLE = Bounds(Fraction(0), Fraction(0))


@dataclass(frozen=True)
class Cut(Select):
    """The k largest, cut at a sentinel whose answer is so many steps."""

    sentinel: int = 0

    @property
    def kind(self) -> str:
        return super().kind.replace("kernel", "kernel, sentinel", 1)

    @property
    def more(self) -> str:
        return f" cut={self.sentinel << self.refinement}{super().more}"

    def law(self, outcome: Selection) -> Bounds:
        """That of the list with the sentinel in it, which is a loser or, if it cuts, the next."""
        indices, gaps = outcome
        steps_per_unit = self.parameters.resolution.denominator
        others = {i: unit * steps_per_unit for i, unit in self.written_out().items()}
        are_items = len({*indices}) == len(indices) and {*indices} <= {*others}
        if not are_items or len(gaps) != len(indices) or len(indices) > self.parameters.k:
            return IMPOSSIBLE
        winners = [others.pop(index) for index in indices]
        # Items with equal answers are alike: in this order their law is computed once.
        losers = sorted(others.values())
        if len(indices) < self.parameters.k:
            return cut_law(self.parameters.rate, tuple(winners), tuple(losers), self.sentinel, gaps)
        resolution = self.parameters.resolution
        answers = [step * resolution for step in [*winners, *losers, self.sentinel]]
        pairs = [(place, gap * resolution) for place, gap in enumerate(gaps)]
        return gap_top_k(answers, self.parameters, pairs)


@cache
def cut_law(
    rate: Fraction,
    winners: tuple[int, ...],
    losers: tuple[int, ...],
    sentinel: int,
    gaps: tuple[int, ...],
) -> Bounds:
    """The probability that the sentinel comes next to these winners, at these gaps.

    As in `topgap.law.probability`: that they exceed a height y at these gaps, integrated over the
    sentinel's density at y, where all losers lie below y.
    """

    def density(answer: int, m: int) -> Polynomial:
        return power_of_x(m - answer) if m >= answer else ZERO

    @cache
    def above(i: int, m: int) -> Polynomial:
        if i == 0:
            return ONE
        here = m + gaps[i - 1]
        lower = density(winners[i - 1], here) * above(i - 1, here).integral(X, U)
        return lower + density(winners[i - 1], here + 1) * above(i - 1, here + 1).integral(U, ONE)

    lowest, top = max([*losers, sentinel]), max([*winners, *losers, sentinel])
    total = ZERO
    for m in range(lowest, top + 1):
        all_below = _all_below(losers, m)
        each = above(len(winners), m) * density(sentinel, m) * all_below
        total = total + each.integral(ZERO if m == top else X, ONE)
    low, high = total.bounds(*exp_minus(rate, 128))
    return Bounds(max(low, Fraction(0)), min(high, Fraction(1)))


def _all_below(losers: Sequence[int], m: int) -> Polynomial:
    product = ONE
    for answer in losers:
        product = product * (ONE - power_of_x(m - answer) * U)
    return product


def _exact(k: int, epsilon: str | int, resolution: str = "1") -> TopK:
    return TopK(k, epsilon, resolution=resolution)


SENTINELS: list[Case] = [
    # What most often shows a defect comes first: ties with the sentinel, above and below it.
    *(
        Cut(units, _exact(k, 6 * k), plan, refinement, sentinel=sentinel)
        for units in ((1, 1), (2, 0))
        for k in (1, 2)
        for sentinel in (1, 0, 2)
        for plan, refinement in ((None, 0), (None, 1), (Plan(2, 1), 0))
    ),
    # k from 1 to more than n; one that all reach, that none does, and between.
    *(
        Cut(units, _exact(k, 8 * k), plan, refinement, sentinel=sentinel)
        for units in ((1,), (2, 0, 1), (1, 1, 1))
        for k in (1, 2, 3, 4)
        for sentinel in (-4, 0, 1, 3, 6)
        for plan, refinement in ((None, 1), (Plan(3, 1), 0))
        if len(units) == 1 or k > 1 or sentinel in (0, 1)
    ),
    # Nothing but the sentinel.
    Cut((), _exact(2, 8), sentinel=3),
    # Plans and blocks change nothing; missed thresholds, above and below the sentinel.
    *(
        Cut(units, _exact(1, 8), plan, sentinel=sentinel)
        for units in ((0, 1, 0, 1, 2), (2, 1, 0, 1, 0), (200, 0, 1, 1, 0))
        for plan in (Plan(2, 1, 1), Plan(3, 2, 1), Plan(1, 3, 1), None)
        for sentinel in (1, 3)
        if max(units) < 200 or plan in (Plan(1, 3, 1), None)
    ),
    # Several steps in a unit: between two units, and below zero.
    *(
        Cut(units, _exact(k, 16 * k, resolution="1/3"), plan, refinement, sentinel=sentinel)
        for units, sentinels in (((1, 2, 1), (4, 5)), ((-1, -3), (-5, -2)))
        for k in (1, 2)
        for sentinel in sentinels
        for plan, refinement in ((None, 1), (Plan(1, 1), 0))
    ),
    # Noise so large that it has digits below its grid steps.
    *(
        Cut((1, 0), _exact(1, "3/4"), plan, grid=0, sentinel=sentinel)
        for plan in (None, Plan(2, 1))
        for sentinel in (0, 1)
    ),
    # Several of the workers share the work, and none of them the sentinel.
    *(
        Cut(units, _exact(k, 8 * k), plan, parts=parts, sentinel=1)
        for units in ((2, 0, 1), (1, 1, 1))
        for k in (1, 2)
        for parts in (2, 3)
        for plan in (None, Plan(3, 1))
    ),
    # From the bits.
    *(
        Cut(units, _exact(1, 4), plan, refinement, grid, width, depth=20, tape=True, sentinel=1)
        for units in ((1,), (2, 1))
        for plan, refinement, grid, width in
        ((None, 0, 0, 1), (None, 1, 1, 2), (Plan(2, 1), 0, 0, 1))
    ),
]  # fmt: skip

CONSTANT_WORK_SENTINELS: list[Case] = [
    *(
        Cut(units, _exact(k, 8 * k), None, refinement, constant_work=True, sentinel=sentinel)
        for units in ((), (1,), (1, 1), (2, 0, 1), (0, 2, 2))
        for k in range(1, len(units) + 2)
        for sentinel in (-3, 1, 2)
        for refinement in (0, 1)
    ),
    # A group that is not full; several steps in a unit; from the bits.
    *(
        Cut((0, 1, 0, 1, 2), _exact(k, 16 * k), smallest=Fraction(1, 2**28), constant_work=True,
            sentinel=1)
        for k in (1, 2)
    ),
    Cut((1, 2, 1), _exact(2, 32, resolution="1/3"), None, 1, constant_work=True, sentinel=4),
    *(
        Cut((1,), _exact(1, 4), None, refinement, grid, width, tape=True, constant_work=True,
            sentinel=1)
        for refinement, grid, width in ((0, 0, 1), (1, 1, 2))
    ),
]  # fmt: skip

SENTINELS_WITH_RUNS: list[Case] = [
    # Fewer members than winners, as many, and more; none of them listed, some, and all.
    *(
        Cut(units, _exact(k, 8 * k), plan, refinement, runs=(run,), sentinel=sentinel)
        for units, run in splits(3)
        for k in (1, 2, 4)
        for sentinel in (-3, 0, 2)
        for plan, refinement in ((None, 0), (None, 1), (Plan(2, 1), 0))
    ),
    # A sentinel between two units, and thresholds there.
    *(
        Cut(units, _exact(1, 12, resolution="1/3"), plan, 1, runs=(run,), sentinel=sentinel)
        for units, run in (((), Run(0, 3)), ((0, 1), Run(0, 3, (1,))))
        for plan in (None, Plan(0, 1, above=3), Plan(1, 0, above=1))
        for sentinel in (1, 4)
    ),
    # Two runs and a listed item between; workers that share the listed items.
    *(
        Cut((1,), _exact(k, 8 * k), plan, runs=(Run(0, 2), Run(2, 2, (1,))), sentinel=1)
        for k in (1, 2)
        for plan in (None, Plan(3, 1))
    ),
    *(
        Cut(units, _exact(2, 16), plan, parts=2, runs=(run,), sentinel=1)
        for units, run in [counting_domain(4, 2)]
        for plan in (None, Plan(2, 1))
    ),
    # From the bits.
    *(
        Cut((), _exact(1, 4), plan, 0, 0, 1, depth=20, tape=True, runs=(Run(0, 1),), sentinel=1)
        for plan in (None, Plan(1, 1))
    ),
]

# The same, with more items: they are walked in `make verify` alone.
LARGER_SENTINELS_WITH_RUNS: list[Case] = [
    Cut(units, _exact(k, 8 * k), plan, smallest=Fraction(1, 2**24), runs=(run,), sentinel=sentinel)
    for size in range(4, 9)
    for units, run in splits(size, least=0 if size < 5 else size - 2)
    for k, sentinel in ((1, 1), (2, 2))
    for plan in (None, Plan(3, 1))
]
