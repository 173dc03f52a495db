"""A list that a sentinel cuts has its law: walked whole, and whichever way users take."""

import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from tests.checking.cached_law import gap_top_k, top_k
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant
from tests.checking.walks import DrawWalker
from tests.selection.selector_walks import (
    ALL_AT_ONCE,
    NO_CHANGE,
    NONE,
    WAYS,
    Outcome,
    PlainCase,
    Recorder,
    contradicts,
    merged_as_a_tree,
    pairs,
    selector_on,
)
from topgap import Domain, ParameterError, Release, Selector, TopgapError, TopK, select
from topgap.law import Bounds

# --- Walked: the whole selector on every sequence of its draws, on the reference's noise

CASES = [
    PlainCase(((0,),), 1, 0),
    PlainCase(((0,), (1,)), 1, 1),
    PlainCase(((0,), (1,)), 2, 1),
    # More places than items; a threshold that is seldom reached, and one that nearly all reach.
    PlainCase(((1,), (), (0,)), 5, 0),
    PlainCase(((0,), (1,)), 1, 3),
    PlainCase(((0,), (1,)), 1, -2),
    PlainCase(((1,), (0, 1)), 2, 1, Fraction(1, 10**6)),
    PlainCase(((1, 0), (2,), (0,)), 2, 1, Fraction(1, 10**6)),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[pytest.mark.deep] if case is CASES[-1] else []) for case in CASES
], ids=str)  # fmt: skip
def test_parts_have_the_law_of_the_whole(
    case: PlainCase, way: Callable[..., Any], walker: DrawWalker, record_property: Recorder
) -> None:
    walked = case.walk(way, selector_on(NO_CHANGE), walker)
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2
    record_property("selector with a sentinel, by draws", float(walked.rest))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_at_once_without_the_kernel_have_the_law(case: PlainCase, walker: DrawWalker) -> None:
    walked = case.walk_at_once(NONE, walker)
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2


NAMED = "items = [*takewhile(lambda item: item is not SENTINEL, ranked)]\n"
GAPS = "gap_units, value_units = gap_units[: len(items)], None"
NOISE = "noise = sampler.geometric(parameters.rate / 2**refinement)"
BROKEN_POOLS = [
    Mutant("cut one too late", NAMED,
           "found = [*takewhile(lambda item: item is not SENTINEL, ranked)]\n            "
           "items = [i for i in ranked if i is not SENTINEL][: len(found) + 1]\n"),
    Mutant("cut one too early", NAMED, NAMED.replace("ranked)]", "ranked)][:-1]")),
    Mutant("the sentinel passed over, and not the end", NAMED,
           "items = [i for i in ranked if i is not SENTINEL]\n"),
    Mutant("a sentinel without noise", NOISE, "noise = 0"),
    Mutant("a sentinel with noise on both sides", NOISE,
           NOISE.replace("geometric", "discrete_laplace")),
    Mutant("a sentinel of half the noise", NOISE,
           NOISE.replace("parameters.rate /", "2 * parameters.rate /")),
    Mutant("a sentinel for each part", "self.candidates += part.candidates",
           "self.candidates += [*part.candidates, self._draw_sentinel(Sampler())]"),
    Mutant("a sentinel one step too high", "return Candidate((units << refinement) + noise",
           "return Candidate((units + 1 << refinement) + noise"),
    Mutant("no sentinel among those that k + 1 are kept of", "candidates = [*candidates, self._dr",
           "candidates = [*cut(candidates, k), self._dr"),
    Mutant("the k-th gap left out", GAPS, GAPS.replace(
           "gap_units[: len(items)]", "[*gap_units[: len(items)][:-1], 0][: len(items)]")),
    Mutant("the k-th gap told to be the sentinel's", NAMED,
           NAMED + "            sentinel = [c for c in candidates if c.item is SENTINEL]\n"
           "            last = [c.ticks for c in candidates if items and c.item is items[-1]]\n"
           "            if last and sentinel and last[0] > sentinel[0].ticks:\n"
           "                gap_units[len(items) - 1] = last[0] - sentinel[0].ticks - 1\n"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_POOLS, ids=lambda mutant: mutant.name)
def test_a_broken_pool_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    errors = TopgapError, ValueError, IndexError  # too many winners, or gaps
    assert contradicts(selector_on(mutant), CASES, walker, *errors)


# --- As users run it, with the kernel's noise on its fine grid, and of domains

EVERYDAY = {
    "one": ([0, 1, 0], TopK(1, 2, resolution=1, threshold=1)),
    "monotonic": ([2, 1, 0, 1], TopK(2, 4, resolution=1, threshold=1, monotonic=True)),
    "as many as there are": ([1, 0, 1], TopK(3, 9, resolution=1, threshold=0)),
    "more than there are": ([1, 0], TopK(4, 12, resolution=1, threshold=1)),
    "half steps": ([1, 0, 1], TopK(2, 8, resolution="1/2", threshold="1/2")),
    "a threshold below all": ([1, 0, 1], TopK(1, 2, resolution=1, threshold=-2)),
}
"""No threshold between two steps: it is rounded down before anything is drawn."""


def misfitting(
    run: Callable[[], Release], answers: list[int], parameters: TopK, alarm: float, runs: int
) -> list[str]:
    def law(outcome: Outcome) -> Bounds:
        return gap_top_k(answers, parameters, outcome)

    return misfits_of(lambda: pairs(run()), runs, law, alarm)


def by_arrow(parameters: TopK, answers: list[int]) -> Release:
    """Through a selector that was sent as Arrow, another by pickle, and one they are merged in."""
    parts = [Selector(parameters) for _ in answers]
    for i, (part, answer) in enumerate(zip(parts, answers, strict=True)):
        part.add([answer], [i])
    whole, second, *others = parts
    whole.merge(pickle.loads(pickle.dumps(second)))  # noqa: S301
    for other in others:
        whole.merge(Selector.from_arrow(parameters, other.to_arrow()))
    return whole.release()


def of_a_domain(parameters: TopK, answers: list[int], way: Callable[..., Release]) -> Release:
    """With a run of the items that have the answer 0."""
    occurring = {i: answer for i, answer in enumerate(answers) if answer}
    return way(parameters, occurring, Domain.range(0, len(answers)))


def by_a_selector(parameters: TopK, answers: dict[int, int], domain: Domain) -> Release:
    selector, other = (Selector(parameters, domain=domain) for _ in range(2))
    for part, names in ((selector, [*answers][::2]), (other, [*answers][1::2])):
        part.add({name: answers[name] for name in names})
    selector.merge(other)
    return selector.release()


PATHS: dict[str, Callable[[TopK, list[int]], Release]] = {
    **ALL_AT_ONCE,
    "domain by a rule": lambda p, a: of_a_domain(
        p, a, lambda p, occurring, domain: select(p, occurring, domain=domain)
    ),
    "selector with a domain": lambda p, a: of_a_domain(p, a, by_a_selector),
    "selector": lambda p, a: merged_as_a_tree(
        lambda: Selector(p), (tuple(a[:1]), tuple(a[1:]))
    ).release(),
    "sent by pickle and as Arrow": by_arrow,
}


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(e, marks=() if e == "monotonic" else pytest.mark.deep) for e in EVERYDAY],
)
def test_releases_have_the_law_whichever_way_they_take(
    name: str, path: str, false_alarm: float
) -> None:
    answers, parameters = EVERYDAY[name]

    def run() -> Release:
        return PATHS[path](parameters, answers)

    # The releases are independent, and `misfits_of` errs no more often than it is told.
    assert misfitting(run, answers, parameters, false_alarm, 3_000) == []


