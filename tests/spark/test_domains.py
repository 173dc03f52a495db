"""Domains that are not written out, on Spark: partitions find members, the driver draws the rest.

The law is held against that of the list written out by what executors and driver run, without a
cluster; what Spark counts and looks up is seen on the cluster.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

import topgap
from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from tests.spark.nearly_noiseless import CERTAIN, is_about
from topgap import Domain, Release, TopK, law
from topgap._core import Streams
from topgap.counting import count_events
from topgap.errors import (
    AnswersError,
    DomainError,
    ItemsError,
    ParameterError,
    SourceError,
    SparkError,
    TopgapError,
)
from topgap.ledger import Ledger
from topgap.sampling.sampler import Sampler
from topgap.selection import arrow_partition, candidate_pool
from topgap.selection.column_names import ITEM
from topgap.spark import contribution_bound, members, pools, top_k, top_k_events
from topgap.spark.columns import join_items, name_items, select_columns
from topgap.spark.contribution_bound import keep_items
from topgap.spark.members import Occurring
from topgap.spark.rule import read_rule

on_cluster = pytest.mark.linux(reason="starts a cluster")

# --- The law, without a cluster

Parts = tuple[dict[int, int], ...]
Outcome = tuple[tuple[int, Fraction], ...]

SIX = Domain.range(0, 6)
# The members that each partition has, with others that are left out; parameters; and gaps.
CASES: list[tuple[Parts, TopK, int]] = [
    (({0: 3, 7: 9}, {}, {3: 1}), TopK(1, 2, resolution=1), 6),
    (({0: 2, 1: 0}, {2: 1, 4: 0}, {5: 2}), TopK(2, 6, resolution=1), 3),
    (({7: 5}, {}), TopK(2, 6, resolution=1), 3),
    (({0: 0, 1: 0, 2: 0, 3: 0, 4: 0},), TopK(1, 8, resolution=1), 2),  # most are no candidates
    (({0: 2, 7: 9}, {3: 1}), TopK(2, 6, resolution=1, threshold=1), 3),
    (({0: 1}, {}), TopK(9, 36, resolution=1, threshold=1), 2),  # more than there are members
]
RUNS = 5000


def batches(part: dict[int, int]) -> Iterator[pa.RecordBatch]:
    """Two rows at a time, as Spark hands them over."""
    items, answers = [*part], [*part.values()]
    for start in range(0, len(items), 2):
        rows = items[start : start + 2], answers[start : start + 2]
        yield pa.RecordBatch.from_arrays([*map(pa.array, rows)], ["item", "value"])


def held_by(parts: Parts, parameters: TopK) -> pa.Table:
    """What the driver collects of these partitions."""
    streams = Streams()
    rows = [
        row
        for partition, part in enumerate(parts)
        for row in arrow_partition.find_candidates(
            batches(part), partition, parameters, streams, SIX
        )
    ]
    return pa.Table.from_batches(rows)


def released(module: Any, parts: Parts, parameters: TopK) -> Outcome:
    """One release, in which each partition is run as an executor runs it, and looked up in."""
    occurring = {item for part in parts for item in part}
    held = held_by(parts, parameters)
    release = module.release_members(held, parameters, SIX, occurring.intersection, gaps=True)
    return tuple(zip(release.items, release.gaps or (), strict=True))


def found_unfit(module: Any, case: tuple[Parts, TopK, int], false_alarm: float) -> list[str]:
    parts, parameters, gaps = case
    counts = {item: count for part in parts for item, count in part.items()}
    answers = [counts.get(item, 0) for item in SIX]
    steps = [gap * parameters.resolution for gap in range(gaps)]
    outcomes: list[Outcome] = [
        tuple(zip(winners, leads, strict=True))
        for j in range(parameters.fewest_winners, min(parameters.k, 2) + 1)
        for winners in permutations(SIX, j)
        for leads in product(steps, repeat=j)
    ]
    seen = Counter(released(module, parts, parameters) for _ in range(RUNS))
    return misfits(seen, outcomes, partial(law.gap_top_k, answers, parameters), false_alarm)


@pytest.mark.deep
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.statistical(false_alarm=1e-10)
def test_members_of_partitions_have_the_law_of_the_list_written_out(
    case: tuple[Parts, TopK, int], false_alarm: float
) -> None:
    assert found_unfit(pools, case, false_alarm) == []


RANKED = "return pool.rank().release(gaps=gaps)"
LOOKED_UP = "return known.union(find(others)) if others else known"
# With the number of the case in which each is found.
MUTANTS = [
    (0, Mutant("the run drawn once for each part", RANKED,
               "for _ in range(2):\n"
               "        again = pool._draw_unlisted(domain, [])\n"
               "        pool.keep(Part(again, None, None, 0, named=True))\n    " + RANKED)),
    (3, Mutant("heads are not looked up", LOOKED_UP, "return set()")),
    (3, Mutant("looked up among the candidates alone", LOOKED_UP, "return known")),
    (4, Mutant("another sentinel", RANKED,
               "again = [pool._draw_sentinel(Sampler())]\n"
               "    pool.keep(Part(again, None, None, 0, named=True))\n    " + RANKED)),
]  # fmt: skip


@pytest.mark.parametrize(("case", "mutant"), MUTANTS, ids=[each.name for _, each in MUTANTS])
@pytest.mark.statistical(false_alarm=1e-10)
def test_a_broken_run_is_found(case: int, mutant: Mutant, false_alarm: float) -> None:
    broken = mutated(pools, mutant)
    broken.Part, broken.Sampler = candidate_pool.Part, Sampler
    try:
        found = found_unfit(broken, CASES[case], false_alarm)
    except TopgapError as error:  # of a release that names an item twice
        found = [str(error)]
    assert found != []


def test_a_candidate_occurs_whatever_is_found_later() -> None:
    """Of a data frame that is not the same a second time, no item is named twice."""
    parts = ({0: 2, 1: 0, 2: 1}, {3: 0, 4: 0, 5: 2})
    for _ in range(20):
        held = held_by(parts, TopK(5, 1))
        release = pools.release_members(held, TopK(5, 1), SIX, lambda _: set(), gaps=True)
        assert len({*release.items}) == 5


@pytest.mark.statistical(false_alarm=1e-20)
def test_each_attempt_at_a_partition_has_the_same_noise() -> None:
    """64 equal answers, of which 21 remain: two noises give the same with chance 64^−20 or so."""
    parameters, streams, domain = TopK(20, 1), Streams(), Domain.range(0, 2**200)

    def attempt(streams: Streams) -> Any:
        [rows] = arrow_partition.find_candidates(
            batches(dict.fromkeys(range(-64, 64), 0)), 3, parameters, streams, domain
        )
        return rows.to_pydict()

    first = attempt(streams)
    assert attempt(streams) == first
    assert attempt(Streams()) != first
    assert first["item"][-1] is None
    assert first["value"][-1] == "64"


@pytest.mark.parametrize("streams", [Streams(), None])
def test_rows_of_others_are_never_a_reason_to_refuse(streams: Streams | None) -> None:
    """Nor is one without an item: it is no member."""
    rows: dict[str, Any] = {"item": [7, None, 1], "value": [None, 5, 2], "times": [2, 1, 1]}
    bad = [rows, rows | {"item": [1, 7, 8]}, rows | {"item": [7, 8, 1], "value": [1, 2, None]}]
    found = []
    for each in bad:
        batch = pa.RecordBatch.from_pydict(each)
        [row] = arrow_partition.find_candidates(iter([batch]), 0, TopK(1, 1), streams, SIX)
        found.append(row["value"].to_pylist()[-1])
    assert found[0] == "1"
    assert [each.partition(":")[0] for each in found[1:]] == ["ItemsError", "AnswersError"]


# --- What Spark counts

CODES = Domain.pattern(r"[A-Z][0-9]{2}(\.[0-9])?")
PAGES = Domain.product(["AT", "DE"], Domain.strings("a-z", max_length=5))


def events(spark: SparkSession) -> DataFrame:
    """Codes and numbers that persons have, more than once; some are missing or no members."""
    had = {"A01": range(30), "B07.1": range(20, 110), "C11": range(9), "b07": range(100)}
    rows: list[tuple[Any, ...]] = [
        (float(person), code, len(code), place, page)
        for code, persons in had.items()
        for person in persons
        for place, page in [("AT", "start"), ("AT", "start"), ("FR", "start")]
    ]
    rows += [(None, "C11", 3, "AT", "start")] * 50 + [(float("nan"), "D05", 3, "DE", "help")]
    rows += [(91.0, None, 4, None, "help"), (92.0, "C11.5", 5, "DE", "help")]
    schema = "who double, code string, n int, place string, page string"
    frame = spark.createDataFrame(rows, schema).repartition(3)
    return frame.selectExpr("*", "cast(n AS decimal(20, 2)) AS exact")


KINDS: list[tuple[Any, Any, int | None, dict[Any, int]]] = [
    ("code", CODES, None, {"B07.1": 90, "A01": 30, "C11": 9, "C11.5": 1}),
    ("n", Domain.range(0, 10**30), None, {3: 100, 5: 90, 4: 1}),
    ("exact", Domain.range(4, 10**30), None, {5: 90, 4: 1}),
    (["place", "page"], PAGES, None, {("AT", "start"): 110, ("DE", "help"): 1}),
    ("code", CODES, 2, {("A01", "B07.1"): 10, ("A01", "C11"): 9, ("B07.1", "C11.5"): 1}),
    ("code", ["b07", "A01", "C11"], 2, {("b07", "A01"): 30, ("A01", "C11"): 9, ("b07", "C11"): 9}),
    (["code", "place"], Domain.product(CODES, ["AT", "FR"]), 3, {
        (("A01", "AT"), ("A01", "FR"), ("B07.1", "AT")): 10,
    }),
]  # fmt: skip


@on_cluster
@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4])
def test_what_occurs_wins_as_in_plain_topgap(spark: SparkSession, kind: int) -> None:
    """The next item, which the last gap is to, has 0."""
    item, domain, together, counts = KINDS[kind]
    release = top_k_events(
        events(spark), len(counts), CERTAIN, person="who", item=item, domain=domain,
        together=together,
    )  # fmt: skip
    assert is_about(release, counts | {"nobody": 0})
    whole = domain if together is None else Domain.subsets(domain, size=together)
    assert release.domain == whole.description
    plain = topgap.top_k(counts, len(counts), CERTAIN, domain=whole)
    assert plain.items == release.items


BOUNDED: list[tuple[Any, Any, int | None]] = [
    ("code", CODES, None), ("code", ["b07", "A01", "C11", "D05"], None),
    ("n", Domain.range(0, 10**30), None), ("exact", Domain.range(0, 10**30), None),
    (["place", "page"], PAGES, None), ("code", ["b07", "A01", "C11", "B07.1"], 2),
    (["code", "place"], Domain.product(CODES, ["AT", "FR"]), 2),
]  # fmt: skip


@on_cluster
@pytest.mark.parametrize("bounded", range(len(BOUNDED)))
def test_the_same_items_of_each_person_are_kept_as_without_spark(
    spark: SparkSession, bounded: int
) -> None:
    item, domain, together = BOUNDED[bounded]
    frame = events(spark)
    rows, asked = frame.toArrow(), {"person": "who", "item": item, "together": together}
    for bound in (1, 2):
        counts = count_events(rows, domain=domain, items_per_person=bound, **asked)
        parts, rule = name_items(item), read_rule(domain, together)
        selected, fields = select_columns(frame, **parts, person="who")
        kinds, person = [fields[part].dataType for part in parts], fields["person"].dataType
        had = join_items(selected.dropna(), parts)
        if rule is None:
            had = keep_items(had.filter(had[ITEM].isin(domain)), kinds, person, bound)
            found = had.groupBy(ITEM).count().collect()
        else:
            occurring = Occurring(had, rule, kinds, bound, person)
            whole = [*occurring.count_persons().collect()]
            found = [row for row in whole if plain(row[0]) in rule.domain]
            assert occurring.find([*counts]) == {*counts}
            lost = {*count_events(rows, domain=domain, **asked)} - {*counts}
            assert occurring.find([*lost]) == set()
        as_sets = [frozenset(plain(row[0])) if together else plain(row[0]) for row in found]
        expected = {frozenset(k) if together else k: n for k, n in counts.items() if n}
        assert dict(zip(as_sets, (row[1] for row in found), strict=True)) == expected


BOUND_MUTANTS = [
    Mutant("before deduplication", "(*columns).distinct()", "(*columns)"),
    Mutant("by the item alone", "sql.concat(sql.col(_MARK), _build_text(sql.col(PERSON), person))",
           "sql.col(_MARK)"),
    Mutant("by row order", ".orderBy(_HASH, _MARK)", ".orderBy(sql.rand())"),
    Mutant("all persons are one", "partitionBy(*within)", "partitionBy()"),
]  # fmt: skip


@on_cluster
@pytest.mark.parametrize("mutant", BOUND_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_bound_is_found(spark: SparkSession, mutant: Mutant) -> None:
    frame, domain = events(spark), ["b07", "A01", "C11", "B07.1"]
    had, fields = select_columns(frame, item="code", person="who")
    members = had.dropna().filter(had[ITEM].isin(domain))
    for module in (contribution_bound, mutated(contribution_bound, mutant)):
        right = []
        for bound in (1, 2):
            expected = count_events(
                frame.toArrow(), person="who", item="code", domain=domain, items_per_person=bound
            )
            kinds = [fields[ITEM].dataType], fields["person"].dataType
            kept = module.keep_items(members, *kinds, bound).groupBy(ITEM).count().collect()
            right.append(dict(map(tuple, kept)) == {k: n for k, n in expected.items() if n})
        assert all(right) == (module is contribution_bound)


def plain(item: Any) -> Any:
    """A struct as a tuple, a number as a number."""
    return tuple(map(plain, item)) if isinstance(item, tuple) else item


@on_cluster
def test_a_release_is_of_the_items_that_are_kept(spark: SparkSession) -> None:
    frame = events(spark)
    asked: dict[str, Any] = {"person": "who", "item": "code", "items_per_person": 3}
    for domain in (CODES, ["b07", "A01", "C11", "B07.1", "D05"]):
        counts = count_events(frame.toArrow(), domain=domain, **asked)
        release = top_k_events(frame, 3, CERTAIN, domain=domain, **asked)
        assert is_about(release, dict(counts))
        assert release.parameters.items_per_person == 3


@on_cluster
@pytest.mark.usefixtures("no_job")
@pytest.mark.parametrize(("person", "said"), [
    ("array(who)", "persons cannot be of Spark's type array"),
    ("code COLLATE UTF8_LCASE", "persons cannot have a collation"),
])  # fmt: skip
def test_persons_without_one_text_are_refused(spark: SparkSession, person: str, said: str) -> None:
    frame = events(spark).selectExpr(f"{person} AS who", "code")
    asked: dict[str, Any] = {"person": "who", "item": "code", "domain": CODES}
    with pytest.raises(SourceError, match=said):
        top_k_events(frame, 3, 1, items_per_person=3, **asked)
    with pytest.raises(ParameterError, match="items_per_person must be at least 1"):
        top_k_events(frame, 3, 1, items_per_person=0, **asked)


@on_cluster
@pytest.mark.parametrize(("kind", "others"), [
    (0, ["D05", "A02"]), (1, [0, 2**31, 10**29]), (3, [("DE", "start"), ("AT", "help")]),
    (4, [("B07.1", "C11"), ("A01", "C11.5")]), (5, []),
    (6, [(("A01", "AT"), ("B07.1", "FR"), ("C11", "AT"))]),
])  # fmt: skip
def test_heads_are_looked_up_as_items_are_counted(
    spark: SparkSession, kind: int, others: list[Any]
) -> None:
    """An item that only a missing person has does not occur, nor one beyond the column's type."""
    item, domain, together, counts = KINDS[kind]
    parts, rule = name_items(item), read_rule(domain, together)
    assert rule is not None
    frame, fields = select_columns(events(spark), **parts, person="who")
    occurring = join_items(frame.dropna(), parts)
    kinds = [fields[part].dataType for part in parts]
    assert Occurring(occurring, rule, kinds).find([*counts, *others]) == {*counts}
    if item == "n":
        assert Occurring(occurring, rule, kinds).find([10**29]) == set()


