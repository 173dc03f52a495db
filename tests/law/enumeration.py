"""The law of Top-k with noise in whole steps by enumeration: every noise, and every order of ties.

Noise beyond `REACH` steps is put together into one atom for each side. So it is exact for outcomes
whose values cannot come of such noise, and whose runner-up cannot, either; of noise far below it is
only known that the item lies below everything else. Of the law nothing is used but that it is
symmetric and that P(x) falls by the factor x from step to step.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations, product
from math import factorial, inf, prod
from typing import Any, Literal

REACH = 3
Enumerated = dict[Any, Fraction]
"""The probability of each outcome: pairs of index and value, and the last gap, None if it is far.

With a threshold, the last gap is None if nobody is named."""
Ties = Literal["uniform", "index", "answer"]
"""Who wins ties: anybody, the first, or whose answer is larger, and of those the first."""


def masses(x: Fraction) -> dict[float, Fraction]:
    """The probability of each noise in steps, −∞ and ∞ standing for whatever is beyond reach."""
    found: dict[float, Fraction] = {
        d: x ** abs(d) * (1 - x) / (1 + x) for d in range(-REACH, REACH + 1)
    }
    beyond = (1 - sum(found.values(), Fraction(0))) / 2
    return found | {-inf: beyond, inf: beyond}


def enumerate_outcomes(
    answers: Sequence[int],
    k: int,
    noise: Mapping[float, Fraction],
    ties: Ties = "uniform",
    threshold: int | None = None,
) -> Enumerated:
    """Add up the probabilities of all noise by what comes of it."""
    found: Enumerated = defaultdict(Fraction)
    for drawn in product(noise, repeat=len(answers)):
        values = [answer + each for answer, each in zip(answers, drawn, strict=True)]
        probability = prod((noise[each] for each in drawn), start=Fraction(1))
        for order, share in _orders(values, answers, ties):
            named = [i for i in order[:k] if threshold is None or values[i] >= threshold]
            after = max([values[i] for i in order[len(named) :]], default=-inf)
            if threshold is not None:
                after = max(after, threshold)
            gap = values[named[-1]] - after if named else inf
            outcome = tuple((i, values[i]) for i in named)
            found[outcome, None if gap == inf else gap] += probability * share
    return found


def _orders(
    values: Sequence[float], answers: Sequence[int], ties: Ties
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """All orders from the largest down in which ties can be broken, each with its probability."""
    if ties != "uniform":
        first = [0 if ties == "index" else -answer for answer in answers]
        order = sorted(range(len(values)), key=lambda i: (-values[i], first[i], i))
        yield tuple(order), Fraction(1)
        return
    levels = sorted({*values}, reverse=True)
    groups = [[i for i, value in enumerate(values) if value == level] for level in levels]
    share = Fraction(1, prod(factorial(len(group)) for group in groups))
    for chosen in product(*(permutations(group) for group in groups)):
        yield tuple(i for group in chosen for i in group), share
