"""The exact law with a threshold: that of one more item, the sentinel, cut where it comes."""

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from topgap import AnswersError, ParameterError, TopK, law
from topgap.law import Bounds, probability

Answers = tuple[int, ...]
Outcome = tuple[tuple[int, int], ...]

CASES: list[tuple[Answers, int, int]] = [
    ((0,), 1, 0), ((0,), 2, 1), ((2,), 1, 0), ((0, 0), 1, 0), ((1, 0), 2, 0), ((0, 1), 3, 2),
    ((0, 3), 1, 1), ((0, 1, 1), 2, 1),
]  # fmt: skip
MARKED = [*CASES[:-1], pytest.param(*CASES[-1], marks=pytest.mark.slow)]


def of_rate_two(k: int, threshold: int | None = None) -> TopK:
    """Noise of rate 2 per step, whatever k is."""
    return TopK(k, 4 * k, resolution=1, threshold=threshold)


def outputs(items: int, k: int, most_gap: int) -> list[Outcome]:
    """All of at most k items, with gaps below this."""
    return [
        tuple(zip(winners, gaps, strict=True))
        for j in range(min(k, items) + 1)
        for winners in permutations(range(items), j)
        for gaps in product(range(most_gap), repeat=j)
    ]


def brute_force(answers: Answers, k: int, threshold: int, outcome: Outcome) -> Bounds:
    """What the law of Noisy Top-k with Gap on n + 1 items gives to all that is cut to this."""
    items, j = (*answers, threshold), len(outcome)
    if j in (k, len(answers)):  # the sentinel is not named, or is the last of all
        return law.gap_top_k(items, of_rate_two(j), outcome)
    sentinel, next_k = len(answers), of_rate_two(j + 1)
    found = [law.gap_top_k(items, next_k, [*outcome, (sentinel, gap)]) for gap in range(15)]
    # A gap of 15 needs noise of 12 and more of the sentinel, as it is at most 3 behind any other.
    rest = law.exp_minus(2 * 12, 128).high
    low, high = (sum(each, Fraction(0)) for each in zip(*found, strict=True))
    return Bounds(low, high + rest)


def disagreements(module: Any, answers: Answers, k: int, threshold: int) -> list[Outcome]:
    """The outputs of which the law of a module says another probability."""
    parameters, found = of_rate_two(k, threshold), []
    for outcome in outputs(len(answers), k, 4):
        one = module.gap_top_k(answers, parameters, outcome)
        other = brute_force(answers, k, threshold, outcome)
        if one.low > other.high or other.low > one.high:
            found.append(outcome)
    return found


@pytest.mark.parametrize(("answers", "k", "threshold"), MARKED)
def test_it_is_the_law_of_one_more_item_cut_there(answers: Answers, k: int, threshold: int) -> None:
    assert disagreements(law, answers, k, threshold) == []


def test_with_k_winners_it_is_the_very_law_of_one_more_item() -> None:
    for outcome in outputs(3, 2, 3):
        if len(outcome) == 2:
            cut = law.gap_top_k([0, 2, 1], of_rate_two(2, 1), outcome)
            assert cut == law.gap_top_k([0, 2, 1, 1], of_rate_two(2), outcome)


@pytest.mark.parametrize(("answers", "k", "threshold"), MARKED)
def test_all_outputs_sum_to_one(answers: Answers, k: int, threshold: int) -> None:
    parameters, total = of_rate_two(k, threshold), Fraction(0)
    for outcome in outputs(len(answers), k, 10):
        total += law.gap_top_k(answers, parameters, outcome).low
    # A gap of 10 needs noise of 7 and more in one of at most four items.
    assert 1 - 4 * law.exp_minus(2 * 7, 128).high < total <= 1


@pytest.mark.parametrize(("answers", "k", "threshold"), MARKED)
def test_all_names_sum_to_one_and_the_gaps_of_each_to_it(
    answers: Answers, k: int, threshold: int
) -> None:
    parameters, total = of_rate_two(k, threshold), Fraction(0)
    for j in range(min(k, len(answers)) + 1):
        for winners in permutations(range(len(answers)), j):
            low, high = law.top_k(answers, parameters, winners)
            with_gaps = sum(
                law.gap_top_k(answers, parameters, [*zip(winners, gaps, strict=True)]).low
                for gaps in product(range(10), repeat=j)
            )
            assert 0 <= high - with_gaps < 4 * law.exp_minus(2 * 7, 128).high  # as above
            total += low
    assert 1 - Fraction(1, 10**30) < total <= 1


def test_one_item_and_the_sentinel_have_a_closed_form() -> None:
    """The item is by a ahead; it is behind with probability e^−ρa/2, as of two exponentials."""
    for ahead in range(4):
        behind = law.top_k([ahead], of_rate_two(1, 0), [])
        x = law.exp_minus(2 * ahead, 128)
        assert behind.low <= x.high / 2
        assert x.low / 2 <= behind.high


BROKEN_LAWS = [
    Mutant("the sentinel is no loser where k are named", "return winners, losers + sentinel, []",
           "return winners, losers or sentinel, []"),
    Mutant("a sentinel without noise from below", "density = h * _density(answer, m)",
           "density = ZERO - (h * (ONE - _density(answer, m - 1) * U)).derivative()"),
    Mutant("whoever comes after j winners", "density = h * _density(answer, m)",
           "h = h * (ONE - power_of_x(m - answer) * U)\n            "
           "density = ZERO - h.derivative()"),
    Mutant("the sentinel one step too high", "sentinel = [] if threshold is None else [threshold]",
           "sentinel = [] if threshold is None else [threshold + 1]"),
    Mutant("the last gap left out", "above(len(winners), m), winners, losers, sentinel)\n"
           "    return _bounds(probability, parameters.rate, bits)\n\n\ndef top_k",
           "above(max(len(winners) - 1, 0), m), winners, losers, sentinel)\n"
           "    return _bounds(probability, parameters.rate, bits)\n\n\ndef top_k"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_LAWS, ids=lambda mutant: mutant.name)
def test_a_broken_law_is_found(mutant: Mutant) -> None:
    broken = mutated(probability, mutant)
    assert any(disagreements(broken, *case) for case in CASES)


def test_what_cannot_be_is_refused() -> None:
    parameters = of_rate_two(1, 0)
    with pytest.raises(ParameterError, match="at most k = 1 different items"):
        law.gap_top_k([1, 2, 3], parameters, [(0, 1), (1, 1)])
    with pytest.raises(AnswersError, match=r"at most 1000 steps .* and from the threshold"):
        law.top_k([0, 1], of_rate_two(1, 1_002), [])
    few = TopK(1, 1, items_per_person=1, noise="laplace", threshold=-(10**9))
    with pytest.raises(AnswersError, match="and from the threshold"):
        law.laplace_top_k([0, 1], few, [])
    assert law.gap_top_k([0, 1], parameters, [(0, -1)]) == Bounds(Fraction(0), Fraction(0))
