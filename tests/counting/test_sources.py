"""What is particular to some sources: several files, pipes, odd names, JSON's numbers."""

import csv
import io
import json
import os
import sqlite3
import tempfile
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.checking.systems import IS_LINUX
from tests.counting.sample_events import one
from topgap import counting
from topgap.errors import ParameterError, SourceError


@pytest.mark.posix
def test_files_may_differ_in_layout_and_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("who,what\n1,flu\n")
    (tmp_path / "b.csv").write_text("what;when;who\nflu;now;2\nflu;now;1\n")
    (tmp_path / "c[1].csv").write_text("who|what\n3|flu\n")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    named = {"person": "who", "item": "what", "domain": ["flu"]}
    assert counting.count_events(f"{tmp_path}/*.csv", **named) == {"flu": 3}  # type: ignore[call-overload]
    assert counting.count_events(tmp_path / "c[1].csv", **named) == {"flu": 1}  # type: ignore[call-overload]
    (tmp_path / "b.dat").write_text("flu\n")
    twice = [tmp_path / "b.dat", f"{tmp_path}/b.*"]
    assert counting.count_transactions(twice, domain=["flu"]) == {"flu": 1}
    with pytest.raises(SourceError, match="same format"):
        counting.count_events([tmp_path / "a.csv", tmp_path / "b.dat"], **named)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="FIMI"):
        counting.count_events(tmp_path / "b.dat", **named)  # type: ignore[call-overload]


def test_numbers_of_json_are_whole_if_they_are(tmp_path: Path) -> None:
    path = tmp_path / "e.jsonl"
    long = 12345678901234567890123
    items: list[Any] = [7, 7.0, "7", True, None, 0.5, long, long + 1, "  ", "x", 1e3]
    path.write_text("".join(json.dumps({"who": n, "what": i}) + "\n" for n, i in enumerate(items)))
    domain = ["7", "true", "0.5", str(long), str(long + 1), "x", "1000"]
    counted = counting.count_events(path, person="who", item="what", domain=domain)
    assert counted == dict(zip(domain, [3, 1, 1, 1, 1, 1, 1], strict=True))


@pytest.mark.slow
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


@pytest.mark.deep
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
    for stream in (Failing(), io.StringIO("who,what\n")):
        with pytest.raises(SourceError) as error:
            counting.count_events(stream, **named)  # type: ignore[call-overload]
        assert "Zaphod" not in str(error.value)


@pytest.mark.slow
@pytest.mark.posix
def test_a_name_is_no_pattern_if_there_is_such_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
    names = ["Dr. Who [1].csv", "Dr. Müller.v2.csv", "[x].CSV"]
    for odd in [*names, *([os.fsdecode(b"\xff.csv")] if IS_LINUX else [])]:
        (tmp_path / odd).write_text("who,what\n1,flu\n")
        assert one(tmp_path / odd) == {"flu": 1}, odd
    (tmp_path / "~.csv").write_text("who,what\n1,flu\n")
    monkeypatch.chdir(tmp_path)
    assert one("~.csv") == {"flu": 1}


def test_an_odd_name_is_read_where_no_links_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "symlink_to", refuse)
    (tmp_path / "Dr. Müller [1].csv").write_text("who,what\n1,flu\n")
    assert one(tmp_path / "Dr. Müller [1].csv") == {"flu": 1}


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


@pytest.mark.posix
@pytest.mark.parametrize("form", ["csv", "jsonl", "fimi"])
def test_a_pipe_is_read_to_its_end(form: str, tmp_path: Path) -> None:
    row = {"csv": "{},flu\n", "jsonl": '{{"who": {}, "what": "flu"}}\n', "fimi": "flu\n"}[form]
    text = "who,what\n" * (form == "csv") + "".join(row.format(n) for n in range(50_000))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    counted: dict[str, int]
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
    with pytest.raises(SourceError, match="whose type differs"):
        one([tmp_path / "a.parquet", tmp_path / "b.parquet"])
    assert one([tmp_path / "a.parquet", tmp_path / "c.parquet", tmp_path / "d.parquet"]) == {
        "flu": 2
    }


def test_hard_links_are_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("flu\n")
    os.link(tmp_path / "a.dat", tmp_path / "b.dat")
    assert counting.count_transactions(f"{tmp_path}/*.dat", domain=["flu"]) == {"flu": 1}


@pytest.mark.slow
def test_no_rows_are_counted_as_what_they_are(tmp_path: Path) -> None:
    for name in ("e.dat", "e.csv", "e.jsonl"):
        (tmp_path / name).write_bytes(b"")
    zero = {"flu": 0}
    assert counting.count_transactions(tmp_path / "e.dat", domain=["flu"]) == zero
    assert counting.count_transactions(io.BytesIO(), domain=["flu"]) == zero
    assert one(tmp_path / "e.jsonl") == zero
    assert one(tmp_path / "e.csv", person="1", item="2", header=False) == zero
    assert one(tmp_path / "e.csv") == zero
    (tmp_path / "e.csv").write_text("who,what\n")
    assert one(tmp_path / "e.csv") == zero
    pq.write_table(
        pa.table({"who": pa.array([], "int64"), "what": pa.array([], "string")}),
        tmp_path / "e.parquet",
    )
    assert one(tmp_path / "e.parquet") == zero
    assert one(pd.DataFrame({"who": [], "what": []})) == zero


def test_a_delimiter_is_guessed_only_where_one_fits(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    path.write_text("Doe, Ann;flu\nRoe, Bob;flu\n")
    named: dict[str, Any] = {"person": "1", "item": "2", "header": False}
    with pytest.raises(SourceError, match="several delimiters"):
        one(path, **named)
    assert one(path, **named, delimiter=";") == {"flu": 2}
    path.write_text("who~what\n1~flu\n")
    assert one(path, delimiter="~") == {"flu": 1}
    path.write_text("who\twhat\n1\tflu\n")
    assert one(path, delimiter="tab") == one(path, delimiter="\\t") == {"flu": 1}
    for wrong in ("", "ab", '"', "\n"):
        with pytest.raises(ParameterError, match="delimiter"):
            one(path, delimiter=wrong)


def test_one_number_is_one_person_however_it_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "numbers.db"
    database = sqlite3.connect(path)
    database.execute("create table large (who, what)")
    rows = [(1e20, "flu"), (str(10**20), "flu"), (10**15, "flu"), (1e15, "flu")]
    database.executemany("insert into large values (?, ?)", rows)
    database.commit()
    database.close()
    assert one(path) == {"flu": 2}
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


def test_a_data_frame_of_spark_is_counted_by_spark() -> None:
    from pyspark.sql.classic.dataframe import DataFrame

    frame = object.__new__(DataFrame)  # whose attributes are not to be asked for: it has none yet
    with pytest.raises(SourceError, match=r"use topgap\.spark"):
        one(frame, domain=["flu"])


def test_an_open_file_tells_its_format_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "visits.csv").write_text("who,what\nann,flu\n")
    with (tmp_path / "visits.csv").open("rb") as file:
        counts = counting.count_events(file, person="who", item="what", domain=["flu", "cold"])
    assert counts == {"flu": 1, "cold": 0}
