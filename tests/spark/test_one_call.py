"""`topgap.spark.top_k_events` is `topgap.top_k_events` on a cluster: arguments, lists, `check`."""

import inspect
import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import topgap
from tests.checking.mutants import Mutant, mutated
from tests.spark.nearly_noiseless import CERTAIN, is_about
from topgap import GroupedRelease
from topgap.counting import FROM_DATA, NOT_PROTECTED, count_events
from topgap.errors import AnswersError, BudgetExceeded, DomainError, SparkError
from topgap.ledger import Ledger
from topgap.parameters import Neighbours
from topgap.spark import (
    counted,
    drawing,
    event_request,
    groups,
    top_k,
    top_k_events,
    top_k_events_with_estimates,
    top_k_with_estimates,
)

on_cluster = pytest.mark.linux(reason="starts a cluster")

# --- The arguments

OF_FILES = "says how a file or a database is read; a data frame of Spark has been read"
ONLY_ELSEWHERE = {
    "format": OF_FILES, "table": OF_FILES, "query": OF_FILES, "header": OF_FILES,
    "delimiter": OF_FILES, "encoding": OF_FILES, "count_in_database": OF_FILES,
    "rows_are_per_person": "is the user's word on a query; a data frame has none that is checked",
    "fold_case": "is a rule for cells; Spark says which items are the same (sql.lower does it)",
    "memory": "is what DuckDB may use on this machine; a cluster has its own settings",
    "progress": "is told what DuckDB does; Spark shows its own progress",
}  # fmt: skip
"""What `topgap.spark` does not take, and why."""

OTHER_DEFAULTS = {
    "person": "may be left out for FIMI files alone, of which Spark has no data frame",
    "item": "as person",
}
"""What must be given to `topgap.spark`, and why."""


@pytest.mark.parametrize("name", ["top_k_events", "top_k_events_with_estimates"])
def test_both_calls_have_the_same_arguments(name: str) -> None:
    """Names, order, kinds and defaults; this is what keeps the two from drifting apart."""
    plain, on_spark = (
        inspect.signature(getattr(place, name)).parameters for place in (topgap, topgap.spark)
    )
    shared = [each for each in plain if each not in ONLY_ELSEWHERE]
    assert [*on_spark] == shared
    assert {*ONLY_ELSEWHERE} <= {*plain}
    for each in shared:
        assert on_spark[each].kind == plain[each].kind
        if each in OTHER_DEFAULTS:
            assert on_spark[each].default is inspect.Parameter.empty
            assert plain[each].default is None
        else:
            assert on_spark[each].default == plain[each].default


# --- The same on a cluster

CODES = {f"c{n}": 12 - 2 * n for n in range(5)}
REGIONS = ["North", "South", "nobody"]
ASKED: dict[str, Any] = {"person": "who", "k": 2, "epsilon": CERTAIN}
PAIR: dict[str, Any] = {**ASKED, "item": ["what", "year"]}
BY: dict[str, Any] = {"by": "where", "groups": REGIONS}


def build_rows() -> list[tuple[Any, ...]]:
    """Persons in one region each, twice; items that are missing, and one that only nobody has."""
    rows: list[tuple[Any, ...]] = [
        (f"{where}{n}", where, code, 2020 + n % 3)
        for where, share in (("North", 3), ("South", 1), ("elsewhere", 9))
        for code, persons in CODES.items()
        for n in range(persons * share)
    ]
    rows += [
        ("North0", "North", None, 2020),
        (None, "North", "c9", 2020),
        ("North0", "North", "c0", None),
    ]
    return rows + rows[::2]


@pytest.fixture
def events(spark: SparkSession) -> DataFrame:
    schema = "who string, where string, what string, year short"
    return spark.createDataFrame(build_rows(), schema).repartition(3)


def count_persons(column: Callable[[tuple[Any, ...]], Any]) -> Counter[Any]:
    had = {(row[0], column(row)) for row in build_rows() if None not in row}
    return Counter(item for _, item in had)


