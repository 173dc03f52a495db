"""The candidates of a pool as an Arrow table, for another process or machine, and back."""

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from topgap.errors import ItemsError, MissingExtraError, SelectorError
from topgap.parameters import TopK
from topgap.sealing import seal_errors
from topgap.selection.candidate_pool import Candidate, CandidatePool, Part
from topgap.selection.item_names import TWICE

if TYPE_CHECKING:
    import pyarrow as pa

_TAG_BITS = 32
_MOST_DECIMAL_DIGITS = 38
_WHOLE = re.compile(r"-?(0x[0-9a-f]+|[0-9]+)")


@seal_errors
def to_arrow(pool: CandidatePool) -> "pa.Table":
    """The candidates as a table of `item` and `value`: ticks, and in the last 32 bits the tag.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: Items go by their position, or their names do not fit in one column.
    """
    pa = _pyarrow()
    if pool.named is False:
        raise ItemsError("Items that go by their position cannot go elsewhere; name them.")
    candidates = pool.as_part().candidates
    try:
        items = pa.array([candidate.item for candidate in candidates])
        if pa.types.is_nested(items.type):
            raise TypeError
    except (pa.ArrowException, OverflowError, TypeError, ValueError):  # Unicode's is of these
        raise ItemsError(
            "The items' names do not fit in one Arrow column; let all be strings, or integers."
        ) from None
    numbers = [candidate.ticks << _TAG_BITS | pool.tag for candidate in candidates]
    if all(abs(number) < 10**_MOST_DECIMAL_DIGITS for number in numbers):
        values = pa.array(numbers, type=pa.decimal128(_MOST_DECIMAL_DIGITS, 0))
    else:
        values = pa.array([*map(hex, numbers)], type=pa.string())
    return pa.table({"item": items, "value": values})


@seal_errors
def from_arrow(parameters: TopK, table: Any) -> CandidatePool:
    """The pool of what `to_arrow` wrote, of one pool or of several put together.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: An item is there twice, or missing.
        SelectorError: It is no such table, or was written with other parameters.
    """
    pa = _pyarrow()
    pool = CandidatePool(parameters)
    try:
        table = table if isinstance(table, pa.Table) else pa.table(table)
        items, values = table["item"].to_pylist(), table["value"].to_pylist()
        numbers = [*map(_parse_whole, values)]
        is_twice = len({*items}) < len(items)
    except Exception:  # it is no table, or has no such columns
        raise SelectorError(
            "A selector is read from an Arrow table with the columns item and value."
        ) from None
    if any(number % 2**_TAG_BITS != pool.tag for number in numbers):
        raise SelectorError(
            "The table was written by a selector with other parameters, or another version."
        )
    if any(item is None for item in items):
        raise ItemsError("An item of the table has no name.")
    if is_twice:
        raise ItemsError(TWICE)
    if items:
        ticks = [number >> _TAG_BITS for number in numbers]
        # Of what was cut off nothing is known, so no names are remembered.
        pool.keep(Part([*map(Candidate, ticks, items)], None, None, len(items), named=True))
    return pool


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


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Arrow tables need pyarrow: pip install pyarrow.") from None
    return pa