@on_cluster
@pytest.mark.parametrize("together", [None, 2])
def test_what_python_cannot_hold_is_left_out(spark: SparkSession, together: int | None) -> None:
    """One row of a non-member must not stop a release, nor stand in an executor's log."""
    people = spark.range(300).selectExpr("id AS who", "explode(array('flu', 'gout')) AS what")
    odd = spark.sql("SELECT 5L AS who, cast(X'C328' AS string) AS what")
    release = top_k_events(
        people.union(odd), 1, CERTAIN, person="who", item="what", together=together,
        domain=Domain.pattern("flu|gout|cold|cough"),
    )  # fmt: skip
    assert release.items[0] in ({"flu", "gout"} if together is None else {("flu", "gout")})


@on_cluster
def test_precomputed_counts_of_what_occurs(spark: SparkSession, ledger: Ledger) -> None:
    rows = [("A01", 500), ("x", None), (None, 7), ("B07.1", 900), ("x", 9), ("Z99", -70)]
    frame = spark.createDataFrame(rows, "code string, n int")
    release = top_k(
        frame, 2, CERTAIN, item="code", count="n", domain=CODES, ledger=ledger, dataset="visits"
    )
    assert is_about(release, {"B07.1": 900, "A01": 500, "nobody": 0})
    [charge] = ledger.history()
    assert Release.from_json(charge.result or "") == release
    assert release.domain == CODES.description
    short = top_k(frame, 2, CERTAIN, item="code", count="n", domain=["A01", "A02", "Z99"])
    assert is_about(short, {"A01": 500, "A02": 0, "Z99": -70})