@on_cluster
@pytest.mark.smoke
def test_items_from_the_data_are_those_of_the_cluster(events: DataFrame, ledger: Ledger) -> None:
    """Of one column and of several; every form says it, and so does the ledger."""
    one = top_k_events(
        events, item="what", domain=FROM_DATA, ledger=ledger, dataset="visits", **ASKED
    )
    assert is_about(one, count_persons(lambda row: row[2]))
    assert one.domain_from_data
    assert one.domain is None
    several = top_k_events_with_estimates(events, domain=FROM_DATA, **PAIR)
    release = several.release
    expected = count_persons(lambda row: row[2:])
    assert {round(each) for each in several.estimates} == {expected[item] for item in release.items}
    assert sorted(expected.values())[-2:] == sorted(expected[item] for item in release.items)
    for made in (one, release):
        assert made.domain_from_data
        assert NOT_PROTECTED in str(made)
        assert json.loads(made.to_json())["domain_from_data"] is True
    [entry] = ledger.history("visits")
    assert entry.parameters["domain_from_data"] is True


@on_cluster
@pytest.mark.parametrize("item", ["what", ["what", "year"]])
def test_items_from_the_data_of_all_groups(events: DataFrame, item: Any) -> None:
    """The same domain and counts as without Spark, also with both bounds."""
    asked: dict[str, Any] = {
        "person": "who",
        "item": item,
        "domain": FROM_DATA,
        **BY,
        "groups_per_person": 1,
    }
    for bound in (None, 1):
        plain = count_events(events.toArrow(), **asked, items_per_person=bound)
        made = top_k_events(events, 2, CERTAIN, noise="exponential", items_per_person=bound,
                            **asked)  # fmt: skip
        assert isinstance(made, GroupedRelease)
        assert made.domain_from_data
        assert json.loads(made.to_json())["domain_from_data"] is True
        for region in REGIONS:
            ranked = sorted(plain[region].values(), reverse=True)
            assert [plain[region][name] for name in made[region].items] == ranked[:2]
        said = top_k_events(events, 2, 1, items_per_person=bound, check=True, **asked)
        assert said.items == 3 * plain.domain.size
        assert said.occurring == len(plain.counts)
        assert said.groups == 3
        assert NOT_PROTECTED in str(said)


@on_cluster
def test_a_list_of_tuples_and_lists_in_files(events: DataFrame, tmp_path: Path) -> None:
    """Lines are read as values of the column; groups are, too."""
    chosen = [("c0", 2021), ("c1", 2020), ("nobody", 2020)]
    expected = count_persons(lambda row: row[2:])
    made = top_k_events(events, domain=chosen, **PAIR)
    assert is_about(made, {item: expected[item] for item in chosen})
    assert made.domain is not None
    assert made.domain.is_listed
    (tmp_path / "years.txt").write_text("2020\n2021\n1999\n")
    (tmp_path / "regions.txt").write_text("South\nNorth\n")
    lists = top_k_events(
        events, item="year", domain=tmp_path / "years.txt", by="where",
        groups=str(tmp_path / "regions.txt"), **ASKED,
    )  # fmt: skip
    assert lists.groups == ("South", "North")
    assert {*lists["North"].items} == {2020, 2021}
    (tmp_path / "years.txt").write_text("2020\nlast\n1999\n")
    for domain in (tmp_path / "years.txt", tmp_path / "none.txt"):
        with pytest.raises(DomainError, match=r"not a value of the column's type|cannot be read"):
            top_k_events(events, item="year", domain=domain, **ASKED)


SPELLED: list[Any] = [Decimal("1.50"), Decimal("2.2"), 3, Decimal(4)]


