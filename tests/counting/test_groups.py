"""Persons are counted in each group by itself, in at most c groups, by a rule of their own rows."""

import io
import pickle
import random
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import Text, tidy
from tests.counting.test_contribution_bound import BOUNDS, mark, order
from topgap import counting
from topgap.counting import (
    FROM_DATA,
    Domain,
    contribution_bound,
    group_bound,
    group_counts,
    member_places,
    tally,
)
from topgap.domains import Counts, GroupedCounts
from topgap.errors import DomainError, ParameterError, ParameterTypeError, SourceError

pytestmark = pytest.mark.slow

Rows = Sequence[tuple[Text, Text, Text]]
"""Who, in which group, had what."""

GROUPS = ["North", "S\u00fcd", "7", "East Side", "nobody is here"]
ITEMS = ["flu", "caf\u00e9", "7", "two words"]
RULES = {
    "lists": (Domain(GROUPS), Domain(ITEMS)),
    "rules": (
        Domain.pattern("North|S\u00fcd|7|East Side|nobody is here"),
        Domain.pattern("flu|caf[\u00e9]|7|two words"),
    ),
}

# --- The rule in plain Python


def plainly_kept(
    rows: Rows, most: int, bound: int | None = None, size: int = 1, items: Sequence[str] = ITEMS
) -> dict[tuple[str, frozenset[str]], int]:
    """The persons of each group and item, or set of items, of those that are kept."""
    had: dict[str, dict[str, set[str]]] = {}
    for who, where, what in (map(tidy, row) for row in rows):
        if who is not None and where in GROUPS and what in items:
            had.setdefault(who, {}).setdefault(str(where), set()).add(str(what))
    counts: Counter[tuple[str, frozenset[str]]] = Counter()
    for who, by_group in had.items():
        for group in sorted(by_group, key=lambda each: order(who, [mark((each,))]))[:most]:
            sets = [frozenset(each) for each in combinations(by_group[group], size)]
            sets.sort(key=lambda each: order(who, [mark((text,)) for text in each]))
            counts.update((group, each) for each in sets[:bound])
    return counts


def found(counts: GroupedCounts) -> dict[tuple[Any, frozenset[Any]], int]:
    """What occurs in any group."""
    return {
        (group, frozenset(item if isinstance(item, tuple) else [item])): n
        for group, each in counts.items()
        for item, n in each.items()
        if n
    }


def table(rows: Rows) -> pa.Table:
    who, where, what = ([row[n] for row in rows] for n in range(3))
    text = pa.string()
    return pa.table(
        {"what": pa.array(what, text), "who": pa.array(who, text), "where": pa.array(where, text)}
    )


def count(source: Any, form: str = "lists", **asked: Any) -> GroupedCounts:
    groups, domain = RULES[form]
    named = {"person": "who", "item": "what", "by": "where", "groups": groups, "domain": domain}
    return counting.count_events(source, **{**named, **asked})  # type: ignore[no-any-return]


# Persons who are in many groups, of which some are not public, some are spelt in two ways.
WHERE = [*GROUPS[:4], " North\u200b", "Su\u0308d", "nowhere", None, " 7"]
WHAT = [*ITEMS, "x", " flu", "cafe\u0301", None]
WHO = ["Ann", "Ann ", "Zo\u00eb", "Zoe\u0308", "7", " 7", "Bob", None, *(f"p{n}" for n in range(9))]
_MIXED = random.Random(24)
HOSTILE: Rows = [(*map(_MIXED.choice, (WHO, WHERE, WHAT)),) for _ in range(200)]  # type: ignore[misc]


@pytest.mark.parametrize("form", RULES)
@pytest.mark.parametrize("most", BOUNDS)
def test_the_groups_of_least_hash_are_kept(most: int, form: str) -> None:
    whole = count(table(HOSTILE), form, groups_per_person=most)
    assert found(whole) == plainly_kept(HOSTILE, most)
    assert [*whole] == [*RULES[form][0]]
    assert whole.groups_per_person == most
    assert whole.items_per_person is None
    assert len({*whole.names}) == len(whole.names) == len({*whole.places.tolist()})


