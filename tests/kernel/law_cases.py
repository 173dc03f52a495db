"""What the kernel must do on every random tape, case by case: the law, and that of its draws."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from tests.checking.cached_law import exp_minus, gap_top_k
from tests.checking.walks import Walk
from tests.kernel.probe import Probe, Selection
from topgap import TopK
from topgap.law import Bounds


class Plan(NamedTuple):
    """How the kernel goes about it: never to be seen in the law."""

    threshold: int
    leading_zeros: int
    log_block: int = 0
    above: int = 0  # by so many ticks the threshold is above a whole unit


class Run(NamedTuple):
    """Items with one answer, none of them written out, and the ranks of those that are listed."""

    answer: int
    size: int
    listed: tuple[int, ...] = ()

    @property
    def question(self) -> str:
        return f"{self.answer}:{self.size}:{'+'.join(map(str, self.listed))}"


@dataclass(frozen=True)
class Geometric:
    """Noise of a rate, drawn on a grid from words of so many bits, given some zero bits."""

    rate: Fraction
    grid: int
    refinement: int
    zeros: int
    width: int
    depth: int = 18
    kind: str = field(default="kernel's geometric noise, bit by bit", repr=False)

    def walk(self, probe: Probe) -> Walk[int]:
        question = (
            f"geometric rate={self.rate.numerator}/{self.rate.denominator} grid={self.grid} "
            f"refinement={self.refinement} zeros={self.zeros} width={self.width}"
        )
        masses = {int(g): mass for g, mass in probe.walk(question, self.depth).items()}
        return Walk(masses, 1 - sum(masses.values(), Fraction(0)))

    def law(self, noise: int) -> Bounds:
        """P(noise | U < 2^−zeros), where noise is on grid step g or above iff U < e^−(rate·g)."""
        grid_step, digit = divmod(noise, 2**self.digits)
        per_grid_step = self.per_value * 2**self.digits
        bits = 96 + self.zeros
        at_least = [exp_minus(per_grid_step * g, bits) for g in (grid_step, grid_step + 1)]
        (low, high), (low_next, high_next) = (self._given_zeros(bounds) for bounds in at_least)
        on_step = Bounds(low - high_next, high - low_next)
        low, high = self._digit(digit)
        return Bounds(on_step.low * low, on_step.high * high)

    def chances(self) -> tuple[list[int], list[int]]:
        """That noise reaches grid steps 0, 1, 2, …, and has each digit; units of 2^−60."""
        reached = [2**60]
        while reached[-1] > 2**30:
            step = self.per_value * 2**self.digits * len(reached)
            reached.append(int(exp_minus(step, 96).low * 2**60))
        return reached, [int(self._digit(r).low * 2**60) for r in range(2**self.digits)]

    def _digit(self, digit: int) -> Bounds:
        """Below a grid step, chances fall by e^−rate from one value to the next."""
        weights = [exp_minus(self.per_value * r, 96) for r in range(2**self.digits)]
        low, high = weights[digit]
        return Bounds(low / sum(w.high for w in weights), high / sum(w.low for w in weights))

    @property
    def finer(self) -> int:
        """The grid asks for 2^finer values in a step; if negative, 2^−finer steps in a value."""
        log = self.rate.numerator.bit_length() - self.rate.denominator.bit_length()
        return log + 1 + self.grid

    @property
    def digits(self) -> int:
        """A grid step has 2^digits values."""
        return max(-self.finer, 0)

    @property
    def per_value(self) -> Fraction:
        """The rate per value: a step has 2^refinement values, or fewer if the grid asks for it."""
        return self.rate / (1 << min(max(self.finer, 0), self.refinement))

    def _given_zeros(self, bounds: Bounds) -> Bounds:
        return Bounds(*(min(Fraction(1), bound * 2**self.zeros) for bound in bounds))


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise of a rate, drawn on a grid from words of so many bits."""

    rate: Fraction
    grid: int
    refinement: int
    width: int
    depth: int = 21
    kind: str = field(default="kernel's Laplace noise, bit by bit", repr=False)

    def walk(self, probe: Probe) -> Walk[int]:
        question = (
            f"laplace rate={self.rate.numerator}/{self.rate.denominator} grid={self.grid} "
            f"refinement={self.refinement} width={self.width}"
        )
        masses = {int(x): mass for x, mass in probe.walk(question, self.depth).items()}
        return Walk(masses, 1 - sum(masses.values(), Fraction(0)))

    def law(self, noise: int) -> Bounds:
        """t^|x| over its sum for all x, which is (1 + t)/(1 − t), where t = e^−rate per value."""
        per_value = Geometric(self.rate, self.grid, self.refinement, 0, self.width).per_value
        t, power = exp_minus(per_value, 96), exp_minus(per_value * abs(noise), 96)
        # The less t, the more (1 − t)/(1 + t).
        return Bounds(
            (1 - t.high) / (1 + t.high) * power.low, (1 - t.low) / (1 + t.low) * power.high
        )


