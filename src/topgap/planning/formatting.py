"""How the figures of plans are written: in tables, in columns of data frames and in JSON."""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

from topgap.display.numbers import format_roughly
from topgap.domains import DomainDescription
from topgap.numbers.format import format_exact, to_float

LONGEST = 12
"""So many characters an ε has in a table, at most."""


def format_size(size: int) -> str:
    """Format the number of items of a domain.

    >>> format_size(41_270), format_size(2**160)
    ('41,270', 'about 1.5·10^48')
    """
    return DomainDescription("", size).format_size()


def format_people(people: int) -> str:
    """Format a number of people so that it fits a column.

    >>> format_people(2), format_people(1_086), format_people(10**40)
    ('2', '1,086', '1.000 × 10⁴⁰')
    """
    return f"{people:,}" if people < 10 else format_roughly(Fraction(people))


def format_overlap(overlap: float, k: int) -> str:
    """Format how many of k are right; only k looks like all of them.

    >>> format_overlap(24.131, 25), format_overlap(24.999, 25), format_overlap(25.0, 25)
    ('24.13', '>24.99', '25.00')
    """
    return f">{k - 0.01:.2f}" if k - 0.005 <= overlap < k else f"{overlap:.2f}"


def format_share(share: float) -> str:
    """Format a share in percent; only 0 and 1 look like 0% and 100%.

    >>> [format_share(share) for share in (0.5, 0.99999, 1.0, 0.0004, 0.0)]
    ['50.0%', '>99.9%', '100%', '<0.1%', '0%']
    """
    if share in (0, 1):
        return f"{share:.0%}"
    if share < 0.001:
        return "<0.1%"
    return ">99.9%" if share > 0.999 else f"{share:.1%}"


def format_threshold(threshold: Fraction) -> str:
    """Format a threshold so that it fits a column.

    >>> [format_threshold(Fraction(each)) for each in (12_500, "-0.5", "1/3", 10**40)]
    ['12,500', '-0.5', '1/3', '1e+40']
    """
    if threshold.denominator == 1 and abs(threshold) < 10**12:
        return f"{int(threshold):,}"
    exactly = format_exact(threshold)
    return exactly if len(exactly) <= 12 else f"{to_float(threshold):.4g}"


def format_error(error: float) -> str:
    """Format an error of counts, to two digits or whole.

    >>> [format_error(error) for error in (-335.47, 26.21, 3.0, 0.0, float("inf"))]
    ['-335', '26', '3', '0', 'inf']
    """
    if not isfinite(error):
        return f"{error:.4g}"
    return f"{'-' * (error < 0)}{format_roughly(abs(Fraction(error)))}"


def format_items(count: int) -> str:
    """Format a contribution bound.

    >>> format_items(1), format_items(1_200)
    ('1 item', '1,200 items')
    """
    return "1 item" if count == 1 else f"{count:,} items"


def to_column(numbers: Sequence[float]) -> list[float]:
    """Numbers of one type: integers as they are, unless a column cannot hold one of them.

    >>> to_column([7, 8]), to_column([7, 10**20])
    ([7, 8], [7.0, 1e+20])
    """
    if all(isinstance(number, int) and number < 2**53 for number in numbers):
        return [*numbers]
    return [_to_float(number) for number in numbers]


def to_json_number(number: float) -> float | None:
    """The number, or None for an infinite one, which JSON does not have.

    >>> to_json_number(7), to_json_number(float("inf")), to_json_number(10**400)
    (7, None, None)
    """
    if isinstance(number, int) and number < 2**53:
        return number
    plain = _to_float(number)
    return plain if isfinite(plain) else None


def _to_float(number: float) -> float:
    return to_float(Fraction(number)) if isinstance(number, int) else number
