"""Winners that are measured on Spark: each by the count that it was selected by, on the driver."""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from tests.checking.frequencies import misfits, misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.spark.failing_tasks import TROUBLED, Attempts, dies, hangs
from tests.spark.nearly_noiseless import CERTAIN
from tests.spark.test_cluster import shuffled
from tests.streams.test_estimates import LAWS, NEAR, Outcome, chance_of_two, laplace, probability
from topgap import Domain, Estimates, GroupedEstimates, TopK, TopKByGroup
from topgap._core import Streams
from topgap.counting import count_events
from topgap.errors import ParameterError, ParameterTypeError
from topgap.estimates.noise import Noise
from topgap.ledger import Ledger
from topgap.parameters import Neighbours
from topgap.selection import arrow_groups, arrow_partition
from topgap.selection.measurement import GroupedShares, Shares
from topgap.spark import (
    drawing,
    partitions,
    pools,
    top_k,
    top_k_events,
    top_k_events_with_estimates,
    top_k_with_estimates,
)

on_cluster = pytest.mark.linux(reason="starts a cluster")

# --- The law, without a cluster

MEMBERS = Domain.range(0, 6)


def values(made: Estimates) -> tuple[Any, ...]:
    return made.measurements


def batches(rows: dict[int, int]) -> Iterator[pa.RecordBatch]:
    items, answers = [*rows], [*rows.values()]
    for start in range(0, len(items), 2):
        part = items[start : start + 2], answers[start : start + 2]
        yield pa.RecordBatch.from_arrays([*map(pa.array, part)], ["item", "value"])


def measured(
    answers: list[int], shares: Shares, domain: Domain | None, module: Any = pools
) -> tuple[Any, tuple[Fraction, ...]]:
    """A release and its measurements, in which each partition is run as an executor runs it."""
    rows, streams = dict(enumerate(answers)), Streams()
    if domain is not None:  # what has 0 need not occur
        rows = {item: answer for item, answer in rows.items() if answer or item == 1}
    held = [
        batch
        for partition in range(3)
        for batch in arrow_partition.find_candidates(
            batches({item: n for item, n in rows.items() if item % 3 == partition}),
            partition, shares.selection, streams, domain, keep_answers=True,
        )
    ]  # fmt: skip
    table = pa.Table.from_batches(held)
    if domain is None:
        found: tuple[Any, tuple[Fraction, ...]] = module.measure_pools(table, shares)
        return found
    return module.measure_members(table, shares, domain, {*rows}.intersection)  # type: ignore[no-any-return]


@pytest.mark.deep
@pytest.mark.parametrize("by_rule", [False, True])
@pytest.mark.parametrize(("answers", "whole", "share"), LAWS)
@pytest.mark.statistical(false_alarm=1e-10)
def test_winners_gaps_and_measurements_have_the_law(
    answers: list[int], whole: TopK, share: str, by_rule: bool, false_alarm: float
) -> None:
    shares = Shares.of(whole, share)
    domain = Domain.range(0, len(answers)) if by_rule else None

    def outcome() -> Outcome:
        release, values = measured(answers, shares, domain)
        off = [(value - answers[item]) / whole.resolution
               for item, value in zip(release.items, values, strict=True)]  # fmt: skip
        return tuple(zip(release.items, release.gaps, off, strict=True))

    assert misfits_of(outcome, 3_000, partial(probability, answers, shares), false_alarm) == []


FAR = 10**9
TWO_SURE = [FAR, 0, 2 * FAR, 1]
TAKEN = "shares.measure(pool.take_answers(ranking.items))"
MUTANTS = [
    Mutant("the answers the other way round", TAKEN, TAKEN.replace("items)", "items[::-1])")),
    Mutant("no noise", TAKEN, "tuple(map(Fraction, pool.take_answers(ranking.items)))"),
    Mutant("one noise for all", TAKEN,
           "(lambda noise: tuple(each + noise for each in pool.take_answers(ranking.items)))("
           "shares.measure([0, 0])[0])"),
    Mutant("too little noise", TAKEN,
           TAKEN.replace("shares.measure", "type(shares)(shares.selection, "
                                           "2 * shares.measurement_epsilon).measure")),
]  # fmt: skip


