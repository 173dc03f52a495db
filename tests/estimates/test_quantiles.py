"""Quantiles of sums of Laplace, exponential and normal terms, against exact laws.

The exact laws are evaluated at the returned float. Where the density is steep, the rounding of that
float alone changes the tail; no case here is so steep that this comes near the tolerances.
"""

from collections.abc import Callable
from decimal import Decimal, localcontext
from itertools import pairwise
from math import erfc, exp, inf, log, nan, pi, prod, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from tests.checking.mutants import Mutant, mutated
from topgap import ParameterError
from topgap.estimates import quantiles as module

Scales = list[float]
Terms = tuple[Scales, Scales]

NONE: Scales = []
TAILS = [1e-12, 1e-7, 1e-3, 0.025, 0.3, 0.5, 0.7, 0.975, 1 - 1e-7]
FEW_TERMS = 1e-7
"""Largest relative error of a tail probability with few terms."""
MANY_TERMS = 2e-6
"""The same with more than 64 distinct scales of one sign."""


def quantiles(
    laplace: Scales, exponential: Scales, variance: float, tails: list[float], module: Any = module
) -> list[float]:
    found: list[float] = module.compute_quantiles(
        np.array(laplace, float), np.array(exponential, float), variance, tails
    )
    return found


def relative_error(below: Decimal | float, tail: float, above: Decimal | float) -> float:
    """Return the relative error of the smaller of P(X ≤ x) and P(X > x)."""
    return float(below) / tail - 1 if tail <= 0.5 else float(above) / (1 - tail) - 1


class ExactLaw:
    """Exact law without a normal term and with distinct scales, by partial fractions.

    With the scales cⱼ, the aⱼ and −aⱼ among them, and y = x + Σcⱼ over the exponential terms:
    P(X > x) = Σ over cⱼ > 0 of e^{−y/cⱼ} Π_{i≠j} cⱼ/(cⱼ − cᵢ) if y ≥ 0; else the same over cⱼ < 0
    is P(X ≤ x).
    """

    def __init__(self, laplace: Scales, exponential: Scales, digits: int = 200) -> None:
        self.digits = digits
        with localcontext() as context:
            context.prec = digits
            self.mean = sum(map(Decimal, exponential), Decimal(0))
            scales = [Decimal(c) for c in [*exponential, *laplace, *(-a for a in laplace)]]
            self.shares = {
                c: c ** (len(scales) - 1) / prod(c - other for other in scales if other != c)
                for c in scales
            }

    def tails(self, x: float) -> tuple[Decimal, Decimal]:
        """P(X ≤ x) and P(X > x)."""
        with localcontext() as context:
            context.prec = self.digits
            y = Decimal(x) + self.mean
            shares = self.shares.items()
            terms = (share * (-y / c).exp() for c, share in shares if (c > 0) == (y >= 0))
            beyond = sum(terms, Decimal(0))
            return (1 - beyond, beyond) if y >= 0 else (beyond, 1 - beyond)


def worst_error(law: ExactLaw, terms: Terms, tails: list[float], module: Any = module) -> float:
    """Return the largest relative error of the quantiles under the exact law."""
    errors = []
    for x, tail in zip(quantiles(*terms, 0.0, tails, module), tails, strict=True):
        below, above = law.tails(x)
        errors.append(abs(relative_error(below, tail, above)))
    return max(errors)


