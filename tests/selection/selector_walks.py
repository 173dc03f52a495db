"""Selectors walked on every sequence of their draws, on the reference's noise, part by part.

Items are named by their place among all.
"""

import inspect
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from tests.checking.cached_law import gap_top_k
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker, Walk
from topgap import Release, TopK, select
from topgap.law import Bounds
from topgap.reference import Sampler
from topgap.selection import candidate_pool, drawing, mechanism, preparation, selector

Parts = tuple[tuple[int, ...], ...]
Outcome = tuple[tuple[int, Fraction], ...]
Recorder = Callable[[str, object], None]
Told = TypeVar("Told")

# --- Ways to put the parts together


def in_sequence(made: Callable[[], Any], parts: Parts) -> Any:
    whole = made()
    for answers, names in named(parts):
        whole.add(answers, names)
    return whole


def backwards(made: Callable[[], Any], parts: Parts) -> Any:
    whole = made()
    for answers, names in [*named(parts)][::-1]:
        whole.add(answers, names)
    return whole


def merged_one_by_one(made: Callable[[], Any], parts: Parts) -> Any:
    whole, *others = singles(made, parts)
    for other in others:
        whole.merge(other)
    return whole


def merged_as_a_tree(made: Callable[[], Any], parts: Parts) -> Any:
    leaves = singles(made, parts)
    while len(leaves) > 1:
        last, before = leaves.pop(), leaves.pop()
        before.merge(last)
        leaves.insert(0, before)
    return leaves[0]


def merged_and_added(made: Callable[[], Any], parts: Parts) -> Any:
    *first, (answers, names) = named(parts)
    whole = merged_one_by_one(made, parts[:-1]) if first else made()
    whole.add(answers, names)
    return whole


OTHER_WAYS = [in_sequence, backwards, merged_one_by_one, merged_and_added]
WAYS = [*OTHER_WAYS, merged_as_a_tree]


def named(parts: Parts) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    first = 0
    for answers in parts:
        yield answers, [*range(first, first + len(answers))]
        first += len(answers)


def singles(made: Callable[[], Any], parts: Parts) -> list[Any]:
    found = []
    for answers, names in named(parts):
        found.append(made())
        found[-1].add(answers, names)
    return found


def pairs(release: Release) -> Outcome:
    return tuple(zip(release.items, release.gaps or (), strict=True))


# --- Broken on purpose, or not

NONE = Mutant("none", '"""Noisy', '"""Noisy')
NO_CHANGE = Mutant("none", "class CandidatePool:", "class CandidatePool:")


def modules_on(mutant: Mutant, modules: Sequence[ModuleType]) -> dict[str, Any]:
    """These modules once more, each on those before it; where the text stands, with the defect."""
    if sum(inspect.getsource(module).count(mutant.old) for module in modules) != 1:
        raise LookupError(f"'{mutant.old}' does not stand exactly once in these modules")
    made: dict[str, Any] = {}
    for module in modules:
        doc = module.__doc__ or ""
        has_defect = mutant.old in inspect.getsource(module)
        again = mutated(module, mutant if has_defect else Mutant("none", doc, doc))
        for name, value in vars(again).items():
            if (other := made.get(getattr(value, "__module__", ""))) is not None:
                setattr(again, name, getattr(other, name))
        made[module.__name__] = again
    return made


def mechanism_on(mutant: Mutant) -> Any:
    """The mechanism's module once more, on what prepares and draws; its `drawing` draws."""
    made = modules_on(mutant, [preparation, drawing, mechanism])
    at_once = made[mechanism.__name__]
    at_once.drawing = made[drawing.__name__]
    return at_once


def selector_on(pool: Mutant, mutant: Mutant = NONE) -> Any:
    """The selector's module once more on a pool once more, for its sampler is replaced."""
    module: Any = mutated(selector, mutant)
    module.candidate_pool = mutated(candidate_pool, pool)
    for name in ("CandidatePool", "Part", "Ranking"):
        setattr(module, name, getattr(module.candidate_pool, name))
    return module


