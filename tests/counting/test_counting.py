"""Whatever holds the events, distinct persons are counted, and what is invisible does not count."""

from collections.abc import Callable
from decimal import Context, Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.checking.mutants import Mutant
from tests.counting.broken_modules import break_module
from tests.counting.sample_events import Events, plainly_counted, ways
from topgap import counting
from topgap.counting import cells, counted, engine, events, listed_items, tally
from topgap.counting.engine import Engine
from topgap.domains import cell_text
from topgap.errors import SourceError, TopgapError

NAMES = [*ways(Path())]
DOMAIN = ["flu", "café", "7", "two words", "nobody has it", "«»"]

# Ends that do not count, cells that mean the same, and some that only look as if they did.
ENDS = ["", " ", "\t", "\u00a0", "\u200b", "\ufeff", "\u3000 ", "\x1f", "\u200e", "\xad", "\x7f"]
CORES = [
    "flu",
    "Flu",
    "café",
    "cafe\u0301",
    "7",
    "07",
    "7.0",
    "two words",
    "two  words",
    "",
    "«»",
    "x",
]
cell = st.one_of(
    st.none(),
    st.builds(
        lambda a, b, c: a + b + c,
        st.sampled_from(ENDS),
        st.sampled_from(CORES),
        st.sampled_from(ENDS),
    ),
)
some_events = st.lists(st.tuples(cell, cell), max_size=30)

AWKWARD: Events = [
    ("Ann", "flu"), ("Ann", "flu"), (" Ann\u00a0", "flu "), ("Bob", "\tflu"), ("Bob", "cafe\u0301"),
    ("Bob", "café"), (None, "flu"), ("", "flu"), ("  ", "flu"), ("Cy", None), ("Cy", ""),
    ("Cy", " "), ("Cy", "7"), ("Dee", "7.0"), ("Dee", "07"), ("Dee", "two words"),
    ("Dee", "elsewhere"), ("O'Neil", "flu"),
    ('"E"', "«»"), ("a,b;c|d\te", "flu"), ("line\nbreak", "flu"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_each_form_of_events_is_counted_by_the_rule(name: str, tmp_path: Path) -> None:
    counted = ways(tmp_path)[name](AWKWARD, DOMAIN)
    assert counted == plainly_counted(AWKWARD, DOMAIN)
    assert counted == {
        "flu": 5, "café": 1, "7": 1, "two words": 1, "nobody has it": 0, "«»": 1,
    }  # fmt: skip
    assert [*counted] == DOMAIN


# Without a row, these have no columns.
@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [n for n in NAMES if n not in {"csv without header", "json lines"}]
)
def test_no_events_are_zeros_if_that_is_allowed(name: str, tmp_path: Path) -> None:
    assert ways(tmp_path)[name]([], DOMAIN) == dict.fromkeys(DOMAIN, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "json lines", "parquet", "sqlite table", "pandas"])
