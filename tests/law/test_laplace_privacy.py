"""The law of Top-k with Laplace noise keeps its promise to whoever is in at most L items.

As `test_privacy` does: exact bounds, so that a violation is a proof, for all neighbours of small
answers and all outcomes of items, values and the last gap in a window around them.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, permutations, product

import pytest

from tests.checking import cached_law as law
from topgap import TopK
from topgap.law import Bounds

Answers = tuple[int | Fraction, ...]
Outcome = tuple[tuple[int, Fraction], ...]
EPSILON = Fraction(1, 2)
NARROW = 1 + Fraction(1, 2**80)


def few_items(k: int, items_per_person: int, epsilon: Fraction = EPSILON, **how: object) -> TopK:
    how = {"resolution": 1, "monotonic": True, **how}
    return TopK(k, epsilon, items_per_person=items_per_person, noise="laplace", **how)  # type: ignore[arg-type]


def neighbours(answers: Answers, most: int, moves: tuple[int, ...]) -> Iterator[Answers]:
    """What differs from them in at most so many answers, each by one of the moves."""
    for each in product((0, *moves), repeat=len(answers)):
        if 0 < sum(move != 0 for move in each) <= most:
            yield tuple(a + move for a, move in zip(answers, each, strict=True))


def add_remove(answers: Answers, items_per_person: int) -> Iterator[tuple[Answers, Answers]]:
    """A person comes, or goes: at most L answers move, all by 1 and the same way."""
    for moved in neighbours(answers, items_per_person, (1,)):
        yield answers, moved
        yield moved, answers


def replace_one(answers: Answers, items_per_person: int) -> Iterator[tuple[Answers, Answers]]:
    """A person goes and another one comes: at most L answers go down by 1, and L others up."""
    for moved in neighbours(answers, 2 * items_per_person, (-1, 1)):
        moves = [b - a for a, b in zip(answers, moved, strict=True)]
        if max(moves.count(1), moves.count(-1)) <= items_per_person:
            yield answers, moved


def outcomes(one: Answers, other: Answers, parameters: TopK) -> Iterator[tuple[Outcome, int]]:
    """Items, values from a step below all answers to one above, and last gaps of up to 2 steps."""
    step = parameters.resolution
    low = min(*one, *other) // step - 1
    high = max(*one, *other) // step + 1
    values = combinations_with_replacement(range(int(high), int(low) - 1, -1), parameters.k)
    for levels, gap in product(values, (None, 0, 1, 2)):
        for items in permutations(range(len(one)), parameters.k):
            pairs = tuple((i, level * step) for i, level in zip(items, levels, strict=True))
            yield pairs, gap  # type: ignore[misc]


def largest_excess(one: Answers, other: Answers, parameters: TopK, epsilon: Fraction) -> Bounds:
    """Bounds of the largest P(one)/P(other), divided by e^ε."""
    e_to_minus_epsilon = law.exp_minus(epsilon, 128)
    low = high = Fraction(0)
    for outcome, gap in outcomes(one, other, parameters):
        steps = None if gap is None else gap * parameters.resolution
        likely = law.laplace_top_k(one, parameters, outcome, steps)  # type: ignore[arg-type]
        rare = law.laplace_top_k(other, parameters, outcome, steps)  # type: ignore[arg-type]
        if rare.high > 0:
            low = max(low, likely.low / rare.high)
            high = max(high, likely.high / rare.low)
    return Bounds(low * e_to_minus_epsilon.low, high * e_to_minus_epsilon.high)


def is_violated(parameters: TopK, one: Answers, other: Answers) -> bool:
    """Whether the ratio of some outcome is above e^ε, beyond any doubt."""
    return largest_excess(one, other, parameters, EPSILON).low > 1


# Of a ratio that is e^ε itself, bounds cannot say that it is not above e^ε; but by how little.
CASES: list[tuple[Answers, int, int]] = [
    ((0, 0), 1, 1), ((0, 2), 1, 1), ((0, 0, 0), 1, 1), ((0, 0, 0), 1, 2), ((0, 0, 0), 2, 1),
    ((0, 0, 0), 2, 2), ((1, 0, 2), 2, 2), ((0, 0, 1), 2, 2),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "k", "items"),
    [pytest.param(*case, marks=[pytest.mark.deep] * (case[1:] == (2, 2))) for case in CASES],
)
@pytest.mark.parametrize("monotonic", [True, False])
def test_no_output_betrays_a_neighbour_and_some_reach_the_bound(
    answers: Answers, k: int, items: int, monotonic: bool
) -> None:
    parameters = few_items(k, items, monotonic=monotonic)
    pairs = [*(add_remove if monotonic else replace_one)(answers, items)]
    excess = [largest_excess(one, other, parameters, EPSILON) for one, other in pairs]
    assert max(each.high for each in excess) <= NARROW
    # The bound is reached if a person moves as many answers as it allows for: 2L, if so many are.
    as_many = monotonic or 2 * items <= len(answers)
    assert (max(each.low for each in excess) > 1 / NARROW) is as_many


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "k"), [
    ((0, 0, 0), 1), ((0, 0, 0), 2), pytest.param((0, 1, 3), 2, marks=pytest.mark.deep),
])  # fmt: skip
def test_the_noise_for_one_item_is_too_little_for_two(answers: Answers, k: int) -> None:
    """Scale 1/ε where a person is in two items: e^(2ε) is reached."""
    one_item = few_items(k, 1)
    pairs = [*add_remove(answers, 2)]
    excess = max(largest_excess(a, b, one_item, 2 * EPSILON).low for a, b in pairs)
    assert 1 / NARROW < excess <= 1
    assert any(is_violated(one_item, a, b) for a, b in pairs)


def test_the_scale_for_a_person_who_comes_is_too_small_for_one_who_is_replaced() -> None:
    pairs = [*replace_one((0, 0), 1)]
    assert any(is_violated(few_items(1, 1), a, b) for a, b in pairs)
    assert not any(is_violated(few_items(1, 1, monotonic=False), a, b) for a, b in pairs)


@pytest.mark.parametrize(("k", "items"), [
    (1, 1), (1, 2), (2, 1), pytest.param(2, 2, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_scale_cannot_be_smaller(k: int, items: int) -> None:
    """With a hundredth less noise than LΔ/ε there are neighbours that tell."""
    too_little = few_items(k, items, EPSILON * Fraction(101, 100))
    assert any(is_violated(too_little, a, b) for a, b in add_remove((0, 0, 0), items))


@pytest.mark.deep
@pytest.mark.parametrize("monotonic", [True, False])
@pytest.mark.parametrize(("resolution", "sensitivity"), [("1/2", 1), (1, 2), ("1/3", "2/3")])
def test_so_it_is_for_other_sensitivities_and_unrounded_answers(
    resolution: str, sensitivity: str, monotonic: bool
) -> None:
    """Two answers between the steps, each moved by every quarter of the sensitivity."""
    items = 2 if monotonic else 1
    parameters = few_items(
        1, items, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
    )
    answers = (Fraction(5, 12), Fraction(1, 4))
    for moves in product(range(0 if monotonic else -4, 5), repeat=2):
        moved = tuple(
            answer + parameters.sensitivity * move / 4
            for answer, move in zip(answers, moves, strict=True)
        )
        for one, other in ((answers, moved), (moved, answers)):
            assert largest_excess(one, other, parameters, EPSILON).high <= NARROW


def test_a_sensitivity_that_is_understated_is_found_out() -> None:
    parameters = few_items(1, 1, resolution="1/2", sensitivity=1)
    assert is_violated(parameters, (Fraction(0), Fraction(0)), (Fraction(2), Fraction(0)))
