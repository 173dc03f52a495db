"""Counts from the gaps down to a threshold: coverage, bias and covariance by the exact law."""

from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, product
from math import exp, hypot
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.stats import binom

from tests.checking.cached_law import exp_minus
from tests.checking.mutants import Mutant, mutated
from topgap import TopK, law
from topgap.release import counts, laplace_error

# --- The quantile of one noise

RATES = [Fraction(rate) for rate in ("1/1000", "1/9", "1/2", "1", "7/3", "30")]
TAILS = [Fraction(tail) for tail in ("9/10", "1/2", "1/40", "1/1000", "1/10000000")]


def of_rate(rate: Fraction, k: int = 3, resolution: str = "1") -> TopK:
    """Parameters with exponential noise of this rate per step, and the threshold 0."""
    epsilon = k * rate / Fraction(resolution)
    return TopK(k, epsilon, monotonic=True, threshold=0, resolution=resolution)


def is_quantile(find: Any, rate: Fraction, tail: Fraction) -> bool:
    """Whether it is the least h with e^−rate(h + 1) ≤ tail, from 0 on."""
    steps = int(find(of_rate(rate), tail))
    fits = exp_minus(rate * (steps + 1), 256).high <= tail
    return fits and (steps == 0 or exp_minus(rate * steps, 256).low > tail)


def test_the_quantile_is_the_least() -> None:
    find = laplace_error.find_exponential_quantile
    assert all(is_quantile(find, rate, tail) for rate, tail in product(RATES, TAILS))
    assert find(of_rate(Fraction(10**9)), Fraction(1, 10**9)) == 0
    near = Fraction(1, 2**100)
    for rate, steps in product(RATES, (1, 5, 17)):  # a tail that is barely reached, or barely not
        low, high = exp_minus(rate * steps, 256)
        if low > 2 * near:
            assert find(of_rate(rate), high + near) == steps - 1
            assert find(of_rate(rate), low - near) == steps
    in_tenths = laplace_error.find_exponential_quantile(of_rate(Fraction(1), 3, "1/10"), TAILS[2])
    assert in_tenths == find(of_rate(Fraction(1)), TAILS[2]) / 10


