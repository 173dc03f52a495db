"""Runs of a size that nobody can write out, by closed forms."""

from collections import Counter
from fractions import Fraction
from functools import partial
from math import exp, expm1, log

import numpy as np
import pytest

from tests.checking.cached_law import exp_minus
from tests.checking.frequencies import misfits
from topgap import TopK
from topgap.law import Bounds

SIZES = [2**64, 2**200, 2**4096]
NONE_LISTED = np.array([], dtype=np.int64)
RELEASES = 4_000


class Asked:
    """No item is listed; which ranks were asked about is remembered."""

    def __init__(self) -> None:
        self.ranks: list[int] = []

    def find_listed(self, run: int, ranks: list[bytes]) -> list[int]:
        assert run == 0
        self.ranks += map(int.from_bytes, ranks)
        return []


def geometric(rate: Fraction, steps: int) -> Bounds:
    """P(g) = e^−(rate·g) − e^−(rate·(g+1))."""
    reached, passed = exp_minus(rate * steps, 96), exp_minus(rate * (steps + 1), 96)
    return Bounds(reached.low - passed.high, reached.high - passed.low)


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"2^{size.bit_length() - 1}")
def test_gaps_of_a_run_are_geometric_and_its_ranks_uniform(size: int, false_alarm: float) -> None:
    """By Rényi the j-th gap of equal items is exponential with j times the rate, and independent.

    Five counts are looked at, each with a fifth of the false alarms.
    """
    k = 3
    parameters = TopK(k, 3, resolution=1)  # ρ = 1/2
    kernel = parameters.kernel
    assert kernel is not None
    gaps: list[Counter[int]] = [Counter() for _ in range(k)]
    ranks: Counter[int] = Counter()
    larger: Counter[tuple[bool, ...]] = Counter()
    for _ in range(RELEASES):
        asked = Asked()
        indices, units = kernel.release_with_runs(
            NONE_LISTED,
            runs=[(0, size, 0)],
            find_listed=asked.find_listed,
            in_steps=True,
            threads=1,
        )
        items = [asked.ranks[index] for index in np.frombuffer(indices, dtype=np.int64)]
        assert isinstance(units, bytes)
        drawn = np.frombuffer(units, dtype=np.int64).tolist()
        for seen, gap in zip(gaps, drawn, strict=True):
            seen[gap] += 1
        larger[tuple(gap > 0 for gap in drawn)] += 1
        assert len({*items}) == k
        ranks[8 * items[0] // size] += 1
    alarm = false_alarm / 5
    for j, seen in enumerate(gaps, start=1):
        rate = j * parameters.rate
        assert misfits(seen, [*range(8)], partial(geometric, rate), alarm) == []

    def all_at_once(pattern: tuple[bool, ...]) -> Bounds:
        low = high = Fraction(1)
        for j, above in enumerate(pattern, start=1):
            zero = geometric(j * parameters.rate, 0)
            each = Bounds(1 - zero.high, 1 - zero.low) if above else zero
            low, high = low * each.low, high * each.high
        return Bounds(low, high)

    assert misfits(larger, [*larger], all_at_once, alarm) == []
    assert (
        misfits(ranks, [*range(8)], lambda _: Bounds(Fraction(1, 8), Fraction(1, 8)), alarm) == []
    )


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"2^{size.bit_length() - 1}")
@pytest.mark.parametrize("is_sentinel", [False, True], ids=["item", "sentinel"])
def test_one_above_a_run_comes_first_as_often_as_in_the_list_written_out(
    size: int, is_sentinel: bool, false_alarm: float
) -> None:
    """Of N items with 0 and one with c, or a sentinel at c, this one comes first by a closed form.

    Its probability is (1 − (1 − t)^(N+1))/((N+1)t). Here t = e^−(ρc), its noise is −ln(u)/ρ for a
    uniform u, and all N others stay below it with probability (1 − tu)^N. For a large N this is
    (1 − e^−x)/x, where x = Nt, but for a relative error of about 1/N. The float has one of less
    than 1e-9, since c·ρ is below 2^12.
    """
    parameters = TopK(1, 1, resolution=1)  # ρ = 1/2
    kernel = parameters.kernel
    assert kernel is not None
    count = round(2 * log(size))  # about as many as the best of the run has
    x = exp(log(size) - count / 2)
    wins = -expm1(-x) / x
    bounds = Bounds(Fraction(wins * (1 - 1e-9)), Fraction(wins * (1 + 1e-9)))
    answers = NONE_LISTED if is_sentinel else np.array([count], dtype=np.int64)
    won: Counter[bool] = Counter()
    for _ in range(RELEASES):
        indices, _ = kernel.release_with_runs(
            answers,
            runs=[(0, size, 0)],
            find_listed=Asked().find_listed,
            in_steps=True,
            threads=1,
            sentinel=count if is_sentinel else None,
        )
        # Nobody is named if the sentinel comes first.
        first = np.frombuffer(indices, dtype=np.int64).tolist()
        won[first == ([] if is_sentinel else [0])] += 1
    assert 0.1 < wins < 0.9
    assert misfits(won, [True], lambda _: bounds, false_alarm) == []


@pytest.mark.statistical(false_alarm=1e-9)
def test_a_gap_of_another_rate_would_be_seen(false_alarm: float) -> None:
    parameters = TopK(3, 3, resolution=1)
    kernel = parameters.kernel
    assert kernel is not None
    seen: Counter[int] = Counter()
    for _ in range(RELEASES):
        _, units = kernel.release_with_runs(
            NONE_LISTED,
            runs=[(0, 2**200, 0)],
            find_listed=Asked().find_listed,
            in_steps=True,
            threads=1,
        )
        assert isinstance(units, bytes)
        seen[int(np.frombuffer(units, dtype=np.int64)[0])] += 1
    for factor in (Fraction(4, 5), Fraction(5, 4)):
        rate = factor * parameters.rate
        assert misfits(seen, [*range(8)], partial(geometric, rate), false_alarm) != []
