"""What an audit compares with the law: its probabilities are right, and cover what can come."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from tests.auditing.audited_functions import ours
from tests.checking.mutants import Mutant, mutated
from topgap import TopK, audit, law
from topgap.auditing import Neighbours
from topgap.auditing.cases.default_cases import FULL_CASES
from topgap.auditing.checks import law_test
from topgap.auditing.checks.cells import Cell
from topgap.auditing.observing.gap_bins import bin_end, make_gap_bins
from topgap.auditing.probability import event_probability
from topgap.law import Bounds, exp_minus

TWO = TopK(2, 1, resolution="1/2")
ONE = TopK(1, 1, monotonic=True)
ANSWERS = (0, 3, 1, 1)
NARROW = Fraction(1, 2**80)


def split(order: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    losers = [i for i in range(len(ANSWERS)) if i not in order]
    return tuple(2 * ANSWERS[i] for i in order), tuple(2 * ANSWERS[i] for i in losers)


def agree(one: Bounds, other: Bounds) -> bool:
    return one.low <= other.high and other.low <= one.high and one.high - one.low < NARROW


def is_the_law(module: Any) -> bool:
    """Whether leading and gaps in ranges have the probabilities that `topgap.law` computes."""
    for order in permutations(range(len(ANSWERS)), 2):
        winners, losers = split(order)
        one = module.bound_lead_probability(winners, losers, (0, 0), TWO.rate)
        if not agree(one, law.top_k(ANSWERS, TWO, order)):
            return False
        for gaps in ((0, 0), (1, 0), (0, 2), (4, 3)):
            pairs = [(i, gap * TWO.resolution) for i, gap in zip(order, gaps, strict=True)]
            box = [(gap, gap + 1) for gap in gaps]
            one = module.bound_probability(winners, losers, box, TWO.rate)
            if not agree(one, law.gap_top_k(ANSWERS, TWO, pairs)):
                return False
    return True


def test_leading_has_the_probability_that_the_law_computes() -> None:
    assert is_the_law(event_probability)


@pytest.mark.parametrize("mutant", [
    Mutant("one gap for all", "by += gap", "by = gap"),
    Mutant("raised", "lowered.append(winner - by)", "lowered.append(winner + by)"),
    Mutant("no corners", "each > first)})", "each > first + 10**9)})"),
    Mutant("above alone", "return here if piece == last else", "return here if True else"),
    Mutant("signs", "if prod(sign for _, sign in chosen) > 0", "if chosen[0][1] > 0"),
    Mutant("wide", "_BITS + 2 * len(losers)", "40"),
], ids=lambda each: each.name)  # fmt: skip
def test_wrong_probabilities_are_found(mutant: Mutant) -> None:
    assert not is_the_law(mutated(event_probability, mutant))


def test_a_range_is_the_sum_of_its_steps() -> None:
    winners, losers = split((1, 2))
    for first, end in ((0, 3), (2, 6)):
        whole = event_probability.bound_probability(
            winners, losers, [(first, end), (1, 3)], TWO.rate
        )
        parts = [
            law.gap_top_k(ANSWERS, TWO, [(1, Fraction(a, 2)), (2, Fraction(b, 2))])
            for a, b in product(range(first, end), range(1, 3))
        ]
        total = Bounds(sum(p.low for p in parts), sum(p.high for p in parts))  # type: ignore[arg-type]
        assert agree(whole, total)


def test_distances_and_gaps_may_be_of_any_size() -> None:
    """Of two items, x^|a − b|/2 is the probability that the lower one wins."""
    rate = Fraction(1, 2**54)
    one = event_probability.bound_lead_probability((0,), (2**54,), (2**54,), rate)
    half = exp_minus(Fraction(2), 128)
    assert agree(one, Bounds(half.low / 2, half.high / 2))
    far = event_probability.bound_lead_probability((0,), (10**50,), (0,), Fraction(1))
    assert far.low == 0 < far.high < Fraction(1, 2**90)


@pytest.mark.slow
@pytest.mark.parametrize("case", FULL_CASES[::6], ids=lambda case: f"{case.parameters.to_dict()}")
def test_the_cells_cover_everything_and_none_has_much(case: Neighbours) -> None:
    bins = make_gap_bins(case)
    for side in case.sides:
        probabilities: dict[str, list[Cell]] = {}
        for cell in law_test.make_cells(case, side, gaps=True):
            probabilities.setdefault(cell.feature, []).append(cell)
        for feature, some in probabilities.items():
            if feature.startswith("last bits"):
                continue
            assert agree(
                Bounds(sum(c.bounds.low for c in some), sum(c.bounds.high for c in some)),  # type: ignore[arg-type]
                Bounds(Fraction(1), Fraction(1)),
            )
        for i, edges in enumerate(bins.law):
            for first in edges:
                inside = [
                    cell.bounds.high
                    for cell in probabilities[f"items and size of gap {i + 1}"]
                    if cell.key[1] == (first,)
                ]
                if bin_end(first, edges) != first + 1:
                    assert sum(inside) < 0.45


@pytest.mark.parametrize("i", [0, 1])
def test_large_gaps_fall_by_the_same_factor_from_step_to_step(i: int) -> None:
    """What the last bits of large gaps rest on: P[gap i ≥ t] = C·x^(it) beyond all answers."""
    x = exp_minus(TWO.rate * (i + 1), 128)
    for order in ((0, 2), (1, 3), (2, 1)):
        here, there = (
            event_probability.bound_lead_probability(
                *split(order), tuple(t * (j == i) for j in range(2)), TWO.rate
            )
            for t in (6, 7)
        )
        assert agree(there, Bounds(here.low * x.low, here.high * x.high))


def test_the_last_bits_of_large_gaps_have_the_law() -> None:
    case = Neighbours((0, 3), (0, 2), TopK(1, 2, resolution=1, monotonic=True))
    cells = law_test.make_cells(case, case.answers, gaps=True)
    last = [cell.bounds for cell in cells if cell.feature == "last bits of gap 1"]
    for rest, bounds in enumerate(last):
        low = high = Fraction(0)
        for winner, gap in product(range(2), range(8 + rest, 48, 8)):
            one = law.gap_top_k(case.answers, case.parameters, [(winner, gap)])
            low, high = low + one.low, high + one.high
        beyond = Fraction(1, 10**30)  # e^−2 to the power of 37 and more
        assert low <= bounds.high
        assert bounds.low <= high + beyond


# --- What only shows in large gaps


def clipped(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction]]:
    release, most = ours(answers, parameters), 12 * parameters.resolution
    return [
        (i, min(g, most)) for i, g in zip(release.indices.tolist(), release.gaps or (), strict=True)
    ]


def with_a_parity(answers: Sequence[int], parameters: TopK) -> list[tuple[int, Fraction]]:
    release = ours(answers, parameters)
    units = [] if release.gap_units is None else release.gap_units.tolist()
    units = [gap if gap < 64 else gap // 2 * 2 + sum(answers) % 2 for gap in units]
    return [
        (i, g * parameters.resolution) for i, g in zip(release.indices.tolist(), units, strict=True)
    ]


# Half of the gaps below are of 12 steps and more, and a third of 64 and more: each is found by a
# count that is a hundred standard deviations off, or by an event that never comes on one side.
@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-15)
def test_what_is_wrong_with_large_gaps_is_found() -> None:
    far = Neighbours((1000, 0), (999, 0), ONE)
    (found,) = audit(lambda *_: [(0, 5)], cases=[far], releases=1_000).mechanisms
    assert found.law_status == "violated"
    tenths = Neighbours((0, 0), (1, 0), TopK(1, "1/10", monotonic=True))
    (found,) = audit(clipped, cases=[tenths], releases=2_000).mechanisms
    assert found.law_violated
    (found,) = audit(with_a_parity, cases=[tenths], releases=2_000).mechanisms
    assert found.law_violated
    assert found.privacy_violated
    assert found.strongest_bound.feature == "last bits of gap 1"


@pytest.mark.deep
@pytest.mark.statistical(false_alarm=1e-11)
def test_what_is_right_is_clean_far_apart_and_with_many_items() -> None:
    far = Neighbours((1000, 0, 5), (999, 0, 5), TopK(2, "1/100", monotonic=True))
    many = Neighbours((0,) * 60, (1,) * 60, ONE)
    huge = Neighbours((10**30, 0), (10**30, 1), TopK(1, Fraction(1, 10**28), resolution=1))
    made = audit(ours, cases=[far, many, huge], releases=3_000, failure="1e-11")
    assert made.as_expected
    assert made.mechanisms[0].law_status == "kept"


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-15)  # every gap of 1,000 is even on one side
def test_rounded_floats_do_not_have_the_law() -> None:
    from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS

    (rounded,) = (each for each in BROKEN_MECHANISMS if each.name == "floats, gaps rounded")
    (found,) = audit(rounded.release, cases=rounded.shown_on, releases=4_000).mechanisms
    assert found.law_violated
