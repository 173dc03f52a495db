"""A query is one SELECT, reaches nothing else, and each of its rows comes from one person."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest

from topgap import counting
from topgap.counting import postgresql_catalogue, sqlite_dialect
from topgap.counting.events import check_query
from topgap.errors import SourceError

PERSON = "P-0042"
TABLES = f"""
    create table visits (patient varchar, code varchar, day integer);
    insert into visits values ('{PERSON}', 'flu', 1), ('x', 'cold', 2), ('{PERSON}', 'cold', 3);
    create table codes (code varchar);
    create view limited as select patient, code from visits limit 5;
    create view "above ""it"" AS x" as select patient, code from limited;
    create view recent (patient, code) as select patient, code from visits where day > 0;
    create view main_code as select patient, max(code) as code from visits group by patient;
"""
MACROS = """
    create macro anybody(x) as (select max(patient) from visits);
    create macro nested(x) as upper(anybody(x));
    create macro tidy(x) as lower(trim(x));
    create macro largest(x) as max(x);
    create macro "my macro"(x) as (select count(*) from visits);
    create macro "||"(x, y) as (select count(*) from visits);
    create macro several(x) as unnest([x, 'and x']);
    create macro sum(x) as (select count(*) from visits);
    create view many (patient, code) as select unnest(range(100)), code from visits;
    create schema other; create view other.visits as select patient, code from visits limit 1;
"""
OF_SQLITE = """
    create table numbers (oid);
    create view commented as select patient, code from visits /* /* */ limit 5 -- */;
    create view text_for_name as select "nobody" as patient, code from visits group by 1;
