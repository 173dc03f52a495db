"""Releases on a real Spark cluster of two workers, in all its moods.

Without Java these tests are skipped; with TOPGAP_NEEDS_JAVA=1 they fail. One cluster serves them.
"""

import logging
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyspark import TaskContext, cloudpickle
from pyspark.errors import PySparkException
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql
from pyspark.sql.types import DecimalType, IntegerType, LongType

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from tests.spark.cluster import PARTITIONS
from tests.spark.failing_tasks import (
    TROUBLED,
    Attempts,
    Batches,
    dies,
    fails,
    hangs,
    loses_its_executor,
)
from tests.spark.nearly_noiseless import CERTAIN, is_about
from tests.tools.documents import ROOT, blocks
from topgap import Release, TopK, counting, law
from topgap._core import Streams, __version__
from topgap.errors import (
    AnswersError,
    AnswersTypeError,
    DomainError,
    ItemsError,
    ParameterError,
    ParameterTypeError,
    SourceError,
    SparkError,
    TopgapError,
)
from topgap.law import Bounds
from topgap.ledger import Ledger
from topgap.selection import arrow_partition
from topgap.spark import (
    counted,
    drawing,
    event_request,
    executors,
    partitions,
    pools,
    query,
    release_parameters,
    top_k,
    top_k_events,
)
from topgap.spark.domain_frame import DomainFrame, build_domain_frame

