"""Columns of candidates that are read as a whole say what Python says of each row."""

from decimal import Decimal
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checking.mutants import Mutant, mutated
from topgap.errors import SelectorError
from topgap.selection import candidate_columns
from topgap.selection.candidate_columns import (
    combine,
    find_largest,
    has_repeated,
    read_ticks,
    take,
    write_numbers,
)
from topgap.selection.candidate_pool import Candidate, cut

TAG = 0xFEDCBA98
ENDS = [
    s * (2**b + d) for b in (0, 31, 32, 62, 63, 64, 90, 200) for d in (-1, 0, 1) for s in (1, -1)
]


def tagged(ticks: list[int]) -> list[int]:
    return [each << 32 | TAG for each in ticks]


def columns(numbers: list[int]) -> list[Any]:
    """The same numbers as they may come: as numbers or text, in chunks, cut from more."""
    written = write_numbers(numbers)
    text = pa.array([*map(str, numbers)])
    more = pa.concat_arrays([text, text])[len(numbers) :]
    chunks = pa.chunked_array([text[:1], text[1:]])
    return [
        written,
        text,
        text.cast(pa.large_string()),
        more,
        chunks,
        pa.array([*map(hex, numbers)]),
    ]


@given(st.lists(st.one_of(st.sampled_from(ENDS), st.integers(-(2**70), 2**70)), max_size=6))
def test_ticks_are_read_as_they_were_written(ticks: list[int]) -> None:
    for column in columns(tagged(ticks)):
        read = read_ticks(combine(column), TAG)
        assert take(read, pa.array(range(len(ticks)), pa.int64())) == ticks
        assert all(type(each) is int for each in take(read, find_largest(read, 2)))


@pytest.mark.parametrize("value", ["1_0", "1.5", "1e40", " 5", "+5", "x", "", None, True, 0.5, "٣"])
def test_what_is_no_whole_number_is_refused(value: Any) -> None:
    with pytest.raises((TypeError, SelectorError)):
        read_ticks(pa.array([value]), TAG)
    with pytest.raises((TypeError, SelectorError)):
        read_ticks(pa.array([Decimal("1.5")]), TAG)


@pytest.mark.parametrize("ticks", [[1, 2], [2**80, 2]])
def test_one_number_of_another_tag_is_enough(ticks: list[int]) -> None:
    numbers = tagged(ticks)
    for wrong in ([*numbers, 5 << 32], [numbers[0] + 1, numbers[1]]):
        with pytest.raises(SelectorError, match="other parameters"):
            read_ticks(write_numbers(wrong), TAG)


def test_chunks_of_more_text_than_an_array_holds_are_one(monkeypatch: pytest.MonkeyPatch) -> None:
    column = pa.chunked_array([["ash"], ["elm", "ash"]])
    assert combine(column).type == pa.string()
    monkeypatch.setattr(candidate_columns, "_MOST_BYTES", 5)
    assert combine(column).type == pa.large_string()
    assert has_repeated(combine(column))


def all_cuts_agree(module: Any) -> bool:
    """Whether the largest are those of `cut`, ties included, for all small lists."""
    for size in range(6):
        for ticks in product((-1, 3, 4), repeat=size):
            for needed in range(1, 5):
                kept = cut([Candidate(each, place) for place, each in enumerate(ticks)], needed)
                for given_ticks in (np.array(ticks, np.int64), [*ticks]):
                    found = module.find_largest(given_ticks, needed).to_pylist()
                    if found != [each.item for each in kept]:
                        return False
    return True


def test_the_largest_are_those_that_a_pool_keeps() -> None:
    assert all_cuts_agree(candidate_columns)


@pytest.mark.parametrize("mutant", [
    Mutant("ties dropped", "ticks >= np.partition", "ticks > np.partition"),
    Mutant("cut at k", "first = len(ticks) - needed",
           "first = min(len(ticks) - needed + 1, len(ticks) - 1)"),
    Mutant("ties dropped in Python", "if each >= least]", "if each > least]"),
], ids=lambda mutant: mutant.name)  # fmt: skip
def test_a_broken_cut_is_found(mutant: Mutant) -> None:
    assert not all_cuts_agree(mutated(candidate_columns, mutant))


@pytest.mark.parametrize("items", [
    ["ash", "elm"], [3, 1, 2], [2**63 - 1, -(2**63)], [Decimal("1.0"), Decimal("1.1")], [0.5, 1.5],
    [True, False], [b"a", b"b"], [None, "ash"],
], ids=str)  # fmt: skip
def test_items_that_come_twice_are_seen(items: list[Any]) -> None:
    assert not has_repeated(pa.array(items))
    for twice in items:
        assert has_repeated(pa.array([*items, twice]))
    assert has_repeated(pa.array([*items, items[0]]).dictionary_encode())
