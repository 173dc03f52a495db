"""The combination of measurements and gaps is the best linear unbiased one.

Held against generalised least squares on dense matrices, against the closed form for equal
variances, and its covariance of the gaps against the exact law of a release.
"""

from fractions import Fraction
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest

from tests.checking.mutants import Mutant, mutated
from topgap import TopK, law
from topgap.estimates import combination
from topgap.estimates.combination import ROUNDING, Combination, geometric_variance

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]
RNG = np.random.default_rng(6)  # numbers to reckon with, and nothing that is drawn for a release


def differences(k: int) -> Matrix:
    return np.eye(k)[:-1] - np.eye(k, k, 1)[:-1]


def least_squares(
    variances: Any, between: float, rounding: float, measured: Any, gaps: Any
) -> tuple[Any, Matrix]:
    """Estimates and their covariance, by whitening: no formula of the module is used."""
    k = len(variances)
    d = differences(k)
    covariance = np.zeros((2 * k - 1, 2 * k - 1))
    covariance[:k, :k] = np.diag(variances)
    covariance[k:, k:] = between * d @ d.T + rounding * np.eye(k - 1)
    whiten = np.linalg.inv(np.linalg.cholesky(covariance))
    design = whiten @ np.vstack([np.eye(k), d])
    found, *_ = np.linalg.lstsq(design, whiten @ np.concatenate([measured, gaps]), rcond=None)
    return found, np.linalg.inv(design.T @ design)


CASES = [
    (k, between, rounding, equal)
    for k in (1, 2, 3, 4, 10, 60)
    for between, rounding in ((1.0, 0.0), (0.3, 0.2), (20.0, 1.5), (0.01, 0.01))
    for equal in (True, False)
]


def contradictions(module: Any) -> list[str]:
    found = []
    for k, between, rounding, equal in CASES:
        variances = np.full(k, 2.0) if equal else RNG.uniform(0.2, 5, k)
        measured, gaps = RNG.normal(size=k), RNG.normal(size=k - 1)
        expected, covariance = least_squares(variances, between, rounding, measured, gaps)
        made = module.Combination(variances.tolist(), between, rounding)
        residuals = gaps - differences(k) @ measured
        case = f"k = {k}, {between}, {rounding}, {equal}"
        if not np.allclose(measured + made.corrections(residuals.tolist()), expected):
            found.append(f"{case}: another estimate")
        if not np.allclose(made.variances, np.diag(covariance)):
            found.append(f"{case}: another variance")
        for i in range(k):
            of_measurements, of_selection, of_gaps = made.weights(i)
            weighted = of_measurements @ measured - of_gaps @ gaps
            spread = of_measurements**2 @ variances + between * of_selection @ of_selection
            spread += rounding * of_gaps @ of_gaps
            if not np.isclose(weighted, expected[i]) or not np.isclose(spread, covariance[i, i]):
                found.append(f"{case}: other weights")
    return found


@pytest.mark.slow
def test_it_is_generalised_least_squares() -> None:
    assert contradictions(combination) == []


MUTANTS = [
    Mutant("the variance of a gap without the second winner",
           "diagonal = [a + b + 2 * between", "diagonal = [a + a + 2 * between"),
    Mutant("gaps taken for independent", "-(variance + between) for", "-(variance * 0) for"),
    Mutant("the selection's noise counted once", "2 * between + rounding", "between + rounding"),
    Mutant("rounding forgotten", "2 * between + rounding", "2 * between"),
    Mutant("the gap counts for the winner before it alone",
           "return [v * (a - b) for v", "return [v * a for v"),
    Mutant("the gap counts for the other winner",
           "return [v * (a - b) for v", "return [v * (b - a) for v"),
    Mutant("not weighted by the variance", "return [v * (a - b) for v", "return [(a - b) for v"),
    Mutant("the entries beside the diagonal forgotten", "(a + b - 2 * ab)", "(a + b)"),
    Mutant("the variance of the measurement alone",
           "v * max(0.0, 1 - v * (a + b - 2 * ab))", "v"),
    Mutant("the last elimination forgotten", "(solved[i] - after)", "solved[i]"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_combination_is_found(mutant: Mutant) -> None:
    assert contradictions(mutated(combination, mutant)) != []


@pytest.mark.parametrize("k", [1, 2, 5, 30])
@pytest.mark.parametrize("ratio", [0.01, 0.5, 2.0, 100.0])
def test_without_rounding_it_is_the_closed_form(k: int, ratio: float) -> None:
    """x̂ = w·m + (1 − w)·(z + mean(m) − mean(z)), with the variance V·(1 + λk)/(k + λk)."""
    variance = 3.0
    made = Combination([variance] * k, ratio * variance, 0.0)
    measured, gaps = RNG.normal(size=k), RNG.normal(size=k - 1)
    z = -np.concatenate([[0.0], np.cumsum(gaps)])
    w = ratio / (1 + ratio)
    expected = w * measured + (1 - w) * (z + measured.mean() - z.mean())
    residuals = gaps - differences(k) @ measured
    assert np.allclose(measured + made.corrections(residuals.tolist()), expected)
    assert np.allclose(made.variances, variance * (1 + ratio * k) / (k + ratio * k))


@pytest.mark.deep
def test_the_gaps_of_clear_winners_have_the_mean_and_covariance_that_are_said() -> None:
    """From the exact law: three answers 12 steps apart change places with chance e^−24."""
    parameters = TopK(2, 4, resolution=1, monotonic=True)
    assert parameters.rate == 2
    answers = [24, 12, 0]
    mass = Fraction(0)
    first = second = squared = product = Fraction(0)
    around = range(-9, 9)
    for a in around:
        for b in around:
            low, _ = law.gap_top_k(
                answers, parameters, [(0, Fraction(12 + a)), (1, Fraction(12 + b))]
            )
            mass += low
            first += low * a
            second += low * b
            squared += low * a * a
            product += low * a * b
    assert 1 - mass < Fraction(1, 10**6)  # the ends left out
    assert float(first) == pytest.approx(-0.5, abs=1e-5)
    assert float(second) == pytest.approx(-0.5, abs=1e-5)
    whole = geometric_variance(2.0) / 4  # in squared steps
    between = whole + ROUNDING
    assert float(squared - first**2) == pytest.approx(2 * between + ROUNDING, abs=1e-4)
    assert float(product - first * second) == pytest.approx(-between, abs=1e-4)


def test_remainders_make_the_covariance_that_is_said() -> None:
    """All orders of four remainders: a gap loses a step where its first is the smaller one."""
    orders = [*permutations(range(4))]
    lost = np.array([[a < b for a, b in pairwise(order)] for order in orders], dtype=float)
    d = differences(4)
    assert np.allclose(lost.mean(axis=0), 1 / 2)
    assert np.allclose(np.cov(lost.T, bias=True), ROUNDING * (d @ d.T + np.eye(3)))


@pytest.mark.parametrize("rate", [0.01, 0.3, 1.0, 4.0])
def test_the_variance_of_geometric_noise(rate: float) -> None:
    steps = np.arange(20_000)
    chances = np.exp(-rate * steps) * -np.expm1(-rate)
    mean = chances @ steps
    assert geometric_variance(rate) / rate**2 == pytest.approx(chances @ steps**2 - mean**2)


def test_the_variance_of_noise_at_the_ends() -> None:
    assert geometric_variance(0.0) == 1.0
    assert geometric_variance(1e-300) == 1.0
    assert geometric_variance(1e6) == 0.0
