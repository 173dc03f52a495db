"""Binomial tails and Clopper–Pearson bounds: never on the unsafe side, and hardly off."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import comb, exp, inf, log
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from tests.checking.mutants import Mutant, mutated
from topgap.auditing.probability import binomial

PROBABILITIES = [Fraction(1, 1000), Fraction(1, 20), Fraction(3, 10), Fraction(1, 2)]
PROBABILITIES += [1 - each for each in PROBABILITIES[:-1]] + [Fraction(1, 3)]
SIZES = [1, 2, 3, 5, 10, 30, 100, 250]
LEVELS = [Fraction(1, 10), Fraction(1, 10**4), Fraction(1, 10**13)]


@cache
def exact_tails(n: int, p: Fraction) -> list[Fraction]:
    """P[X ≥ x] for all x from 0 to n + 1, exactly."""
    a, b = p.numerator, p.denominator - p.numerator
    probabilities = [comb(n, x) * a**x * b ** (n - x) for x in range(n + 1)]
    tails = [0]
    for probability in reversed(probabilities):
        tails.append(tails[-1] + probability)
    return [Fraction(each, p.denominator**n) for each in reversed(tails)]


def wrong_tails(module: Any) -> list[str]:
    """The tails that are less than they are, or too much more."""
    found = []
    for n, p in product(SIZES, PROBABILITIES):
        for x, exact in enumerate(exact_tails(n, p)):
            bound = Fraction(module.tail_bound(n, x, p))
            # Beyond 4.7 standard deviations the geometric sum is less than 1/20 too large;
            # Robbins' bounds are off by e^(1/12 − 1/13) at most, for a factorial of 1.
            most = Fraction(1)
            if 0 < exact < Fraction(1, 10**6):
                most = max(Fraction(107, 100) * exact, Fraction(exp(-699)))
            if not exact <= bound <= most:
                found.append(f"P[X ≥ {x}] for {n}, {p}: {float(bound)} for {float(exact)}")
    return found


def test_tails_are_never_too_small_and_hardly_too_large() -> None:
    assert wrong_tails(binomial) == []


@pytest.mark.parametrize("mutant", [
    Mutant("no further terms", ") * geometric", ")"),
    Mutant("a longer sum", "((x + 1) * b - (n - x) * a)", "((x + 1) * b - (n + x) * a)"),
    Mutant("Stirling without a correction", "_exp(stirling - above", "_exp(-above"),
    Mutant("Stirling's bounds exchanged", "1 / (12 * x + 1)", "1 / (12 * x - 1)"),
    Mutant("one logarithm", "above - below + rounding", "above + rounding"),
    Mutant("one of them not", "n * _log(a - _ONE, _ONE)", "(n + 1) * _log(a - _ONE, _ONE)"),
    Mutant("p rounded to halves", "min(-((-p.numerator << _BITS) // p.denominator), _ONE)",
           "p.numerator * 2 // p.denominator * _ONE // 2"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_wrong_tails_are_found(mutant: Mutant) -> None:
    assert wrong_tails(mutated(binomial, mutant)) != []


def wrong_bounds(module: Any) -> list[str]:
    """The bounds at which the exact tail is above its level, or far below it."""
    found = []
    for n, level in product(SIZES, LEVELS):
        for x in {0, 1, 2, n // 3, n // 2, n - 1, n}:
            if not 0 <= x <= n:
                continue
            low = module.lower_bound(n, x, level)
            rough = Fraction(float(low)).limit_denominator(10**6)
            if x == 0:
                if low != 0:
                    found.append(f"{x} of {n}: {float(low)}")
                continue
            if rough <= low and exact_tails(n, rough)[x] > level:
                found.append(f"{x} of {n}: {float(low)} is too high for {float(level)}")
            exact = beta.ppf(float(level), x, n - x + 1)
            if not 0.9 * exact <= low <= exact * (1 + 1e-9):
                found.append(f"{x} of {n}: {float(low)} for {exact} at {float(level)}")
            if module.upper_bound(n, n - x, level) != 1 - low:
                found.append(f"{n - x} of {n}: the upper bound is not the lower one mirrored")
    return found


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    assert wrong_bounds(binomial) == []


@pytest.mark.parametrize("mutant", [
    Mutant("twice the level", "_tail(n, x, middle) <= level", "_tail(n, x, middle) <= 2 * level"),
    Mutant("no search", "_STEPS = 64", "_STEPS = 4"),
    Mutant("one more", "1 - lower_bound(n, n - x, level)", "1 - lower_bound(n, n - x + 1, level)"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_wrong_bounds_are_found(mutant: Mutant) -> None:
    assert wrong_bounds(mutated(binomial, mutant)) != []


@pytest.mark.parametrize("n", [10**5, 10**7, 10**10])
def test_many_releases_are_no_trouble(n: int) -> None:
    for p, deviations in product([1e-5, 0.01, 0.3, 0.5, 0.99], [3, 5, 7, 9]):
        x = round(n * p + deviations * (n * p * (1 - p)) ** 0.5) + 1
        # SciPy's own tails have a relative error of about 1e-10 here.
        exact = binom.sf(x - 1, n, p)
        assert (
            exact * (1 - 1e-8) <= binomial.tail_bound(n, x, Fraction(p)) <= exact * (1 + 2 / 3**2)
        )
    for x in (0, 3, n // 100, n // 2, n - 3, n):
        low = binomial.lower_bound(n, x, Fraction(1, 10**13))
        exact = beta.ppf(1e-13, x, n - x + 1) if x else 0.0
        assert exact * 0.99 <= low <= exact * (1 + 1e-8)


def test_extremes_have_bounds() -> None:
    assert binomial.tail_bound(10, 0, Fraction(0)) == 1
    assert binomial.tail_bound(10, 1, Fraction(0)) == 0
    assert binomial.tail_bound(10, 10, Fraction(1)) == 1
    assert 0 < binomial.tail_bound(10**6, 10**6, Fraction(1, 10**300)) < 1e-300
    assert binomial.tail_bound(10**9, 999, Fraction(1, 10**400)) < 1e-300


@pytest.mark.slow
@given(
    st.fractions(0, 1, max_denominator=10**6),
    st.fractions(0, 1, max_denominator=10**6),
    st.fractions("1/100", 9, max_denominator=100),
)
@settings(max_examples=100)
def test_a_violation_is_one_for_certain(high: Fraction, low: Fraction, epsilon: Fraction) -> None:
    more = binomial.exceeds(high, low, epsilon)
    bound = binomial.log_ratio_bound(high, low)
    if low > 0 and high > 0 and abs(log(high / low) - float(epsilon)) > 1e-9:
        assert more == (log(high / low) > float(epsilon)) == (bound > float(epsilon))
    if low > 0:
        assert 0 <= bound <= max(0.0, log(max(high / low, Fraction(1))))
    assert not binomial.exceeds(low, low, epsilon)


def test_what_cannot_be_compared_in_floats_is_compared_too() -> None:
    # e^(1/10^30) is more than 1 by less than a float can tell.
    tiny = Fraction(1, 10**30)
    assert binomial.exceeds(1 + 2 * tiny, Fraction(1), tiny)
    assert not binomial.exceeds(1 + tiny, Fraction(1), tiny)
    assert not binomial.exceeds(Fraction(1), Fraction(1, 2**256), Fraction(10**30))
    assert binomial.log_ratio_bound(Fraction(1), Fraction(0)) == inf
