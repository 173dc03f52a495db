"""Bounds as floats and as text: lower bounds are rounded down, upper bounds are rounded up."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import inf, isfinite, nextafter


def round_down(number: Fraction) -> float:
    """The largest float that is not above the number.

    >>> round_down(Fraction(1, 3)) <= Fraction(1, 3) < round_up(Fraction(1, 3))
    True
    """
    near = float(number)
    return near if near <= number else nextafter(near, -inf)


def round_up(number: Fraction) -> float:
    """The smallest float that is not below the number."""
    near = float(number)
    return near if near >= number else nextafter(near, inf)


def format_lower_bound(number: float, digits: int = 3) -> str:
    """Format a lower bound with this number of digits.

    >>> [format_lower_bound(bound) for bound in (0.99999, 2.0, 1234567.0, 0.0)]
    ['0.999', '2', '1.23e+06', '0']
    """
    return _format_number(number, digits, ROUND_FLOOR)


def format_upper_bound(number: float, digits: int = 3) -> str:
    """Format an upper bound with this number of digits.

    >>> format_upper_bound(0.99991), format_upper_bound(0.1234), format_upper_bound(2.0)
    ('1', '0.124', '2')
    """
    return _format_number(number, digits, ROUND_CEILING)


def format_share_down(share: float) -> str:
    """Format a lower bound of a share as a percentage.

    >>> format_share_down(0.99999), format_share_down(0.5), format_share_down(0.0)
    ('99.99%', '50.00%', '0.00%')
    """
    return _format_share(share, ROUND_FLOOR)


def format_share_up(share: float) -> str:
    """Format an upper bound of a share as a percentage.

    >>> format_share_up(0.500001), format_share_up(1.0)
    ('50.01%', '100.00%')
    """
    return _format_share(share, ROUND_CEILING)


def _format_number(number: float, digits: int, way: str) -> str:
    if not isfinite(number):
        return str(number)
    rounded = Context(prec=digits, rounding=way).create_decimal(Decimal(number))
    return f"{float(rounded):.{digits}g}"


def _format_share(share: float, way: str) -> str:
    return f"{(100 * Decimal(share)).quantize(Decimal('0.01'), way)}%"
