"""The law with a threshold keeps what each output promises: a ratio of at most e^cost, by its size.

As `test_privacy` does: exact bounds, so that a violation is a proof, for all neighbours of small
answers and all outputs with small gaps.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations, product

import pytest

from tests.checking import cached_law as law
from tests.law.test_privacy import Answers, neighbours
from topgap import TopK
from topgap.law import Bounds

EPSILON = Fraction(1, 2)
NARROW = 1 + Fraction(1, 2**80)
FAR = -30  # so far down that the sentinel is last, but for e^−60 where ε is 4k


def with_threshold(k: int, threshold: int, *, monotonic: bool, epsilon: Fraction = EPSILON) -> TopK:
    return TopK(k, epsilon, resolution=1, monotonic=monotonic, threshold=threshold)


def largest_ratios(one: Answers, other: Answers, parameters: TopK) -> dict[int, Bounds]:
    """Bounds of the largest P(one)/P(other), for each number of winners."""
    found = {}
    for j in range(parameters.fewest_winners, min(parameters.k, len(one)) + 1):
        pairs = []
        for winners in permutations(range(len(one)), j):
            pairs.append([law.top_k(answers, parameters, winners) for answers in (one, other)])
            for gaps in product(range(4), repeat=j):
                outcome = [*zip(winners, gaps, strict=True)]
                pairs.append(
                    [law.gap_top_k(answers, parameters, outcome) for answers in (one, other)]
                )
        found[j] = Bounds(
            max(likely.low / rare.high for likely, rare in pairs),
            max(likely.high / rare.low for likely, rare in pairs),
        )
    return found


def largest_excess(parameters: TopK, answers: Answers) -> dict[int, Bounds]:
    """Bounds of the largest ratio among all neighbours over e^cost, for each number of winners."""
    ratios = [largest_ratios(*pair, parameters)
              for pair in neighbours(answers, monotonic=parameters.monotonic)]  # fmt: skip
    found = {}
    for j in ratios[0]:
        down = law.exp_minus(parameters.cost(j), 128)
        low, high = (max(column) for column in zip(*(each[j] for each in ratios), strict=True))
        found[j] = Bounds(low * down.low, high * down.high)
    return found


CASES: list[tuple[Answers, int, int]] = [
    ((0,), 1, 0), ((0,), 2, 0), ((1,), 1, 0), ((0, 0), 1, 0), ((0, 2), 1, 1), ((0, 0), 2, 0),
    ((0, 0), 1, FAR), ((0, 2), 2, 1), ((0, 0), 3, 1), ((0, 0, 0), 2, 0), ((2, 0, 1), 2, 1),
    ((0, 0, 0), 2, FAR),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "k", "threshold"),
    [pytest.param(*each, marks=pytest.mark.deep if len(each[0]) > 2 else ()) for each in CASES],
)
@pytest.mark.parametrize("monotonic", [False, True])
def test_no_output_tells_more_than_it_costs(
    answers: Answers, k: int, threshold: int, monotonic: bool
) -> None:
    parameters = with_threshold(k, threshold, monotonic=monotonic)
    excess = largest_excess(parameters, answers)
    assert max(each.high for each in excess.values()) <= NARROW


@pytest.mark.slow
@pytest.mark.parametrize(
    ("items", "k"), [(1, 1), (2, 1), (2, 2), pytest.param(3, 2, marks=pytest.mark.deep)]
)
@pytest.mark.parametrize("monotonic", [False, True])
def test_each_bound_is_reached(items: int, k: int, monotonic: bool) -> None:
    """With j < k winners there is a loser that may rise; with k, the sentinel must be out of it."""
    equal = (0,) * items
    near = largest_excess(with_threshold(k, 0, monotonic=monotonic), equal)
    assert all(near[j].low > 1 / NARROW for j in range(min(k, items)))
    if monotonic:
        assert near[k].low > 1 / NARROW
    elif items > k:
        far = with_threshold(k, FAR, monotonic=False, epsilon=Fraction(4 * k))
        assert largest_excess(far, equal)[k].low > 1 / NARROW


@pytest.mark.parametrize(("answers", "k"), [((0,), 1), ((0, 0), 2), ((0, 0), 3)])
@pytest.mark.parametrize("monotonic", [False, True])
def test_to_charge_j_for_j_plus_1_would_be_too_little(
    answers: Answers, k: int, monotonic: bool
) -> None:
    """j/k of ε, or 2j/2k: the sentinel costs something, too."""
    parameters = with_threshold(k, 0, monotonic=monotonic)
    excess = largest_excess(parameters, answers)
    for j in range(len(answers)):
        forgotten = parameters.cost(j) - EPSILON * Fraction(j, k)
        assert forgotten == EPSILON / (k if monotonic else 2 * k)
        assert excess[j].low > 1 / NARROW > law.exp_minus(forgotten, 128).high


def test_noise_for_monotonic_answers_is_too_little_for_others() -> None:
    parameters = with_threshold(1, 0, monotonic=True)
    pairs = neighbours((0, 0), monotonic=False)
    ratio = max(largest_ratios(*pair, parameters)[1].low for pair in pairs)
    assert ratio * law.exp_minus(EPSILON, 128).low > 1


@pytest.mark.deep
@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize(("resolution", "sensitivity"), [("1/2", 1), (1, 2), ("1/3", "2/3")])
def test_so_it_is_for_other_sensitivities_and_unrounded_answers(
    resolution: str, sensitivity: str, monotonic: bool
) -> None:
    """Two answers between the steps, each moved by every quarter of the sensitivity."""
    parameters = TopK(
        2, EPSILON, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic,
        threshold=Fraction(1, 3),
    )  # fmt: skip
    answers = (Fraction(5, 12), Fraction(1, 4))
    for moves in product(range(0 if monotonic else -4, 5), repeat=2):
        moved = tuple(
            answer + parameters.sensitivity * move / 4
            for answer, move in zip(answers, moves, strict=True)
        )
        for one, other in ((answers, moved), (moved, answers)):
            for j, ratio in largest_ratios(one, other, parameters).items():
                assert ratio.high * law.exp_minus(parameters.cost(j), 128).high <= NARROW


def by_cost(parameters: TopK, winners: int) -> Fraction:
    return parameters.cost(winners)


def without_the_sentinel(parameters: TopK, winners: int) -> Fraction:
    return parameters.epsilon * Fraction(winners, parameters.k)


def largest_loss_of_a_chain(settle: Callable[[TopK, int], Fraction], one: Answers) -> Bounds:
    """Bounds of the largest ratio over e^ε of two releases, of which the second takes what is left.

    The first has a threshold, and is settled by what came out; the second has all the rest of ε.
    """
    first = with_threshold(2, 0, monotonic=True)
    low = high = Fraction(0)
    for pair in neighbours(one, monotonic=True):
        for j, ratio in largest_ratios(*pair, first).items():
            left = EPSILON - settle(first, j)
            after = Bounds(Fraction(1), Fraction(1))
            if left > 0:
                second = TopK(1, left, resolution=1, monotonic=True)
                after = largest_ratios(*pair, second)[1]
            low, high = max(low, ratio.low * after.low), max(high, ratio.high * after.high)
    to_minus_epsilon = law.exp_minus(EPSILON, 128)
    return Bounds(low * to_minus_epsilon.low, high * to_minus_epsilon.high)


@pytest.mark.parametrize("answers", [(0, 0), (0, 2), (1, 0)])
def test_what_is_settled_can_be_spent_again(answers: Answers) -> None:
    """The ratio of a history is the product; the largest of each number of winners is taken."""
    assert largest_loss_of_a_chain(by_cost, answers).high <= NARROW
    assert largest_loss_of_a_chain(without_the_sentinel, answers).low > 1
