"""A list for each group, on Spark: what is kept and counted, and who draws which noise."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from hashlib import md5
from itertools import pairwise, permutations, product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from tests.spark.failing_tasks import TROUBLED, Attempts, dies, fails, hangs
from tests.spark.nearly_noiseless import CERTAIN
from tests.spark.test_cluster import shuffled
from topgap import Domain, GroupedRelease, TopKByGroup, law
from topgap._core import Streams
from topgap.counting import count_events
from topgap.errors import (
    AnswersError,
    DomainError,
    ItemsError,
    ParameterError,
    SourceError,
    TopgapError,
)
from topgap.ledger import Ledger
from topgap.release.construction import list_units
from topgap.selection import arrow_groups
from topgap.selection.arrow_groups import Winners, read_lists, write_list
from topgap.spark import counted, drawing, groups, pools, release_parameters, top_k, top_k_events

on_cluster = pytest.mark.linux(reason="starts a cluster")


def read_list(text: str) -> Winners:
    """The list of a group, in plain Python."""
    return Winners(*([*map(int, part.split())] for part in text.split(";")))


def test_lists_are_read_as_they_were_written() -> None:
    """Many at once, empty ones, negative and very large numbers."""
    cases = [Winners([3, 0], [7, 1], [-5, 2**62], []), Winners([], [], [], []),
             Winners([2**200], [0], [2**63], [-(2**70)]),
             Winners([1], [2**63 - 1], [-(2**63)], [5])]  # fmt: skip
    for chosen in (cases, cases[:2], cases[1:2], cases[::-1], []):
        read = read_lists(pa.array([*map(write_list, chosen)], pa.string()))
        assert read.sizes.tolist() == [len(each.ranks) for each in chosen]
        for place, column in enumerate(read[1:]):
            assert column.tolist() == [number for each in chosen for number in each[place]]


# --- Hostile persons

REGIONS = ["Nord", "Süd", "Žilina", "東", "a:b", "1:a", "nobody"]
CODES = [f"c{number}" for number in range(9)]
PAIRS = Domain.product(["AT", "DE", "FR"], Domain.range(2024, 2027))


def hostile_rows() -> list[tuple[Any, ...]]:
    """Persons in one group and in all, more than once; groups and items that are of no list.

    Some are in more groups than count only by items, or groups, that take no part.
    """
    choose = random.Random(3)
    rows: list[tuple[Any, ...]] = []
    for person in range(120):
        for _ in range(choose.choice([1, 2, 40])):
            region = choose.choice([*REGIONS[:-1], "nord", "elsewhere", None])
            code = choose.choice([*CODES, *CODES, "x", None])
            place = choose.choice(["AT", "DE", "FR", "XX", None])
            rows.append((person, region, code, place, choose.choice([2023, 2024, 2025, 2026])))
    return rows + rows[::3] + [(None, "Nord", "c1", "AT", 2024)] * 50


def hostile_events(spark: SparkSession) -> DataFrame:
    schema = "who int, region string, what string, place string, year short"
    return spark.createDataFrame(hostile_rows(), schema).repartition(3)


def kept_plainly(bound: int, by: slice, public: set[Any]) -> dict[Any, Counter[Any]]:
    """The counts of each group by the rule, written out in plain Python."""
    had = defaultdict(set)
    for row in hostile_rows():
        person, group, code = row[0], row[by], row[2]
        if person is not None and group in public and code in CODES:
            had[person].add((group, code))

    def order(person: int, group: tuple[Any, ...]) -> Any:
        mark = "".join(f"{len(text.encode())}:{text}" for text in map(str, group)).encode()
        return md5(mark + str(person).encode()).digest()[:-5:-1], mark  # noqa: S324

    counts: dict[Any, Counter[Any]] = defaultdict(Counter)
    for person, pairs in had.items():
        mine = sorted({group for group, _ in pairs}, key=lambda group: order(person, group))
        for group, code in pairs:
            counts[group][code] += group in mine[:bound]
    return counts


WAYS: list[tuple[Any, Any, slice]] = [
    ("region", REGIONS, slice(1, 2)), (["place", "year"], PAIRS, slice(3, 5)),
]  # fmt: skip


@on_cluster
@pytest.mark.parametrize("number", [pytest.param(1, marks=pytest.mark.smoke), 7])
def test_lists_are_of_what_is_kept_and_counted(
    spark: SparkSession,
    number: int,
    in_partitions: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """In Spark, in plain Python, in topgap.counting; groups that nobody is in have lists, too.

    Also where the list of items is too long to be sent to the executors.
    """
    in_partitions(number)
    if number > 1:
        monkeypatch.setattr(groups, "_MOST_SENT", 0)
    events = hostile_events(spark)
    ways, bounds = (WAYS, (1, 3)) if number > 1 else (WAYS[:1], (2,))
    for (by, public, where), bound in product(ways, bounds):
        asked = {"person": "who", "item": "what", "by": by, "groups": public,
                 "groups_per_person": bound}  # fmt: skip
        release = top_k_events(events, 4, bound * CERTAIN, domain=CODES, **asked)
        counted = count_events(events.toArrow(), domain=CODES, **asked)
        expected = kept_plainly(bound, where, {g if len(by) < 3 else (g,) for g in public})
        assert release.groups == tuple(public)
        for group in public:
            own = expected[group if len(by) < 3 else (group,)]
            whole = {code: own[code] for code in CODES}
            assert {code: counted[group].get(code, 0) for code in CODES} == whole
            assert_ranked(release, group, whole)
        assert release.domain == Domain(CODES).description


def assert_ranked(release: GroupedRelease, group: Any, counts: dict[Any, int]) -> None:
    """That winners and gaps are those of the counts; which of equal items win is left open."""
    own, gaps = release[group], release[group].gaps or ()
    ranked = sorted(counts.values(), reverse=True)
    assert [counts.get(item, 0) for item in own.items] == ranked[: len(own)]
    leads = [a - b for a, b in pairwise(ranked)]
    assert {lead - gap for lead, gap in zip(leads, gaps, strict=False)} <= {0, Fraction(1, 10)}


@on_cluster
@pytest.mark.parametrize(("item", "domain", "together", "bound"), [
    ("what", CODES, None, 2), ("what", Domain.pattern("c[0-9]"), None, None),
    ("what", Domain.pattern("c[0-9]"), None, 2), ("what", CODES, 2, None), ("what", CODES, 2, 2),
    (["what", "year"], Domain.product(CODES, Domain.range(2024, 2026)), None, 1),
])  # fmt: skip
def test_domains_and_bounds_in_each_group(
    spark: SparkSession, item: Any, domain: Any, together: int | None, bound: int | None
) -> None:
    """The same counts as in topgap.counting, and winners in the domain's own spelling."""
    events = hostile_events(spark)
    asked = {"person": "who", "item": item, "domain": domain, "by": "region", "groups": REGIONS,
             "groups_per_person": 2, "together": together, "items_per_person": bound}  # fmt: skip
    counted = count_events(events.toArrow(), **asked)
    release = top_k_events(events, 1, 50_000, noise="exponential", **asked)
    members = Domain.subsets(domain, size=2) if together else counted.domain
    for group in REGIONS:
        assert_ranked(release, group, dict.fromkeys(range(2), 0) | dict(counted[group]))
        assert all(winner in members for winner in release[group].items)


