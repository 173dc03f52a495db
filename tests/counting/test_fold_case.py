"""`fold_case`: one rule for all letters, in items, groups, persons and the domain alike."""

import io
import sys
import unicodedata
from collections.abc import Callable
from types import ModuleType
from typing import Any

import duckdb
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import one
from topgap import counting
from topgap.counting import FROM_DATA, Domain, cells, count_events, count_transactions, tally
from topgap.errors import DomainError, SourceError

Frame = Callable[..., pd.DataFrame]


def visits(*rows: tuple[Any, ...]) -> pd.DataFrame:
    columns = ["who", "what", "where"][: len(rows[0]) if rows else 2]
    return pd.DataFrame([*rows], columns=columns, dtype=object)


def folded(source: Any, domain: Any, **how: Any) -> dict[Any, int]:
    return one(source, domain=domain, fold_case=True, **how)


def fold_letter(letter: str) -> str:
    """The lower case of the upper case, if each is one letter: what Unicode calls simple."""
    if letter == "\u0130":  # of which Python knows the form of two letters alone
        return "i"
    upper = next((u for u in (letter.upper(), letter.title()) if len(u) == 1), letter)
    return upper.lower() if len(upper.lower()) == 1 else upper


@pytest.mark.slow
def test_each_letter_of_unicode_is_folded_for_good_and_as_is_documented() -> None:
    text = cells.build_item_sql("chr(code)", "VARCHAR")
    once = cells.build_folded_sql(str(text))
    rows = duckdb.execute(
        f"SELECT code, {text}, {once}, {cells.build_folded_sql(once)}, "
        f"{cells.build_item_sql(once, 'VARCHAR')} FROM (SELECT CAST(range AS INTEGER) AS code "
        f"FROM range(1, {sys.maxunicode + 1}) WHERE range NOT BETWEEN 55296 AND 57343)"
    ).fetchall()
    assert [row for row in rows if not row[2] == row[3] == row[4]] == []
    known = [row for row in rows if row[1] and len(row[1]) == 1]
    known = [row for row in known if unicodedata.category(row[1]) != "Cn"]  # to this Python
    assert len(known) > 100_000
    wrong = [code for code, letter, once, *_ in known if once != fold_letter(letter)]
    assert wrong == []


def test_letters_with_marks_are_folded_for_good() -> None:
    marks = [c for c in map(chr, range(0x300, 0x370)) if unicodedata.combining(c)]
    letters = [c for c in map(chr, range(0x41, 0x2000)) if c.upper() != c.lower()]
    pairs = pd.DataFrame({"pair": [letter + mark for letter in letters for mark in marks]})
    text = str(cells.build_item_sql("pair", "VARCHAR", folds=True))
    again = cells.build_item_sql("text", "VARCHAR", folds=True)
    query = f"SELECT count(*), count(*) FILTER (text <> {again}) FROM (SELECT {text} AS text "
    with duckdb.connect() as connection:
        connection.register("pairs", pairs)
        ((number, changed),) = connection.execute(f"{query} FROM pairs)").fetchall()
    assert number > 100_000
    assert changed == 0


def test_names_are_in_the_spelling_of_the_domain() -> None:
    source = visits(("Ann", "FLU"), ("Bob", "flu "), ("Cy", "Straße"), ("Di", "ΟΔΟΣ"), ("E", "x"))
    assert folded(source, ["Flu", "STRAßE", "οδος", "odd"]) == {
        "Flu": 2, "STRAßE": 1, "οδος": 1, "odd": 0,
    }  # fmt: skip
    assert folded(source, FROM_DATA) == {"flu": 2, "straße": 1, "οδοσ": 1, "x": 1}
    assert folded(source, Domain.range(0, 9)) == {}
    numbers = visits(("Ann", 7), ("Bob", 7.0))
    assert folded(numbers, Domain.range(0, 9)) == {7: 2}
    assert one(source) == {"flu": 1}  # off unless asked for


def test_one_person_counts_once_in_any_case() -> None:
    source = visits(("Ann", "flu", "N"), ("Ann", "FLU", "n"), ("ANN", "Flu", "N"), ("Bob", "x", ""))
    asked: Any = {"person": "who", "item": "what", "fold_case": True, "domain": ["flu", "x"]}
    assert count_events(source, **asked) == {"flu": 1, "x": 1}
    assert count_events(source, **asked, items_per_person=1) == {"flu": 1, "x": 1}
    regions = count_events(source, **asked, by="where", groups=["N", "S"])
    assert dict(regions) == {"N": {"flu": 1}, "S": {}}
    assert regions.domain == Domain(["flu", "x"])
    baskets = io.BytesIO(b"flu FLU Flu x\nFLU\n")
    options: Any = {"domain": ["Flu", "X"], "fold_case": True}
    assert count_transactions(baskets, **options) == {"Flu": 2, "X": 1}
    baskets.seek(0)
    assert count_transactions(baskets, **options, together=2) == {("Flu", "X"): 1}
    baskets.seek(0)
    grouped = count_transactions(baskets, domain=["flu", "x"], groups=["flu"], fold_case=True)
    assert dict(grouped) == {"flu": {"flu": 1, "x": 1}}


CODES = ["flu", "gout", "é7", "σ"]  # of which Python changes the case letter by letter
SPELT = st.tuples(
    st.sampled_from(["Ann", "bob", "Çem"]),
    st.sampled_from([*CODES, "other"]),
    st.sampled_from(["North", "south"]),
)
WAYS = st.sampled_from([str, str.lower, str.title, lambda text: f" {text.swapcase()}"])


