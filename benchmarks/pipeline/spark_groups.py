"""What a list for each of 3,000 groups costs on Spark, beside the plain count by group and item.

`make bench` runs it. Both are run in turn within one session of `local[*]` with Spark's own
settings, on events in a Parquet file; the plain query, which is run to its end and thrown away, is

    df.groupBy("region", "item").agg(count_distinct("person"))

It neither bounds in how many groups a person is, nor finds the largest. The events are made up: a
million persons at random, nine of ten events in the person's own region and the others anywhere,
and 70,000 codes of a Zipf-like law, all of them text.
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

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from benchmarks.pipeline.spark import session
from topgap import Domain
from topgap.spark import top_k_events

K, EPSILON = 10, 1
PERSONS, GROUPS, ITEMS = 1_000_000, 3_000, 70_000
REGIONS = [f"region {number}" for number in range(GROUPS)]
CODES = [f"code {number}" for number in range(ITEMS)]
PATTERN = Domain.pattern("code [0-9]{1,5}")


def write(spark: SparkSession, path: Path, events: int) -> None:
    rows = spark.range(events).select(sql.floor(sql.rand() * PERSONS).alias("number"))
    anywhere = sql.floor(sql.rand() * GROUPS)
    own = sql.col("number") % GROUPS
    region = sql.when(sql.rand() < 0.9, own).otherwise(anywhere)
    item = sql.floor(ITEMS * sql.pow(sql.rand(), 4))
    told = {"person": ("p", sql.col("number")), "region": ("region ", region),
            "item": ("code ", item)}  # fmt: skip
    columns = [sql.concat(sql.lit(word), each).alias(name) for name, (word, each) in told.items()]
    rows.select(*columns).write.parquet(str(path))


def plainly(df: DataFrame) -> None:
    counts = df.groupBy("region", "item").agg(sql.count_distinct("person").alias("n"))
    counts.write.format("noop").mode("overwrite").save()


def by_list(df: DataFrame) -> None:
    _release(df, CODES, 1)


def by_list_in_three(df: DataFrame) -> None:
    _release(df, CODES, 3)


def by_pattern(df: DataFrame) -> None:
    _release(df, PATTERN, 1)


def _release(df: DataFrame, domain: object, most: int) -> None:
    top_k_events(
        df, K, EPSILON, person="person", item="item", domain=domain, by="region", groups=REGIONS,
        groups_per_person=most,
    )  # fmt: skip


WAYS = {
    "Spark": plainly,
    "topgap, a list": by_list,
    "topgap, a list, c = 3": by_list_in_three,
    "topgap, a pattern": by_pattern,
}


def compare(df: DataFrame, rounds: int) -> None:
    seconds: dict[str, list[float]] = {who: [] for who in WAYS}
    for number in range(rounds + 1):  # the first warms up
        for who, way in random.sample([*WAYS.items()], len(WAYS)):
            start = time.perf_counter()
            way(df)
            if number:
                seconds[who].append(time.perf_counter() - start)
    for who, own in seconds.items():
        pairs = [a / b for a, b in zip(own, seconds["Spark"], strict=True)]
        low, middle, high = statistics.quantiles(pairs, n=4) if rounds > 1 else pairs * 3
        spread = f"{low:.2f}  {middle:.2f}  {high:.2f}"
        print(f"{who:<24}{statistics.median(own):>8.2f} s{spread:>24}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure lists by group on Spark.")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
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
        write(spark, folder / "events", asked.events)
        events = spark.read.parquet(str(folder / "events"))
        pairs = events.select("region", "item").distinct().count()
        print(f"{asked.events:,} events, {GROUPS:,} groups x {ITEMS:,} codes, of which {pairs:,} "
              f"occur, k = {K}, {asked.rounds} rounds, medians")  # fmt: skip
        print(f"{'':<24}{'':>10}{'quarters of the ratio':>24}")
        compare(events, asked.rounds)
        spark.stop()


if __name__ == "__main__":
    main()