pytestmark = pytest.mark.linux(reason="finds the processes of a cluster in /proc, and kills them")


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What the driver collects, table by table."""
    tables: list[Any] = []
    original = pools.release_pools

    def look(table: Any, *given: Any, **more: Any) -> Release:
        tables.append(table)
        return original(table, *given, **more)

    monkeypatch.setattr(drawing, "release_pools", look)
    return tables


# --- Partitions


@pytest.mark.parametrize("number", [1, 7, 200])
def test_any_number_of_partitions(
    spark: SparkSession,
    number: int,
    in_partitions: Callable[[int], None],
    collected: list[Any],
) -> None:
    """Of 200 partitions some are empty, and all have fewer items than there are winners."""
    in_partitions(number)
    counts = {f"item {i}": 1000 * i for i in range(300)}
    frame = spark.createDataFrame(pd.DataFrame({"what": [*counts], "people": [*counts.values()]}))
    assert is_about(top_k(frame, 10, CERTAIN, item="what", count="people"), counts)
    [table] = collected
    assert 11 <= table.num_rows <= min(300, number * 11)


def test_what_the_page_on_spark_shows(spark: SparkSession) -> None:
    page = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
    before, _, connect = page.partition("## Spark Connect\n")  # which test_connect.py runs
    page = before + "## " + connect.partition("\n## ")[2]
    shown = [block.text for block in blocks(page) if block.language == "python"]
    icd10 = [f"A{number:02}" for number in range(12)]
    visits = pd.DataFrame([(p, c) for i, c in enumerate(icd10) for p in range(100 - 8 * i)])
    visits.columns = pd.Index(["patient", "diagnosis"])
    visits["region"] = "North"
    keys = ["region", "diagnosis"]
    counts = visits.groupby(keys).patient.count().rename("patients").reset_index()
    names: dict[str, Any] = {
        "icd10": icd10,
        "regions": ["North", "South"],
        "visits": spark.createDataFrame(visits),
        "counts": spark.createDataFrame(counts),
    }
    assert shown
    for code in shown:
        exec(code, names)
        assert len(names["release"]) == 10


def test_skew(spark: SparkSession, collected: list[Any]) -> None:
    """One of eight partitions has nearly all items, at most three have some, the rest have none."""
    counts = {i: 3 * i for i in range(2000)} | {-1: 7000, -2: 5998, -3: 1}
    rows = spark.createDataFrame([*counts.items()], "id long, n long")
    frame = rows.repartition(8, sql.expr("least(id, 0)"))
    sizes = [row["count"] for row in frame.groupBy(sql.spark_partition_id()).count().collect()]
    assert len(sizes) <= 4
    assert max(sizes) >= 2000
    release = top_k(frame, 5, CERTAIN, item="id", count="n", check_items=False)
    assert is_about(release, counts)
    [table] = collected
    assert table.num_rows == sum(min(size, 6) for size in sizes)


@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.smoke), 7])
def test_events_are_counted_once_for_each_person(
    spark: SparkSession, number: int, in_partitions: Callable[[int], None]
) -> None:
    """One item has nearly all events; some have none, or are not in the domain, or are missing."""
    in_partitions(number)
    seed = random.Random(7)
    rows: list[tuple[Any, Any]] = [(float(seed.randrange(90)), "crowd") for _ in range(2000)]
    rows += [(float(person), item) for item, n in {"b": 30, "c": 11, "other": 50}.items()
             for person in range(n) for _ in range(2)]  # fmt: skip
    rows += [(None, "c")] * 50 + [(91.0, None)] * 40 + [(float("nan"), "c")]
    seed.shuffle(rows)
    frame = spark.createDataFrame(rows, "who double, what string").repartition(3)
    domain = ["nobody", "c", "b", "crowd"]
    release = top_k_events(frame, 3, CERTAIN, person="who", item="what", domain=domain)
    table = pa.table({"who": [who for who, _ in rows], "what": [what for _, what in rows]})
    counts = counting.count_events(table, person="who", item="what", domain=domain)
    assert counts == {"nobody": 0, "c": 11, "b": 30, "crowd": 90}
    assert is_about(release, counts)


def plan_of_events(module: Any, spark: SparkSession) -> str:
    """What Spark has run in the end, for it changes its plans under way."""
    events = spark.range(50).select("id", sql.expr("id % 7 AS what"))
    planned: list[DataFrame] = []
    original = drawing._collect_pools

    def look(rows: DataFrame, *given: Any, **more: Any) -> Any:
        planned.append(rows)
        return original(rows, *given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "_collect_pools", look)
        patch.setattr(event_request, "plan_events", module.plan_events)
        top_k_events(events, 2, 1, person="id", item="what", domain=range(9))
    [rows] = planned
    rows.collect()
    return str(rows._jdf.queryExecution().executedPlan().toString())


def test_counts_do_not_go_through_the_driver(spark: SparkSession) -> None:
    assert "Broadcast" not in plan_of_events(counted, spark)


@pytest.mark.parametrize("mutant", [Mutant("as it likes", 'counts.hint("merge")', "counts")])
def test_counts_that_go_through_the_driver_are_seen(spark: SparkSession, mutant: Mutant) -> None:
    """Spark would collect them there to send them to all executors."""
    assert "Broadcast" in plan_of_events(mutated(counted, mutant), spark)


@pytest.mark.statistical(false_alarm=1e-10)
def test_the_law_holds_through_spark(spark: SparkSession, false_alarm: float) -> None:
    """Two partitions that shared their noise would give a gap of 0 each time.

    That has a chance of about 0.05 here; 10 times in a row, of 10^−13.
    """
    parameters = TopK(1, 1)
    frame = spark.createDataFrame([(0, 5), (1, 5)], "what long, n long").repartitionByRange(
        2, "what"
    )
    releases = [top_k(frame, 1, 1, item="what", count="n", check_items=False) for _ in range(10)]
    gaps = Counter(gap for release in releases for gap in release.gaps or ())

    def probability(gap: Fraction) -> Bounds:
        first, second = (law.gap_top_k([5, 5], parameters, [(item, gap)]) for item in (0, 1))
        return Bounds(first.low + second.low, first.high + second.high)

    assert misfits(gaps, [Fraction(gap, 10) for gap in range(40)], probability, false_alarm) == []


@pytest.mark.statistical(false_alarm=1e-20)
def test_two_calls_share_no_noise(spark: SparkSession) -> None:
    frame = spark.range(64).select("id", sql.lit(5).alias("n"))
    releases = {top_k(frame, 20, 1, item="id", count="n", check_items=False) for _ in range(3)}
    assert len(releases) == 3


# --- Attempts


def shuffled(batches: Batches) -> Batches:
    """The same rows in another order each time, as a shuffle may bring them."""
    for batch in batches:
        yield batch.take(pa.array(np.random.default_rng().permutation(batch.num_rows)))


def agreeing(attempts: Attempts, release: Release) -> bool:
    """Whether all attempts at a partition made the same, and the release was made of it."""
    made = attempts.made()
    if any(each != rows[0] for rows in made.values() for each in rows):
        return False
    batches = [batch for rows in made.values() for batch in rows[0]]
    held = {item: int(value) >> 32 for batch in batches  # without the tag of the parameters
            for item, value in zip(batch["item"], batch["value"], strict=True)}  # fmt: skip
    ranked = sorted(held.values(), reverse=True)
    kernel, units = release.parameters.kernel, release.gap_units
    assert kernel is not None
    assert units is not None
    return [held[item] for item in release.items] == ranked[: len(release)] and all(
        unit in (lead >> kernel.refinement, (lead - 1) >> kernel.refinement)
        for unit, lead in zip(units.tolist(), -np.diff(ranked[: len(release) + 1]), strict=True)
    )


def release_in_trouble(
    spark: SparkSession, attempts: Attempts, module: Any = drawing, check_items: bool = False
) -> Release:
    """A release in which a first attempt meets the trouble; equal answers, so noise decides all."""
    frame = spark.range(400, numPartitions=2).select("id", sql.lit(5).alias("n")).cache()
    frame = frame.mapInArrow(shuffled, frame.schema)
    with pytest.MonkeyPatch.context() as patch:
        work = module.build_partition_task
        patch.setattr(
            module, "build_partition_task", lambda *given, **more: attempts.of(work(*given, **more))
        )
        patch.setattr(release_parameters, "charge_and_release", module.charge_and_release)
        release = top_k(frame, 5, 1, item="id", count="n", check_items=check_items)
    spark.catalog.clearCache()
    return release


@pytest.mark.parametrize(("trouble", "check_items"), [
    (None, True), (fails, False), (dies, True), (hangs, False), (loses_its_executor, False),
    (loses_its_executor, True),
])  # fmt: skip
def test_every_attempt_has_the_same_noise(
    spark: SparkSession, trouble: Any, check_items: bool, tmp_path: Path
) -> None:
    """It fails, dies, is slow and gets a copy, loses its machine.

    With that go the cached input and, if items are checked, the files of the shuffle.
    """
    attempts = Attempts(tmp_path, trouble)
    release = release_in_trouble(spark, attempts, check_items=check_items)
    made = attempts.made()
    assert {*made} == {0, 1}
    assert len(made[TROUBLED]) >= (1 if trouble is None else 2)
    assert agreeing(attempts, release)


def fresh_noise(parameters: TopK, *_: Any, **__: Any) -> Any:
    """As if every attempt made its own key."""

    def work(batches: Batches) -> Batches:
        context = TaskContext.get()
        assert context is not None
        number = context.partitionId()
        yield from arrow_partition.find_candidates(batches, number, parameters, Streams())

    return work


@pytest.mark.parametrize("mutant", ["fresh noise for each attempt", "rows in any order"])
@pytest.mark.statistical(false_alarm=1e-10)
def test_attempts_that_differ_are_seen(mutant: str, spark: SparkSession, tmp_path: Path) -> None:
    """Of 200 equal answers, two attempts keep the same 6 in the same order once in 10^13 times."""
    ordered = "rows.sortWithinPartitions(*keys)"
    broken = mutated(drawing, Mutant(mutant, ordered, "rows"))
    if mutant == "fresh noise for each attempt":
        broken = mutated(drawing, Mutant(mutant, ordered, ordered))
        broken.build_partition_task = fresh_noise
    attempts = Attempts(tmp_path, fails)
    release = release_in_trouble(spark, attempts, broken)
    assert not agreeing(attempts, release)


def test_events_are_counted_again_after_a_task_has_failed(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Before the shuffles, in a data frame of the user's own making."""
    attempts = Attempts(tmp_path, fails)
    events = spark.range(300, numPartitions=3).select("id", sql.expr("int(sqrt(id)) AS what"))
    events = events.mapInArrow(attempts.of(shuffled), events.schema)
    release = top_k_events(events, 2, CERTAIN, person="id", item="what", domain=range(5, 30))
    assert len(attempts.made()[TROUBLED]) >= 2
    assert is_about(release, {item: 2 * item + 1 for item in range(5, 17)} | {17: 11, 18: 0})