@dataclass(frozen=True)
class Heads:
    """Which of some items show heads when all have the same small chance."""

    items: int
    leading_zeros: int
    depth: int = 18
    kind: str = field(default="kernel's shared coins, bit by bit", repr=False)

    @property
    def question(self) -> str:
        return "heads"

    def walk(self, probe: Probe) -> Walk[tuple[int, ...]]:
        question = f"{self.question} items={self.items} leading_zeros={self.leading_zeros} width=1"
        masses = {
            tuple(int(head) for head in heads.split(",") if head): mass
            for heads, mass in probe.walk(question, self.depth).items()
        }
        return Walk(masses, 1 - sum(masses.values(), Fraction(0)))

    def law(self, heads: tuple[int, ...]) -> Bounds:
        head = Fraction(1, 2**self.leading_zeros)
        exactly = head ** len(heads) * (1 - head) ** (self.items - len(heads))
        return Bounds(exactly, exactly)


@dataclass(frozen=True)
class HeadsOfRun(Heads):
    """The same over ranks from `first` on, which may be numbers of several words."""

    first: int = 0
    kind: str = field(default="kernel's shared coins of a run, bit by bit", repr=False)

    @property
    def question(self) -> str:
        return f"heads_of_run first={self.first}"


@dataclass(frozen=True)
class Select:
    """The whole kernel: on every tape, or on every sequence of results of its draws."""

    units: tuple[int, ...]
    parameters: TopK
    plan: Plan | None = None
    refinement: int = 0
    grid: int = 30
    width: int = 64
    depth: int = 18
    smallest: Fraction = Fraction(1, 2**26)
    tape: bool = False
    parts: int = 1
    constant_work: bool = False
    runs: tuple[Run, ...] = ()

    @property
    def kind(self) -> str:
        what = "kernel, constant work" if self.constant_work else "kernel"
        what = "kernel with runs" if self.runs else what
        return f"{what}, bit by bit" if self.tape else f"{what}, draw by draw"

    def walk(self, probe: Probe) -> Walk[Selection]:
        if self.tape:
            return probe.walk_selection(self.question(), self.depth)
        return probe.walk_scripts(self.question(), *self.chances(), self.smallest)

    def question(self, others: "tuple[Select, ...]" = ()) -> str:
        """What the probe is asked; of others, that are groups beside this one, units and runs."""
        rate, groups = self.parameters.rate, (self, *others)
        question = (
            f"units={'|'.join(','.join(map(str, group.units)) for group in groups)} "
            f"per_unit={self.parameters.resolution.denominator} k={self.parameters.k} "
            f"rate={rate.numerator}/{rate.denominator} grid={self.grid} "
            f"refinement={self.refinement} width={self.width} parts={self.parts}{self.more}"
        )
        if self.runs:
            runs = (",".join(run.question for run in group.runs) for group in groups)
            question += f" runs={'|'.join(runs)}"
        if self.plan:
            question += "".join(f" {n}={v}" for n, v in self.plan._asdict().items())
        return question

    @property
    def more(self) -> str:
        """What the probe is asked besides."""
        return " constant_work=1" if self.constant_work else ""

    def chances(self) -> tuple[list[int], list[int]]:
        """The law of the noise, as the probe takes it."""
        rate = self.parameters.rate
        return Geometric(rate, self.grid, self.refinement, 0, 64).chances()

    def law(self, outcome: Selection) -> Bounds:
        written_out = self.written_out()
        if {len(each) for each in outcome} != {self.parameters.k}:
            return Bounds(Fraction(0), Fraction(0))
        if any(index not in written_out for index in outcome[0]):
            return Bounds(Fraction(0), Fraction(0))  # a listed item that won as one of a run
        resolution = self.parameters.resolution
        gaps = [gap * resolution for gap in outcome[1]]
        if not self.runs:
            return gap_top_k(self.units, self.parameters, [*zip(outcome[0], gaps, strict=True)])
        # Items with equal answers are alike: the first of them stand for all.
        answers = sorted(written_out.values())
        places: list[int] = []
        for index in outcome[0]:
            first = answers.index(written_out[index])
            places.append(first + sum(answers[place] == answers[first] for place in places))
        pairs = [*zip(places, gaps, strict=True)] if len({*outcome[0]}) == len(places) else []
        return (
            gap_top_k(answers, self.parameters, pairs)
            if pairs
            else Bounds(gaps[0] * 0, gaps[0] * 0)
        )

    def written_out(self) -> dict[int, int]:
        """The answer of each item, as the probe counts them: those of runs follow the listed."""
        answers = dict(enumerate(self.units))
        first = len(self.units)
        for run in self.runs:
            ranks = {*range(run.size)} - {*run.listed}
            answers |= {first + rank: run.answer for rank in ranks}
            first += run.size
        return answers


