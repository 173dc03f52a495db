"""What an audit compares with the law where noise is Laplace: ranges of gaps and of values."""

from fractions import Fraction
from itertools import permutations, product
from typing import Any

import pytest

from tests.checking import cached_law as law
from tests.checking.mutants import Mutant, mutated
from topgap import TopK
from topgap.auditing import Neighbours
from topgap.auditing.cases.default_cases import FEW_ITEMS_CASES
from topgap.auditing.checks import law_test
from topgap.auditing.observing.observables import MODULUS
from topgap.auditing.probability import laplace_probability
from topgap.auditing.probability.laplace_probability import Box
from topgap.law import Bounds

NARROW = Fraction(1, 10**10)
ANY = (None, None)
FROM_0 = (0, None)
THREE = TopK(3, 1, monotonic=True, items_per_person=1)
TWO = TopK(2, 1, resolution="1/2", monotonic=True, items_per_person=1)  # rate 1/2
ONE = TopK(1, 1, monotonic=True, items_per_person=1, noise="laplace")


def agree(one: Bounds, other: Bounds) -> bool:
    return one.low <= other.high and other.low <= one.high and one.high - one.low < NARROW


def is_the_law(module: Any, answers: tuple[int, ...], parameters: TopK) -> bool:
    """Whether single values and gaps have the probabilities that `topgap.law` computes."""
    k, unit = parameters.k, parameters.resolution
    values = module.NoisyValues(answers, parameters.rate)
    for order in permutations(range(len(answers)), k):
        winners = tuple(answers[i] for i in order)
        losers = tuple(answers[i] for i in range(len(answers)) if i not in order)
        for levels, gap in product(product(range(-1, 3), repeat=k), (None, 0, 1, 3)):
            gaps = [FROM_0] * (k - 1) + [FROM_0 if gap is None else (gap, gap + 1)]
            box = Box(tuple(gaps), tuple((level, level + 1) for level in levels))
            exact = law.laplace_top_k(
                [answer * unit for answer in answers],
                parameters,
                [(i, level * unit) for i, level in zip(order, levels, strict=True)],
                None if gap is None else gap * unit,  # type: ignore[arg-type]
            )
            if not agree(values.bound(winners, losers, box), exact):
                return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("answers", "parameters"), [
    ((0, 1), ONE), ((1, 0, 0), TWO), ((0, 3, 1, 1), TWO),
    pytest.param((0, 0, 0, 1), THREE, marks=pytest.mark.deep),
], ids=str)  # fmt: skip
def test_single_values_have_the_probability_of_the_law(
    answers: tuple[int, ...], parameters: TopK
) -> None:
    assert is_the_law(laplace_probability, answers, parameters)


@pytest.mark.parametrize("mutant", [
    Mutant("losers win ties", "if t > 0", "if t > 9"),
    Mutant("winners win ties", "(factorial(t) / factorial(m + t))", "1"),
    Mutant("no ties of winners", "(mass * after[m] if first == 0 else 0)", "0"),
    Mutant("one order of ties", "larger / factorial(m) + (mass", "larger + (mass"),
    Mutant("a step off", "delayed[steps:] = along[: len(along) - steps]",
           "delayed[steps - 1 :] = along[: len(along) - steps + 1]"),
    Mutant("values a step off", "mask[: min(max(first - self._first, 0)",
           "mask[: min(max(first - self._first + 1, 0)"),
    Mutant("one-sided", "np.array([*mass[:0:-1], *mass])",
           "np.array([*[0 * m for m in mass[:0:-1]], *mass])"),
    Mutant("below is up to", "below = [tails[1 - d]", "below = [tails[-d]"),
    Mutant("one answer for all", "enumerate(winners)\n", "enumerate(winners[:1] * k)\n"),
], ids=lambda each: each.name)  # fmt: skip
def test_wrong_probabilities_are_found(mutant: Mutant) -> None:
    wrong = mutated(laplace_probability, mutant)
    cases = (((0, 1), ONE), ((1, 0, 0), TWO), ((0, 0, 0, 1), THREE))
    assert not all(is_the_law(wrong, answers, parameters) for answers, parameters in cases)


def is_half(module: Any) -> bool:
    """Whether each of two equal items wins with probability 1/2, whatever its value."""
    everything = module.NoisyValues((0, 0), ONE.rate).bound((0,), (0,), Box((FROM_0,), (ANY,)))
    return agree(everything, Bounds(Fraction(1, 2), Fraction(1, 2)))