# --- What is read


def test_columns_may_have_any_name(spark: SparkSession) -> None:
    counts = {"a": 5, "b": 900, "c": 30}
    rows = [(7, item, "x", n) for item, n in counts.items()]
    for item, count in [("a.b", "`"), ("value", "item"), ("times", "unused 0"), ("p q", "ITEM")]:
        frame = spark.createDataFrame(rows, ["person", "x", "y", "z"]).toDF(
            "person", item, "x", count
        )
        release = top_k(frame, 2, CERTAIN, item=item, count=count)
        assert is_about(release, counts)
    doubled = spark.createDataFrame(rows).toDF("x", "item", "x", "n")
    assert is_about(top_k(doubled, 2, CERTAIN, item="item", count="n"), counts)
    with pytest.raises(SourceError, match="more than one column 'x'"):
        top_k(doubled, 2, 1, item="x", count="n")


@pytest.mark.parametrize(("kind", "items"), [
    ("string", ["a", "A", " a"]), ("long", [2**63 - 1, -(2**63), 0]),
    ("date", [date(2026, 1, 2), date(1582, 1, 1), date(9999, 12, 31)]), ("boolean", [True, False]),
    ("decimal(38,2)", [Decimal("0.10"), Decimal("-7.00"), Decimal(10**35)]),
])  # fmt: skip
def test_items_keep_their_type(spark: SparkSession, kind: str, items: list[Any]) -> None:
    counts = {item: 100 * (i + 1) for i, item in enumerate(items)}
    frame = spark.createDataFrame([*counts.items()], f"what {kind}, n int")
    release = top_k(frame, len(items) - 1, CERTAIN, item="what", count="n")
    assert is_about(release, counts)
    assert {*map(type, release.items)} == {type(items[0])}
    events = spark.createDataFrame([(i, item) for item in items for i in range(counts[item])],
                                   f"who int, what {kind}")  # fmt: skip
    again = top_k_events(events, len(items) - 1, CERTAIN, person="who", item="what", domain=items)
    assert is_about(again, counts)


