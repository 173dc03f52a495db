"""The function that Spark sends to the executors, for each partition of the rows.

Spark may run a partition more than once, and uses the attempt that ends first. How long an attempt
takes depends on its noise, so a choice between different noises would change their law. So all
attempts at a partition have the same noise.
"""

import pickle
from collections.abc import Callable
from typing import Any

from topgap._core import Streams
from topgap.parameters import TopK
from topgap.selection import arrow_partition
from topgap.selection.arrow_partition import Batches
from topgap.spark.executors import prepare_check

WORK = arrow_partition.__name__
"""What must be importable where a partition is."""


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
            from topgap.selection.arrow_partition import find_candidates

            context: Any = TaskContext.get()
            yield from find_candidates(batches, context.partitionId(), *pickle.loads(sent))  # noqa: S301
            return
        for batch in batches:
            missing = pa.nulls(1, batch.schema.field("item").type)
            said = f"SparkError: The executors {complaint}."
            yield pa.RecordBatch.from_arrays([missing, pa.array([said])], ["item", "value"])
            return

    return work
