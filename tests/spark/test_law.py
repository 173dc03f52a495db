"""Partitions have the law of one process: what executors and driver run, without a cluster."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import pyarrow as pa
import pytest

from tests.checking.frequencies import misfits
from tests.checking.mutants import Mutant, mutated
from topgap import TopK, law
from topgap._core import Streams
from topgap.selection import arrow_partition
from topgap.spark import pools

Parts = tuple[tuple[int, ...], ...]
Outcome = tuple[tuple[int, Fraction], ...]

CASES: list[tuple[Parts, TopK, int]] = [
    (((2,), (1,)), TopK(1, 2, resolution=1), 8),
    (((1, 0), (), (1,)), TopK(1, 1, monotonic=True, resolution=1), 8),
    (((0, 0, 0), (0,)), TopK(2, 8, resolution=1), 3),
    (((3, 0, 1, 0), (2,), (1,)), TopK(2, 4, resolution="1/2"), 3),
    (((2, 0), (1,)), TopK(2, 6, resolution=1, threshold=1), 4),
]
RUNS = 3000


def batches(items: Sequence[int], answers: Sequence[int]) -> Iterator[pa.RecordBatch]:
    """Two rows at a time, as Spark hands them over."""
    for start in range(0, len(items), 2):
        rows = items[start : start + 2], answers[start : start + 2]
        yield pa.RecordBatch.from_arrays([*map(pa.array, rows)], ["item", "value"])


def released(module: Any, parts: Parts, parameters: TopK) -> Outcome:
    """One release, in which each partition is run as an executor runs it."""
    streams, held, first = Streams(), [], 0
    for partition, answers in enumerate(parts):
        items = range(first, first + len(answers))
        held += module.find_candidates(batches(items, answers), partition, parameters, streams)
        first += len(answers)
    release = pools.release_pools(pa.Table.from_batches(held), parameters, gaps=True)
    return tuple(zip(release.items, release.gaps or (), strict=True))


def found_unfit(module: Any, runs: int, cases: Any, false_alarm: float) -> Iterator[str]:
    for parts, parameters, gaps in cases:
        answers = [answer for part in parts for answer in part]
        steps = [gap * parameters.resolution for gap in range(gaps)]
        outcomes: list[Outcome] = [
            tuple(zip(winners, leads, strict=True))
            for j in range(parameters.fewest_winners, parameters.k + 1)
            for winners in permutations(range(len(answers)), j)
            for leads in product(steps, repeat=j)
        ]
        seen = Counter(released(module, parts, parameters) for _ in range(runs))
        lawful = partial(law.gap_top_k, answers, parameters)
        yield from misfits(seen, outcomes, lawful, false_alarm)


@pytest.mark.deep
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}, k = {case[1].k}")
@pytest.mark.statistical(false_alarm=1e-10)
def test_partitions_have_the_law_of_the_whole(
    case: tuple[Parts, TopK, int], false_alarm: float
) -> None:
    """One look at the frequencies, whose tails are exact."""
    assert [*found_unfit(arrow_partition, RUNS, [case], false_alarm)] == []


POOL = "candidates = CandidatePool(\n        parameters,"
SCALED = (  # under the tag of the right parameters, or it would be refused
    "tagged = type('Tagged', (CandidatePool,), {{'tag': CandidatePool(parameters).tag}})\n"
    "    epsilon = {} * parameters.epsilon\n"
    "    parameters = TopK(parameters.k, epsilon, resolution=parameters.resolution)\n"
    "    " + POOL.replace("CandidatePool", "tagged")
)
# With the number of the case in which each is found.
MUTANTS = [
    (0, Mutant("noise reused between partitions", "open(partition)", "open(0)")),
    (0, Mutant("two partitions share a stream", "open(partition)", "open(partition // 2)")),
    (0, Mutant("half of the noise", POOL, SCALED.format("2"))),
    (0, Mutant("twice the noise", POOL, SCALED.format("Fraction(1, 2)"))),
    (2, Mutant("the first batch alone", "candidates.add(*read_part(rows[VALUE], names))",
               "candidates.add(*read_part(rows[VALUE], names))\n            break")),
    (4, Mutant("a threshold that partitions raise by a step", POOL,
               "tagged = type('Tagged', (CandidatePool,), {'tag': CandidatePool(parameters).tag})\n"
               "    parameters = TopK(2, 6, resolution=1, threshold=2)\n"
               "    " + POOL.replace("CandidatePool", "tagged"))),
]  # fmt: skip


@pytest.mark.parametrize(("case", "mutant"), MUTANTS, ids=[each.name for _, each in MUTANTS])
@pytest.mark.statistical(false_alarm=1e-10)
def test_a_broken_partition_is_found(case: int, mutant: Mutant, false_alarm: float) -> None:
    """In the first case item 0 leads by 0 in a share of 0.316 of the runs.

    Half and twice the noise make that 0.432 and 0.197: of 3,000 runs, 6 standard deviations beyond
    the cut, so one is missed less than once in 10^8 times. The others make a common outcome
    impossible.
    """
    broken = mutated(arrow_partition, mutant)
    broken.Fraction = Fraction
    assert next(found_unfit(broken, RUNS, [CASES[case]], false_alarm), None) is not None


@pytest.mark.statistical(false_alarm=1e-20)
def test_each_attempt_at_a_partition_has_the_same_noise_and_each_partition_its_own() -> None:
    """64 equal answers, of which 21 remain: two noises give the same with chance 64^−20 or so."""
    parameters, streams, others = TopK(20, 1), Streams(), Streams()
    items = range(64)

    def attempt(partition: int, streams: Streams) -> Any:
        [rows] = arrow_partition.find_candidates(
            batches(items, [0] * 64), partition, parameters, streams
        )
        return rows

    assert attempt(3, streams).equals(attempt(3, streams))
    different = [attempt(3, streams), attempt(4, streams), attempt(3, others)]
    assert len({str(rows.to_pydict()) for rows in different}) == 3
