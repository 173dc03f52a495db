"""The exact probability of an output with exponential noise, straight from the definition.

No sampler, no memoryless property and no rounding of values is used here: noise is real, and the
probability is the integral of the densities, solved in closed form, so that it can judge any
implementation.

**Derivation.** Count in steps of the resolution: integer answers a_i, noise Exponential with e^−ρ
per step, x = e^−ρ. Let the winners j_1, …, j_k come down to a runner-up at the real height y, and
let T_i(y) be the probability that winners 1 to i exceed a value y at the wanted distances:

    T_0 = 1,    T_i(y) = ∫ f(w) T_{i−1}(w) dw  over w from y + g_i to y + g_i + 1,

f being the density of winner i's noisy answer (without gaps, w runs from y to ∞). The runner-up is
the largest of the losers, whose distribution function is H(y) = ∏ (1 − e^−ρ(y − a_i)) above all
their answers, so the sought probability is ∫ T_k(y) dH(y).

All these functions have their corners at integers. Between the integers m and m + 1 put
u = e^−ρ(y − m), from 1 down to x; then f(w)dw becomes −x^(m − a)du, everything is a polynomial in
u and x with rational coefficients, and so is every integral. Above the largest answer there are no
more corners: T_i is a multiple of e^−iρy there, and the formulas hold up to ∞, down to u = 0.

A threshold t is the answer of one more item, the sentinel. An output of k items is one of n + 1 in
which it is a loser. An output of j < k items is one in which it is the runner-up of j winners: the
sought probability is ∫ T_j(y) H(y) dS(y), with S(y) = 1 − e^−ρ(y − t) above t, and H of the items
that are not named. T_0 = 1: nobody exceeds the sentinel.

What results is one polynomial in x = e^−ρ: exact. Only in the end are rational bounds of e^−ρ put
in, which gives rigorous bounds of the probability.

The work grows with the spread of the answers and the number of items; it is meant for small inputs.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

from topgap.errors import ParameterError
from topgap.law.exponential import Bounds, exp_minus
from topgap.law.outcome import (
    MOST_STEPS,
    read_pairs,
    require_list,
    require_noise,
    split_answers,
)
from topgap.law.polynomial import ONE, ZERO, Polynomial, U, X, power_of_x
from topgap.parameters import TopK


def gap_top_k(
    answers: object,
    parameters: TopK,
    outcome: Sequence[tuple[int, Fraction | int]],
    *,
    bits: int = 128,
) -> Bounds:
    """Bound the probability that Noisy Top-k with Gap releases exactly `outcome`.

    Args:
        answers: One number per item; at least k + 1 of them, or with a threshold any number.
        parameters: k, ε, resolution, sensitivity, whether the answers are monotonic, and a
            threshold if there is one.
        outcome: k pairs (index, gap) from the largest down, as `topgap.reference.gap_top_k` gives.
            A gap is a Fraction or an int. With a threshold there may be fewer; then the last gap is
            the lead over the threshold with its noise, the sentinel.
        bits: e^−ρ is bounded to within 2**−bits.

    Returns:
        Rational bounds of the probability. An impossible gap has probability 0.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used, or spread too far for this.
        ParameterError, ParameterTypeError: `outcome` is not k pairs with different indices of
            answers, `bits` is not an integer of at least 1, or the parameters ask for other noise.

    >>> bounds = gap_top_k([4, 4], TopK(k=1, epsilon=2, resolution=1), [(0, Fraction(0))])
    >>> float(bounds.low) == float(bounds.high)   # half of 1 − 1/e
    True
    >>> round(float(bounds.low), 6)
    0.31606
    >>> cut = TopK(k=1, epsilon=2, resolution=1, threshold=4)
    >>> round(float(gap_top_k([4], cut, []).low), 6)   # the one item, or the sentinel
    0.5
    """
    require_noise(parameters, "exponential")
    indices, gaps = read_pairs(outcome, "gap")
    winners, losers, sentinel = _split_answers(answers, parameters, indices)
    gaps_in_steps = [gap / parameters.resolution for gap in gaps]
    if any(gap < 0 or gap.denominator != 1 for gap in gaps_in_steps):
        return Bounds(Fraction(0), Fraction(0))
    steps = [gap.numerator for gap in gaps_in_steps]
    if max(steps, default=0) > MOST_STEPS:
        raise ParameterError(
            f"The exact law is computed for gaps of the outcome up to {MOST_STEPS} steps."
        )

    @cache
    def above(i: int, m: int) -> Polynomial:
        """T_i(y) for y between m and m + 1, as a polynomial in u = e^−ρ(y − m) and x."""
        if i == 0:
            return ONE
        here = m + steps[i - 1]  # w starts between here and here + 1 and ends one further
        return _density(winners[i - 1], here) * above(i - 1, here).integral(X, U) + _density(
            winners[i - 1], here + 1
        ) * above(i - 1, here + 1).integral(U, ONE)

    probability = _over_runner_up(lambda m: above(len(winners), m), winners, losers, sentinel)
    return _bounds(probability, parameters.rate, bits)


def top_k(answers: object, parameters: TopK, outcome: Sequence[int], *, bits: int = 128) -> Bounds:
    """Bound the probability that Noisy Top-k without gaps names exactly `outcome`, in this order.

    Args, result and errors are those of `gap_top_k`, but `outcome` holds indices alone.

    >>> float(top_k([7, 7, 7], TopK(k=2, epsilon=1), [2, 0]).low)   # one of six orders
    0.16666666666666666
    """
    require_noise(parameters, "exponential")
    require_list(outcome)
    winners, losers, sentinel = _split_answers(answers, parameters, outcome)
    top = max(winners + losers + sentinel)

    @cache
    def above(i: int, m: int) -> Polynomial:
        """T_i(y) for y between m and m + 1; for m = top, for every y above top."""
        if i == 0:
            return ONE
        if m == top:
            return _density(winners[i - 1], m) * above(i - 1, m).integral(ZERO, U)
        here = _density(winners[i - 1], m) * above(i - 1, m).integral(X, U)
        return here + above(i, m + 1).at(ONE)

    for m in range(top, max(losers + sentinel), -1):
        above(len(winners), m)  # from the top down, so that no recursion runs deep
    probability = _over_runner_up(lambda m: above(len(winners), m), winners, losers, sentinel)
    return _bounds(probability, parameters.rate, bits)


def _split_answers(
    answers: object, parameters: TopK, indices: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    """The winners, the losers, and the sentinel if it is the runner-up; else it is a loser."""
    winners, losers = split_answers(answers, parameters, indices)
    threshold = parameters.threshold_units
    sentinel = [] if threshold is None else [threshold]
    if len(winners) == parameters.k:
        return winners, losers + sentinel, []
    return winners, losers, sentinel


def _density(answer: int, m: int) -> Polynomial:
    """−f(w)dw/du between m and m + 1: nothing below the answer, x^(m − answer) above it."""
    return power_of_x(m - answer) if m >= answer else ZERO


def _over_runner_up(
    above: Callable[[int], Polynomial], winners: list[int], losers: list[int], sentinel: list[int]
) -> Polynomial:
    """∫ T(y) dH(y) over all heights y of the runner-up, as a polynomial in x.

    If the sentinel is the runner-up, ∫ T(y) H(y) dS(y).
    """
    top = max(winners + losers + sentinel)
    total = ZERO
    for m in range(max(losers + sentinel), top + 1):
        h = ONE
        for answer in losers:
            h = h * (ONE - power_of_x(m - answer) * U)
        # dH is −H'(u)du as u falls; at the top the interval reaches from there to infinity.
        density = ZERO - h.derivative()
        for answer in sentinel:
            density = h * _density(answer, m)
        total = total + (above(m) * density).integral(ZERO if m == top else X, ONE)
    return total


def _bounds(probability: Polynomial, rate: Fraction, bits: int) -> Bounds:
    low, high = probability.bounds(*exp_minus(rate, bits))
    return Bounds(max(low, Fraction(0)), min(high, Fraction(1)))