KEPT = "kept = keep_groups(selection.match_items(events), kind, parameters.groups_per_person)"
BROKEN_BOUNDS = [
    Mutant("all groups are kept", KEPT, "kept = selection.match_items(events)"),
    Mutant("items of no list take a place", KEPT,
           "kept = selection.match_items(keep_groups(events, kind, parameters.groups_per_person))"),
]  # fmt: skip


@on_cluster
@pytest.mark.parametrize("mutant", BROKEN_BOUNDS, ids=lambda mutant: mutant.name)
def test_a_broken_bound_is_found(spark: SparkSession, mutant: Mutant) -> None:
    expected = kept_plainly(1, slice(1, 2), {(region,) for region in REGIONS})
    found = []
    for module in (groups, mutated(groups, mutant)):
        rows, _ = module.count_events(
            hostile_events(spark), module.GroupColumns("region", REGIONS), TopKByGroup(4, 1),
            person="who", item="what", domain=CODES,
        )  # fmt: skip
        counts: dict[Any, Counter[Any]] = defaultdict(Counter)
        for row in rows.collect():
            counts[(REGIONS[row["group"]],)][CODES[row["item"]]] = row["value"]
        found.append({g: +own for g, own in expected.items() if +own} == counts)
    assert found == [True, False]


# --- Who draws which noise

