"""Winners of a stream are measured after its last row: each by its own count, with fresh noise."""

import copy
import pickle
import weakref
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise, permutations, product
from math import floor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.checking.frequencies import misfits, misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.kernel import law_cases
from tests.selection.sample_selectors import FAR, ONE
from tests.streams.sample_streams import (
    NEVER,
    TABLE,
    estimates_2,
    halves,
    in_batches,
    parquet,
    stream_of,
)
from topgap import AnswersError, Estimates, Release, SelectorError, TopgapError, TopK, law
from topgap.law import Bounds
from topgap.selection import arrow_columns, candidate_pool
from topgap.selection.candidate_arrow import to_arrow
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.measurement import Shares
from topgap.streams import one_pass_release, rows

HUGE = 10**6
"""With this ε and k ≤ 4, a measurement is off with a chance below 3·e^−12,500: see `misplaced`."""


def table_of(items: Any, counts: Any, rows: int) -> pa.Table:
    """Rows in batches of so many."""
    return pa.Table.from_batches(pa.table({"what": items, "people": counts}).to_batches(rows))


# --- Whose count it is, and just how large: noise of rate ε/2/k/10 per step is none at all


def misplaced(made: Estimates, counts: dict[Any, Any]) -> list[Any]:
    """The winners whose measurement is not their own count, rounded down to tenths."""
    return [
        item
        for item, measured in zip(made.release.items, made.measurements, strict=True)
        if measured != Fraction(floor(10 * Fraction(counts[item])), 10)
    ]


NAMES: dict[str, list[Any]] = {
    "text": ["flu", "cold", "gout", "", "cough", "ague", "yaws"],
    "ints": [7, -1, 0, 2**62, 5, 3, 1],
    "decimals": [Decimal(n) / 100 for n in (700, -1, 0, 250, 5, 3, 1)],
    "dates": [date(2026, 1, day) for day in (7, 1, 3, 2, 5, 6, 4)],
}
COUNTS = [40, 10, 90, 20, 70, 30, 80]


