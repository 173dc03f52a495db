"""Intervals cover as often as they say: with clear winners just so, near ties at least.

`make coverage` measures it on more kinds of data and with more releases.
"""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import topgap
from tests.checking.mutants import Mutant, mutated
from topgap import Release, TopK, estimate, select
from topgap.estimates import intervals, result
from topgap.estimates.noise import Noise
from topgap.selection import top_k_with_estimates

CLEAR = [10**6 - 10**4 * i for i in range(6)]
TIED_FOR_THE_LAST = [*CLEAR[:3], *[10**5] * 100]
TIED_PAIRS = [10**6, 10**6, 10**5, 10**5, 0]
RELEASES = 4_000
K = 4
WITHIN = Fraction(4, 5)
RNG = np.random.default_rng()  # for noise of others


def misses(counts: list[int], **how: Any) -> tuple[Any, Any]:
    """How many intervals lie above the truth, and how many below, for each rank."""
    answers = np.array(counts)
    low = np.zeros(K, dtype=int)
    high = np.zeros(K, dtype=int)
    for _ in range(RELEASES):
        made = topgap.top_k_with_estimates(answers, K, 1, monotonic=True)
        truth = answers[made.release.indices]
        ends = np.array(made.intervals(WITHIN, **how))
        low += truth < ends[:, 0]
        high += truth > ends[:, 1]
    return low, high


def uncovered_too_often(low: Any, high: Any, false_alarm: float) -> list[str]:
    """Ranks whose truth is missed more often than the level allows.

    Of independent releases, Binomial(n, p) miss at a rank, with p at most 1 − level if the interval
    covers. Its upper tail is cut at false_alarm/(number of ranks).
    """
    limit = false_alarm / len(low)
    return [
        f"rank {rank + 1}: {count} of {RELEASES}"
        for rank, count in enumerate(low + high)
        if binom.sf(count - 1, RELEASES, float(1 - WITHIN)) < limit
    ]


def not_as_wide_as_need_be(low: Any, high: Any, false_alarm: float) -> list[str]:
    """Ranks at which either side of the interval is missed too often or too rarely.

    Each side is missed with chance 1/10, or somewhat less for the half step that it is wider: the
    errors' density is below 1/β, β = 8, so that is by at most 0.05/8 < 0.007.
    """
    limit = false_alarm / (4 * len(low))
    found = []
    for side, counts in (("above", low), ("below", high)):
        for rank, count in enumerate(counts):
            if binom.sf(count - 1, RELEASES, 0.1) < limit:
                found.append(f"rank {rank + 1}: {count} of {RELEASES} lie {side} the truth")
            if binom.cdf(count, RELEASES, 0.093) < limit:
                found.append(f"rank {rank + 1}: only {count} of {RELEASES} lie {side} the truth")
    return found


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_with_clear_winners_each_side_is_missed_as_often_as_it_should(false_alarm: float) -> None:
    assert not_as_wide_as_need_be(*misses(CLEAR), false_alarm) == []


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_so_it_is_for_the_measurements_alone_whoever_won(false_alarm: float) -> None:
    seen = misses(TIED_FOR_THE_LAST, measured_only=True)
    assert not_as_wide_as_need_be(*seen, false_alarm) == []


@pytest.mark.deep
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("counts", [TIED_FOR_THE_LAST, TIED_PAIRS], ids=["last", "pairs"])
def test_near_ties_intervals_cover(counts: list[int], false_alarm: float) -> None:
    assert uncovered_too_often(*misses(counts), false_alarm) == []


def of_a_clear_first(module: Any) -> tuple[Any, Any]:
    """One is clear and measured badly; ten more are tied, of which the first is well known."""
    answers = np.array([10**6, *[10**3] * 10, -(10**6)])
    parameters = TopK(11, 1, monotonic=True)
    noise = Noise("normal", (Fraction(2_000), Fraction(2), *[Fraction(2_000)] * 9))
    spreads = np.sqrt([float(each) for each in noise.variances])
    low = np.zeros(1, dtype=int)
    for _ in range(RELEASES):
        release = select(parameters, answers)
        truth = answers[release.indices]
        drawn = tuple(map(Fraction, truth + spreads * RNG.normal(size=11)))
        (ends, *_) = module.Estimates(release, drawn, noise).intervals(WITHIN)
        low += not ends[0] <= truth[0] <= ends[1]
    return low, np.zeros(1, dtype=int)