@given(drawn=some_events)
@settings(max_examples=25)
def test_any_events_are_counted_by_the_rule(
    name: str, drawn: Events, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("events")
    drawn = [("Zoe", "flu"), *drawn]
    assert ways(folder)[name](drawn, DOMAIN) == plainly_counted(drawn, DOMAIN)


@pytest.mark.deep
def test_a_large_file_is_counted_as_a_small_one(tmp_path: Path) -> None:
    # Many buffers of many threads: the first line must still be found, and no row lost or doubled.
    persons, items = 40_000, 7
    path = tmp_path / "large.csv"
    rows = "".join(f"p{n % persons},{n % items}\n" for n in range(2_000_000))
    path.write_text("who,what\n" + rows)
    expected = {
        str(item): len({n % persons for n in range(item, 2_000_000, items)})
        for item in range(items)
    }
    for _ in range(10):
        assert (
            counting.count_events(path, person="who", item="what", domain=[*expected]) == expected
        )


MUTANTS = [
    (tally, Mutant("every event counts", "count(DISTINCT {key}) AS n", "count({key}) AS n")),
    (
        tally,
        Mutant(
            "two spellings are not joined",
            "by_text=f\"SELECT {_name_columns('item', texts)}",
            'by_text=f"SELECT {cells}',
        ),
    ),
    (counted, Mutant("the last spelling wins", "HAVING count(*) > 1", "HAVING false")),
    (
        counted,
        Mutant("changed cells are not looked at", "text{n} <> item{n}", "text{n} = item{n} || '!'"),
    ),
    (
        listed_items,
        Mutant("items nobody has count one", "np.zeros(len(public)", "np.ones(len(public)"),
    ),
    (
        counted,
        Mutant(
            "the item is not normalized",
            "tally.build_texts_sql()",
            '", ".join(f"CAST(item{n} AS VARCHAR) AS text{n}" for n in range(tally.width))',
        ),
    ),
]
CELL_MUTANTS = [
    Mutant("blank is a name", "nullif(nfc_normalize(", "coalesce(nfc_normalize("),
    Mutant("only spaces are trimmed", "regexp_replace({text}, {_ENDS}, '', 'g')", "trim({text})"),
    Mutant("only one end is trimmed", "|[{_CLASS}]+$", ""),
    Mutant("letters are not composed", "nullif(nfc_normalize(replace(", "nullif((replace("),
    Mutant("what comes after a NUL is lost", "chr(0), chr(65533)", "'-', '-'"),
    Mutant(
        "persons are taken as they are",
        'return f"CASE WHEN {plain} THEN {cell} ELSE {_build_normalized_sql(cell)} END"',
        "return cell",
    ),
    Mutant("ends of persons are not looked at", "BETWEEN 33 AND 126", ">= 0"),
    Mutant("starts of persons are not looked at", "{cell} >= '!' AND ", ""),
    Mutant(
        "persons beyond ASCII are taken as they are", "AND strlen({cell}) = length({cell}) ", ""
    ),
]
# Each has one that shows it.
SHOWING: list[Events] = [
    AWKWARD,
    [(" Eve", "flu"), ("Eve", "flu")],
    [("Eve\t", "flu"), ("Eve", "flu")],
    [("Eve\x7f", "flu"), ("Eve", "flu")],
    [("Zoe\u0301", "flu"), ("Zoé", "flu")],
    [("Ne\u0301a", "flu"), ("Néa", "flu")],
    [("é\0a", "flu"), ("é\0b", "flu")],
    [("Flo", "\u200bflu")],
]


@pytest.mark.parametrize(("module", "mutant"), MUTANTS, ids=[mutant.name for _, mutant in MUTANTS])
def test_broken_counting_is_found(
    module: ModuleType, mutant: Mutant, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_module(monkeypatch, module, mutant)
    assert miscounts()


@pytest.mark.parametrize("mutant", CELL_MUTANTS, ids=lambda mutant: mutant.name)
def test_a_broken_rule_is_found(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    break_module(monkeypatch, cells, mutant)
    assert miscounts()


def miscounts() -> bool:
    def count(shown: Events) -> Any:
        table = pa.table({n: [event[i] for event in shown] for i, n in enumerate(("who", "what"))})
        return events.count_events(table, person="who", item="what", domain=DOMAIN)

    return any(count(shown) != plainly_counted(shown, DOMAIN) for shown in SHOWING)


@pytest.mark.slow
def test_sound_counting_is_not_found_broken() -> None:
    assert not miscounts()


@pytest.mark.deep
def test_sql_and_python_tidy_every_character_alike() -> None:
    # Both see all of Unicode's characters at the start, inside and at the end of a text.
    characters = [chr(code) for code in range(0x110000) if not 0xD800 <= code <= 0xDFFF]
    texts = [f"{char}x{char}ÿ{char}" for char in characters]
    with Engine(memory="2GB") as duck:
        duck.connection.register("given", {"text": np.array(texts, dtype=object)})
        key = cells.build_person_sql("text", "VARCHAR")
        tidy = cells.build_item_sql("text", "VARCHAR")
        rows = duck.run(f"SELECT text, {tidy}, {key} FROM given", label="")
    assert len(rows) == len(texts)
    # Where Unicode has grown, the younger of the two tables composes more than the older.
    differ = [text for text, by_sql, _ in rows if by_sql != cell_text.normalize_text(text)]
    assert len(differ) < 20
    assert [text for text, by_sql, as_person in rows if by_sql != as_person] == []


TYPED: list[tuple[str, Any, str]] = [
    ("integers", pa.array([7, 7, None], pa.int16()), "7"),
    ("unsigned", pa.array([7, 7, None], pa.uint64()), "7"),
    ("floats", pa.array([7.0, 7.0, float("nan")]), "7"),
    ("fractions", pa.array([0.1, 0.1, None]), "0.1"),
    ("single floats", pa.array([0.1, 0.1, None], pa.float32()), "0.1"),
    ("large floats", pa.array([1e300, 1e300, None]), "1e+300"),
    ("decimals", pa.array([7, 7, None]).cast(pa.decimal128(30, 2)), "7"),
    ("booleans", pa.array([True, True, None]), "true"),
    ("dates", pa.array([19_723, 19_723, None], pa.date32()), "2024-01-01"),
    ("categories", pa.array(["7", " 7", None]).dictionary_encode(), "7"),
    ("views", pa.array(["7", " 7", None], pa.string_view()), "7"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("column", "text"), [each[1:] for each in TYPED], ids=[each[0] for each in TYPED]
)
def test_a_cell_of_any_type_is_compared_as_text(column: Any, text: str) -> None:
    people = pa.array(["Ann", "Bob", "Cy"])
    items = pa.table({"who": people, "what": column})
    assert counting.count_events(items, person="who", item="what", domain=[text]) == {text: 2}
    persons = pa.table({"who": column, "what": pa.array(["flu"] * 3)})
    assert counting.count_events(persons, person="who", item="what", domain=["flu"]) == {"flu": 1}


WIDE = Context(prec=50)
LONG = [Decimal(f"1234567890123456789012345678901234.567{n}") for n in range(10)]


def test_decimals_are_compared_by_all_their_digits() -> None:
    items = pa.array([LONG[8]] * 3 + [LONG[9]])
    assert items.type == pa.decimal128(38, 4)
    held = pa.table({"who": [1, 2, 3, 1], "what": items})
    for table in (held, held.to_pandas(), held.to_pandas().astype({"what": str})):
        counted = counting.count_events(table, person="who", item="what", domain=LONG)
        assert counted == {**dict.fromkeys(LONG, 0), LONG[8]: 3, LONG[9]: 1}


@pytest.mark.parametrize("kind", [
    (1, 1), (4, 4), (9, 2), (9, 9), (18, 3), (18, 18), (20, 2), (38, 0), (38, 4), (38, 37), (38, 38)
], ids=str)  # fmt: skip
def test_sql_and_python_write_every_decimal_alike(kind: tuple[int, int]) -> None:
    width, scale = kind
    digits = [0, 1, 5, 10 ** (width - 1), 5 * 10 ** (width - 1), 10**width // 3, 10**width - 1]
    digits += [10 ** min(scale, width - 1), 9 * 10 ** (width // 2)]
    values = [Decimal(sign * n).scaleb(-scale, WIDE) for n in digits for sign in (1, -1)]
    given = pa.table({"cell": pa.array(values, pa.decimal128(width, scale))})
    with Engine() as duck:
        duck.connection.register("given", given)
        text = cells.build_item_sql("cell", f"DECIMAL({width},{scale})")
        rows = duck.run(f"SELECT cell, {text} FROM given", label="")
    assert [by_sql for _, by_sql in rows] == [cell_text.to_text(value) for value, _ in rows]
    assert [Decimal(by_sql) for _, by_sql in rows] == values


@pytest.mark.parametrize("column", [
    pa.array([[1], [2]]), pa.array([{"a": 1}, {"a": 2}]), pa.array([b"a", b"b"]),
], ids=["lists", "structs", "bytes"])  # fmt: skip
def test_items_of_no_plain_type_are_refused(column: Any) -> None:
    table = pa.table({"who": pa.array(["Ann", "Bob"]), "what": column})
    with pytest.raises(SourceError, match="'what' of a type that cannot be used"):
        counting.count_events(table, person="who", item="what", domain=["flu"])


def test_persons_may_be_bytes() -> None:
    table = pa.table({"who": [b"\xff", b"\xff", b"\0"], "what": ["flu"] * 3})
    assert counting.count_events(table, person="who", item="what", domain=["flu"]) == {"flu": 2}


def test_mixed_types_in_one_column_are_compared_as_text() -> None:
    mixed = pd.DataFrame({
        "who": [1, "1", 1.0, True, None, float("nan"), pd.NA, 2],
        "what": ["7", 7, 7.0, " 7 ", 7, 7, 7, np.int8(7)],
    }, dtype=object)  # fmt: skip
    assert counting.count_events(mixed, person="who", item="what", domain=[7]) == {7: 3}
    odd = pd.DataFrame({"who": [["Ann"]], "what": ["flu"]}, dtype=object)
    with pytest.raises(SourceError, match="neither text nor a number") as error:
        counting.count_events(odd, person="who", item="what", domain=["flu"])
    assert "Ann" not in str(error.value)


@pytest.mark.parametrize("make", [
    lambda: pd.DataFrame([[1, 2, 3]], columns=["who", "what", "what"]),
    lambda: pd.Series([1]), lambda: pl.Series([1]), lambda: 7, lambda: None, lambda: {"who": [1]},
    lambda: pd.DataFrame({"who": [1]}), lambda: pl.DataFrame({"who": [1]}),
    lambda: pl.LazyFrame({"who": [1]}), list, lambda: pa.table({"who": [1]}),
    lambda: pd.DataFrame({"who": [1], "what": pd.period_range("2026-01", periods=1, freq="M")}),
])  # fmt: skip
def test_what_has_no_such_columns_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(TopgapError):
        counting.count_events(make(), person="who", item="what", domain=["flu"])


def test_memory_is_read_and_refused() -> None:
    assert engine._parse_memory("2 gib") == 2 * 10**9
    for wrong in ("", "7", "10MB", "-1GB", "many", "1e9"):
        with pytest.raises(TopgapError, match="memory must be"):
            Engine(memory=wrong)