Groups = dict[int, dict[int, int]]


def batches(rows: list[tuple[int, int, Any]], size: int = 2) -> Iterator[pa.RecordBatch]:
    """A few rows at a time, as Spark hands them over."""
    for start in range(0, len(rows), size):
        columns = [*map(pa.array, zip(*rows[start : start + size], strict=True))]
        yield pa.RecordBatch.from_arrays(columns, ["group", "item", "value"])


def run_tasks(
    module: Any, parts: list[Groups], parameters: TopKByGroup, streams: Streams, domain: Domain
) -> pa.Table:
    """What the driver collects of these partitions."""
    rows = [
        row
        for partition, part in enumerate(parts)
        for row in module.release_groups(
            batches([(g, i, n) for g, own in part.items() for i, n in own.items()]),
            partition, parameters, streams, domain,
        )
    ]  # fmt: skip
    return pa.Table.from_batches(rows)


FIVE = Domain.range(0, 5)
CASES = [TopKByGroup(1, 4, resolution=1, groups_per_person=2),
         TopKByGroup(1, 4, resolution=1, groups_per_person=2, threshold=1),
         TopKByGroup(2, 4, resolution=1, groups_per_person=2, items_per_person=1)]  # fmt: skip
PARTS: list[Groups] = [{4: {0: 2, 3: 1, 9: 7}, 1: {1: 1}}, {2: {0: 2, 3: 1, 4: 0}}]
RUNS = 4000


@pytest.mark.deep
@pytest.mark.parametrize("parameters", CASES, ids=str)
@pytest.mark.statistical(false_alarm=1e-9)
def test_the_list_of_each_group_has_the_law_of_top_k(
    parameters: TopKByGroup, false_alarm: float
) -> None:
    """Of groups in two tasks, and of two that nobody is in; at most 1e-9 / 5 for each of five."""
    each, seen = parameters.each, defaultdict[int, Counter[Any]](Counter)
    for _ in range(RUNS):
        table = run_tasks(arrow_groups, PARTS, parameters, Streams(), FIVE)
        release = pools.release_lists(table, parameters, Domain.range(0, 5), FIVE, gaps=True)
        for group, own in release.items():
            numbers = own.gaps if own.values is None else own.values
            seen[group][tuple(zip(own.items, numbers or (), strict=True))] += 1
    shown = [
        tuple(zip(items, map(Fraction, numbers), strict=True))
        for length in range(each.fewest_winners, each.k + 1)
        for items in permutations(FIVE, length)
        for numbers in product(range(-1 if each.noise == "laplace" else 0, 4), repeat=length)
    ]
    probability = law.laplace_top_k if each.noise == "laplace" else law.gap_top_k
    had = {group: own for part in PARTS for group, own in part.items()}
    for group in range(5):
        answers = [had.get(group, {}).get(item, 0) for item in FIVE]
        expected = partial(probability, answers, each)
        assert misfits(seen[group], shown, expected, false_alarm / 5) == []