@pytest.mark.parametrize("form", RULES)
def test_in_each_group_the_items_of_least_hash_are_kept(form: str) -> None:
    for most, bound in ((1, 1), (2, 1), (2, 2), (5, 3)):
        asked = {"groups_per_person": most, "items_per_person": bound}
        whole = count(table(HOSTILE), form, **asked)
        assert found(whole) == plainly_kept(HOSTILE, most, bound)
        assert whole.items_per_person == bound
        pairs = count(table(HOSTILE), form, together=2, **asked)
        assert found(pairs) == plainly_kept(HOSTILE, most, bound, 2)


@pytest.mark.parametrize("form", RULES)
@pytest.mark.parametrize("size", [2, 3])
def test_what_goes_together_in_a_group_is_counted(form: str, size: int) -> None:
    whole = count(table(HOSTILE), form, together=size, groups_per_person=2)
    assert found(whole) == plainly_kept(HOSTILE, 2, size=size)
    assert all(name in whole.domain for name in whole.names)
    assert whole.domain == Domain.subsets(RULES[form][1], size=size)


def test_the_items_of_all_groups_are_the_domain_of_each() -> None:
    rows = [row for row in HOSTILE if row[1] != "nowhere"]
    whole = count(table(rows), domain=FROM_DATA)
    items = sorted({tidy(what) for _, _, what in rows} - {None})  # type: ignore[type-var]
    assert found(whole) == plainly_kept(rows, 1, items=items)  # type: ignore[arg-type]
    assert whole.domain_from_data
    assert [*whole.domain] == [*whole.names] == items
    numbers = pa.table(
        {"who": [1, 2, 2], "where": ["North"] * 3, "what": [10, 9, 10], "when": [1] * 3}
    )
    assert [*count(numbers, domain=FROM_DATA).domain] == [9, 10]
    with pytest.raises(DomainError, match="The data have no items"):
        count(table([("a", "nowhere", "flu")]), domain=FROM_DATA)


def test_items_of_several_columns_can_be_taken_from_the_data_of_all_groups() -> None:
    """Those tuples that occur, and no other combinations of their parts."""
    rows: list[tuple[Any, ...]] = [
        (n * n % 23 % (n % 5 + 2), "NS"[n % 2], ["a", " b", "b", None][n % 4], n % 3)
        for n in range(90)
    ]
    rows += [(1, "elsewhere", "z", 1), (None, "N", "y", 1)]
    events = pd.DataFrame(rows, columns=["who", "where", "what", "when"])
    had = {(g, who, (str(what).strip(), when)) for who, g, what, when in rows if what and g in "NS"}
    plain = Counter((g, item) for g, who, item in had if who is not None)
    asked: dict[str, Any] = {
        "person": "who", "by": "where", "item": ["what", "when"], "groups_per_person": 2,
    }  # fmt: skip
    whole = counting.count_events(events, **asked, groups=["N", "S"], domain=FROM_DATA)
    items = sorted({item for _, item in plain})
    assert [*whole.domain] == [*whole.names] == items
    assert whole.domain_from_data
    assert whole.domain.size < 2 * 3 + 1
    assert {(g, item): whole[g][item] for g in "NS" for item in items} == {
        (g, item): plain[g, item] for g in "NS" for item in items
    }
    # The list can be given again, and tuples can be groups.
    again = counting.count_events(events, **asked, groups=["N", "S"], domain=whole.domain)
    assert not again.domain_from_data
    assert all(again[g].get(item, 0) == plain[g, item] for g in "NS" for item in items)
    turned = counting.count_events(
        events, person="who", by=["what", "when"], groups=items, item="where", domain=["N", "S"],
        groups_per_person=len(items),
    )  # fmt: skip
    assert all(turned[item].get(g, 0) == plain[g, item] for g in "NS" for item in items)