def noise_of_two(domain: Domain | None, module: Any) -> Counter[tuple[int, ...]]:
    shares = Shares.of(TopK(2, 4, resolution=1), "1/2")
    seen: Counter[tuple[int, ...]] = Counter()
    for _ in range(1_000):
        release, values = measured(TWO_SURE, shares, domain, module)
        pairs = zip(release.items, values, strict=True)
        seen[tuple(int(value - TWO_SURE[item]) for item, value in pairs)] += 1
    return seen


@pytest.mark.slow
@pytest.mark.parametrize("domain", [None, MEMBERS], ids=["rows", "rule"])
@pytest.mark.statistical(false_alarm=1e-10)
def test_two_measurements_have_independent_noise(domain: Any, false_alarm: float) -> None:
    assert misfits(noise_of_two(domain, pools), NEAR, chance_of_two, false_alarm) == []


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=1e-10)
def test_broken_measurements_are_found(mutant: Mutant, false_alarm: float) -> None:
    # As in tests/streams/test_estimates.py: (0, 0) has chance 0.214 by the law, and 1 or 0 or
    # 0.46 with the first three. With half of the noise it is tanh(1)² = 0.58.
    seen = noise_of_two(None, mutated(pools, mutant))
    assert misfits(seen, NEAR, chance_of_two, false_alarm) != []


@pytest.mark.statistical(false_alarm=1e-20)
def test_attempts_hand_over_the_same_and_plain_calls_no_answers() -> None:
    parameters, streams = TopK(20, 1), Streams()

    def attempt(streams: Streams, domain: Domain | None, keep: bool) -> Any:
        rows = batches(dict.fromkeys(range(64), 5))
        [found] = arrow_partition.find_candidates(rows, 3, parameters, streams, domain, keep)
        return found.to_pydict()

    for domain in (None, Domain.range(0, 2**200)):
        first = attempt(streams, domain, keep=True)
        assert attempt(streams, domain, keep=True) == first
        assert attempt(Streams(), domain, keep=True) != first
        assert {*first["answer"]} - {None} == {"50"}
        assert [*attempt(streams, domain, keep=False)] == ["item", "value"]


PARTS: list[dict[int, dict[int, int]]] = [{4: {0: 20, 3: 1, 9: 7}, 1: {1: 10}}, {2: {0: 20, 4: 7}}]


def lists_of(shares: GroupedShares) -> GroupedEstimates:
    streams, domain = Streams(), Domain.range(0, 5)
    rows = [
        row
        for partition, part in enumerate(PARTS)
        for row in arrow_groups.release_groups(
            iter([pa.RecordBatch.from_arrays(
                [*map(pa.array, zip(*((g, i, n) for g, own in part.items()
                                      for i, n in own.items()), strict=True))],
                ["group", "item", "value"])]),
            partition, shares.selection, streams, domain, keep_answers=True,
        )
    ]  # fmt: skip
    noise = Noise.for_one_winner(shares.selection.each, shares.measurement_epsilon)
    table = pa.Table.from_batches(rows)
    return pools.measure_lists(table, shares, Domain.range(0, 5), domain, noise)


@pytest.mark.statistical(false_alarm=1e-20)
def test_each_winner_of_a_group_is_measured_by_its_own_count() -> None:
    made = lists_of(GroupedShares.of(TopKByGroup(2, 10**6, monotonic=True), "1/2"))
    assert made.epsilon == 10**6
    assert dict(zip(made[4].release.items, values(made[4]), strict=True)) == {0: 20, 3: 1}
    assert dict(zip(made[2].release.items, values(made[2]), strict=True)) == {0: 20, 4: 7}
    assert values(made[1]) == (10, 0)
    assert values(made[0]) == values(made[3]) == (0, 0)


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-10)
def test_measurements_in_groups_have_noise_of_the_right_scale(false_alarm: float) -> None:
    """k = 1: of 20 and of 10, of which noise of mean 1/50 makes no other winner."""
    shares = GroupedShares.of(TopKByGroup(1, 51, resolution=1, monotonic=True), "50/51")
    assert shares.each.rate == 1
    seen: Counter[int] = Counter()
    for _ in range(1_000):
        made = lists_of(shares)
        for group, own in ((4, 20), (1, 10)):
            seen[int(made[group].measurements[0] - own)] += 1
    near = range(-2, 3)
    assert misfits(seen, [*near], lambda x: laplace(Fraction(1), Fraction(x)), false_alarm) == []


