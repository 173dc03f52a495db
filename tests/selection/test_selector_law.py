"""Answers in parts have the law of all at once: walked whole, and as users run it."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.checking.cached_law import gap_top_k
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.checking.walks import DrawWalker
from topgap import Release, Selector, TopK, select
from topgap.law import Bounds
from topgap.reference import Sampler
from topgap.selection import candidate_pool, mechanism, selector

Parts = tuple[tuple[int, ...], ...]
Outcome = tuple[tuple[int, Fraction], ...]
Recorder = Callable[[str, object], None]


# --- Ways to put the parts together; items are named by their place among all


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


# --- Walked: the whole selector on every sequence of its draws, on the reference's noise


class Case(NamedTuple):
    parts: Parts
    k: int
    smallest: Fraction = Fraction(1, 10**7)

    @property
    def parameters(self) -> TopK:
        """Noise of rate 2 per step, so that ties are common; without a kernel."""
        parameters = TopK(self.k, 4 * self.k, resolution=1)
        object.__setattr__(parameters, "_kernel", None)
        return parameters

    @property
    def answers(self) -> list[int]:
        return [answer for part in self.parts for answer in part]

    def walk(self, way: Callable[..., Any], module: Any, walker: DrawWalker) -> Any:
        parameters = self.parameters

        def program(sampler: Sampler) -> Outcome:
            module.candidate_pool.Sampler = lambda _bits=None: sampler
            return pairs(way(lambda: module.Selector(parameters), self.parts).release())

        return walker.walk(program, self.smallest)

    def law(self, outcome: Outcome) -> Bounds:
        return gap_top_k(self.answers, self.parameters, outcome)


CASES = [
    Case(((0,), (0,)), 1),
    Case(((1, 0), (1,)), 1),
    Case(((0, 0), (), (0,)), 2),
    Case(((0, 0, 0), (0,)), 1, Fraction(1, 10**6)),
    Case(((2,), (0, 1), (1,)), 2, Fraction(1, 10**6)),
]


@pytest.fixture(scope="module")
def walker() -> DrawWalker:
    return DrawWalker()


NONE = Mutant("none", '"""Noisy', '"""Noisy')
NO_CHANGE = Mutant("none", "class CandidatePool:", "class CandidatePool:")


def selector_on(pool: Mutant, mutant: Mutant = NONE) -> Any:
    """The selector's module once more on a pool once more, for its sampler is replaced."""
    module: Any = mutated(selector, mutant)
    module.candidate_pool = mutated(candidate_pool, pool)
    for name in ("CandidatePool", "Part", "Ranking"):
        setattr(module, name, getattr(module.candidate_pool, name))
    return module


@pytest.fixture
def module() -> Any:
    return selector_on(NO_CHANGE)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_parts_have_the_law_of_the_whole(
    case: Case, way: Callable[..., Any], module: Any, walker: DrawWalker, record_property: Recorder
) -> None:
    walked = case.walk(way, module, walker)
    record_property("selector, by draws", float(walked.rest))
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2


def walk_at_once(case: Case, mutant: Mutant, walker: DrawWalker) -> Any:
    """All answers at once where the kernel's integers are too short: `select` with a pool."""
    pool, at_once = mutated(candidate_pool, NO_CHANGE), mutated(mechanism, mutant)
    at_once.CandidatePool = pool.CandidatePool

    def program(sampler: Sampler) -> Outcome:
        pool.Sampler = lambda _bits=None: sampler
        return pairs(at_once.select(case.parameters, case.answers))

    return walker.walk(program, case.smallest)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_at_once_without_the_kernel_have_the_law(case: Case, walker: DrawWalker) -> None:
    walked = walk_at_once(case, Mutant("none", '"""Noisy', '"""Noisy'), walker)
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2


