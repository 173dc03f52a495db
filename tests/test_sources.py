"""What is particular to each kind of source: baskets, databases, several files, JSON's numbers."""

import csv
import gzip
import io
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import ExitStack, suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from checking.mutants import Mutant, mutated
from topgap import counting
from topgap.counting import FROM_DATA, events
from topgap.errors import ParameterError, SourceError, TopgapError

SHARED = Path(__file__).parents[2] / "shared" / "data"
BASKETS = b"1 2 2\t3 \n\n 2  2\n3 cafe\xcc\x81 caf\xc3\xa9\n4"
COUNTED = {"1": 1, "2": 2, "3": 2, "4": 1, "café": 1, "5": 0}


def baskets(content: bytes, module: Any = events) -> dict[Any, int]:
    counted: dict[Any, int] = module.count_transactions(io.BytesIO(content), domain=[*COUNTED])
    return counted


def test_a_basket_counts_each_of_its_items_once() -> None:
    assert baskets(BASKETS) == COUNTED
    taken = counting.count_transactions(io.BytesIO(BASKETS), domain=FROM_DATA)
    assert taken == {item: count for item, count in COUNTED.items() if count}


MUTANTS = [
    Mutant("repeats count", "unnest(list_distinct({items}))", "unnest({items})"),
    Mutant("tabs do not separate", "translate(line, chr(9), ' ')", "line"),
    Mutant("two spellings are two", "list_transform({cells},", "list_transform([],"),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_broken_counting_of_baskets_is_found(mutant: Mutant) -> None:
    assert baskets(BASKETS, mutated(events, mutant)) != COUNTED


@pytest.mark.parametrize("name", ["t40i10d100k", "retail"])
def test_the_public_baskets_are_counted_as_published(name: str) -> None:
    path = SHARED / f"{name}.dat.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not here")
    with (SHARED / f"{name}.counts.csv").open() as file:
        published = {item: int(count) for item, count in csv.reader(file)}
    assert counting.count_transactions(path, domain=FROM_DATA) == published
    ready = counting.read_counts(
        SHARED / f"{name}.counts.csv", item="1", count="2", header=False, domain=FROM_DATA
    )
    assert ready == published


@pytest.mark.parametrize("after", [b"", b"\n", b"\n1 2\n"])
@pytest.mark.parametrize("before", [b"", b"1 2\n", b"1 2\n" * 3_000_000])
@pytest.mark.parametrize("size", [2_100_000, 5_000_000, 9_000_000, 40_000_000])
def test_no_long_line_is_lost(before: bytes, size: int, after: bytes, tmp_path: Path) -> None:
    # DuckDB alone loses such a line where it is the last and larger than its buffer.
    path = tmp_path / "b.dat"
    path.write_bytes(before + b"7" * size + after)
    with pytest.raises(SourceError, match="longer than"):
        counting.count_transactions(path, domain=["1", "2"])


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


def test_without_the_look_at_the_lines_one_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "b.dat"
    path.write_bytes(b"1 2\n" + b"7" * 40_000_000)
    with duckdb.connect() as database:
        rows = database.execute(
            f"SELECT count(*) FROM {counting.delimited.read_lines([str(path)])}"
        ).fetchall()
    assert rows == [(1,)], "DuckDB has learnt it: lines.py may go"


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    path = tmp_path / "clinic.db"
    database = sqlite3.connect(path)
    database.execute("create table visits (who, what)")
    database.execute('create view "odd ""view""" as select who as "the who", what from visits')
    database.execute("create table other (n)")
    rows = [(1, "7"), (1.0, 7), ("1", 7.0), (b"\x01", " 7"), (None, 7), (2.5, 0.1), ("x", 0.1)]
    database.executemany("insert into visits values (?, ?)", rows)
    database.commit()
    database.close()
    return path


def test_types_of_sqlite_are_those_of_its_values(clinic: Path) -> None:
    domain = ["7", "0.1"]
    named = {"person": "who", "item": "what", "table": "visits"}
    counted = counting.count_events(clinic, **named, domain=domain)  # type: ignore[arg-type]
    assert counted == {"7": 2, "0.1": 2}
    view = {"person": "the who", "item": "what", "table": 'odd "view"'}
    assert counting.count_events(clinic, **view, domain=domain) == counted  # type: ignore[arg-type]


