"""Outcomes: what audited functions return, in one form, and whether an outcome is possible."""

from decimal import Decimal
from fractions import Fraction
from math import copysign
from typing import Any, NamedTuple

import numpy as np

from topgap.errors import ReleaseError
from topgap.numbers.parse import is_whole
from topgap.parameters import TopK
from topgap.release import Release

ACCEPTED = (
    "return a topgap.Release, k pairs (index, gap) or, with --no-gaps (gaps=False), k indices"
)


class OffGrid(NamedTuple):
    """A gap that is not a multiple of the resolution.

    Attributes:
        steps: The gap in steps of the resolution, rounded down.
        lowest_bit: The exponent of its lowest bit that is set; None if it is no binary fraction.
    """

    steps: int
    lowest_bit: int | None


class MinusZero(NamedTuple):
    """A gap of −0.0: it equals 0, but an observer can distinguish it from 0.0."""

    steps: int = 0


Gap = int | OffGrid | MinusZero
"""A gap in steps of the resolution, where it is a whole number of them."""

_MOST_DIGITS = 10_000


class Outcome(NamedTuple):
    """The indices of the released winners, and their gaps if there are any."""

    indices: tuple[int, ...]
    gaps: tuple[Gap, ...] | None


def read_outcome(returned: object, parameters: TopK, *, gaps: bool) -> Outcome:
    """Read what an audited function returned.

    A float is read as the multiple of the resolution whose nearest float it is, if there is one:
    0.3 as 3/10. Different floats become different values, −0.0 and 0.0 included. Other differences
    of form are ignored: 1 and 1.0 are the same, and so are Decimals with trailing zeros.

    Args:
        returned: A `topgap.Release`, k pairs (index, gap) or k indices, in a list, tuple or array.
        parameters: The parameters of the call.
        gaps: Whether there must be gaps.

    Raises:
        ReleaseError: The value has another form.

    >>> read_outcome([(2, 0.3), (0, 0.25)], TopK(k=2, epsilon=1), gaps=True)
    Outcome(indices=(2, 0), gaps=(3, OffGrid(steps=2, lowest_bit=-2)))
    >>> read_outcome([2, 0], TopK(k=2, epsilon=1), gaps=False)
    Outcome(indices=(2, 0), gaps=None)
    """
    if isinstance(returned, Release):
        return _read_release(returned, parameters, gaps=gaps)
    if isinstance(returned, np.ndarray):
        returned = returned.tolist()
    if not isinstance(returned, list | tuple):
        raise ReleaseError(f"The function returned {type(returned).__name__}; {ACCEPTED}.")
    if len(returned) != parameters.k:
        raise ReleaseError(f"{_describe_number(len(returned), parameters)}; {ACCEPTED}.")
    if not gaps:
        return Outcome(tuple(map(_index, returned)), None)
    if not all(isinstance(each, list | tuple) and len(each) == 2 for each in returned):
        raise ReleaseError(f"The function did not return pairs; {ACCEPTED}.")
    indices = tuple(_index(index) for index, _ in returned)
    return Outcome(indices, tuple(_gap(gap, parameters.resolution) for _, gap in returned))


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
            return "a gap that is no multiple of the resolution"
        if isinstance(gap, int) and gap < 0:
            return "a negative gap"
    return None


def _read_release(release: Release, parameters: TopK, *, gaps: bool) -> Outcome:
    indices, units = tuple(release.indices.tolist()), release.gap_units
    if len(indices) != parameters.k:
        raise ReleaseError(f"{_describe_number(len(indices), parameters)}.")
    if gaps and units is None:
        raise ReleaseError(
            "The function returned a release without gaps; give --no-gaps (gaps=False)."
        )
    if units is not None and not gaps:
        raise ReleaseError(
            "The function returned a release with gaps; do not give --no-gaps (gaps=False)."
        )
    if units is None:
        return Outcome(indices, None)
    if release.parameters.resolution == parameters.resolution:
        return Outcome(indices, tuple(units.tolist()))
    finer = release.parameters.resolution
    return Outcome(indices, tuple(_gap(u * finer, parameters.resolution) for u in units.tolist()))


def _describe_number(winners: int, parameters: TopK) -> str:
    named = f"{winners} winner{'s' * (winners != 1)}"
    return f"The function returned {named} where k = {parameters.k}"


def _index(index: Any) -> int:
    if not is_whole(index):
        raise ReleaseError(f"An index is a whole number, not {type(index).__name__}; {ACCEPTED}.")
    return int(index)


def _gap(gap: Any, resolution: Fraction) -> Gap:
    per_unit = resolution.denominator  # its numerator is 1
    if is_whole(gap):
        return int(gap) * per_unit
    if isinstance(gap, float | np.floating | Decimal):
        numerator, denominator = _ratio(gap)
        if numerator == 0:
            return MinusZero() if copysign(1, gap) < 0 else 0
        nearest = (2 * numerator * per_unit + denominator) // (2 * denominator)
        if not isinstance(gap, Decimal) and _is_float(nearest, per_unit, gap):
            return nearest
    elif isinstance(gap, Fraction):
        numerator, denominator = gap.numerator, gap.denominator
    else:
        raise ReleaseError(
            f"A gap is an int, Fraction, float or Decimal, not {type(gap).__name__}."
        )
    steps, rest = divmod(numerator * per_unit, denominator)
    return OffGrid(steps, _lowest_bit(numerator, denominator)) if rest else steps


def _ratio(gap: Any) -> tuple[int, int]:
    """The gap as a quotient of two integers."""
    if isinstance(gap, Decimal) and gap and gap.is_finite() and abs(gap.adjusted()) > _MOST_DIGITS:
        raise ReleaseError(f"A gap must have at most {_MOST_DIGITS} digits.")
    try:
        numerator, denominator = gap.as_integer_ratio()
    except (ValueError, OverflowError):  # what is no number, or infinite
        raise ReleaseError("The function returned a gap that is not finite.") from None
    return int(numerator), int(denominator)


def _is_float(numerator: int, denominator: int, gap: Any) -> bool:
    """Whether the gap is the float nearest to the quotient, as Python divides ints."""
    try:
        return bool(type(gap)(numerator / denominator) == gap)
    except OverflowError:
        return False


def _lowest_bit(numerator: int, denominator: int) -> int | None:
    if denominator & (denominator - 1):
        return None
    return (numerator & -numerator).bit_length() - denominator.bit_length()