WITHOUT_KERNEL = [
    Mutant("the first answer twice", "pool.add(data.numbers, None)",
           "pool.add([data.numbers[0], *data.numbers[:-1]], None)"),
    Mutant("gaps one too large", "ranking.gap_units, ranking.value_units)\n",
           "[g + 1 for g in ranking.gap_units], ranking.value_units)\n"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", WITHOUT_KERNEL, ids=lambda mutant: mutant.name)
def test_a_broken_fallback_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    assert any(walk_at_once(case, mutant, walker).violations(case.law) for case in CASES)


KEPT = "return [candidate for candidate in candidates if candidate.ticks >= least]"
ORDER = '    [\'ash\']\n    """\n    order = sampler.shuffle(len(candidates))'
BROKEN_RANKINGS = [
    Mutant("a pool cut at k + 1: ties dropped, the last first", KEPT,
           "return sorted(candidates, key=lambda each: -each.ticks)[:needed]"),
    Mutant("a pool cut at k + 1: ties dropped, the first first", KEPT,
           "return sorted(candidates[::-1], key=lambda each: -each.ticks)[:needed]"),
    Mutant("a pool cut at k", "for candidate in candidates)[-needed]",
           "for candidate in candidates)[1 - needed]"),
    Mutant("ties by position", ORDER,
           ORDER.replace("sampler.shuffle(len(candidates))", "[*range(len(candidates))]")),
    Mutant("the order the wrong way round", "(order[a] < order[b])", "(order[a] > order[b])"),
    Mutant("no order for the gaps", " - (order[a] < order[b])", ""),
    Mutant("an order of their own for the gaps", "(order[a] < order[b])", "sampler.uniform(2)"),
]  # fmt: skip
NOISE = "noisy = [(step << refinement) + draw(rate) for step in steps]"
BROKEN_DRAWINGS = [
    Mutant("noise reused between parts", NOISE,
           "known = vars(sampler).setdefault('known', {})\n        "
           "noisy = [(step << refinement) + known.setdefault(i, draw(rate)) "
           "for i, step in enumerate(steps)]"),
    Mutant("one noise for all items of a part", NOISE,
           "noise = draw(rate)\n        "
           "noisy = [(step << refinement) + noise for step in steps]"),
    Mutant("fresh noise when merged", "return Part([*candidates], None, ",
           "return Part([Candidate(t + Sampler().geometric(self.parameters.rate), i) "
           "for t, i in candidates], None, "),
    Mutant("cut once too often",
           "if len(self.candidates) >= needed * (1 if self._floor is None else 2):",
           "if self.candidates:\n            needed = needed - 1"),
    Mutant("the other's pool not taken over", "return Part([*candidates], None, ",
           "return Part([], None, "),
]  # fmt: skip


@pytest.mark.parametrize(
    "mutant", BROKEN_RANKINGS + BROKEN_DRAWINGS, ids=lambda mutant: mutant.name
)
def test_a_broken_pool_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    assert _is_found(selector_on(mutant), walker)


def test_a_broken_selector_is_found(walker: DrawWalker) -> None:
    lost = Mutant("a merged pool lost", "ours.keep(theirs.as_part())", "pass")
    assert _is_found(selector_on(NO_CHANGE, lost), walker)


def _is_found(module: Any, walker: DrawWalker) -> bool:
    for case in CASES:
        for way in (in_sequence, merged_one_by_one, merged_and_added):
            try:
                if case.walk(way, module, walker).violations(case.law):
                    return True
            except (ValueError, IndexError):  # too few winners, or none to choose from
                return True
    return False


# --- As users run it, with the kernel's noise on its fine grid

FINE = [
    (((2,), (1,)), TopK(1, 2, resolution=1)),
    (((0, 0), (0, 0), (0,)), TopK(2, 8, resolution=1)),
    (((3, 0, 1), (2,), (1, 1, 0)), TopK(2, 4, resolution="1/2")),
    (((0, 1), (1, 0)), TopK(1, 1, monotonic=True, resolution=1)),
]
RUNS = 8_000


def misfitting(
    run: Callable[[], Outcome],
    answers: Sequence[int],
    parameters: TopK,
    false_alarm: float,
    runs: int = RUNS,
) -> list[str]:
    def probability(seen: Outcome) -> Bounds:
        return gap_top_k(answers, parameters, seen)

    return misfits_of(run, runs, probability, false_alarm)


@pytest.mark.slow
@pytest.mark.parametrize(
    "way", [merged_as_a_tree, *(pytest.param(e, marks=pytest.mark.deep) for e in OTHER_WAYS)]
)
@pytest.mark.parametrize(("parts", "parameters"), FINE)
@pytest.mark.statistical(false_alarm=1e-10)
def test_releases_of_parts_have_the_law(
    parts: Parts, parameters: TopK, way: Callable[..., Any], false_alarm: float
) -> None:
    def run() -> Outcome:
        return pairs(way(lambda: Selector(parameters), parts).release())

    answers = [answer for part in parts for answer in part]
    assert misfitting(run, answers, parameters, false_alarm) == []


ANSWERS = [1, 0, 2, 2, 0, 1]
PARAMETERS = TopK(2, 4, resolution=1)
KINDS = [np.int64, np.uint64, np.float64, np.int8, object, list]


def of_all_kinds(made: Any) -> Any:
    """One answer at a time, each handed in by another type: shifted inside, or rounded."""
    whole = made(PARAMETERS)
    for place, (answer, kind) in enumerate(zip(ANSWERS, KINDS, strict=True)):
        whole.add([answer] if kind is list else np.array([answer], dtype=kind), [place])
    return whole


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
def test_answers_of_all_types_meet_on_one_scale(false_alarm: float) -> None:
    def run() -> Outcome:
        return pairs(of_all_kinds(Selector).release())

    assert misfitting(run, ANSWERS, PARAMETERS, false_alarm) == []


BROKEN_DRAWS = [
    Mutant("the floor too high", "floor = min(candidate.ticks", "floor = max(candidate.ticks"),
    Mutant("the floor not shifted", "self._floor - shift", "self._floor + shift - shift"),
    Mutant("ticks not shifted back", "[t + shift for t in ticks]", "ticks"),
    Mutant("a shift of units taken for one of steps",
           "shift = taken.shift * (1 if taken.in_steps else steps_per_unit) << refinement",
           "shift = taken.shift << refinement"),
    Mutant("noise on the wrong grid", "shift = taken.shift * (1 if taken.in_steps",
           "refinement = refinement + 1\n            "
           "shift = taken.shift * (1 if taken.in_steps"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_DRAWS, ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=1e-10)
def test_broken_draws_are_found(mutant: Mutant, false_alarm: float) -> None:
    """Parts of each type, in both orders: what is shifted inside must come back."""
    broken = selector_on(mutant)
    parameters = TopK(1, 4, resolution="1/2")
    uints, ints = np.array([2, 1], dtype=np.uint64), np.array([2, 0])

    def run(first: Any, second: Any) -> Outcome:
        whole = broken.Selector(parameters)
        whole.add(first, [0, 1])
        whole.add(second, [2, 3])
        return pairs(whole.release())

    found: list[str] = []
    for first, second in [(uints, ints), (ints, uints), (ints, ints)]:
        answers = [*first.tolist(), *second.tolist()]
        found += misfitting(partial(run, first, second), answers, parameters, false_alarm, 3000)
    assert found != []


@pytest.mark.deep
@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.statistical(false_alarm=1e-10)
def test_threads_have_the_law(threads: int, false_alarm: float) -> None:
    """Thread by thread over blocks of answers, with some that can win in each."""
    answers = np.full(4100, -50)
    answers[[0, 1000, 2047, 2048, 4099]] = [2, 1, 2, 0, 1]
    parameters = TopK(2, 8, resolution=1)
    places = {0: 0, 1000: 1, 2047: 2, 2048: 3, 4099: 4}

    def run() -> Outcome:
        release = select(parameters, answers, threads=threads)
        return tuple((places.get(i, -1), gap) for i, gap in pairs(release))

    # Noise has mean 1/2: that any of 4,095 others comes near has a chance of e^−90 or so.
    assert misfitting(run, [2, 1, 2, 0, 1], parameters, false_alarm / 2, 3000) == []
