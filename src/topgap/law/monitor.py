"""The exact probability of what a monitor gives for a sequence of answers.

No sampler and no memoryless property is used here: the probabilities of all noise are multiplied
and added up, so that the result can judge any implementation.

**Derivation.** Count in steps of the resolution: the threshold t and the answers a_i are integers.
With u = e^−ρ₁ and x = e^−ρ₂ the noise of the threshold is n with the probability (1 − u)·u^n, and
that of an answer (1 − x)·x^n, for n ≥ 0. Given n, the answers are independent. One with the gap g
has the noise e = t + n + g − a, which must not be negative:

    P[gap g] = (1 − x)·x^e;    P[below] = P[noise < d] = 1 − x^d,    d = t + n − a ≥ 0,

for the others. Let s be the least n for which no e and no d is negative, and write n = s + m. With
w gaps, E the sum of all e at m = 0, and d the distances of those below at m = 0,

    P = (1 − u)·(1 − x)^w·u^s·x^E · Σ_m u^m·x^(wm)·∏ (1 − x^d·x^m).

The product is Σ_j (−1)^j·S_j·x^(jm), where S_j is the sum over all j-fold products of different
x^d. So the series are geometric, and the sum over m is

    Σ_j (−1)^j·S_j/(1 − u·x^(w + j)).

Each part of this grows or falls with u and x alone, so rational bounds of these two give rigorous
bounds of the probability.
"""

from collections.abc import Sequence
from fractions import Fraction

from topgap.errors import AnswersError, ParameterError, ParameterTypeError
from topgap.law.exponential import Bounds, exp_minus
from topgap.law.outcome import MOST_STEPS, read_number
from topgap.selection.answers import floor_answers, read
from topgap.selection.sparse_vector import SparseVector

_IMPOSSIBLE = Bounds(Fraction(0), Fraction(0))


def sparse_vector(
    answers: object,
    parameters: SparseVector,
    outcome: Sequence[Fraction | int | None],
    *,
    bits: int = 128,
) -> Bounds:
    """Bound the probability that a monitor gives exactly `outcome` for these answers.

    Args:
        answers: The answers in the order in which the monitor is asked about them. If an answer
            depends on what was given before, it is the one that follows this outcome.
        parameters: Those of the monitor.
        outcome: For each answer its gap, a Fraction or an int, or None if it is below.
        bits: e^−ρ is bounded to within 2**−bits, for both rates.

    Returns:
        Rational bounds of the probability. An impossible gap has probability 0, and so has
        whatever comes after the last gap that is given.

    Raises:
        AnswersError, AnswersTypeError: The answers cannot be used, or spread too far for this.
        ParameterError, ParameterTypeError: `outcome` does not have one entry for each answer, one
            of them is no such number or is too large for this, or `bits` is not an integer of at
            least 1.

    >>> half = SparseVector(0, 1, 2, monotonic=True)   # both rates are 1
    >>> bounds = sparse_vector([0], half, [None])   # P(N′ < N) = x/(1 + x), and x = 1/e
    >>> round(float(bounds.low), 6), round(float(bounds.high), 6)
    (0.268941, 0.268941)
    """
    if not isinstance(parameters, SparseVector):
        raise ParameterTypeError(
            f"parameters must be a SparseVector, not {type(parameters).__name__}."
        )
    steps = floor_answers(read(answers)[0], parameters.resolution.denominator)
    if not isinstance(outcome, list | tuple):
        raise ParameterTypeError("The outcome must be a list or a tuple, in the answers' order.")
    if len(outcome) != len(steps):
        raise ParameterError("The outcome must have one entry for each answer.")
    gaps = [
        None if gap is None else read_number(gap, "Each gap of the outcome") / parameters.resolution
        for gap in outcome
    ]
    given = [place for place, gap in enumerate(gaps) if gap is not None]
    if len(given) >= parameters.answers and given[parameters.answers - 1] != len(gaps) - 1:
        return _IMPOSSIBLE
    if any(gap is not None and (gap < 0 or gap.denominator != 1) for gap in gaps):
        return _IMPOSSIBLE
    distances = [parameters.threshold_units - answer for answer in steps]
    below = [d for d, gap in zip(distances, gaps, strict=True) if gap is None]
    exact = [d + int(gap) for d, gap in zip(distances, gaps, strict=True) if gap is not None]
    if max(map(abs, distances), default=0) > MOST_STEPS:
        raise AnswersError(
            f"The exact law is computed for answers at most {MOST_STEPS} steps of the resolution "
            "from the threshold; use answers that lie closer to it or a coarser resolution."
        )
    if max(exact, default=0) > 2 * MOST_STEPS:
        raise ParameterError(
            f"The exact law is computed for gaps of the outcome up to {MOST_STEPS} steps."
        )
    start = max(0, -min((*below, *exact), default=0))
    u, x = (
        _to_binary(exp_minus(rate, bits), bits)
        for rate in (parameters.threshold_rate, parameters.answer_rate)
    )
    return _evaluate(u, x, [d + start for d in below], [e + start for e in exact], start)


def _evaluate(u: Bounds, x: Bounds, below: list[int], exact: list[int], start: int) -> Bounds:
    """The probability, from the distances at the least noise of the threshold."""
    low = high = Fraction(0)
    for j, (least, most) in enumerate(zip(_sums(x.low, below), _sums(x.high, below), strict=True)):
        power = len(exact) + j
        least = least / (1 - u.low * x.low**power)
        most = most / (1 - u.high * x.high**power)
        low, high = (low - most, high - least) if j % 2 else (low + least, high + most)
    sure = sum(exact)
    least, most = (
        (1 - other_u) * (1 - other_x) ** len(exact) * at_u**start * at_x**sure
        for at_u, at_x, other_u, other_x in (
            (u.low, x.low, u.high, x.high),
            (u.high, x.high, u.low, x.low),
        )
    )
    return Bounds(max(low, Fraction(0)) * least, min(high * most, Fraction(1)))


def _sums(x: Fraction, below: list[int]) -> list[Fraction]:
    """S_j for every j: the sums over all j-fold products of different x^d."""
    sums = [Fraction(1)]
    for d in below:
        power = x**d
        more = [*sums, Fraction(0)]
        sums = [more[0], *(more[j] + power * sums[j - 1] for j in range(1, len(more)))]
    return sums


def _to_binary(bounds: Bounds, bits: int) -> Bounds:
    """The bounds rounded outwards to short binary fractions, whose powers stay short."""
    one = 2 ** (bits + 8)
    return Bounds(Fraction(bounds.low * one // 1, one), Fraction(-(-bounds.high * one // 1), one))
