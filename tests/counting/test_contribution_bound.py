"""At most L items of each person are kept, by a rule that looks at that person's rows alone."""

import hashlib
import io
import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import Events, Text, tidy, ways
from tests.counting.test_counting import AWKWARD, DOMAIN, some_events
from tests.counting.test_occurring import LISTED, RULE, occurs, table
from tests.counting.test_together import BOTH, columns, of_columns
from topgap import counting
from topgap.counting import (
    FROM_DATA,
    Counts,
    Domain,
    contribution_bound,
    events,
    occurring,
    tally,
    together,
)
from topgap.errors import ParameterError, ParameterTypeError

pytestmark = pytest.mark.slow

# --- The rule in plain Python

Item = tuple[str, ...]


def mark(item: Item) -> str:
    """An item as it is hashed."""
    return "".join(f"{len(text.encode())}:{text}" for text in item)


def order(person: str, marks: Iterable[str]) -> tuple[int, str]:
    """What a person's items are ordered by."""
    whole = "".join(sorted(marks))
    digest = hashlib.md5((whole + person).encode(), usedforsecurity=False).digest()
    return int.from_bytes(digest[-4:], "little"), whole


def kept(had: dict[str, set[Item]], bound: int, size: int = 1) -> Counter[frozenset[Item]]:
    """Of what persons had, the sets of so many items that are kept, with their persons."""
    counts: Counter[frozenset[Item]] = Counter()
    for person, items in had.items():
        sets = [frozenset(each) for each in combinations(items, size)]
        sets.sort(key=lambda each: order(person, map(mark, each)))
        counts.update(sets[:bound])
    return counts


def had_by(rows: Iterable[Sequence[Text]], members: Sequence[str]) -> dict[str, set[Item]]:
    """What each person had of the members, person first, by the one rule of equal cells."""
    had: dict[str, set[Item]] = {}
    for who, *items in (map(tidy, row) for row in rows):
        if who is not None and {*items} <= {*members}:
            had.setdefault(who, set()).add(tuple(map(str, items)))
    return had


def plainly_kept(rows: Events, members: Sequence[str], bound: int) -> dict[str, int]:
    counts = kept(had_by(rows, members), bound)
    return {item: n for [(item,)], n in ((tuple(each), n) for each, n in counts.items())}


def sets_of(counts: dict[Any, int]) -> dict[frozenset[Any], int]:
    """Counts of pairs, whatever the order of their items."""
    return {frozenset(pair): n for pair, n in counts.items()}


def count(source: Any, domain: Any, bound: int | None, **how: Any) -> Counts:
    asked = {"person": "who", "item": "what", **how}
    return events.count_events(source, domain=domain, items_per_person=bound, by=None, **asked)


MEMBERS = ["flu", "café", "7", "two words", "«»"]
# Persons with many items, of which some are no members, some are repeated, and some fold together.
HAD = ["flu", "café", "7", "«»", " 7", "cafe\u0301", "x", "no member", "another"]
MANY: Events = [
    *AWKWARD, *((f"p{n % 40}", HAD[n * 7 % 9]) for n in range(400)),
    (" p3", "two words"), ("p3\t", "two words"), ("p\u0301", "flu"), ("p\u0301 ", "7"),
]  # fmt: skip
BOUNDS = [1, 2, 3, 10**30]


@pytest.mark.parametrize("bound", BOUNDS)
def test_the_items_of_least_hash_are_kept(bound: int) -> None:
    expected = plainly_kept(MANY, MEMBERS, bound)
    listed = count(table(MANY), DOMAIN, bound)
    assert [*listed] == DOMAIN
    assert occurs(listed) == expected
    ruled = count(table(MANY), RULE, bound)
    assert ruled == plainly_kept(MANY, LISTED, bound)
    assert ruled.domain == RULE
    all_items = sorted({tidy(what) for _, what in MANY} - {None})  # type: ignore[type-var]
    taken = count(table(MANY), FROM_DATA, bound)
    assert taken == plainly_kept(MANY, all_items, bound)  # type: ignore[arg-type]
    assert taken.domain_from_data
    assert {each.items_per_person for each in (listed, ruled, taken)} == {bound}


def test_a_bound_that_nobody_reaches_changes_no_count() -> None:
    for domain in (DOMAIN, RULE, FROM_DATA):
        assert count(table(MANY), domain, 100) == count(table(MANY), domain, None)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ways(Path())])
def test_each_form_of_events_keeps_the_same(name: str, tmp_path: Path) -> None:
    for domain in (DOMAIN, RULE):
        members = DOMAIN if domain is DOMAIN else LISTED
        for bound in (1, 2):
            whole = ways(tmp_path, items_per_person=bound)[name](MANY, domain)
            assert occurs(whole) == plainly_kept(MANY, members, bound)


