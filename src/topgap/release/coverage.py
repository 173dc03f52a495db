"""What intervals are to cover: the probability to miss, and how many items took part."""

from fractions import Fraction

from topgap.domains import DomainDescription
from topgap.errors import ParameterError
from topgap.numbers.parse import Number, read_flag, read_level, read_whole


def read_coverage(
    level: "Number",
    *,
    simultaneous: bool,
    size: int | None,
    winners: int,
    domain: DomainDescription | None,
) -> tuple[Fraction, int | None]:
    """Return what intervals may miss to one side, and how many items took part, if at once.

    Args:
        level: The probability with which they are to cover.
        simultaneous: Whether all are to cover at once, whoever wins.
        size: How many items took part, if the caller says so.
        winners: How many winners there are.
        domain: Which items took part, if that is known.

    Raises:
        ParameterError, ParameterTypeError: The level does not lie between 0 and 1, or the size is
            missing or none.

    >>> read_coverage("0.9", simultaneous=True, size=1000, winners=3, domain=None)
    (Fraction(1, 20), 1000)
    """
    tail = (1 - read_level(level)) / 2
    if not read_flag(simultaneous, "simultaneous"):
        return tail, None
    if size is not None:
        return tail, read_whole(size, "size", least=max(1, winners))
    if domain is None:
        raise ParameterError(
            "Simultaneous intervals need size=, the number of items of the domain."
        )
    return tail, domain.size
