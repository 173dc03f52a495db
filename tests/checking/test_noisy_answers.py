"""The law of noisy answers that the checks use is that of `topgap.law`, which is worked out apart.

One multiplies bounds of probabilities and counts how many tie; the other integrates polynomials.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, permutations, product
from typing import Any

import pytest

from tests.checking import noisy_answers
from tests.checking.cached_law import laplace_top_k
from tests.checking.mutants import Mutant, mutated
from topgap import TopK

NARROW = Fraction(1, 2**110)
LEVELS = range(2, -2, -1)
CASES = [
    ((0, 0), 1, None),
    ((2, 0, 1), 1, None),
    ((0, 0, 0), 2, None),
    ((0, 2, 2), 2, None),
    ((1, 0, 1, 0), 3, None),
    ((2,), 1, 1),
    ((0, 1), 3, 0),  # more places than items
    ((1, 1, 0), 1, 2),
    ((0, 0, 1), 2, 0),
    ((1, 0, 1, 1), 3, 1),
]


def disagreements(
    module: Any, answers: tuple[int, ...], k: int, threshold: int | None
) -> list[Any]:
    """The releases to which the two laws give different probabilities.

    Both are bounded to within 2^−110, so that they are alike where the bounds overlap.
    """
    parameters = TopK(
        k, 1, monotonic=True, items_per_person=1, noise="laplace", threshold=threshold
    )
    plain = dict(enumerate(answers))
    found = []
    for count in range(k if threshold is None else 0, min(k, len(answers)) + 1):
        orders = permutations(range(len(answers)), count)
        falling = combinations_with_replacement(LEVELS, count)
        for winners, values, gap in product(orders, falling, range(3 if count else 1)):
            gaps = (*(a - b for a, b in pairwise(values)), gap)[:count]
            one = module.released(plain, parameters, (winners, values, gaps))
            pairs = [*zip(winners, values, strict=True)]
            other = laplace_top_k(answers, parameters, pairs, gap if count else None)
            apart = one.low > other.high or other.low > one.high
            if apart or max(one.high - one.low, other.high - other.low) > NARROW:
                found.append((winners, values, gaps))
    return found


@pytest.mark.parametrize("case", [
    pytest.param(case, marks=[pytest.mark.slow] if len(case[0]) > 3 else []) for case in CASES
], ids=str)  # fmt: skip
def test_both_laws_give_the_same(case: tuple[tuple[int, ...], int, int | None]) -> None:
    assert disagreements(noisy_answers, *case) == []


@pytest.mark.parametrize("mutant", [
    Mutant("zero twice", "return Mass(low, high)\n\n\n@cache\ndef noise_below",
           "return Mass(low, high) if steps else Mass(2 * low, 2 * high)\n\n\n@cache\n"
           "def noise_below"),
    Mutant("at or below", "noise_below(rate, 1 - steps)", "noise_below(rate, -steps)"),
    Mutant("one order for ties above the last", "return (chance * first).over(prod(map(factorial, "
           "ties.values()))).bounds", "return (chance * first).bounds"),
    Mutant("one order for ties that nobody comes after",
           "return chance.over(prod(map(factorial, ties.values()))).bounds",
           "return chance.bounds"),
    Mutant("losers tie, and come in any order", "factorial(tied + count)", "factorial(tied)"),
    Mutant("two next ones are one", "for count, mass in enumerate(at_last[1:], start=1)",
           "for count, mass in enumerate(at_last[1:2], start=1)"),
    Mutant("others that reach the cut", "noise_below(rate, cut - each)",
           "noise_below(rate, cut + 1 - each)"),
    Mutant("a next one at the threshold is lost",
           "return Bounds(alone.low + with_next.low, alone.high + with_next.high)", "return alone"),
], ids=lambda each: each.name)  # fmt: skip
def test_a_wrong_law_is_found(mutant: Mutant) -> None:
    wrong = mutated(noisy_answers, mutant)
    assert any(disagreements(wrong, *case) for case in CASES)