# --- Walks


def walk_parts(
    way: Callable[..., Any],
    module: Any,
    parameters: TopK,
    parts: Parts,
    tell: Callable[[Release], Told],
    walker: DrawWalker,
    smallest: Fraction,
) -> Walk[Told]:
    """What a selector of this module may tell of parts that are put together in this way."""

    def program(sampler: Sampler) -> Told:
        module.candidate_pool.Sampler = lambda _bits=None: sampler
        return tell(way(lambda: module.Selector(parameters), parts).release())

    return walker.walk(program, smallest)


def walk_at_once(
    mutant: Mutant,
    parameters: TopK,
    answers: Sequence[int],
    tell: Callable[[Release], Told],
    walker: DrawWalker,
    smallest: Fraction,
) -> Walk[Told]:
    """All answers at once where the kernel's integers are too short: `select` with a pool."""
    pool, at_once = mutated(candidate_pool, NO_CHANGE), mechanism_on(mutant)
    at_once.drawing.CandidatePool = pool.CandidatePool

    def program(sampler: Sampler) -> Told:
        pool.Sampler = lambda _bits=None: sampler
        return tell(at_once.select(parameters, answers))

    return walker.walk(program, smallest)


class PlainCase(NamedTuple):
    """Parts under exponential noise; items and gaps are told. A sentinel cuts, or not."""

    parts: Parts
    k: int
    threshold: int | None = None
    smallest: Fraction = Fraction(1, 10**7)

    @property
    def parameters(self) -> TopK:
        """Noise of rate 2 per step, so that ties are common; without a kernel."""
        parameters = TopK(self.k, 4 * self.k, resolution=1, threshold=self.threshold)
        object.__setattr__(parameters, "_kernel", None)
        return parameters

    @property
    def answers(self) -> list[int]:
        return [answer for part in self.parts for answer in part]

    def walk(self, way: Callable[..., Any], module: Any, walker: DrawWalker) -> Walk[Outcome]:
        return walk_parts(way, module, self.parameters, self.parts, pairs, walker, self.smallest)

    def walk_at_once(self, mutant: Mutant, walker: DrawWalker) -> Walk[Outcome]:
        answers = self.answers
        return walk_at_once(mutant, self.parameters, answers, pairs, walker, self.smallest)

    def law(self, outcome: Outcome) -> Bounds:
        return gap_top_k(self.answers, self.parameters, outcome)


class Case(Protocol):
    """Parts with the law of what is told of them."""

    def walk(self, way: Callable[..., Any], module: Any, walker: DrawWalker) -> Walk[Any]: ...

    def law(self, outcome: Any) -> Bounds: ...


def contradicts(
    module: Any, cases: Sequence[Case], walker: DrawWalker, *errors: type[Exception]
) -> bool:
    """Whether a selector of this module contradicts a law, or stops with one of these errors."""
    for case in cases:
        for way in (in_sequence, merged_one_by_one, merged_and_added):
            try:
                if case.walk(way, module, walker).violations(case.law):
                    return True
            except errors:
                return True
    return False


# --- As users run it

ALL_AT_ONCE: dict[str, Callable[[TopK, list[int]], Release]] = {
    "list": select,
    "constant work": lambda p, a: select(p, np.array(a), constant_work=True),
    "threads": lambda p, a: select(p, a, threads=2),
    "shifted": lambda p, a: select(p, np.array(a, dtype=np.uint64)),
    "floats": lambda p, a: select(p, np.array(a, dtype=np.float64)),
    "fractions": lambda p, a: select(p, [*map(Fraction, a)]),
    "listed domain": lambda p, a: select(
        p, {i: answer for i, answer in enumerate(a) if answer}, domain=[*range(len(a))]
    ),
}