@pytest.mark.parametrize(("kind", "numbers"), [
    ("byte", [-128, 0, 127]), ("long", [-(2**63), 0, 2**63 - 1]), ("double", [-0.5, 1e300, 3.25]),
    ("float", [0.5, -2.0, 7.75]),
    ("decimal(10,4)", [Decimal("0.0001"), Decimal("0.3"), Decimal(-1)]),
    ("decimal(38,0)", [Decimal(10**37), Decimal(-(10**37)), Decimal(0)]),
])  # fmt: skip
def test_counts_are_taken_exactly(spark: SparkSession, kind: str, numbers: list[Any]) -> None:
    frame = spark.createDataFrame([*enumerate(numbers)], f"what int, n {kind}")
    release = top_k(frame, 2, 10**8, item="what", count="n", resolution="1/10000")
    exact = [Fraction(number) for number in numbers]
    first, second, third = sorted(range(3), key=lambda i: -exact[i])
    assert release.items == (first, second)
    assert release.gaps is not None
    off = [
        exact[first] - exact[second] - release.gaps[0],
        exact[second] - exact[third] - release.gaps[1],
    ]
    assert all(0 <= each <= Fraction(1, 10000) for each in off)


def test_a_range_and_other_lists_are_domains(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, 5), (2, 5), (2, 5), (3, 7), (3, 70)], "who int, what int")
    frame = spark.createDataFrame([(5,), (9,), (7,), (None,), (5,)], "x int")
    for asked in (range(5, 10, 2), frame):
        release = top_k_events(events, 2, CERTAIN, person="who", item="what", domain=asked)
        assert is_about(release, {5: 2, 7: 1, 9: 0})
    numbers = np.array([5, 7, 9])
    for domain in (range(9, 4, -2), [9, 7, 5], numbers, [*numbers], pd.Series([5, 7, 9]),
                   {5: "", 7: "", 9: ""}, counting.Domain([5, 7, 9])):  # fmt: skip
        assert items_in(domain, IntegerType(), spark) == [5, 7, 9]


def items_in(domain: object, kind: Any, spark: SparkSession) -> list[Any]:
    rows = build_domain_frame(domain, kind, spark, 1).frame
    assert rows.schema[0].dataType == kind
    return sorted(row["item"] for row in rows.collect())


@pytest.mark.parametrize("domain", [
    range(2**63 - 5, 2**63), range(-(2**63), 2**63 - 1, 2**63 + 5),
    range(0, 2**63, 2**61), range(4 - 2**63, -(2**63) - 1, -2), range(7, 20, 6),
])  # fmt: skip
def test_a_range_may_reach_as_far_as_the_numbers_do(spark: SparkSession, domain: range) -> None:
    assert items_in(domain, LongType(), spark) == sorted(domain)


@pytest.mark.parametrize("rows", [0, -1])
def test_batches_of_any_size(spark: SparkSession, rows: int) -> None:
    """Spark's way to say that there is no limit, with which PySpark takes no table of Arrow."""
    events = spark.createDataFrame([(1, 5), (2, 5), (3, 7)], "who int, what int")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", rows)
    try:
        release = top_k_events(events, 2, CERTAIN, person="who", item="what", domain=[5, 7, 9])
        decimals = items_in([5, Decimal("7.5")], DecimalType(9, 2), spark)
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")
    assert is_about(release, {5: 2, 7: 1, 9: 0})
    assert decimals == [5, Decimal("7.5")]


def test_names_alone_without_gaps(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("a", 5), ("b", 900)], "what string, n int")
    release = top_k(frame, 1, CERTAIN, item="what", count="n", gaps=False)
    assert (release.items, release.gaps) == (("b",), None)


# --- What is refused


COUNTS = "array('Zaphod') AS list, 'Zaphod' AS what, 5 AS n, 1.5D AS float, binary('x') AS bytes"


@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(("change", "error", "said"), [
    ({"k": 0}, ParameterError, "k must"), ({"epsilon": 0}, ParameterError, "epsilon"),
    ({"gaps": 1}, ParameterTypeError, "gaps"),
    ({"check_items": 1}, ParameterTypeError, "check_items"),
    ({"item": "nothing"}, SourceError, "no column 'nothing'; it has 'list', 'what'"),
    ({"item": "WHAT"}, SourceError, "no column"), ({"item": None}, ParameterError, "string"),
    ({"item": "n"}, ParameterError, "different columns"),
    ({"item": "n", "count": "what"}, AnswersTypeError, "string"),
    ({"item": "list"}, SourceError, "type array"), ({"item": "float"}, SourceError, "type double"),
    ({"item": "bytes"}, SourceError, "type binary"),
    ({"source": [1]}, SourceError, "A list is not a data frame"),
    ({"source": pd.DataFrame({"what": [1]})}, SourceError, "not a data frame of Spark"),
])  # fmt: skip
def test_what_cannot_be_released_is_refused_before_any_job(
    spark: SparkSession, change: dict[str, Any], error: type[TopgapError], said: str
) -> None:
    frame = spark.range(5).selectExpr(*COUNTS.split(", "))
    given: dict[str, Any] = {
        "source": frame,
        "k": 1,
        "epsilon": 1,
        "item": "what",
        "count": "n",
    } | change
    with pytest.raises(error, match=said) as raised:
        top_k(**given)
    assert "Zaphod" not in str(raised.value)