@dataclass(frozen=True)
class Candidates(Select):
    """The items that can win, with their values, where k + 1 others may be known already."""

    floor: int | None = None

    @property
    def kind(self) -> str:
        return f"kernel's candidates{' with runs' * bool(self.runs)}, draw by draw"

    @property
    def more(self) -> str:
        return f" floor={'none' if self.floor is None else self.floor}"

    def law(self, outcome: Selection) -> Bounds:
        """The items are independent: these have these values, and all others lie below them."""
        values = dict(zip(*outcome, strict=True))
        enough = len(values) > self.parameters.k
        cuts = [min(values.values())] if enough else []
        cuts += [] if self.floor is None else [self.floor]
        low = high = Fraction(1)
        written_out = self.written_out()
        if not {*values} <= {*written_out}:
            return Bounds(low * 0, high * 0)  # a listed item that was found as one of a run
        for index, unit in written_out.items():
            plain = (unit * self.parameters.resolution.denominator) << self.refinement
            if index in values:
                bounds = self._noise(values[index] - plain, values[index] - plain + 1)
            else:
                bounds = self._noise(0, max(cuts) - plain) if cuts else Bounds(low * 0, high * 0)
            low, high = low * bounds.low, high * bounds.high
        return Bounds(low, high)

    def _noise(self, first: int, end: int) -> Bounds:
        """That noise lies from `first` to below `end`, in values."""
        if end <= 0 or first < 0:
            return Bounds(Fraction(0), Fraction(0))
        per_value = self.parameters.rate / 2**self.refinement
        at_least, beyond = (exp_minus(per_value * value, 96) for value in (first, end))
        return Bounds(at_least.low - beyond.high, at_least.high - beyond.low)


Case = Geometric | Laplace | Heads | Select


def _exact(k: int, epsilon: str | int, monotonic: bool = False, resolution: str = "1") -> TopK:
    return TopK(k, epsilon, monotonic=monotonic, resolution=resolution)