@pytest.mark.parametrize("rows", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.statistical(false_alarm=NEVER)
def test_each_winner_is_measured_by_its_own_count(kind: str, rows: int) -> None:
    counts = dict(zip(NAMES[kind], COUNTS, strict=True))
    made = estimates_2(table_of([*counts], COUNTS, rows), k=4, epsilon=HUGE)
    assert [counts[item] for item in made.release.items] == [90, 80, 70, 40]
    assert misplaced(made, counts) == []


@pytest.mark.parametrize("order", [*permutations([100, 60, 20, 3])], ids=str)
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_winner_may_come_first_or_last_or_in_between(order: tuple[int, ...]) -> None:
    made = estimates_2(table_of([f"has {count}" for count in order], order, 1), epsilon=HUGE)
    assert made.release.items == ("has 100", "has 60")
    assert made.measurements == (Fraction(100), Fraction(60))


SOURCES: dict[str, Callable[[Path], Any]] = {
    "files": halves,
    "row groups": lambda folder: parquet(folder, row_group_size=1),
    "arrow stream": lambda folder: _written(folder / "a", stream_of(in_batches(1))),
    "reader": lambda _: in_batches(2).to_reader(),
    "table": lambda _: TABLE,
}


def _written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.statistical(false_alarm=NEVER)
def test_sources_are_read_part_by_part(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_columns, "ROWS", 2)
    told: list[float | None] = []
    made = estimates_2(
        SOURCES[name](tmp_path), epsilon=HUGE, progress=lambda _, share: told.append(share)
    )
    assert made.release.items == ("flu", "cold")
    assert made.measurements == (Fraction(100), Fraction(60))
    assert told != []


EXACT = [
    pa.array([2**64 - 1, 2**64 - 11, 0], pa.uint64()),
    pa.array([-(2**63) + 20, -(2**63) + 10, -(2**63)], pa.int64()),
    pa.array([100, -20, -128], pa.int8()),
    pa.array([Decimal(10**30), Decimal(10**30 - 10), Decimal(0)]),
    pa.array([Decimal(2**65 + 10), Decimal(2**65), Decimal(2**63 - 1)]),
    pa.array([Decimal("10.75"), Decimal("0.25"), Decimal("-3.59")]),
    pa.array([2.0**60, 2.0**60 - 1024, 0.5]),
    pa.array([1e300, 0.3, -0.05]),
    pa.array([99.9, 0.3, -7.7], pa.float32()),
    pa.array([99.9, 0.3, -7.7], pa.float16()),
]


@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("counts", EXACT, ids=str)
@pytest.mark.statistical(false_alarm=NEVER)
def test_measurements_are_of_the_exact_counts(counts: pa.Array, rows: int) -> None:
    made = estimates_2(table_of(["a", "b", "c"], counts, rows), epsilon=HUGE)
    assert made.release.items == ("a", "b")
    assert misplaced(made, dict(zip("abc", counts.to_pylist(), strict=True))) == []


@pytest.mark.statistical(false_alarm=NEVER)
def test_noise_is_told_as_it_was_drawn() -> None:
    made = estimates_2(TABLE, epsilon="3", selection_share="1/3", sensitivity=2, resolution="1/2")
    assert made.release.parameters == TopK(2, 1, sensitivity=2, resolution="1/2")
    assert made.noise.kind == "discrete laplace"
    assert (made.noise.epsilon, made.epsilon) == (Fraction(1), Fraction(3))
    assert made.noise.scales == (Fraction(2), Fraction(2))
    assert not made.release.parameters.monotonic
    assert estimates_2(TABLE, monotonic=True).release.parameters.monotonic


# --- The law


def laplace(rate: Fraction, noise: Fraction) -> Bounds:
    """Of discrete Laplace noise in steps, by the law on which the kernel's tapes are walked."""
    if noise.denominator != 1:
        return Bounds(Fraction(0), Fraction(0))
    return law_cases.Laplace(rate, grid=30, refinement=0, width=64).law(noise.numerator)


def both(*bounds: Bounds) -> Bounds:
    """The chance of independent events."""
    low = high = Fraction(1)
    for each in bounds:
        low, high = low * each.low, high * each.high
    return Bounds(low, high)


Outcome = tuple[tuple[int, Fraction, Fraction], ...]


def running(
    answers: list[int], whole: TopK, share: str, module: Any = one_pass_release
) -> Callable[[], Outcome]:
    """Gives winners, gaps and the steps by which measurements are off, whenever it is called."""
    table = table_of(range(len(answers)), answers, 1)

    def outcome() -> Outcome:
        made = estimates_2(
            table, module, k=whole.k, epsilon=whole.epsilon, selection_share=share, threads=1,
            resolution=whole.resolution, sensitivity=whole.sensitivity, monotonic=whole.monotonic,
        )  # fmt: skip
        winners = made.release.items
        measured = zip(winners, made.measurements, strict=True)
        off = [(each - answers[item]) / whole.resolution for item, each in measured]
        return tuple(zip(winners, made.release.gaps or (), off, strict=True))

    return outcome


def probability(answers: list[int], shares: Shares, outcome: Outcome) -> Bounds:
    """Selection and measurements are independent, and each measurement is of its own answer."""
    selected = tuple((item, gap) for item, gap, _ in outcome)
    return both(
        law.gap_top_k(answers, shares.selection, selected),
        *(laplace(shares.rate, off) for _, _, off in outcome),
    )


LAWS = [
    ([2, 1, 0], TopK(1, 4, resolution=1), "1/2"),
    ([1, 1, 0, 1], TopK(2, 9, resolution=1, monotonic=True), "1/3"),
    ([3, 3, 0], TopK(2, 12, resolution="1/2", sensitivity=2), "2/3"),
]


@pytest.mark.deep
@pytest.mark.parametrize(("answers", "whole", "share"), LAWS)
@pytest.mark.statistical(false_alarm=1e-9)
def test_winners_gaps_and_measurements_have_the_law(
    answers: list[int], whole: TopK, share: str, false_alarm: float
) -> None:
    # `misfits_of` finds runs of the law unfit at most as often as it is told.
    chance = partial(probability, answers, Shares.of(whole, share))
    assert misfits_of(running(answers, whole, share), 4_000, chance, false_alarm) == []


# Two winners that are sure, of which each is measured with rate 1; and one that is not.
SURE = ([FAR, 0, 2 * FAR], TopK(2, 4, resolution=1), "1/2")
NEAR = [*product(range(-1, 2), repeat=2)]
UNSURE = ([1, 0], TopK(1, 4, resolution=1), "1/2")


def noise_of_two(runs: int, module: Any = one_pass_release) -> Counter[tuple[int, ...]]:
    run = running(*SURE, module=module)
    return Counter(tuple(int(off) for _, _, off in run()) for _ in range(runs))


def chance_of_two(pair: tuple[int, ...]) -> Bounds:
    return both(*(laplace(Fraction(1), Fraction(off)) for off in pair))


@pytest.mark.slow
@pytest.mark.statistical(false_alarm=1e-9)
def test_two_measurements_have_independent_noise_of_the_right_scale(false_alarm: float) -> None:
    # Noise of mean 2 moves a winner past another with probability e^−250,000,000.
    assert Shares.of(*SURE[1:]).rate == 1
    assert misfits(noise_of_two(5_000), NEAR, chance_of_two, false_alarm) == []


# --- Broken on purpose

WHOLE = "TopK(shares.selection.k, shares.epsilon, resolution=1)"
MEASURED = "shares.measure(pool.take_answers([*release.items]))"
BROKEN_NOISE = [
    Mutant("too little noise", MEASURED,
           MEASURED.replace("shares", f"Shares.of({WHOLE}, '1/100')")),
    Mutant("too much noise", MEASURED,
           MEASURED.replace("shares", f"Shares.of({WHOLE}, '99/100')")),
    Mutant("the same noise twice", MEASURED,
           "(lambda noise: tuple(int(a) + noise for a in pool.take_answers([*release.items])))("
           "shares.measure([0, 0])[0])"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_NOISE, ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=1e-9)
def test_broken_noise_is_found(mutant: Mutant, false_alarm: float) -> None:
    # By the law (0, 0) has chance tanh(1/2)² = 0.2136; of 1,000 runs 134 to 301 are accepted. With
    # these mutants it is tanh(0.99)² = 0.574, 0.0001 and tanh(1/2) = 0.462. By Hoeffding's
    # inequality one is missed with a chance below e^−(2·133²/1000) = e^−35.
    seen = noise_of_two(1_000, mutated(one_pass_release, mutant))
    assert misfits(seen, NEAR, chance_of_two, false_alarm) != []


KEPT = "[numbers[place] for place in places]"
REUSED = Mutant(
    "the noise of the selection in the measurement", KEPT,
    "[each * self.parameters.resolution / 2**self.refinement for each in ticks]",
)  # fmt: skip


@pytest.mark.parametrize("mutant", [REUSED], ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=1e-9)
def test_noise_of_the_selection_that_is_used_again_is_found(
    mutant: Mutant, false_alarm: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With exponential noise of mean 2, rounded down, beside Laplace noise, (0, 0) has chance
    # 0.2341² = 0.0548: missed if 134 or more are seen where 55 are expected, below e^−12 by
    # Hoeffding and below 1e-20 by the binomial tail.
    broken = mutated(candidate_pool, mutant).CandidatePool
    monkeypatch.setattr(one_pass_release, "CandidatePool", broken)
    assert misfits(noise_of_two(1_000), NEAR, chance_of_two, false_alarm) != []


@pytest.mark.parametrize("mutant", [
    Mutant("selection with the whole ε", "CandidatePool(shares.selection, ",
           f"CandidatePool({WHOLE}, "),
], ids=lambda mutant: mutant.name)  # fmt: skip
@pytest.mark.statistical(false_alarm=1e-9)
def test_a_selection_with_the_whole_epsilon_is_found(mutant: Mutant, false_alarm: float) -> None:
    # Even by the winners alone: the smaller one wins with chance 0.1839 and, with twice ε, 0.0677.
    # It is missed if 263 or more of 2,000 are seen, where 135 are expected: less often than 1e-20.
    answers, whole, share = UNSURE
    run = running(answers, whole, share, mutated(one_pass_release, mutant))
    seen = Counter(tuple(item for item, _, _ in run()) for _ in range(2_000))
    parameters = Shares.of(whole, share).selection

    def chance(winners: tuple[int, ...]) -> Bounds:
        return law.top_k(answers, parameters, winners)

    cells: list[tuple[int, ...]] = [(0,), (1,)]
    assert misfits(seen, cells, chance, false_alarm) != []


OF_WINNERS = "[answers[item] for item in items]"
CUT = "{item: self._answers[item] for item in kept}"
BROKEN_MEMORY = [
    Mutant("the answers of the first items", OF_WINNERS,
           "[*answers.values()][: len(items)]"),
    Mutant("the answers the other way round", OF_WINNERS, OF_WINNERS + "[::-1]"),
    Mutant("the answer of the first for all", OF_WINNERS,
           "[answers[items[0]] for item in items]"),
    Mutant("the first answers of a part", KEPT, "[*numbers[: len(places)]]"),
    Mutant("the last answers of a part", KEPT, "[numbers[-1 - place] for place in places]"),
    Mutant("answers forgotten by a cut", CUT, "dict.fromkeys(kept)"),
    Mutant("answers mixed up by a cut", CUT,
           "dict(zip(kept, self._answers.values(), strict=False))"),
    Mutant("answers kept after a cut", CUT, "self._answers"),
    Mutant("answers kept after the release", "answers, self._answers = self._answers, {}",
           "answers = self._answers"),
]  # fmt: skip


def released_and_measured(pool: Any, measure: Callable[[list[Any]], Any]) -> tuple[Release, Any]:
    """The release of a pool that keeps answers, and what is measured of the winners'."""
    release: Release = pool.rank().release()
    return release, measure(pool.take_answers([*release.items]))


def is_found(broken: Any) -> bool:
    """Whether winners are measured by any counts but their own, or others stay in memory."""
    parameters = TopK(2, HUGE)
    counts = dict(enumerate([20, 10, 60, 90, 70, 30, 80]))
    shares = Shares.of(TopK(2, 2 * HUGE), "1/2")
    for at_once in (1, 2, 3, 7):
        made = broken.CandidatePool(parameters, keep_answers=True)
        for start in range(0, 7, at_once):
            items = [*counts][start : start + at_once]
            made.add([counts[item] for item in items], items)
            if {*made._answers} != {candidate.item for candidate in made.candidates}:
                return True
        try:
            release, measured = released_and_measured(made, shares.measure)
        except TopgapError:
            return True
        if measured != tuple(counts[item] for item in release.items) or made._answers:
            return True
    return False


@pytest.mark.parametrize("mutant", BROKEN_MEMORY, ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=NEVER)
def test_a_broken_memory_is_found(mutant: Mutant) -> None:
    assert not is_found(candidate_pool)
    assert is_found(mutated(candidate_pool, mutant))


# --- What is remembered, and what is not


class Watched(Fraction):
    """A number of which one sees when it is gone."""


def test_the_answer_of_an_item_that_left_the_pool_is_forgotten() -> None:
    made = CandidatePool(ONE, keep_answers=True)
    answers = [Watched(place * FAR) for place in range(7)]
    seen = [weakref.ref(answer) for answer in answers]
    for place in range(7):
        made.add([answers.pop(0)], [f"item {place}"])
    # A pool of k + 1 = 2 is cut whenever it has come to 4.
    assert [each() is None for each in seen] == [True] * 4 + [False] * 3
    release, measured = released_and_measured(made, lambda answers: [*map(int, answers)])
    assert (release.items, measured) == (("item 6",), [6 * FAR])
    assert [each() for each in seen] == [None] * 7


def test_no_more_is_remembered_than_can_still_win() -> None:
    made = CandidatePool(TopK(5, 1), keep_answers=True)
    largest = 0
    for start in range(0, 50_000, 500):
        places = range(start, start + 500)
        made.add([place * 7919 % 50_021 for place in places], [f"item {p}" for p in places])
        held = {candidate.item for candidate in made.candidates}
        assert made._answers.keys() == held
        assert all(a == int(i[5:]) * 7919 % 50_021 for i, a in made._answers.items())
        largest = max(largest, len(held))
    assert largest < 50


def test_only_who_is_asked_to_keeps_answers() -> None:
    made = CandidatePool(ONE)
    made.add([3, 4], ["ash", "elm"])
    assert {*made._answers.values()} == {None}
    with pytest.raises(TopgapError):
        released_and_measured(made, Shares.of(TopK(1, 2), "1/2").measure)


def test_answers_that_are_kept_go_with_the_pool_alone() -> None:
    made, plain = CandidatePool(ONE, keep_answers=True), CandidatePool(ONE)
    for pool in (made, plain):
        pool.add([Watched(FAR), 0], ["ash", "elm"])
    assert plain.as_part().answers is None
    assert to_arrow(plain).column_names == ["item", "value"]
    assert to_arrow(made)["answer"].to_pylist() == [10 * FAR, 0]
    assert made.tag != plain.tag
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(SelectorError, match=r"cannot be sent|cannot be copied"):
            take(made)


def test_winners_are_measured_once() -> None:
    made = CandidatePool(ONE, keep_answers=True)
    made.add([FAR], ["ash"])
    with pytest.raises(AnswersError, match="at least 2 answers"):
        made.rank()
    made.add([0], ["elm"])
    assert released_and_measured(made, list)[1] == [FAR]
    with pytest.raises(AnswersError, match="are empty"):
        made.rank()
    with pytest.raises(KeyError):
        made.take_answers(["ash"])


def test_answers_of_positions_are_kept_too() -> None:
    made = CandidatePool(TopK(2, 1), keep_answers=True)
    made.add([0, FAR], None)
    made.add([3 * FAR, 1, 2], None)
    release, measured = released_and_measured(made, list)
    assert (release.items, measured) == ((2, 1), [3 * FAR, FAR])


# --- Nothing is drawn before the last row


def recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is drawn for the release from now on."""
    drawn: list[str] = []
    monkeypatch.setattr(CandidatePool, "rank", lambda *_: drawn.append("winners"))
    monkeypatch.setattr(Shares, "measure", lambda *_: drawn.append("measurements"))
    return drawn


def test_who_watches_may_stop_it_until_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "_REPORT_INTERVAL", 0)
    drawn = recorded(monkeypatch)
    shares: list[float] = []

    def stop(_: str, share: float | None) -> None:
        shares.append(share or 0)
        if len(shares) == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        estimates_2(in_batches(1), progress=stop)
    assert shares == [0.25, 0.5, 0.75, 1, 1]
    assert drawn == []


def test_an_error_in_the_last_row_releases_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = recorded(monkeypatch)
    with pytest.raises(AnswersError, match="finite"):
        estimates_2(table_of(["a", "b", "c", "d"], [7.0, 8.0, 9.0, float("nan")], 1))
    assert drawn == []


@pytest.mark.statistical(false_alarm=NEVER)
def test_the_estimates_are_made_of_what_was_released() -> None:
    made = estimates_2(TABLE, epsilon=HUGE)
    assert [*made] == [("flu", pytest.approx(100, abs=0.2)), ("cold", pytest.approx(60, abs=0.2))]
    assert Estimates.from_json(made.to_json()).measurements == made.measurements
    assert all(one > other for one, other in pairwise(made.estimates))
