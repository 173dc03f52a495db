"""What `topgap.spark.top_k_events` costs beside the plain query, and what the driver collects.

`make bench` runs it. Both are run in turn within one session of `local[*]` with Spark's own
settings, on events in a Parquet file; the plain query is

    df.groupBy("item").agg(count_distinct("person").alias("n")).orderBy(desc("n")).limit(k).collect()

Which goes first is a matter of chance. Then the rows that the driver collects are counted, with as
many partitions as are asked for. The events are made up: a million persons at random, 100,000 items
of a Zipf-like law.
"""

import argparse
import os
import platform
import random
import statistics
import sys
import tempfile
import time
import warnings
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import patch

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from topgap import Release, TopK
from topgap.spark import mechanism, top_k_events

K, EPSILON = 25, 1
PERSONS, ITEMS = 1_000_000, 100_000
QUIET = """\
rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
"""


def session(folder: Path) -> SparkSession:
    """One that writes nothing elsewhere and says nothing."""
    (folder / "log4j2.properties").write_text(QUIET)
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_CONF_DIR": str(folder),
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    settings: dict[str, bool | float | int | str | None] = {
        "spark.driver.memory": "4g",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[*]").config(map=settings).getOrCreate()


def write(spark: SparkSession, path: Path, events: int, as_text: bool) -> None:
    person = sql.floor(sql.rand() * PERSONS)
    item = sql.floor(ITEMS * sql.pow(sql.rand(), 4))
    if as_text:
        person, item = (
            sql.concat(sql.lit(word), each) for word, each in (("p", person), ("item ", item))
        )
    rows = spark.range(events).select(person.alias("person"), item.alias("item"))
    rows.write.parquet(str(path))


def plainly(df: DataFrame, _: object) -> None:
    counts = df.groupBy("item").agg(sql.count_distinct("person").alias("n"))
    counts.orderBy(sql.desc("n")).limit(K).collect()


def by_topgap(df: DataFrame, domain: Any) -> None:
    top_k_events(df, K, EPSILON, person="person", item="item", domain=domain, monotonic=True)


def compare(df: DataFrame, domain: Any, rounds: int, name: str) -> None:
    ways = {"Spark": plainly, "topgap": by_topgap}
    seconds: dict[str, list[float]] = {who: [] for who in ways}
    for number in range(rounds + 2):  # the first two warm up
        for who, way in random.sample([*ways.items()], 2):
            start = time.perf_counter()
            way(df, domain)
            if number >= 2:
                seconds[who].append(time.perf_counter() - start)
    plain, ours = (statistics.median(seconds[who]) for who in ways)
    pairs = zip(seconds["topgap"], seconds["Spark"], strict=True)
    low, middle, high = statistics.quantiles([a / b for a, b in pairs], n=4)
    spread = f"{low:.2f}  {middle:.2f}  {high:.2f}"
    print(f"{name:<10}{plain:>8.2f} s{ours:>8.2f} s{ours / plain:>8.2f}{spread:>24}", flush=True)


def collected(spark: SparkSession, df: DataFrame, partitions: int) -> int:
    """How many rows the driver gets, with as many partitions as this."""
    spark.conf.set("spark.sql.shuffle.partitions", partitions)
    spark.conf.set("spark.sql.adaptive.coalescePartitions.enabled", "false")
    tables: list[Any] = []
    original = mechanism._released

    def look(table: Any, parameters: TopK, gaps: bool) -> Release:
        tables.append(table)
        return original(table, parameters, gaps)

    with patch.object(mechanism, "_released", look):
        by_topgap(df, range(ITEMS))
    [table] = tables
    return int(table.num_rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure topgap on Spark.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        folder = Path(name)
        spark = session(folder)
        print(
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"Spark {version('pyspark')}, topgap {version('topgap')}\n"
        )
        print(f"{asked.events:,} events, {ITEMS:,} items, k = {K}, {asked.rounds} rounds, medians "
              f"(at most 1.20)")  # fmt: skip
        print(f"{'':<10}{'Spark':>10}{'topgap':>10}{'ratio':>8}{'quarters of the ratio':>24}")
        domains = {"numbers": range(ITEMS), "text": [f"item {i}" for i in range(ITEMS)]}
        for kind, domain in domains.items():
            write(spark, folder / kind, asked.events, kind == "text")
            compare(spark.read.parquet(str(folder / kind)), domain, asked.rounds, kind)
        print(f"\nrows that the driver collects of {ITEMS:,} items, k = {K}")
        for partitions in (2, 7, 200):
            rows = collected(spark, spark.read.parquet(str(folder / "numbers")), partitions)
            print(f"{partitions:>4} partitions{rows:>8,} rows{rows / partitions:>8.1f} each")
        spark.stop()


if __name__ == "__main__":
    main()
