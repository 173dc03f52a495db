"""How the figures of plans are written: in tables, in columns of data frames and in JSON."""

from collections.abc import Sequence
from fractions import Fraction
from math import isfinite

from topgap.display.numbers import format_roughly
from topgap.domains import DomainDescription
from topgap.numbers.format import format_exact, to_float


def format_epsilon(epsilon: Fraction) -> str:
    """Format a value of ε so that it fits a column.

    >>> format_epsilon(Fraction(1, 3)), format_epsilon(Fraction(1, 10**12 + 7))
    ('1/3', '1e-12')
    """
    exactly = format_exact(epsilon)
    return exactly if len(exactly) <= 12 else f"{float(epsilon):.4g}"


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
