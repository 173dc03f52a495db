"""What the reference does with every kind of input, and its law where the tapes are too many."""

import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.frequencies import misfits
from topgap import AnswersError, AnswersTypeError, ParameterError, ParameterTypeError, TopK, law
from topgap.reference import Sampler, gap_top_k, gap_top_k_pruned, noisy_max, top_k
from topgap.reference.insecure_floats import gap_top_k_rounded
from topgap.sampling import sampler
from topgap.sampling import sampler as sampler_module

WITH_GAPS = [gap_top_k, gap_top_k_pruned]

finite = st.integers(-(10**40), 10**40) | st.fractions() | st.floats(-1e300, 1e300)


@pytest.mark.slow
@pytest.mark.parametrize("run", WITH_GAPS)
@given(
    answers=st.lists(finite, min_size=2, max_size=12),
    data=st.data(),
    epsilon=st.fractions(Fraction(1, 100), 1000),
    steps=st.integers(1, 1000),
    refinement=st.integers(2, 20),
    monotonic=st.booleans(),
)
def test_any_finite_answers_give_distinct_winners_and_gaps_on_the_grid(
    run: Callable[..., Any],
    answers: list[Any],
    data: st.DataObject,
    epsilon: Fraction,
    steps: int,
    refinement: int,
    monotonic: bool,
) -> None:
    k = data.draw(st.integers(1, len(answers) - 1))
    parameters = TopK(k, epsilon, resolution=Fraction(1, steps), monotonic=monotonic)
    released = run(answers, parameters, refinement=refinement)
    assert len(released) == k
    assert len({index for index, _ in released}) == k
    for index, gap in released:
        assert type(index) is int
        assert 0 <= index < len(answers)
        assert type(gap) is Fraction
        assert gap >= 0
        assert (gap * steps).denominator == 1


@pytest.mark.parametrize("run", WITH_GAPS)
@pytest.mark.parametrize(
    ("answers", "k", "winners"),
    [
        ([10**30, 0, 10**29, 3], 2, [0, 2]),
        ([1e300, -1e300, 1e299], 2, [0, 2]),
        ([Decimal("1e30"), Fraction(1, 3), 10**40], 2, [2, 0]),
        (np.array([5, 10**15, 10**18]), 2, [2, 1]),
    ],
)
@pytest.mark.statistical(false_alarm=1e-20)
def test_clear_winners_win_in_order(
    run: Callable[..., Any], answers: Any, k: int, winners: list[int], false_alarm: float
) -> None:
    # Noise of mean 4 bridges a distance of 10^14 with probability below e^(−10^13).
    assert false_alarm > 0
    parameters = TopK(k, 1)
    released = run(answers, parameters)
    assert [index for index, _ in released] == winners
    assert top_k(answers, parameters) == winners
    assert noisy_max(answers, TopK(1, 1)) == winners[0]
    assert released[0][1] > 10**13


@pytest.mark.parametrize("run", WITH_GAPS)
def test_the_least_number_of_answers_and_all_equal_ones(run: Callable[..., Any]) -> None:
    for n in range(2, 8):
        for k in range(1, n):
            parameters = TopK(k, 1)
            assert len({index for index, _ in run([7] * n, parameters)}) == k
            assert len(set(top_k([7] * n, parameters))) == k


@pytest.mark.parametrize("run", [gap_top_k, gap_top_k_pruned, top_k, noisy_max])
@pytest.mark.parametrize(
    ("answers", "error"),
    [
        ([], AnswersError),
        ([1], AnswersError),
        ([[1, 2], [3, 4]], AnswersError),
        ([1, float("nan")], AnswersError),
        ([1, None], AnswersError),
        ("12", AnswersTypeError),
    ],
)
def test_bad_answers_are_refused_before_anything_is_drawn(
    run: Callable[..., Any], answers: Any, error: type[Exception]
) -> None:
    sampler = Sampler()
    with pytest.raises(error):
        run(answers, TopK(1, 1), sampler=sampler)
    assert not sampler.calls


@pytest.mark.parametrize("run", [gap_top_k, gap_top_k_pruned, top_k, noisy_max])
@pytest.mark.parametrize("parameters", [None, 10, {"k": 1, "epsilon": 1}, (1, 1)])
def test_parameters_must_be_a_top_k(run: Callable[..., Any], parameters: Any) -> None:
    with pytest.raises(ParameterTypeError, match="parameters must be a TopK, as in TopK"):
        run([1, 2], parameters)