@pytest.mark.parametrize(("how", "said"), [
    ({}, "which table"),
    ({"table": "visit"}, "no table 'visit'; it has 'odd"),
    ({"table": "other"}, "no column 'who'; it has 'n'"),
    ({"table": "visits", "query": "select 1"}, "not both"),
    ({"query": "select who from"}, "query cannot be run"),
    ({"query": "drop table visits"}, "query cannot be run"),
    ({"query": "select who from visits"}, "no column 'what'"),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_what_a_database_does_not_have(
    kind: str, how: dict[str, str], said: str, clinic: Path, tmp_path: Path
) -> None:
    path = clinic
    if kind == "duckdb":
        path = tmp_path / "clinic.duckdb"
        with duckdb.connect(str(path)) as made:
            made.execute("create table visits (who varchar, what varchar)")
            made.execute('create view "odd ""view""" as select * from visits')
            made.execute("create table other (n integer)")
    before = path.read_bytes()
    with pytest.raises(TopgapError, match=said) as error:
        counting.count_events(path, person="who", item="what", domain=["7"], **how)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_tables_of_other_schemas_and_the_only_table(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("create schema s; create table s.v as select 1 as who, 'flu' as what")
    named = {"person": "who", "item": "what", "domain": ["flu"]}
    assert counting.count_events(path, **named) == {"flu": 1}  # type: ignore[arg-type]
    assert counting.count_events(path, table="s.v", **named) == {"flu": 1}  # type: ignore[arg-type]


def test_a_database_in_use_is_told(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    code = (
        "import duckdb, sys; c = duckdb.connect(sys.argv[1]); c.execute('create table v (a int)')"
    )
    run = subprocess.Popen(
        [sys.executable, "-c", code + "; print(1, flush=True); sys.stdin.read()", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert run.stdout is not None
    run.stdout.readline()
    try:
        with pytest.raises(SourceError, match="in use by another process"):
            counting.count_events(path, person="who", item="what", domain=["flu"])
    finally:
        run.communicate(b"")


def test_files_may_differ_in_layout_and_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,what\n1,flu\n")
    (tmp_path / "b.csv").write_text("what;when;who\nflu;now;2\nflu;now;1\n")
    (tmp_path / "c[1].csv").write_text("who|what\n3|flu\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    named = {"person": "who", "item": "what", "domain": ["flu"]}
    assert counting.count_events(f"{tmp_path}/*.csv", **named) == {"flu": 3}  # type: ignore[arg-type]
    assert counting.count_events(tmp_path / "c[1].csv", **named) == {"flu": 1}  # type: ignore[arg-type]
    (tmp_path / "b.dat").write_text("flu\n")
    twice = [tmp_path / "b.dat", f"{tmp_path}/b.*"]
    assert counting.count_transactions(twice, domain=["flu"]) == {"flu": 1}
    with pytest.raises(SourceError, match="same format"):
        counting.count_events([tmp_path / "a.csv", tmp_path / "b.dat"], **named)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="FIMI"):
        counting.count_events(tmp_path / "b.dat", **named)  # type: ignore[arg-type]


def test_numbers_of_json_are_whole_if_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    long = 12345678901234567890123
    items: list[Any] = [7, 7.0, "7", True, None, 0.5, long, long + 1, "  ", "x", 1e3]
    path.write_text("".join(json.dumps({"who": n, "what": i}) + "\n" for n, i in enumerate(items)))
    domain = ["7", "true", "0.5", str(long), str(long + 1), "x", "1000"]
    counted = counting.count_events(path, person="who", item="what", domain=domain)
    assert counted == dict(zip(domain, [3, 1, 1, 1, 1, 1, 1], strict=True))


def test_names_of_columns_may_be_anything(tmp_path: Path) -> None:
    odd = ["it's", 'a "b"', "c,d;e", "SELECT", "ünï", "{}", "a\\b"]
    for name in odd:
        with (tmp_path / "e.csv").open("w") as file:
            csv.writer(file).writerows([["who", name], [1, "flu"]])
        (tmp_path / "e.jsonl").write_text(json.dumps({"who": 1, name: "flu"}) + "\n")
        path = tmp_path / "e.sqlite"
        path.unlink(missing_ok=True)
        database = sqlite3.connect(path)
        quoted = '"' + name.replace('"', '""') + '"'
        database.execute(f"create table v (who, {quoted})")
        database.execute("insert into v values (1, 'flu')")
        database.commit()
        database.close()
        for source in ("e.csv", "e.jsonl", "e.sqlite"):
            counted = counting.count_events(
                tmp_path / source, person="who", item=name, domain=["flu"]
            )
            assert counted == {"flu": 1}, (source, name)


def test_what_memory_cannot_hold_goes_to_a_private_directory_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with duckdb.connect(str(tmp_path / "v.duckdb")) as made:
        made.execute(
            "create table v as select 'person ' || r as who, r % 3 as what from range(6000000) t(r)"
        )
    seen: list[tuple[int, int]] = []

    def look(_: str, __: float | None) -> None:
        for each in tmp_path.glob("topgap-*"):
            spilled = sum(file.stat().st_size for file in each.rglob("*") if file.is_file())
            seen.append((os.stat(each).st_mode & 0o777, spilled))

    counted = counting.count_events(
        tmp_path / "v.duckdb", person="who", item="what", domain=range(3), memory="150MB",
        progress=look,
    )  # fmt: skip
    assert counted == {0: 2_000_000, 1: 2_000_000, 2: 2_000_000}
    assert {mode for mode, _ in seen} == {0o700}
    assert max(spilled for _, spilled in seen) > 10**6
    assert [*tmp_path.glob("topgap-*")] == []


def test_streams_that_fail_are_told() -> None:
    class Failing(io.RawIOBase):
        def read(self, _: int = -1) -> bytes:
            raise OSError("Zaphod")

    named = {"person": "who", "item": "what", "domain": ["flu"], "format": "csv"}
    for stream in (Failing(), io.StringIO("who,what\n"), io.BytesIO(b"")):
        with pytest.raises(SourceError) as error:
            counting.count_events(stream, **named)  # type: ignore[arg-type]
        assert "Zaphod" not in str(error.value)


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


def test_a_name_is_no_pattern_if_there_is_such_a_file(tmp_path: Path) -> None:
    for name, item in {
        "a1.dat": 1,
        "a*.dat": 2,
        "a[1].dat": 3,
        "ä?.dat": 4,
        "a b'c.dat": 5,
    }.items():
        (tmp_path / name).write_text(f"{item}\n")
        counted = counting.count_transactions(tmp_path / name, domain=range(9))
        assert [key for key, n in counted.items() if n] == [item], name
    both = [tmp_path / "a1.dat", tmp_path / "a*.dat"]
    assert sum(counting.count_transactions(both, domain=range(9)).values()) == 2
    odd = os.fsdecode(b"\xff.csv")
    (tmp_path / odd).write_text("who,what\n1,flu\n")
    assert one(tmp_path / odd) == {"flu": 1}


def one(source: Any, **how: Any) -> dict[Any, int]:
    how = {"person": "who", "item": "what", "domain": ["flu"], **how}
    return counting.count_events(source, **how)


def test_nothing_is_taken_from_the_names_of_directories(tmp_path: Path) -> None:
    folder = tmp_path / "who=Ann" / "what=cold" / "c0=x" / "line=7"
    folder.mkdir(parents=True)
    (folder / "e.csv").write_text("who,what\n1,flu\n2,flu\n")
    (folder / "e.jsonl").write_text('{"who": 1, "what": "flu"}\n{"who": 2, "what": "flu"}\n')
    pq.write_table(pa.table({"who": [1, 2], "what": ["flu", "flu"]}), folder / "e.parquet")
    for name in ("e.csv", "e.jsonl", "e.parquet"):
        assert one(folder / name) == {"flu": 2}, name
    (folder / "e.dat").write_text("flu\n")
    assert counting.count_transactions(folder / "e.dat", domain=["flu", "7"]) == {"flu": 1, "7": 0}


@pytest.mark.parametrize("form", ["csv", "jsonl", "fimi"])
def test_a_pipe_is_read_to_its_end(form: str, tmp_path: Path) -> None:
    row = {"csv": "{},flu\n", "jsonl": '{{"who": {}, "what": "flu"}}\n', "fimi": "flu\n"}[form]
    text = "who,what\n" * (form == "csv") + "".join(row.format(n) for n in range(50_000))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    if form == "fimi":
        counted = counting.count_transactions(pipe, domain=["flu"])
    else:
        counted = one(pipe, format=form)
    writer.join()
    assert counted == {"flu": 50_000}


def test_files_of_other_types_are_refused(tmp_path: Path) -> None:
    columns = {"a": ["7"], "b": [7.0], "c": ["7"]}
    for name, who in columns.items():
        pq.write_table(pa.table({"who": who, "what": ["flu"]}), tmp_path / f"{name}.parquet")
    pq.write_table(pa.table({"what": ["flu"], "who": ["8"]}), tmp_path / "d.parquet")
    with pytest.raises(SourceError, match="another type"):
        one([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert one([tmp_path / "a.parquet", tmp_path / "c.parquet", tmp_path / "d.parquet"]) == {
        "flu": 2
    }


def test_hard_links_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("flu\n")
    os.link(tmp_path / "a.dat", tmp_path / "b.dat")
    assert counting.count_transactions(f"{tmp_path}/*.dat", domain=["flu"]) == {"flu": 1}


def test_texts_are_equal_by_our_rule_and_not_by_a_database(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("create table v (who varchar collate nocase, what varchar collate nocase)")
        made.execute("insert into v values ('Ann', 'flu'), ('ann', 'flu'), ('Bob', 'Flu')")
        made.execute("create table w as select 'Ann' as who, interval '30 days' as what")
        made.execute("create table domain as select 'flu' as code")
        made.execute("create macro nfc_normalize(x) as 'mine'")
    domain = ["flu", "Flu"]
    expected = {"flu": 2, "Flu": 1}
    assert one(path, table="v", domain=domain) == expected
    query = "select who, what from v join domain on lower(what) = code"
    assert one(path, query=query, domain=domain) == expected
    with pytest.raises(SourceError, match="type that cannot be used"):
        one(path, table="w", domain=["30 days", "1 month"])


def test_names_that_a_query_makes_of_data_are_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("create table v as select 'Zaphod' as who, 'flu' as what")
    with pytest.raises(SourceError, match="no column 'who'") as error:
        one(path, query="select * from (pivot v on who using count(*))")
    assert "Zaphod" not in str(error.value)


def test_no_rows_are_allowed_in_every_form_that_can_be_without(tmp_path: Path) -> None:
    for name in ("e.dat", "e.csv", "e.jsonl"):
        (tmp_path / name).write_bytes(b"")
    zero = {"flu": 0}
    assert counting.count_transactions(tmp_path / "e.dat", domain=["flu"], allow_empty=True) == zero
    assert counting.count_transactions(io.BytesIO(), domain=["flu"], allow_empty=True) == zero
    assert one(tmp_path / "e.jsonl", allow_empty=True) == zero
    numbered = {"person": "1", "item": "2", "header": False, "allow_empty": True}
    assert one(tmp_path / "e.csv", **numbered) == zero
    with pytest.raises(SourceError, match="empty"):
        one(tmp_path / "e.csv", allow_empty=True)


def test_a_delimiter_is_guessed_only_where_one_fits(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("Doe, Ann;flu\nRoe, Bob;flu\n")
    named: dict[str, Any] = {"person": "1", "item": "2", "header": False}
    with pytest.raises(SourceError, match="several delimiters"):
        one(path, **named)
    assert one(path, **named, delimiter=";") == {"flu": 2}
    path.write_text("who~what\n1~flu\n")
    assert one(path, delimiter="~") == {"flu": 1}
    for wrong in ("", "ab", '"', "\n"):
        with pytest.raises(ParameterError, match="delimiter"):
            one(path, delimiter=wrong)


def test_one_number_is_one_person_however_it_is_stored(clinic: Path) -> None:
    database = sqlite3.connect(clinic)
    database.execute("create table large (who, what)")
    rows = [(1e20, "flu"), (str(10**20), "flu"), (10**15, "flu"), (1e15, "flu")]
    database.executemany("insert into large values (?, ?)", rows)
    database.commit()
    database.close()
    assert one(clinic, table="large") == {"flu": 2}
    decimals = pd.DataFrame({"who": [Decimal("1.5"), Decimal("1.50"), 1.5], "what": ["flu"] * 3})
    assert one(decimals.astype(object)) == {"flu": 1}
    stored = pa.table({"who": pa.array([Decimal("1.50")]), "what": ["flu"]})
    assert one(stored, person="what", item="who", domain=[1.5]) == {1.5: 1}
    single = pa.table({"who": ["a"], "what": pa.array([0.1], pa.float32())})
    domain = np.array([0.1, 0.2], dtype=np.float32)
    assert [*one(single, domain=domain).values()] == [1, 0]


@pytest.mark.parametrize("value", ["\ud800", np.array([1, 2]), {"a": 1}], ids=str)
def test_values_that_no_error_may_show(value: Any) -> None:
    frame = pd.DataFrame({"who": [value, "b"], "what": ["flu", "flu"]}, dtype=object)
    with pytest.raises(SourceError) as error:
        one(frame)
    assert "\n" not in str(error.value)
