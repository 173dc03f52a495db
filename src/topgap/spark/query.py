"""Run a query of Spark; nothing in its errors that quotes data is shown."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from topgap.display.text import name_type
from topgap.errors import SparkError, TopgapError
from topgap.spark.executors import run_check
from topgap.spark.partitions import WORK

QUERY_LOGGERS = (
    "DataFrameQueryContextLogger",
    "SQLQueryContextLogger",
    "pyspark.sql.connect.logging",
)
"""Loggers of PySpark that write what its errors say; the last one if it is told to."""

_LIBRARIES = {"pyspark", "py4j", "grpc"}
_UNREACHABLE = (
    "The server of Spark Connect cannot be reached; check whether it runs, and create another "
    "session."
)

_Result = TypeVar("_Result")


def run_query(query: Callable[[], _Result], on: SparkSession | None = None) -> _Result:
    """Run a query. Replace an error of Spark by one sentence, because Spark's own quotes data.

    The new error is raised after the old one was handled, so that it is not kept as the context.
    If the session `on` is given, the sentence says whether its executors are the reason.
    """
    failed: SparkError | KeyboardInterrupt
    is_reachable = True
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
        elif _is_of_server(error):
            is_reachable, failed = False, SparkError(_UNREACHABLE)
        elif _is_of_spark(error):
            failed = SparkError("Spark could not run this; its own log says why.")
        else:
            failed = SparkError(
                f"{name_type(error)} occurred, which is a defect of topgap; please report it."
            )
    if on is not None and isinstance(failed, SparkError) and is_reachable:
        with suppress(SparkError):
            failed = SparkError(run_query(lambda: run_check(on, WORK)) or str(failed))
    raise failed


def _is_of_spark(error: Exception) -> bool:
    """Whether PySpark raised the error, or what it reaches Spark by."""
    libraries = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return isinstance(error, OSError | EOFError) or not libraries.isdisjoint(_LIBRARIES)


def _is_of_server(error: Exception) -> bool:
    """Whether Spark Connect did not reach its server."""
    ask = getattr(error, "getGrpcStatusCode", getattr(error, "code", None))
    return _is_of_spark(error) and callable(ask) and getattr(ask(), "name", "") == "UNAVAILABLE"


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

    loggers = [*map(PySparkLogger.getLogger, QUERY_LOGGERS)]
    for logger in loggers:
        logger.addFilter(is_of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(is_of_others)
