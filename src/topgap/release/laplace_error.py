"""How far noisy answers and counts are off: exact quantiles of the noise.

In steps of the resolution, discrete Laplace noise is x with probability (1 − t)/(1 + t)·t^|x|,
where t = e^−rate. It is the difference of two geometric numbers: exponential noises, rounded down.
"""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

from topgap.parameters import TopK

_DIGITS = 60
_DOUBT = Decimal(10) ** -40  # far more than what rounding can do in so many digits
_SMALLEST_RATE = Fraction(1, 10**18)  # below which √(2t)/(1 − t) is √2/rate, to the last bit
_LARGEST_RATE = 10**6  # beyond which noise is 0 but for a probability that no number holds


@lru_cache(maxsize=256)
def standard_error(parameters: TopK) -> float:
    """Return the standard deviation of the noise, √(2t)/(1 − t) steps.

    >>> round(standard_error(TopK(k=9, epsilon=1, items_per_person=2, monotonic=True)), 4)
    2.7992
    """
    with localcontext(Context(prec=_DIGITS)):
        if parameters.rate < _SMALLEST_RATE:
            return float(Decimal(2).sqrt() * _to_decimal(parameters.scale))
        t = (-_rate(parameters)).exp()
        return float((2 * t).sqrt() / (1 - t) * _to_decimal(parameters.resolution))


@lru_cache(maxsize=1024)
def find_quantile(parameters: TopK, tail: Fraction) -> Fraction:
    """Return the least h for which noise exceeds h with probability at most `tail`, below 1/2.

    Noise is h steps or more with probability t^h/(1 + t) if h is 1 or more. So h is wanted with
    t^(h + 1) ≤ tail·(1 + t): it is the least whole number from −ln(tail·(1 + t))/rate − 1 on.

    >>> parameters = TopK(k=9, epsilon=1, items_per_person=1, monotonic=True)
    >>> find_quantile(parameters, Fraction(1, 40)), find_quantile(parameters, Fraction(1, 3))
    (Fraction(3, 1), Fraction(0, 1))
    """
    with localcontext(Context(prec=_DIGITS)):
        rate = _rate(parameters)
        reached = -(_to_decimal(tail) * (1 + (-rate).exp())).ln() / rate - 1
        return _round_up(reached) * parameters.resolution


@lru_cache(maxsize=1024)
def find_exponential_quantile(parameters: TopK, tail: Fraction) -> Fraction:
    """Return the least h so that exponential noise reaches h and a step with probability `tail`.

    Or with less: it reaches h + 1 steps with probability t^(h + 1), so h is the least whole number
    from −ln(tail)/rate − 1 on. The difference of two such noises does so with half of that.

    >>> parameters = TopK(k=2, epsilon=1, monotonic=True, resolution=1)   # t is e^−1/2
    >>> find_exponential_quantile(parameters, Fraction(1, 40))   # e^−3.5 is more, and e^−4 is less
    Fraction(7, 1)
    """
    with localcontext(Context(prec=_DIGITS)):
        reached = -_to_decimal(tail).ln() / _rate(parameters) - 1
        return _round_up(reached) * parameters.resolution


def _round_up(reached: Decimal) -> int:
    """The least whole number from here on, and from 0 on.

    This is an irrational number: where its digits do not tell on which side it lies, the larger.
    """
    above = reached + _DOUBT * max(Decimal(1), abs(reached))
    return max(0, int(above.to_integral_value("ROUND_CEILING")))


def _rate(parameters: TopK) -> Decimal:
    return _to_decimal(min(parameters.rate, Fraction(_LARGEST_RATE)))


def _to_decimal(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)
