"""What runs on the executors: from the rows of a partition to those that can still win.

Spark may run a partition more than once, and uses the attempt that ends first. How long an attempt
takes depends on its noise, so a choice between different noises would change their law. Here all
attempts at a partition have the same noise: it comes from the partition's own stream, which is
opened from its beginning, and its rows come in one order.
"""

import pickle
from collections.abc import Callable, Iterator
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
from topgap.spark.executors import prepare_check

ITEM, VALUE, TIMES = "item", "value", "times"
WORK = __name__
"""What must be importable where a partition is."""

Batches = Iterator[pa.RecordBatch]


def at_a_partition(parameters: TopK, streams: Streams | None) -> Callable[[Batches], Batches]:
    """The function for `mapInArrow`, from the items and answers of a partition to its pool.

    Without streams there is no noise, and it only looks. It takes nothing from this module with
    it, for it must be able to tell that topgap is missing where it runs, or is another version,
    which might draw other noise.
    """
    sent, check = pickle.dumps((parameters, streams)), prepare_check(WORK)

    def work(batches: Batches) -> Batches:
        import pickle

        import pyarrow as pa
        from pyspark import TaskContext

        complaint = check()
        if not complaint:
            from topgap.spark.partitions import pool

            context: Any = TaskContext.get()
            yield from pool(batches, context.partitionId(), *pickle.loads(sent))  # noqa: S301
            return
        for batch in batches:
            missing = pa.nulls(1, batch.schema.field("item").type)
            said = f"SparkError: The executors {complaint}."
            yield pa.RecordBatch.from_arrays([missing, pa.array([said])], ["item", "value"])
            return

    return work


def pool(batches: Batches, partition: int, parameters: TopK, streams: Streams | None) -> Batches:
    """The items of this partition that can still win, with their values as text.

    What is wrong with the rows is no error here, or Spark would try again and log what it saw: it
    is a row without an item.
    """
    if streams is None:
        yield from look(batches)
        return
    # That no item comes twice is known: Spark has counted the rows of each.
    candidates = CandidatePool(parameters, stream=streams.open(partition), remember_names=False)
    kind = None
    try:
        for batch in batches:
            kind = batch.schema.field(ITEM).type
            _check_items(batch)
            candidates.add(*read_part(batch[VALUE], batch[ITEM]))
        held = to_arrow(candidates)
    except TopgapError as error:
        yield _complaint(kind, error)
        return
    if kind is not None:
        items = held[ITEM].combine_chunks().cast(kind)
        yield _rows(items, [*map(str, held[VALUE].to_pylist())])


def look(batches: Batches) -> Batches:
    """What `pool` would complain of, found without any noise; and how many rows there are.

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
        yield _complaint(kind, error)
        return
    if kind is not None:
        yield _rows(pa.nulls(1, kind), [str(rows)])


def _complaint(kind: Any, error: TopgapError) -> pa.RecordBatch:
    return _rows(pa.nulls(1, kind), [f"{type(error).__name__}: {error}"])


def _check_items(batch: pa.RecordBatch) -> None:
    if batch[ITEM].null_count > 0:
        raise ItemsError("An item of the data frame is missing; each row must name one.")
    if TIMES in batch.schema.names and pc.any(pc.greater(batch[TIMES], 1)).as_py():
        raise ItemsError("An item is in the data frame twice; give each one row.")


def _rows(items: Any, values: list[str]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([items, pa.array(values, pa.string())], [ITEM, VALUE])