@on_cluster
def test_named_items_are_spelled_as_in_the_domain(spark: SparkSession) -> None:
    """Not by the column, whose digits are those of the longest of all items that anybody has."""
    events: dict[str, Any] = {"k": 3, "epsilon": CERTAIN, "person": "who", "domain": SPELLED}
    counts: dict[str, Any] = {"k": 3, "epsilon": CERTAIN, "count": "n", "domain": SPELLED}
    in_groups: dict[str, Any] = {"by": "what", "groups": SPELLED[:1]}
    for column in ("decimal(3,2)", "decimal(9,7)"):
        rows = [(n, SPELLED[place], "all") for place in range(3) for n in range(9 - place)]
        exact = [(who, Decimal(what), other) for who, what, other in rows]
        had = spark.createDataFrame(exact, f"who int, what {column}, other string")
        counted = had.groupBy("what").count().toDF("what", "n")
        lists = top_k_events(had.withColumn("copy", had.what), item="copy", **events, **in_groups)
        released = [
            top_k_events(had, item="what", **events),
            top_k_events(had, item="what", **events | {"domain": topgap.Domain(SPELLED)}),
            top_k_events_with_estimates(had, item="what", **events).release,
            top_k(counted, item="what", **counts),
            top_k_with_estimates(counted, item="what", **counts).release,
        ]
        for items in (lists.groups, lists[SPELLED[0]].items, *(each.items for each in released)):
            spelled = {repr(item) for item in items}
            assert spelled <= {*map(repr, SPELLED)}
            assert repr(items[0]) == repr(SPELLED[0])


