"""What the reference does with every kind of input, and its law where the tapes are too many."""

import multiprocessing
import random
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from checking.frequencies import misfits
from hypothesis import given
from hypothesis import strategies as st

from topgap import AnswersError, AnswersTypeError, ParameterError, ParameterTypeError, TopK, law
from topgap.reference import Sampler, gap_top_k, gap_top_k_pruned, noisy_max, top_k

WITH_GAPS = [gap_top_k, gap_top_k_pruned]

finite = st.integers(-(10**40), 10**40) | st.fractions() | st.floats(-1e300, 1e300)


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
        ([1, None], AnswersTypeError),
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
    with pytest.raises(error, match=r"^refinement must be"):
        run([1, 2], TopK(1, 1), refinement=refinement)


def test_noisy_max_names_one_winner() -> None:
    with pytest.raises(ParameterError, match="take k=1, or top_k for more"):
        noisy_max([1, 2, 3], TopK(2, 1))


def test_the_calls_are_those_of_the_papers_last_table() -> None:
    n, k = 200, 20
    sampler = Sampler()
    released = gap_top_k([3 * i for i in range(n)], TopK(k, 1), sampler=sampler)
    calls = sampler.calls
    assert len(released) == k
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
    assert calls["bernoulli"] > calls["bernoulli_exp"] > 2 * calls["geometric"]


def test_pruning_refines_the_pool_alone() -> None:
    n, k = 200, 20
    sampler = Sampler()
    gap_top_k_pruned([3 * i for i in range(n)], TopK(k, 1), sampler=sampler)
    refined = sampler.calls["argsort"] - 1
    pool = sampler.calls["geometric"] - n
    assert (k + 2) * refined <= pool <= (n - 1) * refined


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
    counts = Counter(run(answers, three, refinement=3)[0] for _ in range(15_000))
    outcomes = [(i, Fraction(g)) for i, g in product(range(len(answers)), range(4))]

    def bounds(outcome: tuple[int, Fraction]) -> law.Bounds:
        return law.gap_top_k(answers, one, [outcome])

    assert misfits(counts, outcomes, bounds, false_alarm) == []


def _noise(_: int) -> list[int]:
    sampler = Sampler()
    return [sampler.uniform(2**64) for _ in range(4)]


@pytest.mark.statistical(false_alarm=1e-15)
def test_forked_processes_do_not_share_noise(false_alarm: float) -> None:
    # 64 draws of 64 bits coincide somewhere with probability below 64²/2 · 2^−64 < 1.2e-16.
    assert false_alarm > 64**2 / 2 * 2.0**-64
    with multiprocessing.get_context("fork").Pool(4) as pool:
        draws = [draw for part in pool.map(_noise, range(16), chunksize=1) for draw in part]
    assert len(set(draws)) == len(draws) == 64
