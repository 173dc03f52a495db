"""Rational bounds of e^−x: the one number in the law that is not rational."""

from fractions import Fraction
from typing import NamedTuple

from topgap.errors import ParameterError
from topgap.numbers.parse import is_whole

MOST_BITS = 10_000
"""How finely e^−x can be bounded."""


class Bounds(NamedTuple):
    """Two rationals with the true number between them."""

    low: Fraction
    high: Fraction


def exp_minus(rate: Fraction | int, bits: int) -> Bounds:
    """Bound e^−rate for any rational rate ≥ 0 to within 2**−bits.

    The terms of 1 − r + r²/2! − … alternate in sign and shrink once the index passes r; from there
    on, the truth lies between any two sums that follow each other. A term below 1 is past that
    point, since r^i/i! is at least 1 for all i up to r.

    >>> low, high = exp_minus(Fraction(1), 64)
    >>> float(low), high - low < Fraction(1, 2**64)
    (0.36787944117144233, True)
    """
    if not isinstance(rate, Fraction | int) or rate < 0:
        raise ParameterError("exp_minus needs a rate of at least 0, as a Fraction or an int.")
    if not is_whole(bits) or not 1 <= bits <= MOST_BITS:
        raise ParameterError(f"bits must be an int from 1 to {MOST_BITS}.")
    if rate > bits + 1:
        return Bounds(Fraction(0), Fraction(1, 2 ** (bits + 1)))  # since e > 2
    rate = Fraction(rate)
    sum_before, term, index = Fraction(0), Fraction(1), 0
    while abs(term) * 2**bits >= 1:
        sum_before += term
        index += 1
        term *= -rate / index
    low, high = sorted((sum_before, sum_before + term))
    return Bounds(max(low, Fraction(0)), high)
