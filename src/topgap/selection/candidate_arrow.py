"""The candidates of a pool as an Arrow table, for another process or machine, and back."""

from typing import TYPE_CHECKING, Any

from topgap.domains import ABSENT
from topgap.errors import ItemsError, MissingExtraError, SelectorError
from topgap.sealing import seal_errors
from topgap.selection.candidate_pool import Candidate, CandidatePool, Part
from topgap.selection.column_names import ANSWER, ITEM, VALUE
from topgap.selection.item_names import TWICE

if TYPE_CHECKING:
    import pyarrow as pa


@seal_errors
def to_arrow(pool: CandidatePool) -> "pa.Table":
    """The candidates as a table of `item` and `value`: ticks, and in the last 32 bits the tag.

    A pool that keeps answers has a column `answer`, too, in steps, rounded down. One that remembers
    all names, those of its domain, has a row without a value for each other.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: Items go by their position, or their names do not fit in one column.
    """
    pa = _pyarrow()
    from topgap.selection.candidate_columns import write_answers, write_numbers, write_ticks

    if pool.named is False:
        raise ItemsError("Items without names cannot leave their selector; name them.")
    part = pool.as_part()
    names = [candidate.item for candidate in part.candidates]
    others = [*(pool.seen.names or set()).difference(names)] if pool.domain is not None else []
    try:
        items = pa.array([*names, *others])
        if pa.types.is_nested(items.type):
            raise TypeError
    except (pa.ArrowException, OverflowError, TypeError, ValueError):  # Unicode's is of these
        raise ItemsError(
            "The items' names do not fit in one Arrow column; let all be strings, or integers."
        ) from None
    missing = [None] * len(others)
    columns = {ITEM: items, VALUE: write_numbers([*write_ticks(pool, part), *missing])}
    if pool.keeps_answers:
        columns[ANSWER] = write_numbers([*write_answers(pool, part), *missing])
    return pa.table(columns)


@seal_errors
def fill_from_arrow(pool: CandidatePool, table: Any) -> None:
    """Put into a new pool what `to_arrow` wrote, of one pool or of several put together.

    Raises:
        MissingExtraError: pyarrow is not installed.
        ItemsError: An item is there twice, or missing.
        SelectorError: It is no such table, or was written with other parameters.
    """
    pa = _pyarrow()
    from topgap.selection.candidate_columns import (
        combine,
        find_largest,
        has_repeated,
        read_answers,
        read_ticks,
        take,
    )

    try:
        table = table if isinstance(table, pa.Table) else pa.table(table)
        items, values = combine(table[ITEM]), combine(table[VALUE])
        is_twice = has_repeated(items)
        steps = combine(table[ANSWER]) if pool.keeps_answers else None
        is_candidate = None if pool.domain is None else values.is_valid()
        if is_candidate is not None:
            values = values.filter(is_candidate)
            steps = None if steps is None else steps.filter(is_candidate)
        ticks = read_ticks(values, pool.tag)
        places = find_largest(ticks, pool.parameters.k + 1)
        answers = None if steps is None else read_answers(pool, steps.take(places))
    except SelectorError:
        raise
    except Exception:  # it is no table, or has no such columns
        raise SelectorError(
            "A selector is read from an Arrow table with the columns item and value, and answer if "
            "its named items are measured."
        ) from None
    if items.null_count > 0:
        raise ItemsError("An item of the table has no name.")
    seen: list[Any] | None = None
    if is_candidate is None:
        # Nothing is known of what was cut off: no names are remembered.
        names = items.take(places).to_pylist()
    else:  # whose spelling is not always Arrow's
        assert pool.domain is not None  # noqa: S101 - for the reader of types
        seen = pool.domain.find(items.to_pylist())
        if any(item is ABSENT for item in seen):
            raise SelectorError("An item of the table is not in the domain.")
        is_twice = len({*seen}) < len(seen)
        held = is_candidate.to_numpy(zero_copy_only=False).nonzero()[0]
        names = [seen[place] for place in held[places.to_numpy()].tolist()]
    if is_twice:
        raise ItemsError(TWICE)
    if len(items):
        candidates = [*map(Candidate, take(ticks, places), names)]
        pool.keep(Part(candidates, answers, seen, len(items), named=True))


def _pyarrow() -> Any:
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtraError("Arrow tables need pyarrow: pip install pyarrow.") from None
    return pa
