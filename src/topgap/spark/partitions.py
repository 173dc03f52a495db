"""The function that Spark sends to the executors, for each partition of the rows.

Spark may run a partition more than once, and uses the attempt that ends first. How long an attempt
takes depends on its noise, so a choice between different noises would change their law. So all
attempts at a partition have the same noise.
"""

import pickle
from collections.abc import Callable
from typing import Any

from topgap._core import Streams
from topgap.domains import Domain
from topgap.grouped_parameters import TopKByGroup
from topgap.parameters import TopK
from topgap.selection import arrow_groups
from topgap.selection.arrow_partition import Batches
from topgap.spark.executors import prepare_check

WORK = arrow_groups.__name__
"""What must be importable where a partition is."""


def build_partition_task(
    parameters: TopK | TopKByGroup,
    streams: Streams | None,
    domain: Domain | None = None,
    *,
    keep_answers: bool = False,
) -> Callable[[Batches], Batches]:
    """Build the function for `mapInArrow`, from the items and answers of a partition to its pool.

    With a domain, which is one that is not written out, the pool is of its members, by their ranks.
    By group, there are lists in place of a pool. With `keep_answers` the plain answers go along.
    Without streams there is no noise: the function only checks the rows. It takes nothing from this
    module with it. So it can report that topgap is missing on the executor, or is another version,
    which might draw other noise.
    """
    arguments = pickle.dumps((parameters, streams, domain, keep_answers))
    check, by_rank = prepare_check(WORK), domain is not None
    by_group = isinstance(parameters, TopKByGroup)
    with_column = keep_answers and not by_group  # a list has them in its text

    def work(batches: Batches) -> Batches:
        import pickle

        import pyarrow as pa
        from pyspark import TaskContext

        defect = check()
        if not defect:
            from topgap.selection.arrow_groups import release_groups
            from topgap.selection.arrow_partition import find_candidates

            run: Any = release_groups if by_group else find_candidates
            context: Any = TaskContext.get()
            yield from run(batches, context.partitionId(), *pickle.loads(arguments))  # noqa: S301
            return
        for batch in batches:
            kind = pa.string() if by_rank else batch.schema.field("item").type
            columns = {"item": pa.nulls(1, kind), "value": [f"SparkError: The executors {defect}."]}
            if with_column:
                columns["answer"] = pa.nulls(1, pa.string())
            yield pa.RecordBatch.from_pydict(columns)
            return

    return work
