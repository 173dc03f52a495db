"""From what is counted to a release: executors are tried, ε is charged, and noise is drawn."""

from fractions import Fraction

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as sql
from pyspark.sql.types import StringType, StructField, StructType

from topgap._core import Streams
from topgap.domains import Domain
from topgap.errors import SparkError
from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.noise import Noise
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, PendingCharge
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Release
from topgap.selection.answers import check_enough
from topgap.selection.column_names import ANSWER, GROUP, ITEM, VALUE
from topgap.selection.measurement import GroupedShares, Shares
from topgap.selection.top_k_with_estimates import estimate_from
from topgap.selection.unlisted import check_found
from topgap.spark.counted import Counted
from topgap.spark.executors import run_check
from topgap.spark.groups import Groups
from topgap.spark.partitions import WORK, build_partition_task
from topgap.spark.pools import (
    measure_lists,
    measure_members,
    measure_pools,
    raise_reported_error,
    release_lists,
    release_members,
    release_pools,
)
from topgap.spark.query import run_query


def try_first(
    counted: Counted, parameters: TopK, pending: PendingCharge, *, look_at_rows: bool = False
) -> None:
    """Find before a charge what would fail after it; without a ledger nothing.

    Args:
        counted: What is counted.
        parameters: Of the release or, by group, of each list.
        pending: The charge.
        look_at_rows: Whether all rows are looked at, by a query without noise.

    Raises:
        SparkError: The executors cannot do the work.
        TopgapError: Rows cannot be used.
    """
    if pending is NO_CHARGE:
        return
    try_executors(counted)
    if look_at_rows:
        counts = raise_reported_error(_collect(counted, parameters, None))[VALUE].to_pylist()
        if counted.domain is None and parameters.threshold is None:
            check_enough(sum(map(int, counts)), parameters.k)


def try_executors(counted: Counted) -> None:
    """Find whether the executors can do the work.

    Raises:
        SparkError: They cannot.
    """
    spark = counted.rows.sparkSession
    if defect := run_query(lambda: run_check(spark, WORK)):
        raise SparkError(defect)


def count_items(counted: Counted, parameters: TopK) -> tuple[int, int]:
    """Count the items that take part, and those with a count other than 0, which is secret.

    Raises:
        TopgapError: Spark cannot run it, or there are too few.
    """
    groups, occurring = counted.groups, counted.occurring
    rows = counted.rows if occurring is None else occurring.keep_members(counted.rows)
    both = rows.agg(sql.count(sql.lit(1)), sql.count_if(sql.col(VALUE) > 0))
    [(size, found)] = run_query(lambda: both.collect(), rows.sparkSession)
    if groups is not None:
        return groups.domain.size * groups.public.size, found
    if occurring is not None:
        return occurring.rule.domain.size, found
    counted.check_found(size, parameters)
    return size, found


def charge_and_release(
    counted: Counted, parameters: TopK, pending: PendingCharge, *, gaps: bool
) -> Release | GroupedRelease:
    """Charge the ledger, then draw the release of these rows, with these parameters of a list."""
    groups, occurring, domain = counted.groups, counted.occurring, counted.domain

    def draw() -> Release | GroupedRelease:
        # The noise is used for this one query.
        collected = _collect(counted, parameters, Streams())
        if groups is not None:
            return release_lists(
                collected, groups.parameters, groups.public, groups.domain, gaps=gaps,
                from_data=groups.from_data,
            )  # fmt: skip
        if occurring is None or domain is None:
            _check_found(counted, collected, parameters)
            return release_pools(collected, parameters, gaps=gaps, listed=counted.listed)
        return release_members(collected, parameters, domain, occurring.find, gaps=gaps)

    if groups is not None:
        pending.note_groups(groups.public.size)
    return pending.charge_then_run(draw)


def charge_and_estimate(counted: Counted, shares: Shares, pending: PendingCharge) -> Estimates:
    """Charge the ledger, then draw the release of these rows and the measurements."""
    occurring, domain = counted.occurring, counted.domain

    def select_and_measure() -> tuple[Release, tuple[Fraction, ...]]:
        collected = _collect(counted, shares.selection, Streams(), keep_answers=True)
        if occurring is None or domain is None:
            _check_found(counted, collected, shares.selection)
            return measure_pools(collected, shares, counted.listed)
        return measure_members(collected, shares, domain, occurring.find)

    return estimate_from(shares, select_and_measure, pending)


def charge_and_estimate_groups(
    counted: Counted, groups: Groups, shares: GroupedShares, pending: PendingCharge
) -> GroupedEstimates:
    """Charge the ledger, then draw the lists of all groups and the measurements."""
    # Before, for nothing may go wrong after the winners have been drawn.
    noise = Noise.for_one_winner(shares.selection.each, shares.measurement_epsilon)

    def draw() -> GroupedEstimates:
        collected = _collect(counted, shares.selection.each, Streams(), keep_answers=True)
        return measure_lists(collected, shares, groups.public, groups.domain, noise,
                             from_data=groups.from_data)  # fmt: skip

    pending.note_groups(groups.public.size)
    return pending.charge_then_run(draw)


def _check_found(counted: Counted, collected: pa.Table, parameters: TopK) -> None:
    """Say that the data have too few items, if they are the domain and were not counted before.

    All of them have been collected then. With a threshold they were counted before, because what it
    leaves says nothing of that.
    """
    if counted.listed.from_data and parameters.threshold is None:
        raise_reported_error(collected)
        check_found(collected.num_rows, parameters.k)


def _collect(
    counted: Counted, parameters: TopK, streams: Streams | None, *, keep_answers: bool = False
) -> pa.Table:
    """Collect what all partitions hand over; without streams what a check without noise gives.

    Args:
        counted: What is counted.
        parameters: Of the release or, by group, of each list.
        streams: Where the noise comes from.
        keep_answers: Whether the plain answers of what can still win come, too.
    """
    released = parameters if counted.groups is None else counted.groups.parameters
    rows, domain = counted.rows, counted.domain
    return run_query(
        lambda: _collect_pools(rows, released, streams, domain, keep_answers=keep_answers),
        rows.sparkSession,
    )


def _collect_pools(
    rows: DataFrame,
    parameters: TopK | TopKByGroup,
    streams: Streams | None,
    domain: Domain | None,
    *,
    keep_answers: bool,
) -> pa.Table:
    """Collect the pools of all partitions; without streams, what the check without noise gives."""
    by_group = isinstance(parameters, TopKByGroup)
    kind = rows.schema[ITEM].dataType if domain is None else StringType()
    columns = [StructField(ITEM, kind), StructField(VALUE, StringType())]
    if keep_answers and not by_group:  # whose lists have them
        columns.append(StructField(ANSWER, StringType()))
    # In one order, which is the same for each attempt at a partition.
    keys = [GROUP, ITEM] if by_group else [ITEM]
    ordered = rows if streams is None else rows.sortWithinPartitions(*keys)
    task = build_partition_task(parameters, streams, domain, keep_answers=keep_answers)
    return ordered.mapInArrow(task, StructType(columns)).toArrow()
