"""The level of confidence intervals: a number between 0 and 1."""

from fractions import Fraction

from topgap.errors import ParameterError
from topgap.numbers.format import format_exact
from topgap.numbers.parse import Number, read_parameter

LEVEL = Fraction(95, 100)
"""The level of intervals, unless another is given."""


def read_level(level: "Number") -> Fraction:
    """The level of intervals as an exact number between 0 and 1.

    Raises:
        ParameterTypeError: It is of a type that is no exact number.
        ParameterError: It does not lie between 0 and 1, or is too close to 1.

    >>> read_level(0.95)
    Fraction(19, 20)
    """
    share = read_parameter(level, "level")
    if share >= 1:
        raise ParameterError("level must be below 1, such as 0.95.")
    if share > 1 - Fraction(1, 10**100):
        raise ParameterError("level must be below 1 by 1e-100 or more, such as 0.95.")
    return share


def format_level(level: "Number") -> str:
    """The level as people say it.

    >>> [format_level(level) for level in (0.95, "0.99999999", "1/3", "0." + "9" * 60)]
    ['95%', '99.999999%', '33.33%', '>99.99%']
    """
    share = 100 * read_level(level)
    exactly = format_exact(share)
    if "/" not in exactly and len(exactly) <= 12:
        return f"{exactly}%"
    return ">99.99%" if share > Fraction("99.99") else f"{float(share):.4g}%"