PERSONS = {
    "7": [pa.array([7] * 4, pa.int64()), pa.array([7.0] * 4), pa.array(["7", " 7", "7", "7\t"]),
          pa.array([7] * 4).cast(pa.decimal128(30, 2)), pa.array([7] * 4, pa.uint8())],
    "0": [pa.array([0.0, -0.0, 0.0, -0.0]), pa.array([0] * 4, pa.int8())],
    "2024-01-01": [pa.array([19_723] * 4, pa.date32()), pa.array(["2024-01-01"] * 4)],
    "FF00": [pa.array([b"\xff\0"] * 4)],
}  # fmt: skip


@pytest.mark.parametrize("text", PERSONS)
def test_a_person_is_hashed_as_text_whatever_the_type(text: str) -> None:
    what = ["a", "b", "c", "d"]
    for who in PERSONS[text]:
        for bound in (1, 2):
            shown = [(text, each) for each in what]
            found = count(pa.table({"who": who, "what": what}), what, bound)
            assert occurs(found) == plainly_kept(shown, what, bound)


# --- One person moves at most L counts, each by at most 1


def is_sum_of_persons(
    rows: Sequence[tuple[Text, ...]],
    counts_of: Callable[[Sequence[tuple[Text, ...]]], dict[Any, int]],
    bound: int,
) -> None:
    """What is kept of each person alone adds up to the whole: nobody moves what others keep."""
    added: Counter[Any] = Counter()
    for person in {tidy(row[0]) for row in rows}:
        own = occurs(counts_of([row for row in rows if tidy(row[0]) == person]))
        assert len(own) <= bound
        assert {*own.values()} <= {1}
        added.update(own)
    assert occurs(counts_of(rows)) == added


def count_of(rows: Any, **asked: Any) -> Counts:
    return count(table(rows), **asked)


bounds = st.integers(1, 3)


@given(drawn=some_events, bound=bounds, rows=st.sampled_from([2, occurring.ROWS]))
@settings(max_examples=15, deadline=None)
def test_nobody_moves_what_is_kept_of_others(drawn: Events, bound: int, rows: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occurring, "ROWS", rows)
        for domain in (DOMAIN, RULE, FROM_DATA):
            is_sum_of_persons(drawn, partial(count_of, domain=domain, bound=bound), bound)


@given(drawn=some_events, bound=bounds)
@settings(max_examples=15, deadline=None)
def test_nobody_moves_which_pairs_are_kept_of_others(drawn: Events, bound: int) -> None:
    is_sum_of_persons(drawn, partial(count_of, domain=RULE, bound=bound, together=2), bound)


@pytest.mark.deep
@given(drawn=columns, bound=bounds)
@settings(max_examples=15, deadline=None)
def test_nobody_moves_which_tuples_are_kept_of_others(
    drawn: list[tuple[Text, ...]], bound: int
) -> None:
    is_sum_of_persons(
        drawn, lambda part: count(of_columns(part), BOTH, bound, item=["where", "what"]), bound
    )
    whole = count(of_columns(drawn), BOTH, bound, item=["where", "what"])
    assert {frozenset({item}): n for item, n in whole.items()} == kept(had_by(drawn, LISTED), bound)