def test_a_grid_that_is_too_short_is_found() -> None:
    assert is_half(laplace_probability)
    assert not is_half(mutated(laplace_probability, Mutant("short", "_FAR = 30", "_FAR = 20")))


def test_a_range_is_the_sum_of_its_steps() -> None:
    answers, winners, losers = (0, 1, 2, 2), (2, 1), (0, 2)
    values = laplace_probability.NoisyValues(answers, TWO.rate)

    def bound(gaps: Any, ranges: Any, remainder: Any = None) -> Bounds:
        return values.bound(winners, losers, Box(gaps, ranges, remainder))

    def total(parts: list[Bounds]) -> Bounds:
        return Bounds(sum(p.low for p in parts), sum(p.high for p in parts))  # type: ignore[arg-type]

    whole = bound(((1, 4), (0, 2)), ((-1, 4), ANY))
    parts = [
        bound(((a, a + 1), (b, b + 1)), ((v, v + 1), ANY))
        for a, b, v in product(range(1, 4), range(2), range(-1, 4))
    ]
    assert agree(whole, total(parts))
    everything = bound((FROM_0, FROM_0), (ANY, ANY))
    for i in range(2):
        left = [bound((FROM_0, FROM_0), (ANY, ANY), (i, r, MODULUS)) for r in range(MODULUS)]
        assert agree(everything, total(left))
        split = [bound((FROM_0, FROM_0), (ANY,) * i + (each,) + (ANY,) * (1 - i))
                 for each in ((None, -3), (-3, 0), (0, None))]  # fmt: skip
        assert agree(everything, total(split))


def test_what_a_value_leaves_is_looked_at_step_by_step() -> None:
    values = laplace_probability.NoisyValues((0, 0), ONE.rate)
    for left in range(MODULUS):
        box = Box((FROM_0,), (ANY,), (0, left, MODULUS))
        exact = [
            law.laplace_top_k((0, 0), ONE, [(0, value)], None)
            for value in range(left - 5 * MODULUS, left + 6 * MODULUS, MODULUS)
        ]
        beyond = Fraction(1, 10**13)  # e^−33 and less
        bounds = values.bound((0,), (0,), box)
        assert bounds.low <= sum(each.high for each in exact) + beyond
        assert sum(each.low for each in exact) <= bounds.high


def test_ranges_beyond_the_grid_are_empty() -> None:
    values = laplace_probability.NoisyValues((0, 0), ONE.rate)
    for each in ((10**30, None), (None, -(10**30)), (10**9, 10**9 + 1), (-(10**9), -(10**8))):
        assert values.bound((0,), (0,), Box((FROM_0,), (each,))).high < NARROW
    assert values.bound((0,), (0,), Box(((10**30, None),), (ANY,))).high < NARROW
    half = values.bound((0,), (0,), Box(((0, 10**30),), ((-(10**30), 10**30),)))
    assert agree(half, Bounds(Fraction(1, 2), Fraction(1, 2)))


@pytest.mark.slow
@pytest.mark.parametrize("case", FEW_ITEMS_CASES[::5], ids=lambda case: f"{case.parameters!r}")
def test_the_cells_cover_everything(case: Neighbours) -> None:
    for side in case.sides:
        cells = law_test.make_cells(case, side, gaps=True)
        features = {cell.feature for cell in cells}
        assert {"items", "items and value 1", "last bits of value 1"} <= features
        for feature in features:
            some = [cell for cell in cells if cell.feature == feature]
            assert len({cell.key for cell in some}) == len({cell.said for cell in some})
            low, high = (
                sum((bound for bound in side), Fraction(0))
                for side in zip(*(cell.bounds for cell in some), strict=True)
            )
            assert low <= 1 <= high
            assert high - low < Fraction(1, 10**6)


@pytest.mark.slow
@pytest.mark.parametrize("gaps", [True, False])
def test_the_tails_are_counted_without_the_law(gaps: bool) -> None:
    for case in (*FEW_ITEMS_CASES[:4], FEW_ITEMS_CASES[-1]):
        cells = [len(law_test.make_cells(case, side, gaps=gaps)) for side in case.sides]
        assert law_test.count_tails(case, gaps=gaps) == 2 * sum(cells) > 0


def test_what_takes_too_long_is_not_looked_at() -> None:
    faint = TopK(2, "1/10000", monotonic=True, items_per_person=1)
    case = Neighbours((0, 0, 0), (1, 0, 0), faint)
    assert law_test.make_cells(case, case.answers, gaps=True) == ()
    assert law_test.count_tails(case, gaps=True) == 0