GEOMETRIC: list[Case] = [
    Geometric(Fraction(rate), grid, refinement, zeros, width)
    for rate, grid, refinement in [
        ("2", 0, 0),
        ("1/2", 0, 0),
        ("1/2", 2, 2),
        ("1/3", 30, 1),
        ("5", 30, 0),
        ("7/5", 1, 1),
        ("1/5", 0, 0),  # a digit of 2 values below each grid step
        ("1/9", 1, 0),
    ]
    for zeros in (0, 2, 200)
    for width in (1, 2, 3, 6)
    if zeros < 200 or width > 2
]

LAPLACE: list[Case] = [
    *(
        Laplace(Fraction(rate), grid, refinement, width)
        for rate, grid, refinement in [
            ("2", 0, 0),
            ("1/2", 0, 0),
            ("1", 30, 1),
            ("7/5", 1, 1),
            # As in the package: no finer than the steps.
            ("5", 30, 0),
            ("7/5", 30, 0),
            ("1/3", 30, 0),
        ]
        for width in (1, 2, 3, 6)
    ),
    # A digit of 2 values below each grid step; it takes many bits of each tape.
    *(Laplace(Fraction(3, 8), 0, 0, width, 20) for width in (1, 2)),
]

HEADS: list[Case] = [
    *(Heads(items, leading_zeros) for items in (1, 2, 3, 5, 8) for leading_zeros in (1, 2, 3)),
    *(
        HeadsOfRun(items, leading_zeros, first=first)
        for items in (1, 2, 3, 5, 8)
        for leading_zeros in (0, 1, 2, 3)
        for first in (0, 2**64 - 2, 2**200 - 1)
        if leading_zeros or not first
    ),
]

TAPES: list[Case] = [
    *(
        Select(units, parameters, None, refinement, grid, width, tape=True)
        for units, parameters in [
            ((2, 1), _exact(1, 4)),
            ((1, 1), _exact(1, 4)),
            ((1, 0, 2), _exact(1, 4, monotonic=True)),
            ((1, 1, 1), _exact(2, 12)),
        ]
        for refinement, grid, width in ((0, 0, 1), (0, 0, 3), (1, 1, 2))
    ),
    # Shared coins and missed thresholds.
    *(
        Select((2, 1), _exact(1, 4), plan, 0, 0, width, tape=True)
        for plan in (Plan(2, 1), Plan(2, 2), Plan(3, 1))
        for width in (1, 2)
    ),
]

SCRIPTS: list[Case] = [
    # Plans, blocks and refinement change nothing; missed thresholds are lowered.
    *(
        Select(units, _exact(1, 6), Plan(threshold, leading_zeros, log_block), refinement)
        for units in ((2, 1), (1, 1), (2, 0, 1))
        for threshold in (1, 3)
        for leading_zeros in (0, 1, 2)
        for log_block in range(len(units) - 1)
        for refinement in (0, 1)
    ),
    # k from 1 to n − 1; sorted, reversed and mixed; with ties; monotonic or not.
    *(
        Select(units, _exact(k, 8 * k, monotonic), plan, refinement)
        for units in ((3, 2, 1, 0), (0, 1, 2, 3), (2, 0, 3, 1), (1, 1, 1, 1), (0, 2, 2, 0))
        for k in (1, 2, 3)
        for monotonic in (False, True)
        for plan, refinement in ((None, 0), (None, 1), (Plan(2, 1), 0))
    ),
    # Five items in blocks of two, of which the last has one; an enormous answer.
    *(
        Select(units, _exact(1, 8), plan)
        for units in ((0, 1, 0, 1, 2), (2, 1, 0, 1, 0), (1, 0, 0, 0, 1), (200, 0, 1, 1, 0))
        for plan in (Plan(2, 1, 1), Plan(3, 2, 1), Plan(1, 3, 1), None)
        if max(units) < 200 or plan in (Plan(1, 3, 1), None)
    ),
    # Noise so large that it has digits below its grid steps.
    *(
        Select(units, _exact(1, "3/4"), plan, grid=0)
        for units in ((1, 0), (4, 4))
        for plan in (None, Plan(2, 1), Plan(2, 2), Plan(5, 1))
    ),
    # Several steps in a unit.
    *(
        Select((1, 2, 1), _exact(k, epsilon, resolution="1/3"), plan, 1)
        for k, epsilon in ((1, 16), (2, 40))
        for plan in (None, Plan(2, 1))
    ),
]

