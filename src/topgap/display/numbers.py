"""Numbers of any size, for people: as short text, rounded where that is long, and on a chart."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from math import ceil, exp, floor, inf, isinf
from sys import float_info
from typing import NamedTuple

from topgap.numbers.format import format_exact, format_rounded
from topgap.numbers.parse import Number, read_level

# Exponents beyond any that parameters can have; what still overflows becomes infinite.
_WIDE = Context(prec=30, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[])
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LONGEST_IN_COLUMN = 30
_LARGEST_IN_DIGITS = 10**12


def format_about(number: Fraction | Decimal) -> str:
    """Return a number ≥ 0 rounded to four digits, or to a whole number if it is large.

    >>> format_about(Fraction(2, 3)), format_about(Fraction(31416)), format_about(Fraction(10**400))
    ('0.6667', '31416', '1.000 × 10⁴⁰⁰')
    """
    rounded = _to_decimal(number) if isinstance(number, Fraction) else number
    if rounded.is_infinite():
        return "∞"
    exponent = rounded.adjusted() if rounded else 0
    if -4 <= exponent < 9:
        return f"{rounded:.{max(0, 3 - exponent)}f}"
    shown = f"{rounded.scaleb(-exponent, _WIDE):.3f}"
    return f"{shown} × 10{str(exponent).translate(_SUPERSCRIPTS)}"


def format_roughly(number: Fraction) -> str:
    """Return a number ≥ 0 rounded to a whole one, or to two digits if it is small.

    >>> [format_roughly(Fraction(each)) for each in ("1086.2", "2.345", "0.01234", 10**400)]
    ['1,086', '2.3', '0.012', '1.000 × 10⁴⁰⁰']
    """
    if number >= _LARGEST_IN_DIGITS:
        return format_about(number)
    return f"{round(number):,}" if number >= 10 else f"{float(number):.2g}"


def format_compact(number: Fraction) -> str:
    """Return an exact number, or about what it is if that is long.

    >>> format_compact(Fraction(25, 2)), format_compact(Fraction(-(10**400)))
    ('12.5', 'about −1.000 × 10⁴⁰⁰')
    """
    exact = format_exact(number)
    if len(exact) <= _LONGEST_IN_COLUMN:
        return exact
    return f"about {'−' * (number < 0)}{format_about(abs(number))}"


def format_aligned(number: Fraction, resolution: Fraction) -> str:
    """Return the exact number with the decimal places of its resolution, so that columns align.

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


def format_signed(number: Fraction, resolution: Fraction) -> str:
    """Return `format_aligned` of a number of either sign, with a minus sign.

    >>> [format_signed(Fraction(each), Fraction(1, 10)) for each in (-7, -(10**400))]
    ['−7.0', '≈ −1.000 × 10⁴⁰⁰']
    """
    text = format_aligned(abs(number), resolution)
    if number >= 0:
        return text
    return text.replace("≈ ", "≈ −") if text.startswith("≈") else f"−{text}"


def format_estimate(number: float, spread: float) -> str:
    """Return a number with an error of about `spread`, to its significant digits.

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
    """Return a share between 0 and 1 as a ratio: of a hundred or a thousand, if that is exact.

    >>> [format_share(Fraction(share)) for share in ("19/20", "999/1000", "1/3")]
    ['95 of 100', '999 of 1,000', '1 of 3']
    """
    tens = next((10**n for n in range(2, 16) if 10**n % share.denominator == 0), None)
    whole = tens or min(share.denominator, 10**15)
    part = share * whole
    return f"{'more than ' if part % 1 else ''}{floor(part):,} of {whole:,}"


def format_level(level: "Number") -> str:
    """Return the level of intervals in percent.

    >>> [format_level(level) for level in (0.95, "0.99999999", "1/3", "0." + "9" * 60)]
    ['95%', '99.999999%', '33.33%', '>99.99%']
    """
    share = 100 * read_level(level)
    exactly = format_exact(share)
    if "/" not in exactly and len(exactly) <= 12:
        return f"{exactly}%"
    return ">99.99%" if share > Fraction("99.99") else f"{float(share):.4g}%"


def format_likelihood_factor(epsilon: Fraction) -> str:
    """Return e to the power of ε, rounded.

    >>> format_likelihood_factor(Fraction(1, 2))
    '1.649'
    """
    return format_about(_to_decimal(epsilon).exp(_WIDE))


def format_surest_belief(epsilon: Fraction) -> str:
    """Return the largest belief that a release can raise a belief of 50% to: percent, rounded up.

    Odds of 1 to 1 become at most e^ε to 1.

    >>> format_surest_belief(Fraction(1))
    '73.2'
    """
    return f"{ceil(1000 / (1 + exp(-min(epsilon, Fraction(1_000))))) / 10:.1f}"


class Span(NamedTuple):
    """The positions of one estimate and of the ends of its interval."""

    low: Fraction
    estimate: Fraction
    high: Fraction


@dataclass(frozen=True)
class ChartScale:
    """The spans of all estimates, and the ends of an axis that holds them all, and 0."""

    start: Fraction
    end: Fraction
    spans: tuple[Span, ...]


def place_intervals(
    measurements: Sequence[Fraction],
    estimates: Sequence[float],
    intervals: Sequence[tuple[float, float]],
) -> ChartScale:
    """Return the positions of estimates and their intervals on one axis, exactly.

    An estimate too large for a float is placed at its measurement, which is exact. An end of an
    interval too large for a float is placed at the end of the axis.

    >>> found = place_intervals([Fraction(60)], [60.0], [(53.5, 66.5)])
    >>> [float(each) for each in (found.start, *found.spans[0], found.end)]
    [0.0, 53.5, 60.0, 66.5, 66.5]
    """
    floats = [*estimates, *(end for interval in intervals for end in interval)]
    known = [*measurements, *(Fraction(each) for each in floats if abs(each) < inf)]
    start, end = min([Fraction(0), *known]), max([Fraction(0), *known])
    if start == end:
        end += 1
    found = []
    rows = zip(measurements, estimates, intervals, strict=True)
    for measured, estimate, (low, high) in rows:
        both_beyond = low == high and abs(low) == inf
        found.append(
            Span(
                measured if both_beyond else _clip(low, start, end),
                measured if abs(estimate) == inf else Fraction(estimate),
                measured if both_beyond else _clip(high, start, end),
            )
        )
    return ChartScale(start, end, tuple(found))


def _to_decimal(number: Fraction) -> Decimal:
    return _WIDE.divide(Decimal(number.numerator), Decimal(number.denominator))


def _clip(number: float, start: Fraction, end: Fraction) -> Fraction:
    if abs(number) < inf:
        return Fraction(number)
    return end if number > 0 else start