@pytest.mark.parametrize("tail", [*TAILS, 1e-100, 1e-300])
def test_a_lone_laplace_term_has_its_closed_form(tail: float) -> None:
    (found,) = quantiles([3.0], NONE, 0.0, [tail])
    expected = log(2 * tail) if tail <= 0.5 else -log(2 * (1 - tail))
    assert found == pytest.approx(3 * expected, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("tail", [*TAILS, 1e-100, 1e-300])
def test_a_lone_exponential_term_has_its_closed_form(tail: float) -> None:
    up, down = quantiles(NONE, [2.0], 0.0, [tail]) + quantiles(NONE, [-2.0], 0.0, [tail])
    # Relative to the tail, not to x + 2, if the float can tell them apart.
    assert relative_error(-np.expm1(-(up / 2 + 1)), tail, exp(-(up / 2 + 1))) == pytest.approx(
        0, abs=FEW_TERMS + 1e-15 / tail
    )
    assert down == pytest.approx(2 * (1 + log(tail)), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("tail", [*TAILS, 1e-15, 1e-100])
def test_a_lone_normal_term_is_normal(tail: float) -> None:
    (found,) = quantiles(NONE, NONE, 4.0, [tail])
    assert quantiles([0.0, 0.0], [0.0], 4.0, [tail]) == [found]
    if 1e-14 < tail < 0.99:  # as good as NormalDist
        assert found == pytest.approx(2 * NormalDist().inv_cdf(tail), rel=1e-7, abs=1e-7)
    x = found / 2 / sqrt(2)
    assert relative_error(erfc(-x) / 2, tail, erfc(x) / 2) == pytest.approx(0, abs=FEW_TERMS)


def test_nothing_is_zero() -> None:
    assert quantiles(NONE, NONE, 0.0, [0.1, 0.9]) == [0.0, 0.0]
    assert quantiles([0.0], [0.0, 0.0], 0.0, [0.1]) == [0.0]
    assert quantiles([1.0], NONE, 0.0, []) == []


def test_the_difference_of_two_exponential_terms_is_a_laplace_term() -> None:
    assert quantiles(NONE, [2.0, -2.0], 0.0, TAILS) == quantiles([2.0], NONE, 0.0, TAILS)


@pytest.mark.parametrize("n", [2, 7, 64, 65, 1_000, 10_000])
@pytest.mark.parametrize("tail", TAILS)
def test_equal_exponential_terms_make_an_erlang_law(n: int, tail: float) -> None:
    (found,) = quantiles(NONE, [0.5] * n, 0.0, [tail])
    with localcontext() as context:
        context.prec = 60
        y = Decimal(found) * 2 + n
        term = (-y).exp()
        above = term
        for i in range(1, n):
            term *= y / i
            above += term
        assert relative_error(1 - above, tail, above) == pytest.approx(0, abs=FEW_TERMS)


MIXED: dict[str, Terms] = {
    "two Laplace": ([1.0, 0.75], NONE),
    "two nearly equal": ([1.0, 0.999], NONE),
    "one dominates": ([1.0], [0.001, 0.002, -0.003]),
    "an exponential one dominates": ([0.001], [1.0, 0.002, -0.003]),
    "hardly anything beside": ([1e-9], [-1.0, 1e-12]),
    "to both sides": ([0.3], [1.0, -0.9, 0.8, -0.7]),
    "to one side": (NONE, [1.0, 0.9, 0.8, 0.7, 0.1]),
    "one against many": (NONE, [-3.0, *(0.1 + i / 1000 for i in range(30))]),
    "some of each": ([1.5, 0.6, 0.35], [0.7, 0.2, -0.5]),
    "all sizes": ([0.5**i for i in range(20)], [-(0.3**i) for i in range(1, 20)]),
}


@pytest.mark.parametrize("name", MIXED)
def test_distinct_terms_have_their_partial_fractions(name: str) -> None:
    terms = MIXED[name]
    unbounded = min(terms[1], default=0.0) < 0 or terms[0]  # or the float next to the bound counts
    tails = [*TAILS, 1e-100] if unbounded else TAILS
    assert worst_error(ExactLaw(*terms), terms, tails) < FEW_TERMS


def convolved(laplace: float, exponential: float, deviation: float, x: float) -> float:
    """Return P(X > x) by numerical integration over the normal term."""

    law = ExactLaw([laplace], [exponential], 40)

    def at(value: float) -> float:
        above = float(law.tails(x - deviation * value)[1])
        return above * exp(-value * value / 2) / sqrt(2 * pi)

    edge = min(max((x + exponential) / deviation, -11.0), 11.0)  # the density has a kink there
    parts = [-12.0, *sorted([edge, -4.0, 0.0, 4.0, 8.0]), 12.0]
    return sum(
        quad(at, low, high, epsabs=0.0, epsrel=1e-10, limit=200)[0] for low, high in pairwise(parts)
    )


@pytest.mark.parametrize("deviation", [0.01, 0.5, 3.0])
@pytest.mark.parametrize("tail", [1e-7, 0.025, 0.5, 0.975, 1 - 1e-7])
def test_a_normal_term_beside_others(deviation: float, tail: float) -> None:
    (found,) = quantiles([1.0], [-0.6], deviation**2, [tail])
    mirrored = convolved(1.0, 0.6, deviation, -found)  # P(X < found), by its own small size
    above = convolved(1.0, -0.6, deviation, found)
    assert relative_error(mirrored, tail, above) == pytest.approx(0, abs=FEW_TERMS)


CASES: dict[str, tuple[Scales, Scales, float]] = {
    "Laplace": ([1.0, 0.4], NONE, 0.0),
    "exponential": (NONE, [1.0, 0.4, -0.3], 0.0),
    "all": ([1.0, 0.4], [0.9, -0.3], 0.25),
    "many": ([1 / i for i in range(1, 300)], [1 / i - 0.005 for i in range(1, 300)], 0.01),
}


@pytest.mark.parametrize("name", CASES)
def test_negated_terms_mirror_the_quantiles(name: str) -> None:
    laplace, exponential, variance = CASES[name]
    tails = [0.0078125, 0.25, 0.5]  # whose complements are exact
    found = quantiles(laplace, exponential, variance, tails)
    mirrored = quantiles(
        [-a for a in laplace], [-c for c in exponential], variance, [1 - tail for tail in tails]
    )
    assert found == pytest.approx([-x for x in mirrored], rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_the_quantiles_grow_with_the_tail(name: str) -> None:
    tails = [*np.geomspace(1e-12, 0.4, 30), *np.linspace(0.41, 0.59, 30), 0.9, 1 - 1e-9]
    found = quantiles(*CASES[name], [float(tail) for tail in tails])
    assert all(less < more for less, more in pairwise(found))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [1e-300, 1e-155, 1e-150, 1e-20, 1e20, 1e150, 1e300])
def test_the_quantiles_scale_with_the_terms(name: str, scale: float) -> None:
    laplace, exponential, variance = CASES[name]
    if not 1e-151 < scale < 1e151:
        variance = 0.0  # scaled it would not be a float
    larger = [a * scale for a in laplace], [c * scale for c in exponential]
    found = quantiles(*larger, variance * scale * scale, TAILS)
    plain = quantiles(laplace, exponential, variance, TAILS)
    assert found == pytest.approx([x * scale for x in plain], rel=1e-8, abs=1e-8 * scale)


def test_a_term_as_small_as_floats_get_makes_no_difference() -> None:
    tiny = [5e-324] * 100
    assert quantiles([1.0, *tiny], tiny, 0.0, TAILS) == quantiles([1.0], NONE, 0.0, TAILS)
    assert quantiles([5e-324], NONE, 0.0, [0.001, 0.999]) == [-3e-323, 3e-323]


GROUPS: dict[str, Terms] = {
    "alike": (NONE, [1 + i / 300 for i in range(300)]),
    "alike, to both sides": ([1 + i / 150 for i in range(150)], NONE),
    "all sizes": ([1 / i for i in range(1, 150)], [1 / (i + 0.5) ** 2 for i in range(150)]),
    "two groups": (
        NONE,
        [*(1 + i / 70 for i in range(70)), *(-0.01 - i / 1e4 for i in range(150))],
    ),
    "one dominates": ([1.0], [0.01 + i / 1e5 for i in range(200)]),
    "falling fast": ([0.9**i for i in range(200)], NONE),
}


@pytest.mark.deep
@pytest.mark.parametrize("name", GROUPS)
def test_many_terms_in_bins_keep_the_exact_law(name: str) -> None:
    terms = GROUPS[name]
    law = ExactLaw(*terms, digits=450)
    assert worst_error(law, terms, [1e-7, 0.025, 0.5, 0.975, 1 - 1e-7]) < MANY_TERMS


def many() -> dict[str, tuple[Scales, Scales, float]]:
    """Ten thousand terms of different kinds."""
    n = 10_000
    draw = np.random.default_rng(1)
    small = [1e-5 * (1 + i / n) for i in range(n)]
    return {
        "drawn": ([*draw.exponential(size=n)], [*draw.normal(size=n)], 1.0),
        "one dominates": ([1.0, *small], NONE, 0.0),
        "an exponential one dominates": (NONE, [-1.0, *small], 0.0),
        "some against many": (
            NONE,
            [*(-10.0 - i for i in range(10)), *(c * 1e4 for c in small)],
            0.0,
        ),
        "falling": ([1 / i**2 for i in range(1, n)], [-1 / i for i in range(1, n)], 0.0),
        "falling far": ([1e-12 ** (i / n) for i in range(n)], NONE, 0.0),
        "tiny beside one": (NONE, [1.0, *(c * 1e-6 for c in small)], 0.0),
    }


@pytest.mark.deep
@pytest.mark.parametrize("name", many())
def test_bins_hardly_change_the_tails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    terms = many()[name]
    tails = [1e-7, 0.025, 0.975, 1 - 1e-7]
    binned = quantiles(*terms, tails)
    # A tail that is 1.01 times the tail, or leaves 1.01 times as much, tells what a change of x is.
    beside = [tail * 1.01 if tail < 0.5 else 1 - (1 - tail) * 1.01 for tail in tails]
    percents = [abs(x - y) for x, y in zip(binned, quantiles(*terms, beside), strict=True)]
    monkeypatch.setattr(module, "_UNBINNED", 100_000)
    monkeypatch.setattr(module, "_BLOCK_SIZE", 8)
    whole = quantiles(*terms, tails)
    for x, y, percent in zip(binned, whole, percents, strict=True):
        assert abs(x - y) <= percent * 100 * MANY_TERMS


@pytest.mark.parametrize("tail", [0.0, 1.0, -0.5, inf, nan])
def test_a_tail_is_between_0_and_1(tail: float) -> None:
    with pytest.raises(ParameterError, match="A tail must be a probability above 0 and below 1"):
        quantiles([1.0], NONE, 0.0, [0.5, tail])


@pytest.mark.parametrize(
    ("laplace", "exponential", "variance"),
    [([inf], NONE, 0.0), (NONE, [nan], 0.0), (NONE, NONE, -1.0), (NONE, NONE, inf)],
)
def test_terms_are_finite(laplace: Scales, exponential: Scales, variance: float) -> None:
    with pytest.raises(ParameterError, match="The terms must be finite"):
        quantiles(laplace, exponential, variance, [0.5])


def normal(module: Any) -> float:
    (found,) = quantiles(NONE, NONE, 4.0, [0.025], module)
    return abs(NormalDist(sigma=2).cdf(found) / 0.025 - 1)


def mixed(module: Any) -> float:
    return max(
        worst_error(ExactLaw(*terms), terms, [1e-7, 0.3, 0.975], module) for terms in MIXED.values()
    )


def grouped(module: Any) -> float:
    terms = GROUPS["alike"]
    law = ExactLaw(*terms, digits=450)
    return worst_error(law, terms, [1e-7, 0.5, 1 - 1e-7], module) * FEW_TERMS / MANY_TERMS


MUTANTS: list[tuple[Callable[[Any], float], str, str, str]] = [
    (normal, "no normal term on the contour", "w * (normal_sd * normal_sd / 2)", "0"),
    (normal, "no normal term in x", " + self.normal_sd * tilted_sd - inverse", " - inverse"),
    (mixed, "skewness to the other side", "[exponential, laplace,", "[-exponential, laplace,"),
    (mixed, "not centred", "(self.scales * tilted)", "(self.scales * tilted + self.scales)"),
    (mixed, "upper tail as lower tail", "(law.upper_quantile(1", "(-mirrored.upper_quantile(1"),
    (mixed, "step too wide", "_STEP_EXPONENT = 30.0", "_STEP_EXPONENT = 6.0"),
    (mixed, "contour too short", "_CUTOFF = 1e-12", "_CUTOFF = 1e-4"),
    (mixed, "contour bent the wrong way", "side = 1 if shift >= 0 else -1", "side = -1"),
    (mixed, "contour not bent", "across, along = 0.5,", "across, along = 0.0,"),
    (mixed, "Newton stops too early", "_LOG_TOLERANCE = 1e-4", "_LOG_TOLERANCE = 1e-1"),
    (grouped, "bins too wide", "_BIN_RATIO = 1.3", "_BIN_RATIO = 10.0"),
    (grouped, "bins made normal", "_MAX_BINS = 62", "_MAX_BINS = 0"),
    (grouped, "node weights exchanged", "[-below, above]", "[above, -below]"),
]


@pytest.mark.deep
@pytest.mark.parametrize("check", [normal, mixed, grouped])
def test_the_module_passes_what_its_mutants_fail(check: Callable[[Any], float]) -> None:
    assert check(module) < FEW_TERMS


@pytest.mark.parametrize(
    ("check", "mutant"),
    [(check, Mutant(name, old, new)) for check, name, old, new in MUTANTS],
    ids=[name for _, name, _, _ in MUTANTS],
)
def test_each_mutant_is_found(check: Callable[[Any], float], mutant: Mutant) -> None:
    try:
        miss = check(mutated(module, mutant))
    except (RuntimeWarning, ValueError):  # an overflow, or the logarithm of no probability
        return
    assert miss > FEW_TERMS