ONE_STREAM = "drawn = draw_groups(parameters, data, streams.open(partition))"


@pytest.mark.statistical(false_alarm=1e-12)
def test_groups_and_partitions_share_no_noise() -> None:
    """60 groups of 40 equal items, k = 9: two have the same list once in 10^14 times or so."""
    parameters = TopKByGroup(9, 1)
    parts: list[Groups] = [
        {group: dict.fromkeys(range(40), 5) for group in range(first, 60, 3)} for first in range(3)
    ]
    streams = Streams()
    table = run_tasks(arrow_groups, parts, parameters, streams, Domain.range(0, 40))
    lists = [tuple(read_list(text).ranks) for text in table["value"].to_pylist()]
    assert len({*lists}) == len(lists) == 60
    again = run_tasks(arrow_groups, parts, parameters, streams, Domain.range(0, 40))
    assert again.equals(table)
    assert not run_tasks(arrow_groups, parts, parameters, Streams(), Domain.range(0, 40)).equals(
        table
    )


REOPENED = """\
parts = []
        for at in range(len(data.groups)):
            start = int(data.ends[at - 1]) if at else 0
            own = slice(start, int(data.ends[at]))
            one = data._replace(
                groups=[data.groups[at]], ends=data.ends[at : at + 1] - start,
                array=data.array._replace(numbers=data.array.numbers[own]),
                find_places=lambda _, asked, ranks, at=at: data.find_places(at, asked, ranks),
                name=lambda _, places, at=at: data.name(at, places),
            )
            parts += [*split_lists(list_winners(one, draw_groups(
                parameters, one, streams.open(partition))), domain)]
        winners = parts
"""


@pytest.mark.parametrize("mutant", [
    Mutant("a stream opened for each group", ONE_STREAM + "\n        winners = split_lists("
           "list_winners(data, drawn), domain)\n", REOPENED),
    Mutant("one stream for all partitions", "streams.open(partition)", "streams.open(0)"),
])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-12)
def test_shared_noise_is_found(mutant: Mutant) -> None:
    broken = mutated(arrow_groups, mutant)
    parts: list[Groups] = [{g: dict.fromkeys(range(40), 5) for g in own} for own in [(0, 1), (2,)]]
    table = run_tasks(broken, parts, TopKByGroup(9, 1), Streams(), Domain.range(0, 40))
    lists = [tuple(read_list(text).ranks) for text in table["value"].to_pylist()]
    assert len({*lists}) < 3


@on_cluster
@pytest.mark.parametrize("trouble", [None, fails, dies, hangs])
def test_every_attempt_has_the_same_noise(
    spark: SparkSession, trouble: Any, tmp_path: Path
) -> None:
    attempts = Attempts(tmp_path, trouble)
    release = release_in_trouble(spark, attempts, drawing)
    made = attempts.made()
    assert {*made} == {0, 1}
    assert len(made[TROUBLED]) >= (1 if trouble is None else 2)
    assert agreeing(attempts, release)


@on_cluster
@pytest.mark.parametrize("mutant", [Mutant("rows in any order", "rows.sortWithinPartitions(*keys)",
                                           "rows.mapInArrow(shuffled, rows.schema)")])  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-10)
def test_attempts_that_differ_are_seen(mutant: Mutant, spark: SparkSession, tmp_path: Path) -> None:
    broken = mutated(drawing, mutant)
    broken.shuffled = shuffled
    attempts = Attempts(tmp_path, fails)
    assert not agreeing(attempts, release_in_trouble(spark, attempts, broken))


