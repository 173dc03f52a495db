"""Algorithms 1 to 3 in floats: no bits to walk here, so their frequencies are held to the law."""

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest

from tests.checking.cached_law import gap_top_k
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import AnswersError, AnswersTypeError, ParameterError, TopK
from topgap.law import Bounds
from topgap.reference import insecure_floats

ANSWERS = [0, 1, 1, 3]
PARAMETERS = TopK(2, 6, resolution=1)
RUNS = 40_000
OUTCOMES = [
    ((a, Fraction(g)), (b, Fraction(h)))
    for a, b in permutations(range(4), 2)
    for g, h in product(range(3), repeat=2)
]


def bounds(outcome: Any) -> Bounds:
    return gap_top_k(ANSWERS, PARAMETERS, outcome)


def frequencies(run: Callable[..., Any]) -> Counter[Any]:
    generator = np.random.default_rng()
    seen = Counter(
        tuple((index, int(gap // 1)) for index, gap in run(ANSWERS, PARAMETERS, generator))
        for _ in range(RUNS)
    )
    return Counter(
        {tuple((i, Fraction(gap)) for i, gap in pairs): count for pairs, count in seen.items()}
    )


@pytest.mark.deep
@pytest.mark.parametrize(
    "run",
    [
        insecure_floats.gap_top_k_ideal,
        insecure_floats.gap_top_k_rounded,
        insecure_floats.gap_top_k_intermediate,
    ],
)
@pytest.mark.statistical(false_alarm=1e-8)
def test_the_float_algorithms_follow_the_law(run: Callable[..., Any], false_alarm: float) -> None:
    # Union bound over the cells, see `misfits`; float noise is off by 1e-16, unseen in 40,000 runs.
    assert misfits(frequencies(run), OUTCOMES, bounds, false_alarm) == []


SCALE, STEPS = "float(parameters.scale)", "float(1 / parameters.rate)"
GAPS = "_rounded_gaps(noisy, j, parameters)\n\n\ndef _as_floats("
MUTANTS = [
    ("gap_top_k_ideal", Mutant("less noise", SCALE, f"{SCALE} * 0.8")),
    ("gap_top_k_ideal", Mutant("more noise", SCALE, f"{SCALE} * 1.25")),
    ("gap_top_k_rounded", Mutant("less noise", STEPS, f"{STEPS} * 0.8")),
    ("gap_top_k_rounded", Mutant("Laplace noise", ").exponential(", ").laplace(0, ")),
    (
        "gap_top_k_intermediate",
        Mutant("gaps of rounded values", GAPS, GAPS.replace("noisy", "np.floor(noisy)")),
    ),
    (
        "gap_top_k_intermediate",
        Mutant("no refinement", "while _tie(np.floor(noisy * steps)[j])", "while False"),
    ),
]


@pytest.mark.parametrize(("run", "mutant"), MUTANTS, ids=lambda part: getattr(part, "name", part))
@pytest.mark.statistical(false_alarm=1e-8)
def test_a_broken_float_algorithm_does_not_fit(
    run: str, mutant: Mutant, false_alarm: float
) -> None:
    # Each mutant moves some cell by at least 19 standard deviations of its count (by the law for
    # the scales of 0.8 and 1.25; about 70 for the others). The cut lies below 7, so that a mutant
    # is missed only if a count strays by 12: with probability far below 1e-8.
    broken = getattr(mutated(insecure_floats, mutant), run)
    assert misfits(frequencies(broken), OUTCOMES, bounds, false_alarm) != []


def test_equal_floats_do_not_loop_for_ever() -> None:
    class NoNoise:
        def exponential(self, scale: float, n: int) -> Any:  # noqa: ARG002
            return np.zeros(n)

    winners = insecure_floats.gap_top_k_intermediate([1, 1, 1], TopK(1, 1), NoNoise())  # type: ignore[arg-type]
    assert [gap for _, gap in winners] == [0]


@pytest.mark.parametrize(
    "answers",
    [[], [1], [1, float("nan")], [[1, 2], [3, 4]], [[1, 2], [3]], ["1", "2"], [True, False], 5],
)
def test_bad_answers_are_refused_here_too(answers: Any) -> None:
    for run in (
        insecure_floats.gap_top_k_ideal,
        insecure_floats.gap_top_k_rounded,
        insecure_floats.gap_top_k_intermediate,
    ):
        with pytest.raises((AnswersError, AnswersTypeError)):
            run(answers, TopK(1, 1))


def test_a_refinement_that_refines_nothing_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least 2"):
        insecure_floats.gap_top_k_intermediate([1, 1], TopK(1, 1), refinement=1)


def test_as_many_answers_as_needed_and_no_more() -> None:
    for run in (
        insecure_floats.gap_top_k_ideal,
        insecure_floats.gap_top_k_rounded,
        insecure_floats.gap_top_k_intermediate,
    ):
        assert len(run([1, 2, 3], TopK(2, 1))) == 2
