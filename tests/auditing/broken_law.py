"""The exact law of geometric noise with ties broken in some way, and of gaps made in wrong ways.

A probability is a rational function of x = e^−ρ, and these functions take x itself: with a Fraction
they are exact, and so is a comparison with e^ε, which is a power of 1/x when Δ and the resolution
are 1. Nothing is cut off: where the runner-up lies above all answers, the sum over its height is a
geometric series.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations, product
from math import factorial, prod
from typing import Literal, NamedTuple

Ties = Literal["uniform", "index"]
Answers = tuple[int, ...]
Outcome = tuple[tuple[int, int], ...]
Terms = dict[tuple[int, int], Fraction]
"""Coefficients of u^power·s^tied."""


def plain(answers: Answers, outcome: Outcome, x: Fraction, ties: Ties) -> Fraction:
    """The probability of these winners, from the largest down, and of these *plain* differences.

    Ties are broken uniformly, which is the paper's Option 1, or in favour of the lower index.
    """
    winners = [winner for winner, _ in outcome]
    gaps = [gap for _, gap in outcome]
    losers = [i for i in range(len(answers)) if i not in winners]
    groups = _tied(winners, gaps)
    with_runner_up = groups.pop() if gaps[-1] == 0 else []
    if ties == "index":
        orders = Fraction(all(each == sorted(each) for each in [*groups, with_runner_up]))
    else:
        orders = Fraction(1, prod(factorial(len(each)) for each in groups))
    heights = [sum(gaps[i:]) for i in range(len(gaps))]
    needed = [answers[w] - height for w, height in zip(winners, heights, strict=True)]

    def at(level: int | None) -> Terms:
        """The probability of a runner-up at this level; for None, at u = x^level above all."""
        terms: Terms = {(0, 0): orders}
        for need in needed:
            terms = _times(terms, {_u(level): (1 - x) * _power(x, level, need)})
        for i in losers:
            reach = _power(x, level, answers[i])
            may_tie = ties == "uniform" or not with_runner_up or i > with_runner_up[-1]
            here = {(*_u(level)[:1], 1): (1 - x) * reach} if may_tie else {}
            one = {(0, 0): Fraction(1)} if level is None or level >= answers[i] else {}
            terms = _times(terms, _plus(one, {_u(level): -reach}, here))
        return terms

    def share(tied: int) -> Fraction:
        """The part of the orders of those tied with the runner-up in which the winners lead."""
        if tied == 0:
            return Fraction(0)  # somebody has to be the runner-up
        if ties == "index":
            return Fraction(1)
        return Fraction(factorial(tied), factorial(tied + len(with_runner_up)))

    first, top = max([answers[i] for i in losers] + needed), max(answers)
    total = sum(
        (c * share(t) for level in range(first, top) for (_, t), c in at(level).items()),
        Fraction(0),
    )
    start = max(first, top)
    for (power, tied), coefficient in at(None).items():
        if power:
            total += coefficient * share(tied) * x ** (power * start) / (1 - x**power)
    return total


class Wrong(NamedTuple):
    """How gaps are made of values, with ties broken in this way.

    Attributes:
        ties: How ties are broken.
        corrected: Whether a gap between values that differ is corrected by a uniform order of all
            that is drawn for this alone.
    """

    ties: Ties
    corrected: bool = False

    def probability(self, answers: Answers, outcome: Outcome, x: Fraction) -> Fraction:
        """The probability of exactly this outcome."""
        if not self.corrected:
            return plain(answers, outcome, x, self.ties)
        total = Fraction(0)
        for lowered, weight in _lowerings(len(outcome)):
            choices = [_before(gap, low) for (_, gap), low in zip(outcome, lowered, strict=True)]
            for gaps in product(*choices):
                wins = tuple((w, gap) for (w, _), gap in zip(outcome, gaps, strict=True))
                total += weight * plain(answers, wins, x, self.ties)
        return total


def outcomes(items: int, k: int, largest: int) -> Iterator[Outcome]:
    """Every outcome with gaps up to the largest."""
    for winners in permutations(range(items), k):
        for gaps in product(range(largest + 1), repeat=k):
            yield tuple(zip(winners, gaps, strict=True))


def names(answers: Answers, winners: tuple[int, ...], x: Fraction, ties: Ties) -> Fraction:
    """The probability that these are the winners, whatever the gaps are.

    The last gap is summed as a series: beyond all answers each further step has a factor x, and
    so have the gaps before it, where x^j is the factor of the j-th.
    """
    beyond = max(answers) - min(answers) + 1
    total = Fraction(0)
    for gaps in product(range(beyond + 1), repeat=len(winners)):
        weight = Fraction(1)
        for place, gap in enumerate(gaps, 1):
            if gap == beyond:
                weight /= 1 - x**place
        total += weight * plain(answers, tuple(zip(winners, gaps, strict=True)), x, ties)
    return total


def _tied(winners: list[int], gaps: list[int]) -> list[list[int]]:
    groups = [[winners[0]]]
    for winner, gap in zip(winners[1:], gaps[:-1], strict=True):
        if gap == 0:
            groups[-1].append(winner)
        else:
            groups.append([winner])
    return groups


def _u(level: int | None) -> tuple[int, int]:
    return (1, 0) if level is None else (0, 0)


def _power(x: Fraction, level: int | None, answer: int) -> Fraction:
    """x^(level − answer), without its factor u if the level is open; 0 below the answer."""
    if level is None:
        return x**-answer
    return x ** (level - answer) if level >= answer else Fraction(0)


def _plus(*parts: Terms) -> Terms:
    total: Terms = {}
    for part in parts:
        for key, coefficient in part.items():
            total[key] = total.get(key, Fraction(0)) + coefficient
    return total


def _times(one: Terms, other: Terms) -> Terms:
    total: Terms = {}
    for (a, b), first in one.items():
        for (c, d), second in other.items():
            key = (a + c, b + d)
            total[key] = total.get(key, Fraction(0)) + first * second
    return total


def _lowerings(k: int) -> Iterator[tuple[tuple[bool, ...], Fraction]]:
    """For each uniform order of the winners and the runner-up, which gaps it lowers."""
    for order in permutations(range(k + 1)):
        yield tuple(order[i] < order[i + 1] for i in range(k)), Fraction(1, factorial(k + 1))


def _before(gap: int, lowered: bool) -> list[int]:
    """The plain differences that become this gap; a tie is never lowered."""
    found = [gap + lowered] if gap + lowered >= 1 else []
    return [0, *found] if gap == 0 else found
