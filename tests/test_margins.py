"""Margins with Laplace noise: the closed forms against sums over all noise, and simulation."""

from collections import Counter
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import log
from typing import Any

import numpy as np
import pytest

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError, TopK, laplace_margins, margins
from topgap.law import Bounds
from topgap.margins import (
    count_to_stand_out,
    expected_above_threshold,
    least_certain_gap,
    near_the_end,
    people_needed,
    probability_named,
)

RATES = [Fraction(20), Fraction(3), Fraction(1), Fraction(1, 2), Fraction(1, 7)]


def few(rate: Fraction, k: int = 2, threshold: int | None = None, **more: Any) -> TopK:
    """Parameters with this rate of Laplace noise."""
    more = {"resolution": 1, "noise": "laplace", **more}
    return TopK(k, rate, monotonic=True, items_per_person=1, threshold=threshold, **more)


def decay(rate: Fraction) -> Decimal:
    return (-Decimal(rate.numerator) / rate.denominator).exp()


def noise_law(rate: Fraction, most: int) -> dict[int, Decimal]:
    t = decay(rate)
    return {x: (1 - t) / (1 + t) * t ** abs(x) for x in range(-most, most + 1)}


@pytest.mark.parametrize("rate", RATES)
def test_the_certain_gap_is_that_of_the_sum_over_both_noises(rate: Fraction) -> None:
    gap = int(least_certain_gap(few(rate)))
    assert gap >= 1

    def apart(least: int) -> Decimal:
        most = int(60 / rate) + 5
        law = noise_law(rate, most)
        return 2 * sum(  # type: ignore[return-value]
            p * law.get(x + d, Decimal(0)) for x, p in law.items() for d in range(least, 2 * most)
        )

    with localcontext(prec=50):
        assert apart(gap) <= Decimal("0.05")
        assert gap == 1 or apart(gap - 1) > Decimal("0.05")


def test_the_certain_gap_is_about_four_scales() -> None:
    # (1 + u/2)·e^−u = 1/20 at u = 4.11300…
    for scale in (10**3, 10**40, 10**400):
        gap = least_certain_gap(few(Fraction(1, scale)))
        assert abs(gap / scale - Fraction("4.113003280")) < Fraction(1, 100)
        assert gap.denominator == 1
    fine = few(Fraction(1), resolution="1/100")
    assert least_certain_gap(fine) == Fraction("4.12")
    assert least_certain_gap(TopK(2, 1, monotonic=True)) == 2 * Fraction(log(20))  # as before


def test_the_end_of_the_list_is_the_lead_and_not_the_gap() -> None:
    gaps = [Fraction(each) for each in (8, 5, 5, 2)]
    assert near_the_end(gaps, few(Fraction(1, 2), k=4)) == (False, False, True, True)
    assert near_the_end([], few(Fraction(1, 2), k=4)) == ()


def test_a_count_stands_out_where_noise_reaches_it_k_times() -> None:
    for rate, k, size in product(RATES, (1, 10), (10**6, 10**12, 2**160)):
        parameters = few(rate, k)
        count = count_to_stand_out(parameters, size)
        t = decay(rate)
        assert float(size * t ** (Decimal(float(count))) / (1 + t)) == pytest.approx(k, rel=1e-6)
    assert count_to_stand_out(few(Fraction(1), 10), 13) == 0
    assert count_to_stand_out(few(Fraction(1), 10, 500), 10**12) == 500
    assert round(count_to_stand_out(few(Fraction(1), 10, 5), 10**12)) == 25


def test_how_many_reach_a_threshold_by_noise() -> None:
    assert expected_above_threshold(TopK(7, 1), 10**12) == 7
    assert expected_above_threshold(few(Fraction(1), 7, -(10**9)), 5) == pytest.approx(5)
    assert expected_above_threshold(few(Fraction(1), 7, 0), 10**12) == 7
    assert expected_above_threshold(few(Fraction(1), 7, 2000), 10**12) == 0
    assert expected_above_threshold(few(Fraction(1), 100, 2), 100) == pytest.approx(
        100 * float(decay(Fraction(2))) / (1 + float(decay(Fraction(1))))
    )
    assert expected_above_threshold(few(Fraction(1), 100, -2), 100) == pytest.approx(
        100 * (1 - float(decay(Fraction(3))) / (1 + float(decay(Fraction(1)))))
    )


def missed(parameters: TopK, n: int, count: int) -> Decimal:
    """The probability that the item is not named, added up over all of its noise."""
    t, threshold = decay(parameters.rate), parameters.threshold_units
    count *= parameters.resolution.denominator

    def up_to(x: int) -> Decimal:
        return 1 - t ** (x + 1) / (1 + t) if x >= 0 else t**-x / (1 + t)

    farthest, named = int(120 / parameters.rate) + 3, Decimal(0)
    lowest = count - farthest if threshold is None else max(threshold, count - farthest)
    lowest = min(lowest, -farthest) if threshold is None else lowest
    for y in range(lowest, max(count, lowest) + farthest):
        here, below = up_to(y), up_to(y - 1)
        if here > below:
            first = (here**n - below**n) / (n * (here - below))  # ties are decided uniformly
            named += (1 - t) / (1 + t) * t ** abs(y - count) * first
    return 1 - named


CASES = [*product(RATES[:-1], (None, -3, 0, 4, 30), ((2, 3), (2, 60), (3, 10**12)), (0, 1, 9, 40))]


