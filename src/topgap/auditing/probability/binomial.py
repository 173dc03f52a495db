"""Safe bounds of binomial tails, and Clopper–Pearson bounds, for any number of releases.

**The tail.** Let X be Binomial(n, p), 0 < p < 1, q = 1 − p and np < x < n. The ratio of
successive probabilities, P[X = j + 1]/P[X = j] = (n − j)p/((j + 1)q), falls with j and is below 1
from x on; so with its value r at x

    P[X ≥ x] ≤ P[X = x]·(1 + r + r² + …) = P[X = x]/(1 − r).

Robbins' form of Stirling's formula, e^(1/(12m+1)) < m!/(√(2πm)·(m/e)^m) < e^(1/12m), gives

    P[X = x] < √(n/(2πx(n−x)))·e^(1/12n − 1/(12x+1) − 1/(12(n−x)+1))·e^−D,
    D = x·ln(x/np) + (n − x)·ln((n − x)/nq).

Both are upper bounds. z standard deviations out, the first is too large by a factor of about
1 + 1/z² and the second by hardly anything; at the levels that an audit works at, z is 6 to 8, and
bounds made from this lie 0.003 standard deviations outside of the exact Clopper–Pearson bounds.

**Rounding.** p is rounded up to a multiple of 2^−256, which raises the tail. All differences are
taken in integers, and Python rounds the quotient of two integers correctly. For |u| ≤ 1/2, log1p(u)
of a u that is wrong by half an ulp is wrong by 1.5 half ulps; elsewhere |ln| is above 0.4, and half
an ulp of its argument is 2.5 half ulps of it. If the C library's log, log1p and exp are wrong by
four ulps at most (the usual ones by less than one), each term of D is wrong by less than 2^−49 of
itself. So much is added to the exponent, and 2^−40 of itself to the result, for the dozen roundings
left.
"""

from fractions import Fraction
from math import exp, inf, log, log1p, pi, sqrt

from topgap.law import exp_minus

_BITS = 256
_ONE = 1 << _BITS
_STEPS = 64


def tail_bound(n: int, x: int, p: Fraction) -> float:
    """An upper bound of P[X ≥ x] for X Binomial(n, p); 1 where x is not above the mean.

    >>> tail_bound(10, 10, Fraction(1, 2)) >= 2**-10
    True
    >>> round(tail_bound(100, 80, Fraction(1, 2)) * 10**10)    # exactly, 5.58e-10
    6
    """
    return _tail(n, x, min(-((-p.numerator << _BITS) // p.denominator), _ONE))


def lower_bound(n: int, x: int, level: Fraction) -> Fraction:
    """The Clopper–Pearson lower bound: it exceeds p with probability at most `level`.

    If it did exceed p for a count of x, take the smallest such x: at the bound, and even more at
    p, so many have a probability of at most `level`.

    >>> [round(float(lower_bound(10, x, Fraction(1, 100))), 3) for x in (0, 10)]
    [0.0, 0.631]
    """
    holds, fails = 0, x * _ONE // n + 1
    for _ in range(_STEPS):
        middle = (holds + fails) // 2
        if _tail(n, x, middle) <= level:
            holds = middle
        else:
            fails = middle
    return Fraction(holds, _ONE)


def upper_bound(n: int, x: int, level: Fraction) -> Fraction:
    """The Clopper–Pearson upper bound: it is below p with probability at most `level`.

    >>> round(float(upper_bound(10, 0, Fraction(1, 100))), 3)
    0.369
    """
    return 1 - lower_bound(n, n - x, level)


def exceeds(high: Fraction, low: Fraction, epsilon: Fraction) -> bool:
    """Whether high > e^ε·low beyond rounding.

    >>> exceeds(Fraction(272, 1000), Fraction(1, 10), Fraction(1))
    True
    >>> exceeds(Fraction(271, 1000), Fraction(1, 10), Fraction(1))
    False
    """
    if epsilon > _BITS:  # probabilities here are multiples of 2^−256
        return low == 0 < high
    return high * exp_minus(epsilon, 128 + 2 * int(epsilon)).low > low


def log_ratio_bound(high: Fraction, low: Fraction) -> float:
    """A lower bound of ln(high/low), or 0 where it is negative.

    >>> 0.69 < log_ratio_bound(Fraction(1), Fraction(1, 2)) < 0.6931471805599453
    True
    """
    if high <= low:
        return 0.0
    if low == 0:
        return inf
    # Off by half an ulp of a ratio of at least 1, and by four ulps of the logarithm.
    return max(0.0, log(float(high / low)) * (1 - 2**-49) - 2**-50)


def _tail(n: int, x: int, a: int) -> float:
    """Compute `tail_bound` with p = a/2^256."""
    excess = x * _ONE - n * a
    if excess <= 0 or x <= 0:
        return 1.0
    if a == 0 or x > n:
        return 0.0
    if x == n:
        return _exp(n * _log(a - _ONE, _ONE))
    b = _ONE - a
    above, below = x * _log(excess, n * a), (n - x) * _log(-excess, n * b)
    stirling = 1 / (12 * n) - 1 / (12 * x + 1) - 1 / (12 * (n - x) + 1)
    rounding = (abs(above) + abs(below)) * 2**-49
    geometric = (x + 1) * b / ((x + 1) * b - (n - x) * a)
    factor = sqrt(n / (2 * pi * x * (n - x))) * geometric
    return min(1.0, _exp(stirling - above - below + rounding) * factor)


def _log(more: int, base: int) -> float:
    """ln((base + more)/base)."""
    share = more / base
    return log1p(share) if abs(share) <= 0.5 else log((base + more) / base)


def _exp(exponent: float) -> float:
    """An upper bound of e^exponent, which is never 0."""
    return exp(max(exponent * (1 - 2**-49 if exponent < 0 else 1 + 2**-49), -700.0)) * (1 + 2**-40)