@on_cluster
def test_a_check_draws_and_charges_nothing(
    events: DataFrame, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def draw(*_: object) -> None:
        raise AssertionError("noise was drawn")

    monkeypatch.setattr(drawing, "Streams", draw)
    charged: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    domains: list[tuple[Any, int, int]] = [
        (FROM_DATA, 5, 5), (["c0", "c1", "zz"], 3, 2), (range(5), 0, 0),
        (topgap.Domain.pattern("c[0-9]"), 10, 5),
        (events.select("what").filter("what like 'c%'"), 6, 5),
    ]  # fmt: skip
    calls: list[Any] = [top_k_events, top_k_events_with_estimates]
    for call in calls:
        for domain, size, occurring in domains:
            if size == 0:
                with pytest.raises(DomainError):
                    call(events, item="what", domain=domain, check=True, **charged, **ASKED)
                continue
            said = call(events, item="what", domain=domain, check=True, **charged, **ASKED)
            assert (said.items, said.occurring) == (size, occurring)
            assert said.domain_from_data == (domain is FROM_DATA)
            assert said.measured == (call is top_k_events_with_estimates)
            assert said.cost == CERTAIN
    with pytest.raises(DomainError, match="The data have too few different items for k = 6"):
        top_k_events(events, 6, 1, person="who", item="what", domain=FROM_DATA, check=True)
    with pytest.raises(BudgetExceeded):
        top_k_events(events, 2, 4 * CERTAIN, person="who", item="what", domain=[*CODES],
                     check=True, **charged)  # fmt: skip
    assert ledger.history() == ()


@on_cluster
def test_a_check_tries_the_executors(events: DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "run_check", lambda *_: "The executors have no topgap.")
    with pytest.raises(SparkError, match="no topgap"):
        top_k_events(events, item="what", domain=FROM_DATA, check=True, **ASKED)


@on_cluster
def test_too_few_items_in_the_data_charge_nothing(events: DataFrame, ledger: Ledger) -> None:
    """Found before the charge with a ledger, and before the release without one."""
    asked: dict[str, Any] = {"person": "who", "domain": FROM_DATA}
    said = "The data have too few different items for k = 40"
    ways: list[tuple[Any, Any]] = [("what", {}), (["what", "year"], {}), ("what", BY)]
    for item, more in ways:
        with pytest.raises(DomainError, match=said):
            top_k_events(events, 40, 1, item=item, ledger=ledger, dataset="visits", **asked, **more)
    with pytest.raises(DomainError, match=said):
        top_k_events(events, 40, 1, item="what", **asked)
    with pytest.raises(DomainError, match="it cannot be taken from the data"):
        top_k_events(events, 1, 1, item="what", together=2, **asked)
    assert ledger.history() == ()


@on_cluster
@pytest.mark.parametrize("has_ledger", [True, False])
def test_no_items_are_refused_with_a_threshold(
    events: DataFrame, ledger: Ledger, *, has_ledger: bool
) -> None:
    """As `topgap.top_k_events` does, with a ledger and without; few items are enough."""
    charged = {"ledger": ledger, "dataset": "visits"} if has_ledger else {}
    asked: dict[str, Any] = {"person": "who", "item": "what", "threshold": 2, **charged}
    none = events.filter("1 = 0")
    calls: list[tuple[Any, Any]] = [
        (top_k_events, none), (topgap.top_k_events, none.toArrow()),
    ]  # fmt: skip
    for call, source in calls:
        with pytest.raises(DomainError, match="The data have no items"):
            call(source, 40, 1, domain=FROM_DATA, **asked)
    with pytest.raises(AnswersError):
        top_k_events(none, 40, 1, domain=none.select("what"), **asked)
    assert ledger.history() == ()
    assert len(top_k_events(events, 40, CERTAIN, domain=FROM_DATA, **asked)) == len(CODES)


@on_cluster
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("stated", ["add-remove", "replace", None])
def test_a_charge_is_that_of_the_call_without_spark(
    events: DataFrame, tmp_path: Path, relation: Neighbours, stated: Neighbours | None
) -> None:
    """Cost, relation and what the entry notes of it."""
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("visits", 100, neighbours=relation)
    asked: dict[str, Any] = {
        "person": "who", "item": "what", "domain": [*CODES], "neighbours": stated,
        "ledger": ledger, "dataset": "visits",
    }  # fmt: skip
    plain = events.toArrow()
    calls: list[tuple[Any, Any]] = [
        (topgap.top_k_events, topgap.spark.top_k_events),
        (topgap.top_k_events_with_estimates, topgap.spark.top_k_events_with_estimates),
    ]
    for call, call_on_spark in calls:
        call(plain, 2, 1, **asked)
        call_on_spark(events, 2, 1, **asked)
        first, second = ledger.history()[-2:]
        for told in ("epsilon", "stated_epsilon", "stated_neighbours"):
            assert getattr(first, told) == getattr(second, told)
        noted = [entry.parameters["neighbours"] for entry in (first, second)]
        assert noted == [stated or relation] * 2


@on_cluster
def test_estimates_of_few_items_a_person(events: DataFrame) -> None:
    """At most L items of each person are kept, and the noise is that of estimates."""
    domain = [*CODES, "nobody"]
    plain = count_events(
        events.toArrow(), person="who", item="what", domain=domain, items_per_person=1
    )
    made = top_k_events_with_estimates(
        events, item="what", domain=domain, items_per_person=1, **ASKED
    )
    assert made.release.parameters.noise == "exponential"
    assert [round(each) for each in made.estimates] == sorted(plain.values())[:-3:-1]


@on_cluster
@pytest.mark.parametrize("mutant", [
    Mutant("the mark is lost", "listed = Listing(from_data=True)", "listed = Listing()"),
    Mutant("not in the groups' release", "sent, parameters, from_data=True)", "sent, parameters)"),
])  # fmt: skip
def test_a_lost_mark_is_found(events: DataFrame, mutant: Mutant) -> None:
    module = groups if "sent" in mutant.old else counted
    broken = mutated(module, mutant)
    with pytest.MonkeyPatch.context() as patch:
        if module is groups:
            patch.setattr(counted, "count_events", broken.count_events)
            made = top_k_events(events, item="what", domain=FROM_DATA, **ASKED, **BY)
        else:
            patch.setattr(event_request, "plan_events", broken.plan_events)
            made = top_k_events(events, item="what", domain=FROM_DATA, **ASKED)
        assert not made.domain_from_data