@pytest.mark.deep
@given(drawn=some_events, mixed=st.randoms(use_true_random=False), bound=bounds)
@settings(max_examples=15, deadline=None)
def test_order_repeats_and_files_do_not_matter(
    drawn: Events, mixed: random.Random, bound: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    rows = [("Zoe", "flu"), *drawn, *mixed.sample(drawn, len(drawn) // 2)]
    mixed.shuffle(rows)
    cut = mixed.randrange(len(rows) + 1)
    for n, part in enumerate((rows[:cut], rows[cut:])):
        pq.write_table(table(part), folder / f"{n}.parquet")
    expected = plainly_kept(rows, LISTED, bound)
    for source in (table(rows), str(folder / "*.parquet")):
        assert count(source, RULE, bound) == expected
        pairs = count(source, RULE, bound, together=2)
        had = had_by(rows, LISTED)
        assert sets_of(pairs) == {
            frozenset(item for (item,) in each): n for each, n in kept(had, bound, 2).items()
        }


def test_many_threads_and_buffers_keep_the_same(tmp_path: Path) -> None:
    rows = [(f"p{n * n % 5_003}", str(n % 23)) for n in range(300_000)]
    pq.write_table(table(rows), tmp_path / "e.parquet", row_group_size=20_000)
    items = [str(n) for n in range(20)]
    for bound in (1, 4):
        expected = plainly_kept(rows, items, bound)
        assert occurs(count(tmp_path / "e.parquet", items, bound)) == expected
        assert count(tmp_path / "e.parquet", Domain.range(0, 20), bound) == {
            int(item): n for item, n in expected.items()
        }


def test_what_was_not_kept_does_not_occur() -> None:
    expected = plainly_kept(MANY[:60], LISTED, 1)
    asked: Any = {"person": "who", "item": "what", "domain": RULE, "items_per_person": 1}
    with counting.counted_items(table(MANY[:60]), **asked) as found:
        assert found.items_per_person == 1
        assert found.count == len(expected)
        assert found.find(RULE) == {*expected}


# --- Lines, which are persons without a name

LINES = [b"1 2 3", b"3  1\t2 2", b"4 5", b"", b"5 caf\xc3\xa9 9", b"cafe\xcc\x81 9 5", b"7 8 1 2 3"]
NINE = Domain.pattern("[1-9]|caf[é]")


def lines(content: Iterable[bytes], bound: int, **how: Any) -> Counts:
    source = io.BytesIO(b"\n".join(content))
    asked = {"domain": NINE, **how}
    return events.count_transactions(source, items_per_person=bound, groups=None, **asked)


def plainly_kept_of_lines(content: Iterable[bytes], bound: int, size: int = 1) -> dict[Any, int]:
    counts: Counter[frozenset[Item]] = Counter()
    for line in content:
        items = {tidy(each) for each in line.decode().replace("\t", " ").split(" ")} - {None}
        texts = sorted(map(str, items), key=str.encode)
        person = hashlib.md5(" ".join(texts).encode(), usedforsecurity=False).hexdigest()
        counts += kept({person: {(each,) for each in texts if each in NINE}}, bound, size)
    return {frozenset(item for (item,) in each): n for each, n in counts.items()}


def baskets_are_right() -> bool:
    mixed = [*LINES, b"x 1 2", b"1 2", b"10 11 3 4"]
    return all(
        {frozenset({item}): n for item, n in lines(mixed, bound).items()}
        == plainly_kept_of_lines(mixed, bound)
        and sets_of(lines(mixed, bound, together=2)) == plainly_kept_of_lines(mixed, bound, 2)
        for bound in (1, 2)
    )


def test_a_line_keeps_the_items_of_least_hash_with_its_content() -> None:
    assert baskets_are_right()


basket = st.lists(st.sampled_from(["1", "2", "3", "5", "café", "cafe\u0301", "x", "\u200b"]))


@pytest.mark.deep
@given(drawn=st.lists(basket, max_size=4), bound=bounds)
@settings(max_examples=10, deadline=None)
def test_a_line_that_goes_moves_no_other(drawn: list[list[str]], bound: int) -> None:
    content = [" ".join(each).encode() for each in drawn]
    for how in ({}, {"domain": [*"123"]}, {"domain": FROM_DATA}, {"together": 2}):
        single = [occurs(lines([line], bound, **how)) for line in content]
        assert all(len(each) <= bound and {*each.values()} <= {1} for each in single)
        added: Counter[Any] = Counter()
        for each in single:
            added.update(each)
        assert occurs(lines(content, bound, **how)) == added
        assert occurs(lines(content[::-1], bound, **how)) == added


def test_equal_lines_keep_the_same() -> None:
    assert sorted(lines([b"1 2 3"] * 5 + [b"3 2 1 1"], 1).values()) == [6]


# --- Each item is kept about as often as any other


def test_each_of_the_same_items_is_kept_about_equally_often() -> None:
    """The table is fixed and the hash public, so that the counts are always these."""
    items = ["a", "b", "c", "d", "e", "f"]
    rows = table([(f"person {n}", each) for n in range(6_000) for each in items])
    once = [*count(rows, items, 1).values()]
    thrice = [*count(rows, items, 3).values()]
    pairs = [*count(rows, items, 5, together=2).values()]
    assert (sum(once), sum(thrice), sum(pairs)) == (6_000, 18_000, 30_000)
    # Within four standard deviations of 1,000, 3,000 and 2,000, if the hash were random.
    assert max(abs(each - 1_000) for each in once) < 116
    assert max(abs(each - 3_000) for each in thrice) < 155
    assert max(abs(each - 2_000) for each in pairs) < 147
    assert once == [984, 992, 978, 970, 1_038, 1_038]


# --- Broken on purpose

MUTANTS: list[tuple[ModuleType, Mutant]] = [
    (contribution_bound, Mutant("before the domain filter", "({select_members(present)})",
                                "({present})")),
    (contribution_bound, Mutant("before deduplication", "dense_rank() OVER keys",
                                "row_number() OVER keys")),
    (contribution_bound, Mutant("duplicates count", " AND {first}", "")),
    (contribution_bound, Mutant("by row order", "PARTITION BY person ORDER BY key",
                                "PARTITION BY person")),
    (contribution_bound, Mutant("by the item alone", "[*marks, person]", "marks")),
    (contribution_bound, Mutant("by the person alone", "[*marks, person]", "[person]")),
    (contribution_bound, Mutant("items run together", "strlen({text}), chr(58), {text}",
                                "{text}")),
    (contribution_bound, Mutant("cells are not folded", "CAST(dense_rank()",
                                "CAST(row_number()")),
    (contribution_bound, Mutant("one too few", "number <= {to", "number < {to")),
    (contribution_bound, Mutant("the largest is kept", "min(key) AS", "max(key) AS")),
    (contribution_bound, Mutant("who is missing is one", "' || '.join([*marks, person])",
                                "'concat(' + ', '.join([*marks, person]) + ')'")),
    (contribution_bound, Mutant("all persons are one", "({keyed}) GROUP BY person", "({keyed})")),
    (together, Mutant("single items are bounded for all", "PARTITION BY person ORDER BY hash",
                      "ORDER BY hash")),
    (together, Mutant("pairs in any order", "ORDER BY hash, {groups}", "ORDER BY {groups}")),
    (together, Mutant("pairs by other marks", '[f"h{n}.mark"', '[f"h0.mark"')),
    (tally, Mutant("by the number of the line", 'person_text="content"',
                   'person_text="CAST(person AS VARCHAR)"')),
    (tally, Mutant("by the order in the line", "list_sort(items)", "items")),
    (tally, Mutant("of no line", "md5(array_to_string(list_sort(items), ' '))", "''")),
]  # fmt: skip


def bounds_are_right() -> bool:
    rows = [
        (who, where, what)
        for who, what in MANY
        for where in ("x", "7", "xx", None, " x")[len(what or "") % 3 :]
    ]
    had = had_by(rows, LISTED)
    pairs = {bound: kept(had_by(MANY, LISTED), bound, 2) for bound in (1, 2)}
    return baskets_are_right() and all(
        occurs(count(table(MANY), DOMAIN, bound)) == plainly_kept(MANY, DOMAIN, bound)
        and count(table(MANY), RULE, bound) == plainly_kept(MANY, LISTED, bound)
        and sets_of(count(table(MANY), RULE, bound, together=2))
        == {frozenset(item for (item,) in each): n for each, n in pairs[bound].items()}
        and {
            frozenset({item}): n
            for item, n in count(of_columns(rows), BOTH, bound, item=["where", "what"]).items()
        }
        == kept(had, bound)
        for bound in (1, 2)
    )


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_a_broken_bound_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_module(monkeypatch, module, mutant)
    assert not bounds_are_right()


def test_a_sound_bound_is_not_found_broken() -> None:
    assert bounds_are_right()


# --- What is refused, and what the counts know


@pytest.mark.parametrize(("wrong", "error"), [
    (0, ParameterError), (-1, ParameterError), (True, ParameterTypeError),
    (2.0, ParameterTypeError), ("2", ParameterTypeError), (float("nan"), ParameterTypeError),
])  # fmt: skip
def test_what_is_no_bound_is_refused_before_anything_is_read(wrong: Any, error: Any) -> None:
    class Unread:
        def read(self, _: int = -1) -> bytes:
            raise AssertionError("it was read")

    asked: Any = {"domain": ["flu"], "items_per_person": wrong}
    named: Any = {"person": "who", "item": "what", **asked}
    with pytest.raises(error, match="items_per_person must be"):
        counting.count_events(Unread(), format="csv", **named)
    with pytest.raises(error, match="items_per_person must be"):
        counting.count_transactions(Unread(), **asked)
    with (
        pytest.raises(error, match="items_per_person must be"),
        counting.counted_items(Unread(), format="csv", **{**named, "domain": RULE}),
    ):
        pass
    with pytest.raises(error, match="items_per_person must be"):
        Counts({"flu": 1}, items_per_person=wrong)


def test_precomputed_counts_have_no_persons() -> None:
    source = pa.table({"what": ["flu"], "n": [3]})
    asked: Any = {"item": "what", "count": "n", "domain": RULE, "items_per_person": 2}
    with (
        pytest.raises(ParameterError, match="do not say which person has which item"),
        counting.counted_items(source, **asked),
    ):
        pass
    read = counting.read_counts(source, item="what", count="n", domain=["flu"])
    assert read.items_per_person is None


def test_counts_know_their_bound() -> None:
    two, three = Counts({"a": 1}, items_per_person=2), Counts({"b": 1}, items_per_person=3)
    assert two.copy().items_per_person == Counts(two).items_per_person == 2
    assert Counts(two, items_per_person=5).items_per_person == 5
    assert (two | three).items_per_person == 5
    for unknown in ({"c": 1}, Counts({"c": 1}), {}, Counts()):
        assert (two | unknown).items_per_person is None
        assert (unknown | two).items_per_person is None
    two |= three
    assert two.items_per_person == 5
    two.update(three)
    assert two.items_per_person == 8
    three.update(c=1)
    assert three.items_per_person is None
    assert Counts({"a": 1}).items_per_person is None
