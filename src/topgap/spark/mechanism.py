"""Noisy Top-k with Gap on Spark, as users call it: `top_k` and `top_k_events`."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import AnalysisException, PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import StringType, StructField, StructType

from topgap import errors
from topgap._core import Streams
from topgap.errors import SparkError, TopgapError
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number, read_flag
from topgap.parameters import TopK
from topgap.release import Release
from topgap.selection.answers import check_enough
from topgap.selection.arrow_partition import ITEM, TIMES, VALUE
from topgap.selection.candidate_arrow import fill_from_arrow
from topgap.selection.candidate_pool import CandidatePool
from topgap.spark.columns import check_count, check_item, select_columns
from topgap.spark.domain_frame import build_domain_frame
from topgap.spark.executors import run_check
from topgap.spark.partitions import WORK, build_partition_task

_Result = TypeVar("_Result")
_QUERY_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


def top_k(
    df: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    item: str,
    count: str,
    resolution: "Number" = "1/10",
    sensitivity: "Number" = 1,
    monotonic: bool = False,
    gaps: bool = True,
    check_items: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Release:
    """Name the k items with the largest counts, and the gap from each to the next.

    The output has the law of `topgap.top_k` on all rows. One query is run, at once.

    Args:
        df: A data frame of Spark with a row for each item; more than k of them. Which items are
            in it must be known to everyone.
        k: How many winners are named.
        epsilon: The privacy loss ε of the release; see `topgap.top_k` for this and the next.
        item: The column that names the items: strings, integers, decimals, dates or truth values.
        count: The column with their counts: integers, decimals or floats, taken exactly.
        resolution: Gaps are multiples of this; one divided by an integer.
        sensitivity: How far one person can move any one count; a multiple of the resolution.
        monotonic: Whether one person's arrival moves all counts the same way.
        gaps: Whether the gaps are released; they cost no privacy.
        check_items: Whether to look for items that have two rows, which takes a shuffle of all
            rows. Without it that no item has is for you to know.
        ledger: The budget ledger to charge, by the driver; see `topgap.top_k`. With one, a small
            job first sees that the executors can do the work, and a query without noise that all
            rows can be used, as far as `check_items` has it look. When the release itself has
            begun ε is spent, even if Spark then fails.
        dataset: The data set in it.

    Returns:
        The winners from the largest down and the lead of each over the next.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The data frame has no such columns, or they cannot name items.
        AnswersError, AnswersTypeError: There are too few counts, or some are missing or no finite
            numbers.
        ItemsError: An item is missing, or there twice.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        SparkError: The executors lack something, or the job failed. Nothing is released on an
            error.
    """
    parameters = TopK(
        k, epsilon, resolution=resolution, sensitivity=sensitivity, monotonic=monotonic
    )
    gaps, check_items = read_flag(gaps, "gaps"), read_flag(check_items, "check_items")
    pending = prepare_charge(ledger, dataset, "topgap.spark.top_k", parameters, gaps=gaps)

    def plan_rows() -> DataFrame:
        rows, fields = select_columns(df, item=item, value=count)
        check_item(fields[ITEM])
        check_count(fields[VALUE])
        if check_items:
            rows = rows.groupBy(ITEM).agg(
                sql.max(VALUE).alias(VALUE), sql.count(sql.lit(1)).alias(TIMES)
            )
        return rows

    rows = _run_query(plan_rows)
    if pending is not NO_CHARGE:
        _check_executors(rows.sparkSession)
        _dry_run(rows, parameters)
    return _charge_and_release(rows, parameters, pending, gaps=gaps)


def top_k_events(
    df: DataFrame,
    k: int,
    epsilon: "Number",
    *,
    person: str,
    item: str,
    domain: object,
    resolution: "Number" = "1/10",
    monotonic: bool = False,
    gaps: bool = True,
    ledger: "LedgerLike | None" = None,
    dataset: str | None = None,
) -> Release:
    """Name the k items that most persons have, and the gap from each to the next.

    Spark counts the distinct persons of each item, so that one person moves a count by at most 1,
    the sensitivity. Items and persons are the same if Spark says so, without a second look at
    white space or accents.

    Args:
        df: A data frame of Spark with a row for each event.
        k: How many winners are named.
        epsilon: The privacy loss ε of the release; see `topgap.top_k`.
        person: The column that says who. Events without a person are left out.
        item: The column that says what: strings, integers, decimals, dates or truth values. Events
            without an item are left out, and so are those whose item is not in the domain.
        domain: The public list of items, all of which take part, with 0 if nobody has them: a list
            or other iterable of values like those of the column; a range; or, if there are many, a
            data frame of Spark with one column of the same type.
        resolution: Gaps are multiples of this; one divided by an integer.
        monotonic: Whether data sets differ by adding or removing a person, and not by replacing
            one; half the noise suffices then.
        gaps: Whether the gaps are released; they cost no privacy.
        ledger: The budget ledger to charge, by the driver; see `topgap.top_k`. With one, a small
            job first sees that the executors can do the work. When the query has begun ε is
            spent, even if Spark then fails.
        dataset: The data set in it.

    Returns:
        The winners from the largest down and the lead of each over the next.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
        SourceError: The data frame has no such columns, or they cannot name items.
        BudgetExceeded, LedgerError: The ledger has less left, or cannot be written.
        DomainError, AnswersError: The domain is no list of more than k items of the column's type.
        SparkError: The executors lack something, or the job failed. Nothing is released on an
            error.
    """
    parameters = TopK(k, epsilon, resolution=resolution, monotonic=monotonic)
    gaps = read_flag(gaps, "gaps")
    pending = prepare_charge(ledger, dataset, "topgap.spark.top_k_events", parameters, gaps=gaps)

    def plan_rows() -> DataFrame:
        events, fields = select_columns(df, item=item, person=person)
        kind = check_item(fields[ITEM])
        items = build_domain_frame(domain, kind, df.sparkSession, parameters.k)
        if pending is not NO_CHARGE and isinstance(domain, DataFrame):  # else it has been counted
            check_enough(items.count(), parameters.k)
        counts = events.dropna().groupBy(ITEM).agg(sql.count_distinct("person").alias(VALUE))
        # Merged, because the other way Spark may take is to collect all counts on the driver.
        return items.join(counts.hint("merge"), ITEM, "left").fillna(0, [VALUE])

    rows = _run_query(plan_rows)
    if pending is not NO_CHARGE:
        _check_executors(rows.sparkSession)
    return _charge_and_release(rows, parameters, pending, gaps=gaps)


def _check_executors(spark: SparkSession) -> None:
    """Check that the executors can do the work.

    Raises:
        SparkError: They cannot.
    """
    if defect := _run_query(lambda: run_check(spark, WORK)):
        raise SparkError(defect)


def _dry_run(rows: DataFrame, parameters: TopK) -> None:
    """Find what would be refused, by a query without noise."""
    collected = _run_query(lambda: _collect_pools(rows, parameters, None), rows.sparkSession)
    check_enough(sum(map(int, _raise_reported_error(collected)[VALUE].to_pylist())), parameters.k)


def _charge_and_release(
    rows: DataFrame, parameters: TopK, pending: PendingCharge, *, gaps: bool
) -> Release:
    """Charge the ledger, then draw the release of these rows."""

    def draw() -> Release:
        # The noise is used for this one query.
        collected = _run_query(
            lambda: _collect_pools(rows, parameters, Streams()), rows.sparkSession
        )
        return _release_pools(collected, parameters, gaps=gaps)

    return pending.charge_then_run(draw)


def _release_pools(collected: pa.Table, parameters: TopK, *, gaps: bool) -> Release:
    pools = _raise_reported_error(collected)
    pool = CandidatePool(parameters)
    fill_from_arrow(pool, pools)
    return pool.rank().release(gaps=gaps)


def _collect_pools(rows: DataFrame, parameters: TopK, streams: Streams | None) -> pa.Table:
    """Collect the pools of all partitions; without streams, what the check without noise gives."""
    schema = StructType(
        [StructField(ITEM, rows.schema[ITEM].dataType), StructField(VALUE, StringType())]
    )
    # In one order, which is the same for each attempt at a partition.
    ordered = rows if streams is None else rows.sortWithinPartitions(ITEM)
    return ordered.mapInArrow(build_partition_task(parameters, streams), schema).toArrow()


def _raise_reported_error(collected: pa.Table) -> pa.Table:
    """Raise the error that a partition reported; return what was collected if there is none.

    Raises:
        TopgapError: A partition reported it.
    """
    reports = collected.filter(pc.is_null(collected[ITEM]))[VALUE].to_pylist()
    reported = [each for each in reports if not each.isdecimal()]
    if reported:
        kind, _, sentence = min(reported).partition(": ")
        raise getattr(errors, kind)(sentence)
    return collected


def _run_query(query: Callable[[], _Result], on: SparkSession | None = None) -> _Result:
    """Run a query. Replace an error of Spark by one sentence, because Spark's own quotes data.

    The new error is raised after the old one was handled, so that it is not kept as the context.
    If the session `on` is given, the sentence says whether its executors are the reason.
    """
    failed: SparkError | KeyboardInterrupt
    try:
        with _silence_pyspark_loggers():
            return query()
    except TopgapError:
        raise
    except Exception as error:
        if _is_interruption(error):
            failed = KeyboardInterrupt()
        elif isinstance(error, AnalysisException):  # for which Spark writes no log
            failed = SparkError(f"Spark cannot plan this: {error.getCondition()}.")
        elif isinstance(error, (PySparkException, Py4JError, OSError, EOFError)):
            failed = SparkError("Spark could not run this; its own log says why.")
        else:
            failed = SparkError(
                f"A {type(error).__name__} came up that topgap should have foreseen, which is a "
                f"defect of topgap; please report it."
            )
    if on is not None and isinstance(failed, SparkError):
        with suppress(SparkError):
            failed = SparkError(_run_query(lambda: run_check(on, WORK)) or str(failed))
    raise failed


def _is_interruption(error: BaseException | None) -> bool:
    """Whether PySpark raised the error in place of an interrupt."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


@contextmanager
def _silence_pyspark_loggers() -> Iterator[None]:
    """Keep PySpark's own loggers from writing what its errors say, rows and all, to stderr."""
    thread = threading.get_ident()

    def is_of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    loggers = [*map(PySparkLogger.getLogger, _QUERY_LOGGERS)]
    for logger in loggers:
        logger.addFilter(is_of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_others)
