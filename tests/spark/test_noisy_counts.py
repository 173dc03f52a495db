"""Laplace noise and thresholds on Spark: partitions have the law of one process, and few rows go.

The law is held by what executors and driver run, without a cluster; a cluster shows the rest.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache, partial
from itertools import combinations, product
from math import prod
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import Domain, Release, TopK, law
from topgap._core import Streams
from topgap.counting import count_events
from topgap.errors import ParameterError, ParameterTypeError
from topgap.ledger import Ledger
from topgap.selection import arrow_partition
from topgap.spark import pools, top_k, top_k_events

on_cluster = pytest.mark.linux(reason="starts a cluster")

# --- The law, without a cluster

Parts = tuple[dict[int, int], ...]
Outcome = tuple[int, int] | None  # the winner and its noisy answer, or nobody

FIVE = Domain.range(0, 5)
ONE: dict[str, Any] = {"items_per_person": 1, "monotonic": True, "noise": "laplace"}
CASES: list[tuple[Parts, TopK, Domain | None]] = [
    (({0: 2}, {1: 1}), TopK(1, 1, **ONE), None),
    (({0: 1, 1: 0, 2: 1}, {}, {3: 0}), TopK(1, 2, **ONE), None),
    (({0: 1, 1: 0, 2: 1}, {3: 2}), TopK(1, 1, threshold=2, **ONE), None),
    (({0: 1, 9: 7}, {3: 2}), TopK(1, 1, **ONE), FIVE),
    (({0: 1}, {4: 0}), TopK(1, "1/2", threshold=3, **ONE), FIVE),
]
RUNS = 4000


def batches(part: dict[int, int]) -> Iterator[pa.RecordBatch]:
    """Two rows at a time, as Spark hands them over."""
    items, answers = [*part], [*part.values()]
    for start in range(0, len(items), 2):
        rows = items[start : start + 2], answers[start : start + 2]
        yield pa.RecordBatch.from_arrays([*map(pa.array, rows)], ["item", "value"])


def held_by(module: Any, parts: Parts, parameters: TopK, domain: Domain | None) -> pa.Table:
    """What the driver collects of these partitions."""
    streams = Streams()
    found = [
        row
        for partition, part in enumerate(parts)
        for row in module.find_candidates(batches(part), partition, parameters, streams, domain)
    ]
    return pa.Table.from_batches(found)


def released(module: Any, parts: Parts, parameters: TopK, domain: Domain | None) -> Release:
    """One release, in which each partition is run as an executor runs it."""
    held = held_by(module, parts, parameters, domain)
    if domain is None:
        return pools.release_pools(held, parameters, gaps=True)
    occurring = {item for part in parts for item in part}
    return pools.release_members(held, parameters, domain, occurring.intersection, gaps=True)


@cache
def noise(rate: Fraction, x: int) -> tuple[Fraction, Fraction]:
    """The probabilities that noise is x, and less, to 100 bits."""
    t = law.exp_minus(rate, 128).low
    tail = t ** abs(x) / (1 + t)
    return (1 - t) * tail, tail * t if x <= 0 else 1 - tail


def probability(answers: dict[int, int], parameters: TopK, outcome: Outcome) -> law.Bounds:
    """That this one of the noisy answers is the largest, or that none reaches the threshold."""
    rate, threshold = parameters.rate, parameters.threshold_units
    if outcome is None:
        assert threshold is not None
        found = prod(noise(rate, threshold - each)[1] for each in answers.values())
    else:
        winner, value = outcome
        others = [each for item, each in answers.items() if item != winner]
        own, _ = noise(rate, value - answers[winner])
        found = Fraction(0)
        for count in range(len(others) + 1):
            for tied in combinations(range(len(others)), count):
                chances = (
                    noise(rate, value - each)[0 if place in tied else 1]
                    for place, each in enumerate(others)
                )
                found += own * prod(chances) / (count + 1)
    off = Fraction(1, 2**90)
    return law.Bounds(Fraction(found) * (1 - off), Fraction(found) * (1 + off))


def found_unfit(module: Any, case: tuple[Parts, TopK, Domain | None], alarm: float) -> list[str]:
    parts, parameters, domain = case
    answers = {item: answer for part in parts for item, answer in part.items()}
    if domain is not None:
        answers = {item: answers.get(item, 0) for item in domain}
    least = -3 if parameters.threshold is None else int(parameters.threshold)
    outcomes: list[Outcome] = [*product(answers, range(least, 7))]
    if parameters.threshold is not None:
        outcomes.append(None)

    def outcome() -> Outcome:
        release = released(module, *case)
        values = release.value_units
        assert values is not None
        return (release.items[0], int(values[0])) if len(release) else None

    seen = Counter(outcome() for _ in range(RUNS))
    return misfits(seen, outcomes, partial(probability, answers, parameters), alarm)


@pytest.mark.deep
@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.statistical(false_alarm=1e-10)
def test_partitions_have_the_law_of_the_whole(case: Any, false_alarm: float) -> None:
    assert found_unfit(arrow_partition, case, false_alarm) == []


MUTANTS = [
    (0, Mutant("two partitions share a stream", "open(partition)", "open(partition // 2)")),
    (0, Mutant("half of the noise", "candidates = CandidatePool(\n        parameters,",
               "tag = CandidatePool(parameters).tag\n"
               "    parameters = type(parameters)(1, 2, items_per_person=1, monotonic=True,\n"
               "                                  noise='laplace')\n"
               "    tagged = type('Tagged', (CandidatePool,), {'tag': tag})\n"
               "    candidates = tagged(\n        parameters,")),
]  # fmt: skip


@pytest.mark.parametrize(("case", "mutant"), MUTANTS, ids=[each.name for _, each in MUTANTS])
@pytest.mark.statistical(false_alarm=1e-10)
def test_a_broken_partition_is_found(case: int, mutant: Mutant, false_alarm: float) -> None:
    """Half of the noise names item 0 with its own answer in 0.71 of the runs, and not in 0.38.

    That is 40 standard deviations. With a shared stream both have one noise, and item 1 never wins.
    """
    assert found_unfit(mutated(arrow_partition, mutant), CASES[case], false_alarm) != []


@pytest.mark.parametrize("domain", [None, Domain.range(0, 2**200)], ids=["rows", "domain"])
@pytest.mark.statistical(false_alarm=1e-20)
def test_each_attempt_at_a_partition_has_the_same_noise(domain: Domain | None) -> None:
    """64 equal answers, of which 21 remain: two noises give the same with chance 64^−20 or so."""
    parameters = TopK(20, 1, threshold=-100, **ONE)

    def attempt(streams: Streams) -> Any:
        part = dict.fromkeys(range(64), 0)
        [rows] = arrow_partition.find_candidates(batches(part), 3, parameters, streams, domain)
        return rows.to_pydict()

    streams = Streams()
    first = attempt(streams)
    assert attempt(streams) == first
    assert attempt(Streams()) != first


@pytest.mark.parametrize("domain", [None, FIVE], ids=["rows", "domain"])
@pytest.mark.statistical(false_alarm=1e-20)
def test_a_partition_hands_over_what_reaches_the_threshold_alone(domain: Domain | None) -> None:
    """Noise of scale 1/100 is 1 with a probability of e^-100 or so."""
    parameters = TopK(None, 100, threshold=5, **ONE)
    parts: Parts = ({0: 9, 1: 4}, {2: 0}, {3: 5}, {})
    held = held_by(arrow_partition, parts, parameters, domain)
    assert [item for item in held["item"].to_pylist() if item is not None] == (
        [0, 3] if domain is None else ["0", "3"]
    )
    assert released(arrow_partition, parts, parameters, domain).items == (0, 3)
    nobody = TopK(None, 100, threshold=50, **ONE)
    empty = released(arrow_partition, parts, nobody, domain)
    assert (empty.items, empty.values, empty.gaps) == ((), (), ())


# --- On a cluster

PEOPLE = {"flu": 900, "cold": 500, "gout": 40, "cough": 700}
FEW: dict[str, Any] = {"monotonic": True, "items_per_person": 1}
ONE_EACH: dict[str, Any] = {"items_per_person": 1}


@on_cluster
@pytest.mark.statistical(false_alarm=1e-20)
def test_counts_come_with_their_noise(spark: SparkSession, ledger: Ledger) -> None:
    """Noise of scale 1 is 100 or more with a probability of e^-100 or so."""
    counts = spark.createDataFrame([*PEOPLE.items()], "what string, people int").repartition(3)
    given: dict[str, Any] = {"epsilon": 1, "item": "what", "count": "people", **FEW}
    release = top_k(counts, 2, **given)
    assert release.parameters == TopK(2, 1, **FEW)
    assert is_near(release, ["flu", "cough"])
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    assert is_near(top_k(counts, None, threshold=200, **given, **paid), ["flu", "cough", "cold"])
    words = Domain.strings("a-z", max_length=12)
    for threshold, named in ((200, ["flu", "cough", "cold"]), (5_000, [])):
        release = top_k(counts, None, threshold=threshold, domain=words, **given, **paid)
        assert is_near(release, named)
        assert release.domain is not None
    assert ledger.budget("visits").spent == 3
    assert len(top_k(counts, 3, threshold=5_000, **given)) == 0
    assert top_k(counts, 2, noise="exponential", **given).values is None


@on_cluster
@pytest.mark.statistical(false_alarm=1e-20)
def test_events_are_bounded_and_cut(spark: SparkSession, ledger: Ledger) -> None:
    """Each person has one or two of the items, of which one is kept."""
    had = {"flu": range(900), "cold": range(600, 1_300), "gout": range(1_300, 1_340)}
    rows = [(f"p{n}", what) for what, persons in had.items() for n in persons]
    events = spark.createDataFrame(rows * 2, "who string, what string").repartition(3)
    given: dict[str, Any] = {"epsilon": 1, "person": "who", "item": "what", **ONE_EACH}
    frame = pd.DataFrame(rows, columns=["who", "what"])
    kept = count_events(frame, person="who", item="what", domain=[*had], items_per_person=1)
    assert sum(kept.values()) == 1_340
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    listed = spark.createDataFrame([(each,) for each in [*had, "mumps"]], "item string")
    for domain in ([*had, "mumps"], listed, Domain.strings("a-z", max_length=12)):
        release = top_k_events(events, None, threshold=200, domain=domain, **given, **paid)
        assert is_near(release, ["flu", "cold"], kept)
    assert ledger.budget("visits").spent == 3
    named = top_k_events(events, 3, domain=[*had, "mumps"], **given)
    assert is_near(named, ["flu", "cold", "gout"], kept)
    none = top_k_events(events, 3, threshold=5_000, domain=[*had, "mumps"], **given)
    assert len(none) == 0
    assert none.domain is not None
    pairs = top_k_events(
        events, None, threshold=100, domain=Domain.strings("a-z", max_length=9), together=2, **given
    )
    assert is_near(pairs, [("cold", "flu")], {("cold", "flu"): 300})


@on_cluster
@pytest.mark.statistical(false_alarm=1e-20)
def test_a_sentinel_ends_the_list(spark: SparkSession, ledger: Ledger) -> None:
    """Exponential noise of mean 4 is 150 or more with a probability of e^-37 for each of a few.

    Of the 10^17 words that nobody has, one comes near 1,000 with a probability of e^-210.
    """
    counts = spark.createDataFrame([*PEOPLE.items()], "what string, people int").repartition(3)
    had = {"flu": range(900), "cold": range(600, 1_100), "gout": range(40)}
    rows = [(f"p{n}", what) for what, persons in had.items() for n in persons]
    events = spark.createDataFrame(rows * 2, "who string, what string").repartition(3)
    paid: dict[str, Any] = {"ledger": ledger, "dataset": "visits"}
    given: dict[str, Any] = {"epsilon": 1, "item": "what", **paid}
    words = Domain.strings("a-z", max_length=12)
    for domain in (None, words):
        for threshold, named in ((300, ["flu", "cough", "cold"]), (5_000, [])):
            release = top_k(
                counts, 4, threshold=threshold, count="people", domain=domain, monotonic=True,
                **given,
            )  # fmt: skip
            assert [*release.items] == named
            assert release.spent == Fraction(len(named) + 1, 4)
            if named:
                assert release.gaps is not None
                expected = zip(release.gaps, (200, 200, 200), strict=True)
                assert all(abs(gap - about) < 150 for gap, about in expected)
    for members in ([*had, "mumps"], words):
        release = top_k_events(events, 4, person="who", domain=members, threshold=250, **given)
        assert [*release.items] == ["flu", "cold"]
        assert release.spent == Fraction(3, 4)
        assert release.domain is not None


def is_near(
    release: Release, named: Sequence[Any], counts: Mapping[Any, int] | None = None
) -> bool:
    """Whether these are the winners, whose noisy counts are near to their counts."""
    values, counts = release.values or (), PEOPLE if counts is None else counts
    near = all(abs(a - counts[b]) < 100 for a, b in zip(values, named, strict=True))
    return near and [*release.items] == [*named]


REFUSALS: list[dict[str, Any]] = [
    {"k": None},
    {"k": None, "threshold": 5},
    {"k": None, "threshold": 5, "items_per_person": 2, "noise": "exponential"},
    {"k": 2, "items_per_person": 0},
    {"k": 2, "noise": "laplace"},
    {"k": 2, "noise": 7},
]


@pytest.mark.parametrize("wrong", REFUSALS, ids=str)
@pytest.mark.parametrize("of_events", [False, True])
def test_parameters_are_refused_before_anything_runs(
    wrong: dict[str, Any], *, of_events: bool
) -> None:
    """Even before it is seen whether that is a data frame."""
    call: Any = top_k_events if of_events else top_k
    columns = {"person": "who", "domain": ["flu"]} if of_events else {"count": "people"}
    with pytest.raises((ParameterError, ParameterTypeError)):
        call(None, epsilon=1, item="what", **columns, **wrong)