@on_cluster
def test_the_run_appears_where_nothing_else_does_and_no_item_twice(
    spark: SparkSession, in_partitions: Callable[[int], None]
) -> None:
    in_partitions(3)
    nobody = events(spark).filter("who < 0")
    release = top_k_events(nobody, 3, 1, person="who", item="code", domain=CODES)
    assert len({*release.items} & {*CODES}) == 3
    few = spark.createDataFrame([(1, "A"), (2, "B"), (3, "C")], "who int, what string")
    letters = Domain.pattern("[A-F]")
    for _ in range(3):
        release = top_k_events(few, 5, 1, person="who", item="what", domain=letters)
        assert len({*release.items} & {*letters}) == 5


# --- What is refused

REFUSED: list[tuple[dict[str, Any], type[TopgapError], str]] = [
    ({"domain": Domain.range(0, 9)}, DomainError, "is an int, .* type string"),
    ({"item": "n"}, DomainError, "is a str, .* type integer"),
    ({"item": "n", "domain": Domain.product([1, 2], [3])}, DomainError, "has 2 columns"),
    ({"item": "n", "domain": Domain.subsets([1, 2, "x"], size=2)}, DomainError, "is a str"),
    ({"item": "n", "domain": [0, True, 2], "together": 2}, DomainError, "is a bool"),
    ({"item": ["code", "n"]}, DomainError, "has 1 column, .* have 2 columns"),
    ({"item": ["code", "n"], "domain": PAGES}, DomainError, "is a str, .* type integer"),
    ({"item": ["code", "n"], "domain": ["A01", "A02"]}, DomainError, "need a Domain.product"),
    ({"item": []}, ParameterError, "several in a list"),
    ({"item": ["code", "code"]}, ParameterError, "different columns"),
    ({"k": CODES.size}, DomainError, "must have at least"),
    ({"k": 3, "domain": ["A01", "A02", "A03"], "together": 2}, DomainError, "it has 3"),
    ({"together": 4}, ParameterError, "together must be 2"),
    ({"together": True}, ParameterError, "together must be 2"),
    ({"domain": b"abc", "together": 2}, DomainError, "not a list of items"),
    ({"domain": Domain.subsets(CODES, size=2), "together": 2}, DomainError, "leave together out"),
    ({"domain": Domain.subsets(CODES, size=4)}, ParameterError, "pairs and triples"),
    ({"item": ["code", "place"], "domain": Domain.product(["A"], Domain.subsets(CODES, size=2))},
     DomainError, "not as a part"),
    ({"epsilon": Fraction(1, 10**60)}, ParameterError, "larger epsilon"),
]  # fmt: skip