@pytest.mark.usefixtures("no_job")
def test_streams_and_collations_are_refused(spark: SparkSession) -> None:
    stream = spark.readStream.format("rate").load()
    with pytest.raises(SourceError, match="no end"):
        top_k(stream, 1, 1, item="timestamp", count="value")
    frame = spark.range(5).selectExpr("'x' COLLATE UTF8_LCASE AS what", "5 AS n")
    with pytest.raises(SourceError, match="collation"):
        top_k(frame, 1, 1, item="what", count="n")


@pytest.mark.usefixtures("no_job")
def test_padded_items_are_refused(spark: SparkSession) -> None:
    """Spark calls such a column a string; of a list of shorter words it would match none."""
    spark.sql("CREATE TABLE padded (what CHAR(8), plain VARCHAR(8), n INT) USING parquet")
    try:
        frame, plain = spark.table("padded"), spark.range(5).selectExpr("id", "'flu' AS what")
        with pytest.raises(SourceError, match=r"type char, .* trim them"):
            top_k(frame, 1, 1, item="what", count="n")
        with pytest.raises(SourceError, match=r"type char, .* trim them"):
            top_k_events(frame, 1, 1, person="n", item="what", domain=["flu", "cold"])
        with pytest.raises(DomainError, match=r"type char, .* trim them"):
            top_k_events(plain, 1, 1, person="id", item="what", domain=frame.select("what"))
        for good in (frame.selectExpr("plain AS what"), frame.selectExpr("trim(what) AS what")):
            build_domain_frame(good, good.schema["what"].dataType, spark, 1)
    finally:
        spark.sql("DROP TABLE padded")


def broken_list() -> Iterator[int]:
    yield 1
    raise LookupError("Zaphod")


@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(("domain", "said"), [
    ([], "at least 3 items"), ([1, 2], "at least 3"), (range(2), "at least 3"),
    ("abc", "abc cannot be read"), (b"abc", "text"),
    (None, "NoneType"), (pd.DataFrame({"a": [1]}), "DataFrame"),
    ([1, 2, 1], "'1' more than once"), ([1, 2, "3"], "is a str"), ([1, 2, None], "NoneType"),
    ([1, 2, 3.0], "is a float"), ([True, 2, 3], "is a bool"), ([1, 2, 2**31], "does not fit"),
    (range(2**31 - 3, 2**31 + 1), "does not fit"), (range(-(2**40), 0, 2**38), "does not fit"),
    (range(-(2**63), 2**63 - 1), "does not fit"), (broken_list(), r"ended in a LookupError\.$"),
])  # fmt: skip
def test_what_is_no_domain_is_refused(spark: SparkSession, domain: Any, said: str) -> None:
    events = spark.range(5).selectExpr("id AS who", "cast(id AS int) AS what")
    with pytest.raises(DomainError, match=said):
        top_k_events(events, 2, 1, person="who", item="what", domain=domain)


@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize("step", [1, 2**62])
def test_a_range_that_is_too_wide_is_refused(spark: SparkSession, step: int) -> None:
    """Spark's own range would silently leave out some of the four."""
    events = spark.range(5).selectExpr("id AS who", "id AS what")
    domain = range(-(2**63), 2**63 - 1, step)
    with pytest.raises(DomainError, match="wider than a range of Spark's"):
        top_k_events(events, 2, 1, person="who", item="what", domain=domain)


@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(("select", "said"), [
    ("id", "type bigint|type long"), ("cast(id AS int), id", "one column")
])  # fmt: skip
def test_a_frame_that_is_no_domain_is_refused(spark: SparkSession, select: str, said: str) -> None:
    events = spark.range(5).selectExpr("id AS who", "cast(id AS int) AS what")
    domain = spark.range(9).selectExpr(*select.split(", "))
    with pytest.raises(DomainError, match=said):
        top_k_events(events, 2, 1, person="who", item="what", domain=domain)


