"""Lists that a sentinel ends, drawn by the kernel: who is named, and by what lead."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import topgap
from tests.checking.frequencies import misfits_of
from tests.checking.mutants import Mutant
from tests.kernel.threshold_cases import Cut
from tests.selection.sample_noisy_answers import NEAR, TREES
from tests.selection.sample_selectors import FAR
from tests.selection.selector_walks import mechanism_on
from topgap import AnswersError, Domain, ParameterError, Release, TopK, select
from topgap.law import Bounds

# Noise of mean 5 or less exceeds NEAR with a probability below e^−200.
COUNTS: dict[str, Any] = {"epsilon": 1, "monotonic": True}

# What the kernel takes in units and in steps, shifted and not; and what is too large for it.
ANSWERS: dict[str, Any] = {
    "list": [FAR, 3 * FAR, -FAR],
    "int64": np.array([FAR, 3 * FAR, -FAR]),
    "uint64": np.array([2**64 - 1, 0, FAR], dtype=np.uint64),
    "floats": np.array([0.25, FAR + 0.5, -FAR]),
    "fractions": [Fraction(FAR**2, 7), Fraction(FAR**2, 7) + FAR, FAR**2],
    "large": [2**64, 2**64 - FAR, 2**63],
    "larger": [2**200, 0, 2**199],
}


def is_cut(release: Release, answers: list[Any], k: int, threshold: Any) -> None:
    """See whether those above the threshold are named, at gaps that are theirs but for noise."""
    ranking = sorted([*answers, threshold], reverse=True)
    named = min(k, ranking.index(threshold))
    assert release.indices.tolist() == [answers.index(answer) for answer in ranking[:named]]
    assert release.gaps is not None
    leads = [a - b for a, b in pairwise(ranking[: named + 1])]
    assert all(abs(gap - lead) < NEAR for gap, lead in zip(release.gaps, leads, strict=True))


def cuts(answers: list[Any]) -> Iterator[tuple[int, Any]]:
    """Each k up to more than there are answers, and thresholds above, between and below them."""
    downwards = sorted(answers, reverse=True)
    for k in range(1, len(answers) + 2):
        for threshold in (downwards[0] + FAR, *downwards, downwards[-1] - FAR):
            yield k, int(threshold) - FAR // 2


@pytest.mark.parametrize("given", ANSWERS.values(), ids=ANSWERS)
def test_the_items_above_the_threshold_are_named(given: Any) -> None:
    answers = given.tolist() if isinstance(given, np.ndarray) else given
    for k, threshold in cuts(answers):
        for resolution in (1, "1/10"):
            parameters = TopK(k, resolution=resolution, threshold=threshold, **COUNTS)
            is_cut(select(parameters, given), answers, k, threshold)
            if isinstance(given, np.ndarray) and given.dtype.kind != "f":
                made = select(parameters, given, constant_work=True)
                is_cut(made, answers, k, threshold)
                is_cut(select(parameters, given, threads=2), answers, k, threshold)


def test_members_without_an_answer_compete_with_the_sentinel() -> None:
    words = Domain.range(0, 10**12)
    answers = {7: FAR, 10**11: -FAR, 10**13: 9 * FAR}  # of which the last is no member
    cut = topgap.top_k(answers, 3, threshold=NEAR, domain=words, **COUNTS)
    assert cut.items == (7,)
    assert cut.gaps is not None
    assert abs(cut.gaps[0] - (FAR - NEAR)) < NEAR
    # Of 10^12 items the largest noise is about 3·ln 10^12 = 83.
    below = topgap.top_k(answers, 3, threshold=-NEAR, domain=words, **COUNTS)
    assert len({*below.items}) == 3
    assert below.items[0] == 7
    assert 10**11 not in below.items
    nobody: dict[int, int] = {}
    assert len(topgap.top_k(nobody, 3, threshold=NEAR, domain=words, **COUNTS)) == 0
    few = topgap.top_k({7: FAR}, 5, threshold=-NEAR, domain=Domain.range(6, 9), **COUNTS)
    assert {*few.items} == {6, 7, 8}
    far = topgap.top_k({7: FAR}, 5, threshold=10**60, domain=words, **COUNTS)
    assert far.items == ()


def test_a_list_may_end_before_it_begins() -> None:
    for threshold in (9 * FAR, 10**60):
        assert topgap.top_k(TREES, 2, threshold=threshold, **COUNTS).items == ()
        assert topgap.noisy_max(TREES, threshold=threshold, **COUNTS).gaps == ()
    with pytest.raises(AnswersError, match="empty"):
        topgap.top_k([], 2, threshold=FAR, **COUNTS)


def test_constant_work_refuses_a_threshold_that_the_kernel_cannot_hold() -> None:
    with pytest.raises(ParameterError, match="a threshold that the kernel's integers can hold"):
        topgap.top_k(np.array([1]), 1, threshold=10**60, constant_work=True, **COUNTS)


def test_the_kernel_draws_it_where_the_threshold_fits() -> None:
    parameters = TopK(2, threshold=2**70, **COUNTS)
    kernel, calls = parameters.kernel, list[str]()
    assert kernel is not None

    class Watched:
        def __getattr__(self, name: str) -> Any:
            calls.append(name)
            return getattr(kernel, name)

    object.__setattr__(parameters, "_kernel", Watched())
    select(parameters, np.array([1, 2]))
    select(parameters, np.array([1, 2]), constant_work=True)
    select(parameters, {1: 2}, domain=Domain.range(0, 10**6))
    drawn = [call for call in calls if call != "refinement"]
    assert drawn == ["release", "release_constant_work", "release_with_runs"]


def test_the_kernel_takes_a_sentinel_up_to_its_bound() -> None:
    kernel = TopK(2, threshold=0, **COUNTS).kernel
    assert kernel is not None
    bound = 2 ** (124 - kernel.refinement)
    answers = np.array([-(2**63), 2**63 - 1])
    for sentinel, named in ((bound, 0), (-bound, 2)):
        places, _ = kernel.release(answers, in_steps=False, threads=1, sentinel=sentinel)
        assert len(places) == 8 * named
        places, _ = kernel.release_constant_work(answers, in_steps=False, sentinel=sentinel)
        assert len(places) == 8 * named
        with pytest.raises(OverflowError, match="too short"):
            kernel.release(answers, in_steps=False, threads=1, sentinel=2 * sentinel)
    with pytest.raises(ValueError, match="A floor is for Laplace noise"):
        kernel.release(answers, in_steps=False, threads=1, floor=0)


# The commonest outcomes by exact binomial tails, which have no more than the rate declared.
@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("how", ["usual", "constant work", "domain"])
def test_the_law_through_the_whole_call(how: str, false_alarm: float) -> None:
    without = TopK(k=2, epsilon=4, resolution=1, monotonic=True)
    parameters = TopK(k=2, epsilon=4, resolution=1, monotonic=True, threshold=1)
    given, words = np.array([1, 0, 2]), Domain.range(0, 3)
    case = Cut((1, 0, 2), without, sentinel=1)

    def run() -> tuple[tuple[int, ...], tuple[int, ...]]:
        if how == "domain":
            made = select(parameters, {0: 1, 2: 2}, domain=words)
        else:
            made = select(parameters, given, constant_work=how == "constant work")
        assert made.gaps is not None
        return tuple(map(int, made.items)), tuple(map(int, made.gaps))

    def law(outcome: tuple[tuple[int, ...], tuple[int, ...]]) -> Bounds:
        return case.law(outcome)

    assert misfits_of(run, 20_000, law, false_alarm) == []


# --- Broken on purpose


BROKEN = [
    Mutant("the sentinel not shifted with the answers",
           "None if units is None else units - shift_in_steps(parameters, array)", "units"),
    Mutant("the sentinel shifted the other way",
           "units - shift_in_steps(parameters, array)",
           "units + shift_in_steps(parameters, array)"),
    Mutant("a shift of units taken for one of steps",
           "array.shift * (1 if array.in_steps else parameters.resolution.denominator)",
           "array.shift"),
    Mutant("a sentinel that the kernel cannot hold", "<= 1 << _SENTINEL_BITS", "<= 1 << 2000"),
    Mutant("no sentinel", "(None, data.cut) if parameters.has_sentinel else (data.cut, None)",
           "(None, None)"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN, ids=lambda mutant: mutant.name)
def test_a_broken_cut_is_found(mutant: Mutant) -> None:
    found = False
    for given in (ANSWERS["uint64"], ANSWERS["fractions"], ANSWERS["int64"]):
        answers = given.tolist() if isinstance(given, np.ndarray) else given
        for k, threshold in (*cuts(answers), (2, 10**60)):
            parameters = TopK(k, threshold=threshold, **COUNTS)
            try:
                is_cut(mechanism_on(mutant).select(parameters, given), answers, k, threshold)
            except (AssertionError, AnswersError, OverflowError, ValueError):
                found = True
                break
    assert found
