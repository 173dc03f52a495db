"""The public list of items: what it may come from, and what is refused."""

import contextlib
import os
import threading
import uuid
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from topgap import counting
from topgap.counting import FROM_DATA, Domain, domain, read_domain
from topgap.errors import DomainError, SourceError, TopgapError


@pytest.mark.parametrize("items", [
    ["a", "b"], ("a", "b"), {"a": 1, "b": 2}, (each for each in "ab"), np.array(["a", "b"]),
    pd.Series(["a", "b"], index=[7, 8]), pd.Index(["a", "b"]), pd.Categorical(["a", "b"]),
    pl.Series(["a", "b"]), pa.array(["a", "b"]), pa.chunked_array([["a"], ["b"]]), [" a ", "b\n"],
], ids=lambda items: type(items).__name__)  # fmt: skip
def test_any_list_of_items_will_do(items: Any) -> None:
    assert [*Domain(items).names] == ["a", "b"]


def test_items_keep_their_type_and_are_compared_as_text() -> None:
    given = [
        7,
        2.5,
        8.0,
        True,
        Decimal("0.10"),
        date(2026, 1, 2),
        uuid.UUID(int=5),
        "x",
        np.int8(3),
    ]
    domain = Domain(given)
    assert [*domain.names] == given
    assert [*domain.texts] == [
        "7", "2.5", "8", "true", "0.1", "2026-01-02", str(uuid.UUID(int=5)), "x", "3",
    ]  # fmt: skip


@pytest.mark.parametrize(("item", "text"), [
    ("1234567890123456789012345678901234.56780", "1234567890123456789012345678901234.5678"),
    ("-0.00000000000000000000000000000000000001", "-0.00000000000000000000000000000000000001"),
    ("1.50E+200", "15" + "0" * 199), ("2.50E+1", "25"), ("1000.000", "1000"), ("-0.0", "0"),
])  # fmt: skip
def test_decimals_are_written_with_all_their_digits(item: str, text: str) -> None:
    assert [*Domain([Decimal(item)]).texts] == [text]


def test_a_range_is_a_domain() -> None:
    events = pa.table({"who": [1, 2, 2], "what": [5, 5, 7]})
    counted = counting.count_events(events, person="who", item="what", domain=range(4, 8))
    assert counted == {4: 0, 5: 2, 6: 0, 7: 1}


@pytest.mark.parametrize(("items", "said"), [
    ([], "empty"), (range(0), "empty"), (["a", "a"], "'a' more than once"),
    (["a", " a"], "'a' more than once"), ([1, "1"], "'1' more than once"),
    (["é", "e\u0301"], "more than once"), (["a", ""], "blank"), (["a", " \u200b"], "blank"),
    ([True, 1], "more than once"), ([Decimal("1.5"), 1.5], "more than once"),
    (["a", "\ud800"], "not valid Unicode"), (["a", "a\u200e"], "more than once"),
    (["a", None], "blank or missing"), ([1.5, float("nan")], "blank or missing"),
    ([["a"]], "is a list"), ([b"a"], "is a bytes"), ([datetime(2026, 1, 2)], "is a datetime"),
    (b"ab", "not a list"), (7, "not a list"), (pd.DataFrame({"a": [1]}), "one column"),
    (None, "missing"), (range(10**7 + 1), "at most"),
], ids=repr)  # fmt: skip
def test_what_is_no_list_of_distinct_items_is_refused(items: Any, said: str) -> None:
    events = pa.table({"who": ["Zaphod"], "what": ["a"]})
    with pytest.raises(DomainError, match=said):
        counting.count_events(events, person="who", item="what", domain=items)


def test_a_domain_never_shows_that_it_is_long() -> None:
    assert repr(Domain(range(10**6))) == "<Domain of 1000000 items>"
    assert repr(FROM_DATA) == "topgap.counting.FROM_DATA"


def test_a_text_file_holds_an_item_a_line(tmp_path: Path) -> None:
    path = tmp_path / "items.txt"
    path.write_bytes("\ufeffflu\r\n\r\n  caf\u00e9 \u00a0\r\n# 7\r\n\u2028".encode())
    assert read_domain(path).names == ["flu", "café", "# 7"]


