"""Answers in parts have the law of all at once: walked whole, and as users run it."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from tests.checking.cached_law import gap_top_k
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant
from tests.checking.walks import DrawWalker
from tests.selection.selector_walks import (
    NO_CHANGE,
    NONE,
    OTHER_WAYS,
    WAYS,
    Outcome,
    Parts,
    PlainCase,
    Recorder,
    contradicts,
    merged_as_a_tree,
    pairs,
    selector_on,
)
from topgap import Selector, TopK, select
from topgap.law import Bounds

# --- Walked: the whole selector on every sequence of its draws, on the reference's noise

CASES = [
    PlainCase(((0,), (0,)), 1),
    PlainCase(((1, 0), (1,)), 1),
    PlainCase(((0, 0), (), (0,)), 2),
    PlainCase(((0, 0, 0), (0,)), 1, smallest=Fraction(1, 10**6)),
    PlainCase(((2,), (0, 1), (1,)), 2, smallest=Fraction(1, 10**6)),
]


@pytest.fixture
def module() -> Any:
    return selector_on(NO_CHANGE)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_parts_have_the_law_of_the_whole(
    case: PlainCase,
    way: Callable[..., Any],
    module: Any,
    walker: DrawWalker,
    record_property: Recorder,
) -> None:
    walked = case.walk(way, module, walker)
    record_property("selector, by draws", float(walked.rest))
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_at_once_without_the_kernel_have_the_law(case: PlainCase, walker: DrawWalker) -> None:
    walked = case.walk_at_once(NONE, walker)
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
    assert any(case.walk_at_once(mutant, walker).violations(case.law) for case in CASES)


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
    Mutant("fresh noise when merged", "return Part([*candidates], answers, ",
           "return Part([Candidate(t + Sampler().geometric(self.parameters.rate), i) "
           "for t, i in candidates], answers, "),
    Mutant("cut once too often",
           "if len(self.candidates) >= needed * (1 if self._floor is None else 2):",
           "if self.candidates:\n            needed = needed - 1"),
    Mutant("the other's pool not taken over", "return Part([*candidates], answers, ",
           "return Part([], answers, "),
]  # fmt: skip


FEW = ValueError, IndexError
"""Too few winners, or none to choose from."""


@pytest.mark.parametrize(
    "mutant", BROKEN_RANKINGS + BROKEN_DRAWINGS, ids=lambda mutant: mutant.name
)
def test_a_broken_pool_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    assert contradicts(selector_on(mutant), CASES, walker, *FEW)


def test_a_broken_selector_is_found(walker: DrawWalker) -> None:
    lost = Mutant("a merged pool lost", "ours.keep(theirs.as_part())", "pass")
    assert contradicts(selector_on(NO_CHANGE, lost), CASES, walker, *FEW)


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
