"""Numbers of any size as short text, for people: exact where that is short, and rounded besides."""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from math import ceil, exp, floor, isinf
from sys import float_info

from topgap.numbers.format import format_exact, format_rounded

# Exponents beyond any that parameters can have; what still overflows becomes infinite.
_WIDE = Context(prec=30, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_DECIMAL = 12
_LONGEST_IN_COLUMN = 30
_LARGEST_IN_DIGITS = 10**12


def format_about(number: Fraction | Decimal) -> str:
    """A number that is not negative, rounded to four digits, or to a whole number if it is large.

    >>> format_about(Fraction(2, 3)), format_about(Fraction(31416)), format_about(Fraction(10**400))
    ('0.6667', '31416', '1.000 × 10⁴⁰⁰')
    """
    rounded = _decimal(number) if isinstance(number, Fraction) else number
    if rounded.is_infinite():
        return "∞"
    exponent = rounded.adjusted() if rounded else 0
    if -4 <= exponent < 9:
        return f"{rounded:.{max(0, 3 - exponent)}f}"
    shown = f"{rounded.scaleb(-exponent, _WIDE):.3f}"
    return f"{shown} × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def format_short(number: Fraction) -> str:
    """A positive number as it is, and beside it the decimal if that is another text.

    >>> format_short(Fraction(1, 3)), format_short(Fraction(1, 2)), format_short(Fraction(7))
    ('1/3 ≈ 0.3333', '1/2 = 0.5', '7')
    """
    decimal = format_exact(number)
    if number.denominator == 1:
        return decimal
    if "/" in decimal or len(decimal) > _LONGEST_DECIMAL:
        return f"{number} ≈ {format_about(number)}"
    return f"{number} = {decimal}"


def format_aligned(number: Fraction, resolution: Fraction) -> str:
    """The exact number with the decimal places of its resolution, so that columns align.

    A number that no column can hold is rounded, and says so.

    >>> format_aligned(Fraction(7), Fraction(1, 10))
    '7.0'
    >>> format_aligned(Fraction(37, 3), Fraction(1, 3))
    '37/3'
    >>> format_aligned(Fraction(10**400), Fraction(1, 10))
    '≈ 1.000 × 10⁴⁰⁰'
    """
    places = len(format_exact(resolution).partition(".")[2])
    whole, _, part = format_exact(number).partition(".")
    text = f"{whole}.{part:0<{places}}" if places else format_exact(number)
    return text if len(text) <= _LONGEST_IN_COLUMN else f"≈ {format_about(number)}"


def format_estimate(number: float, spread: float) -> str:
    """A number that is off by about `spread`, as far as its digits mean something.

    >>> format_estimate(1234.5678, 2.34), format_estimate(-1.2346e30, 1e28)
    ('1234.6', '−1.235 × 10³⁰')
    >>> format_estimate(float("inf"), 1.0)
    '> 1.798 × 10³⁰⁸'
    """
    sign = "−" if number < 0 else ""
    if isinf(number):
        return f"{'<' if sign else '>'} {sign}{format_about(Fraction(float_info.max))}"
    if abs(number) >= _LARGEST_IN_DIGITS:
        return sign + format_about(Fraction(abs(number)))
    return format_rounded(number, spread).replace("-", "−")


def format_share(share: Fraction) -> str:
    """A share between 0 and 1 as so many of so many: of a hundred or a thousand, if that is exact.

    >>> [format_share(Fraction(share)) for share in ("19/20", "999/1000", "1/3")]
    ['95 of 100', '999 of 1,000', '1 of 3']
    """
    tens = next((10**n for n in range(2, 16) if 10**n % share.denominator == 0), None)
    whole = tens or min(share.denominator, 10**15)
    part = share * whole
    return f"{'more than ' if part % 1 else ''}{floor(part):,} of {whole:,}"


def likelihood_factor(epsilon: Fraction) -> str:
    """The number e to the power of ε, rounded.

    >>> likelihood_factor(Fraction(1, 2))
    '1.649'
    """
    return format_about(_decimal(epsilon).exp(_WIDE))


def surest_belief(epsilon: Fraction) -> str:
    """How sure, in percent and rounded up, a release can make of what was held for a toss-up.

    Odds of 1 to 1 become at most e^ε to 1.

    >>> surest_belief(Fraction(1))
    '73.2'
    """
    return f"{ceil(1000 / (1 + exp(-min(epsilon, Fraction(1_000))))) / 10:.1f}"


def _decimal(number: Fraction) -> Decimal:
    return _WIDE.divide(Decimal(number.numerator), Decimal(number.denominator))