@pytest.mark.parametrize(("rows", "check", "error", "said"), [
    ([("a", 1.0), (None, 2.0), ("c", 3.0)], False, ItemsError, "missing"),
    ([("a", 1.0), (None, 2.0), (None, 3.0)], True, ItemsError, "missing"),
    ([("a", 1.0), ("Zaphod", 2.0), ("Zaphod", 3.0)], True, ItemsError, "twice"),
    ([("a", 1.0), ("Zaphod", None)], True, AnswersError, "missing entries"),
    ([("a", 1.0), ("Zaphod", float("nan"))], True, AnswersError, "finite"),
    ([("a", 1.0), ("Zaphod", float("inf"))], False, AnswersError, "finite"),
    ([("Zaphod", 1.0)], True, AnswersError, "at least 2 answers"),
    ([], True, AnswersError, "empty"),
])  # fmt: skip
def test_what_a_partition_finds_wrong_is_said_in_a_sentence(
    spark: SparkSession, rows: list[Any], check: bool, error: type[TopgapError], said: str
) -> None:
    frame = spark.createDataFrame(rows, "what string, n double")
    with pytest.raises(error, match=said) as raised:
        top_k(frame, 1, 1, item="what", count="n", check_items=check)
    assert "Zaphod" not in str(raised.value)


def test_a_job_that_fails_shows_no_data(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("Zaphod", 3)], "what string, n int")
    broken = frame.selectExpr("what", "cast(raise_error(what) AS int) AS n")
    with pytest.raises(
        SparkError, match=r"^Spark could not run this; its own log says why\.$"
    ) as raised:
        top_k(broken, 1, 1, item="what", count="n")
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


@pytest.mark.parametrize("in_sql", [False, True])
def test_pyspark_logs_no_data(spark: SparkSession, in_sql: bool) -> None:
    """Its loggers would write the value to stderr as soon as it makes the exception."""
    said: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    loggers = [*map(PySparkLogger.getLogger, query.QUERY_LOGGERS)]
    cast = sql.expr("cast(what AS int)") if in_sql else sql.col("what").cast("int")
    frame = spark.createDataFrame([("Zaphod",), ("7",)], "what string").select("what", cast)
    for logger in loggers:
        logger.addHandler(listener)
    try:
        with pytest.raises(SparkError):
            top_k(frame.toDF("what", "n"), 1, 1, item="what", count="n")
        assert said == []
        with pytest.raises(PySparkException, match="Zaphod"):
            frame.collect()
        assert "Zaphod" in said[0]
    finally:
        for logger in loggers:
            logger.removeHandler(listener)


