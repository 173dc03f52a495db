"""The law of the largest noisy answers with Laplace noise, and whose they are: from its definition.

Every item has its own noise, x steps with probability (1 − t)/(1 + t)·t^|x|, where t = e^−rate. So
the probability that certain items have certain noisy answers, and that all others lie below them,
is a product; of items that tie, every order is as likely.
"""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import factorial, prod
from typing import NamedTuple

from tests.checking.cached_law import exp_minus
from topgap import TopK
from topgap.law import Bounds

Whole = tuple[int, ...]

BITS = 128
ONE = 1 << BITS


class Mass(NamedTuple):
    """Bounds of a probability in units of 2^−BITS: rounded outwards, they stay short."""

    low: int
    high: int

    def __mul__(self, other: object) -> "Mass":
        assert isinstance(other, Mass)
        return Mass(self.low * other.low >> BITS, -(-self.high * other.high >> BITS))

    def plus(self, other: "Mass") -> "Mass":
        return Mass(self.low + other.low, self.high + other.high)

    def over(self, divisor: int) -> "Mass":
        return Mass(self.low // divisor, -(-self.high // divisor))

    @property
    def bounds(self) -> Bounds:
        return Bounds(Fraction(self.low, ONE), Fraction(self.high, ONE))


NONE, ALL = Mass(0, 0), Mass(ONE, ONE)
IMPOSSIBLE = NONE.bounds


@cache
def power(rate: Fraction, steps: int) -> Mass:
    """t^steps: beyond the first of two others, which is quicker and hardly less exact."""
    if 1 < steps < 10**6:
        return power(rate, steps // 2) * power(rate, steps - steps // 2)
    low, high = exp_minus(rate * steps, BITS + 32)
    return Mass(int(low * ONE), -int(-high * ONE // 1))


@cache
def noise_is(rate: Fraction, steps: int) -> Mass:
    """P(X = x), by the definition."""
    t, reached = power(rate, 1), power(rate, abs(steps))
    # The less t, the more (1 − t)/(1 + t).
    low = (ONE - t.high) * reached.low // (ONE + t.high)
    high = -(-(ONE - t.low) * reached.high // (ONE + t.low))
    return Mass(low, high)


@cache
def noise_below(rate: Fraction, steps: int) -> Mass:
    """P(X < x): for x ≤ 0 a sum, which is t^(1 − x)/(1 + t); beyond, by symmetry."""
    if steps > 0:
        others = noise_below(rate, 1 - steps)
        return Mass(ONE - others.high, ONE - others.low)
    t, reached = power(rate, 1), power(rate, 1 - steps)
    low = reached.low * ONE // (ONE + t.high)
    return Mass(low, -(-reached.high * ONE // (ONE + t.low)))


def largest(
    plain: Mapping[int, int],
    rate: Fraction,
    k: int,
    winners: Whole,
    values: Whole,
    cut: int | None = None,
) -> Bounds:
    """That these are the winners, from the largest down, and these the largest noisy answers.

    Args:
        plain: The answer of each item in steps.
        rate: How fast the noise falls with each step.
        k: How many winners there are, if there are so many items.
        winners: Who they are.
        values: Their noisy answers and that of the item after the last, if there is one.
        cut: What all of these must reach, if anything: then there may be fewer.
    """
    if not _is_possible(plain, k, winners, values, cut):
        return IMPOSSIBLE
    named = zip(winners, values, strict=False)
    chance = prod((noise_is(rate, value - plain[index]) for index, value in named), start=ALL)
    others = [answer for index, answer in plain.items() if index not in winners]
    ties = Counter(values[: len(winners)])
    if len(values) == len(winners):  # no other reaches the cut, or there is none
        if cut is not None:
            chance *= prod((noise_below(rate, cut - each) for each in others), start=ALL)
        return chance.over(prod(map(factorial, ties.values()))).bounds
    last = values[-1]
    # How many of the others have the next noisy answer, and none of them a larger one.
    at_last = [ALL]
    for each in others:
        less, equal = noise_below(rate, last - each), noise_is(rate, last - each)
        shifted = [NONE, *(count * equal for count in at_last)]
        stay = [*(count * less for count in at_last), NONE]
        at_last = [one.plus(other) for one, other in zip(shifted, stay, strict=True)]
    tied = ties.pop(last, 0)
    # Of all that tie there, the winners come first, in their order.
    first = NONE
    for count, mass in enumerate(at_last[1:], start=1):
        share = Mass(mass.low * factorial(count), mass.high * factorial(count))
        first = first.plus(share.over(factorial(tied + count)))
    return (chance * first).over(prod(map(factorial, ties.values()))).bounds


def _is_possible(
    plain: Mapping[int, int], k: int, winners: Whole, values: Whole, cut: int | None
) -> bool:
    shape = len(winners) == min(k, len(values)) and len({*winners}) == len(winners)
    most = min(k + 1, len(plain))
    if cut is None:
        enough = len(values) == most
    else:
        enough = len(values) <= most and min(values, default=cut) >= cut
    falls = all(a >= b for a, b in pairwise(values))
    return shape and enough and falls and {*winners} <= {*plain}


Published = tuple[Whole, Whole, Whole]
"""The winners of a release, their noisy answers and their gaps, in steps."""


def released(plain: Mapping[int, int], parameters: TopK, published: Published) -> Bounds:
    """That these are the winners, their noisy answers, and their gaps.

    The last gap tells the next noisy answer, if it tells more than the threshold.
    """
    winners, values, gaps = published
    threshold, k, rate = parameters.threshold_units, parameters.k, parameters.rate
    falls = (gap == a - b for gap, (a, b) in zip(gaps, pairwise(values), strict=False))
    if not len(winners) == len(values) == len(gaps) or not all(falls):
        return IMPOSSIBLE
    if threshold is None:
        return largest(plain, rate, k, winners, (*values, values[-1] - gaps[-1]))
    alone = largest(plain, rate, k, winners, values, threshold)
    if not winners:
        return alone
    after = values[-1] - gaps[-1]
    if len(winners) < k:
        return alone if after == threshold else IMPOSSIBLE
    with_next = largest(plain, rate, k, winners, (*values, after), threshold)
    if after > threshold:
        return with_next
    if after < threshold:
        return IMPOSSIBLE
    return Bounds(alone.low + with_next.low, alone.high + with_next.high)
