"""What `topgap.margins` computes where the noise is discrete Laplace noise.

In steps of the resolution, noise is x with probability (1 − t)/(1 + t)·t^|x|, where t = e^−rate,
and x or more with probability t^x/(1 + t) if x is 0 or more.
"""

from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from math import exp, expm1, log, log1p
from typing import Any

import numpy as np

from topgap.numbers.format import to_float
from topgap.numbers.quadrature import unit_nodes
from topgap.parameters import TopK

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

_DIGITS = 60
_DOUBT = Decimal(10) ** -40  # far more than what rounding can do in so many digits
_SMALLEST_RATE, _LARGEST_RATE = Fraction(1, 10**40), Fraction(10**5)
_LARGEST_LOG = 700.0  # of a number that a float holds
_NEGLIGIBLE = 50.0  # e^−50 of a sum is less than its rounding
_MOST_TERMS = 10_000
_WIDEST = 8.0  # on which 16 nodes integrate an exponential function to full precision


@lru_cache(maxsize=256)
def least_certain_steps(parameters: TopK, one_in: int) -> int:
    """Return the least g so that two equal items come out g steps apart once in `one_in` times.

    Let D be the difference of their noise. For d ≥ 0 the sum over both gives

        P(D = d) = ((1 − t)/(1 + t))²·t^d·(d + (1 + t²)/(1 − t²)),

    and the sum of these, twice, for g ≥ 1

        P(|D| ≥ g) = 2/(1 + t)²·t^g·(g·(1 − t) + (1 + t + 2·t²)/(1 + t)).

    For a small rate that is (1 + u/2)·e^−u with u = g·rate, which is 1/20 for u ≈ 4.11.

    >>> two = TopK(k=9, epsilon=1, items_per_person=2, monotonic=True)   # noise of scale 2
    >>> least_certain_steps(two, 20), 2 * 4.11
    (9, 8.22)
    """
    with localcontext(Context(prec=_DIGITS)):
        rate = min(parameters.rate, _LARGEST_RATE)
        small = _to_decimal(max(rate, _SMALLEST_RATE))  # 1 − t is the rate, where that is smaller
        t = (-small).exp()
        constant = 2 * (1 + t + 2 * t * t) / (1 + t) ** 3
        slope = 2 * (1 - t) / (small * (1 + t) ** 2)
        u = last = Decimal(0)
        for _ in range(1_000):  # u = ln(20·(constant + slope·u)), of which each step is a third off
            u, last = (one_in * (constant + slope * u)).ln(), u
            if abs(u - last) <= _DOUBT * u:
                break
        steps = u / _to_decimal(rate)
        # An irrational number: where its digits do not tell on which side it lies, the larger.
        return max(1, int((steps * (1 + _DOUBT)).to_integral_value("ROUND_CEILING")))


def steps_to_stand_out(parameters: TopK, size: int) -> Fraction:
    """Return which noise as many of `size` items reach as are named, on average; at least 0.

    They are size·t^d/(1 + t) items, which is k for d = (ln size − ln k − ln(1 + t))/rate.
    """
    t = exp(-to_float(min(parameters.rate, _LARGEST_RATE)))
    reached = Fraction(log(size) - log(parameters.k) - log1p(t)) / parameters.rate
    return max(Fraction(0), reached)


def expected_to_reach(parameters: TopK, size: int, steps: int) -> float:
    """Return how many of `size` items with 0 reach this many steps, on average."""
    t = exp(-to_float(min(parameters.rate, _LARGEST_RATE)))
    tail = -log1p(t) - to_float(parameters.rate * max(0, steps))
    if steps >= 0:
        return exp(min(log(size) + tail, _LARGEST_LOG))
    missing = exp(-to_float(parameters.rate * (1 - steps))) / (1 + t)
    return exp(min(log(size) + log1p(-missing), _LARGEST_LOG))


