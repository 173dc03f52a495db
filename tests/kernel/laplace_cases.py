"""What the kernel must do with Laplace noise on every random tape, case by case."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache

from tests.checking.noisy_answers import (
    ALL,
    IMPOSSIBLE,
    NONE,
    ONE,
    Mass,
    largest,
    noise_below,
    noise_is,
    power,
)
from tests.checking.walks import Walk
from tests.kernel.law_cases import Candidates, Geometric, Plan, Run, Select, counting_domain, splits
from tests.kernel.probe import Probe, Selection
from topgap import TopK
from topgap.law import Bounds


@cache
def geometric_is(rate: Fraction, grid: int, zeros: int, steps: int) -> Mass:
    """P(G = steps), given that its uniform number begins with so many zeros."""
    low, high = Geometric(rate, grid, 0, zeros, width=1).law(steps)
    return Mass(int(low * ONE), -int(-high * ONE // 1))


@dataclass(frozen=True)
class NoiseGivenZeros:
    """Laplace noise, given some zero bits of the uniform number that it is made from."""

    rate: Fraction
    zeros: int
    width: int
    grid: int = 30
    depth: int = 20
    kind: str = field(default="kernel's Laplace noise given zeros, bit by bit", repr=False)

    def walk(self, probe: Probe) -> Walk[int]:
        question = (
            f"laplace rate={self.rate.numerator}/{self.rate.denominator} grid={self.grid} "
            f"refinement=0 width={self.width} zeros={self.zeros}"
        )
        masses = {int(x): mass for x, mass in probe.walk(question, self.depth).items()}
        return Walk(masses, 1 - sum(masses.values(), Fraction(0)))

    def law(self, noise: int) -> Bounds:
        """The sum of P(up = noise + down)·P(down), of which the first has the zeros."""
        chance = NONE
        last = int(28 / self.rate)
        for down in range(max(0, -noise), last):
            up = geometric_is(self.rate, self.grid, self.zeros, noise + down)
            chance = chance.plus(up * geometric_is(self.rate, self.grid, 0, down))
        return chance.plus(Mass(0, power(self.rate, last).high)).bounds


@dataclass(frozen=True)
class NoisyAnswers(Select):
    """The k largest noisy answers, whose they are, and the next; or those that reach a cut."""

    cut: int | None = None

    @property
    def kind(self) -> str:
        return super().kind.replace("kernel", "kernel, Laplace noise", 1)

    @property
    def more(self) -> str:
        cut = "" if self.cut is None else f" cut={self.cut}"
        return f" laplace=1{cut}{super().more}"

    def law(self, outcome: Selection) -> Bounds:
        steps_per_unit = self.parameters.resolution.denominator
        plain = {index: unit * steps_per_unit for index, unit in self.written_out().items()}
        winners, values = outcome
        return largest(plain, self.parameters.rate, self.parameters.k, winners, values, self.cut)


@dataclass(frozen=True)
class NoisyCandidates(Candidates):
    """The items that can win with Laplace noise, where k + 1 others may be known already."""

    @property
    def kind(self) -> str:
        return super().kind.replace("kernel", "kernel, Laplace noise", 1)

    @property
    def more(self) -> str:
        return f" laplace=1{super().more}"

    def law(self, outcome: Selection) -> Bounds:
        """These items have these values, and all others lie below them, or below the floor."""
        values = dict(zip(*outcome, strict=True))
        plain = {
            index: unit * self.parameters.resolution.denominator
            for index, unit in self.written_out().items()
        }
        enough = len(values) > self.parameters.k
        cuts = [min(values.values())] if enough else []
        cuts += [] if self.floor is None else [self.floor]
        if not {*values} <= {*plain} or (not cuts and len(values) < len(plain)):
            return IMPOSSIBLE
        rate, chance = self.parameters.rate, ALL
        for index, answer in plain.items():
            if index in values:
                chance *= noise_is(rate, values[index] - answer)
            else:
                chance *= noise_below(rate, max(cuts) - answer)
        return chance.bounds


LaplaceCase = NoiseGivenZeros | NoisyAnswers | NoisyCandidates


def laplace(
    k: int, epsilon: str | int, monotonic: bool = True, resolution: str = "1", bound: int = 1
) -> TopK:
    """Noise of scale L/ε, or 2L/ε unless monotonic: its rate is ε a step, or half of that."""
    return TopK(
        k, epsilon, monotonic=monotonic, resolution=resolution, items_per_person=bound,
        noise="laplace",
    )  # fmt: skip


GIVEN_ZEROS: list[LaplaceCase] = [
    NoiseGivenZeros(Fraction(rate), zeros, width)
    for rate in ("2", "1/2", "7/5", "1/3")
    for zeros in (1, 2, 3, 200)
    for width in (1, 2, 3, 6)
    if zeros < 200 or (width > 2 and rate in ("2", "7/5"))
]

NOISY_TAPES: list[LaplaceCase] = [
    # The kernel's own plan; shared coins; missed once, twice, and below every answer.
    *(
        NoisyAnswers(units, laplace(1, 2), plan, 0, 0, width, tape=True, constant_work=constant)
        for units in ((2, 1), (1, 1))
        for plan, width, constant in (
            (None, 1, True), (None, 3, True), (None, 1, False), (None, 3, False),
            (Plan(0, 0), 1, False), (Plan(2, 1), 1, False), (Plan(2, 2), 1, False),
            (Plan(3, 1), 1, False),
        )
        if units == (2, 1) or plan != Plan(3, 1)
    ),
    # A single item, which may miss its cut; and a run of two.
    *(NoisyAnswers((1,), laplace(1, 2), plan, 0, 0, 1, tape=True, cut=2)
      for plan in (None, Plan(3, 1))),
    *(NoisyAnswers(units, laplace(1, 2), plan, 0, 0, 1, tape=True, runs=(run,))
      for units, run in (((), Run(0, 2)), ((1,), Run(0, 2, (1,))))
      for plan in (None, Plan(1, 1))),
]  # fmt: skip

# Above all answers, so that one or two thresholds are missed; between and equal; below them all.
THRESHOLDS = (5, 3, 2, 1, 0, -2)

NOISY_ANSWERS: list[LaplaceCase] = [
    # Plans and blocks change nothing; after a miss, spans are positive, zero and negative.
    *(
        NoisyAnswers(units, laplace(k, 3), Plan(threshold, leading_zeros, log_block))
        for units in ((2, 1), (1, 1), (2, 0, 1))
        for k in (1, 2)
        for threshold in THRESHOLDS
        for leading_zeros in (0, 1, 2)
        for log_block in range(len(units) - k)
    ),
    # Small noise and large answers: spans below zero at the second threshold and the third.
    *(
        NoisyAnswers(units, laplace(2, rate), Plan(threshold, zeros))
        for units in ((3, 0), (5, 2, 0))
        for rate in ("7/5", "4")
        for threshold in (4, 2, 1)
        for zeros in (0, 1)
    ),
    # k from 1 to more than n; sorted, reversed and mixed; with ties; monotonic or not.
    *(
        NoisyAnswers(units, laplace(k, 4, monotonic), plan)
        for units in ((2, 1, 0), (0, 2, 1), (1, 1, 1), (0, 2, 2), (-1, -3, -1))
        for k in (1, 2, 3, 4)
        for monotonic in (False, True)
        for plan in (None, Plan(2, 1))
    ),
    # Five items in blocks of two, of which the last has one; an enormous answer.
    *(
        NoisyAnswers(units, laplace(k, 5), plan)
        for units in ((0, 1, 0, 1, 2), (2, 1, 0, 1, 0), (200, 0, 1, 1, 0))
        for k in (1, 2)
        for plan in (Plan(2, 1, 1), Plan(3, 2, 1), Plan(1, 3, 1), None)
        if max(units) < 200 or plan in (Plan(1, 3, 1), None)
    ),
    # Noise so large that it has digits below its grid steps.
    *(
        NoisyAnswers(units, laplace(1, "3/4"), plan, grid=0, smallest=Fraction(1, 2**20))
        for units in ((1, 0), (4, 4))
        for plan in (None, Plan(2, 1), Plan(5, 1))
    ),
]

NOISY_CUTS: list[LaplaceCase] = [
    # A cut that none reach, that all do, and between; with ties there; far below all answers.
    *(
        NoisyAnswers(units, laplace(k, 3), plan, cut=cut)
        for units in ((1,), (1, 1), (0, 2, 1))
        for k in (1, 2, 3)
        for cut in (6, 3, 2, 1, 0, -5)
        for plan in (None, Plan(2, 1), Plan(4, 0))
    ),
    # Several steps in a unit: thresholds and cuts between units, and below zero.
    *(
        NoisyAnswers(units, laplace(k, 10, resolution="1/3"), plan, cut=cut)
        for units in ((1, 2, 1), (-1, 0))
        for k in (1, 2)
        for plan in (None, Plan(2, 1), Plan(1, 1, above=1), Plan(0, 0, above=5))
        for cut in (None, 4, -2)
    ),
]

NOISY_PARTS: list[LaplaceCase] = [
    *(
        NoisyAnswers(units, laplace(k, 4), plan, parts=parts, cut=cut)
        for units in ((2, 0, 1), (1, 1, 1))
        for k in (1, 2)
        for parts in (2, len(units))
        for plan in (None, Plan(3, 1))
        for cut in (None, 2)
    ),
    # Blocks of two among two, of which the last has one item.
    *(
        NoisyAnswers(units, laplace(1, 5), plan, parts=parts)
        for units in ((0, 1, 0, 1, 2), (2, 1, 0, 1, 0))
        for plan in (Plan(2, 1, 1), Plan(3, 2, 1))
        for parts in (2, 3)
        if plan.threshold == parts
    ),
]

NOISY_CONSTANT_WORK: list[LaplaceCase] = [
    # k from 1 to more than n, groups that are full and not; sorted, reversed and mixed; with ties.
    *(
        NoisyAnswers(units, laplace(k, 4, monotonic), constant_work=True)
        for units in ((1,), (1, 1), (2, 0, 1), (0, 1, 2), (1, 1, 1), (-1, 0, -2))
        for k in range(1, len(units) + 2)
        for monotonic in (False, True)
    ),
    # Four items and five, and one that leads by far.
    *(
        NoisyAnswers(units, laplace(k, 6), smallest=Fraction(1, 2**28), constant_work=True)
        for units in ((3, 2, 1, 0), (0, 2, 2, 0), (0, 1, 0, 1, 2), (40, 0, -1, 1, 0))
        for k in (1, 2, 3)
    ),
    # Several steps in a unit, and digits below the grid.
    NoisyAnswers((1, 2, 1), laplace(1, 10, resolution="1/3"), constant_work=True),
    NoisyAnswers((1, 0), laplace(1, "3/4"), grid=0, smallest=Fraction(1, 2**20),
                 constant_work=True),
]  # fmt: skip

NOISY_CANDIDATES: list[LaplaceCase] = [
    # What most often shows a defect comes first: a floor between two units, and below zero.
    *(
        NoisyCandidates(units, laplace(1, 10, resolution="1/3"), floor=floor)
        for units, floors in (((0, 2, 1), (2, 4, 7)), ((-1, -3), (-8, -5, -2)))
        for floor in floors
    ),
    # Others are known to reach a floor: below all, among them, and far above.
    *(
        NoisyCandidates(units, laplace(k, 4), plan, parts=parts, floor=floor)
        for units in ((1,), (0, 2, 1), (1, 1, 1))
        for k in (1, 2)
        for floor in (-5, 1, 2, 6)
        for plan, parts in ((None, 1), (None, 2), (Plan(4, 1), 1))
    ),
    # Fewer items than are needed, as many, and more; with ties; missed thresholds.
    *(
        NoisyCandidates(units, laplace(k, 4), plan, parts=parts)
        for units in ((1,), (1, 0), (0, 2, 1), (1, 1, 1))
        for k in (1, 2)
        for plan in (None, Plan(3, 1), Plan(0, 0))
        for parts in (1, 2)
    ),
]


def noisy_in_every_way(sizes: Iterable[int]) -> Iterator[LaplaceCase]:
    """Domains of these sizes, split into listed and run in every way: as `written_in_every_way`."""
    for size in sizes:
        for units, run in splits(size):
            for plan in (None, Plan(2, 1)):
                yield NoisyCandidates(units, laplace(1, 5), plan, runs=(run,))
        for units, run in splits(size, least=0 if size < 5 else 4):
            for plan in (None, Plan(3, 1)):
                smallest = Fraction(1, 2**24)
                yield NoisyAnswers(units, laplace(1, 5), plan, smallest=smallest, runs=(run,))


NOISY_RUNS: list[LaplaceCase] = [
    # Two workers share the listed items, and none of them the run.
    NoisyCandidates((1, 0), laplace(1, 4), Plan(2, 1), parts=2, runs=(Run(0, 2),)),
    # What most often shows a defect comes first: runs that are part of a larger whole.
    *(
        NoisyCandidates(units, laplace(k, 4), plan, floor=floor, runs=runs)
        for units, runs in (
            ((), (Run(0, 3),)),
            ((1,), (Run(0, 3, (1,)),)),
            ((), (Run(0, 4, (0, 3)),)),
        )
        for k in (1, 2)
        for floor in (None, -1, 2)
        for plan in (None, Plan(3, 1))
    ),
    # A threshold below the run's answer, and one that falls past it: spans that are not positive.
    *(
        NoisyAnswers(units, laplace(k, 3), plan, smallest=Fraction(1, 2**22), runs=runs)
        for units, runs in (((), (Run(1, 2),)), ((2,), (Run(3, 2, (1,)),)), ((0,), (Run(2, 2),)))
        for k in (1, 2, 3)
        for plan in (Plan(4, 1), Plan(3, 0), Plan(2, 1), Plan(0, 0))
    ),
    # A cut; more winners than items.
    *(
        NoisyAnswers(units, laplace(k, 4), plan, runs=runs, cut=cut)
        for units, runs in (((), (Run(0, 2),)), ((1,), (Run(0, 3, (1,)),)))
        for k in (1, 2, 3)
        for cut in (4, 1, 0, -3)
        for plan in (None, Plan(2, 1))
    ),
    # A threshold between two answers; and so many items that the kernel plans one.
    *(
        case(units, laplace(1, 10, resolution="1/3"), Plan(0, zeros, above=above), runs=(run,))
        for case in (NoisyCandidates, NoisyAnswers)
        for units, run in (((), Run(0, 3)), ((0, 1), Run(0, 3, (1,))), ((0, 0), Run(0, 3)))
        for zeros, above in ((0, 1), (1, 3), (1, 8))
    ),
    *(
        NoisyCandidates(units, laplace(1, 40, resolution="1/3"), runs=(run,))
        for units, run in (((), Run(0, 17)), ((1, 0), Run(0, 18, (3, 17))))
    ),
    # More winners, and workers that share the listed items.
    *(
        NoisyAnswers(units, laplace(k, 5), plan, parts=parts, runs=(run,))
        for units, run in (counting_domain(3, listed) for listed in range(4))
        for k in (1, 2)
        for plan, parts in ((None, 2), (Plan(2, 1), 1))
    ),
    # Two runs, one of them above zero, and a listed item between; a run below all.
    *(
        NoisyAnswers(units, laplace(k, 5), plan, runs=runs)
        for units, runs in (
            ((1,), (Run(0, 2), Run(2, 2, (1,)))),
            ((), (Run(1, 2), Run(0, 2))),
            ((2, 1), (Run(-3, 3, (0, 2)),)),
            ((-2,), (Run(0, 3, (1,)),)),
        )
        for k in (1, 2)
        for plan in (None, Plan(3, 1))
    ),
    *noisy_in_every_way(range(2, 5)),
]

# The same, with more items: they are walked in `make verify` alone.
LARGER_NOISY_RUNS: list[LaplaceCase] = [*noisy_in_every_way(range(5, 9))]