@pytest.mark.usefixtures("no_job")
def test_a_plan_that_fails_tells_only_the_kind_of_error(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = DomainFrame(spark.range(5).toDF("Zaphod"), 5)
    monkeypatch.setattr(counted, "build_domain_frame", lambda *_: odd)
    events = spark.range(5).selectExpr("id AS who", "id AS what")
    with pytest.raises(SparkError, match=r"^Spark cannot plan this: [A-Z_.]+\.$") as raised:
        top_k_events(events, 1, 1, person="who", item="what", domain=[1, 2])
    assert raised.value.__context__ is None


def test_a_defect_is_called_so(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ValueError("Zaphod")

    monkeypatch.setattr(counted, "build_domain_frame", broken)
    with pytest.raises(SparkError, match=r"^A ValueError .* a defect of topgap") as raised:
        top_k_events(spark.range(5).selectExpr("id", "id AS what"), 1, 1, person="id", item="what",
                     domain=[1, 2])  # fmt: skip
    assert "Zaphod" not in str(raised.value)


def test_a_stopped_session_is_named(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    monkeypatch.setattr(spark.sparkContext, "_jsc", None)  # as `stop` does
    with pytest.raises(SparkError, match="has been stopped"):
        top_k(frame, 1, 1, item="what", count="n")


def test_an_interrupt_stays_one(spark: SparkSession, tmp_path: Path) -> None:
    """PySpark ends its job then, and raises the error of that instead."""
    begun, done = tmp_path / "begun", tmp_path / "done"

    def slow(batches: Batches) -> Batches:
        begun.touch()
        deadline = time.monotonic() + 60
        while not done.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        yield from batches

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    frame = frame.mapInArrow(slow, frame.schema)
    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(KeyboardInterrupt) as raised:
        top_k(frame, 1, 1, item="what", count="n", check_items=False)
    done.touch()
    assert raised.value.__context__ is None


REMEDY = rf"topgap\[spark\]=={re.escape(__version__)} .*PYSPARK_PYTHON"


def test_another_version_on_the_executors_is_refused(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "__version__", "0.0.7")
    frame = spark.createDataFrame([("a", 5), ("b", 900)], "what string, n int")
    said = (
        r"have topgap \d\S+, and here is 0\.0\.7: install topgap\[spark\]==0\.0\.7 .*PYSPARK_PYTHON"
    )
    with pytest.raises(SparkError, match=said):
        top_k(frame, 1, 1, item="what", count="n")


@pytest.mark.slow
@pytest.mark.parametrize(("missing", "said"), [
    ("topgap", "have no topgap: "),
    ("numpy", "have no numpy: "),
    ("pyarrow", "have no pyarrow that Spark can use: "),
    ("pandas", "have no pandas that Spark can use: "),
    ("topgap.selection.arrow_groups", "lack a library that topgap needs: "),
])  # fmt: skip
def test_what_the_executors_lack_is_said(missing: str, said: str) -> None:
    check = executors.prepare_check(partitions.WORK)
    sent = cloudpickle.dumps(check)  # type: ignore[no-untyped-call]
    code = (
        f"import pickle, sys; import pyspark; sys.modules[{missing!r}] = None\n"
        f"print(pickle.load(sys.stdin.buffer)())"
    )
    run = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()
    assert run.stdout.decode().startswith(said)
    assert re.search(REMEDY, run.stdout.decode())


def test_what_an_executor_lacks_is_a_row_of_its_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(partitions, "prepare_check", lambda _: lambda: "have no topgap")
    batch = pa.RecordBatch.from_pydict({"item": ["a"], "value": [5]})
    [rows] = partitions.build_partition_task(TopK(1, 1), Streams())(iter([batch]))
    sentence = "SparkError: The executors have no topgap."
    assert rows.to_pydict() == {"item": [None], "value": [sentence]}


@pytest.mark.parametrize(("code", "said"), [
    ("import sys; sys.modules['pyspark'] = None", "needs PySpark: pip"),
    ("import pyspark; pyspark.__version__ = '3.5.1'", "needs PySpark 4, and 3.5.1 is here: pip"),
])  # fmt: skip
def test_without_pyspark_a_sentence_says_what_to_install(code: str, said: str) -> None:
    run = subprocess.run(
        [sys.executable, "-c", code + "; import topgap.spark"], capture_output=True, text=True
    )
    last = run.stderr.splitlines()[-1]
    assert last.endswith(f"topgap.spark {said} install 'pyspark[sql]>=4,<5'.")


# --- With a ledger


def test_a_ledger_is_charged_before_there_is_noise_and_gets_the_result(
    spark: SparkSession, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged: list[tuple[int, int]] = []

    def streams() -> Streams:
        budget = ledger.budget("visits")
        charged.append((budget.charges, budget.without_result))
        return Streams()

    monkeypatch.setattr(drawing, "Streams", streams)
    counts = {"a": 500, "b": 900, "c": 10}
    frame = spark.createDataFrame([*counts.items()], "what string, n int")
    events = frame.selectExpr("n AS who", "what")
    given: dict[str, Any] = {"ledger": ledger.path, "dataset": "visits"}
    first = top_k(frame, 2, CERTAIN, item="what", count="n", **given)
    second = top_k_events(events, 2, CERTAIN, person="who", item="what", domain=[*"abc"], **given)
    assert is_about(first, counts)
    assert charged == [(1, 1), (2, 1)]
    kept = ledger.history()
    assert [each.mechanism for each in kept] == ["topgap.spark.top_k", "topgap.spark.top_k_events"]
    assert [Release.from_json(each.result or "") for each in kept] == [first, second]
    assert {each.epsilon for each in kept} == {Fraction(CERTAIN)}
    assert kept[0].parameters == {**TopK(2, CERTAIN).to_dict(), "gaps": True}
    ledger.verify()


def test_a_list_that_a_threshold_ends_is_settled(spark: SparkSession, ledger: Ledger) -> None:
    frame = spark.createDataFrame([("a", 500), ("b", 900), ("c", 10)], "what string, n int")
    events = frame.selectExpr("explode(sequence(1, n)) AS who", "what")
    above: dict[str, Any] = {"threshold": 700, "ledger": ledger, "dataset": "visits"}
    top_k(frame, 4, CERTAIN, item="what", count="n", monotonic=True, **above)
    top_k_events(events, 4, CERTAIN, person="who", item="what", domain=[*"abcde"], **above)
    assert [each.settled for each in ledger.history()] == [Fraction(CERTAIN, 2)] * 2  # 2 of 4
    assert ledger.budget("visits").spent == CERTAIN
    ledger.verify()


@pytest.mark.parametrize(("rows", "error"), [
    ([("a", 5), ("b", None), ("c", 7)], AnswersError),
    ([("a", 5), (None, 6), ("c", 7)], ItemsError),
    ([("a", 5), ("b", 6), ("a", 7)], ItemsError),
    ([("a", 5)], AnswersError),
    ([], AnswersError),
])  # fmt: skip
def test_rows_that_cannot_be_used_charge_nothing(
    spark: SparkSession, ledger: Ledger, rows: list[Any], error: type[TopgapError]
) -> None:
    frame = spark.createDataFrame(rows, "what string, n int")
    with pytest.raises(error):
        top_k(frame, 1, 1, item="what", count="n", ledger=ledger, dataset="visits")
    assert ledger.history() == ()


def test_what_cannot_be_planned_charges_nothing(spark: SparkSession, ledger: Ledger) -> None:
    frame = spark.createDataFrame([("a", 5), ("b", 9)], "what string, n int")
    given: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    with pytest.raises(SourceError):
        top_k(frame, 1, 1, item="what", count="none", **given)
    with pytest.raises(TopgapError):
        top_k_events(frame, 1, 1, person="n", item="what", domain=["a"], **given)
    with pytest.raises(DomainError):
        top_k_events(frame, 1, 1, person="n", item="what", domain=[1, 2], **given)
    few = spark.createDataFrame([("a",), ("a",)], "item string")
    with pytest.raises(AnswersError, match="k = 1 needs at least 2 answers, not"):
        top_k_events(frame, 1, 1, person="n", item="what", domain=few, **given)
    assert ledger.history() == ()


def test_a_job_that_fails_when_it_was_charged_leaves_a_charge(
    spark: SparkSession, ledger: Ledger, tmp_path: Path
) -> None:
    """The first query, without noise, goes well, and the second does not."""
    seen = tmp_path / "seen"

    def fails_later(batches: Batches) -> Batches:
        for batch in batches:
            if seen.exists():
                raise ValueError("Zaphod")
            yield batch

    frame = spark.createDataFrame([("a", 5), ("b", 9)], "what string, n int").coalesce(1)
    frame = frame.mapInArrow(fails_later, frame.schema)
    charge = ledger.charge

    def charged(*given: Any, **more: Any) -> Any:
        seen.touch()
        return charge(*given, **more)

    class Watched(Ledger):
        charge = staticmethod(charged)

    watched = Watched(ledger.path)
    with pytest.raises(SparkError, match="Spark could not run this; its own log says why"):
        top_k(frame, 1, 1, item="what", count="n", ledger=watched, dataset="visits")
    [orphan] = ledger.history()
    assert orphan.result is None
    assert ledger.budget("visits").without_result == 1


LACKING = """\
import sys

class Missing:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == {name!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""


def python_without(name: str, folder: Path) -> str:
    """A Python for the executors that cannot import this."""
    (folder / "sitecustomize.py").write_text(LACKING.format(name=name))
    python = folder / "python"
    python.write_text(
        f'#!/bin/sh\nPYTHONPATH="{folder}:$PYTHONPATH" exec "{sys.executable}" "$@"\n'
    )
    python.chmod(0o755)
    return str(python)


@pytest.mark.parametrize(("lacks", "said"), [
    ("topgap", "have no topgap: install "),
    ("pyarrow", "(lack pyarrow|have no pyarrow that Spark can use): install "),
    ("Python", "cannot start Python: set PYSPARK_PYTHON"),
    ("Python 3.9", r"run Python 3\.\d+, and here is 3\.9: set PYSPARK_PYTHON"),
])  # fmt: skip
def test_executors_that_cannot_work_charge_nothing(
    spark: SparkSession,
    ledger: Ledger,
    lacks: str,
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no noise is drawn; without a ledger the same is said when the job has failed."""
    if lacks == "Python 3.9":
        monkeypatch.setattr(spark.sparkContext, "pythonVer", "3.9")
    else:
        python = str(tmp_path / "none") if lacks == "Python" else python_without(lacks, tmp_path)
        monkeypatch.setattr(spark.sparkContext, "pythonExec", python)
    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    events: dict[str, Any] = {"person": "n", "item": "what", "domain": range(5)}
    with monkeypatch.context() as patch:
        patch.setattr(drawing, "Streams", lambda: pytest.fail("noise was drawn"))
        with pytest.raises(SparkError, match=f"^The executors {said}") as raised:
            top_k_events(frame, 1, 1, **events, ledger=ledger, dataset="visits")
    assert raised.value.__context__ is None
    assert ledger.history() == ()
    assert "topgap[spark]==" in str(raised.value)
    assert str(raised.value).endswith(".")
    if lacks.startswith("Python"):
        with pytest.raises(SparkError, match=f"^The executors {said}"):
            top_k_events(frame, 1, 1, **events)


def test_without_a_ledger_executors_are_not_asked_first(
    spark: SparkSession, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    def run_check(on: SparkSession, _: str) -> str:
        asked.append(on)
        return ""

    monkeypatch.setattr(drawing, "run_check", run_check)
    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    top_k(frame, 1, 1, item="what", count="n", check_items=False)
    assert asked == []
    top_k(frame, 1, 1, item="what", count="n", check_items=False, ledger=ledger, dataset="visits")
    assert asked == [spark]


def test_every_slot_is_asked(spark: SparkSession) -> None:
    rows = spark.range(executors._ROWS).rdd
    assert rows.getNumPartitions() >= spark.sparkContext.defaultParallelism >= PARTITIONS
    assert executors.run_check(spark, partitions.WORK) == ""