@pytest.mark.slow
@settings(deadline=None, max_examples=8)
@given(st.lists(st.tuples(SPELT, WAYS, WAYS), max_size=12), st.sampled_from([None, 1, 2]))
def test_case_changes_nothing_of_what_is_counted(events: list[Any], bound: int | None) -> None:
    """Of any spellings the counts are those of one spelling, and so is what bounds keep."""
    plain = visits(*(spelt for spelt, *_ in events))
    mixed = visits(
        *((person(who), item(what), item(where)) for (who, what, where), person, item in events)
    )
    for how in ({}, {"together": 2}, {"by": "where", "groups": ["North", "SOUTH"]}):
        asked: Any = {"person": "who", "item": "what", "domain": CODES, "fold_case": True}
        asked |= {"items_per_person": bound, **how}
        expected = counting.count_events(plain.reindex(columns=["who", "what", "where"]), **asked)
        counted = counting.count_events(mixed.reindex(columns=["who", "what", "where"]), **asked)
        assert dict(counted) == dict(expected), how
        if not how and bound is None:
            for item, count in expected.items():
                assert count == len({who for (who, what, _), *_ in events if what == item})


def test_rules_with_lists_and_lookups_fold_too() -> None:
    source = visits(("Ann", "FLU", "at"), ("Bob", "flu", "AT"))
    product = Domain.product(["Flu", "Gout"], ["At", "De"])
    asked: Any = {"person": "who", "item": ["what", "where"], "domain": product}
    assert count_events(source, **asked, fold_case=True) == {("Flu", "At"): 2}
    with counting.counted_items(source, **asked, fold_case=True) as occurring:
        assert occurring.find([("Flu", "At"), ("Gout", "De")]) == {("Flu", "At")}
        assert (occurring.count, occurring.domain) == (1, product)
    asked = {"person": "who", "item": "what", "fold_case": True}
    pairs = Domain.subsets(["Flu", "GOUT"], size=2)
    both = visits(("Ann", "FLU"), ("Ann", "gout"))
    with counting.counted_items(both, **asked, domain=pairs) as occurring:
        assert occurring.find([("Flu", "GOUT")]) == {("Flu", "GOUT")}


def test_patterns_and_alphabets_in_one_case_find_any_case() -> None:
    source = visits(
        ("Ann", "j11.1"), ("ANN", "J11.1"), ("Bob", "J11.1"), ("Cy", "İ00"), ("Di", "ı00"),
        ("Eve", "ſ00"), ("Fay", "é00"),
    )  # fmt: skip
    codes = Domain.pattern(r"[A-Z][0-9]{2}(\.[0-9])?")
    assert folded(source, codes) == {"J11.1": 2, "I00": 2, "S00": 1}
    assert folded(source, Domain.strings("a-z0-9.", max_length=5)) == {
        "j11.1": 2, "i00": 2, "s00": 1,
    }  # fmt: skip
    assert folded(source, Domain.strings("0-9", max_length=5)) == {}
    asked: Any = {"person": "who", "item": "what", "domain": codes, "fold_case": True}
    with counting.counted_items(source, **asked) as occurring:
        assert occurring.find(["J11.1", "J12", "S00"]) == {"J11.1", "S00"}
        assert occurring.domain is codes


@pytest.mark.parametrize("groups", [False, True])
def test_lists_that_fall_together_and_rules_by_spelling_are_refused(groups: bool) -> None:
    source = visits(("Zaphod", "flu", "N")).assign(more="x")
    for domain, said in (
        (["flu", "x", "FLU"], "'flu' and 'FLU', which differ only by upper and lower case"),
        (Domain.pattern("[A-Za-z][0-9]"), "a pattern or an alphabet must be of ASCII"),
        (Domain.strings("a-zé", max_length=2), "a pattern or an alphabet must be of ASCII"),
        (Domain.product(["a", "A"], ["x"]), "'a' and 'A'"),
    ):
        columns = ["what", "where"] if domain == Domain.product(["a", "A"], ["x"]) else ["what"]
        asked: Any = {"item": columns, "domain": domain}
        if groups:
            asked = {"item": "more", "domain": ["x"], "by": columns, "groups": domain}
        with pytest.raises(DomainError, match=said):
            count_events(source, **{"person": "who", "fold_case": True, **asked})


def test_precomputed_counts_of_one_item_in_two_spellings_are_refused() -> None:
    counts = pd.DataFrame({"what": ["flu", "FLU"], "n": [3, 4]})
    asked: Any = {"item": "what", "count": "n", "domain": ["flu"]}
    assert counting.read_counts(counts, **asked) == {"flu": 3}
    with pytest.raises(SourceError, match="more than once"):
        counting.read_counts(counts, **asked, fold_case=True)


MUTANTS = [
    (tally, Mutant("persons are not folded", "who.kind, folds=folds)", "who.kind)")),
    (tally, Mutant("texts are not folded", "kind, folds=self.folds)", "kind)")),
    (cells, Mutant("the sigmas differ", "lower(upper({text}))", "lower({text})")),
    (cells, Mutant("letters are not composed again", "nfc_normalize(lower", "(lower")),
]


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_broken_folding_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Cells of which none means the same item as another are counted in another way.
    sources = [visits(("Ann", "FLU"), ("ANN", "flu"), ("Cy", "ς")), visits(("Bob", "J\u030c"))]
    domain = ["Flu", "\u01f0", "σ"]

    def count() -> list[list[int]]:
        return [[*folded(source, domain).values()] for source in sources]

    sound = [[1, 0, 1], [0, 1, 0]]
    assert count() == sound
    break_module(monkeypatch, module, mutant)
    assert count() != sound