@on_cluster
@pytest.mark.usefixtures("no_job")
def test_what_does_not_fit_is_refused_before_any_job_and_charges_nothing(
    spark: SparkSession, ledger: Ledger
) -> None:
    frame = spark.range(5).selectExpr("id AS who", "'A01' AS code", "5 AS n", "'AT' AS place")
    given: dict[str, Any] = {"k": 1, "epsilon": 1, "person": "who", "item": "code", "domain": CODES}
    for change, error, said in REFUSED:
        with pytest.raises(error, match=said):
            top_k_events(frame, **given | change, ledger=ledger, dataset="visits")
    with pytest.raises(DomainError, match="needs a list or a topgap"):
        top_k_events(frame, **given | {"domain": frame.select("code"), "together": 2})
    counts: dict[str, Any] = {"k": 1, "epsilon": 1, "item": "code", "count": "n"}
    for domain, kind, said in [
        (Domain.range(0, 9), DomainError, "is an int"), (["A01"], DomainError, "at least 2"),
        (Domain.subsets(CODES, size=2), ParameterError, "which person has which item"),
        (frame.select("code"), DomainError, "not a data frame"),
        (topgap.counting.FROM_DATA, DomainError, "FROM_DATA"),
    ]:  # fmt: skip
        with pytest.raises(kind, match=said):
            top_k(frame, **counts, domain=domain, ledger=ledger, dataset="visits")
    with pytest.raises(DomainError, match="need a domain"):
        top_k(frame, **counts | {"item": ["code", "place"]})
    assert ledger.history() == ()


@on_cluster
def test_rows_of_members_that_cannot_be_used_charge_nothing(
    spark: SparkSession, ledger: Ledger
) -> None:
    for rows, error in [
        ([("A01", 5), ("A01", 6)], ItemsError), ([("A01", None), ("A02", 6)], AnswersError)
    ]:  # fmt: skip
        frame = spark.createDataFrame(rows, "code string, n int")
        with pytest.raises(error):
            top_k(
                frame, 1, 1, item="code", count="n", domain=CODES, ledger=ledger, dataset="visits"
            )
    assert ledger.history() == ()


@on_cluster
def test_a_lookup_that_fails_leaves_a_charge_and_says_no_name(
    spark: SparkSession, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("Zaphod")

    monkeypatch.setattr(members, "create_frame", fail)
    with pytest.raises(
        SparkError, match=r"^Spark could not run this; its own log says why"
    ) as raised:
        top_k_events(
            events(spark), 9, 1, person="who", item="code", domain=CODES, ledger=ledger,
            dataset="visits",
        )  # fmt: skip
    assert "Zaphod" not in str(raised.value)
    [charge] = ledger.history()
    assert charge.result is None
