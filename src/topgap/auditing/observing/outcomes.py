"""Outcomes: what audited functions return, in one form, and whether an outcome is possible."""

from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import copysign
from typing import Any, NamedTuple

import numpy as np

from topgap.errors import ReleaseError
from topgap.numbers.parse import is_whole
from topgap.parameters import TopK
from topgap.release import Release

ACCEPTED = (
    "return a topgap.Release, k pairs (index, gap), for Laplace noise k triples (index, gap, "
    "value) or, with --no-gaps (gaps=False), k indices; with a threshold k or fewer"
)


class OffGrid(NamedTuple):
    """A gap or value that is not a multiple of the resolution.

    Attributes:
        steps: The number in steps of the resolution, rounded down.
        lowest_bit: The exponent of its lowest bit that is set; None if it is not a binary fraction.
    """

    steps: int
    lowest_bit: int | None


class MinusZero(NamedTuple):
    """−0.0: it equals 0, but an observer can distinguish it from 0.0."""

    steps: int = 0


Number = int | OffGrid | MinusZero
"""A gap or value in steps of the resolution, where it is a whole number of them."""

_MOST_DIGITS = 10_000


class Outcome(NamedTuple):
    """The indices of the released winners, and their gaps and noisy values if there are any.

    And whether the release says that it cost something else than an output with so many winners.
    """

    indices: tuple[int, ...]
    gaps: tuple[Number, ...] | None
    values: tuple[Number, ...] | None = None
    misstates_cost: bool = False


def releases_values(parameters: TopK, *, gaps: bool) -> bool:
    """Whether noisy values are released: with gaps, and for Laplace noise alone."""
    return gaps and parameters.noise == "laplace"


def read_outcome(returned: object, parameters: TopK, *, gaps: bool) -> Outcome:
    """Read what an audited function returned.

    A float is read as the multiple of the resolution whose nearest float it is, if there is one:
    0.3 as 3/10. Different floats become different values, −0.0 and 0.0 included. Other differences
    of form are ignored: 1 and 1.0 are the same, and so are Decimals with trailing zeros.

    Args:
        returned: A `topgap.Release`, k pairs (index, gap), k triples (index, gap, value) or k
            indices, in a list, tuple or array.
        parameters: The parameters of the call.
        gaps: Whether there must be gaps; and values, too, if the noise is Laplace.

    Raises:
        ReleaseError: The value has another form.

    >>> read_outcome([(2, 0.3), (0, 0.25)], TopK(k=2, epsilon=1), gaps=True)[:2]
    ((2, 0), (3, OffGrid(steps=2, lowest_bit=-2)))
    >>> read_outcome([2, 0], TopK(k=2, epsilon=1), gaps=False)[:2]
    ((2, 0), None)
    >>> few = TopK(k=2, epsilon=1, items_per_person=1)
    >>> read_outcome([(2, 1, 4), (0, 0, 3)], few, gaps=True)[:3]
    ((2, 0), (1, 0), (4, 3))
    """
    if isinstance(returned, Release):
        return _read_release(returned, parameters, gaps=gaps)
    if isinstance(returned, np.ndarray):
        returned = returned.tolist()
    if not isinstance(returned, list | tuple):
        raise ReleaseError(f"The function returned {type(returned).__name__}; {ACCEPTED}.")
    if not parameters.fewest_winners <= len(returned) <= parameters.k:
        raise ReleaseError(f"{_describe_number(len(returned), parameters)}; {ACCEPTED}.")
    if not gaps:
        return Outcome(tuple(map(_index, returned)), None)
    if not returned:
        return Outcome((), ())
    length, form = (3, "triples") if releases_values(parameters, gaps=gaps) else (2, "pairs")
    if not all(isinstance(each, list | tuple) and len(each) == length for each in returned):
        raise ReleaseError(f"The function did not return {form}; {ACCEPTED}.")
    indices, *numbers = zip(*returned, strict=True)
    read = [
        tuple(_number(each, parameters.resolution, what) for each in some)
        for some, what in zip(numbers, ("gap", "value"), strict=False)
    ]
    return Outcome(tuple(map(_index, indices)), read[0], read[1] if len(read) > 1 else None)


def explain_impossible(outcome: Outcome, items: int) -> str | None:
    """Say why an outcome has probability 0 for all answers; None if it has not.

    >>> explain_impossible(Outcome((1, 1), (3, 0)), 4)
    'an item named twice'
    """
    if not all(0 <= index < items for index in outcome.indices):
        return "an item that does not exist"
    if len({*outcome.indices}) < len(outcome.indices):
        return "an item named twice"
    for gap in outcome.gaps or ():
        if isinstance(gap, OffGrid):
            return "a gap that is not a multiple of the resolution"
        if isinstance(gap, int) and gap < 0:
            return "a negative gap"
    if outcome.misstates_cost:
        return "a release whose stated cost does not match its number of items"
    return _explain_impossible_values(outcome)


