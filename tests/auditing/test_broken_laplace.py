"""How each broken mechanism with Laplace noise fails, exactly; and that it fails in this way.

With x = 1/2 and L = Δ = 1, e^ε is 1/x = 2, and all probabilities are exact fractions.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, inf
from typing import Any

import pytest

from tests.auditing.plain_laplace import plain_laplace
from tests.checking.frequencies import misfits
from tests.law.enumeration import REACH, Enumerated, Ties, enumerate_outcomes, masses
from topgap import TopK, law
from topgap.auditing.cases.neighbours import read_cases
from topgap.auditing.mechanisms.broken_laplace import BROKEN_LAPLACE
from topgap.auditing.mechanisms.broken_mechanisms import BROKEN_MECHANISMS
from topgap.law import Bounds, exp_minus

Answers = tuple[int, ...]
Noise = dict[float, Fraction]
Outcome = tuple[tuple[tuple[int, int], ...], int]
HALF = Fraction(1, 2)
ONE = TopK(1, 1, monotonic=True, items_per_person=1, noise="laplace")
TWO = TopK(2, 1, monotonic=True, items_per_person=1)


def one_sided(x: Fraction) -> Noise:
    """|X|: 0 is as likely as it was, and all other sizes have the probability of both signs."""
    both = masses(x)
    found = {d: p * (1 if d == 0 else 2) for d, p in both.items() if 0 <= d < inf}
    return found | {inf: 1 - sum(found.values(), Fraction(0))}


def zero_twice(x: Fraction) -> Noise:
    """(1 − x)·x^|d|/2 for both signs, of which 0 has two."""
    found = {
        float(d): (1 - x) * x ** abs(d) / (1 if d == 0 else 2) for d in range(-REACH, REACH + 1)
    }
    beyond = (1 - sum(found.values(), Fraction(0))) / 2
    return found | {-inf: beyond, inf: beyond}


def outcomes(one: Answers, other: Answers, k: int) -> Iterator[Outcome]:
    """Those for which enumeration is exact on both data sets."""
    least, most = max(*one, *other) - REACH, min(*one, *other) + REACH
    for items in product(range(len(one)), repeat=k):
        for values in product(range(least, most + 1), repeat=k):
            pairs = tuple(zip(items, values, strict=True))
            for gap in range(values[-1] - least + 1):
                yield pairs, gap


def largest_ratio(
    one: Answers, other: Answers, k: int, noise: Noise, ties: Ties = "uniform"
) -> float | Fraction:
    """Of the probability of an outcome on one data set to that on the other."""
    here, there = (enumerate_outcomes(answers, k, noise, ties) for answers in (one, other))
    ratios: list[float | Fraction] = [
        here[each] / there[each] if each in there else inf
        for each in outcomes(one, other, k)
        if here.get(each, 0) > 0
    ]
    return max(ratios)


@pytest.mark.parametrize(("one", "other"), [((0, 0), (1, 0)), ((1, 0), (0, 0))])
def test_zero_twice_loses_twice_epsilon_and_one_sided_noise_everything(
    one: Answers, other: Answers
) -> None:
    """A step more or less halves the mass of noise, and once more where it leaves or reaches 0.

    And where no noise is below 0, a value below its answer is impossible.
    """
    assert largest_ratio(one, other, 1, masses(HALF)) == 2
    assert largest_ratio(one, other, 1, zero_twice(HALF)) == 4
    assert largest_ratio((0, 0), (1, 0), 1, one_sided(HALF)) == inf


@pytest.mark.slow
@pytest.mark.parametrize(("n", "k"), [
    (2, 1), *(pytest.param(3, k, marks=pytest.mark.deep) for k in (1, 2)),
])  # fmt: skip
def test_ties_by_index_keep_epsilon_and_ties_by_true_order_do_not(n: int, k: int) -> None:
    """Where all noisy answers could be released, any rule of ties that is public may follow."""
    worst: dict[Ties, float | Fraction] = {"uniform": 0, "index": 0, "answer": 0}
    for answers, moved in product(product(range(2), repeat=n), range(n)):
        other = tuple(answer + (i == moved) for i, answer in enumerate(answers))
        for one, another, ties in product((answers, other), (answers, other), worst):
            if one != another:
                ratio = largest_ratio(one, another, k, masses(HALF), ties)
                worst[ties] = max(worst[ties], ratio)
    assert worst == {"uniform": 2, "index": 2, "answer": inf}


def test_the_noise_for_one_item_loses_twice_epsilon() -> None:
    ((here, there, parameters),) = shown_on("Laplace, noise for one item")
    wrong = TopK(3, 1, monotonic=True, items_per_person=1)
    assert wrong.rate == 2 * parameters.rate
    top = [(0, 1), (1, 1), (2, 0)]
    rare, likely = (law.laplace_top_k(answers, wrong, top) for answers in (here, there))
    assert float(likely.low / rare.high) == pytest.approx(exp(2))


@pytest.mark.deep
def test_values_of_other_noise_lose_nearly_twice_epsilon() -> None:
    ((here, there, parameters),) = shown_on("Laplace, values of other noise")
    likely, rare = (other_noise(each, parameters)(((0, 2),), 2).low for each in (here, there))
    assert exp(1.9) < float(likely / rare) < exp(2)


# What is shown is what is wrong, and nothing else: each has the law that is computed here.


def shown_on(name: str) -> Any:
    return next(each.shown_on for each in BROKEN_LAPLACE if each.name == name)


Law = Callable[[tuple[tuple[int, int], ...], int], Bounds]


def of_enumeration(found: Enumerated) -> Law:
    def bound(pairs: tuple[tuple[int, int], ...], gap: int) -> Bounds:
        # e^−ρ is put in as a rational number that is off by less than 2^−128.
        probability = found.get((pairs, gap), Fraction(0))
        return Bounds(probability - Fraction(1, 10**12), probability + Fraction(1, 10**12))

    return bound


def other_noise(answers: Answers, parameters: TopK) -> Law:
    """The item and the gap, whatever the first value; and fresh noise for that value."""
    x = exp_minus(parameters.rate, 128).low

    @cache
    def of_item(item: int, gap: int) -> Fraction:
        # Values more than 40 steps away have a probability below e^−40.
        each = [
            law.laplace_top_k(answers, parameters, [(item, value)], last_gap=gap).low
            for value in range(-40, 42)
        ]
        return sum(each, Fraction(0))

    def bound(pairs: tuple[tuple[int, int], ...], gap: int) -> Bounds:
        ((item, value),) = pairs
        fresh = x ** abs(value - answers[item]) * (1 - x) / (1 + x)
        probability = of_item(item, gap) * fresh
        return Bounds(probability - Fraction(1, 10**12), probability + Fraction(1, 10**12))

    return bound


def near(parameters: TopK) -> Fraction:
    return exp_minus(parameters.rate, 128).low


EXACT: list[tuple[str, Answers, TopK, Callable[[Answers, TopK], Law]]] = [
    ("Laplace, noise for one item", (0, 1, 0), TopK(1, 1, monotonic=True, items_per_person=2,
     noise="laplace"), lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, masses(near(p)**2)))),
    ("Laplace, one-sided", (0, 0, 1), TWO,
     lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, one_sided(near(p))))),
    ("Laplace, zero twice", (0, 0, 1), TWO,
     lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, zero_twice(near(p))))),
    ("Laplace, values of other noise", (0, 0, 1), ONE, other_noise),
    ("Laplace, ties by index", (0, 0, 1), TWO,
     lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, masses(near(p)), "index"))),
    ("Laplace, ties by true order", (0, 0, 1), TWO,
     lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, masses(near(p)), "answer"))),
    ("plain", (0, 0, 1), TWO,
     lambda a, p: of_enumeration(enumerate_outcomes(a, p.k, masses(near(p))))),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "answers", "parameters", "exact"), EXACT, ids=[name for name, *_ in EXACT]
)
@pytest.mark.statistical(false_alarm=2e-9)
def test_it_has_the_law_that_is_said(
    name: str,
    answers: Answers,
    parameters: TopK,
    exact: Callable[[Answers, TopK], Law],
    false_alarm: float,
) -> None:
    # Union bound over the cells, see `misfits`. What is broken must be found not to fit the true
    # law: some cell is off by more than twenty standard deviations, and the cut lies below seven.
    releases: dict[str, Any] = {each.name: each.release for each in BROKEN_LAPLACE}
    release = (releases | {"plain": plain_laplace})[name]
    seen = Counter(_read(release(answers, parameters)) for _ in range(20_000))
    bound = exact(answers, parameters)
    cells = [*outcomes(answers, answers, parameters.k)]
    assert misfits(seen, cells, lambda cell: bound(*cell), false_alarm / 2) == []
    true = of_enumeration(enumerate_outcomes(answers, parameters.k, masses(near(parameters))))
    fits = misfits(seen, cells, lambda cell: true(*cell), false_alarm / 2) == []
    assert fits is (name == "plain")


def _read(released: list[tuple[int, Fraction, Fraction]]) -> Outcome:
    return tuple((index, int(value)) for index, _, value in released), int(released[-1][1])


def test_all_that_is_broken_is_named_once_and_said() -> None:
    all_of_them = (*BROKEN_MECHANISMS, *BROKEN_LAPLACE)
    assert len({each.name for each in all_of_them}) == len(all_of_them)
    for each in BROKEN_LAPLACE:
        assert each.what.endswith(".")
        assert read_cases(each.shown_on) == each.shown_on
        for here, there, parameters in each.shown_on:
            for answers in (here, there):
                released: Any = each.release(answers, parameters)
                assert len(released) == parameters.k
                assert all(gap >= 0 and unit % 1 == 0 for _, gap, unit in released)
