"""Batches have the law of the whole, and what is broken on purpose is found."""

import io
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.checking.frequencies import misfits, misfits_of
from tests.checking.mutants import Mutant, mutated
from tests.streams.sample_streams import (
    TABLE,
    file_of,
    halves,
    is_right,
    named_twice,
    top_2,
)
from topgap import (
    TopgapError,
    TopK,
    law,
    streams,
)
from topgap.selection import arrow_columns
from topgap.streams import arrow_sources, one_pass_release, rows

LAWS = [
    ([2, 1, 0], TopK(1, 2, resolution=1)),
    ([1, 1, 0, 1], TopK(2, 3, resolution=1, monotonic=True)),
    ([3, 3, 0], TopK(2, 8, resolution="1/2", sensitivity=2)),
]
Outcome = tuple[tuple[int, Fraction], ...]


def running(answers: list[int], parameters: TopK, module: Any = streams) -> Callable[[], Outcome]:
    """Makes a release from batches of one row and of two, whenever it is called."""
    table = pa.table({"what": range(len(answers)), "people": answers})
    parts = pa.Table.from_batches([*table.slice(0, 1).to_batches(), *table.slice(1).to_batches(2)])

    def outcome() -> Outcome:
        made = top_2(
            parts, module, k=parameters.k, epsilon=parameters.epsilon, threads=1,
            resolution=parameters.resolution, sensitivity=parameters.sensitivity,
            monotonic=parameters.monotonic,
        )  # fmt: skip
        return tuple(zip(made.items, made.gaps or (), strict=True))

    return outcome


@pytest.mark.deep
@pytest.mark.parametrize(("answers", "parameters"), LAWS)
@pytest.mark.statistical(false_alarm=1e-10)
def test_batches_have_the_law_of_the_whole(
    answers: list[int], parameters: TopK, false_alarm: float
) -> None:
    # `misfits_of` finds runs of the law unfit at most as often as it is told.
    probability = partial(law.gap_top_k, answers, parameters)
    assert misfits_of(running(answers, parameters), 5_000, probability, false_alarm) == []


# Mutants.

BROKEN_SELECTION = [
    Mutant(
        "half the noise",
        "sensitivity=sensitivity,\n        monotonic=monotonic",
        "sensitivity=sensitivity,\n        monotonic=True",
    ),
    Mutant("too little noise", " sensitivity=sensitivity,\n", " sensitivity=sensitivity / 2,\n"),
    Mutant("too much noise", " sensitivity=sensitivity,\n", " sensitivity=sensitivity * 2,\n"),
    Mutant("another epsilon", "epsilon,\n        res", "epsilon * 2,\n        res"),
    Mutant("another resolution", "resolution=resolution,\n", "resolution=1,\n"),
]
BROKEN_READING = [
    Mutant("a batch twice",
           "pool.add(*read_part(counts, items, self.domain), threads=self._threads)",
           "pool.add(*read_part(counts, items)); pool.add(*read_part(counts, items))"),
    Mutant("only the first part", "for part in self._parts:", "for part in self._parts[:1]:"),
    Mutant("only the first look",
           "reporter.add(part.label, size * len(items) / len(batch))", "break"),
]  # fmt: skip
BROKEN_COLUMNS = [
    Mutant("the last row dropped", "range(0, len(batch), ROWS)", "range(0, len(batch) - 1, ROWS)"),
    Mutant("the first rows again", "_decode(items.slice(start, ROWS))",
           "_decode(items.slice(0, ROWS))"),
    Mutant("other counts", "numbers[counts.offset : counts.offset + len(counts)]",
           "numbers[: len(counts)]"),
    Mutant("rows in between dropped", "range(0, len(batch), ROWS)",
           "range(0, len(batch), 2 * ROWS)"),
]  # fmt: skip
BROKEN_SOURCES = [
    Mutant("the last batch dropped", "map(file.get_batch, range(number))",
           "map(file.get_batch, range(number - 1))"),
    Mutant("the first batch lost", "    batches = iter(batches)\n",
           "    batches = iter(batches); next(batches)\n"),
    Mutant("files named twice", "found.setdefault((status.st_dev, status.st_ino), path)",
           "found.setdefault((len(found), 0), path)"),
]  # fmt: skip


@pytest.mark.parametrize("mutant", BROKEN_SELECTION, ids=lambda mutant: mutant.name)
@pytest.mark.statistical(false_alarm=1e-10)
def test_broken_parameters_are_found(mutant: Mutant, false_alarm: float) -> None:
    # Items 0 and 1 with gaps 0 and 5/2 have the mass 0.0516, with half the noise 0.1332, with twice
    # the noise 0.0163, and none on another grid. `misfits` accepts from 141 to 336 of 4,500 runs,
    # and up to 208 of 2,500: by the binomial tails, one with twice the noise is missed less often
    # than 1e-12, and so is one with half the noise, for which fewer runs will do.
    answers, parameters = LAWS[2]
    cell: Outcome = ((0, Fraction(0)), (1, Fraction(5, 2)))
    probability = partial(law.gap_top_k, answers, parameters)
    run = running(answers, parameters, mutated(one_pass_release, mutant))
    seen = Counter(run() for _ in range(4_500 if mutant.name == "too much noise" else 2_500))
    assert misfits(seen, [cell], probability, false_alarm) != []


def is_found(folder: Path, module: Any = streams) -> bool:
    """Whether any source gives anything but the release."""
    last = pa.concat_tables([TABLE.slice(0, 1), TABLE.slice(2), TABLE.slice(1, 1)])
    first = pa.concat_tables([TABLE.slice(1, 1), TABLE.slice(0, 1), TABLE.slice(2)])
    tables = [pa.Table.from_batches(each.combine_chunks().to_batches(1)) for each in (first, last)]
    given = [
        *tables, *(io.BytesIO(file_of(each)) for each in tables),
        halves(folder), halves(folder)[::-1], named_twice(folder),
        *(each.combine_chunks() for each in (first, last)),
    ]  # fmt: skip
    try:
        return not (
            all(is_right(top_2(each, module)) for each in given)
            and top_2(TABLE, module, gaps=False).gaps is None
        )
    except TopgapError:
        return True


@pytest.mark.parametrize("mutant", BROKEN_READING, ids=lambda mutant: mutant.name)
def test_a_broken_reading_is_found(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_columns, "ROWS", 2)
    assert not is_found(tmp_path)
    monkeypatch.setattr(one_pass_release, "Rows", mutated(rows, mutant).Rows)
    assert is_found(tmp_path)


@pytest.mark.parametrize(
    "mutant",
    [Mutant("gaps always", "release(gaps=gaps)", "release()")],
    ids=lambda mutant: mutant.name,
)
def test_gaps_that_were_not_asked_for_are_found(mutant: Mutant, tmp_path: Path) -> None:
    assert is_found(tmp_path, mutated(one_pass_release, mutant))


@pytest.mark.parametrize("mutant", BROKEN_COLUMNS, ids=lambda mutant: mutant.name)
def test_broken_columns_are_found(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = mutated(arrow_columns, mutant)
    broken.ROWS = 2
    monkeypatch.setattr(arrow_columns, "ColumnPair", broken.ColumnPair)
    assert is_found(tmp_path)


@pytest.mark.parametrize("mutant", BROKEN_SOURCES, ids=lambda mutant: mutant.name)
def test_broken_sources_are_found(
    mutant: Mutant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_sources, "open_source", mutated(arrow_sources, mutant).open_source)
    assert is_found(tmp_path)
