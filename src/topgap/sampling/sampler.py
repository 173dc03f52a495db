"""The paper's exact samplers: integers and rationals in, integers out, and no float in between.

Each method states its law. Canonne, Kamath and Steinke (2022) is "The Discrete Gaussian for
Differential Privacy", whose Algorithms 1 and 2 the paper builds on.
"""

from collections import Counter
from fractions import Fraction

from topgap.errors import ParameterError, ParameterTypeError
from topgap.sampling.bit_source import BitSource, SystemBits


class Sampler:
    """Draws from the paper's distributions, out of one source of bits, and counts the calls.

    Attributes:
        bits: Where the fair bits come from; the operating system's generator unless given.
        calls: How often each primitive was called, as in the paper's last table.

    >>> sampler = Sampler()
    >>> sampler.shuffle(1), sampler.uniform(1), sampler.bernoulli_exp(Fraction(0))
    ([1], 0, True)
    >>> sampler.calls["uniform"], sampler.calls["bernoulli"]
    (2, 1)
    """

    def __init__(self, bits: BitSource | None = None) -> None:
        self.bits = SystemBits() if bits is None else bits
        if not callable(getattr(self.bits, "take", None)):
            raise ParameterTypeError("bits must be a source of bits, with a method take(count).")
        self.calls: Counter[str] = Counter()

    def uniform(self, n: int) -> int:
        """Uniform on {0, …, n−1}, for any integer n ≥ 1, by rejection."""
        _require(_is_int(n) and n >= 1, "uniform needs an int n of at least 1.")
        self.calls["uniform"] += 1
        width = (n - 1).bit_length()
        while True:
            candidate = self.bits.take(width)
            if candidate < n:
                return candidate

    def shuffle(self, n: int) -> list[int]:
        """A uniformly random order of 1, …, n, for any n ≥ 0, by Fisher and Yates."""
        _require(_is_int(n) and n >= 0, "shuffle needs an int n of at least 0.")
        self.calls["shuffle"] += 1
        order = list(range(1, n + 1))
        for last in range(n - 1, 0, -1):
            chosen = self.uniform(last + 1)
            order[last], order[chosen] = order[chosen], order[last]
        return order

    def bernoulli(self, n: int, d: int) -> bool:
        """True with probability n/d, for any integers 0 ≤ n ≤ d, d ≥ 1."""
        possible = _is_int(n) and _is_int(d) and 0 <= n <= d and d >= 1
        _require(possible, "bernoulli needs ints n and d with n/d from 0 to 1.")
        self.calls["bernoulli"] += 1
        return self.uniform(d) < n

    def bernoulli_exp(self, theta: Fraction) -> bool:
        """True with probability e^−θ, for any rational θ ≥ 0.

        Algorithm 1 of Canonne, Kamath and Steinke (2022). For θ ≤ 1 the loop ends with K > m with
        probability θ^m/m!, so K is odd with probability 1 − θ + θ²/2! − … = e^−θ. A larger θ is
        the conjunction of ⌊θ⌋ independent trials of e^−1 and one of the rest.
        """
        _require(_is_exact(theta) and theta >= 0, "bernoulli_exp needs a Fraction of at least 0.")
        self.calls["bernoulli_exp"] += 1
        while theta > 1:
            if not self.bernoulli_exp(Fraction(1)):
                return False
            theta -= 1
        k = 1
        while self.bernoulli(theta.numerator, theta.denominator * k):
            k += 1
        return k % 2 == 1

    def geometric(self, rate: Fraction) -> int:
        """Geometric(1 − e^−s/t) on {0, 1, …} for any rational rate s/t > 0: P(m) ∝ e^(−m·s/t).

        The algorithm of the paper's appendix, with its names.
        """
        _require(_is_exact(rate) and rate > 0, "geometric needs a Fraction greater than 0.")
        self.calls["geometric"] += 1
        s, t = rate.numerator, rate.denominator
        u = self.uniform(t)
        while not self.bernoulli_exp(Fraction(u, t)):
            u = self.uniform(t)
        v = 0
        while self.bernoulli_exp(Fraction(1)):
            v += 1
        x = u + t * v  # Geometric(1 − e^−1/t)
        return x // s

    def truncated_geometric(self, rate: Fraction, m: int) -> int:
        """Geometric(1 − e^−rate) given that it is below m, for any m ≥ 1.

        By the paper's lemma on truncation the remainder modulo m has that law.
        """
        _require(_is_int(m) and m >= 1, "truncated_geometric needs an int m of at least 1.")
        return self.geometric(rate) % m

    def discrete_laplace(self, rate: Fraction) -> int:
        """Discrete Laplace on all integers, for any rational rate > 0: P(x) ∝ e^(−|x|·rate).

        The difference of two independent geometric numbers: with t = e^−rate, it is x ≥ 0 with
        probability Σ (1 − t)²·t^(x+2h) over all h ≥ 0, which is (1 − t)/(1 + t)·t^x, and so is −x.
        """
        possible = _is_exact(rate) and rate > 0
        _require(possible, "discrete_laplace needs a Fraction greater than 0.")
        up = self.geometric(rate)
        down = self.geometric(rate)
        return up - down


def sampler_or_default(sampler: Sampler | None) -> Sampler:
    """The sampler that a caller gave, or a new one on the operating system's generator."""
    if sampler is None:
        return Sampler()
    if not isinstance(sampler, Sampler):
        raise ParameterTypeError(
            f"sampler must be a topgap.reference.Sampler, not {type(sampler).__name__}."
        )
    return sampler


def _is_int(value: object) -> bool:
    return type(value) is int


def _is_exact(value: object) -> bool:
    return type(value) in (Fraction, int)


def _require(condition: bool, sentence: str) -> None:  # noqa: FBT001 - a condition
    if not condition:
        raise ParameterError(sentence)