@pytest.mark.parametrize("folds", [False, True])
@pytest.mark.parametrize("bound", [None, 2])
def test_a_list_of_tuples_is_counted_as_the_same_items_of_a_product(
    bound: int | None, folds: bool
) -> None:
    rows = [(n % 7, ["a", " B", "b", None, "c"][n % 5], n % 3) for n in range(90)]
    events = pd.DataFrame(rows, columns=["who", "what", "when"])
    asked: dict[str, Any] = {"person": "who", "item": ["what", "when"], "fold_case": folds}
    chosen = [("b", 2), ("a", 0), ("nobody", 1)]
    both = Domain.product(["b", "a", "nobody"], [0, 1, 2])
    plain = counting.count_events(events, **asked, domain=both)
    counts = counting.count_events(events, **asked, domain=chosen)
    assert [*counts.items()] == [(item, plain.get(item, 0)) for item in chosen]
    if bound is not None:  # the same are kept where all that occurs is listed
        occurring = [*plain]
        kept = counting.count_events(events, **asked, domain=both, items_per_person=bound)
        listed = counting.count_events(events, **asked, domain=occurring, items_per_person=bound)
        assert listed == {item: kept.get(item, 0) for item in occurring}


def test_the_counts_of_each_group_know_both_bounds() -> None:
    counts = count(table(HOSTILE), items_per_person=3, groups_per_person=2)
    some, other = counts["North"], counts["7"]
    copied: Counts = pickle.loads(pickle.dumps(some.copy()))  # noqa: S301 - it is ours
    assert (copied.items_per_person, copied.groups_per_person) == (3, 2)
    assert (some | other).groups_per_person == 4
    assert ({} | some).groups_per_person is None
    copied["flu"] = 7
    assert copied.groups_per_person is None


def test_several_columns_tell_a_group_or_an_item() -> None:
    rows = [("a", "AT", "1", "x", "y"), ("a", "DE", "1", "x", "y"), ("b", "DE", "2", "x", " z")]
    names = ["who", "country", "month", "what", "which"]
    source = pa.table({name: [row[n] for row in rows] for n, name in enumerate(names)})
    whole = count(
        source, by=["country", "month"], item=["what", "which"], groups_per_person=2,
        groups=Domain.product(["AT", "DE"], Domain.range(1, 3)),
        domain=Domain.product(["x"], ["y", "z"]),
    )  # fmt: skip
    assert {group: {**each} for group, each in whole.items()} == {
        ("AT", 1): {("x", "y"): 1}, ("AT", 2): {}, ("DE", 1): {("x", "y"): 1},
        ("DE", 2): {("x", "z"): 1},
    }  # fmt: skip


# --- The bound


def change(some: GroupedCounts, other: GroupedCounts) -> tuple[int, int]:
    """How many groups differ, and the most that a count does."""
    one, two = found(some), found(other)
    differing = {key: abs(one.get(key, 0) - two.get(key, 0)) for key in one | two}
    return len({group for (group, _), n in differing.items() if n}), max(
        differing.values(), default=0
    )


row = st.tuples(st.sampled_from(WHO), st.sampled_from(WHERE), st.sampled_from(WHAT))
some_rows = st.lists(row, max_size=40)


@pytest.mark.slow
@given(drawn=some_rows, others=some_rows, most=st.integers(1, 3), form=st.sampled_from([*RULES]),
       size=st.sampled_from([None, 2]), bound=st.sampled_from([None, 1]),
       mixed=st.randoms(use_true_random=False))  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_one_person_moves_at_most_c_groups(
    drawn: list[Any], others: list[Any], most: int, form: str, size: int | None,
    bound: int | None, mixed: random.Random,
) -> None:  # fmt: skip
    asked: Any = {"groups_per_person": most, "together": size, "items_per_person": bound}
    whole = count(table(drawn), form, **asked)
    person = tidy(mixed.choice(WHO))
    without = [row for row in drawn if tidy(row[0]) != person]
    mixed.shuffle(without)
    groups, largest = change(whole, count(table(without), form, **asked))
    assert groups <= most
    assert largest <= 1
    comes = [("another", where, what) for who, where, what in others if tidy(who) == person]
    groups, largest = change(whole, count(table([*comes, *without]), form, **asked))
    assert groups <= 2 * most
    assert largest <= 1