PARTS: list[Case] = [
    # Several of the workers share the work.
    *(
        Select(units, _exact(k, 8 * k), plan, refinement, parts=parts)
        for units in ((2, 0, 1), (1, 1, 1), (0, 3, 0, 0))
        for k in (1, 2)
        for parts in (2, len(units))
        for plan, refinement in ((None, 1), (Plan(3, 1), 0))
    ),
    # Blocks of two among two, of which the last has one item.
    *(
        Select(units, _exact(1, 8), plan, parts=parts)
        for units in ((0, 1, 0, 1, 2), (2, 1, 0, 1, 0))
        for plan in (Plan(2, 1, 1), Plan(3, 2, 1))
        for parts in (2, 3)
        if plan.threshold == parts
    ),
]

CONSTANT_WORK: list[Case] = [
    # k from 1 to n − 1, groups that are full and not; sorted, reversed and mixed; with ties.
    *(
        Select(units, _exact(k, 8 * k, monotonic), None, refinement, constant_work=True)
        for units in ((1, 1), (2, 0, 1), (3, 2, 1, 0), (0, 1, 2, 3), (1, 1, 1, 1), (0, 2, 2, 0))
        for k in range(1, len(units))
        for monotonic, refinement in ((False, 0), (True, 1))
    ),
    # Five and six items, one that leads by far, and one below zero.
    *(
        Select(units, _exact(k, 16 * k), smallest=Fraction(1, 2**28), constant_work=True)
        for units in ((0, 1, 0, 1, 2), (40, 0, -1, 1, 0), (1, 0, 1, 0, 1, 0))
        for k in (1, 2)
    ),
    # Several steps in a unit, and digits below the grid.
    Select((1, 2, 1), _exact(1, 16, resolution="1/3"), None, 1, constant_work=True),
    Select((1, 0), _exact(1, "3/4"), grid=0, constant_work=True),
    # From the bits.
    *(
        Select(units, _exact(1, 4), None, refinement, grid, width, tape=True, constant_work=True)
        for units in ((2, 1), (1, 1))
        for refinement, grid, width in ((0, 0, 1), (1, 1, 2))
    ),
]

CANDIDATES: list[Case] = [
    # What most often shows a defect comes first: a floor between two units, and below zero.
    *(
        Candidates(units, _exact(1, 16, resolution="1/3"), None, refinement, floor=floor)
        for units, floors in (((0, 2, 1), (2, 4, 7)), ((-1, -3), (-8, -5, -2)))
        for refinement in (0, 1)
        for floor in floors
    ),
    # Others are known to reach a floor: below all, among them, and far above.
    *(
        Candidates(units, _exact(k, 8 * k), plan, refinement, parts=parts, floor=floor)
        for units in ((1,), (0, 2, 1), (1, 1, 1))
        for k in (1, 2)
        for floor in (-5, 1, 2, 6)
        for plan, refinement, parts in ((None, 0, 1), (None, 1, 2), (Plan(4, 1), 0, 1))
    ),
    # Fewer items than are needed, as many, and more; with ties; missed thresholds.
    *(
        Candidates(units, _exact(k, 8 * k), plan, refinement, parts=parts)
        for units in ((1,), (1, 0), (0, 2, 1), (1, 1, 1))
        for k in (1, 2)
        for plan, refinement in ((None, 0), (None, 1), (Plan(3, 1), 0))
        for parts in (1, 2)
    ),
]


def counting_domain(size: int, listed: int) -> tuple[tuple[int, ...], Run]:
    """A domain of so many items, of which some are listed, with answers of 0, 1 and 2."""
    ranks = [rank for rank in [(5 * i + 3) % 13 for i in range(13)] if rank < size][:listed]
    return tuple((1, 0, 2)[i % 3] for i in range(listed)), Run(0, size, tuple(ranks))