@pytest.mark.parametrize("mutant", [
    Mutant("a step too few", "/ _rate(parameters) - 1", "/ _rate(parameters) - 2"),
    Mutant("a step too many", "/ _rate(parameters) - 1", "/ _rate(parameters)"),
    Mutant("half the tail", "-_to_decimal(tail).ln()", "-_to_decimal(tail / 2).ln()"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_a_broken_quantile_is_found(mutant: Mutant) -> None:
    find = mutated(laplace_error, mutant).find_exponential_quantile
    assert not all(is_quantile(find, rate, tail) for rate, tail in product(RATES, TAILS))


# --- Intervals, by the law of the list with the threshold as an item


class Output(NamedTuple):
    """The winners above the threshold from the largest down, their gaps, and its probability."""

    items: tuple[int, ...]
    gaps: tuple[int, ...]
    probability: float


RATE = Fraction(2)
FARTHEST = 9  # steps from the expected gap; beyond lies less than 10^-6 of all outputs


@lru_cache(maxsize=64)
def list_outputs(answers: tuple[int, ...]) -> list[Output]:
    """All outputs in which an item is named, of answers over the threshold 0.

    The threshold is one more item: the last. Each ranking of the first ones says which are above
    it, and who came next is summed over.
    """
    count, found = len(answers), []
    parameters = TopK(count, count * RATE, monotonic=True, resolution=1)
    for ranked in permutations(range(count + 1), count):
        rest = {*range(count + 1)} - {*ranked}
        levels = [[*answers, 0][each] for each in (*ranked, *rest)]
        ranges = [
            range(max(0, above - below - FARTHEST), max(0, above - below) + FARTHEST)
            for above, below in pairwise(levels)
        ]
        for gaps in product(*ranges):
            bounds = law.gap_top_k([*answers, 0], parameters, [*zip(ranked, gaps, strict=True)])
            above = ranked.index(count) if count in ranked else count
            if above:
                found.append(Output(ranked[:above], gaps[:above], float(bounds.low)))
    return found


CASES = {
    "one": (5,),
    "one at the threshold": (0,),
    "one below": (-2,),
    "two apart": (12, 6),
    "two tied": (3, 3),
    "two tied at the threshold": (0, 0),
    "the other way round": (1, 2),
}
LEVELS = [Fraction(level) for level in ("1/10", "1/2", "87/100", "19/20", "999/1000")]
ROUNDED = 1e-6  # what is left out, and floats


def find_misses(
    module: Any, answers: tuple[int, ...], level: Fraction, *, at_once: bool
) -> list[float]:
    """The probability that an item is named and missed; or that any is, if they are at once."""
    parameters = of_rate(RATE, len(answers) + 1)
    missed = [0.0] * (1 if at_once else len(answers))
    size = len(answers) if at_once else None
    for items, gaps, probability in list_outputs(answers):
        ends = module.compute_intervals(parameters, gaps, (1 - level) / 2, size)
        are_missed = [
            not low <= answers[item] <= high for item, (low, high) in zip(items, ends, strict=True)
        ]
        for item, is_missed in zip(items, are_missed, strict=True):
            if not at_once:
                missed[item] += is_missed * probability
        if at_once:
            missed[0] += any(are_missed) * probability
    return missed


def covers(module: Any, *, at_once: bool) -> bool:
    """Whether no interval is missed more often than it says, in any case."""
    return all(
        max(find_misses(module, answers, level, at_once=at_once)) <= 1 - level + ROUNDED
        for answers, level in product(CASES.values(), LEVELS)
    )


@pytest.mark.deep
def test_an_interval_covers_whatever_the_data_are() -> None:
    assert covers(counts, at_once=False)


@pytest.mark.deep
def test_all_intervals_cover_at_once() -> None:
    assert covers(counts, at_once=True)


MANY, RELEASES, AT_ONCE = 50, 4_000, Fraction(4, 5)


def count_covered(module: Any) -> int:
    """In how many releases of 50 items, all equal and far above the threshold, all are covered."""
    parameters, answer = of_rate(Fraction(1, 1000), MANY + 1), 10**6
    noise = np.random.default_rng().exponential(1000, (RELEASES, MANY + 1))
    noisy = -np.sort(-(answer + noise[:, 1:]), axis=1)
    gaps = np.floor(-np.diff(np.hstack([noisy, noise[:, :1]]), axis=1)).astype(np.int64)
    covered = 0
    for each in gaps.tolist():
        ends = module.compute_intervals(parameters, each, (1 - AT_ONCE) / 2, MANY)
        covered += all(low <= answer <= high for low, high in ends)
    return covered


@pytest.mark.statistical(false_alarm=1e-10)
def test_all_intervals_of_many_cover_at_once(false_alarm: float) -> None:
    # At least Binomial(n, level), in the order of distributions; floats are off by far less than
    # the steps of which there are a thousand in the scale.
    assert binom.cdf(count_covered(counts), RELEASES, float(AT_ONCE)) >= false_alarm


@pytest.mark.parametrize("answers", [(8,), pytest.param((12, 6), marks=pytest.mark.slow)])
def test_the_outputs_are_nearly_all(answers: tuple[int, ...]) -> None:
    """With answers far above the threshold an item is named in nearly all outputs."""
    assert abs(sum(each.probability for each in list_outputs(answers)) - 1) < 1e-5


def is_as_narrow_as_can_be(module: Any) -> bool:
    """Whether each side of a single gap's interval is missed with probability e^−rate(h + 1)/2.

    It is what two noises differ by, and h is the least for which that is at most the tail.
    """
    answers, level = (8,), Fraction(4, 5)
    low = high = 0.0
    for _, gaps, probability in list_outputs(answers):
        [(left, right)] = module.compute_intervals(of_rate(RATE, 2), gaps, (1 - level) / 2)
        low += (answers[0] < left) * probability
        high += (answers[0] > right) * probability
    steps = laplace_error.find_exponential_quantile(of_rate(RATE), 1 - level)
    expected = exp(-float(RATE) * (int(steps) + 1)) / 2
    least = expected <= 0.1 < exp(-float(RATE) * int(steps)) / 2
    return least and max(abs(low - expected), abs(high - expected)) < ROUNDED


def test_an_interval_is_as_narrow_as_can_be() -> None:
    assert is_as_narrow_as_can_be(counts)


# --- Counts and their covariance, of items that are well apart

APART = (24, 12)


def find_moments(module: Any, answers: tuple[int, ...] = APART) -> tuple[Any, Any]:
    """The mean error of the counts of all items, which come in order, and the covariance."""
    parameters = of_rate(RATE)
    errors, chances = [], []
    for items, gaps, probability in list_outputs(answers):
        if items == (*range(len(answers)),):
            values = module.center_counts(parameters, gaps)
            errors.append([float(v - a) for v, a in zip(values, answers, strict=True)])
            chances.append(probability)
    seen, weights = np.array(errors), np.array(chances)
    mean = weights @ seen
    return mean, (seen - mean).T @ ((seen - mean) * weights[:, None])


def is_centred(module: Any) -> bool:
    """Whether counts are right on average."""
    return bool(np.abs(find_moments(module)[0]).max() < 1e-4)


def is_covariance(module: Any) -> bool:
    """Whether the covariance is what is said, and standard errors the roots of its diagonal."""
    said = module.compute_covariance(of_rate(RATE), 2)
    errors = module.compute_errors(of_rate(RATE), 2)
    fits = np.abs(find_moments(counts)[1] - said).max() < 1e-3
    return bool(fits) and errors == pytest.approx(np.sqrt(np.diag(said)))


def test_a_single_count_is_right_on_average_and_has_the_variance_that_is_said() -> None:
    mean, covariance = find_moments(counts, (8,))
    assert mean == pytest.approx([0], abs=1e-4)
    assert covariance == pytest.approx(counts.compute_covariance(of_rate(RATE), 1), abs=1e-3)


@pytest.mark.deep
def test_counts_are_right_on_average() -> None:
    assert is_centred(counts)


@pytest.mark.deep
def test_the_covariance_is_exact() -> None:
    assert is_covariance(counts)


def test_the_covariance_has_its_limit_and_is_positive() -> None:
    # Twice and once the square of the scale, where a step is small beside it.
    fine = counts.compute_covariance(of_rate(Fraction(1, 1000)), 3)
    assert fine == pytest.approx(10**6 * (np.eye(3) + 1), rel=1e-5)
    assert np.linalg.eigvalsh(counts.compute_covariance(of_rate(Fraction(1, 2)), 9)).min() > 0


def test_rounding_takes_what_ascents_of_equal_numbers_say() -> None:
    """What is lost are the ascents of m + 1 uniform numbers, or of the last of them."""
    for m in range(1, 6):
        orders = [*permutations(range(m + 1))]
        ascents = np.array([
            [sum(a < b for a, b in zip(order[start:], order[start + 1:], strict=False))
             for start in range(m)]
            for order in orders
        ])  # fmt: skip
        noise = laplace_error.standard_error(of_rate(Fraction(5))) ** 2
        said = counts.compute_covariance(of_rate(Fraction(5)), m) - noise / 2 * (np.eye(m) + 1)
        assert np.cov(ascents.T, bias=True).reshape(m, m) == pytest.approx(said)
        assert ascents.mean(axis=0) == pytest.approx([(m - start) / 2 for start in range(m)])


def test_enormous_numbers_are_exact_and_their_errors_infinite() -> None:
    huge = TopK(2, 1, sensitivity=10**400, threshold=10**401, resolution=1)
    [(low, high)] = counts.compute_intervals(huge, [10**402], Fraction(1, 40))
    assert low < 10**401 + 10**402 < high
    assert counts.center_counts(huge, [10**402]) == [10**401 + 10**402 + Fraction(1, 2)]
    assert counts.compute_errors(huge, 1) == [np.inf]
    assert np.isinf(counts.compute_covariance(huge, 1)).all()
    tiny = TopK(2, 10**9, threshold=0, resolution=1)
    assert counts.compute_errors(tiny, 1) == pytest.approx([hypot(0, 0.5)])


ROWS = "(len(leads) - rank)"
BROKEN = [
    ("covers", Mutant("the steps that rounding took missing", f"low + {ROWS} * step + up",
                      "low + up")),
    ("covers", Mutant("one of these steps missing", f"low + {ROWS} * step + up",
                      f"low + ({ROWS} - 1) * step + up")),
    ("covers", Mutant("each side with the tail of both", "2 * tail / (1 if", "4 * tail / (1 if")),
    ("covers", Mutant("a step too narrow below", "(low - down, low", "(low - down + step, low")),
    ("narrow", Mutant("noise that is one-sided", "2 * tail / (1 if", "tail / (1 if")),
    ("narrow", Mutant("a step too wide above", "* step + up)", "* step + up + step)")),
    ("covers at once", Mutant("one item for all", "if size is None else size", "if True else 1")),
    ("covers at once", Mutant("each side with the tail of both, at once", "(parameters, tail)\n",
                              "(parameters, 2 * tail)\n")),
    ("centred", Mutant("half a step missing", f"{ROWS} * _HALF", "0")),
    ("centred", Mutant("a whole step", f"{ROWS} * _HALF", ROWS)),
    ("centred", Mutant("one half for all gaps", f"{ROWS} * _HALF", "_HALF")),
    ("covariance", Mutant("the threshold's noise missing",
                          "Covariance = noise / 2 + step", "Covariance = step")),
    ("covariance", Mutant("the threshold's noise twice",
                          "Covariance = noise / 2 + step", "Covariance = noise + step")),
    ("covariance", Mutant("rounding that is independent", "(fewer + 1)", "fewer")),
    ("covariance", Mutant("errors without rounding", "hypot(noise, step",
                          "hypot(noise, 0")),
]  # fmt: skip
CHECKS = {
    "covers": lambda module: covers(module, at_once=False),
    # A correct one has fewer in one run of 10^10; a broken one covers 70% at most.
    "covers at once": lambda module: binom.cdf(count_covered(module), RELEASES, 0.8) >= 1e-10,
    "narrow": is_as_narrow_as_can_be,
    "centred": is_centred,
    "covariance": is_covariance,
}


@pytest.mark.mutant
@pytest.mark.parametrize(("check", "mutant"), BROKEN, ids=lambda each: getattr(each, "name", each))
def test_broken_counts_are_found(check: str, mutant: Mutant) -> None:
    assert not CHECKS[check](mutated(counts, mutant))
