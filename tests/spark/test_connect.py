"""Releases through a real server of Spark Connect, which one session of these tests has."""

import logging
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark import SparkContext
from pyspark.logger import PySparkLogger
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sql

from tests.spark.cluster import require_java
from tests.spark.connect_server import ConnectServer, connect_server
from tests.spark.nearly_noiseless import CERTAIN, is_about
from tests.tools.documents import ROOT, blocks
from topgap import Domain, GroupedRelease, Release
from topgap.errors import SparkError
from topgap.ledger import Ledger
from topgap.spark import (
    drawing,
    query,
    top_k,
    top_k_events,
    top_k_events_with_estimates,
    top_k_with_estimates,
)

pytestmark = pytest.mark.linux(reason="starts a server of Spark Connect")

PEOPLE = {"flu": 900, "cold": 500, "gout": 40}
WORDS = Domain.strings("a-z", max_length=6)
EVENTS: dict[str, Any] = {"person": "who", "item": "what"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectServer]:
    require_java()
    with connect_server(tmp_path_factory.mktemp("connect")) as started:
        yield started


@pytest.fixture(scope="module")
def session(server: ConnectServer) -> Iterator[Any]:
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    made = ConnectSession.builder.remote(server.url).create()
    yield made
    made.stop()


@pytest.fixture
def spark(session: Any, monkeypatch: pytest.MonkeyPatch) -> SparkSession:
    """The session, to which PySpark is set as long as a test runs."""
    monkeypatch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")
    return session  # type: ignore[no-any-return]


def events_of(spark: SparkSession) -> DataFrame:
    rows = [(f"p{n}", what, "NS"[n % 2]) for what, had in PEOPLE.items() for n in range(had)]
    return spark.createDataFrame(rows * 2, "who string, what string, region string")


def test_releases_of_all_kinds(spark: SparkSession, ledger: Ledger) -> None:
    events, listed = events_of(spark), [*PEOPLE, "mumps"]
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    counts = spark.createDataFrame([*PEOPLE.items()], "what string, n int")
    first = top_k_events(events, 2, CERTAIN, domain=listed, **EVENTS, **paid)
    second = top_k(counts, 2, CERTAIN, item="what", count="n", **paid)
    third = top_k_with_estimates(counts, 2, CERTAIN, item="what", count="n", **paid)
    for release in (first, second, third.release):
        assert is_about(release, PEOPLE)
    assert [round(each) for each in third.estimates] == [900, 500]
    assert [each.mechanism[13:] for each in ledger.history()] == [
        "top_k_events", "top_k", "top_k_with_estimates"
    ]  # fmt: skip
    frame = events.select("what").distinct()
    for domain in (WORDS, frame):
        assert is_about(top_k_events(events, 2, CERTAIN, domain=domain, **EVENTS), PEOPLE)
    few = top_k_events(events, 2, 100, domain=listed, items_per_person=1, **EVENTS)
    assert len(few.values or ()) == 2
    pairs = top_k_events(events, 2, CERTAIN, domain=WORDS, together=2, **EVENTS)
    assert {*pairs.items} <= {("cold", "flu"), ("cold", "gout"), ("flu", "gout")}
    measured = top_k_events_with_estimates(events, 2, CERTAIN, domain=WORDS, **EVENTS)
    assert [(item, round(count)) for item, count in measured] == [("flu", 900), ("cold", 500)]
    unseen = top_k_events(events, 3, "1/100", domain=WORDS, **EVENTS)  # heads are looked up
    assert len({*unseen.items}) == 3


@pytest.mark.parametrize("large", ["false", "true"])
def test_a_list_for_each_group(spark: SparkSession, large: str) -> None:
    """With Arrow's texts of either size."""
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", large)
    given: dict[str, Any] = {**EVENTS, "by": "region", "groups": ["N", "S", "W"]}
    lists = top_k_events(events_of(spark), 2, CERTAIN, domain=[*PEOPLE, "mumps"], **given)
    made = top_k_events_with_estimates(events_of(spark), 2, CERTAIN, domain=WORDS, **given)
    assert isinstance(lists, GroupedRelease)
    for group in ("N", "S"):
        assert is_about(lists[group], {"flu": 450, "cold": 250, "gout": 20})
        assert [round(each) for each in made[group].estimates] == [450, 250]
    assert [round(each) for each in made["W"].estimates] == [0, 0]
    assert len(top_k_events(events_of(spark), 2, "1/100", domain=WORDS, **EVENTS)) == 2
    spark.conf.set("spark.sql.execution.arrow.useLargeVarTypes", "false")


