"""Polynomials in x and u with exact rational coefficients: what the law is made of."""

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from operator import mul


class Polynomial:
    """A sum of terms c·x^i·u^j.

    >>> ((X + U) * (X - U)).at(ONE).terms     # x² − 1
    {(2, 0): Fraction(1, 1), (0, 0): Fraction(-1, 1)}
    """

    __slots__ = ("terms",)

    def __init__(self, terms: Mapping[tuple[int, int], Fraction]) -> None:
        self.terms = {powers: factor for powers, factor in terms.items() if factor}

    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for powers, factor in other.terms.items():
            terms[powers] = terms.get(powers, Fraction(0)) + factor
        return Polynomial(terms)

    def __sub__(self, other: "Polynomial") -> "Polynomial":
        return self + Polynomial({powers: -factor for powers, factor in other.terms.items()})

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        terms: dict[tuple[int, int], Fraction] = {}
        for (i, j), factor in self.terms.items():
            for (k, m), other_factor in other.terms.items():
                powers = (i + k, j + m)
                terms[powers] = terms.get(powers, Fraction(0)) + factor * other_factor
        return Polynomial(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Polynomial) and self.terms == other.terms

    def __hash__(self) -> int:
        return hash(frozenset(self.terms.items()))

    def at(self, u: "Polynomial") -> "Polynomial":
        """Put `u` in the place of u."""
        total = ZERO
        for (i, j), factor in self.terms.items():
            total = total + reduce(mul, [u] * j, Polynomial({(i, 0): factor}))
        return total

    def derivative(self) -> "Polynomial":
        """Differentiate by u."""
        return Polynomial({(i, j - 1): factor * j for (i, j), factor in self.terms.items() if j})

    def integral(self, start: "Polynomial", end: "Polynomial") -> "Polynomial":
        """Integrate over u from `start` to `end`."""
        whole = Polynomial({(i, j + 1): factor / (j + 1) for (i, j), factor in self.terms.items()})
        return whole.at(end) - whole.at(start)

    def bounds(self, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
        """Bound the value for every x from `low` ≥ 0 to `high`; u must not occur any more.

        The positive terms grow with x and so do the negative ones, each part monotonically.
        """
        gain_low = loss_low = gain_high = loss_high = Fraction(0)
        for (i, j), factor in self.terms.items():
            if j:
                raise ValueError("A polynomial with u in it has no single value.")
            if factor > 0:
                gain_low += factor * low**i
                gain_high += factor * high**i
            else:
                loss_low -= factor * low**i
                loss_high -= factor * high**i
        return gain_low - loss_high, gain_high - loss_low


ZERO = Polynomial({})
ONE = Polynomial({(0, 0): Fraction(1)})
X = Polynomial({(1, 0): Fraction(1)})
U = Polynomial({(0, 1): Fraction(1)})


def power_of_x(exponent: int) -> Polynomial:
    """x^exponent."""
    return Polynomial({(exponent, 0): Fraction(1)})