@pytest.mark.deep
@pytest.mark.statistical(false_alarm=1e-9)
def test_a_clear_winner_is_covered_though_others_tie_and_were_measured_unequally(
    false_alarm: float,
) -> None:
    assert uncovered_too_often(*of_a_clear_first(result), false_alarm) == []


@pytest.mark.deep
def test_it_would_not_be_if_only_its_neighbours_counted() -> None:
    careless = Mutant("the others' order left aside", "and not self._errors.are_exchangeable",
                      "and False")  # fmt: skip
    assert uncovered_too_often(*of_a_clear_first(mutated(result, careless)), 1e-9) != []


# Each moves what is expected of a side by 0.04 or more, of a standard deviation of 0.005.
MUTANTS = [
    Mutant("the selection's noise forgotten",
           "selection * self.exponential, variance", "0 * selection, variance"),
    Mutant("the measurement's own noise forgotten",
           "measurements * np.array(self.laplace)", "np.delete(measurements, i) * self.laplace[0]"),
    Mutant("a tail for both sides", "self._ends(rank, tail)", "self._ends(rank, 2 * tail)"),
    Mutant("half a tail", "self._ends(rank, tail)", "self._ends(rank, tail / 2)"),
    Mutant("the spread of a measurement", "np.interp(from_either_end, ranks, side) * spreads",
           "np.interp(from_either_end, ranks, side) * np.sqrt(self.variances)"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_broken_intervals_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result, "find_errors", mutated(intervals, mutant).find_errors)
    assert not_as_wide_as_need_be(*misses(CLEAR), 1e-9) != []


@pytest.mark.deep
@pytest.mark.parametrize(
    "mutant",
    [
        Mutant("never in doubt", "if doubt else both", "if False else both"),
        Mutant("the last place left aside", "if small[-1] or (", "if False or ("),
    ],
    ids=lambda mutant: mutant.name,
)
def test_intervals_without_doubt_are_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last of those tied is missed by half of its intervals then."""
    broken = mutated(result, mutant).Estimates
    monkeypatch.setattr(top_k_with_estimates, "Estimates", broken)
    assert uncovered_too_often(*misses(TIED_FOR_THE_LAST), 1e-9) != []


def test_intervals_lean_as_the_selections_noise_does() -> None:
    """Of a thousand winners the mean is well known, and what is left is exponential noise."""
    k = 1_000
    release = Release(TopK(k, k, monotonic=True), [*range(k)], [10**6] * k)
    made = estimate(release, [-(10**5) * i for i in range(k)], variance=100, noise="normal")
    low, high = made.intervals("0.99")[k // 2]
    middle = made.estimates[k // 2]
    # The noise is seldom 1 below its mean 1, which is all that it can be, and 4 above it at times.
    assert middle - low == pytest.approx(4.3, abs=0.6)
    assert high - middle == pytest.approx(1.3, abs=0.5)


@pytest.mark.parametrize(("k", "epsilon"), [(2, 1), (7, 20), (40, 100), (40, 10_000)])
def test_ends_between_ranks_are_nearly_what_they_would_be_if_reckoned(k: int, epsilon: int) -> None:
    """With a resolution so coarse that rounding shows: from much more noise than that to less."""
    parameters = TopK(k, epsilon, resolution=1, monotonic=True)
    errors = intervals.find_errors(parameters, Noise("normal", (Fraction(2),) * k))
    for i, ends in enumerate(errors.ends(Fraction(1, 100))):
        assert ends == pytest.approx(errors._ends(i, 0.01), rel=5e-3)
