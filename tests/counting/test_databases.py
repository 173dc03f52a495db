"""Tables and queries of DuckDB and SQLite files."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tests.counting.sample_events import one
from topgap import counting
from topgap.errors import SourceError, TopgapError


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
    counted = counting.count_events(clinic, **named, domain=domain)  # type: ignore[call-overload]
    assert counted == {"7": 2, "0.1": 2}
    view = {"person": "the who", "item": "what", "table": 'odd "view"'}
    assert counting.count_events(clinic, **view, domain=domain) == counted  # type: ignore[call-overload]


@pytest.mark.parametrize(("how", "said"), [
    ({}, "which table"),
    ({"table": "visit"}, "no table 'visit'; it has 'odd"),
    ({"table": "other"}, "no column 'who'; it has 'n'"),
    ({"table": "visits", "query": "select 1"}, "not both"),
    ({"query": "select who from"}, "query cannot be parsed"),
    ({"query": "drop table visits"}, "must be one SELECT"),
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
        counting.count_events(path, person="who", item="what", domain=["7"], **how)  # type: ignore[call-overload]
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_tables_of_other_schemas_and_the_only_table(tmp_path: Path) -> None:
    path = tmp_path / "c.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute("create schema s; create table s.v as select 1 as who, 'flu' as what")
    named = {"person": "who", "item": "what", "domain": ["flu"]}
    assert counting.count_events(path, **named) == {"flu": 1}  # type: ignore[call-overload]
    assert counting.count_events(path, table="s.v", **named) == {"flu": 1}  # type: ignore[call-overload]


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
    assert one(path, query=query, domain=domain, rows_are_per_person=True) == expected
    with pytest.raises(SourceError, match="type that cannot be used"):
        one(path, table="w", domain=["30 days", "1 month"])
