"""Closed forms with discrete Laplace noise: n equal answers, for any n.

In steps above the answer. All of them are made of F(m) = P(X ≤ m), which is 1 − x^(m + 1)/(1 + x)
for m ≥ 0, and x^−m/(1 + x) for m < 0, with x = e^−ρ.
"""

from fractions import Fraction
from math import comb

from topgap.law import Bounds, exp_minus

BITS = 256
ONE = 1 << BITS


def at_most(rate: Fraction, m: int) -> Bounds:
    """F(m), as multiples of 2^−256."""
    x = exp_minus(rate, BITS)
    low, high = exp_minus(rate * (m + 1 if m >= 0 else -m), BITS)
    tail = Bounds(low / (1 + x.high), high / (1 + x.low))
    return _rounded(Bounds(1 - tail.high, 1 - tail.low) if m >= 0 else tail)


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
        one = _times(comb(n, i), _power(above, i), _power(below, n - i))
        low, high = low + one.low, high + one.high
    return Bounds(low, high)


def _times(number: int, one: Bounds, other: Bounds) -> Bounds:
    return Bounds(number * one.low * other.low, number * one.high * other.high)


def _minus(one: Bounds, other: Bounds) -> Bounds:
    return Bounds(max(one.low - other.high, Fraction(0)), one.high - other.low)


def _power(base: Bounds, n: int) -> Bounds:
    """base^n by squaring; each product is rounded outwards to a multiple of 2^−256."""
    result = Bounds(Fraction(1), Fraction(1))
    while n:
        if n % 2:
            result = _rounded(_times(1, result, base))
        base = _rounded(_times(1, base, base))
        n //= 2
    return result


def _rounded(bounds: Bounds) -> Bounds:
    low, high = bounds
    return Bounds(
        Fraction(low.numerator * ONE // low.denominator, ONE),
        Fraction(-(-high.numerator * ONE // high.denominator), ONE),
    )
