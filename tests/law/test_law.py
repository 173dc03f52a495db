"""The exact law itself: against closed forms, itself, and a simulation with real-valued noise."""

from collections import Counter
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.frequencies import misfits
from topgap import AnswersError, ParameterError, ParameterTypeError, TopK, law
from topgap.law.polynomial import ONE, ZERO, Polynomial, U, X

UNIT = TopK(1, 2, resolution=1)  # rate 1


@pytest.mark.slow
@given(st.fractions(0, 150, max_denominator=1000), st.integers(1, 200))
def test_the_bounds_of_exp_hold_the_truth(rate: Fraction, bits: int) -> None:
    low, high = law.exp_minus(rate, bits)
    assert high - low < Fraction(1, 2**bits)
    with localcontext() as context:
        context.prec = 100
        value = (-Decimal(rate.numerator) / Decimal(rate.denominator)).exp()
    # Two roundings at 100 digits, of the quotient and of exp, are off by less than 1e-97 in all.
    assert low - Fraction(1, 10**97) <= Fraction(value) <= high + Fraction(1, 10**97)


@pytest.mark.parametrize("rate", [-1, Fraction(-1, 2), 0.5, "1", None])
def test_only_rates_that_are_rational_and_not_negative_have_bounds(rate: Any) -> None:
    with pytest.raises(ParameterError, match="exp_minus needs"):
        law.exp_minus(rate, 64)


def test_a_huge_rate_is_bounded_at_once() -> None:
    assert law.exp_minus(Fraction(10**100), 64) == law.Bounds(Fraction(0), Fraction(1, 2**65))
    assert law.exp_minus(2, 64) == law.exp_minus(Fraction(2), 64)


@pytest.mark.parametrize("gap", range(5))
@pytest.mark.parametrize("ahead", range(4))
def test_two_answers_have_the_closed_form_law(ahead: int, gap: int) -> None:
    """Two exponentials a apart, x = e^−1: worked out by hand from their difference D.

    D has density e^−|d|/2 about its centre a, so for the first to win by g to g + 1 with g ≥ a:
    (x^(g−a) − x^(g+1−a))/2; with g < a: (x^(a−g−1) − x^(a−g))/2; and for the second to win by g to
    g + 1: (x^(g+a) − x^(g+a+1))/2.
    """
    first = gap - ahead if gap >= ahead else ahead - gap - 1
    assert_agree(law.gap_top_k([ahead, 0], UNIT, [(0, Fraction(gap))]), half_a_geometric(first))
    assert_agree(
        law.gap_top_k([ahead, 0], UNIT, [(1, Fraction(gap))]), half_a_geometric(gap + ahead)
    )


def half_a_geometric(m: int) -> law.Bounds:
    reach, exceed = law.exp_minus(Fraction(m), 128), law.exp_minus(Fraction(m + 1), 128)
    return law.Bounds((reach.low - exceed.high) / 2, (reach.high - exceed.low) / 2)


def assert_agree(one: law.Bounds, other: law.Bounds) -> None:
    assert one.low <= other.high
    assert other.low <= one.high
    assert one.high - one.low < Fraction(1, 10**30)


@pytest.mark.parametrize(
    ("answers", "k"),
    [([0, 0], 1), ([0, 5, 2], 1), ([3, 0, 1], 2), ([1, 1, 1, 0], 2), ([0, 1, 2, 9], 3)],
)
def test_the_probabilities_of_all_orders_sum_to_one(answers: list[int], k: int) -> None:
    parameters = TopK(k, 2, resolution=1)
    orders = [law.top_k(answers, parameters, w) for w in permutations(range(len(answers)), k)]
    assert_agree(
        law.Bounds(
            sum((order.low for order in orders), Fraction(0)),
            sum((order.high for order in orders), Fraction(0)),
        ),
        law.Bounds(Fraction(1), Fraction(1)),
    )


@pytest.mark.deep
@pytest.mark.parametrize(("answers", "k"), [([1, 0], 1), ([0, 2, 1], 1), ([0, 1, 1], 2)])
def test_the_gaps_of_an_order_sum_to_its_probability(answers: list[int], k: int) -> None:
    parameters = TopK(k, 2 * k, resolution=1)  # rate 1
    most = 20
    for winners in permutations(range(len(answers)), k):
        order = law.top_k(answers, parameters, winners)
        total = Fraction(0)
        for gaps in product(range(most), repeat=k):
            outcome = [(w, Fraction(g)) for w, g in zip(winners, gaps, strict=True)]
            total += law.gap_top_k(answers, parameters, outcome).low
        # A gap of 20 or more needs noise of at least 18 somewhere above: n·e^−18 < 1e-7.
        assert total <= order.high
        assert order.low - total < Fraction(1, 10**7)


def test_the_items_may_be_renamed() -> None:
    parameters = TopK(2, 3, resolution=1)
    outcome = [(0, Fraction(1)), (2, Fraction(0))]
    renamed = [(2, Fraction(1)), (1, Fraction(0))]
    assert law.gap_top_k([4, 0, 3], parameters, outcome) == law.gap_top_k(
        [0, 3, 4], parameters, renamed
    )


