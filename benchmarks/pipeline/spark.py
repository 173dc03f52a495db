"""What `topgap.spark.top_k_events` costs beside the plain query, and what the driver collects.

`make bench` runs it. Both are run in turn within one session of `local[*]` with Spark's own
settings, on events in a Parquet file; the plain query is

    df.groupBy("item").agg(count_distinct("person").alias("n")).orderBy(desc("n")).limit(k).collect()

Which goes first is a matter of chance. Then the rows that the driver collects are counted, with as
many partitions as are asked for. The events are made up: a million persons at random, 100,000 items
of a Zipf-like law; they are counted by a list and, as text, by a pattern that has 10^12 items. How
long it takes to look a few of these up in the data, which is done if some may win that nobody has,
is measured apart. Last come one partition of ten million items, and the merging of the rows of
many partitions, without Spark: from these docs/spark.md works out what larger clusters need.
"""

import argparse
import itertools
import os
import platform
import random
import statistics
import sys
import tempfile
import time
import warnings
from collections import deque
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from topgap import Domain, Release, TopK
from topgap._core import Streams
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.participants import read_part
from topgap.spark import drawing, pools, top_k_events
from topgap.spark.columns import select_columns
from topgap.spark.members import Occurring
from topgap.spark.rule import Rule

K, EPSILON = 25, 1
PERSONS, ITEMS = 1_000_000, 100_000
BATCH = 10_000  # as Spark hands them over unless told otherwise
PATTERN = Domain.pattern("item [0-9]{1,12}")
HEADS = 2 * K  # about as many as there are if all winners are items that nobody has
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
    top_k_events(df, K, EPSILON, person="person", item="item", domain=domain)


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
    original = pools.release_pools

    def look(table: Any, *given: Any, **more: Any) -> Release:
        tables.append(table)
        return original(table, *given, **more)

    with patch.object(drawing, "release_pools", look):
        by_topgap(df, range(ITEMS))
    [table] = tables
    return int(table.num_rows)


def looking_up(df: DataFrame, rounds: int) -> float:
    """Seconds to look up as many members of the domain as may win, of which half occur."""
    events, fields = select_columns(df, item="item", person="person")
    occurring = Occurring(events.dropna(), Rule(PATTERN, PATTERN), [fields["item"].dataType])
    names = [f"item {number * ITEMS // K}" for number in range(HEADS)]
    seconds = []
    for _ in range(rounds + 1):  # the first warms up
        start = time.perf_counter()
        occurring.find(names)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds[1:])


def in_one_partition(items: int, k: int) -> tuple[float, int]:
    """Seconds for one partition of equal answers, and how many words of its stream it read."""
    parameters, streams = TopK(k, EPSILON), Streams()
    stream, seconds = streams.open(0), 0.0
    pool = CandidatePool(parameters, stream=stream, remember_names=False)
    answers = pa.array(np.full(BATCH, 5))
    for first in range(0, items, BATCH):
        names = pa.array(np.arange(first, first + BATCH))
        start = time.perf_counter()
        pool.add(*read_part(answers, names))
        seconds += time.perf_counter() - start
    next_words = [stream.take(64) for _ in range(2)]
    again, words = streams.open(0), deque[int](maxlen=2)
    for read in itertools.count():
        words.append(again.take(64))
        if [*words] == next_words:
            return seconds, read - 1
    raise AssertionError


def merging(rows: int, k: int) -> tuple[float, float]:
    """Seconds to merge so many rows on the driver, and the bytes that it takes besides them."""
    tag = CandidatePool(TopK(k, EPSILON)).tag
    parts = [  # not all at once, or making them would take more memory than merging
        pa.array([str((10**18 + random.randrange(10**17)) << 32 | tag) for _ in range(BATCH)])
        for _ in range(rows // BATCH)
    ]
    table = pa.table({"item": np.arange(rows), "value": pa.chunked_array(parts)})
    before = getrusage(RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    pools.release_pools(table, TopK(k, EPSILON), gaps=True)
    seconds = time.perf_counter() - start
    return seconds, 1024 * (getrusage(RUSAGE_SELF).ru_maxrss - before)


def on_paper(items: int = 10_000_000, rows: int = 2_000_000, k: int = 100) -> None:
    seconds, words = in_one_partition(items, k)
    print(f"\none partition of {items:,} equal answers in batches of {BATCH:,}, k = {k}")
    print(f"{seconds:>8.2f} s{words:>8,} words of 64 random bits, {64 * words / items:.3f} an item")
    for winners in (k, 10 * k):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            seconds, more = pool.submit(merging, rows, winners).result()
        print(f"\nmerging {rows:,} rows on the driver, k = {winners:,}")
        print(f"{seconds:>8.2f} s{seconds / rows * 1e6:>8.2f} µs and {more / rows:.0f} bytes a row")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure topgap on Spark.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    with tempfile.TemporaryDirectory(prefix="topgap-bench-") as name:
        folder = Path(name)
        try:
            spark = session(folder)
        except PySparkRuntimeError:
            sys.exit("Spark cannot be started; it needs Java 17 or newer.")
        print(
            f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
            f"Spark {version('pyspark')}, topgap {version('topgap')}\n"
        )
        print(f"{asked.events:,} events, {ITEMS:,} items, k = {K}, {asked.rounds} rounds, medians "
              f"(at most 1.20)")  # fmt: skip
        print(f"{'':<10}{'Spark':>10}{'topgap':>10}{'ratio':>8}{'quarters of the ratio':>24}")
        for kind in ("numbers", "text"):
            write(spark, folder / kind, asked.events, kind == "text")
        numbers, texts = (spark.read.parquet(str(folder / kind)) for kind in ("numbers", "text"))
        compare(numbers, range(ITEMS), asked.rounds, "numbers")
        compare(texts, [f"item {i}" for i in range(ITEMS)], asked.rounds, "text")
        compare(texts, PATTERN, asked.rounds, "pattern")
        print(f"\nlooking up {HEADS} items in the text: {looking_up(texts, asked.rounds):.2f} s")
        print(f"\nrows that the driver collects of {ITEMS:,} items, k = {K}")
        for partitions in (2, 7, 200):
            rows = collected(spark, numbers, partitions)
            print(f"{partitions:>4} partitions{rows:>8,} rows{rows / partitions:>8.1f} each")
        spark.stop()
    on_paper()


if __name__ == "__main__":
    main()