@pytest.mark.slow
def test_a_column_of_a_table_holds_the_items(tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("code,meaning\n007,x\nA1 ,y\n")
    assert read_domain(tmp_path / "codes.csv", "code").names == ["007", "A1"]
    assert read_domain(tmp_path / "codes.csv", "1", header=False).names == ["code", "007", "A1"]
    pq.write_table(pa.table({"code": [9, 7]}), tmp_path / "codes.parquet")
    assert read_domain(tmp_path / "codes.parquet", "code").names == [9, 7]
    large = tmp_path / "large.parquet"
    pq.write_table(pa.table({"code": range(300_000, 0, -1)}), large, row_group_size=10_000)
    assert read_domain(large, "code").names == [*range(300_000, 0, -1)]


BAD_FILES: dict[str, tuple[str, bytes | None, str | None]] = {
    "missing": ("d.txt", None, None),
    "empty": ("d.txt", b"", None),
    "blank": ("d.txt", b" \n\n\t\n", None),
    "binary": ("d.txt", bytes(range(256)), None),
    "one long line": ("d.txt", b"x" * 3_000_000, None),
    "twice": ("d.txt", b"flu\ncold\nflu \n", None),
    "a table without a column": ("d.csv", b"code\nflu\n", None),
    "no such column": ("d.csv", b"code\nflu\n", "item"),
    "no rows": ("d.csv", b"code\n", "code"),
    "a missing item": ("d.csv", b"code,n\nflu,1\n,2\n", "code"),
    "an item twice": ("d.csv", b"code\nflu\nflu\n", "code"),
    "no known format": ("d.xyz", b"code\nflu\n", "code"),
    "a broken parquet": ("d.parquet", b"PAR1 and so on", "code"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_file_that_is_no_domain_is_refused(name: str, tmp_path: Path) -> None:
    file, content, column = BAD_FILES[name]
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(DomainError) as error:
        read_domain(tmp_path / file, column)
    assert str(error.value).endswith(".")
    assert "\n" not in str(error.value)


@pytest.mark.posix
@pytest.mark.parametrize("column", [None, "code"])
@pytest.mark.parametrize("line", [b"\n", b"x\n", b"x" * 3_000_000], ids=["blank", "same", "one"])
def test_a_list_without_end_is_refused_when_it_is_too_long(
    line: bytes, column: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "MOST_ITEMS", 1_000)
    monkeypatch.setattr(domain, "_MOST_COPIED", 10_000_000)
    pipe = tmp_path / ("d.csv" if column else "d.txt")
    os.mkfifo(pipe)

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError), pipe.open("wb") as file:
            file.write(b"code\n")
            while True:
                file.write(line * (1 + 100_000 // len(line)))

    thread = threading.Thread(target=feed, daemon=True)
    thread.start()
    with pytest.raises(DomainError, match="more than"):
        read_domain(pipe, column)
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    ("limit", "value"), [("MOST_ITEMS", 3), ("MOST_TEXT", 10)], ids=["items", "text"]
)
def test_a_list_that_is_too_long_is_refused_before_it_is_held(
    limit: str, value: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "d.txt").write_text("flu 1\nflu 2\nflu 3\nflu 4\n")
    (tmp_path / "d.csv").write_text("code\nflu 1\nflu 2\nflu 3\nflu 4\n")
    for file, column in (("d.txt", None), ("d.csv", "code")):
        assert len(read_domain(tmp_path / file, column)) == 4
    monkeypatch.setattr(domain, limit, value)
    for file, column in (("d.txt", None), ("d.csv", "code")):
        with pytest.raises(DomainError, match=f"more than {value} "):
            read_domain(tmp_path / file, column)


def test_items_outside_the_domain_are_left_out_without_a_word(
    capfd: pytest.CaptureFixture[str],
) -> None:
    events = pa.table({"who": [1, 2, 3], "what": ["in", "out", "further out"]})
    assert counting.count_events(events, person="who", item="what", domain=["in"]) == {"in": 1}
    assert capfd.readouterr() == ("", "")


FROM: list[tuple[Callable[[], Any], list[Any]]] = [
    (lambda: pa.table({"who": [1, 2, 3], "what": [10, 9, None]}), [9, 10]),
    (lambda: pa.table({"who": [1, 2, 3], "what": ["b", " a", None]}), ["a", "b"]),
    (lambda: pa.table({"who": [1, 2, 3], "what": ["a", " a", "a "]}), ["a"]),
    (lambda: pa.table({"who": [1, 2, None], "what": [0.5, 3.0, 9.0]}), ["0.5", "3", "9"]),
]


@pytest.mark.parametrize(("make", "names"), FROM)
def test_items_taken_from_the_data_come_in_an_order_that_tells_nothing(
    make: Callable[[], Any], names: list[Any]
) -> None:
    counted = counting.count_events(make(), person="who", item="what", domain=FROM_DATA)
    assert [*counted] == names


@pytest.mark.slow
def test_ready_counts_are_read_and_checked(tmp_path: Path) -> None:
    def read(text: str, domain: Any = ("a", "b")) -> dict[Any, int]:
        (tmp_path / "c.csv").write_text(text)
        return counting.read_counts(tmp_path / "c.csv", item="i", count="n", domain=domain)

    largest = 2**63 - 1
    assert read(f"i,n\na , 5 \nz,7\nb,{largest}\n") == {"a": 5, "b": largest}
    assert read("i,n\n,5\nb,0\n") == {"a": 0, "b": 0}
    assert read("i,n\na,5\nnot of the domain,n/a\n") == {"a": 5, "b": 0}
    for wrong in ("-1", "1.5", "1e3", "", "many", str(2**63), "٣"):
        with pytest.raises(SourceError, match="whole numbers"):
            read(f"i,n\na,{wrong}\n")
    with pytest.raises(SourceError, match="more than once"):
        read("i,n\na,1\n a,2\n")
    assert read("i,n\nz,1\nz ,2\na,3\n") == {"a": 3, "b": 0}
    with pytest.raises(SourceError, match="more than once"):
        read("i,n\nz,1\nz ,2\na,3\n", FROM_DATA)


@pytest.mark.parametrize("numbers", [
    pa.array([1.0, 2.0]), pa.array([1, 2], pa.uint64()), pa.array(["1", "2"]),
    pa.array([1, 2]).cast(pa.decimal128(30, 3)), pa.array([1, 2], pa.int8()),
], ids=lambda numbers: str(numbers.type))  # fmt: skip
def test_ready_counts_of_any_type_of_number(numbers: Any) -> None:
    table = pa.table({"i": ["a", "b"], "n": numbers})
    assert counting.read_counts(table, item="i", count="n", domain=["a", "b"]) == {"a": 1, "b": 2}


@pytest.mark.parametrize("numbers", [
    pa.array([1.5, 2.0]), pa.array([float("nan"), 1]), pa.array([2**64 - 1, 1], pa.uint64()),
    pa.array([None, 1]), pa.array([True, False]), pa.array([[1], [2]]), pa.array([-1, 1]),
], ids=str)  # fmt: skip
def test_ready_counts_that_are_none(numbers: Any) -> None:
    table = pa.table({"i": ["a", "b"], "n": numbers})
    with pytest.raises(TopgapError):
        counting.read_counts(table, item="i", count="n", domain=["a", "b"])
