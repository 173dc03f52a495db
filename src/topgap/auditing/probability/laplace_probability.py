"""Probabilities of winners, gaps and values in ranges, with discrete Laplace noise.

`topgap.law.laplace_top_k` has the probability of one outcome. Those of ranges are sums of very many
of them, so this module adds them up by another way: item after item, along a grid of steps.

Let winner i have the value v, tied with m − 1 winners before it, and let B_i(v, m) be the
probability of all that comes after: that the next ones have values in their ranges, gaps in their
ranges, and that ties are broken in this order. With R(w) for P(the largest of the losers is w) and
c_t(v) for P(t losers have the value v, and all others a smaller one)

    B_k(v, m) = Σ_t c_t(v)·t!/(m + t)! if a gap of 0 is in range  +  Σ_g R(v − g)/m!,
    B_i(v, m) = P(winner i + 1 has the value v)·B_(i+1)(v, m + 1) if a gap of 0 is in range
                + Σ_g P(winner i + 1 has the value v − g)·B_(i+1)(v − g, 1)/m!,

where t is at least 1, and g runs over the gaps above 0 in range: of m + t items with the same
value, m come first and in this order with the probability t!/(m + t)!. A value out of its range has
the probability 0. What is sought is Σ_v P(winner 1 has the value v)·B_1(v, 1).

**Error.** The grid ends at least 30/ρ steps beyond all answers: noise beyond it has a probability
of at most 2·e^−30 < 2^−42 for each item. Masses and tails of the noise are computed in integers and
are rounded once. Sums and products of numbers from 0 to 1 are floats from there on. With u = 2^−53
and N steps of the grid, c_t and B_k are wrong by less than 16·n²·u; a sum along the grid by at most
2·N·u more, and the masses it is weighted with add up to 1, so that an error of B_(i+1) grows by no
factor in B_i. Two such sums are subtracted for each of k gaps, and one is left in the end; in all
less than ((k + 1)·(4·N + 64) + 16·n²)·u.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, factorial
from typing import Any, NamedTuple

import numpy as np

from topgap.auditing.probability.event_probability import Range, Winners
from topgap.law import Bounds, exp_minus

Array = np.ndarray[tuple[int], np.dtype[np.float64]]
ValueRange = tuple[int | None, int | None]
"""From the first number of steps up to, but excluding, the second; None for no end on that side."""

MOST_STEPS = 20_000
"""The largest number of steps of the grid."""
_FAR = 30
_BEYOND = Fraction(1, 2**42)
_BITS = 160
_ONE = 1 << _BITS


class Box(NamedTuple):
    """What is asked of the gaps and of the values.

    Attributes:
        gaps: The range of each gap, in steps.
        values: The range of each value, in steps.
        remainder: The place of a value, what it leaves, and when divided by what; None if no
            remainder is asked for.
    """

    gaps: tuple[Range, ...]
    values: tuple[ValueRange, ...]
    remainder: tuple[int, int, int] | None = None


def count_grid_steps(steps: Sequence[int], rate: Fraction) -> int:
    """The number of steps of the grid for these answers."""
    return max(steps) - min(steps) + 2 * ceil(_FAR / rate) + 1


class NoisyValues:
    """The noisy values of one data set, on a grid of steps.

    >>> two = NoisyValues((4, 4), Fraction(1))
    >>> low, high = two.bound((4,), (4,), Box(gaps=((0, 1),), values=((4, 5),)))
    >>> round(float(low), 6), round(float(high), 6)     # half of P(X = 0)²
    (0.106776, 0.106776)
    """

    def __init__(self, steps: Winners, rate: Fraction) -> None:
        self._size = count_grid_steps(steps, rate)
        self._first = min(steps) - ceil(_FAR / rate)
        self._mass, self._below = _noise(self._size, rate)
        self._losers: dict[Winners, _Losers] = {}

    def bound(self, winners: Winners, losers: Winners, box: Box) -> Bounds:
        """Bound the probability that these items win in this order, with gaps and values in ranges.

        Args:
            winners: Their answers in steps, from the largest noisy one down.
            losers: All other answers in steps.
            box: What is asked of the gaps and values.
        """
        k, n = len(winners), len(winners) + len(losers)
        masses = [
            self._shift(self._mass, winner) * self._mask(i, box) for i, winner in enumerate(winners)
        ]
        after = self._of_losers(losers).after(k, box.gaps[-1])
        for i in range(k - 1, 0, -1):
            after = _step(masses[i], after, box.gaps[i - 1])
        total = Fraction(float(masses[0] @ after[0]))
        error = Fraction((k + 1) * (4 * self._size + 64) + 16 * n * n, 2**53)
        return Bounds(
            max(total - error, Fraction(0)), min(total + error + n * _BEYOND, Fraction(1))
        )

    def _of_losers(self, losers: Winners) -> "_Losers":
        if losers not in self._losers:
            self._losers[losers] = _Losers(
                [(self._shift(self._mass, a), self._shift(self._below, a)) for a in losers]
            )
        return self._losers[losers]

    def _shift(self, of_noise: Array, answer: int) -> Array:
        """From noise to the values along the grid."""
        start = self._first - answer + self._size
        return of_noise[start : start + self._size]

    def _mask(self, i: int, box: Box) -> Any:
        """1 where the value is in its range, 0 elsewhere."""
        first, end = box.values[i]
        mask = np.ones(self._size)
        if first is not None:
            mask[: min(max(first - self._first, 0), self._size)] = 0
        if end is not None:
            mask[min(max(end - self._first, 0), self._size) :] = 0
        if box.remainder is not None and box.remainder[0] == i:
            _, left, modulus = box.remainder
            mask[(np.arange(self._size) + (self._first - left) % modulus) % modulus != 0] = 0
        return mask


class _Losers:
    """All losers together: how many of them tie at a value, and the largest of them."""

    def __init__(self, each: list[tuple[Array, Array]]) -> None:
        size = len(each[0][0])
        self._tied: list[Array] = [np.ones(size)]
        for mass, below in each:
            more = [*self._tied, np.zeros(size)]
            fewer = [np.zeros(size), *self._tied]
            self._tied = [a * below + b * mass for a, b in zip(more, fewer, strict=True)]

    @cached_property
    def _up_to(self) -> Array:
        """P(the largest is at most v)."""
        total: Array = sum(self._tied)  # type: ignore[assignment]
        return total

    def after(self, k: int, gap: Range) -> list[Array]:
        """B_k(v, m) for m from 1 to k."""
        first, end = gap
        larger = _window(self._up_to, first, end)
        return [
            larger / factorial(m)
            + (
                sum(
                    c * (factorial(t) / factorial(m + t)) for t, c in enumerate(self._tied) if t > 0
                )
                if first == 0
                else 0
            )
            for m in range(1, k + 1)
        ]


def _step(mass: Array, after: list[Array], gap: Range) -> list[Array]:
    """B_i(v, m) for m from 1 to i, from those of the next winner."""
    first, end = gap
    larger = _window(np.cumsum(mass * after[0]), first, end)
    return [
        larger / factorial(m) + (mass * after[m] if first == 0 else 0) for m in range(1, len(after))
    ]


def _window(up_to: Array, first: int, end: int | None) -> Array:
    """The sum over gaps g > 0 from `first` to before `end` at v − g, of what adds up to `up_to`."""
    near = _delay(up_to, max(first, 1))
    return near if end is None else near - _delay(up_to, max(end, 1))


def _delay(along: Array, steps: int) -> Array:
    """What stands so many steps below; 0 below the grid."""
    delayed = np.zeros(len(along))
    if steps < len(along):
        delayed[steps:] = along[: len(along) - steps]
    return delayed


@lru_cache(maxsize=64)
def _noise(size: int, rate: Fraction) -> tuple[Array, Array]:
    """P(X = d) and P(X < d) for each d from −size to size.

    x^d is a multiple of 2^−160 that is wrong by less than (d + 1)·2^−160.
    """
    low, _ = exp_minus(rate, _BITS)
    x = low.numerator * _ONE // low.denominator
    powers = [_ONE]
    for _ in range(size + 1):
        powers.append(powers[-1] * x >> _BITS)
    mass = [power * (_ONE - x) // (_ONE + x) / _ONE for power in powers[: size + 1]]
    tails = [power * _ONE // (_ONE + x) for power in powers]  # P(X ≥ d) for d ≥ 1
    below = [tails[1 - d] / _ONE for d in range(-size, 1)]
    below += [(_ONE - tails[d]) / _ONE for d in range(1, size + 1)]
    return np.array([*mass[:0:-1], *mass]), np.array(below)
