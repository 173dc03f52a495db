"""What files say of their own columns is not believed: least and largest values, and names."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.counting.sample_events import one
from topgap import counting
from topgap.errors import SourceError

NAN = float("nan")
FLOATS = ["f8", "f4", "f2"]


def written(table: Any, path: Path, writer: str) -> Path:
    """Write it as these libraries do, in several row groups."""
    if writer == "polars":
        pl.from_arrow(table).write_parquet(path, row_group_size=2)  # type: ignore[union-attr]
    else:
        pq.write_table(table, path, write_statistics=writer == "pyarrow", row_group_size=2)
    return path


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["pyarrow", "pyarrow without statistics", "polars"])
@pytest.mark.parametrize("kind", FLOATS)
def test_nan_is_missing_whatever_a_parquet_file_says_of_its_columns(
    kind: str, writer: str, tmp_path: Path
) -> None:
    numbers = pa.array(np.array([1, NAN, 2, -NAN, 2, 3], dtype=kind))
    persons = written(pa.table({"who": numbers, "what": ["flu"] * 6}), tmp_path / "p.pq", writer)
    assert one(persons) == {"flu": 3}
    items = written(pa.table({"who": [*range(6)], "what": numbers}), tmp_path / "i.pq", writer)
    assert one(items, domain=[1, 2, 3, "nan"]) == {1: 1, 2: 2, 3: 1, "nan": 0}
    assert [*one(items, domain=counting.FROM_DATA)] == ["1", "2", "3"]
    counts = written(pa.table({"what": ["flu"], "n": numbers[1:2]}), tmp_path / "c.pq", writer)
    with pytest.raises(SourceError, match="whole numbers"):
        counting.read_counts(counts, item="what", count="n", domain=["flu"])


@pytest.mark.slow
def test_nan_is_missing_in_other_sources(tmp_path: Path) -> None:
    numbers = [1.0, NAN, float("inf")]
    table = pa.table({"who": numbers, "what": ["flu"] * 3})
    (tmp_path / "e.jsonl").write_text(
        "".join(json.dumps({"who": each, "what": "flu"}) + "\n" for each in numbers)
    )
    frame = pd.DataFrame({"who": numbers, "what": "flu"})
    for source in (table, frame, pl.from_arrow(table), tmp_path / "e.jsonl"):
        assert one(source) == {"flu": 2}


def test_a_least_value_that_is_wrong_makes_no_two_persons_of_one(tmp_path: Path) -> None:
    path = tmp_path / "e.parquet"
    table = pa.table({"who": [" Ann", "Ann"], "what": ["flu", "flu"]})
    pq.write_table(table, path, use_dictionary=False, compression="none")
    content = path.read_bytes()
    start = content.rindex(b"\x04 Ann")  # in the footer, where the statistics are
    path.write_bytes(content[:start] + b"\x04!Ann" + content[start + 5 :])
    assert pq.read_metadata(path).row_group(0).column(0).statistics.min == "!Ann"
    assert one(path) == {"flu": 1}


def _table(*names: str) -> Any:
    """A column for each name, of which the last is of items."""
    columns = [pa.array([f"person {place}", "Bob"]) for place in range(len(names) - 1)]
    return pa.table([*columns, pa.array(["flu", "flu"])], names=[*names])


@pytest.mark.slow
def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    pq.write_table(_table("who", "who", "what"), tmp_path / "e.parquet")
    (tmp_path / "e.jsonl").write_text('{"who": 1, "who": 2, "what": "flu"}\n')
    for source in (_table("who", "who", "what"), tmp_path / "e.parquet"):
        with pytest.raises(SourceError, match="has more than one column 'who'"):
            one(source)
    with pytest.raises(SourceError, match="same name more than once"):
        one(tmp_path / "e.jsonl")
    unwanted = _table("x", "x", "who", "what")
    pq.write_table(unwanted, tmp_path / "u.parquet")
    assert one(unwanted) == one(tmp_path / "u.parquet") == {"flu": 2}


@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_a_column_that_a_query_selects_twice_is_refused(kind: str, tmp_path: Path) -> None:
    import sqlite3

    import duckdb

    made: Any = (duckdb if kind == "duckdb" else sqlite3).connect(str(tmp_path / f"e.{kind}"))
    made.execute("create table v (who int, what varchar)")
    made.commit()
    made.close()
    with pytest.raises(SourceError, match="has more than one column 'who'"):
        one(tmp_path / f"e.{kind}", query="select who, 1 as who, what from v")


@pytest.mark.slow
def test_names_that_differ_by_case_are_told_apart(tmp_path: Path) -> None:
    persons = ["person 0", "person 1"]
    for number, names in enumerate([("who", "WHO", "what"), ("WHO", "who", "what")]):
        pq.write_table(_table(*names), tmp_path / f"{number}.parquet")
    both = [tmp_path / "0.parquet", tmp_path / "1.parquet"]
    for name, first in (("who", 0), ("WHO", 1)):
        counted = one(both[0], person="what", item=name, domain=persons)
        assert counted[f"person {first}"] == 1, name
        assert sum(counted.values()) == 1
        assert one(both, person=name) == {"flu": 3}  # two who are the first, and Bob
    pair = _table("who", "WHO")
    for source in (pair, pair.to_pandas(), pl.from_arrow(pair), pl.from_arrow(pair).lazy()):  # type: ignore[union-attr]
        assert one(source, item="WHO") == {"flu": 2}
    (tmp_path / "e.jsonl").write_text('{"who": 1, "WHO": "flu"}\n')
    with pytest.raises(SourceError, match="rename one"):
        one(tmp_path / "e.jsonl", item="WHO")


def test_a_name_in_other_case_is_refused_with_the_one_that_is_there(tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(_table("x", "who", "what"), tmp_path / f"{number}.parquet")
    for source in (_table("x", "who", "what"), [tmp_path / "0.parquet", tmp_path / "1.parquet"]):
        with pytest.raises(SourceError, match=r"has no column 'WHO'; it has 'who'\.$"):
            one(source, person="WHO")
    (tmp_path / "e.csv").write_text("who,what\n1,flu\n")
    with pytest.raises(SourceError, match=r"no column 'WHO' in its first line \(names") as error:
        one(tmp_path / "e.csv", person="WHO")
    assert "who" not in str(error.value)


def test_names_that_polars_takes_for_patterns_are_names() -> None:
    frame = pl.DataFrame({"^w.*$": [1, 2], "who": [3, 3], "what": ["flu", "flu"]})
    for source in (frame, frame.lazy()):
        assert one(source, person="^w.*$") == {"flu": 2}
