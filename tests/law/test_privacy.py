"""The law itself keeps its promise: for small neighbours no output is more than e^ε as likely.

This checks the formula for the scale, not an implementation. Probabilities are exact bounds, so a
violation is a proof, and the scales that are too small for the neighbours are proved to fail.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product

import pytest

from tests.checking import cached_law as law
from topgap import TopK

Answers = tuple[int | Fraction, ...]
EPSILON = Fraction(1, 2)


def neighbours(answers: Answers, *, monotonic: bool) -> Iterator[tuple[Answers, Answers]]:
    """Each pair in which every answer moves by at most 1; all the same way when monotonic."""
    for moves in product([0, 1] if monotonic else [-1, 0, 1], repeat=len(answers)):
        moved = tuple(answer + move for answer, move in zip(answers, moves, strict=True))
        yield answers, moved
        yield moved, answers


def is_violated(parameters: TopK, one: Answers, other: Answers) -> bool:
    """Whether some output with gaps below 4 steps has P(one) > e^ε·P(other), beyond any doubt."""
    e_to_minus_epsilon = law.exp_minus(EPSILON, 128).low
    for winners in permutations(range(len(one)), parameters.k):
        for gaps in product(range(4), repeat=parameters.k):
            outcome = [
                (winner, gap * parameters.resolution)
                for winner, gap in zip(winners, gaps, strict=True)
            ]
            likely = law.gap_top_k(one, parameters, outcome).low
            if likely * e_to_minus_epsilon > law.gap_top_k(other, parameters, outcome).high:
                return True
        likely = law.top_k(one, parameters, winners).low
        if likely * e_to_minus_epsilon > law.top_k(other, parameters, winners).high:
            return True
    return False


CASES = [((0, 0), 1), ((2, 0), 1), ((0, 0, 0), 1), ((0, 1, 3), 1), ((0, 0, 0), 2), ((2, 0, 1), 2)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "k"),
    [pytest.param(*each, marks=pytest.mark.deep if each[1] == 2 else ()) for each in CASES],
)
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_output_betrays_a_neighbour(answers: Answers, k: int, monotonic: bool) -> None:
    parameters = TopK(k, EPSILON, resolution=1, monotonic=monotonic)
    for one, other in neighbours(answers, monotonic=monotonic):
        assert not is_violated(parameters, one, other)


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "k"), CASES)
def test_the_monotonic_scale_is_too_small_for_other_neighbours(answers: Answers, k: int) -> None:
    half_the_noise = TopK(k, EPSILON, resolution=1, monotonic=True)
    pairs = neighbours(answers, monotonic=False)
    assert any(is_violated(half_the_noise, one, other) for one, other in pairs)


@pytest.mark.deep
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(("resolution", "sensitivity"), [("1/2", 1), (1, 2), ("1/3", "2/3")])
def test_so_it_is_for_other_sensitivities_and_unrounded_answers(
    resolution: str, sensitivity: str, monotonic: bool
) -> None:
    """Two answers between the steps, each moved by every eighth of the sensitivity."""
    parameters = TopK(
        1, EPSILON, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
    )
    answers = (Fraction(5, 12), Fraction(1, 4))
    eighths = range(0 if monotonic else -8, 9)
    for moves in product(eighths, repeat=2):
        moved = tuple(
            answer + parameters.sensitivity * move / 8
            for answer, move in zip(answers, moves, strict=True)
        )
        assert not is_violated(parameters, answers, moved)
        assert not is_violated(parameters, moved, answers)


def test_a_sensitivity_that_is_understated_is_found_out() -> None:
    parameters = TopK(1, EPSILON, resolution="1/2", sensitivity=1)
    assert is_violated(parameters, (Fraction(0), Fraction(0)), (Fraction(-2), Fraction(2)))


@pytest.mark.parametrize("k", [1, 2])
def test_the_monotonic_scale_cannot_be_smaller(k: int) -> None:
    """With a hundredth less noise than kΔ/ε there are monotonic neighbours that tell."""
    too_little = TopK(k, EPSILON * Fraction(101, 100), resolution=1, monotonic=True)
    pairs = neighbours((0,) * (k + 1), monotonic=True)
    assert any(is_violated(too_little, one, other) for one, other in pairs)