def splits(size: int, least: int = 0) -> list[tuple[tuple[int, ...], Run]]:
    """The domains of so many items, by how many are listed: items with equal answers are alike."""
    return [counting_domain(size, listed) for listed in range(least, size + 1)]


def written_in_every_way(sizes: Iterable[int]) -> Iterator[Case]:
    """Domains of these sizes, split into listed and run in every way.

    Who can win, by which noisy answer; and who does, where two listed items lead or few tie, so
    that the orders of equal items can be walked. Thresholds are missed, too.
    """
    for size in sizes:
        for units, run in splits(size):
            for plan in (None, Plan(2, 1)):
                yield Candidates(units, _exact(1, 8), plan, runs=(run,))
        for units, run in splits(size, least=0 if size < 5 else 4):
            for plan in (None, Plan(3, 1)):
                smallest = Fraction(1, 2**24)
                yield Select(units, _exact(1, 8), plan, smallest=smallest, runs=(run,))


RUNS: list[Case] = [
    # Two workers share the listed items, and none of them the run.
    Candidates((1, 0), _exact(1, 8), Plan(2, 1), parts=2, runs=(Run(0, 2),)),
    # What most often shows a defect comes first: runs that are part of a larger whole.
    *(
        Candidates(units, _exact(k, 8 * k), plan, floor=floor, runs=runs)
        for units, runs in (
            ((), (Run(0, 3),)),
            ((1,), (Run(0, 3, (1,)),)),
            ((), (Run(0, 4, (0, 3)),)),
        )
        for k in (1, 2)
        for floor in (None, -1, 2)
        for plan in (None, Plan(3, 1))
    ),
    # A threshold between two answers; and so many items that the kernel plans one.
    *(
        case(units, _exact(1, 12, resolution="1/3"), Plan(0, zeros, above=above), 1, runs=(run,))
        for case in (Candidates, Select)
        for units, run in (((), Run(0, 3)), ((0, 1), Run(0, 3, (1,))), ((0, 0), Run(0, 3)))
        for zeros, above in ((0, 1), (1, 3), (1, 8))
    ),
    *(
        Candidates(units, _exact(1, 60, resolution="1/3"), None, 1, runs=(run,))
        for units, run in (((), Run(0, 17)), ((1, 0), Run(0, 18, (3, 17))))
    ),
    # More winners, refinement, and workers that share the listed items.
    *(
        Select(units, _exact(k, 8 * k), plan, refinement, parts=parts, runs=(run,))
        for units, run in (counting_domain(4, listed) for listed in range(5))
        for k in (1, 2, 3)
        for plan, refinement, parts in ((None, 0, 2), (None, 1, 1), (Plan(2, 1), 0, 1))
    ),
    # Two runs, one of them above zero, and a listed item between; a run below all.
    *(
        Select(units, _exact(k, 8 * k), plan, runs=runs)
        for units, runs in (
            ((1,), (Run(0, 2), Run(2, 2, (1,)))),
            ((), (Run(1, 2), Run(0, 2))),
            ((2, 1), (Run(-3, 3, (0, 2)),)),
            ((-2,), (Run(0, 3, (1,)),)),
        )
        for k in (1, 2)
        for plan in (None, Plan(3, 1))
    ),
    # Several steps in a unit; digits below the grid; from the bits.
    Select((1,), _exact(1, 16, resolution="1/3"), None, 1, runs=(Run(0, 3, (2,)),)),
    Select((1,), _exact(1, "3/4"), grid=0, runs=(Run(0, 2, (0,)),)),
    *(
        Select(units, _exact(1, 4), plan, 0, 0, 1, depth=20, tape=True, runs=(run,))
        for units, run in (((), Run(0, 2)), ((1,), Run(0, 2, (1,))))
        for plan in (None, Plan(1, 1))
    ),
    *written_in_every_way(range(2, 7)),
]

# The same, with more items: they are walked in `make verify` alone.
LARGER_RUNS: list[Case] = [*written_in_every_way(range(7, 13))]