def release_in_trouble(spark: SparkSession, attempts: Attempts, module: Any) -> GroupedRelease:
    """Lists of equal items in 30 groups, of whose tasks a first attempt meets the trouble."""
    frame = spark.range(30 * 40, numPartitions=2).selectExpr(
        "id % 30 AS g", "concat('c', id div 30) AS i", "5 AS n"
    )
    frame = frame.mapInArrow(shuffled, frame.schema)
    with pytest.MonkeyPatch.context() as patch:
        work = module.build_partition_task
        patch.setattr(
            module, "build_partition_task", lambda *given, **more: attempts.of(work(*given, **more))
        )
        patch.setattr(release_parameters, "charge_and_release", module.charge_and_release)
        return top_k(
            frame, 9, 1, item="i", count="n", domain=Domain.pattern("c[0-9]{1,2}"), by="g",
            groups=range(31),
        )  # fmt: skip


def agreeing(attempts: Attempts, release: GroupedRelease) -> bool:
    """Whether all attempts at a partition made the same, and the release was made of it."""
    made, names = attempts.made(), Domain.pattern("c[0-9]{1,2}")
    if any(each != rows[0] for rows in made.values() for each in rows):
        return False
    lists = {
        int(group): read_list(text)
        for rows in made.values() for batch in rows[0]
        for group, text in zip(batch["item"], batch["value"], strict=True)
    }  # fmt: skip
    return {*lists} == {*range(30)} and all(
        release[group].items == tuple(map(names.unrank, own.ranks))
        and list_units(release[group].gap_units) == own.gap_units
        for group, own in lists.items()
    )


