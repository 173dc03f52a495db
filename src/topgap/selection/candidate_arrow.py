"""The candidates of a pool as an Arrow table, for another process or machine, and back."""

import re
from decimal import Decimal
from itertools import compress
from typing import TYPE_CHECKING, Any

from topgap.domains import ABSENT
from topgap.errors import ItemsError, MissingExtraError, SelectorError
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

    A pool that remembers all names, those of its domain, has a row without a value for each other.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: Items go by their position, or their names do not fit in one column.
    """
    pa = _pyarrow()
    if pool.named is False:
        raise ItemsError("Items that go by their position cannot go elsewhere; name them.")
    candidates = pool.as_part().candidates
    names = [candidate.item for candidate in candidates]
    others = [*(pool.seen.names or set()).difference(names)] if pool.domain is not None else []
    try:
        items = pa.array([*names, *others])
        if pa.types.is_nested(items.type):
            raise TypeError
    except (pa.ArrowException, OverflowError, TypeError, ValueError):  # Unicode's is of these
        raise ItemsError(
            "The items' names do not fit in one Arrow column; let all be strings, or integers."
        ) from None
    numbers = [candidate.ticks << _TAG_BITS | pool.tag for candidate in candidates]
    missing = [None] * len(others)
    if all(abs(number) < 10**_MOST_DECIMAL_DIGITS for number in numbers):
        values = pa.array([*numbers, *missing], type=pa.decimal128(_MOST_DECIMAL_DIGITS, 0))
    else:
        values = pa.array([*map(hex, numbers), *missing], type=pa.string())
    return pa.table({"item": items, "value": values})


@seal_errors
def fill_from_arrow(pool: CandidatePool, table: Any) -> None:
    """Put into a new pool what `to_arrow` wrote, of one pool or of several put together.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: An item is there twice, or missing.
        SelectorError: It is no such table, or was written with other parameters.
    """
    pa = _pyarrow()
    try:
        table = table if isinstance(table, pa.Table) else pa.table(table)
        items, values = table["item"].to_pylist(), table["value"].to_pylist()
        is_candidate = [value is not None or pool.domain is None for value in values]
        numbers = [_parse_whole(value) for value in compress(values, is_candidate)]
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
    if pool.domain is not None:  # whose spelling is not always Arrow's
        items = pool.domain.find(items)
        if any(item is ABSENT for item in items):
            raise SelectorError("An item of the table is no member of the domain.")
        is_twice = len({*items}) < len(items)
    if is_twice:
        raise ItemsError(TWICE)
    if items:
        ticks = [number >> _TAG_BITS for number in numbers]
        candidates = [*map(Candidate, ticks, compress(items, is_candidate))]
        # Without a domain, nothing is known of what was cut off: no names are remembered.
        names = None if pool.domain is None else items
        pool.keep(Part(candidates, None, names, len(items), named=True))


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