def probability_missed(
    parameters: TopK, n: int, count: int, share_beaten: Callable[[int, float], float]
) -> float:
    """Return the probability that an item with this count is not named; to about ten digits.

    It comes out below the threshold, or one of n − 1 items with 0 comes out above it, ties being
    decided uniformly. Give each item the uniform number that decides them, and let S(y) be the
    probability that noise is y or more. An item that comes out at y then has a uniform position
    between S(y + 1) and S(y), and is beaten with probability 1 − (1 − s)^(n − 1) where s is that
    position. So, with c and the threshold τ in steps,

        missed = P(X < τ − c) + Σ_{y ≥ τ} P(X = y − c)·b(y),
        b(y) = mean of 1 − (1 − s)^(n − 1) over s from S(y + 1) to S(y).

    Of the sum, the terms from y = c on and those below 0 have P(X = y − c) in a constant ratio to
    S(y) − S(y + 1), so that they are integrals of the same function, and have closed forms. Those
    between are added up; where they are more than 10,000, by the formula of Euler and Maclaurin.

    Args:
        parameters: The parameters of the release.
        n: The number of items that compete for the last place.
        count: The count of the item.
        share_beaten: The mean of 1 − (1 − s)^(n − 1) over s from 0 to e to the power of its second
            argument; its first is n.
    """
    rate, per_unit = parameters.rate, parameters.resolution.denominator
    t = exp(-to_float(min(rate, _LARGEST_RATE)))
    c, threshold = count * per_unit, parameters.threshold_units

    def power(steps: int) -> float:
        return exp(-to_float(rate * steps))

    start = c if threshold is None else max(c, threshold)
    log_reached = -to_float(rate * start) - log1p(t)
    total = power(start - c) / (1 + t) * share_beaten(n, log_reached)
    if threshold is not None and threshold > c:
        return total + 1 - power(threshold - c) / (1 + t)
    if threshold is not None:
        total += power(c - threshold + 1) / (1 + t)
    if threshold is None or threshold < 0:
        high = t / (1 + t)
        low = 0.0 if threshold is None else power(1 - threshold) / (1 + t)
        if n < _MOST_TERMS:  # beyond which a power of at most 1/2 is nothing
            high, low = high - high**n / n, low - low**n / n
        total += power(c) * (high - low)
    between = c - max(0, threshold or 0)
    return total + (_add_between(rate, n, c, between) if between > 0 and n > 1 else 0.0)


def _add_between(rate: Fraction, n: int, c: int, between: int) -> float:
    """Return Σ P(X = −j)·b(c − j) over j from 1 to `between`, as above."""
    r, others = to_float(min(rate, _LARGEST_RATE)), log(n - 1)
    t, less = exp(-r), -expm1(-r)
    log_reached = -to_float(rate * c) - log1p(t)
    if log_reached + log(n) < -2 * _LARGEST_LOG:
        return 0.0  # as a float has it

    def beaten(along: Array) -> Array:
        """b(y), for y that is `along`/rate below c."""
        top = log_reached + along  # ln S(y)
        width = np.exp(np.minimum(others + top, _LARGEST_LOG)) * less
        nodes, weights = unit_nodes()
        inner = _share_beaten(others, top[..., None] + np.log1p(-less * nodes)) @ weights
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = _share_beaten(others + log1p(1 / (n - 1)), np.stack([top - r, top]))
            outer = 1 - (ends[1] - ends[0]) / (width * (1 + 1 / (n - 1)))
        return np.asarray(np.where(width > _WIDEST, outer, inner))

    # Farther below, noise makes up for it less often than what is left out here tells.
    enough = max(0.0, -(log_reached + log(n))) + _NEGLIGIBLE
    end = min(to_float(rate * between), enough)
    if end < r * _MOST_TERMS:
        along = r * np.arange(1.0, min(between, int(end / r) + 1) + 1)
        return float(np.exp(-along) @ beaten(along)) * less / (1 + t)

    def term(along: Array) -> Array:
        return np.asarray(np.exp(-along) * beaten(along))

    edges = np.linspace(r / 2, end + r / 2, int(end) + 2)
    widths = np.diff(edges)
    nodes, weights = unit_nodes()
    along = edges[:-1, None] + widths[:, None] * nodes
    integral = float(widths @ (term(along) @ weights))
    at_ends = term(np.array([0.0, r, end, end + r]))
    slopes = float(at_ends[3] - at_ends[2] - at_ends[1] + at_ends[0])
    per_step = less / r if r > 1e-9 else 1.0
    return (integral * per_step - slopes * less / 24) / (1 + t)


def _share_beaten(log_others: float, log_position: Any) -> Array:
    """Return 1 − (1 − s)^m for logarithms of m and s."""
    s = np.exp(np.minimum(log_position, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        per_s = np.where(s > 0, -np.log1p(-s) / s, 1.0)
    expected = np.exp(np.minimum(log_others + log_position, _LARGEST_LOG))
    return np.asarray(-np.expm1(-expected * per_s))


def _to_decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