def _explain_impossible_values(outcome: Outcome) -> str | None:
    values = outcome.values or ()
    if any(isinstance(value, OffGrid) for value in values):
        return "a value that is not a multiple of the resolution"
    steps = [value.steps if isinstance(value, tuple) else value for value in values]
    gaps = [gap.steps if isinstance(gap, tuple) else gap for gap in outcome.gaps or ()]
    if any(
        upper - lower != gap for (upper, lower), gap in zip(pairwise(steps), gaps, strict=False)
    ):
        return "values that do not differ by the gaps"
    return None


def _read_release(release: Release, parameters: TopK, *, gaps: bool) -> Outcome:
    indices, units = tuple(release.indices.tolist()), release.gap_units
    if not parameters.fewest_winners <= len(indices) <= parameters.k:
        raise ReleaseError(f"{_describe_number(len(indices), parameters)}.")
    if gaps and units is None:
        raise ReleaseError(
            "The function returned a release without gaps; give --no-gaps (gaps=False)."
        )
    if units is not None and not gaps:
        raise ReleaseError(
            "The function returned a release with gaps; do not give --no-gaps (gaps=False)."
        )
    misstates = parameters.has_sentinel and release.spent != parameters.cost(len(indices))
    if units is None:
        return Outcome(indices, None, None, misstates)
    numbers = [units.tolist()]
    if releases_values(parameters, gaps=gaps):
        if release.value_units is None:
            raise ReleaseError("The function returned a release without noisy values.")
        numbers.append(release.value_units.tolist())
    finer, wanted = release.parameters.resolution, parameters.resolution
    if finer == wanted:
        read = [*map(tuple, numbers)]
    else:
        read = [tuple(_number(each * finer, wanted, "gap") for each in some) for some in numbers]
    return Outcome(indices, read[0], read[1] if len(read) > 1 else None, misstates)


def _describe_number(winners: int, parameters: TopK) -> str:
    named = f"{winners} winner{'s' * (winners != 1)}"
    return f"The function returned {named} where k = {parameters.k}"


def _index(index: Any) -> int:
    if not is_whole(index):
        raise ReleaseError(f"An index is a whole number, not {type(index).__name__}; {ACCEPTED}.")
    return int(index)


def _number(number: Any, resolution: Fraction, what: str) -> Number:
    per_unit = resolution.denominator  # its numerator is 1
    if is_whole(number):
        return int(number) * per_unit
    if isinstance(number, float | np.floating | Decimal):
        numerator, denominator = _ratio(number, what)
        if numerator == 0:
            return MinusZero() if copysign(1, number) < 0 else 0
        nearest = (2 * numerator * per_unit + denominator) // (2 * denominator)
        if not isinstance(number, Decimal) and _is_float(nearest, per_unit, number):
            return nearest
    elif isinstance(number, Fraction):
        numerator, denominator = number.numerator, number.denominator
    else:
        raise ReleaseError(
            f"A {what} is an int, Fraction, float or Decimal, not {type(number).__name__}."
        )
    steps, rest = divmod(numerator * per_unit, denominator)
    return OffGrid(steps, _lowest_bit(numerator, denominator)) if rest else steps


def _ratio(number: Any, what: str) -> tuple[int, int]:
    """The number as a quotient of two integers."""
    is_long = isinstance(number, Decimal) and number and number.is_finite()
    if is_long and abs(number.adjusted()) > _MOST_DIGITS:
        raise ReleaseError(f"A {what} must have at most {_MOST_DIGITS} digits.")
    try:
        numerator, denominator = number.as_integer_ratio()
    except (ValueError, OverflowError):  # what is no number, or infinite
        raise ReleaseError(f"The function returned a {what} that is not finite.") from None
    return int(numerator), int(denominator)


def _is_float(numerator: int, denominator: int, number: Any) -> bool:
    """Whether the number is the float nearest to the quotient, as Python divides ints."""
    try:
        return bool(type(number)(numerator / denominator) == number)
    except OverflowError:
        return False


def _lowest_bit(numerator: int, denominator: int) -> int | None:
    if denominator & (denominator - 1):
        return None
    return (numerator & -numerator).bit_length() - denominator.bit_length()