def wrong_probabilities(module: Any, cases: list[Any]) -> list[str]:
    """Which probabilities are not those that the sums give."""
    found = []
    for rate, threshold, (k, size), count in cases:
        parameters = few(rate, k, threshold)
        with localcontext(prec=60 + int(25 * rate)):
            expected = float(missed(parameters, size - k + 1, count))
        got = module.probability_missed(parameters, size - k + 1, count, margins._share_beaten)
        if got != pytest.approx(expected, rel=1e-11, abs=1e-40):
            found.append(f"{got} for {rate, threshold, k, size, count}, not {expected}")
    return found


@pytest.mark.slow
def test_probabilities_are_those_of_sums_over_all_noise() -> None:
    assert wrong_probabilities(laplace_margins, CASES) == []


SOME = [case for case in CASES if case[0] in (Fraction(1), Fraction(3)) and case[3] in (0, 9)]


@pytest.mark.parametrize("mutant", [
    Mutant("the threshold is not reached", "c - threshold + 1)", "c - threshold)"),
    Mutant("nothing below 0", "total += power(c) * (high - low)", "pass"),
    Mutant("ties go to the others", "along = r * np.arange(1.0, ", "along = r * np.arange(0.0, "),
    Mutant("noise to one side", "total = power(start - c) / (1 + t)", "total = power(start - c)"),
    Mutant("one item too many", "log(n - 1)", "log(n)"),
    Mutant("a threshold above the count", "total + 1 - power(threshold - c)",
           "total + power(threshold - c)"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_another_formula_is_found(mutant: Mutant) -> None:
    assert wrong_probabilities(mutated(laplace_margins, mutant), SOME) != []


@pytest.mark.parametrize(("size", "count"), [(6, 6_000), (10**9, 15_000), (50, 0)])
def test_many_steps_are_integrated(size: int, count: int) -> None:
    parameters, short = few(Fraction(1, 400)), Fraction(1, 400)
    got = margins._probability_missed(parameters, size, count)
    # The same with all terms: it must not matter where the change is.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(laplace_margins, "_MOST_TERMS", 10**6)
        assert short * count == 0 or got != 0
        assert margins._probability_missed(parameters, size, count) == pytest.approx(got, rel=1e-10)


@pytest.mark.parametrize("threshold", [None, 5, 60])
@pytest.mark.parametrize("size", [3, 11, 10**6, 10**12, 2**256])
@pytest.mark.parametrize("probability", ["0.01", "1/2", "0.95", "0.999999999999"])
def test_it_is_the_least_number_of_people(
    size: int, probability: str, threshold: int | None
) -> None:
    parameters = few(Fraction(1, 3), 2, threshold)
    people, missing = people_needed(parameters, size, probability), 1 - Fraction(probability)
    assert margins._probability_missed(parameters, size, people) <= missing
    if people:
        assert margins._probability_missed(parameters, size, people - 1) > missing


def test_a_threshold_below_0_asks_for_nobody() -> None:
    assert people_needed(few(Fraction(1), threshold=-50), 5, "1/5") == 0


@pytest.mark.slow
def test_extremes_are_told() -> None:
    for scale in (Fraction(1, 10**6), Fraction(10**100), Fraction(10**400)):
        parameters = few(1 / scale)
        assert 0 < people_needed(parameters, 10**4000) < 10_000 * scale + 2
        assert probability_named(parameters, 3, 0) == 0.5
        assert probability_named(parameters, 10**4000, 0) == 0
        assert probability_named(parameters, 10**4000, 10**500) == 1
    cut = few(Fraction(1), 1000, 7)
    assert people_needed(cut, 5) == 9  # there is room for all: P(X ≥ −2) = 0.963
    assert people_needed(few(Fraction(1), 10), 10**12, 1 - Fraction(1, 10**100)) < 400
    assert probability_named(TopK(1, "1e-100"), 5, 1) == pytest.approx(0.2)
    with pytest.raises(ParameterError, match="size must be above k = 2"):
        people_needed(few(Fraction(1)), 2)


RELEASES = 200_000


def unlikely(false_alarm: float, factor: float = 1.0) -> list[str]:
    """Whether an item is named as often as the closed form says, by NumPy's noise and ranking.

    Args:
        false_alarm: How likely something is found although the closed form is right.
        factor: By how much the scale of the noise is wrong.
    """
    random, count, found = np.random.default_rng(), 8, []
    for threshold in (None, 9):
        drawn = [random.geometric(-np.expm1(-0.5 / factor), (RELEASES, 9)) for _ in range(2)]
        noisy = drawn[0] - drawn[1] + np.array([10**6, count, *[0] * 7])
        first = (noisy + random.random(noisy.shape)).argsort(axis=1)[:, ::-1][:, :2]
        named = (first == 1).any(axis=1)
        if threshold is not None:
            named &= noisy[:, 1] >= threshold
        seen = Counter(named.tolist())
        probability = Fraction(probability_named(few(Fraction(1, 2), 2, threshold), 9, count))
        near = Bounds(probability - Fraction(1, 10**9), probability + Fraction(1, 10**9))
        found += misfits(seen, [True], lambda _, near=near: near, false_alarm / 2)  # type: ignore[misc]
    return found


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_it_is_how_often_an_item_is_named(false_alarm: float) -> None:
    # Two probabilities are looked at, each at half of the rate. Noise of a scale that is a tenth
    # off moves either by more than 0.015, thirteen standard deviations of the frequency; it is
    # missed where one is less than 7 off, with a probability below 10^−9.
    assert unlikely(false_alarm) == []
    assert unlikely(false_alarm, 0.9) != []
    assert unlikely(false_alarm, 1.1) != []
