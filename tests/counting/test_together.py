"""Pairs, triples and tuples of several columns, held against counting in plain Python."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import Events, tidy
from tests.counting.test_counting import AWKWARD, cell, some_events
from tests.counting.test_occurring import LISTED, RULE, count, table
from topgap import counting
from topgap.counting import FROM_DATA, Domain, occurring, together

pytestmark = pytest.mark.slow

SIZES = [2, 3]


def plain_sets(shown: Events, members: Sequence[str], size: int) -> dict[tuple[str, ...], int]:
    """For each set of items, in the order of the members, the number of persons who had them."""
    had: dict[str, set[str]] = {}
    for who, what in ((tidy(who), tidy(what)) for who, what in shown):
        if who is not None and what in members:
            had.setdefault(who, set()).add(str(what))
    sets: Counter[tuple[str, ...]] = Counter()
    for items in had.values():
        sets.update(combinations(sorted(items, key=members.index), size))
    return dict(sets)


MANY: Events = [
    *AWKWARD, ("Ann", "café"), ("Ann", "7"), ("Eve", "«»"), ("Eve", "x"), ("Eve", "flu"),
    ("Eve\t", "café"), ("Bob", "7"), (None, "x"), ("Bob", "no member"),
]  # fmt: skip


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("domain", [RULE, LISTED, Domain(LISTED)], ids=["rule", "list", "Domain"])
def test_sets_are_counted_by_who_has_all_of_them(domain: Any, size: int) -> None:
    expected = plain_sets(MANY, LISTED, size)
    assert len(expected) > 3
    counts = count(table(MANY), domain, together=size)
    assert counts == expected
    assert counts.domain == Domain.subsets(domain, size=size)
    assert count(table(MANY), Domain.subsets(domain, size=size)) == expected


@pytest.mark.parametrize("rows", [2, occurring.ROWS])
@given(drawn=some_events)
@settings(max_examples=25)
def test_sets_of_any_events_are_counted(rows: int, drawn: Events) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occurring, "ROWS", rows)
        assert count(table(drawn), RULE, together=2) == plain_sets(drawn, LISTED, 2)


MUTANTS = [
    (together, Mutant("each event counts", "SELECT DISTINCT person", "SELECT person")),
    (together, Mutant("pairs are counted both ways", ".place > h", ".place <> h")),
    (together, Mutant("pairs of anybody", "ON h{n}.person = h0.person AND", "ON")),
    (occurring, Mutant("places start anew", "place + {count}", "place")),
    (
        together,
        Mutant("sets are asked for backwards", 'f"list_sort([', 'f"list_reverse_sort(['),
    ),
]


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_broken_counting_of_sets_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(occurring, "ROWS", 2)
    break_module(monkeypatch, module, mutant)
    assert not sets_are_right()


def test_sound_counting_of_sets_is_not_found_broken() -> None:
    assert sets_are_right()


def sets_are_right() -> bool:
    """Whether all triples are counted, and those that occur are found among all."""
    expected, domain = plain_sets(MANY, LISTED, 3), Domain.subsets(RULE, size=3)
    asked: Any = {"person": "who", "item": "what", "domain": domain}
    try:
        with counting.counted_items(table(MANY), **asked) as found:
            same = found.to_counts() == expected and found.count == len(expected)
            return same and found.find(domain) == {*expected}
    except Exception:
        return False


BASKETS = b"1 2 2\t3 \n\n 2  2\n3 cafe\xcc\x81 caf\xc3\xa9 3\n4 3 1"


def test_baskets_are_counted_by_lines() -> None:
    numbers = counting.count_transactions(
        io.BytesIO(BASKETS), domain=Domain.range(0, 100), together=2
    )
    assert numbers == {(1, 2): 1, (1, 3): 2, (2, 3): 1, (1, 4): 1, (3, 4): 1}
    texts = counting.count_transactions(io.BytesIO(BASKETS), domain=["café", "3", "9"], together=2)
    assert texts == {("café", "3"): 1}
    triples = counting.count_transactions(io.BytesIO(BASKETS), domain=range(9), together=3)
    assert triples == {(1, 2, 3): 1, (1, 3, 4): 1}


def test_who_is_told_by_a_number_is_one_person(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    with path.open("w", newline="") as file:
        rows = [(1, "a"), (1.0, "b"), ("1", "b"), (2, "a"), (2, "c"), (2, "b")]
        csv.writer(file).writerows([("who", "what"), *rows])
    letters = Domain.strings("a-z", max_length=1)
    assert count(path, letters, together=2) == {("a", "b"): 2, ("a", "c"): 1, ("b", "c"): 1}
    persons = pa.table({"who": [1.0, 1.0, float("nan"), float("nan")], "what": ["a", "b"] * 2})
    assert count(persons, letters, together=2) == {("a", "b"): 1}


# ------------------------------------------------------------------ several columns

BOTH = Domain.product(LISTED, RULE)
columns = st.lists(st.tuples(cell, cell, cell), max_size=25)


def plain_tuples(rows: Sequence[tuple[Any, ...]]) -> dict[tuple[str, ...], int]:
    had = {tuple(map(tidy, row)) for row in rows}
    tuples = (items for who, *items in had if who is not None and {*items} <= {*LISTED})
    return dict(Counter(map(tuple, tuples)))  # type: ignore[arg-type]


def of_columns(rows: Sequence[tuple[Any, ...]]) -> Any:
    names = ("who", "where", "what")
    return pa.table({
        name: pa.array([row[n] for row in rows], pa.string()) for n, name in enumerate(names)
    })  # fmt: skip


ROWS: list[tuple[Any, ...]] = [
    ("Ann", "x", "flu"), ("Ann", " x", "flu "), ("Bob", "x", "cafe\u0301"), ("Bob", "x", "café"),
    ("Cy", None, "flu"), ("Cy", "x", None), (None, "x", "flu"), ("Dee", "7", "x"),
    ("Dee", "x", "7"), ("Dee", "elsewhere", "7"), ("Dee", "flu", "flu"), ("Eve", "flu", "flu"),
]  # fmt: skip


@given(drawn=columns)
@settings(max_examples=30)
def test_several_columns_are_tuples(drawn: list[tuple[Any, ...]]) -> None:
    for rows in (drawn, ROWS):
        counts = count(of_columns(rows), BOTH, item=["where", "what"])
        assert counts == plain_tuples(rows)


def test_tuples_are_looked_up_and_may_go_together() -> None:
    asked: Any = {"person": "who", "item": ["where", "what"]}
    expected = plain_tuples(ROWS)
    with counting.counted_items(of_columns(ROWS), domain=BOTH, **asked) as found:
        assert found.count == len(expected) > 3
        assert found.find(BOTH) == {*expected}
    pairs = Domain.subsets(BOTH, size=2)
    with counting.counted_items(of_columns(ROWS), domain=pairs, **asked) as found:
        dees = combinations(sorted([("7", "x"), ("x", "7"), ("flu", "flu")], key=BOTH.rank), 2)
        had_by_dee = dict.fromkeys(dees, 1)
        assert found.to_counts() == had_by_dee
        assert found.find([*had_by_dee, (("x", "x"), ("flu", "flu"))]) == {*had_by_dee}


def test_columns_of_numbers_keep_their_spelling() -> None:
    rows = pa.table({
        "who": ["Ann", "Bob", "Bob"], "year": pa.array([2024, 2024, 2025], pa.int16()),
        "page": ["a", "a", "b"], "n": [1, 2, 3],
    })  # fmt: skip
    domain = Domain.product(Domain.range(2000, 2100), Domain.strings("a-z", max_length=9))
    counts = counting.count_events(rows, person="who", item=["year", "page"], domain=domain)
    assert counts == {(2024, "a"): 2, (2025, "b"): 1}
    taken = counting.count_events(rows, person="who", item=["year", "page"], domain=FROM_DATA)
    assert taken == counts
    assert taken.domain_from_data
    ready = rows.slice(1)
    read = counting.read_counts(ready, item=["year", "page"], count="n", domain=domain)
    assert read == {(2024, "a"): 2, (2025, "b"): 3}
