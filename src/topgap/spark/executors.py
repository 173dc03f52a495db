"""Whether the executors can do the work: which Python they run, and what it has.

The driver asks before a ledger is charged, by a job that goes the way of a release and reads no
data. So all that Spark says of its failure may be read here, and is not passed on.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

from pyspark.sql import SparkSession

from topgap._core import __version__

_ROWS = 1 << 16
"""More than a cluster has slots, so that no partition of the job is empty."""


def prepare_check(work: str) -> Callable[[], str]:
    """Build a function that says what Python lacks where it runs; empty if it lacks nothing.

    Args:
        work: The module that does the work there, and must be importable.

    It takes nothing from this module with it, for topgap may be what is missing.
    """
    version = __version__

    def check() -> str:
        from importlib import import_module
        from warnings import catch_warnings, simplefilter

        remedy = (
            f"install topgap[spark]=={version} there, or set PYSPARK_PYTHON to a Python that has it"
        )
        try:
            import_module("numpy")
        except Exception:
            return f"have no numpy: {remedy}"
        try:
            from pyspark.sql.pandas.utils import require_minimum_pyarrow_version

            require_minimum_pyarrow_version()
        except Exception:
            return f"have no pyarrow that Spark can use: {remedy}"
        try:
            from pyspark.sql.pandas.utils import require_minimum_pandas_version

            with catch_warnings():
                simplefilter("ignore")  # of versions that are newer than PySpark knows
                require_minimum_pandas_version()
        except Exception:
            return f"have no pandas that Spark can use: {remedy}"
        try:
            import_module("topgap")
            installed = import_module("topgap._core").__version__
        except ImportError as error:
            if error.name == "topgap":
                return f"have no topgap: {remedy}"
            return f"lack a library that topgap needs: {remedy}"
        except Exception as error:
            return f"cannot import topgap, which ends in a {type(error).__name__}: {remedy}"
        if installed != version:
            return f"have topgap {installed}, and here is {version}: {remedy}"
        try:
            import_module(work)
        except Exception:
            return f"lack a library that topgap needs: {remedy}"
        return ""

    return check


def run_check(spark: SparkSession, work: str) -> str:
    """Say in a sentence what keeps the executors from working; empty if nothing does.

    It runs as many tasks as Spark says that there are slots, or sets as default parallelism. Spark
    may run two of them in one slot, and an executor that comes later is not asked.

    Raises:
        Exception: Spark cannot run the job, and says nothing of Python.
    """
    check = prepare_check(work)

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        for _ in batches:
            pass
        yield pa.RecordBatch.from_arrays([pa.array([check()])], ["defect"])

    try:
        table = spark.range(_ROWS).mapInArrow(run, "defect string").toArrow()
    except Exception as error:
        defect = _explain_failure(str(error))
        if not defect:
            raise
    else:
        defect = max(table["defect"].to_pylist())
    return f"The executors {defect}." if defect else ""


def _explain_failure(text: str) -> str:
    """Explain Spark's error by the executors' Python; empty if that is not the reason."""
    other = re.search(r"PYTHON_VERSION_MISMATCH\D+(3\.\d+)\D+(3\.\d+)", text)
    if other:
        return (
            f"run Python {other[1]}, and here is {other[2]}: set PYSPARK_PYTHON to a Python "
            f"{other[2]} there that has topgap[spark]=={__version__}"
        )
    missing = re.search(r"No module named '?(\w+)|(PyArrow|Pandas) >= \S+ must be installed", text)
    if missing:
        return (
            f"lack {(missing[1] or missing[2]).lower()}: install topgap[spark]=={__version__} "
            f"there, or set PYSPARK_PYTHON to a Python that has it"
        )
    if "Cannot run program" in text or "pyspark.daemon" in text or "Python worker" in text:
        return (
            f"cannot start Python: set PYSPARK_PYTHON to a Python that is there and has "
            f"topgap[spark]=={__version__}"
        )
    return ""
