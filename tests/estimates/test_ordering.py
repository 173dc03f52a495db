"""Numbers in the order of the ranks: the closest ones, and nothing else."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.display.sample_counts import FULL, REACHED
from tests.display.sample_estimates import CERTAIN, ESTIMATED, measured
from tests.display.sample_values import VALUED
from topgap import Estimates, ParameterError, Release, ReleaseError, TopK, estimate
from topgap.estimates import counts_in_order
from topgap.estimates.ordering import order_numbers

NUMBERS = st.lists(st.tuples(st.integers(-20, 20), st.integers(1, 5)), max_size=9)


def ordered(numbers: list[int], weights: list[int] | None = None) -> list[Fraction]:
    weights = [1] * len(numbers) if weights is None else weights
    return order_numbers([*map(Fraction, numbers)], [*map(Fraction, weights)])


@pytest.mark.parametrize(("numbers", "weights", "expected"), [
    ([], None, []), ([5], None, [5]), ([-5], None, [0]), ([3, 2, 1], None, [3, 2, 1]),
    ([1, 2, 3], None, [2, 2, 2]), ([1, 3], [3, 1], [Fraction(3, 2)] * 2),
    ([9, 3, 5, -2], None, [9, 4, 4, 0]), ([-4, 2], None, [0, 0]),
    ([9, 3, 5, 7], None, [9, 5, 5, 5]),
])  # fmt: skip
def test_known_cases(
    numbers: list[int], weights: list[int] | None, expected: list[Fraction]
) -> None:
    assert ordered(numbers, weights) == expected


@given(NUMBERS)
def test_it_is_in_order_idempotent_and_the_closest(pairs: list[tuple[int, int]]) -> None:
    """By the conditions of optimality: y − x makes no angle below 90° with any z − x."""
    numbers, weights = [number for number, _ in pairs], [weight for _, weight in pairs]
    found = ordered(numbers, weights)
    assert all(one >= other >= 0 for one, other in pairwise([*found, Fraction(0)]))
    assert order_numbers(found, [*map(Fraction, weights)]) == found
    if all(one >= other for one, other in pairwise([*numbers, 0])):
        assert found == numbers
    # The cone of such z is spanned by (1, …, 1, 0, …, 0); x itself is at a right angle.
    rest = [w * (y - x) for w, y, x in zip(weights, numbers, found, strict=True)]
    assert all(sum(rest[: end + 1]) <= 0 for end in range(len(rest)))
    assert sum(each * x for each, x in zip(rest, found, strict=True)) == 0


@pytest.mark.parametrize("made", ESTIMATED.values(), ids=ESTIMATED)
@pytest.mark.parametrize("level", ["0.5", "0.95"])
def test_intervals_hold_their_numbers_and_what_they_covered(made: Estimates, level: str) -> None:
    found = made.in_order(level)
    assert [each.item for each in found] == [*made.items]
    assert all(0 <= each.low <= each.value <= each.high for each in found)
    assert all(one.value >= other.value for one, other in pairwise(found))
    for each, (low, high) in zip(found, made.intervals(level), strict=True):
        assert each.low <= max(low, 0)
        assert each.high >= high


def test_what_is_in_order_stays_and_the_rest_is_pooled() -> None:
    assert [float(each.value) for each in CERTAIN.in_order()] == pytest.approx(CERTAIN.estimates)
    crossed = measured(Release(TopK(3, 1), None, [2, 2, 900], [*"abc"]), "1/4", [40, 70, 30])
    first, second, third = (each.value for each in crossed.in_order())
    assert first == second > third
    assert crossed.estimates[0] < first < crossed.estimates[1]
    with pytest.raises(ParameterError):
        crossed.in_order(1)


def test_a_measurement_of_less_noise_counts_for_more() -> None:
    release = Release(TopK(2, "1/1000"), None, [2, 900], [*"ab"])  # gaps that tell next to nothing
    made = estimate(release, [40, 70], variance=[1, 10**4])
    assert made.estimates[0] < made.estimates[1]
    pooled = made.in_order()[0].value
    assert abs(pooled - 40) < abs(pooled - 70)


def test_counts_and_values_are_at_least_zero() -> None:
    for release in VALUED.values():
        if len(release):
            found = counts_in_order(release)
            assert all(0 <= each.low <= each.value <= each.high for each in found)
    kept = counts_in_order(REACHED, "0.9")
    assert [(*each,) for each in kept] == [
        (each.item, each.value, each.low, each.high) for each in REACHED.counts("0.9")
    ]
    with pytest.raises(ReleaseError, match="no counts"):
        counts_in_order(FULL)
