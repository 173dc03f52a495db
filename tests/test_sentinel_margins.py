"""Margins of a threshold with exponential noise: the closed forms against integrals."""

from fractions import Fraction
from itertools import pairwise, product
from math import exp, expm1, inf, log1p
from typing import Any

import pytest
from scipy.integrate import quad
from scipy.stats import binom

from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError, ParameterTypeError, TopK, sentinel_margins
from topgap.margins import (
    count_to_stand_out,
    expected_above_threshold,
    people_needed,
    probability_above_threshold,
    probability_named,
)


def cut(k: int, threshold: int | str, scale: int = 10, **more: Any) -> TopK:
    """Parameters with exponential noise of this scale."""
    return TopK(k, Fraction(k, scale), monotonic=True, threshold=threshold, **more)


def integrate_missed(n: int, count: int, threshold: int, scale: int = 10) -> float:
    """One minus ∫ e^−x (1 − e^−(c + x − t))⁺ (1 − e^−(c + x))^(n − 1) dx."""
    c, t = count / scale, threshold / scale

    def missed(x: float) -> float:
        under = -expm1(-(c + x - t)) if c + x > t else 0.0
        largest = exp((n - 1) * log1p(-exp(-(c + x)))) if c + x > 0 else float(n == 1)
        return exp(-x) * (1 - under * largest)

    edges = sorted({0.0, max(0.0, t - c), max(0.0, t - c) + 5, 60.0 + max(0.0, t - c)})
    return sum(
        quad(missed, left, right, limit=500, epsabs=1e-13)[0] for left, right in pairwise(edges)
    ) + exp(-edges[-1])


CASES = [*product((1, 2, 9, 50, 10**4, 10**7), (0, 3, 30, 80, 200), (-20, 0, 5, 50, 120))]


def is_right(module: Any) -> bool:
    """Whether the probability to be missed is that of the integral, in all cases."""
    return all(
        module.probability_missed(cut(3, threshold), n, count)
        == pytest.approx(integrate_missed(n, count, threshold), rel=1e-6, abs=1e-11)
        for n, count, threshold in CASES
    )


def test_an_item_is_missed_as_often_as_the_integral_says() -> None:
    assert is_right(sentinel_margins)


@pytest.mark.mutant
@pytest.mark.parametrize("mutant", [
    Mutant("the threshold without noise", "w * (r / 2 +", "w * (0 +"),
    Mutant("the threshold's noise forgotten below it", "return missed_by_noise + w", "return w"),
    Mutant("one item more", "log(n - 1)", "log(n)"),
    Mutant("the others as if the threshold were 0", "-max(c, t)", "-c"),
    Mutant("what is beyond the end left out", "within + (1 - end)", "within + 0 * (1 - end)"),
    Mutant("the series of the logarithm", "beaten * v * per_s", "beaten * v"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_another_formula_is_found(mutant: Mutant) -> None:
    assert not is_right(mutated(sentinel_margins, mutant))


def test_it_is_the_least_number_of_people() -> None:
    for size, threshold, probability in product(
        (2, 50, 10**12), (-30, 0, 40, 500), ("1/2", "0.95", "0.999999")
    ):
        parameters = cut(4, threshold)
        people = people_needed(parameters, size, probability)
        share = float(Fraction(probability))
        assert probability_named(parameters, size, people) >= share - 1e-12
        assert people == 0 or probability_named(parameters, size, people - 1) <= share + 1e-12
        without = TopK(4, Fraction(4, 10), monotonic=True)
        if size > 4:
            assert people >= people_needed(without, size, probability)


def test_an_item_is_above_the_threshold_by_two_noises() -> None:
    parameters = cut(2, "500.05")
    for answer in (400, 499, 500, 501, 520, 700):
        integral = quad(
            lambda y, a=answer: exp(-y) * (exp(-max(0.0, (500 - a) / 10 + y))), 0, 80,
            points=[max(0.0, (answer - 500) / 10)] if answer > 500 else None, limit=200,
        )[0]  # fmt: skip
        assert probability_above_threshold(parameters, answer) == pytest.approx(integral, rel=1e-7)
    assert probability_above_threshold(parameters, "500.09") == 0.5  # both are rounded down
    assert probability_above_threshold(parameters, 10**500) == 1
    assert probability_above_threshold(parameters, -(10**500)) == 0
    alone = probability_named(cut(1, 20), 1, 0)
    assert probability_above_threshold(cut(1, 0), -20) == pytest.approx(alone)
    for wrong in (TopK(2, 1), TopK(2, 1, items_per_person=1, threshold=5)):
        with pytest.raises(ParameterError, match="needs a threshold and exponential noise"):
            probability_above_threshold(wrong, 5)
    with pytest.raises(ParameterTypeError, match="answer"):
        probability_above_threshold(parameters, None)  # type: ignore[arg-type]


@pytest.mark.slow
def test_noise_alone_lifts_as_many_as_the_integral_says() -> None:
    most_times = {1: 1.42, 2: 1.23, 5: 1.12, 20: 1.12}
    for size, threshold, k in product((30, 1_000, 10**5), (-5, 20, 60, 150), most_times):
        parameters = cut(k, threshold)

        def named(y: float, size: int = size, k: int = k, t: float = threshold / 10) -> float:
            share = exp(-max(0.0, t + y))
            return exp(-y) * sum(float(binom.sf(j, size, share)) for j in range(k))

        edges = [0.0, max(0.0, -threshold / 10), 5.0, 15.0, 60.0]
        integral = sum(quad(named, left, right, limit=200)[0] for left, right in pairwise(edges))
        found = expected_above_threshold(parameters, size)
        assert integral - 1e-9 <= found <= integral * most_times[k] + 1e-9
    assert expected_above_threshold(cut(7, 50), 2**4000) == 7
    assert expected_above_threshold(cut(7, 10**6), 10) < 1e-300
    assert expected_above_threshold(cut(7, -(10**6)), 3) == 3


def test_extremes_are_told() -> None:
    assert probability_named(cut(3, 0), 2**4000, 0) == 0
    assert probability_named(cut(3, 0), 2**4000, 10**6) == 1
    assert probability_named(cut(3, 10**6), 5, 0) == 0
    assert probability_named(cut(3, -(10**6)), 5, 0) == pytest.approx(1 / 3)
    assert sentinel_margins.probability_missed(cut(3, 0), 1, 0) == 0.5
    assert count_to_stand_out(cut(3, 500), 10**6) == 500
    assert count_to_stand_out(cut(3, 5), 10**6) > 100
    assert people_needed(TopK(3, Fraction(1, 10**300), threshold=0), 5) < inf
