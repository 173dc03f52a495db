"""Bounds as floats and as text that remain bounds: rounded down if they are lower ones, or up."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf, isfinite, nextafter


def not_above(number: Fraction) -> float:
    """The largest float that is not above it.

    >>> not_above(Fraction(1, 3)) <= Fraction(1, 3) < not_below(Fraction(1, 3))
    True
    """
    near = float(number)
    return near if near <= number else nextafter(near, -inf)


def not_below(number: Fraction) -> float:
    """The smallest float that is not below it."""
    near = float(number)
    return near if near >= number else nextafter(near, inf)


def at_least(number: float, digits: int = 3) -> str:
    """A lower bound in so many digits.

    >>> at_least(0.99999), at_least(2.0), at_least(1234567.0), at_least(0.0)
    ('0.999', '2', '1.23e+06', '0')
    """
    return _rounded(number, digits, ROUND_FLOOR)


def at_most(number: float, digits: int = 3) -> str:
    """An upper bound in so many digits.

    >>> at_most(0.99991), at_most(0.1234), at_most(2.0)
    ('1', '0.124', '2')
    """
    return _rounded(number, digits, ROUND_CEILING)


def percent_at_least(share: float) -> str:
    """A lower bound as a percentage.

    >>> percent_at_least(0.99999), percent_at_least(0.5), percent_at_least(0.0)
    ('99.99%', '50.00%', '0.00%')
    """
    return _percent(share, ROUND_FLOOR)


def percent_at_most(share: float) -> str:
    """An upper bound as a percentage.

    >>> percent_at_most(0.500001), percent_at_most(1.0)
    ('50.01%', '100.00%')
    """
    return _percent(share, ROUND_CEILING)


def _rounded(number: float, digits: int, way: str) -> str:
    if not isfinite(number):
        return str(number)
    rounded = Context(prec=digits, rounding=way).create_decimal(Decimal(number))
    return f"{float(rounded):.{digits}g}"


def _percent(share: float, way: str) -> str:
    return f"{(100 * Decimal(share)).quantize(Decimal('0.01'), way)}%"
