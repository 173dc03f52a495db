"""Noisy answers have their law: walked whole on the reference's noise, and as users run it."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import topgap
from tests.checking.frequencies import misfits, misfits_of
from tests.checking.mutants import Mutant
from tests.checking.noisy_answers import Published, noise_is, released
from tests.checking.walks import DrawWalker, Walk
from tests.selection.selector_walks import (
    ALL_AT_ONCE,
    NO_CHANGE,
    NONE,
    WAYS,
    Parts,
    Recorder,
    contradicts,
    mechanism_on,
    merged_as_a_tree,
    selector_on,
    walk_at_once,
    walk_parts,
)
from topgap import Domain, Release, Selector, TopK, select
from topgap.law import Bounds


def published(release: Release) -> Published:
    """What a release tells: winners, noisy answers and gaps."""
    assert release.value_units is not None
    assert release.gap_units is not None
    return release.items, tuple(release.value_units.tolist()), tuple(release.gap_units.tolist())


# --- Walked: a pool on every sequence of its draws


class Case(NamedTuple):
    parts: Parts
    k: int
    threshold: int | None = None
    smallest: Fraction = Fraction(1, 10**7)

    @property
    def parameters(self) -> TopK:
        """Noise of rate 2 per step, so that ties are common; without a kernel."""
        parameters = TopK(
            self.k, 2, items_per_person=1, monotonic=True, noise="laplace", threshold=self.threshold
        )
        object.__setattr__(parameters, "_kernel", None)
        return parameters

    @property
    def plain(self) -> dict[int, int]:
        return dict(enumerate(answer for part in self.parts for answer in part))

    def walk(self, way: Callable[..., Any], module: Any, walker: DrawWalker) -> Walk[Published]:
        return walk_parts(
            way, module, self.parameters, self.parts, published, walker, self.smallest
        )

    def walk_at_once(self, mutant: Mutant, walker: DrawWalker) -> Walk[Published]:
        answers = [*self.plain.values()]
        return walk_at_once(mutant, self.parameters, answers, published, walker, self.smallest)

    def law(self, outcome: Published) -> Bounds:
        return released(self.plain, self.parameters, outcome)


CASES = [
    Case(((0,), (0,)), 1),
    Case(((0,), (1,)), 1, 1),
    Case(((0, 1), (1,)), 1, smallest=Fraction(1, 10**6)),
    Case(((1,), (), (0, 0)), 2, smallest=Fraction(1, 10**6)),
    # More places than items; a threshold that is seldom reached, and one that nearly all reach.
    Case(((0,), (1, 0)), 5, 1, Fraction(1, 10**6)),
    Case(((0,), (1,)), 2, 3),
    Case(((0,), (1,)), 1, -2),
]


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_parts_have_the_law_of_the_whole(
    case: Case, way: Callable[..., Any], walker: DrawWalker, record_property: Recorder
) -> None:
    walked = case.walk(way, selector_on(NO_CHANGE), walker)
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2
    record_property("selector of noisy answers, by draws", float(walked.rest))


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=str)
def test_all_at_once_without_the_kernel_have_the_law(
    case: Case, walker: DrawWalker, record_property: Recorder
) -> None:
    walked = case.walk_at_once(NONE, walker)
    assert walked.violations(case.law) == []
    assert walked.rest < 1e-2
    record_property("noisy answers without the kernel, by draws", float(walked.rest))


ORDER = '-2])\n    """\n    order = sampler.shuffle(len(candidates))'
BROKEN_POOLS = [
    Mutant("ties by position", ORDER,
           ORDER.replace("sampler.shuffle(len(candidates))", "[*range(len(candidates))]")),
    Mutant("the next noisy answer lost", "for i in by_size[: k + 1]]\n    return [cand",
           "for i in by_size[:k]]\n    return [cand"),
    Mutant("exponential noise", 'if parameters.noise == "laplace" else sampler.geometric',
           "if False else sampler.geometric"),
    Mutant("ranked as exponential noise", 'if self.parameters.noise == "laplace":',
           'if self.parameters.noise == "other":'),
    Mutant("one noise for all items of a part",
           "noisy = [(step << refinement) + draw(rate) for step in steps]",
           "noise = draw(rate)\n        noisy = [(step << refinement) + noise for step in steps]"),
    Mutant("a threshold that must be exceeded", "for each in noisy if each >= threshold)",
           "for each in noisy if each > threshold)"),
    Mutant("a threshold that is one too low", "for each in noisy if each >= threshold)",
           "for each in noisy if each >= threshold - 1)"),
    Mutant("gaps to the next, and not to the threshold",
           "*(each for each in noisy if each >= threshold), threshold]",
           "*(each for each in noisy if each >= threshold), "
           "max([each for each in noisy if each < threshold], default=threshold)]"),
    Mutant("gaps to the threshold, though another is above it",
           "gaps = [a - b for a, b in pairwise(next_ones[: parameters.k + 1])]",
           "gaps = [a - b for a, b in pairwise(next_ones[: parameters.k + 1])]\n"
           "    if threshold is not None and gaps:\n"
           "        gaps[-1] = next_ones[len(gaps) - 1] - threshold"),
    Mutant("a gap that borrows one, as of exponential noise",
           "gaps = [a - b for a, b in pairwise(",
           "gaps = [a - b - (a > b) for a, b in pairwise("),
    Mutant("a pool cut at k", "for candidate in candidates)[-needed]",
           "for candidate in candidates)[1 - needed]"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_POOLS, ids=lambda mutant: mutant.name)
def test_a_broken_pool_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    errors = AssertionError, ValueError, IndexError  # no values, or too few
    assert contradicts(selector_on(mutant), CASES, walker, *errors)


BROKEN_FALLBACKS = [
    Mutant("noisy answers one too large", "ranking.gap_units, ranking.value_units)\n",
           "ranking.gap_units, [v + 1 for v in ranking.value_units])\n"),
    Mutant("the first answer twice", "pool.add(data.numbers, None)",
           "pool.add([data.numbers[0], *data.numbers[:-1]], None)"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_FALLBACKS, ids=lambda mutant: mutant.name)
def test_a_broken_fallback_is_found(mutant: Mutant, walker: DrawWalker) -> None:
    assert any(case.walk_at_once(mutant, walker).violations(case.law) for case in CASES)


# --- As users run it, with the kernel's noise


def few(k: int | None, epsilon: str | int, **more: Any) -> TopK:
    return TopK(k, epsilon, **{"items_per_person": 1, "monotonic": True, **more})


EVERYDAY = {
    "all at once": ([2, 1, 0, 1], few(2, 1)),
    "replaced persons, several items each": ([3, 0, 3, 1], few(4, 6, items_per_person=3,
                                                              monotonic=False, noise="laplace",
                                                              threshold=2)),
    "a threshold": ([4, 2, 0, 2], few(2, 1, threshold=3)),
    "a threshold alone": ([4, 2, 0, 3], few(None, 1, threshold=3)),
    "half steps": ([1, 0, 1], few(2, 3, resolution="1/2", threshold="1/2")),
    "one winner": ([1, 0, 1], TopK(1, 2, items_per_person=1, noise="laplace")),
}  # fmt: skip
RUNS = 8_000


def in_steps(answers: list[int], parameters: TopK) -> dict[int, int]:
    return {i: int(answer / parameters.resolution) for i, answer in enumerate(answers)}


def misfitting(
    run: Callable[[], Release], answers: list[int], parameters: TopK, alarm: float, runs: int = RUNS
) -> list[str]:
    plain = in_steps(answers, parameters)

    def law(outcome: Published) -> Bounds:
        return released(plain, parameters, outcome)

    return misfits_of(lambda: published(run()), runs, law, alarm)


def by_arrow(parameters: TopK, answers: list[int]) -> Release:
    """Through a selector that was sent as Arrow, and another that it is merged with."""
    parts = [Selector(parameters), Selector(parameters)]
    parts[0].add(answers[:2], [0, 1])
    parts[1].add(answers[2:], [*range(2, len(answers))])
    parts[0].merge(Selector.from_arrow(parameters, parts[1].to_arrow()))
    return parts[0].release()


def with_domain(parameters: TopK, answers: list[int]) -> Release:
    selector = Selector(parameters, domain=Domain.range(0, len(answers)))
    selector.add({i: answer for i, answer in enumerate(answers) if answer})
    return selector.release()


PATHS: dict[str, Callable[[TopK, list[int]], Release]] = {
    **ALL_AT_ONCE,
    "domain by a rule": lambda p, a: select(
        p, {i: answer for i, answer in enumerate(a) if answer}, domain=Domain.range(0, len(a))
    ),
    "selector": lambda p, a: merged_as_a_tree(lambda: Selector(p), (tuple(a[:1]), tuple(a[1:])))
    .release(),
    "selector with a domain": with_domain,
    "sent as Arrow": by_arrow,
}  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("name", EVERYDAY)
def test_releases_have_the_law(name: str, false_alarm: float) -> None:
    answers, parameters = EVERYDAY[name]
    assert misfitting(lambda: select(parameters, answers), answers, parameters, false_alarm) == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", EVERYDAY)
def test_releases_have_the_law_whichever_way_they_take(
    name: str, path: str, false_alarm: float
) -> None:
    answers, parameters = EVERYDAY[name]

    def run() -> Release:
        return PATHS[path](parameters, answers)

    assert misfitting(run, answers, parameters, false_alarm, 3_000) == []


def noise_of(parameters: TopK) -> Counter[int]:
    """The noise of an item that is ahead by 10^6, which noise of scale 1 does not change."""
    seen: Counter[int] = Counter()
    for _ in range(RUNS):
        values = select(parameters, [10**6, 0, 0]).values
        assert values is not None
        seen[int(values[0]) - 10**6] += 1
    return seen


def noise_law(steps: int) -> Bounds:
    return noise_is(Fraction(1), steps).bounds


@pytest.mark.statistical(false_alarm=1e-10)
def test_the_noise_of_a_winner_is_laplace_noise(false_alarm: float) -> None:
    # The releases are independent and the cells fixed, so `misfits` errs no more often than this.
    assert misfits(noise_of(few(2, 1)), [*range(-5, 6)], noise_law, false_alarm) == []


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("epsilon", ["5/4", "4/5"], ids=["little", "much"])
def test_too_little_or_too_much_noise_would_be_seen(epsilon: str, false_alarm: float) -> None:
    # 0 has the probability tanh(ε/2): 0.462, and 0.555 or 0.380 with these ε, which is 739 more or
    # 657 fewer of 8,000. The tails are cut less than 330 off, and by Hoeffding's inequality a count
    # is 320 off its own mean with a probability below 2·e^−25.
    assert misfits(noise_of(few(2, epsilon)), [*range(-5, 6)], noise_law, false_alarm) != []


FLOOR = Mutant("a floor of the pool that is too high",
               "None if units is None else units << self.refinement",
               "None if units is None else units + 1 << self.refinement")  # fmt: skip
SHIFTED, PLAIN, FRACTIONS = np.uint64, np.int64, Fraction
BROKEN_DRAWS = [
    (SHIFTED, Mutant("the threshold not shifted with the answers",
                     "None if units is None else units - shift_in_steps(parameters, array)",
                     "units")),
    (SHIFTED, Mutant("noisy answers not shifted back", "[each + shift for each in noisy]",
                     "noisy")),
    (FRACTIONS, Mutant("noisy answers not shifted back, in int64",
                       "values, next_one = noisy + shift, threshold",
                       "values, next_one = noisy + 0 * shift, threshold")),
    (PLAIN, Mutant("the next noisy answer for a winner", "if len(values) > parameters.k:",
                   "if len(values) > parameters.k + 1:")),
    (PLAIN, Mutant("gaps to the threshold, though another is above it",
                   "values, next_one = values[:-1], values[-1]", "values = values[:-1]")),
    (PLAIN, Mutant("gaps that borrow one, as of exponential noise",
                   "gaps[:-1] -= values[1:]",
                   "gaps[:-1] -= values[1:] + (gaps[:-1] > values[1:])")),
    (PLAIN, Mutant("the last gap left out", "gaps[-1] -= next_one", "gaps[-1] -= gaps[-1]")),
]  # fmt: skip


@pytest.mark.statistical(false_alarm=1e-10)
@pytest.mark.parametrize("mutant", BROKEN_DRAWS, ids=lambda mutant: mutant[1].name)
def test_broken_draws_are_found(mutant: tuple[Any, Mutant], false_alarm: float) -> None:
    """With a list of two that a threshold may cut."""
    kind, defect = mutant
    broken = mechanism_on(defect)
    answers, parameters = [4, 2, 1, 2], few(2, 1, threshold=2)
    given = [*map(Fraction, answers)] if kind is Fraction else np.array(answers, dtype=kind)

    def run() -> Release:
        release: Release = broken.select(parameters, given)
        return release

    assert misfitting(run, answers, parameters, false_alarm) != []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
def test_a_broken_floor_is_found(false_alarm: float) -> None:
    made = selector_on(FLOOR)
    answers, parameters = EVERYDAY["a threshold"]
    parts = (tuple(answers[:2]), tuple(answers[2:]))

    def run() -> Release:
        release: Release = merged_as_a_tree(lambda: made.Selector(parameters), parts).release()
        return release

    assert misfitting(run, answers, parameters, false_alarm) != []


def test_what_users_call_has_these_parameters() -> None:
    release = topgap.top_k([2, 1, 0, 1], 2, 1, monotonic=True, items_per_person=1)
    assert release.parameters == EVERYDAY["all at once"][1]