@pytest.mark.statistical(false_alarm=1e-10)
def test_names_alone_have_the_law(false_alarm: float) -> None:
    answers, parameters = EVERYDAY["monotonic"]

    def run() -> tuple[Any, ...]:
        return select(parameters, answers, gaps=False).items

    def law(outcome: tuple[int, ...]) -> Bounds:
        return top_k(answers, parameters, outcome)

    assert misfits_of(run, 4_000, law, false_alarm) == []


FLOORS = [
    Mutant("a floor of the pool that is too high",
           "None if units is None else units << self.refinement",
           "None if units is None else units + 1 << self.refinement"),
    Mutant("a floor of the domain that is too high",
           "return next(each.ticks for each in candidates if each.item is SENTINEL)",
           "return max(each.ticks for each in candidates) + (1 << self.refinement)"),
    Mutant("the sentinel on another grid", "return Candidate((units << refinement) + noise",
           "return Candidate(units + noise"),
    Mutant("noise of the sentinel on another grid", "geometric(parameters.rate / 2**refinement)",
           "geometric(parameters.rate)"),
    Mutant("the sentinel after the domain",
           "candidates = cut([*candidates, *self._draw_unlisted(domain, candidates)], k + 1)",
           "candidates = [*cut([*candidates, *self._draw_unlisted(domain, candidates)], k + 1), "
           "self._draw_sentinel(sampler)]"),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("mutant", FLOORS, ids=lambda mutant: mutant.name)
def test_a_broken_floor_is_found(mutant: Mutant, false_alarm: float) -> None:
    made = selector_on(mutant)
    answers, parameters = [1, 0, 2], TopK(3, 6, resolution=1, threshold=1)

    def run() -> Release:
        selector = made.Selector(parameters, domain=Domain.range(0, 3))
        selector.add({0: 1})
        selector.add({2: 2})
        release: Release = selector.release()
        return release

    try:
        assert misfitting(run, answers, parameters, false_alarm, 3_000) != []
    except ParameterError:  # an outcome that cannot be
        return