@pytest.mark.deep
@pytest.mark.slow
@given(drawn=some_rows, most=st.integers(1, 3), mixed=st.randoms(use_true_random=False))
@settings(max_examples=15, deadline=None)
def test_each_person_alone_adds_up_to_the_whole(
    drawn: list[Any], most: int, mixed: random.Random
) -> None:
    expected = found(count(table(drawn), groups_per_person=most))
    assert expected == plainly_kept(drawn, most)
    added: Counter[Any] = Counter()
    for person in {tidy(row[0]) for row in drawn}:
        own = [row for row in drawn if tidy(row[0]) == person]
        mixed.shuffle(own)
        added.update(found(count(table(own + own[:2]), "rules", groups_per_person=most)))
    assert added == expected


def test_many_threads_and_row_groups_keep_the_same(tmp_path: Path) -> None:
    rows = [(f"p{n * n % 5_003}", GROUPS[n % 13 % 5], ITEMS[n % 4]) for n in range(100_000)]
    pq.write_table(table(rows), tmp_path / "e.parquet", row_group_size=20_000)
    for most in (1, 3):
        whole = count(tmp_path / "e.parquet", groups_per_person=most)
        assert found(whole) == plainly_kept(rows, most)


def test_each_of_the_same_groups_is_kept_about_equally_often() -> None:
    """The table is fixed and the hash public, so that the counts are always these."""
    rows = [(f"person {n}", group, "flu") for n in range(4_000) for group in GROUPS[:4]]
    kept = [each.get("flu", 0) for each in count(table(rows)).values()]
    assert sum(kept) == 4_000
    # Within four standard deviations of 1,000, if the hash were random.
    assert max(abs(each - 1_000) for each in kept[:4]) < 110


# --- Sources


def save(folder: Path, rows: Rows) -> dict[str, tuple[Any, dict[str, Any]]]:
    """The same events in several forms."""
    shown, frame = table(rows), pd.DataFrame([*rows], columns=["who", "where", "what"])
    frame.to_csv(folder / "e.csv", index=False)
    frame.to_csv(folder / "n.tsv", index=False, header=False, sep="\t")
    frame.to_json(folder / "e.jsonl", orient="records", lines=True)
    pq.write_table(shown, folder / "e.parquet")
    with duckdb.connect(str(folder / "e.duckdb")) as database:
        database.execute("create table visits as select * from shown")
    query = "select * from visits"
    return {
        "csv": (folder / "e.csv", {}),
        "tsv": (folder / "n.tsv", {"person": "1", "by": "2", "item": "3", "header": False}),
        "json lines": (folder / "e.jsonl", {}),
        "parquet": (str(folder / "*.parquet"), {}),
        "stream": (io.BytesIO((folder / "e.csv").read_bytes()), {"format": "csv"}),
        "table": (folder / "e.duckdb", {"table": "visits"}),
        "query": (folder / "e.duckdb", {"query": query}),
        "pandas": (frame, {}),
        "polars": (pl.DataFrame(shown), {}),
        "arrow stream": (shown.to_reader(), {}),
    }


def test_each_form_of_events_gives_the_same(tmp_path: Path) -> None:
    expected = plainly_kept(HOSTILE, 2, 2)
    for name, (source, how) in save(tmp_path, HOSTILE).items():
        asked = {"groups_per_person": 2, "items_per_person": 2, **how}
        assert found(count(source, **asked)) == expected, name


