"""Closed forms with discrete Laplace noise: n equal answers, for n up to about 2^4096.

In steps above the answer. All of them are made of F(m) = P(X ≤ m), which is 1 − x^(m + 1)/(1 + x)
for m ≥ 0, and x^−m/(1 + x) for m < 0, with x = e^−ρ.
"""

from fractions import Fraction
from functools import cache
from math import comb

from tests.checking.cached_law import exp_minus
from topgap.law import Bounds

BITS = 4096 + 512  # an error of 2^−BITS in F(m) is one of n·2^−BITS in its n-th power
ONE = 1 << BITS


@cache
def at_most(rate: Fraction, m: int) -> Bounds:
    """F(m), as multiples of 2^−BITS."""
    x = exp_minus(rate, BITS)
    low, high = _power(x, m + 1 if m >= 0 else -m)
    tail = Bounds(low / (1 + x.high), high / (1 + x.low))
    return _rounded(Bounds(1 - tail.high, 1 - tail.low) if m >= 0 else tail)


@cache
def maximum_below(n: int, rate: Fraction, m: int) -> Bounds:
    """P(the largest of n noisy values < m) = F(m − 1)^n."""
    return _power(at_most(rate, m - 1), n)


def maximum(n: int, rate: Fraction, m: int) -> Bounds:
    """P(the largest of n noisy values = m) = F(m)^n − F(m − 1)^n."""
    return _minus(maximum_below(n, rate, m + 1), maximum_below(n, rate, m))


def maximum_and_gap(n: int, rate: Fraction, m: int, gap: int) -> Bounds:
    """P(the largest of n noisy values = m and the next one is by `gap` ≥ 0 smaller).

    With p = P(X = m): for a gap g > 0 it is n·p·P(the largest of the other n − 1 is m − g). And the
    gap is 0 if the largest is m and it is not that just one is m and all others are below.
    """
    equal = _minus(at_most(rate, m), at_most(rate, m - 1))
    if gap > 0:
        return _times(n, equal, maximum(n - 1, rate, m - gap))
    return _minus(maximum(n, rate, m), _times(n, equal, maximum_below(n - 1, rate, m)))


def largest_below(n: int, rate: Fraction, j: int, m: int) -> Bounds:
    """P(the j-th largest of n noisy values < m): fewer than j of them are m or more.

    The number of those is binomial. For small j.
    """
    below = at_most(rate, m - 1)
    above = Bounds(1 - below.high, 1 - below.low)
    low = high = Fraction(0)
    for i in range(j):
        reached = Bounds(above.low**i, above.high**i)  # small, and so not rounded
        one = _times(comb(n, i), reached, maximum_below(n - i, rate, m))
        low, high = low + one.low, high + one.high
    return Bounds(low, high)


def largest(n: int, rate: Fraction, j: int, m: int) -> Bounds:
    """P(the j-th largest of n noisy values = m)."""
    return _minus(largest_below(n, rate, j, m + 1), largest_below(n, rate, j, m))


def ahead_wins(n: int, rate: Fraction, ahead: int, m: int) -> Bounds:
    """P(an item that is ahead of n equal ones has the noisy value m and wins against them all).

    Where its mark is u, as in `topgap.law.laplace`, each of the others stays behind it with the
    probability F(m − 1) + u·p, with p = P(X = m); the mean of the n-th power of that over all u is
    (F(m)^(n + 1) − F(m − 1)^(n + 1))/((n + 1)·p).
    """
    own = _minus(at_most(rate, m - ahead), at_most(rate, m - ahead - 1))
    equal = _minus(at_most(rate, m), at_most(rate, m - 1))
    low, high = _times(1, own, maximum(n + 1, rate, m))
    return Bounds(low / ((n + 1) * equal.high), high / ((n + 1) * equal.low))


def _times(number: int, one: Bounds, other: Bounds) -> Bounds:
    return Bounds(number * one.low * other.low, number * one.high * other.high)


def _minus(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(max(one.low - other.high, Fraction(0)), one.high - other.low)


def _power(base: Bounds, n: int) -> Bounds:
    """base^n by squaring; each product is rounded outwards to a multiple of 2^−BITS."""
    low, high = base.low * ONE // 1, -(-base.high * ONE // 1)
    all_low = all_high = ONE
    while n:
        if n % 2:
            all_low, all_high = all_low * low >> BITS, -(-all_high * high >> BITS)
        low, high = low * low >> BITS, -(-high * high >> BITS)
        n //= 2
    return Bounds(Fraction(all_low, ONE), Fraction(all_high, ONE))


def _rounded(bounds: Bounds) -> Bounds:
    low, high = bounds
    return Bounds(
        Fraction(low.numerator * ONE // low.denominator, ONE),
        Fraction(-(-high.numerator * ONE // high.denominator), ONE),
    )