@pytest.mark.parametrize("run", [*WITH_GAPS, top_k, noisy_max, gap_top_k_rounded])
@pytest.mark.parametrize(
    "more",
    [
        {"threshold": 1},
        {"items_per_person": 1, "noise": "laplace"},
        {"items_per_person": 1, "noise": "laplace", "threshold": 1},
    ],
    ids=str,
)
@pytest.mark.parametrize("answers", [[1], [1, 2, 3]], ids=["one", "three"])
def test_noise_and_thresholds_that_the_paper_has_not_are_refused(
    run: Callable[..., Any], more: dict[str, Any], answers: list[int]
) -> None:
    """The scale of Laplace noise does not grow with k: it is too small for exponential noise."""
    refused = (ParameterError, AnswersError)  # too few answers come first
    with pytest.raises(refused, match=r"exponential noise and no threshold|needs at least 2"):
        run(answers, TopK(1, 1, **more))


@pytest.mark.parametrize("run", [gap_top_k, gap_top_k_pruned, top_k, noisy_max])
@pytest.mark.parametrize(
    "sampler",
    [0, "", False, Sampler, random.Random(0), np.random.default_rng(0)],
    ids=lambda sampler: type(sampler).__name__,
)
def test_no_foreign_generator_gets_in(run: Callable[..., Any], sampler: Any) -> None:
    with pytest.raises(ParameterTypeError, match="sampler must be a topgap"):
        run([1, 2], TopK(1, 1), sampler=sampler)


@pytest.mark.parametrize("run", WITH_GAPS)
@pytest.mark.parametrize(
    ("refinement", "error"),
    [
        (1, ParameterError),
        (0, ParameterError),
        (-2, ParameterError),
        (2.0, ParameterTypeError),
        (True, ParameterTypeError),
        ("10", ParameterTypeError),
    ],
)
def test_a_refinement_is_an_integer_of_at_least_two(
    run: Callable[..., Any], refinement: Any, error: type[Exception]
) -> None:
    sampler = Sampler()
    with pytest.raises(error, match=r"^refinement must be"):
        run([1, 2], TopK(1, 1), refinement=refinement, sampler=sampler)
    assert not sampler.calls


def test_noisy_max_names_one_winner() -> None:
    sampler = Sampler()
    with pytest.raises(ParameterError, match="use k=1, or top_k for more"):
        noisy_max([1, 2, 3], TopK(2, 1), sampler=sampler)
    assert not sampler.calls


def test_each_run_has_a_sampler_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make() -> Sampler:
        made.append(Sampler())
        return made[-1]

    monkeypatch.setattr(sampler_module, "Sampler", make)
    for _ in range(3):
        assert sampler.sampler_or_default(None) is made[-1]
    assert len({id(sampler) for sampler in made}) == 3


class Scripted(Sampler):
    """Noise and order as given: level by level, for each item in the order of the answers."""

    def __init__(self, levels: list[list[int]], order: list[int]) -> None:
        super().__init__()
        self.noise = iter([noise for level in levels for noise in level])
        self.order = order

    def geometric(self, rate: Fraction) -> int:  # noqa: ARG002
        self.calls["geometric"] += 1
        return next(self.noise)

    def shuffle(self, n: int) -> list[int]:
        assert sorted(self.order) == list(range(1, n + 1))
        return self.order


@pytest.mark.parametrize("run", WITH_GAPS)
@pytest.mark.parametrize(("order", "correction"), [([2, 1], 0), ([1, 2], 1)])
def test_a_gap_that_no_float_could_hold_is_exact(
    run: Callable[..., Any], order: list[int], correction: int
) -> None:
    unit = TopK(1, 1, resolution=1)
    sampler = Scripted([[0, 0]], order)
    assert run([2**60 + 1, 0], unit, sampler=sampler) == [(0, 2**60 + 1 - correction)]
    # The same after three refinements of an exact tie behind a lead of 2^60 + 1.
    tied = Scripted([[0, 0, 0]] + [[7, 1, 1]] * 2 + [[7, 1, 2]], order)
    last = run([2**60 + 1, 0, 0], unit, sampler=tied)
    assert last == [(0, 2**60 + 1)]  # the remainders are .777 and .112: no correction