def test_only_differences_matter() -> None:
    outcome = [(1, Fraction(1))]
    assert law.gap_top_k([4, 7, 5], UNIT, outcome) == law.gap_top_k([-3, 0, -2], UNIT, outcome)


def test_a_resolution_scales_answers_and_gaps() -> None:
    tenths = TopK(1, 20, resolution="1/10")
    assert tenths.rate == UNIT.rate
    assert law.gap_top_k([0.25, 0], tenths, [(0, Fraction(1, 10))]) == law.gap_top_k(
        [2, 0], UNIT, [(0, Fraction(1))]
    )


def test_impossible_gaps_have_probability_zero() -> None:
    for gap in (Fraction(-1), Fraction(1, 2)):
        assert law.gap_top_k([4, 7, 5], UNIT, [(1, gap)]) == law.Bounds(Fraction(0), Fraction(0))


@pytest.mark.parametrize(
    ("function", "outcome"),
    [
        (law.top_k, [0, 1]),
        (law.top_k, []),
        (law.top_k, [3]),
        (law.top_k, [-1]),
        (law.top_k, ["0"]),
        (law.top_k, [0.0]),
        (law.top_k, [(0, 1)]),
        (law.gap_top_k, [(7, Fraction(0))]),
        (law.gap_top_k, [0]),
        (law.gap_top_k, 0),
        (law.gap_top_k, [(0, 1001)]),
        (law.top_k, {0}),
        (law.top_k, iter([0])),
        (law.gap_top_k, [(0, 1, 2)]),
        (law.gap_top_k, [(0, 0.5)]),
        (law.gap_top_k, [(0, True)]),
    ],
)
def test_an_outcome_that_cannot_be_is_refused(function: Callable[..., Any], outcome: Any) -> None:
    with pytest.raises((ParameterError, ParameterTypeError), match=r"outcome .*\.$"):
        function([1, 2, 3], UNIT, outcome)


def test_answers_that_are_too_few_or_too_far_apart_are_refused() -> None:
    with pytest.raises(AnswersError, match="at least 2"):
        law.top_k([1], UNIT, [0])
    with pytest.raises(AnswersError, match="at most 1000 steps"):
        law.top_k([10**30, 0], UNIT, [0])
    assert law.top_k([10**30, 10**30 - 1000], UNIT, [0]).low > 0


@pytest.mark.parametrize("bits", [0, -5, 1.5, True, "64", 10**6])
def test_the_number_of_bits_is_an_int_of_at_least_one(bits: Any) -> None:
    with pytest.raises(ParameterError, match="bits must be"):
        law.top_k([1, 2], UNIT, [0], bits=bits)


@pytest.mark.deep
@pytest.mark.statistical(false_alarm=3e-8)
def test_a_simulation_with_real_noise_fits(false_alarm: float) -> None:
    """2,000,000 runs of the definition itself, in floats: sorted, subtracted, rounded down.

    The float noise is off by about 1e-16 in relation, far below what so many runs can see.
    """
    answers, parameters = [0, 1, 1, 3], TopK(2, 3, resolution=1)
    generator = np.random.default_rng()
    noisy = np.array(answers) + generator.exponential(float(parameters.scale), (2_000_000, 4))
    order = np.argsort(-noisy, axis=1)[:, :3]
    top = np.take_along_axis(noisy, order, axis=1)
    rows = np.hstack([order[:, :2], np.floor(top[:, :2] - top[:, 1:]).astype(int)])
    sample = Counter(
        {
            ((a, Fraction(g)), (b, Fraction(h))): count
            for (a, b, g, h), count in zip(
                *(part.tolist() for part in np.unique(rows, axis=0, return_counts=True)),
                strict=True,
            )
        }
    )
    outcomes = [
        ((a, Fraction(g)), (b, Fraction(h)))
        for a, b in permutations(range(4), 2)
        for g, h in product(range(4), repeat=2)
    ]
    found, less_noise, more_noise = (
        misfits(sample, outcomes, partial(law.gap_top_k, answers, given), false_alarm / 3)
        for given in (parameters, TopK(2, "3.06", resolution=1), TopK(2, "2.94", resolution=1))
    )
    assert found == []
    # A law whose scale is 2% off does not fit: it moves the last cell, all other outcomes, by more
    # than 17 standard deviations of its count, the cut lies below 7; missed: below 1e-8 each.
    assert less_noise != []
    assert more_noise != []


def test_polynomials_obey_the_rules_of_algebra() -> None:
    half = Polynomial({(0, 0): Fraction(1, 2)})
    assert (X + U) * (X - U) == X * X - U * U
    assert X - X == ZERO
    assert (X * U * U).derivative() == X * U + X * U
    assert U.integral(ZERO, ONE) == half
    assert (X + U).integral(X, U) == X * U + half * U * U - half * X * X - X * X
    assert (X * X - X).bounds(Fraction(1, 4), Fraction(1, 2)) == (Fraction(-7, 16), Fraction(0))
    assert len({X + U, U + X}) == 1
    with pytest.raises(ValueError, match="u in it"):
        U.bounds(Fraction(0), Fraction(1))
