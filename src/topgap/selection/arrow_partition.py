"""From the rows of a partition, as Arrow's batches, to those that can still win.

This runs where the rows are. What is wrong with them is no error here, or a cluster would try again
and log what it saw: it is a row without an item.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topgap._core import Streams
from topgap.domains import ABSENT, Domain
from topgap.errors import ItemsError, TopgapError
from topgap.parameters import TopK
from topgap.selection.answers import check_finite, read
from topgap.selection.candidate_arrow import to_arrow
from topgap.selection.candidate_columns import combine
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.candidate_ranks import to_ranks
from topgap.selection.column_names import ANSWER, ITEM, TIMES, VALUE
from topgap.selection.participants import read_part

Batches = Iterator[pa.RecordBatch]


def find_candidates(
    batches: Batches,
    partition: int,
    parameters: TopK,
    streams: Streams | None,
    domain: Domain | None = None,
    keep_answers: bool = False,  # noqa: FBT001, FBT002 - it comes in a tuple
) -> Batches:
    """The items of this partition that can still win, with their noisy answers as text.

    With `keep_answers` their plain answers are there, too, in steps and as text, so that those of
    the winners can be measured without a second look at data that may have changed.

    All attempts at a partition have the same noise: it comes from the partition's own stream, which
    is opened from its beginning, and its rows come in one order.

    With a domain these are members of it, and each is told by its rank. How many members the
    partition has, those that cannot win any more included, is one more row, without an item.
    """
    if streams is None:
        yield from dry_run(batches, domain)
        return
    # That no item comes twice is known: the rows of each have been counted.
    candidates = CandidatePool(
        parameters,
        stream=streams.open(partition),
        remember_names=False,
        keep_answers=keep_answers,
    )
    kind = None
    try:
        for batch in batches:
            kind = _output_type(batch, domain)
            rows, names = _choose_members(batch, domain)
            _check_items(rows)
            candidates.add(*read_part(rows[VALUE], names))
        held = [] if kind is None else [_hand_over(candidates, kind, domain)]
    except TopgapError as error:
        yield build_error_row(kind, error, with_answers=keep_answers)
        return
    yield from held


def dry_run(batches: Batches, domain: Domain | None = None) -> Batches:
    """What `find_candidates` would complain of, found without noise, and how many rows there are.

    The number is a row without an item, too.
    """
    count, kind = 0, None
    try:
        for batch in batches:
            kind = _output_type(batch, domain)
            rows, _ = _choose_members(batch, domain)
            _check_items(rows)
            numbers, _ = read(rows[VALUE])
            check_finite(numbers)
            count += len(rows)
    except TopgapError as error:
        yield build_error_row(kind, error)
        return
    if kind is not None:
        yield build_rows(pa.nulls(1, kind), [str(count)])


def _output_type(batch: pa.RecordBatch, domain: Domain | None) -> Any:
    """The type of the items that are handed over: their own, or text for a rank."""
    return batch.schema.field(ITEM).type if domain is None else pa.string()


def to_names(items: Any) -> list[Any]:
    """The names of items, as Python's values; those of several columns are tuples.

    >>> to_names(pa.array([{"country": "AT", "page": 7}]))
    [('AT', 7)]
    """
    if pa.types.is_struct(items.type):
        return [*zip(*map(to_names, items.flatten()), strict=True)]
    names: list[Any] = items.to_pylist()
    return names


def _choose_members(batch: pa.RecordBatch, domain: Domain | None) -> tuple[pa.RecordBatch, Any]:
    """The rows of the domain's members and their names as the domain has them; or all rows."""
    if domain is None:
        return batch, batch[ITEM]
    found = domain.find(to_names(batch[ITEM]))
    are_members = pa.array([member is not ABSENT for member in found], pa.bool_())
    return batch.filter(are_members), [member for member in found if member is not ABSENT]


def _hand_over(pool: CandidatePool, kind: Any, domain: Domain | None) -> pa.RecordBatch:
    held = to_arrow(pool) if domain is None else to_ranks(pool, domain)
    items, values = combine(held[ITEM]).cast(kind), [*map(str, held[VALUE].to_pylist())]
    answers: list[str | None] | None = None
    if pool.keeps_answers:
        answers = [*map(str, held[ANSWER].to_pylist())]
    if domain is not None:  # how many members the partition has
        items = pa.concat_arrays([items, pa.nulls(1, kind)])
        values.append(str(pool.count))
        if answers is not None:
            answers.append(None)
    return build_rows(items, values, answers)


def build_error_row(kind: Any, error: TopgapError, *, with_answers: bool = False) -> pa.RecordBatch:
    """A row that reports an error, in place of the items, which are of this type."""
    return build_rows(
        pa.nulls(1, kind), [f"{type(error).__name__}: {error}"], [None] if with_answers else None
    )


def _check_items(batch: pa.RecordBatch) -> None:
    if batch[ITEM].null_count > 0:
        raise ItemsError("An item of the data frame is missing; each row must name one.")
    if TIMES in batch.schema.names and pc.any(pc.greater(batch[TIMES], 1)).as_py():
        raise ItemsError("An item is in the data frame twice; give each one row.")


def build_rows(
    items: Any, values: list[str], answers: list[str | None] | None = None
) -> pa.RecordBatch:
    """Rows as a partition hands them over."""
    columns = {ITEM: items, VALUE: pa.array(values, pa.string())}
    if answers is not None:
        columns[ANSWER] = pa.array(answers, pa.string())
    return pa.RecordBatch.from_pydict(columns)
