"""The law of the number of draws: for one geometric number, and for the ties of a run.

A geometric number is drawn in two phases of trials. In the first phase a trial proposes u below t
and ends the phase with probability e^(−u/t); in the second it does so with probability 1 − 1/e. A
trial of e^−θ tosses K coins, P(K > m) = θ^m/m!, and says yes if K is odd. So a phase is determined
by the law of K, and by which K end it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from benchmarks.data import Counts

RNG = np.random.default_rng()

# Fewer coins than that a trial tosses, but for a probability of less than 1/19!.
MOST_COINS = 20

Divisor = Callable[[int], int]
Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Noise = Callable[[int], Floats]


class Spread(NamedTuple):
    """The mean of a number that is left to chance, and its variance."""

    mean: float
    variance: float

    def __add__(self, other: object) -> "Spread":
        """The spread of the sum of two independent numbers."""
        if not isinstance(other, Spread):
            return NotImplemented
        return Spread(self.mean + other.mean, self.variance + other.variance)

    def of(self, count: "float | Spread") -> "Spread":
        """The spread of the sum of so many such numbers."""
        many = count if isinstance(count, Spread) else Spread(count, 0)
        return Spread(
            many.mean * self.mean, many.mean * self.variance + self.mean**2 * many.variance
        )

    @property
    def deviation(self) -> float:
        """The standard deviation."""
        return float(self.variance**0.5)


def as_written(k: int) -> int:
    """The k-th coin of a trial shows heads with probability θ/k (Canonne, Kamath and Steinke)."""
    return k


def calls_of_a_geometric(t: int, divisor: Divisor = as_written) -> dict[str, Spread]:
    """How often each primitive is called for one geometric number of rate s/t.

    With another divisor d, coin k shows heads with probability θ/d(k).
    """
    theta = np.arange(t) / t
    first = _coins([float(np.mean(theta**m)) for m in range(MOST_COINS)], divisor)
    second = _coins([1.0] * MOST_COINS, divisor)
    return {
        "proposals": _phase(first, ends_on=1, trial=1, coin=0),
        "bernoulli_exp": _phase(first, ends_on=1, trial=1, coin=0)
        + _phase(second, ends_on=0, trial=1, coin=0),
        "bernoulli": _phase(first, ends_on=1, trial=0, coin=1)
        + _phase(second, ends_on=0, trial=0, coin=1),
        "uniform": _phase(first, ends_on=1, trial=1, coin=1)
        + _phase(second, ends_on=0, trial=0, coin=1),
    }


def _coins(powers: list[float], divisor: Divisor) -> list[float]:
    """P(K = 0), P(K = 1), … of a trial, given the means of θ⁰, θ¹, …"""
    more = []  # P(K > m)
    product = 1
    for m, power in enumerate(powers):
        product *= divisor(m) if m else 1
        more.append(power / product)
    return [0.0, *(before - after for before, after in zip(more, [*more[1:], 0.0], strict=True))]


def _phase(coins: list[float], *, ends_on: int, trial: float, coin: float) -> Spread:
    """What a phase costs if a trial costs so much and each of its coins so much.

    Trials are alike and independent, and the first with K % 2 = ends_on is the last. So there are a
    geometric number of trials that are not the last, each with the law of K given the one parity,
    and one with that of the other.
    """
    last = sum(coins[ends_on::2])
    others = _given(coins, 1 - ends_on, trial, coin)
    before = Spread(1 / last - 1, (1 - last) / last**2)
    return others.of(before) + _given(coins, ends_on, trial, coin)


def _given(coins: list[float], parity: int, trial: float, coin: float) -> Spread:
    probability = sum(coins[parity::2])
    if probability == 0:  # it never comes to that
        return Spread(0, 0)
    costs = [(p / probability, trial + coin * k) for k, p in enumerate(coins) if k % 2 == parity]
    mean = sum(p * cost for p, cost in costs)
    return Spread(mean, sum(p * (cost - mean) ** 2 for p, cost in costs))


def exponential(scale: float) -> Noise:
    """The law's noise of this mean, for any number of answers."""
    return lambda n: RNG.exponential(scale, n)


def coins_of(divisor: Divisor, t: int) -> Noise:
    """The noise of rate 1/t that coins of θ/d(k) make; its further digits are as good as uniform.

    It is u + t·v: u is proposed below t and accepted by a trial of u/t, and v counts trials of 1.
    """
    accepted = np.array([_yes(u / t, divisor) for u in range(t)])
    below = np.concatenate([[0.0], np.cumsum(accepted) / np.sum(accepted)])
    values = np.arange(t + 1.0)
    no = 1 - _yes(1.0, divisor)
    return lambda n: np.interp(RNG.random(n), below, values) + t * (RNG.geometric(no, n) - 1.0)


def _yes(theta: float, divisor: Divisor) -> float:
    """The probability that a trial tosses an odd number of coins."""
    coins = _coins([theta**m for m in range(MOST_COINS)], divisor)
    return sum(coins[1::2])


def pools(counts: Counts, k: int, steps: float, noise: Noise, *, refinement: int = 10) -> list[int]:
    """How many answers each round of tie-breaking of one run refines, with pruning.

    The algorithm has the law of real noise that is looked at ever more closely, so a float for each
    answer tells when the first k + 2 differ. Nothing of it is released.

    Args:
        counts: The answers.
        k: How many win.
        steps: How many steps of the resolution are in 1.
        noise: What draws the noise, in steps.
        refinement: The paper's M.
    """
    noisy = counts * steps + noise(len(counts))
    first = min(k + 2, len(noisy))
    top = np.sort(np.partition(noisy, len(noisy) - first)[-first:])
    found = []
    finer = 1.0
    while np.any(np.diff(np.floor(top * finer)) == 0):
        found.append(int(np.sum(noisy >= np.floor(top[0] * finer) / finer)))
        finer *= refinement
    return found
