"""Exact numbers as text, decimals where they are exact and otherwise fractions; and as floats."""

import re
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from math import floor, gcd, inf, isfinite, log10, nextafter

_MOST_DIGITS = 100_000
_SHORT_DECIMAL = 12
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(/[0-9]+)?")


def format_exact(number: Fraction) -> str:
    """A decimal where one is exact, and otherwise a fraction.

    >>> format_exact(Fraction(25, 2)), format_exact(Fraction(37, 3)), format_exact(Fraction(-7))
    ('12.5', '37/3', '-7')
    """
    if number < 0:
        return f"-{format_exact(-number)}"
    twos_and_fives = number.denominator
    places = 0
    while twos_and_fives > 1:
        common = gcd(twos_and_fives, 10)
        if common == 1:
            return _format_fraction(number)
        twos_and_fives //= common
        places += 1
    digits = _digits((number * 10**places).numerator).zfill(places + 1)
    return digits if places == 0 else f"{digits[:-places]}.{digits[-places:]}"


def format_short(
    number: Fraction, longest: int | None = None, *, rounding: str = ROUND_HALF_EVEN
) -> str:
    """A privacy parameter for people: a decimal where a short one is exact, otherwise a fraction.

    Everything that people read writes ε like this.

    Args:
        number: What is written, exactly.
        longest: In so many characters; a longer one is rounded and says so. Any number unless
            given.
        rounding: How a longer one is rounded, as the module `decimal` names it.

    >>> [format_short(Fraction(each)) for each in ("7/10", "1/3", "7", Fraction(1, 2**40))]
    ['0.7', '1/3', '7', '1/1099511627776']
    >>> format_short(Fraction(1, 10**12 + 7), longest=12)
    '≈1e-12'
    """
    exactly = format_exact(number)
    if len(exactly) > _SHORT_DECIMAL:
        exactly = min(exactly, _format_fraction(number), key=len)
    if longest is None or len(exactly) <= longest:
        return exactly
    five_digits = Context(prec=5, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN)
    rounded = five_digits.divide(Decimal(number.numerator), Decimal(number.denominator))
    return f"≈{rounded.normalize():g}"


def parse_exact(text: str) -> Fraction:
    """The number that was `format_exact`.

    Raises:
        ValueError: It was not written so, or has more digits than can be read in a moment.

    >>> parse_exact("12.5")
    Fraction(25, 2)
    """
    if len(text) > _MOST_DIGITS or not _NUMBER.fullmatch(text):
        raise ValueError
    numerator, _, denominator = text.partition("/")
    divisor = int(Decimal(denominator or 1))
    if divisor == 0:
        raise ValueError
    return Fraction(Decimal(numerator)) / divisor


def _format_fraction(number: Fraction) -> str:
    return f"{_digits(number.numerator)}/{_digits(number.denominator)}"


def _digits(number: int) -> str:
    """By way of Decimal, which writes a number of any length."""
    return format(Decimal(number), "f")


def format_rounded(number: float, spread: float) -> str:
    """The number as far as its digits mean something, when its error is about `spread`.

    >>> [format_rounded(1234.5678, spread) for spread in (2.34, 234.0, 0.0)]
    ['1234.6', '1235', '1234.5678']
    >>> format_rounded(1.2346e30, 1e28), format_rounded(float("inf"), 1.0)
    ('1.235e+30', 'inf')
    >>> format_rounded(-0.3, 40.0)
    '0'
    """
    if not isfinite(number) or not isfinite(spread) or abs(number) >= 1e15:
        return f"{number:.4g}"
    if spread == 0:
        return f"{number:.10g}"
    places = 1 - floor(log10(spread))
    return f"{number:z.{min(max(places, 0), 6)}f}"  # and never −0


def to_float(number: Fraction) -> float:
    """Return the nearest float; an infinite one if the number is too large for any other.

    >>> to_float(Fraction(1, 2)), to_float(Fraction(-(10**400)))
    (0.5, -inf)
    """
    try:
        return float(number)
    except OverflowError:
        return inf if number > 0 else -inf


def round_outwards(end: Fraction, direction: float) -> float:
    """Return the end of an interval as a float that does not cut off any of it.

    Args:
        end: The exact end.
        direction: inf for the upper end of an interval, -inf for the lower.

    >>> round_outwards(Fraction(2**53 + 1), inf), round_outwards(Fraction(1, 2), inf)
    (9007199254740994.0, 0.5)
    """
    nearest = to_float(end)
    if abs(nearest) == inf:
        return nearest
    falls_short = nearest < end if direction > 0 else nearest > end
    return nextafter(nearest, direction) if falls_short else nearest
