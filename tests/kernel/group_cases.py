"""What the kernel must do for several groups on every random tape, case by case."""

from dataclasses import dataclass
from fractions import Fraction

from tests.checking.walks import Walk
from tests.kernel.laplace_cases import NoisyAnswers
from tests.kernel.law_cases import Run, Select
from tests.kernel.probe import Probe, Selection
from tests.kernel.threshold_cases import Cut
from topgap import TopK
from topgap.law import Bounds

Selections = tuple[Selection, ...]


@dataclass(frozen=True)
class Groups:
    """The whole kernel in each of several groups, which differ in units and runs alone."""

    each: tuple[Select, ...]
    workers: int = 1
    depth: int = 20
    smallest: Fraction = Fraction(1, 2**24)

    def __str__(self) -> str:
        first, others = self.each[0], [f"{group.units}{group.runs}" for group in self.each[1:]]
        return f"{first} and {', '.join(others)}, workers={self.workers}"

    @property
    def kind(self) -> str:
        return self.each[0].kind.replace("kernel", f"kernel, {len(self.each)} groups", 1)

    def walk(self, probe: Probe) -> Walk[Selections]:
        first, *others = self.each
        question = f"{first.question(tuple(others))} workers={self.workers}"
        if first.tape:
            return probe.walk_tapes_of_groups(question, self.depth)
        return probe.walk_groups(question, first.chances(), self.smallest)

    def law(self, outcome: Selections) -> Bounds:
        """The groups are independent: the product of what each of them has alone."""
        low = high = Fraction(int(len(outcome) == len(self.each)))
        for group, selection in zip(self.each, outcome, strict=False):
            bounds = group.law(selection)
            low, high = low * bounds.low, high * bounds.high
        return Bounds(low, high)


def _exact(k: int, epsilon: str | int) -> TopK:
    return TopK(k, epsilon, resolution=1)


PLAIN: list[Groups] = [
    # Equal answers and different ones; one worker, as many as groups, and between.
    *(
        Groups(tuple(Select(units, _exact(1, 4), refinement=refinement) for units in groups), n)
        for groups in (((1, 1), (1, 1)), ((2, 0), (0, 1)), ((1, 1), (0, 2), (1, 0)))
        for n in (1, 2, 3)
        for refinement in (0, 1)
        if n <= len(groups) and (n < 3 or refinement)
    ),
    # Groups of different sizes, and so of different work.
    *(
        Groups(tuple(Select(units, _exact(1, 6)) for units in groups), n)
        for groups in (((0, 2, 1, 0), (1, 0)), ((1, 0), (0, 0, 1)))
        for n in (1, 2)
    ),
    Groups((Select((2, 0, 1), _exact(2, 16)), Select((0, 1, 1), _exact(2, 16))), 2),
    # Constant work; and from the bits.
    Groups(tuple(Select(u, _exact(1, 4), constant_work=True) for u in ((1, 1), (0, 1))), 2),
    *(
        Groups(
            tuple(
                Select(u, _exact(1, 4), None, grid=0, width=1, tape=True) for u in ((1, 1), (0, 1))
            ),
            workers,
        )
        for workers in (1, 2)
    ),
]

SENTINELS: list[Groups] = [
    Groups(tuple(Cut(units, _exact(k, 5 * k), sentinel=1) for units in groups), workers)
    for groups in (((1, 1), (1, 1)), ((2, 0), ()), ((0, 1), (1,), (2,)))
    for k in (1, 2)
    for workers in (1, 2)
    if k == 1 or len(groups) == 2
]

NOISY: list[Groups] = [
    Groups(
        tuple(
            NoisyAnswers(
                units, TopK(1, 3, items_per_person=1, monotonic=True, noise="laplace"), cut=cut
            )
            for units in ((1, 0), (0, 1))
        ),
        workers,
    )
    for cut in (None, 1)
    for workers in (1, 2)
]

# Each group has all members of a domain: some of them listed, none, or all.
RUNS: list[Groups] = [
    *(
        Groups(
            tuple(
                Select(units, _exact(1, 6), runs=(Run(0, 3, listed),)) for units, listed in groups
            ),
            workers,
        )
        for groups in (
            (((1,), (1,)), ((), ())),
            (((2, 0), (0, 2)), ((1,), (2,))),
            (((1, 0, 1), (0, 1, 2)), ((2,), (0,))),
        )
        for workers in (1, 2)
    ),
    Groups(
        (
            Cut((1,), _exact(2, 10), runs=(Run(0, 3, (1,)),), sentinel=1),
            Cut((), _exact(2, 10), runs=(Run(0, 3),), sentinel=1),
        ),
        2,
    ),
]