@on_cluster
@pytest.mark.parametrize("mutant", [
    Mutant("spread by items, too", "rows.repartition(GROUP)", "rows.repartition(GROUP, ITEM)"),
    Mutant("left where they are", "rows.repartition(GROUP)", "rows"),
])  # fmt: skip
def test_groups_in_several_partitions_are_seen(spark: SparkSession, mutant: Mutant) -> None:
    """A group would have a list in each; nothing is released then."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counted, "count_events", mutated(groups, mutant).count_events)
        with pytest.raises(TopgapError, match="Spark had a group in two partitions"):
            top_k_events(hostile_events(spark), 4, 1, person="who", item="what", domain=CODES,
                         by="region", groups=REGIONS)  # fmt: skip


# --- Options and errors


@on_cluster
def test_precomputed_counts(spark: SparkSession) -> None:
    counts = {("Nord", "c1"): 50, ("Nord", "c2"): 90, ("Süd", "c2"): 7, ("Süd", "x"): 900,
              ("elsewhere", "c3"): 8, (None, "c3"): 8, ("Nord", None): 9}  # fmt: skip
    frame = spark.createDataFrame([(*key, n) for key, n in counts.items()],
                                  "region string, what string, n int")  # fmt: skip
    asked: dict[str, Any] = {"item": "what", "by": "region", "groups": REGIONS[:3], "k": 2}
    for kind, domain in product(
        ("int", "double", "decimal(20,1)"), (CODES, Domain.pattern("c[0-9]"))
    ):
        cast = frame.withColumn("n", frame["n"].cast(kind))
        release = top_k(cast, epsilon=50_000, count="n", domain=domain, **asked)
        for group in REGIONS[:3]:
            own = {i: n for (g, i), n in counts.items() if g == group and i in CODES}
            assert_ranked(release, group, dict.fromkeys(CODES, 0) | own)


@on_cluster
def test_thresholds_laplace_noise_and_names_alone(spark: SparkSession, ledger: Ledger) -> None:
    """One charge for all groups, settled to what the lists cost; winners without gaps."""
    events = hostile_events(spark)
    asked: dict[str, Any] = {"person": "who", "item": "what", "domain": CODES, "by": "region",
                             "groups": REGIONS}  # fmt: skip
    counted = count_events(events.toArrow(), **asked)
    above = top_k_events(events, 5, 5_000, threshold=10, ledger=ledger, dataset="visits", **asked)
    for group in REGIONS:
        assert {*above[group].items} >= {i for i, n in counted[group].items() if n > 10}
        assert {*above[group].items} <= {i for i, n in counted[group].items() if n >= 10}
    [entry] = ledger.history()
    assert entry.epsilon == 5_000
    assert entry.settled == above.spent < 5_000
    assert GroupedRelease.from_json(entry.result or "") == above
    assert entry.mechanism == "topgap.spark.top_k_events"
    bounded = top_k_events(events, 5, 4, items_per_person=1, **asked)
    assert bounded.parameters.each.noise == "laplace"
    assert all(len(own.values or ()) == 5 for own in bounded.values())
    names = top_k_events(events, 5, 4, gaps=False, **asked)
    assert {own.gaps for own in names.values()} == {None}


@on_cluster
@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(("changed", "error", "said"), [
    ({"by": None}, ParameterError, "need by"),
    ({"groups": None}, ParameterError, "give the public ones with groups"),
    ({"by": []}, ParameterError, "by must name"),
    ({"by": "what"}, ParameterError, "different columns"),
    ({"by": "score"}, SourceError, "Groups cannot be of Spark's type double"),
    ({"by": "list"}, SourceError, "Groups cannot be of Spark's type array"),
    ({"by": "other"}, DomainError, "A group is a str, and the groups of the data frame are of"),
    ({"groups": [1, 2]}, DomainError, "A group is an int"),
    ({"by": "small", "groups": [1, 300]}, DomainError, "A group does not fit"),
    ({"by": ["region", "what"]}, ParameterError, "different columns"),
    ({"by": ["region", "small"]}, DomainError, "The groups have 1 column, and by names 2 columns"),
    ({"person": "list"}, SourceError, "persons cannot be of Spark's type array"),
    ({"domain": ["c1"]}, DomainError, "at least 3 items"),
    ({"threshold": 10**40}, ParameterError, "The threshold is too large for the kernel"),
    ({"groups_per_person": 0}, ParameterError, "groups_per_person must be at least 1"),
])  # fmt: skip
def test_what_does_not_fit_is_refused_before_anything_runs(
    spark: SparkSession, changed: dict[str, Any], error: type[TopgapError], said: str
) -> None:
    frame = spark.range(5).selectExpr(
        "id AS who", "'Nord' AS region", "'c1' AS what", "0.5D AS score", "array(1) AS list",
        "cast(1 AS byte) AS small", "id AS other",
    )  # fmt: skip
    asked: dict[str, Any] = {"person": "who", "item": "what", "domain": CODES, "by": "region",
                             "groups": REGIONS}  # fmt: skip
    with pytest.raises(error, match=said):
        top_k_events(frame, 2, 1, **asked | changed)
    with pytest.raises(DomainError, match="not a data frame"):
        top_k_events(frame, 2, 1, **asked | {"domain": frame.select("what")})


@on_cluster
@pytest.mark.parametrize(("rows", "error", "said"), [
    ([("Nord", "c1", 5.0), ("Nord", "c1", 6.0), ("Süd", "c1", 6.0)], ItemsError, "twice"),
    ([("Nord", "c1", None)], AnswersError, "missing entries"),
    ([("Nord", "c1", float("inf"))], AnswersError, "finite"),
    ([("Nord", "c1", 1e300)], AnswersError, "too large for the kernel"),
])  # fmt: skip
def test_counts_that_cannot_be_used_charge_nothing(
    spark: SparkSession, ledger: Ledger, rows: list[Any], error: type[TopgapError], said: str
) -> None:
    frame = spark.createDataFrame(rows, "region string, what string, n double")
    asked: dict[str, Any] = {"item": "what", "count": "n", "domain": CODES, "by": "region",
                             "groups": REGIONS}  # fmt: skip
    charges: list[dict[str, Any]] = [{}, {"ledger": ledger, "dataset": "visits"}]
    for more in charges:
        with pytest.raises(error, match=said):
            top_k(frame, 1, 1, **asked, **more)
    assert ledger.history() == ()
