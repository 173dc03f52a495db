"""Baskets: FIMI files, their lines, and their line ends."""

import csv
import gzip
import io
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.checking.mutants import Mutant
from tests.checking.public_files import public_file
from tests.counting.broken_modules import break_module
from topgap import counting
from topgap.counting import FROM_DATA, events, tally
from topgap.errors import SourceError

BASKETS = b"1 2 2\t3 \n\n 2  2\n3 cafe\xcc\x81 caf\xc3\xa9\n4"


COUNTED = {"1": 1, "2": 2, "3": 2, "4": 1, "café": 1, "5": 0}


def baskets(content: bytes) -> dict[Any, int]:
    return events.count_transactions(io.BytesIO(content), domain=[*COUNTED])


def test_a_basket_counts_each_of_its_items_once() -> None:
    assert baskets(BASKETS) == COUNTED
    taken = counting.count_transactions(io.BytesIO(BASKETS), domain=FROM_DATA)
    assert taken == {item: count for item, count in COUNTED.items() if count}


MUTANTS = [
    Mutant("repeats count", "unnest(list_distinct({items}))", "unnest({items})"),
    Mutant("tabs do not separate", "translate(line, chr(9), ' ')", "line"),
    Mutant("two spellings are two", "list_transform({_CELLS},", "list_transform([],"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_broken_counting_of_baskets_is_found(
    mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_module(monkeypatch, tally, mutant)
    assert baskets(BASKETS) != COUNTED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["t40i10d100k", "retail"])
def test_the_public_baskets_are_counted_as_published(name: str) -> None:
    path, counts = public_file(f"{name}.dat.gz"), public_file(f"{name}.counts.csv")
    with counts.open() as file:
        published = {item: int(count) for item, count in csv.reader(file)}
    assert counting.count_transactions(path, domain=FROM_DATA) == published
    ready = counting.read_counts(counts, item="1", count="2", header=False, domain=FROM_DATA)
    assert ready == published


@pytest.mark.slow
@pytest.mark.parametrize("after", [b"", b"\n", b"\n1 2\n"])
@pytest.mark.parametrize("before", [b"", b"1 2\n", b"1 2\n" * 3_000_000])
@pytest.mark.parametrize("size", [2_100_000, 5_000_000, 9_000_000, 40_000_000])
def test_no_long_line_is_lost(before: bytes, size: int, after: bytes, tmp_path: Path) -> None:
    # DuckDB alone loses such a line where it is the last and larger than its buffer.
    path = tmp_path / "b.dat"
    path.write_bytes(before + b"7" * size + after)
    with pytest.raises(SourceError, match="longer than"):
        counting.count_transactions(path, domain=["1", "2"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["b.dat", "b.dat.gz"])
def test_a_line_as_long_as_allowed_is_counted(name: str, tmp_path: Path) -> None:
    line = b"1 " * 900_000
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wb") as file:
        file.write((line + b"\n") * 6 + b"2")
    counted = counting.count_transactions(tmp_path / name, domain=["1", "2"])
    assert counted == {"1": 6, "2": 1}
    with (gzip.open if name.endswith("gz") else open)(tmp_path / name, "wb") as file:
        file.write(line * 20)
    with pytest.raises(SourceError, match="longer than"):
        counting.count_transactions(tmp_path / name, domain=["1", "2"])


@pytest.mark.slow
def test_without_the_look_at_the_lines_one_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "b.dat"
    path.write_bytes(b"1 2\n" + b"7" * 40_000_000)
    with duckdb.connect() as database:
        rows = database.execute(
            f"SELECT count(*) FROM {counting.text_files.build_lines_sql([str(path)])}"
        ).fetchall()
    assert rows == [(1,)], "DuckDB has learnt it: refuse_long_lines may go"


ENDS = [b"\n", b"\r\n", b"\r"]


@pytest.mark.parametrize("end", ENDS)
def test_each_kind_of_line_end_is_read(end: bytes) -> None:
    assert baskets(end.join([b"1 2", b"2", b"", b"3"])) == {
        "1": 1, "2": 2, "3": 1, "4": 0, "café": 0, "5": 0,
    }  # fmt: skip


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", ENDS)
def test_line_ends_that_differ_change_no_line(first: bytes, second: bytes) -> None:
    # DuckDB can lose a byte where they do: such a file is read right, or refused.
    content = b"4" + first + (b"12" + second) * 100
    with ExitStack() as stack:
        if first != second:
            stack.enter_context(suppress(SourceError))
        counted = counting.count_transactions(io.BytesIO(content), domain=range(50))
        assert {item: n for item, n in counted.items() if n} == {4: 1, 12: 100}
