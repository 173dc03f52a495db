"""The law of Top-k with Laplace noise: by enumeration, by hand, and against itself."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, permutations, product
from math import isfinite
from typing import Any

import pytest

from tests.checking.mutants import Mutant, mutated
from tests.law import equal_answers
from tests.law.enumeration import REACH, Enumerated, enumerate_outcomes, masses
from topgap import AnswersError, ParameterError, ParameterTypeError, TopK, law
from topgap.law import Bounds, exp_minus, laplace

pytestmark = pytest.mark.slow

NARROW = Fraction(1, 2**90)


def parameters_of(k: int, rate: Fraction | int) -> TopK:
    """With resolution 1 and L = Δ = 1, ε is the rate."""
    return TopK(k, rate, resolution=1, monotonic=True, items_per_person=1, noise="laplace")


def agree(bounds: Bounds, probability: Fraction) -> bool:
    """Whether a number that is off by far less than 2^−90 itself lies within narrow bounds."""
    wide = bounds.high - bounds.low < NARROW
    return wide and bounds.low - NARROW <= probability <= bounds.high + NARROW


@cache
def enumerated(answers: tuple[int, ...], k: int, rate: Fraction) -> Enumerated:
    return enumerate_outcomes(answers, k, masses(exp_minus(rate, 128).low))


def disagreements(module: Any, answers: tuple[int, ...], k: int, rate: Fraction) -> list[Any]:
    """The outcomes to which enumeration gives another probability.

    It puts in a rational x that is within 2^−128 of e^−ρ. Each probability is a polynomial of a
    few terms over (1 + x)^n, so that it is off by far less than 2^−90.
    """
    found = enumerated(answers, k, rate)
    parameters = parameters_of(k, rate)
    different: list[Any] = []
    outcomes = {outcome for outcome, _ in found}
    for outcome in sorted(outcomes):
        values = [value for _, value in outcome]
        if not all(max(answers) - REACH <= value <= min(answers) + REACH for value in values):
            continue
        least = max(answers) - REACH  # a runner-up from there on is not of noise beyond reach
        listed = [(i, int(value)) for i, value in outcome]
        for gap in range(int(values[-1] - least) + 1):
            bounds = module.laplace_top_k(answers, parameters, listed, last_gap=gap)
            if not agree(bounds, found.get((outcome, gap), Fraction(0))):
                different.append((listed, gap))
        whatever = sum((p for (one, _), p in found.items() if one == outcome), Fraction(0))
        if not agree(module.laplace_top_k(answers, parameters, listed), whatever):
            different.append((listed, None))
    return different


SMALL = [
    (answers, k)
    for n in (2, 3)
    for answers in combinations_with_replacement(range(3), n)
    if answers[0] == 0
    for k in range(1, n)
]


@pytest.mark.parametrize("rate", [Fraction(1, 2), Fraction(2)], ids=str)
@pytest.mark.parametrize(("answers", "k"), SMALL, ids=str)
def test_enumeration_gives_the_same(answers: tuple[int, ...], k: int, rate: Fraction) -> None:
    assert disagreements(law, answers, k, rate) == []


@pytest.mark.deep
@pytest.mark.parametrize("answers", [
    (0, 0, 0, 0), (1, 0, 0, 0), (0, 1, 1, 2), (0, 0, 1, 1), (2, 0, 2, 2), (0, 1, 2, 0),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("k", [1, 2, 3])
def test_enumeration_of_four_gives_the_same(answers: tuple[int, ...], k: int) -> None:
    assert disagreements(law, answers, k, Fraction(1)) == []


@pytest.mark.parametrize("mutant", [
    Mutant("one order for ties", "Fraction(1, prod(map(factorial, groups)))", "Fraction(1)"),
    Mutant("one order with losers", "Fraction(1, factorial(tied - 1))", "Fraction(1)"),
    Mutant("one order above losers", "return largest * _orders(levels)", "return largest"),
    Mutant("one order above the tied", "return last * _orders(levels[:-tied])", "return last"),
    Mutant("losers win ties", "_below(levels[-1] - a) + U * _equal(levels[-1] - a)",
           "_below(levels[-1] - a) + Polynomial({}) * _equal(levels[-1] - a)"),
    Mutant("winners win ties", "_below(levels[-1] - a) + U * _equal(levels[-1] - a)",
           "_below(levels[-1] - a) + _equal(levels[-1] - a)"),
    Mutant("no runner-up", "marks = marks - marks.at(ZERO)", "pass"),
    Mutant("zero twice", "return (ONE - X) * power_of_x(abs(d))",
           "return (ONE - X) * power_of_x(abs(d)) * _constant(Fraction(1 + (d == 0)))"),
    Mutant("one-sided", "return (ONE - X) * power_of_x(abs(d))",
           "return (ONE - X) * power_of_x(abs(d)) * _constant(Fraction(d >= 0))"),
    Mutant("at or below", "power_of_x(1 - d) if d <= 0", "power_of_x(-d) if d <= 0"),
    Mutant("a step higher", "runner_up = levels[-1] - gap", "runner_up = levels[-1] - gap + 1"),
    Mutant("one answer for all", "zip(levels, winners, strict=True):\n        probability",
           "zip(levels, sorted(winners), strict=True):\n        probability"),
], ids=lambda each: each.name)  # fmt: skip
def test_a_wrong_law_is_found(mutant: Mutant) -> None:
    wrong, three_of_four = mutated(laplace, mutant), ((0, 0, 0, 1), 3)  # two of them tie above
    cases = (*SMALL, three_of_four)
    assert any(disagreements(wrong, answers, k, Fraction(1)) for answers, k in cases)


def disagreements_with_threshold(
    module: Any, answers: tuple[int, ...], k: int, threshold: int
) -> list[Any]:
    """The same where only values from a threshold on are named."""
    rate = Fraction(1)
    parameters = TopK(
        k, rate, resolution=1, monotonic=True, items_per_person=1, noise="laplace",
        threshold=threshold,
    )  # fmt: skip
    found = with_threshold(answers, k, threshold)
    different: list[Any] = []
    for outcome in sorted({outcome for outcome, _ in found}):
        values = [value for _, value in outcome]
        if max(values, default=0) > min(answers) + REACH:
            continue
        gaps = range(int(values[-1]) - threshold + 2) if values else [0]
        for gap in (*gaps, None):
            bounds = module.laplace_top_k(answers, parameters, outcome, last_gap=gap)
            exact = found.get((outcome, gap), Fraction(0))
            if gap is None:
                exact = sum((p for (one, _), p in found.items() if one == outcome), Fraction(0))
            if not agree(bounds, exact):
                different.append((outcome, gap))
    return different


@cache
def with_threshold(answers: tuple[int, ...], k: int, threshold: int) -> Enumerated:
    x = exp_minus(Fraction(1), 128).low
    found = enumerate_outcomes(answers, k, masses(x), threshold=threshold)
    return {
        (tuple((i, int(value)) for i, value in outcome), gap): probability
        for (outcome, gap), probability in found.items()
        if all(isfinite(value) for _, value in outcome)
    }


WITH_THRESHOLD = [
    (answers, k, threshold)
    for answers in ((1,), (0, 0), (0, 1), (0, 0, 1))
    for k in (1, 2, 3, 5)
    for threshold in (0, 1, 2)
]


@pytest.mark.parametrize(("answers", "k", "threshold"), WITH_THRESHOLD, ids=str)
def test_enumeration_with_a_threshold_gives_the_same(
    answers: tuple[int, ...], k: int, threshold: int
) -> None:
    assert disagreements_with_threshold(law, answers, k, threshold) == []


@pytest.mark.parametrize("mutant", [
    Mutant("a next one from the threshold on", "return _all_below(threshold, losers)",
           "return _all_below(threshold + 1, losers)"),
    Mutant("a next one below the threshold", "return _all_below(threshold + 1, losers)",
           "return _all_below(threshold, losers)"),
    Mutant("no lead over the threshold", "if gap and ends == threshold:",
           "if gap and ends == threshold + 10**6:"),
    Mutant("any last gap", "is_lead = gap is None or ends == threshold", "is_lead = True"),
    Mutant("a tie at the threshold", "gap = None  # the next", "gap = 0  # the next"),
    Mutant("below the threshold", "if ends < threshold or", "if ends < threshold - 1 or"),
], ids=lambda each: each.name)  # fmt: skip
def test_a_wrong_threshold_is_found(mutant: Mutant) -> None:
    wrong = mutated(laplace, mutant)
    assert any(disagreements_with_threshold(wrong, *case) for case in WITH_THRESHOLD)


def test_thresholds_are_refused_as_others_are() -> None:
    parameters = TopK(2, 1, items_per_person=1, threshold=1)
    for outcome in ([(0, 3), (0, 2)], [(0, 3), (1, 3), (2, 3)], [(3, 1)]):
        with pytest.raises(ParameterError, match=r"^The outcome .*\.$"):
            law.laplace_top_k([0, 0, 0], parameters, outcome)
    with pytest.raises(AnswersError, match="empty"):
        law.laplace_top_k([], parameters, [])


# By hand: x = e^−1, c = (1 − x)/(1 + x).


@pytest.mark.parametrize("gap", range(4))
@pytest.mark.parametrize("noise", range(-3, 4))
@pytest.mark.parametrize("ahead", range(3))
def test_two_answers_have_the_law_worked_out_by_hand(ahead: int, noise: int, gap: int) -> None:
    """The first answer, ahead of 0, wins with this noise: c²·x^|noise|·x^|value − gap|.

    That the other one has that value is enough if the gap is above 0; if not, it is half of it.
    """
    value = ahead + noise
    x = exp_minus(Fraction(1), 128).low
    c = (1 - x) / (1 + x)
    expected = c**2 * x ** abs(noise) * x ** abs(value - gap) / (2 if gap == 0 else 1)
    bounds = law.laplace_top_k([ahead, 0], parameters_of(1, 1), [(0, value)], last_gap=gap)
    assert agree(bounds, expected)


def test_the_value_of_one_of_two_has_a_law_worked_out_by_hand() -> None:
    """Of (0, 0), item 1 with value v: c·x^|v| times P(X < v) + P(X = v)/2.

    That is 1/2 at v = 0, by symmetry; and 1 − x^v·(1/(1 + x) − c/2) = 1 − x^v/2 for v > 0.
    """
    x = exp_minus(Fraction(1), 128).low
    c = (1 - x) / (1 + x)
    for value in range(4):
        bounds = law.laplace_top_k([0, 0], parameters_of(1, 1), [(1, value)])
        assert agree(bounds, c * x**value * (1 - x**value / 2))


# Sums.


def total(each: list[Bounds]) -> Bounds:
    return Bounds(sum((p.low for p in each), Fraction(0)), sum((p.high for p in each), Fraction(0)))


@pytest.mark.parametrize(
    ("answers", "k"),
    [
        ((0, 0), 1), ((0, 2, 1), 1), ((0, 1, 1), 2),
        pytest.param((1, 0, 0, 3), 2, marks=pytest.mark.deep),
    ],
)  # fmt: skip
def test_all_items_and_values_together_are_certain(answers: tuple[int, ...], k: int) -> None:
    parameters, reach = parameters_of(k, 3), 8
    values = [
        combination[::-1]
        for combination in combinations_with_replacement(range(-reach, max(answers) + reach), k)
    ]
    low, high = total([
        law.laplace_top_k(answers, parameters, list(zip(order, levels, strict=True)))
        for order, levels in product(permutations(range(len(answers)), k), values)
    ])  # fmt: skip
    assert low < 1
    # One of n answers must have noise of 8 and more, which has a probability below 2·e^−24.
    assert 1 - high < len(answers) * 2 * exp_minus(Fraction(24), 64).high


@pytest.mark.parametrize("outcome", [[(0, 1), (2, 1)], [(0, 2), (1, 0)], [(2, 0), (1, -1)]])
def test_all_last_gaps_together_are_their_outcome(outcome: list[tuple[int, int]]) -> None:
    answers, parameters = (0, 1, 1, 0), parameters_of(2, 3)
    gaps = total([
        law.laplace_top_k(answers, parameters, outcome, last_gap=gap) for gap in range(20)
    ])  # fmt: skip
    whatever = law.laplace_top_k(answers, parameters, outcome)
    assert gaps.low <= whatever.high
    # A gap of 20 or more takes noise of −17 and less of both losers.
    assert whatever.low - gaps.high < exp_minus(Fraction(2 * 17 * 3), 256).high


# What does not matter.


def test_the_items_may_be_renamed() -> None:
    parameters = parameters_of(2, 1)
    for gap in (None, 0, 2):
        assert law.laplace_top_k([4, 0, 3], parameters, [(0, 5), (2, 3)], last_gap=gap) == (
            law.laplace_top_k([0, 3, 4], parameters, [(2, 5), (1, 3)], last_gap=gap)
        )


def test_only_differences_matter() -> None:
    parameters = parameters_of(2, 1)
    for gap in (None, 0, 2):
        assert law.laplace_top_k([4, 0, 3], parameters, [(0, 5), (2, 3)], last_gap=gap) == (
            law.laplace_top_k([-3, -7, -4], parameters, [(0, -2), (2, -4)], last_gap=gap)
        )


def test_a_resolution_scales_answers_values_and_gaps() -> None:
    halves = TopK(2, 1, resolution="1/2", monotonic=True, items_per_person=1)
    units = TopK(2, "1/2", monotonic=True, items_per_person=1)
    assert halves.rate == units.rate
    half = Fraction(1, 2)
    assert law.laplace_top_k([2, 0.75, 1.5], halves, [(0, 3), (2, half)], last_gap=half) == (
        law.laplace_top_k([4, 1, 3], units, [(0, 6), (2, 1)], last_gap=1)
    )


@pytest.mark.parametrize(("outcome", "gap"), [
    ([(0, Fraction(1, 2)), (1, 0)], None), ([(0, 0), (1, 1)], None), ([(0, 1), (1, 0)], -1),
    ([(0, 1), (1, 0)], Fraction(1, 2)),
], ids=str)  # fmt: skip
def test_what_is_impossible_has_probability_zero(outcome: Any, gap: Any) -> None:
    bounds = law.laplace_top_k([1, 0, 0], parameters_of(2, 1), outcome, last_gap=gap)
    assert bounds == Bounds(Fraction(0), Fraction(0))


# What is refused.


@pytest.mark.parametrize(("outcome", "gap"), [
    ([(0, 1), (1, 0)], None), ([], None), ([(3, 0)], None), ([0], None), (0, None), ({0: 1}, None),
    ([(0, 0.5)], None), ([(0, True)], None), ([(0, 1002)], None), ([(0, 1)], 1001),
    ([(0.0, 1)], None), ([(0, 1, 2)], None),
], ids=str)  # fmt: skip
def test_an_outcome_that_cannot_be_is_refused(outcome: Any, gap: Any) -> None:
    with pytest.raises((ParameterError, ParameterTypeError), match=r"outcome.*\.$"):
        law.laplace_top_k([1, 2, 3], parameters_of(1, 1), outcome, last_gap=gap)


@pytest.mark.parametrize("gap", [0.5, "1", True])
def test_a_last_gap_is_an_exact_number(gap: Any) -> None:
    with pytest.raises(ParameterTypeError, match=r"^The last gap must be .*\.$"):
        law.laplace_top_k([1, 2, 3], parameters_of(1, 1), [(0, 1)], last_gap=gap)


@pytest.mark.parametrize(("function", "other", "said"), [
    (law.laplace_top_k, TopK(1, 1), "law of laplace noise; that of exponential noise is gap_top_k"),
    (law.gap_top_k, parameters_of(1, 1), "that of laplace noise is laplace_top_k"),
    (law.top_k, parameters_of(1, 1), "that of laplace noise is laplace_top_k"),
], ids=["laplace", "gaps", "names"])  # fmt: skip
def test_each_noise_has_its_law(function: Callable[..., Any], other: TopK, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        function([1, 0], other, [0] if function is law.top_k else [(0, 1)])


def test_answers_that_are_too_few_or_too_far_apart_are_refused() -> None:
    with pytest.raises(AnswersError, match="at least 2"):
        law.laplace_top_k([1], parameters_of(1, 1), [(0, 1)])
    with pytest.raises(AnswersError, match="at most 1000 steps"):
        law.laplace_top_k([10**30, 0], parameters_of(1, 1), [(0, 10**30)])
    assert law.laplace_top_k([10**30, 10**30 - 9], parameters_of(1, 1), [(1, 10**30)]).low > 0
    with pytest.raises(ParameterError, match="bits must be"):
        law.laplace_top_k([1, 0], parameters_of(1, 1), [(0, 1)], bits=0)


# Closed forms for any number of equal answers, which the tests of the kernel use.


@pytest.mark.parametrize("rate", [Fraction(1, 3), Fraction(2)], ids=str)
@pytest.mark.parametrize("n", [2, 3, 5])
def test_equal_answers_have_the_closed_forms(n: int, rate: Fraction) -> None:
    one = parameters_of(1, rate)
    for m in range(-2, 4):
        value = law.laplace_top_k((0,) * n, one, [(0, m)])
        assert agree(equal_answers.maximum(n, rate, m), n * value.low)
        for gap in range(3):
            bounds = law.laplace_top_k((0,) * n, one, [(0, m)], last_gap=gap)
            assert agree(equal_answers.maximum_and_gap(n, rate, m, gap), n * bounds.low)
        for ahead in (0, 1, 3):
            won = law.laplace_top_k((0, ahead, *(0,) * (n - 1)), one, [(1, m)])
            assert agree(equal_answers.ahead_wins(n, rate, ahead, m), won.low)


def test_the_second_of_equal_answers_has_the_closed_form() -> None:
    n, rate = 4, Fraction(2)
    parameters = parameters_of(2, rate)
    for m in range(-2, 4):
        # The first one is 50 steps or more above with a probability below e^−90 < 2^−120.
        second = total([
            law.laplace_top_k((0,) * n, parameters, [(0, first), (1, m)])
            for first in range(m, m + 50)
        ])  # fmt: skip
        assert agree(equal_answers.largest(n, rate, 2, m), n * (n - 1) * second.low)


@pytest.mark.parametrize(("n", "around"), [
    (10**12, 270), (2**4096, 28385),  # n·e^(−around/10)/2 is about 1
], ids=["10^12", "2^4096"])  # fmt: skip
def test_closed_forms_are_narrow_for_many_answers(n: int, around: int) -> None:
    rate = Fraction(1, 10)
    for low, high in (
        equal_answers.maximum_below(n, rate, around),
        equal_answers.largest_below(n, rate, 3, around),
    ):
        assert 0.1 < float(low) < 0.99
        assert high - low < NARROW
    for low, high in (
        equal_answers.maximum_and_gap(n, rate, around, 1),
        equal_answers.ahead_wins(n, rate, around, around),
    ):
        assert 0.001 < float(low) < 0.1
        assert high - low < NARROW
    assert equal_answers.maximum_below(n, rate, -around).high < NARROW