"""
DOMAIN = ["flu", "cold", "fl", "1"]

# What both databases can do.
ACCEPTED = [
    "SELECT patient, code FROM visits",
    "SELECT DISTINCT patient, code FROM visits WHERE day IN (1, 2) ORDER BY code",
    "SELECT patient, substr(code, 1, 2) AS code FROM visits WHERE code LIKE 'f%' OR day > 2",
    "SELECT lower(patient) AS patient, CASE WHEN day > 1 THEN code END AS code FROM visits",
    "WITH x AS (SELECT * FROM visits) SELECT patient, code FROM x",
    "SELECT patient, code FROM (SELECT * FROM visits WHERE day > 1) AS x",
    "SELECT patient, code FROM recent",
    "SELECT v.patient, max(code) AS code FROM visits AS v GROUP BY v.patient",
    "SELECT patient, min(code) AS code FROM visits GROUP BY 1 HAVING count(*) > 1",
    "SELECT lower(patient) AS patient, max(code) AS code FROM visits GROUP BY lower(patient)",
    "SELECT patient, code FROM visits UNION SELECT patient, max(code) FROM visits GROUP BY 1",
]
ACCEPTED_BY_DUCKDB = [
    "SELECT patient, code FROM visits; -- and nothing else;",
    "SELECT patient, code FROM main.visits UNION ALL BY NAME SELECT code, patient FROM visits",
    "FROM visits",
    "SELECT patient, unnest([code, 'fl']) AS code FROM visits",
    "SELECT patient, max(code) AS code FROM visits GROUP BY ALL",
    "SELECT patient, tidy(code) AS code FROM visits",
    "SELECT patient, largest(code) AS code FROM visits GROUP BY patient",
    "SELECT patient, code FROM visits WHERE day < date_part('year', now())",
    "SELECT patient, code FROM source.main.visits",
]
ACCEPTED_BY_SQLITE = [
    'SELECT "patient", "code" FROM "visits" WHERE code <> \'a "b" -- /* c\';',
]
REFUSED = {
    "SELECT patient, code FROM visits WHERE (SELECT count(*) FROM visits) > 1": "subquery",
    "SELECT patient, code FROM visits WHERE code IN (SELECT code FROM codes)": "subquery",
    "SELECT patient, code FROM visits AS v WHERE EXISTS (SELECT 1 FROM codes)": "subquery",
    "SELECT patient, code FROM visits LIMIT 50": "LIMIT",
    "SELECT patient, code FROM (SELECT * FROM visits LIMIT 1) AS x": "LIMIT",
    "WITH x AS (SELECT * FROM visits LIMIT 1) SELECT patient, code FROM x": "LIMIT",
    "SELECT patient, count(*) OVER () AS code FROM visits": "window",
    "SELECT max(patient) AS patient, code FROM visits GROUP BY code": "aggregate",
    "SELECT patient, max(code) AS code FROM visits": "aggregate",
    "SELECT patient, code FROM visits GROUP BY ROLLUP (patient, code)": "aggregate",
    "SELECT p AS patient, code FROM (SELECT code AS patient, max(patient) AS p, code "
    "FROM visits GROUP BY code) AS x": "aggregate",
    "SELECT patient, code FROM visits UNION ALL SELECT max(patient), code FROM visits "
    "GROUP BY code": "aggregate",
    "SELECT v.patient, v.code FROM visits AS v JOIN codes AS c ON v.code = c.code": "join",
    "SELECT a.patient, b.code FROM visits AS a, visits AS b": "join",
    "SELECT patient, code FROM visits WHERE random() > 0": "'random'",
    "SELECT patient, code FROM visits WHERE rowid < 2": "rowid",
    "SELECT 7 AS patient, code FROM visits": "makes up 'patient'",
    "SELECT patient, code FROM visits EXCEPT SELECT patient, code FROM visits": "EXCEPT",
    "SELECT patient, code FROM limited": "view 'limited' has a LIMIT",
    'SELECT patient, code FROM "above ""it"" AS x"': "view 'limited' has a LIMIT",
    "SELECT patient, code FROM main_code": "view 'main_code' has an aggregate",
    "WITH RECURSIVE x AS (SELECT patient, code FROM visits UNION SELECT patient, code FROM x) "
    "SELECT patient, code FROM x": "recursive",
}
REFUSED_OF_SQLITE = {
    "SELECT patient, code FROM visits /* /* */ LIMIT 5 -- */": "a comment",
    "SELECT patient, count(*) AS code FROM visits --\r GROUP BY patient": "a comment",
    "SELECT patient, count(*) AS code FROM visits GROUP\u00a0BY\u00a0patient": "a comment",
    "SELECT patient, code FROM visits WHERE code <> E'a'": "a comment",
    "SELECT patient, count(*) AS code FROM visits GROUP BY '1'": "aggregate",
    "SELECT x AS patient, count(*) AS code FROM (SELECT patient AS x, code AS patient FROM visits) "
    "GROUP BY patient": "aggregate",
    "SELECT patient, code FROM visits WHERE oid < 5": "oid",
    "SELECT patient, code FROM commented": "view 'commented' is written in a way",
    "SELECT patient, code FROM text_for_name": "view 'text_for_name' is written in a way",
}
REFUSED_OF_DUCKDB = {
    "WITH limited AS (SELECT patient, code FROM visits) "
    "SELECT patient, code FROM main.limited": "view 'limited' has a LIMIT",
    'SELECT patient, "my macro"(1) AS code FROM visits': "macro 'my macro' has a subquery",
    "SELECT patient, code || 'x' AS code FROM visits": "macro '||' has a subquery",
    "SELECT patient, sum(1) AS code FROM visits GROUP BY patient": "macro 'sum' has a subquery",
    "SELECT patient, code FROM visits UNION ALL BY NAME SELECT code AS x, count(*) AS patient, 'n' "
    "AS code FROM visits GROUP BY code": "aggregate",
    "SELECT * FROM (SELECT code, patient FROM visits) UNION ALL SELECT code AS patient, "
    "max(patient) FROM visits GROUP BY code": "aggregate",
    "SELECT patient, code FROM (SELECT unnest(range(9)) AS patient, code FROM visits)": "many",
    "WITH a AS (SELECT concat(patient, unnest(range(9))) AS patient, code FROM visits) "
    "SELECT patient, code FROM a": "many",
    "SELECT several(patient) AS patient, code FROM visits": "many",
    "SELECT patient, code FROM many": "view 'many' may make many persons of one",
    "SELECT * EXCLUDE (patient), unnest(range(9)) AS patient FROM visits": "many",
    "SELECT * REPLACE (unnest(range(9)) AS patient) FROM visits": "many",
    "SELECT patient, code FROM visits UNION ALL SELECT upper(patient), code FROM visits": "UNION",
    "SELECT concat(patient, day) AS patient, code FROM visits": "of several columns",
    "FROM (SELECT concat(patient, day) AS patient, code FROM visits)": "of several columns",
    "SELECT patient, code FROM visits UNION ALL SELECT day, code FROM visits": "UNION",
    "SELECT patient, code FROM visits QUALIFY row_number() OVER () < 3": "window",
    "SELECT DISTINCT ON (patient) patient, code FROM visits": "DISTINCT ON",
    "SELECT patient, code FROM visits TABLESAMPLE 50%": "sample",
    "SELECT patient, code FROM visits USING SAMPLE 2": "sample",
    "SELECT patient, anybody(code) AS code FROM visits": "macro 'anybody' has a subquery",
    "SELECT patient, nested(code) AS code FROM visits": "macro 'anybody' has a subquery",
    "SELECT patient, largest(code) AS code FROM visits": "aggregate",
    "SELECT patient, code FROM visits WHERE CASE WHEN patient = 'x' THEN error('x') END": "'error'",
    "SELECT patient, code FROM visits WHERE assert_true(day > 0) IS NULL": "'error'",
    "SELECT unnest(range(9)) AS patient, code FROM visits": "many",
    "SELECT patient, code FROM range(9), visits": "join",
    "SELECT name AS patient, 1 AS code FROM duckdb_settings()": "reads from a function",
}
NO_SELECT = [
    "SELECT sum(p) AS patient, 1 AS code FROM (PIVOT visits ON patient USING count(*)) p",
    "SELECT patient, code FROM visits); COPY (SELECT * FROM visits) TO 'leak.csv'; "
    "SELECT * FROM (SELECT patient, code FROM visits",
    "SELECT patient, code FROM visits; SELECT 1",
    "COPY visits TO 'leak.csv'",
    "ATTACH 'leak.csv' AS leak",
    "CREATE TABLE leak AS SELECT 1",
    "PRAGMA user_version = 7",
    "SET memory_limit = '9GB'",
    "SELEC patient FROM visits",
    "",
]
ELSEWHERE = [
    "SELECT column0 AS patient, 1 AS code FROM read_csv('secret.csv')",
    "SELECT content AS patient, 1 AS code FROM read_text('secret.csv')",
    "SELECT patient, code FROM 'secret.csv'",
    "SELECT file AS patient, 1 AS code FROM glob('*')",
    "SELECT load_extension('secret.csv') AS patient, code FROM visits",
]


@pytest.fixture(params=["duckdb", "sqlite"])
def clinic(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return made(tmp_path / f"clinic.{request.param}")


def made(path: Path, rows: list[tuple[str, str, int]] | None = None) -> Path:
    path.unlink(missing_ok=True)
    is_duckdb = path.suffix == ".duckdb"
    database: Any = duckdb.connect(str(path)) if is_duckdb else sqlite3.connect(path)
    for statement in (TABLES + (MACROS if is_duckdb else OF_SQLITE)).split(";\n"):
        database.execute(statement)
    if rows is not None:
        database.execute("delete from visits")
        database.executemany("insert into visits values (?, ?, ?)", [("", "", 0), *rows])
    database.commit()
    database.close()
    return path


def counted(path: Path, **asked: Any) -> dict[Any, int]:
    return counting.count_events(
        path, person="patient", item="code", domain=DOMAIN, by=None, **asked
    )


def accepted(path: Path) -> list[str]:
    return ACCEPTED + (ACCEPTED_BY_DUCKDB if path.suffix == ".duckdb" else ACCEPTED_BY_SQLITE)


def refusal(path: Path, **asked: Any) -> str:
    before = sorted(os.listdir(path.parent)), path.read_bytes()
    with pytest.raises(SourceError) as error:
        counted(path, **asked)
    assert (sorted(os.listdir(path.parent)), path.read_bytes()) == before
    assert error.value.__context__ is None or error.value.__suppress_context__
    said = str(error.value)
    assert "\n" not in said
    assert PERSON not in said
    return said


@pytest.mark.slow
def test_what_treats_each_person_alone_is_accepted(clinic: Path) -> None:
    for query in accepted(clinic):
        assert counted(clinic, query=query) == counted(
            clinic, query=query, rows_are_per_person=True
        )
    assert counted(clinic, table="recent") == counted(clinic, table="visits")
    assert counted(clinic, table="main_code") == {"flu": 1, "cold": 1, "fl": 0, "1": 0}


@pytest.mark.slow
def test_what_may_depend_on_more_than_one_person_is_refused(clinic: Path) -> None:
    more = REFUSED_OF_DUCKDB if clinic.suffix == ".duckdb" else REFUSED_OF_SQLITE
    for query, why in {**REFUSED, **more}.items():
        said = refusal(clinic, query=query)
        assert why in said, (query, said)
        assert said.endswith(".")
    assert "view 'limited' has a LIMIT" in refusal(clinic, table="limited")
    assert counted(clinic, table="limited", rows_are_per_person=True)["flu"] == 1
    assert counted(clinic, query="SELECT * FROM visits LIMIT 1", rows_are_per_person=True)
    if clinic.suffix == ".duckdb":
        assert "many persons of one" in refusal(clinic, table="many")
        assert "view 'other.visits' has a LIMIT" in refusal(clinic, table="other.visits")
    else:
        assert "is written in a way" in refusal(clinic, table="commented")


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["duckdb", "sqlite"])
def test_one_person_less_moves_each_count_down_by_at_most_one(kind: str, tmp_path: Path) -> None:
    # Persons with every set of items, on days that differ.
    rows = [
        (f"p{number}", item, (number + place) % 4)
        for number in range(16)
        for place, item in enumerate(DOMAIN)
        if number >> place & 1
    ]
    whole = made(tmp_path / f"whole.{kind}", rows)
    less = made(tmp_path / f"less.{kind}", [row for row in rows if row[0] != "p15"])
    for query in accepted(whole):
        before, after = counted(whole, query=query), counted(less, query=query)
        assert all(0 <= before[item] - after[item] <= 1 for item in DOMAIN), query
        assert before != after, query


@pytest.mark.parametrize("query", [
    "SELECT patient, code FROM visits WHERE code = 'a", "SELECT patient, \"code FROM visits",
    "SELECT patient, 'it's' AS code FROM visits", "SELECT patient, code FROM visits WHERE '' '",
])  # fmt: skip
def test_a_quote_that_is_not_closed_is_told(query: str) -> None:
    with pytest.raises(SourceError, match="The query has a quote that is not closed"):
        sqlite_dialect.to_portable_sql(query)
    assert postgresql_catalogue.has_open_quote(query)
    assert not postgresql_catalogue.has_open_quote(f"{query} -- a comment's quote")
    with pytest.raises(SourceError, match="a comment, or a sign"):
        sqlite_dialect.to_portable_sql("SELECT patient -- isn't\n FROM visits")


@pytest.mark.slow
@pytest.mark.parametrize("by_word", [False, True])
def test_only_one_select_is_run(by_word: bool, clinic: Path) -> None:
    for query in NO_SELECT:
        said = refusal(clinic, query=query, rows_are_per_person=by_word)
        assert "must be one SELECT" in said or "cannot be parsed" in said, query


@pytest.mark.slow
@pytest.mark.parametrize("by_word", [False, True])
def test_no_other_file_can_be_reached(by_word: bool, clinic: Path) -> None:
    Path("secret.csv").write_text(f"{PERSON}\n")
    for query in ELSEWHERE:
        refusal(clinic, query=query, rows_are_per_person=by_word)


def test_a_query_is_looked_at_without_reading_a_row(tmp_path: Path) -> None:
    """It is charged when it runs, and until then the data must not show, whatever is typed."""
    overflows = f"(CASE WHEN EXISTS (SELECT 1 FROM visits WHERE patient = '{PERSON}') "
    overflows += "THEN abs(-9223372036854775807 - 1) ELSE 1 END)"
    for query in (
        f"SELECT patient, code FROM visits) WHERE {overflows} /* x",
        f"SELECT patient, {overflows} AS code FROM visits",
    ):
        said = set()
        for name, rows in {"with": None, "without": [("x", "flu", 1)]}.items():
            path = made(tmp_path / f"{name}.sqlite", rows)
            asked: Any = {"person": "patient", "item": "code", "rows_are_per_person": True}
            try:
                check_query(path, query=query, **asked)
                said.add("")
            except SourceError as error:
                said.add(str(error))
        assert len(said) == 1, query


def test_a_view_cannot_reach_another_file_either(tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text(f"patient,code\n{PERSON},flu\n")
    path = made(tmp_path / "clinic.duckdb")
    with duckdb.connect(str(path)) as database:
        database.execute(f"create view outside as select patient, code from '{secret}'")
    for by_word in (False, True):
        refusal(path, table="outside", rows_are_per_person=by_word)


@pytest.mark.slow
def test_what_the_data_do_to_a_query_is_not_told(tmp_path: Path) -> None:
    path = made(tmp_path / "clinic.duckdb")
    said = refusal(path, query="SELECT patient, CAST(patient AS INTEGER) AS code FROM visits")
    assert said.startswith("The query failed while it ran")
    with duckdb.connect(str(path)) as database:
        database.execute(f"create type who as enum ('{PERSON}', 'x')")
        database.execute("create table enums as select 'x'::who as patient, 'flu' as code")
    refusal(path, query="SELECT patient, code FROM enums WHERE patient = 1")
    refusal(path, query="SELECT patient + 1 AS patient, code FROM enums")
    refusal(path, query="SELECT nothing AS patient, code FROM enums")


@pytest.mark.slow
def test_the_user_can_vouch_where_nothing_else_helps(clinic: Path) -> None:
    for query in REFUSED:
        offered = "--rows-are-per-person" in refusal(clinic, query=query)
        hopeless = any(word in query for word in ("LIMIT", "random", "rowid", "7 AS", "OVER"))
        assert offered != (hopeless or "limited" in query or "above" in query), query


@pytest.mark.parametrize("more", ["LIMIT 3", "HAVING count(*) > 1"])
def test_no_count_is_left_out_because_of_what_it_is(more: str, clinic: Path) -> None:
    order = "ORDER BY n DESC " if more.startswith("LIMIT") else ""
    query = f"SELECT code, count(DISTINCT patient) AS n FROM visits GROUP BY code {order}{more}"
    with pytest.raises(SourceError, match="must not have LIMIT, HAVING or QUALIFY"):
        counting.read_counts(clinic, item="code", count="n", domain=DOMAIN, query=query)


def test_how_counts_are_made_by_a_query_is_the_users_word(clinic: Path) -> None:
    query = "SELECT code, count(DISTINCT patient) AS n FROM visits GROUP BY code"
    found = counting.read_counts(clinic, item="code", count="n", domain=DOMAIN, query=query)
    assert found == {"flu": 1, "cold": 2, "fl": 0, "1": 0}
    with pytest.raises(SourceError, match=r"one SELECT|parsed"):
        counting.read_counts(
            clinic, item="code", count="n", domain=DOMAIN, query=f"{query}; {query}"
        )