@pytest.mark.parametrize("run", WITH_GAPS)
def test_ties_are_refined_for_as_long_as_they_last(run: Callable[..., Any]) -> None:
    rounds = 300
    sampler = Scripted([[0, 0]] + [[1, 1]] * rounds + [[0, 1]], [1, 2])
    assert run([5, 5], TopK(1, 1, resolution=1), refinement=2, sampler=sampler) == [(1, 0)]
    assert sampler.calls["argsort"] == rounds + 2


def test_the_calls_are_those_of_the_papers_last_table() -> None:
    n, k = 30, 3
    sampler = Sampler()
    gap_top_k([7] * n, TopK(k, 1, resolution=1), sampler=sampler)
    calls = sampler.calls
    assert set(calls) == {
        "geometric",
        "bernoulli_exp",
        "bernoulli",
        "uniform",
        "shuffle",
        "argsort",
    }
    assert calls["shuffle"] == 1
    assert calls["geometric"] == n * calls["argsort"]  # one for each answer at each resolution
    # Each uniform draw serves a coin, a proposal of the geometric, or a step of the shuffle.
    assert calls["uniform"] >= calls["bernoulli"] + calls["geometric"] + k
    assert calls["bernoulli"] > calls["bernoulli_exp"] >= 2 * calls["geometric"]
    sampler = Sampler()
    top_k([7] * n, TopK(k, 1), sampler=sampler)
    assert (sampler.calls["geometric"], sampler.calls["argsort"]) == (n, 1)


def test_pruning_refines_the_pool_alone() -> None:
    """k = 1 of 6: the first three tie, and only they can matter; then the first two; then none."""
    levels = {
        gap_top_k: [[0] * 6, [5, 5, 4, 9, 9, 9], [2, 1, 0, 0, 0, 0]],
        gap_top_k_pruned: [[0] * 6, [5, 5, 4], [2, 1, 0]],
    }
    for run, given_levels in levels.items():
        sampler = Scripted(given_levels, [2, 1])
        released = run([9, 9, 9, 8, 1, 0], TopK(1, 1, resolution=1), sampler=sampler)
        assert released == [(0, Fraction(0))]
        assert sampler.calls["geometric"] == sum(len(level) for level in given_levels)
        assert next(sampler.noise, None) is None


@pytest.mark.deep
@pytest.mark.parametrize("run", WITH_GAPS)
@pytest.mark.statistical(false_alarm=1e-8)
def test_the_largest_and_its_gap_follow_the_law_among_many(
    run: Callable[..., Any], false_alarm: float
) -> None:
    """12 answers and 3 winners have too many tapes; the first winner and gap have a simple law.

    They are those of k = 1 with the same noise. The tails are exact, see `misfits`.
    """
    answers = [0, 3, 1, 4, 1, 5, 2, 5, 3, 5, 0, 4]
    three, one = TopK(3, 6, resolution=1), TopK(1, 2, resolution=1)
    assert three.rate == one.rate
    counts = Counter(run(answers, three, refinement=3)[0] for _ in range(8_000))
    outcomes = [(i, Fraction(g)) for i, g in product(range(len(answers)), range(4))]

    def bounds(outcome: tuple[int, Fraction], epsilon: str = "2") -> law.Bounds:
        return law.gap_top_k(answers, TopK(1, epsilon, resolution=1), [outcome])

    assert misfits(counts, outcomes, bounds, false_alarm / 3) == []
    # With noise a third less or half as much again, some cell is off by more than 13 standard
    # deviations of its count, and the cut lies below 7: missed with probability below 1e-9 each.
    assert misfits(counts, outcomes, partial(bounds, epsilon="3"), false_alarm / 3) != []
    assert misfits(counts, outcomes, partial(bounds, epsilon="4/3"), false_alarm / 3) != []


FORK = """
import os, pickle
from topgap.reference import Sampler

def show(sampler):
    print(*[sampler.uniform(2**64) for _ in range(4)], flush=True)

sampler = Sampler()
show(sampler)
for _ in range(8):
    child = os.fork()
    if child == 0:
        show(sampler)
        os._exit(0)
    os.waitpid(child, 0)
show(pickle.loads(pickle.dumps(sampler)))
show(sampler)
"""


@pytest.mark.statistical(false_alarm=1e-15)
@pytest.mark.posix
def test_neither_forks_nor_pickles_repeat_noise(false_alarm: float) -> None:
    # 44 draws of 64 bits coincide somewhere with probability below 44²/2 · 2^−64 < 6e-17.
    assert false_alarm > 44**2 / 2 * 2.0**-64
    shown = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, check=True
    ).stdout.split()
    assert len(set(shown)) == len(shown) == 44
