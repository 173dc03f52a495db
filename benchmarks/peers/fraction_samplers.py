"""Exact samplers in the style of IBM's discretegauss.py: Python Fractions, one coin at a time.

They are written from the published algorithms: Canonne, Kamath and Steinke (2020), "The Discrete
Gaussian for Differential Privacy", Algorithms 1 and 2. No line is IBM's, and IBM's code has no
top k: here it stands for what exact sampling costs if every number is a `Fraction`.
"""

from collections.abc import Sequence
from fractions import Fraction

from topgap.sampling.bit_source import BitSource


def uniform(m: int, bits: BitSource) -> int:
    """Uniform on {0, …, m−1}, for any m ≥ 1, by rejection: the only place that takes bits."""
    while True:
        number = bits.take((m - 1).bit_length())
        if number < m:
            return number


def bernoulli(p: Fraction, bits: BitSource) -> bool:
    """True with probability p, for any rational p from 0 to 1."""
    return uniform(p.denominator, bits) < p.numerator


def bernoulli_exp(x: Fraction, bits: BitSource) -> bool:
    """True with probability e^−x, for any rational x ≥ 0.

    For x ≤ 1 the loop passes k with probability x^k/k!, so k is odd at its end with probability
    1 − x + x²/2! − … = e^−x. A larger x is a coin of e^−1 for each whole part, and one of the rest.
    """
    while x > 1:
        if not bernoulli_exp(Fraction(1), bits):
            return False
        x -= 1
    k = 1
    while bernoulli(x / k, bits):
        k += 1
    return k % 2 == 1


def geometric(x: Fraction, bits: BitSource) -> int:
    """m with probability (1 − e^−x)·e^(−m·x), for any rational x > 0 and all m ≥ 0."""
    s, t = x.numerator, x.denominator
    u = uniform(t, bits)
    while not bernoulli_exp(Fraction(u, t), bits):
        u = uniform(t, bits)
    v = 0
    while bernoulli_exp(Fraction(1), bits):
        v += 1
    return (v * t + u) // s


def shuffled(n: int, bits: BitSource) -> list[int]:
    """The numbers 0, …, n−1 in a uniformly random order."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        chosen = uniform(last + 1, bits)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def noisy_top_k(steps: Sequence[int], k: int, rate: Fraction, bits: BitSource) -> list[int]:
    """The indices of the k largest answers, given in steps, after geometric noise of this rate.

    Ties are broken uniformly, so the law is that of real exponential noise, without the gaps.
    """
    noisy = [step + geometric(rate, bits) for step in steps]
    order = shuffled(len(noisy), bits)
    return sorted(order, key=noisy.__getitem__, reverse=True)[:k]