# --- On a cluster

PEOPLE = {"flu": 900, "cold": 500, "gout": 40}


@on_cluster
@pytest.mark.parametrize("domain", [
    [*PEOPLE, "mumps"], Domain.strings("a-z", max_length=6), None
], ids=["list", "rule", "frame"])  # fmt: skip
def test_events_and_counts_are_measured(spark: SparkSession, domain: Any, ledger: Ledger) -> None:
    rows = [(f"p{n}", what) for what, had in PEOPLE.items() for n in range(had)]
    events = spark.createDataFrame(rows * 2, "who string, what string").repartition(3)
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    frame = events.select("what").distinct() if domain is None else domain
    made = top_k_events_with_estimates(
        events, 2, CERTAIN, person="who", item="what", domain=frame, **paid
    )
    assert [(item, round(count)) for item, count in made] == [("flu", 900), ("cold", 500)]
    assert made.release.parameters.monotonic
    decimals = [(item, float(count)) for item, count in PEOPLE.items()]
    counts = spark.createDataFrame(decimals, "what string, n double").repartition(3)
    again = top_k_with_estimates(
        counts, 2, CERTAIN, item="what", count="n", domain=domain, selection_share="1/3", **paid
    )
    assert values(again) == (900, 500)
    assert again.release.epsilon == Fraction(CERTAIN, 3)
    first, second = ledger.history()
    assert first.mechanism == "topgap.spark.top_k_events_with_estimates"
    assert second.mechanism == "topgap.spark.top_k_with_estimates"
    assert Estimates.from_json(second.result or "") == again
    assert second.parameters["measurement_epsilon"] == str(Fraction(CERTAIN, 3))
    assert {first.epsilon, second.epsilon} == {Fraction(CERTAIN)}
    ledger.verify()


@on_cluster
def test_groups_are_measured(spark: SparkSession, ledger: Ledger) -> None:
    rows = [(f"p{n}", what, "NS"[n % 2]) for what, had in PEOPLE.items() for n in range(had)]
    events = spark.createDataFrame(rows, "who string, what string, region string").repartition(3)
    given: dict[str, Any] = {"person": "who", "item": "what", "by": "region", "groups": [*"NSW"]}
    counted = count_events(events.toArrow(), domain=[*PEOPLE, "mumps"], **given)
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    made = top_k_events_with_estimates(
        events, 2, CERTAIN, domain=[*PEOPLE, "mumps"], **given, **paid
    )
    for group in "NS":
        assert made[group].measurements == tuple(counted[group][i] for i in ("flu", "cold"))
    assert values(made["W"]) == (0, 0)
    [entry] = ledger.history()
    assert GroupedEstimates.from_json(entry.result or "") == made
    counts = spark.createDataFrame(
        [(g, i, n) for g in "NS" for i, n in PEOPLE.items()], "region string, what string, n int"
    )
    del given["person"]
    again = top_k_with_estimates(
        counts, 2, CERTAIN, count="n", domain=Domain.strings("a-z", max_length=6), **given
    )
    assert [values(again[group]) for group in "NSW"] == [(900, 500), (900, 500), (0, 0)]


@on_cluster
def test_data_that_change_are_read_once(spark: SparkSession) -> None:
    """Counts that are others each time: winners are measured by those that they were ranked by."""
    frame = spark.range(40, numPartitions=2).select(
        "id", sql.floor(sql.rand() * 10**9).alias("n")
    )  # fmt: skip
    for _ in range(3):
        made = top_k_with_estimates(frame, 5, CERTAIN, item="id", count="n", check_items=False)
        gaps = made.release.gaps or ()
        leads = [a - b for a, b in zip(made.measurements, made.measurements[1:], strict=False)]
        assert all(abs(gap - lead) <= 1 for gap, lead in zip(gaps, leads, strict=False))