def test_groups_of_numbers_and_files(tmp_path: Path) -> None:
    (tmp_path / "years.txt").write_text("2023\n 2024 \n\n")
    source = pa.table({"who": [1, 2, 3], "where": [2023.0, 2024.0, np.nan], "what": ["flu"] * 3})
    listed = count(source, groups=tmp_path / "years.txt")
    assert {group: {**each} for group, each in listed.items()} == {
        "2023": {"flu": 1}, "2024": {"flu": 1}
    }  # fmt: skip
    assert [*count(source, groups=range(2023, 2026))] == [2023, 2024, 2025]
    assert found(count(source, groups=Domain.range(2024, 2026))) == {(2024, frozenset({"flu"})): 1}


def test_nothing_is_a_source_too() -> None:
    for form in RULES:
        empty = count(table([]), form)
        assert [*map(len, empty.values())] == [0] * 5


# --- Lines, whose first item is the group

LINES = b"North flu 7 7\n\n \tNorth\xe2\x80\x8b  flu\nS\xc3\xbcd flu\nnowhere flu\nNorth\n7 7 x\n"


def lines(content: bytes, **how: Any) -> GroupedCounts:
    asked = {"domain": ITEMS, "groups": GROUPS, **how}
    return counting.count_transactions(io.BytesIO(content), **asked)  # type: ignore[no-any-return]


def test_the_first_item_of_a_line_is_its_group() -> None:
    whole = lines(LINES)
    assert {group: {**each} for group, each in whole.items() if each} == {
        "North": {"flu": 2, "7": 1}, "S\u00fcd": {"flu": 1}, "7": {"7": 1}
    }  # fmt: skip
    assert found(lines(LINES, together=2)) == {("North", frozenset({"flu", "7"})): 1}
    bounded = lines(LINES, items_per_person=1)
    assert sum(found(bounded).values()) == 4
    assert {**lines(LINES, domain=FROM_DATA)["7"]} == {"7": 1, "flu": 0, "x": 1}
    assert bounded.groups_per_person == 1


# --- Precomputed counts


def test_precomputed_counts_have_groups() -> None:
    source = pa.table({"what": ["flu", "flu", "7", "x"], "n": [3, 0, 2, -1],
                       "where": ["North", "7", " North", "North"]})  # fmt: skip
    asked: Any = {"item": "what", "count": "n", "domain": ITEMS, "by": "where", "groups": GROUPS}
    read = counting.read_counts(source, **asked)
    assert found(read) == {("North", frozenset({"flu"})): 3, ("North", frozenset({"7"})): 2}
    assert read.groups_per_person is None
    twice = pa.concat_tables([source, source.slice(2, 1)])
    with pytest.raises(SourceError, match="more than once in one group"):
        counting.read_counts(twice, **asked)
    with pytest.raises(SourceError, match="counts that are missing"):
        counting.read_counts(source, **{**asked, "domain": [*ITEMS, "x"]})
    with pytest.raises(ParameterError, match="do not say which person has which item"):
        counting.read_counts(source, **{**asked, "domain": Domain.subsets(ITEMS, size=2)})


# --- Broken on purpose

