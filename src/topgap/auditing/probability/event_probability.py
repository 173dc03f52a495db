"""Exact probabilities of winners with gaps in given ranges: the law that an audit compares with.

A released gap is a real gap rounded down, so it is at least t steps if and only if the real one is.
And the winners j_1, …, j_k lead with gaps of at least t_1, …, t_k if and only if they still lead,
in this order, when each of them is lowered by the gaps from its own on down: by t_i + … + t_k. So

    P[these winners, gaps ≥ t] = P[these winners] for answers that are lowered so,

and the probability of a gap from a to b steps is that of a gap ≥ a less that of a gap ≥ b.

`topgap.law.top_k` goes from step to step, so it is limited to answers that lie close together. This
module takes the same integrals (see `topgap.law.probability`) from answer to answer, where the
integrand is smooth, and bounds each power x^i of x = e^−ρ separately. So neither the distance of
the answers nor the size of a gap matters. A test compares the two.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from itertools import product
from math import prod

from topgap.law import Bounds, exp_minus
from topgap.law.polynomial import ONE, ZERO, Polynomial, U, power_of_x

Winners = tuple[int, ...]
Range = tuple[int, int | None]
"""From the first number of steps up to, but excluding, the second; None for no end."""
_BITS = 96
_MOST_TERMS = 256


def is_computable(answers: Sequence[int]) -> bool:
    """Whether the polynomials stay short: their terms are all products of the losers' powers."""
    return prod(times + 1 for times in Counter(answers).values()) <= _MOST_TERMS


def bound_probability(
    winners: Winners, losers: Winners, ranges: Sequence[Range], rate: Fraction
) -> Bounds:
    """Bound the probability that these items win in this order, with each gap in its range.

    Args:
        winners: Their answers in steps of the resolution, from the largest noisy one down.
        losers: All other answers in steps.
        ranges: For each gap, in steps.
        rate: ρ, the rate of the noise per step.

    >>> bounds = bound_probability((4,), (4,), [(0, 1)], Fraction(1))   # half of 1 − 1/e
    >>> round(float(bounds.low), 6), round(float(bounds.high), 6)
    (0.31606, 0.31606)
    """
    low = high = Fraction(0)
    ends: list[list[tuple[int, int]]] = [
        [(first, 1)] if end is None else [(first, 1), (end, -1)] for first, end in ranges
    ]
    for chosen in product(*ends):
        one = bound_lead_probability(winners, losers, tuple(steps for steps, _ in chosen), rate)
        if prod(sign for _, sign in chosen) > 0:
            low, high = low + one.low, high + one.high
        else:
            low, high = low - one.high, high - one.low
    return Bounds(max(low, Fraction(0)), min(max(high, Fraction(0)), Fraction(1)))


def bound_lead_probability(
    winners: Winners, losers: Winners, gaps: Winners, rate: Fraction
) -> Bounds:
    """Bound the probability that these items win, each gap at least this number of steps."""
    lowered, by = [], 0
    for winner, gap in zip(reversed(winners), reversed(gaps), strict=True):
        by += gap
        lowered.append(winner - by)
    least = min(*lowered, *losers)  # only differences matter, so the cache hits more often
    return _bound_order_probability(
        tuple(each - least for each in reversed(lowered)),
        tuple(sorted(each - least for each in losers)),
        rate,
    )


@lru_cache(maxsize=100_000)
def _bound_order_probability(winners: Winners, losers: Winners, rate: Fraction) -> Bounds:
    first = max(losers)
    corners = sorted({first, *(each for each in winners if each > first)})
    last = len(corners) - 1

    def end(piece: int) -> Polynomial:
        """The smallest u = e^−ρ(y − corner) of a piece, which reaches to the next corner."""
        return ZERO if piece == last else power_of_x(corners[piece + 1] - corners[piece])

    @cache
    def above(i: int, piece: int) -> Polynomial:
        """The probability that winners 1 to i lie above y, in this order, for y in this piece."""
        if i == 0:
            return ONE
        distance = corners[piece] - winners[i - 1]
        here = ZERO
        if distance >= 0:
            here = power_of_x(distance) * above(i - 1, piece).integral(end(piece), U)
        return here if piece == last else here + above(i, piece + 1).at(ONE)

    total = ZERO
    for piece, corner in enumerate(corners):
        minus = ZERO - _below(tuple(corner - each for each in losers)).derivative()
        total = total + (above(len(winners), piece) * minus).integral(end(piece), ONE)
    bits = _BITS + 2 * len(losers)  # terms may be as large as 2^losers, and cancel
    low = high = Fraction(0)
    for (power, _), factor in total.terms.items():
        x = power_bounds(rate, power, bits)
        small, large = sorted((factor * x.low, factor * x.high))
        low, high = low + small, high + large
    return Bounds(max(low, Fraction(0)), min(high, Fraction(1)))


@lru_cache(maxsize=1_000)
def _below(distances: Winners) -> Polynomial:
    """The probability that answers so far below a corner stay below y: ∏ (1 − x^d·u)."""
    product_of_all = ONE
    for each in distances:
        product_of_all = product_of_all * (ONE - power_of_x(each) * U)
    return product_of_all


@lru_cache(maxsize=100_000)
def power_bounds(rate: Fraction, power: int, bits: int = _BITS) -> Bounds:
    """Bounds of x^power, as multiples of 2^−(bits + 8), which keeps their sums short."""
    low, high = exp_minus(rate * power, bits)
    one = 1 << (bits + 8)
    return Bounds(
        Fraction(low.numerator * one // low.denominator, one),
        Fraction(-(-high.numerator * one // high.denominator), one),
    )