@on_cluster
@pytest.mark.parametrize("trouble", [dies, hangs])
def test_every_attempt_hands_over_the_same(
    spark: SparkSession, trouble: Any, tmp_path: Path
) -> None:
    attempts = Attempts(tmp_path, trouble)
    frame = spark.range(400, numPartitions=2).select("id", sql.col("id").alias("n")).cache()
    frame = frame.mapInArrow(shuffled, frame.schema)
    with pytest.MonkeyPatch.context() as patch:
        work = partitions.build_partition_task
        patch.setattr(
            drawing, "build_partition_task", lambda *args, **more: attempts.of(work(*args, **more))
        )
        made = top_k_with_estimates(frame, 3, CERTAIN, item="id", count="n", check_items=False)
    spark.catalog.clearCache()
    tried = attempts.made()
    assert len(tried[TROUBLED]) >= 2
    assert all(each == rows[0] for rows in tried.values() for each in rows)
    assert values(made) == (399, 398, 397)


@on_cluster
def test_neighbours_are_those_of_the_ledger(spark: SparkSession, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.add_dataset("replaced", 100, neighbours="replace")
    ledger.add_dataset("plain", 100)
    events = spark.createDataFrame([(n, n % 3) for n in range(9)], "who int, what int")
    given: dict[str, Any] = {"person": "who", "item": "what", "domain": range(4), "ledger": ledger}
    ways: list[tuple[str, Neighbours | None, bool, int]] = [
        ("replaced", None, False, 1), ("plain", None, True, 1), ("replaced", "replace", False, 1),
        ("replaced", "add-remove", True, 2),
    ]  # fmt: skip
    for dataset, said, monotonic, cost in ways:
        release = top_k_events(events, 1, 1, dataset=dataset, neighbours=said, **given)
        assert release.parameters.monotonic == monotonic
        assert ledger.history()[-1].epsilon == cost
        made = top_k_events_with_estimates(events, 1, 1, dataset=dataset, neighbours=said, **given)
        assert made.release.parameters.monotonic == monotonic
        assert ledger.history()[-1].epsilon == cost
    without: dict[str, Any] = {**given, "ledger": None}
    assert top_k_events(events, 1, 1, **without).parameters.monotonic
    assert not top_k_events(events, 1, 1, neighbours="replace", **without).parameters.monotonic


@pytest.mark.parametrize(("changed", "error"), [
    ({"k": None}, ParameterTypeError), ({"selection_share": 1}, ParameterError),
    ({"selection_share": "x"}, ParameterError), ({"epsilon": 0}, ParameterError),
    ({"groups": ["a"]}, ParameterError), ({"neighbours": "both"}, ParameterError),
    ({"neighbours": 7}, ParameterTypeError), ({"ledger": "x.db"}, ParameterError),
])  # fmt: skip
def test_parameters_are_refused_before_anything_runs(
    changed: dict[str, Any], error: type[Exception]
) -> None:
    given: dict[str, Any] = {"k": 2, "epsilon": 1, "person": "who", "item": "what", "domain": [1]}
    estimate_events: Any = top_k_events_with_estimates
    estimate_counts: Any = top_k_with_estimates
    with pytest.raises((error, ParameterError)):
        estimate_events(None, **given | changed)
    if "neighbours" not in changed:
        del given["person"]
        with pytest.raises((error, ParameterError)):
            estimate_counts(None, count="n", **given | changed)


def test_the_calls_have_the_same_arguments() -> None:
    """As `topgap.spark.top_k_events`, but for what only one of the two can have."""

    def names(call: Any) -> set[str]:
        code = call.__wrapped__.__code__ if hasattr(call, "__wrapped__") else call.__code__
        return {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}

    plain = {"threshold", "noise", "gaps"}
    for without, measuring, more in [
        (top_k, top_k_with_estimates, {"items_per_person"}),
        (top_k_events, top_k_events_with_estimates, set()),
    ]:
        assert names(without) - plain - more == names(measuring) - {"selection_share"}
