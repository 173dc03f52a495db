"""The exact probability of an output with discrete Laplace noise, straight from the definition.

No sampler and no memoryless property is used here: the probabilities of all noisy answers are
multiplied and added up, so that the result can judge any implementation.

**Derivation.** Count in steps of the resolution: integer answers a_i, and with x = e^−ρ noise

    P(X = d) = x^|d|·(1 − x)/(1 + x).

Its tails are sums of such terms: P(X < d) = x^(1 − d)/(1 + x) for d ≤ 0, and by symmetry
P(X < d) = 1 − x^d/(1 + x) for d ≥ 1. So 1 + x times any of these is a polynomial in x.

Noisy answers are independent. Let the winners have the values v_1 ≥ … ≥ v_k, and let e_i be the
probability that loser i has the value v_k, and b_i that it has a smaller one. To break ties
uniformly, give every item an independent uniform mark from 0 to 1 and let the larger one win. Among
m winners of the same value, the listed order then has the probability 1/m!. Among the m that share
the value v_k, the k-th has the smallest mark u, with the density (1 − u)^(m − 1)/(m − 1)! that the
others have larger ones in this order; and no loser comes before it if each that shares the value
has a smaller mark:

    P[values and order of the winners] = ∏ P(winners' values)·∏ 1/m!
                                         ·∫ ∏ (b_i + u·e_i)·(1 − u)^(m − 1)/(m − 1)! du.

The last gap is 0 if some loser has the value v_k: take away the same without any u, ∏ b_i. It is
g > 0 if the largest of the losers is r = v_k − g, with the probability
∏ P(loser ≤ r) − ∏ P(loser < r), whatever the marks.

With a threshold t, only values of at least t are named. If they are fewer than k, all losers are
below t, and the last gap is v_j − t. If they are k, the last gap is v_k − t wherever the largest of
the losers is t or less.

With n answers, (1 + x)^n times the result is one polynomial in x: exact. Only in the end are
rational bounds of e^−ρ put in, which gives rigorous bounds of the probability.

The work grows with the number of items; it is meant for small inputs.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import groupby, pairwise
from math import factorial, prod

from topgap.errors import ParameterError
from topgap.law.exponential import Bounds, exp_minus
from topgap.law.outcome import MOST_STEPS, read_number, read_pairs, require_noise, split_answers
from topgap.law.polynomial import ONE, ZERO, Polynomial, U, X, power_of_x
from topgap.parameters import TopK

_IMPOSSIBLE = Bounds(Fraction(0), Fraction(0))


def laplace_top_k(
    answers: object,
    parameters: TopK,
    outcome: Sequence[tuple[int, Fraction | int]],
    *,
    last_gap: Fraction | int | None = None,
    bits: int = 128,
) -> Bounds:
    """Bound the probability that Top-k with Laplace noise releases exactly these items and values.

    Args:
        answers: One number per item; at least k + 1 of them, or with a threshold any number.
        parameters: k, ε, resolution, sensitivity, items per person, the noise "laplace", and a
            threshold if there is one.
        outcome: k pairs (index, noisy value) from the largest down, or with a threshold at most so
            many. A value is a Fraction or an int, a multiple of the resolution, as a gap is.
        last_gap: From the last value to the next one, or to the threshold if that is larger; None
            for any. It is released, too. The other gaps are differences of values.
        bits: e^−ρ is bounded to within 2**−bits.

    Returns:
        Rational bounds of the probability. Impossible values and gaps have probability 0.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used, or spread too far for this.
        ParameterError, ParameterTypeError: `outcome` is not k pairs with different indices of
            answers, `last_gap` is no such number, a value or gap is too large for this, `bits` is
            no integer of at least 1, or the parameters ask for other noise.

    >>> one = TopK(k=1, epsilon=1, monotonic=True, items_per_person=1, noise="laplace")
    >>> bounds = laplace_top_k([4, 4], one, [(0, 4)], last_gap=0)   # half of P(X = 0)²
    >>> round(float(bounds.low), 6), round(float(bounds.high), 6)
    (0.106776, 0.106776)
    >>> round(float(laplace_top_k([4, 4], one, [(0, 4)]).low), 6)   # half of P(X = 0)
    0.231059
    """
    require_noise(parameters, "laplace")
    indices, values = read_pairs(outcome, "value")
    gap = 0 if last_gap is None else read_number(last_gap, "The last gap")
    winners, losers = split_answers(answers, parameters, indices)
    *steps, steps_of_gap = (each / parameters.resolution for each in (*values, gap))
    if any(each.denominator != 1 for each in (*steps, steps_of_gap)) or steps_of_gap < 0:
        return _IMPOSSIBLE
    if any(upper < lower for upper, lower in pairwise(steps)):
        return _IMPOSSIBLE
    levels = [each.numerator for each in steps]
    if steps_of_gap > MOST_STEPS or any(
        abs(level - winner) > MOST_STEPS for level, winner in zip(levels, winners, strict=True)
    ):
        raise ParameterError(
            "The exact law is computed for gaps of the outcome, and for noise, of up to "
            f"{MOST_STEPS} steps."
        )
    probability = _order_and_losers(
        levels,
        losers,
        None if last_gap is None else steps_of_gap.numerator,
        parameters.k,
        parameters.threshold_units,
    )
    for level, winner in zip(levels, winners, strict=True):
        probability = probability * _equal(level - winner)
    return _bounds(probability, len(winners) + len(losers), parameters.rate, bits)


def _order_and_losers(
    levels: Sequence[int], losers: Sequence[int], gap: int | None, k: int, threshold: int | None
) -> Polynomial:
    """(1 + x)^losers times the probability of the order and the last gap, given these values."""
    if threshold is not None:
        ends = min(levels, default=threshold) - (gap or 0)
        if ends < threshold or (gap is not None and not levels):
            return ZERO
        if len(levels) < k:
            is_lead = gap is None or ends == threshold
            return _all_below(threshold, losers) * _orders(levels) if is_lead else ZERO
        if gap and ends == threshold:
            return _all_below(threshold + 1, losers) * _orders(levels)
        if ends == threshold:
            gap = None  # the next one may tie, or be cut off
    if gap:
        runner_up = levels[-1] - gap
        largest = _all_below(runner_up + 1, losers) - _all_below(runner_up, losers)
        return largest * _orders(levels)
    tied = levels.count(levels[-1])
    marks = _product(_below(levels[-1] - a) + U * _equal(levels[-1] - a) for a in losers)
    if gap == 0:
        marks = marks - marks.at(ZERO)
    for _ in range(tied - 1):
        marks = marks * (ONE - U)
    last = marks.integral(ZERO, ONE) * _constant(Fraction(1, factorial(tied - 1)))
    return last * _orders(levels[:-tied])


def _orders(levels: Sequence[int]) -> Polynomial:
    """The probability that ties among these winners are broken in this order."""
    groups = (len([*group]) for _, group in groupby(levels))
    return _constant(Fraction(1, prod(map(factorial, groups))))


def _all_below(level: int, losers: Sequence[int]) -> Polynomial:
    """(1 + x)^losers times the probability that all of them are below a level."""
    return _product(_below(level - loser) for loser in losers)


def _equal(d: int) -> Polynomial:
    """(1 + x)·P(X = d)."""
    return (ONE - X) * power_of_x(abs(d))


def _below(d: int) -> Polynomial:
    """(1 + x)·P(X < d)."""
    return power_of_x(1 - d) if d <= 0 else ONE + X - power_of_x(d)


def _constant(number: Fraction) -> Polynomial:
    return Polynomial({(0, 0): number})


def _product(factors: Iterable[Polynomial]) -> Polynomial:
    product = ONE
    for each in factors:
        product = product * each
    return product


def _bounds(numerator: Polynomial, items: int, rate: Fraction, bits: int) -> Bounds:
    """Bounds of the numerator over (1 + x)^items, which falls with x ≥ 0 if the rest stays."""
    x = exp_minus(rate, bits)
    low, high = numerator.bounds(*x)
    return Bounds(
        max(low, Fraction(0)) / (1 + x.high) ** items,
        min(high / (1 + x.low) ** items, Fraction(1)),
    )
