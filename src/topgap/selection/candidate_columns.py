"""Ticks, answers and items of candidates as columns of Arrow, which are read as a whole.

Of the rows of many pools put together hardly more than k + 1 can win. So what looks at each row is
Arrow's or NumPy's, and Python's numbers are made of these few.
"""

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from topgap.errors import SelectorError
from topgap.selection.answers import floor_answers
from topgap.selection.candidate_pool import CandidatePool, Part

Ticks: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]] | list[int]"
"""Ticks of many candidates: int64, or Python's integers if one is too large for that."""

_TAG_BITS = 32
_MOST_DECIMAL_DIGITS = 38
_LAST_BITS = 2**_TAG_BITS - 1
_MOST_BYTES = 2**31 - 1
"""More text does not fit in one array of Arrow's, unless it is of its large kind."""
_WHOLE = re.compile(r"-?(0x[0-9a-f]+|[0-9]+)")


def write_ticks(pool: CandidatePool, part: Part) -> list[int]:
    """The ticks of the candidates of a pool, each with the pool's tag in its last 32 bits."""
    tag = pool.tag
    return [candidate.ticks << _TAG_BITS | tag for candidate in part.candidates]


def write_answers(pool: CandidatePool, part: Part) -> list[int]:
    """The answers of the candidates of a pool in steps, rounded down."""
    return floor_answers(part.answers or [], pool.parameters.resolution.denominator)


def write_numbers(numbers: Sequence[int | None]) -> Any:
    """A column of whole numbers: decimal(38), or hexadecimal text if one is longer."""
    most = 10**_MOST_DECIMAL_DIGITS
    if all(number is None or abs(number) < most for number in numbers):
        return pa.array(numbers, type=pa.decimal128(_MOST_DECIMAL_DIGITS, 0))
    return pa.array([None if each is None else hex(each) for each in numbers], type=pa.string())


def read_ticks(values: Any, tag: int) -> Ticks:
    """The ticks in a column that `write_ticks` and `write_numbers` wrote, as numbers or as text.

    Raises:
        TypeError: It holds something else.
        SelectorError: A number has another tag.

    >>> read_ticks(pa.array([str((9 << 32) + 7), str((-5 << 32) + 7)]), 7)
    array([ 9, -5])
    >>> read_ticks(pa.array([hex((2**70 << 32) + 7)]), 7) == [2**70]
    True
    """
    halves = _read_halves(values)
    if halves is not None:
        low, high = halves
        _check_tags(bool(((low & _LAST_BITS) == tag).all()))
        if ((high >= -(2**31)) & (high < 2**31)).all():
            ticks: Ticks = (high << _TAG_BITS) | ((low >> _TAG_BITS) & _LAST_BITS)
            return ticks
    numbers = [*map(_parse_whole, values.to_pylist())]
    _check_tags(all(number & _LAST_BITS == tag for number in numbers))
    return [number >> _TAG_BITS for number in numbers]


def read_answers(pool: CandidatePool, steps: Any) -> list[Fraction]:
    """The answers, of few candidates, that `write_answers` and `write_numbers` wrote.

    Raises:
        TypeError: The column holds something else.
    """
    return [_parse_whole(each) * pool.parameters.resolution for each in steps.to_pylist()]


def find_largest(ticks: Ticks, needed: int) -> Any:
    """The places of all that are at least the `needed`-th largest, as `cut` has it.

    >>> find_largest(np.array([5, 9, 2, 5]), 2).to_pylist()
    [0, 1, 3]
    """
    if len(ticks) <= needed:
        return pa.array(np.arange(len(ticks)))
    if isinstance(ticks, list):
        least = sorted(ticks)[-needed]
        return pa.array([place for place, each in enumerate(ticks) if each >= least], pa.int64())
    first = len(ticks) - needed
    return pa.array(np.flatnonzero(ticks >= np.partition(ticks, first)[first]))


def take(ticks: Ticks, places: Any) -> list[int]:
    """The ticks at these places, as Python's integers."""
    if isinstance(ticks, list):
        return [ticks[place] for place in places.to_pylist()]
    chosen: list[int] = ticks[places.to_numpy()].tolist()
    return chosen


def has_repeated(items: Any) -> bool:
    """Whether an item is there twice.

    >>> has_repeated(pa.array(["ash", "elm", "ash"])), has_repeated(pa.array([3, 1, 2]))
    (True, False)
    >>> has_repeated(pa.array([1, 2, 1], pa.date32()).slice(1))
    False
    """
    if pa.types.is_date32(items.type):
        items = items.view(pa.int32())
    kind = items.type
    if pa.types.is_integer(kind) and items.null_count == 0:
        ordered = np.sort(items.to_numpy(zero_copy_only=False))
        return bool((ordered[1:] == ordered[:-1]).any())
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return int(pc.count_distinct(items, mode="all").as_py()) < len(items)
    names = items.to_pylist()
    return len({*names}) < len(names)


def combine(column: Any) -> Any:
    """One array of a column that is in chunks, of a type that Arrow can choose from."""
    array = column
    if isinstance(column, pa.ChunkedArray):
        if pa.types.is_string(column.type) and column.nbytes > _MOST_BYTES:
            column = column.cast(pa.large_string())
        array = column.combine_chunks()
    return array.cast(pa.large_string()) if str(array.type) == "string_view" else array


def _check_tags(are_right: bool) -> None:  # noqa: FBT001 - what is checked
    if not are_right:
        raise SelectorError(
            "The table was written by a selector with other parameters or by another version."
        )


def _read_halves(values: Any) -> tuple[Any, Any] | None:
    """The lower and the upper 64 bits of whole numbers below 10^38; None of anything else."""
    if values.null_count > 0:
        return None
    if not len(values):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        is_short = pc.max(pc.binary_length(values)).as_py() <= _MOST_DECIMAL_DIGITS
        if not is_short or not pc.all(pc.match_substring_regex(values, "^-?[0-9]+$")).as_py():
            return None
        values = values.cast(pa.decimal128(_MOST_DECIMAL_DIGITS, 0))
    if not pa.types.is_decimal128(values.type) or values.type.scale != 0:
        return None
    numbers = np.frombuffer(values.buffers()[1], dtype="<i8").reshape(-1, 2)
    numbers = numbers[values.offset : values.offset + len(values)]
    return numbers[:, 0], numbers[:, 1]


def _parse_whole(value: object) -> int:
    """The whole number that was written.

    Raises:
        TypeError: It is none.
    """
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return int(value, 16 if "x" in value else 10)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        number, denominator = value.as_integer_ratio()
        if denominator == 1:
            return number
    raise TypeError