MUTANTS: list[tuple[ModuleType, Mutant]] = [
    (group_bound, Mutant("by row order", "ORDER BY {order})", ")")),
    (group_bound, Mutant("by the number of the row", "FROM ({marked}) QUALIFY",
                         "FROM (SELECT * REPLACE (CAST(row_number() OVER () AS VARCHAR) AS mark) "
                         "FROM ({marked})) QUALIFY")),
    (group_bound, Mutant("by counts of other people", "FROM ({marked}) QUALIFY",
                         "FROM (SELECT * REPLACE (CAST(count(*) OVER (PARTITION BY grp) AS VARCHAR)"
                         " AS mark) FROM ({marked})) QUALIFY")),
    (group_bound, Mutant("by the group alone", "build_hash_sql(marks, person_text)",
                         "build_hash_sql(marks, \"''\")")),
    (group_bound, Mutant("one too many", "{number} > {to_limit(most)}",
                         "{number} > {to_limit(most)} + 1")),
    (group_bound, Mutant("nobody is bounded", "HAVING count(*) > {to_limit(most)}",
                         "HAVING false")),
    (group_bound, Mutant("rows are dropped for all", "USING (person, grp)", "USING (grp)")),
    (group_bound, Mutant("all groups of many are dropped", "USING (person, grp)",
                         "USING (person)")),
    (group_bound, Mutant("all persons are one", 'number_by_hash("person", ["mark"]',
                         'number_by_hash("1", ["mark"]')),
    (group_counts, Mutant("rows and not persons", "count(DISTINCT person) AS n", "count(*) AS n")),
    (group_counts, Mutant("items are bounded over all groups",
                          'number_by_hash("person, grp", ["mark"], tally.person_text)\n    return',
                          'number_by_hash("person", ["mark"], tally.person_text)\n    return')),
    (group_counts, Mutant("items of one group with another's", "AND h{n}.grp = h0.grp ", "")),
    (group_bound, Mutant("who is missing is one", " WHERE person IS NOT NULL", "")),
    (group_counts, Mutant("a group begins too early", "np.arange(1, groups.size + 1, dtype",
                          "np.arange(groups.size, dtype")),
    (member_places, Mutant("places as they come", "for place in order], dtype",
                           "for place in order[::-1]], dtype")),
    (contribution_bound, Mutant("by the person alone", "[*marks, person]", "[person]")),
    (tally, Mutant("the group is an item, too", "cells[2:]", "cells")),
]  # fmt: skip


def groups_are_right() -> bool:
    again = [*HOSTILE[100:], *HOSTILE[:100], *HOSTILE[:30]]
    return lines_are_right() and all(
        found(count(table(rows), form, groups_per_person=most, **asked))
        == plainly_kept(rows, most, asked.get("items_per_person"), asked.get("together", 1))
        for rows in (HOSTILE, again)
        for form in RULES
        for most, asked in (
            (1, {}),
            (2, {}),
            (3, {"items_per_person": 1}),
            (2, {"together": 2}),
            (2, {"together": 2, "items_per_person": 1}),
        )
    )


def lines_are_right() -> bool:
    return {**lines(LINES)["North"]} == {"flu": 2, "7": 1} and not {*lines(b"7 flu")["7"]} - {"flu"}


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_a_broken_count_of_groups_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_module(monkeypatch, module, mutant)
    assert not groups_are_right()


def test_a_sound_count_of_groups_is_not_found_broken() -> None:
    assert groups_are_right()


# --- What is refused


@pytest.mark.parametrize(("asked", "error", "why"), [
    ({"groups": None}, DomainError, "The groups are missing"),
    ({"groups": FROM_DATA}, DomainError, "^The groups must be public"),
    ({"groups": ["a", "a"]}, DomainError, "^The groups cannot be used: The .* more than once"),
    ({"groups": []}, DomainError, "The groups cannot be used: .* empty"),
    ({"groups": "missing.txt"}, DomainError, "The groups cannot be used: .* cannot be read"),
    ({"groups": Domain.range(0, 10**7)}, DomainError, "more than 1,000,000 groups"),
    ({"groups": Domain.subsets(GROUPS, size=2)}, DomainError, "Sets of items cannot be groups"),
    ({"groups": Domain.product(["a"], ["b"])}, DomainError, "cannot be used: .* has 2 columns"),
    ({"groups_per_person": 0}, ParameterError, "groups_per_person must be"),
    ({"groups_per_person": 1.0}, ParameterTypeError, "groups_per_person must be"),
    ({"by": None}, ParameterError, "groups needs by"),
    ({"by": None, "groups": None, "groups_per_person": 2}, ParameterError, "needs by"),
    ({"by": ["where", "where"]}, ParameterError, "by must name each column once"),
    ({"by": []}, ParameterError, "by must name the column of the groups"),
    ({"by": 7}, ParameterError, "by must name the column of the groups"),
    ({"by": "what"}, ParameterError, "must be in different columns"),
    ({"by": "who"}, ParameterError, "must be in different columns"),
    ({"by": "other"}, SourceError, "no column 'other'"),
])  # fmt: skip
def test_what_is_no_grouping_is_refused(asked: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why):
        count(table(HOSTILE), **asked)
