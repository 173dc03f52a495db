"""From the rows of a partition, as Arrow's batches, to those that can still win.

This runs where the rows are. What is wrong with them is no error here, or a cluster would try again
and log what it saw: it is a row without an item.
"""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from topgap._core import Streams
from topgap.errors import ItemsError, TopgapError
from topgap.parameters import TopK
from topgap.selection.answers import check_finite, read
from topgap.selection.candidate_arrow import to_arrow
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.participants import read_part

ITEM, VALUE, TIMES = "item", "value", "times"
Batches = Iterator[pa.RecordBatch]


def find_candidates(
    batches: Batches, partition: int, parameters: TopK, streams: Streams | None
) -> Batches:
    """The items of this partition that can still win, with their noisy answers as text.

    All attempts at a partition have the same noise: it comes from the partition's own stream, which
    is opened from its beginning, and its rows come in one order.
    """
    if streams is None:
        yield from dry_run(batches)
        return
    # That no item comes twice is known: the rows of each have been counted.
    candidates = CandidatePool(parameters, stream=streams.open(partition), remember_names=False)
    kind = None
    try:
        for batch in batches:
            kind = batch.schema.field(ITEM).type
            _check_items(batch)
            candidates.add(*read_part(batch[VALUE], batch[ITEM]))
        held = to_arrow(candidates)
    except TopgapError as error:
        yield _error_row(kind, error)
        return
    if kind is not None:
        items = held[ITEM].combine_chunks().cast(kind)
        yield _rows(items, [*map(str, held[VALUE].to_pylist())])


def dry_run(batches: Batches) -> Batches:
    """What `find_candidates` would complain of, found without noise, and how many rows there are.

    The number is a row without an item, too.
    """
    rows, kind = 0, None
    try:
        for batch in batches:
            kind = batch.schema.field(ITEM).type
            _check_items(batch)
            numbers, _ = read(batch[VALUE])
            check_finite(numbers)
            rows += len(batch)
    except TopgapError as error:
        yield _error_row(kind, error)
        return
    if kind is not None:
        yield _rows(pa.nulls(1, kind), [str(rows)])


def _error_row(kind: Any, error: TopgapError) -> pa.RecordBatch:
    return _rows(pa.nulls(1, kind), [f"{type(error).__name__}: {error}"])


def _check_items(batch: pa.RecordBatch) -> None:
    if batch[ITEM].null_count > 0:
        raise ItemsError("An item of the data frame is missing; each row must name one.")
    if TIMES in batch.schema.names and pc.any(pc.greater(batch[TIMES], 1)).as_py():
        raise ItemsError("An item is in the data frame twice; give each one row.")


def _rows(items: Any, values: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([items, pa.array(values, pa.string())], [ITEM, VALUE])