def test_what_the_page_on_spark_shows_of_spark_connect(
    spark: SparkSession, server: ConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (ROOT / "docs/spark.md").read_text(encoding="utf-8")
    section = page.partition("## Spark Connect\n")[2].partition("\n## ")[0]
    [code] = [block.text for block in blocks(section) if block.language == "python"]
    code = code.replace("sc://spark.example.org:15002", server.url)
    visits = events_of(spark).selectExpr("who AS patient", "what AS diagnosis")
    visits.write.mode("overwrite").saveAsTable("visits")
    names: dict[str, Any] = {"icd10": [*PEOPLE, *(f"A{number:02}" for number in range(12))]}
    monkeypatch.setenv("SPARK_REMOTE", server.url)
    # Another test of this process may have a session of the other kind, beside which none starts.
    monkeypatch.setattr(SparkContext, "_active_spark_context", None)
    monkeypatch.setattr(SparkSession, "_instantiatedSession", None)
    exec(code, names)
    assert names["release"].items[0] == "flu"


# --- Errors


@pytest.mark.parametrize("in_log", [False, True])
def test_a_job_that_fails_shows_no_data(spark: SparkSession, in_log: bool) -> None:
    said: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    loggers = [*map(PySparkLogger.getLogger, query.QUERY_LOGGERS)]
    frame = spark.createDataFrame([("Zaphod",), ("7",)], "what string")
    count = "cast(raise_error(what) AS int) AS n" if in_log else "cast(what AS int) AS n"
    frame = frame.selectExpr("what", count)
    was = [(logger.disabled, logger.level) for logger in loggers]
    for logger in loggers:
        logger.addHandler(listener)
        logger.disabled, logger.level = False, logging.DEBUG
    try:
        with pytest.raises(SparkError, match=r"^Spark could not run this; its own log") as raised:
            top_k(frame, 1, 1, item="what", count="n")
    finally:
        for logger, (disabled, level) in zip(loggers, was, strict=True):
            logger.removeHandler(listener)
            logger.disabled, logger.level = disabled, level
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None
    assert said == []


def test_what_spark_cannot_plan_is_told_by_its_kind(spark: SparkSession) -> None:
    frame = spark.createDataFrame([("Zaphod",)], "what string").select("what", sql.col("none"))
    with pytest.raises(SparkError, match=r"^Spark cannot plan this: [A-Z_.]+\.$") as raised:
        top_k(frame, 1, 1, item="what", count="none")
    assert raised.value.__context__ is None


@pytest.mark.filterwarnings("ignore:.*RETRIES_EXCEEDED:UserWarning")
def test_sessions_that_are_gone_or_of_another_kind(
    spark: SparkSession, server: ConnectServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    given: dict[str, Any] = {"k": 1, "epsilon": 1, "item": "what", "count": "n"}
    stopped = ConnectSession.builder.remote(server.url).create()
    frame: Any = stopped.range(5).selectExpr("id AS what", "5 AS n")
    stopped.stop()
    with pytest.raises(SparkError, match="has been stopped; start another"):
        top_k(frame, **given)
    nowhere = ConnectSession.builder.remote("sc://127.0.0.1:9").create()
    nowhere.client.set_retry_policies([DefaultPolicy(max_retries=1)])
    frame = nowhere.range(5).selectExpr("id AS what", "5 AS n")
    with pytest.raises(SparkError, match="server of Spark Connect cannot be reached") as raised:
        top_k(frame, **given)
    assert raised.value.__context__ is None
    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    monkeypatch.delenv("SPARK_CONNECT_MODE_ENABLED")
    with pytest.raises(SparkError, match="of another kind of session"):
        top_k(frame, **given)


def test_an_interrupt_stays_one_and_ends_the_job(spark: SparkSession, tmp_path: Path) -> None:
    begun, done = tmp_path / "begun", tmp_path / "done"

    def slow(batches: Any) -> Any:
        begun.touch()
        for _ in range(600):
            time.sleep(0.1)
        done.touch()
        yield from batches

    def interrupt() -> None:
        while not begun.exists():
            time.sleep(0.05)
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGINT)

    frame = spark.range(5).selectExpr("id AS what", "5 AS n")
    frame = frame.mapInArrow(slow, frame.schema)
    threading.Thread(target=interrupt, daemon=True).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as raised:
        top_k(frame, 1, 1, item="what", count="n", check_items=False)
    assert raised.value.__context__ is None
    assert time.monotonic() - start < 30
    assert not done.exists()


@pytest.mark.parametrize(("lacks", "said"), [
    ("topgap", "have no topgap: install "),
    ("pyarrow", "(lack pyarrow|have no pyarrow that Spark can use): install "),
    ("pandas", "(lack pandas|have no pandas that Spark can use): install "),
    ("numpy", "(lack|have no) numpy: install "),
    ("version", r"have topgap 0\.0\.7, and here is \d\S+: install "),
    ("Python", r"run Python 3\.\d+, and here is 3\.9: set PYSPARK_PYTHON"),
])  # fmt: skip
def test_executors_that_cannot_work_charge_nothing(
    spark: SparkSession,
    server: ConnectServer,
    ledger: Ledger,
    lacks: str,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And no noise is drawn; the Python is the server's."""
    if lacks == "Python":
        monkeypatch.setattr("pyspark.sql.connect.udf.sys.version_info", (3, 9, 0))
    else:
        server.lacking.write_text(lacks)
    monkeypatch.setattr(drawing, "Streams", lambda: pytest.fail("noise was drawn"))
    try:
        for call in (top_k_events, top_k_events_with_estimates):
            with pytest.raises(SparkError, match=f"^The executors {said}") as raised:
                call(events_of(spark), 1, 1, domain=WORDS, **EVENTS, ledger=ledger,
                     dataset="visits")  # fmt: skip
            assert "PYSPARK_PYTHON" in str(raised.value)
            assert "topgap[spark]==" in str(raised.value)
            assert raised.value.__context__ is None
    finally:
        server.lacking.write_text("")
    assert ledger.history() == ()


def test_neither_names_nor_keys_are_in_what_the_server_logs(
    spark: SparkSession, server: ConnectServer
) -> None:
    """Heads are looked up as rows, and the key goes within a function that is not written out."""
    domain = Domain.strings("a-z", max_length=20)
    release = top_k_events(events_of(spark), 5, "1/1000", domain=domain, **EVENTS)
    assert isinstance(release, Release)
    written = server.log.read_text(encoding="utf-8", errors="replace")
    assert not any(name in written for name in release.items if len(name) > 15)
