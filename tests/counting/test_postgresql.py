"""PostgreSQL: its types and spellings mean what they mean in a file, and no session is left.

Without PostgreSQL these tests are skipped; with TOPGAP_NEEDS_POSTGRESQL=1 they fail.
"""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
import sqlalchemy

from tests.checking.postgresql_server import PASSWORD, PostgresServer
from tests.counting.hostile_spellings import PERSONS, ROWS, SPELLINGS
from topgap import counting
from topgap.counting import database_session, databases, postgresql_columns
from topgap.counting import postgresql as postgresql_module
from topgap.errors import ParameterError, SourceError, TopgapError

pytestmark = pytest.mark.slow
NAMED: dict[str, Any] = {"person": "who", "item": "what"}
VISITS = """
    CREATE TABLE visits (who text, what text, day int);
    INSERT INTO visits VALUES ('P-0042', 'flu', 1), ('P-0042', ' flu', 2), ('P2', 'flu', 3),
        ('P2', 'cold', 3), (NULL, 'cold', 4), ('P3', NULL, 5);
"""
DOMAIN = ["flu", "cold", "gout"]
COUNTED = {"flu": 2, "cold": 1, "gout": 0}


def count(server: PostgresServer, table: str | None = "visits", **options: Any) -> dict[Any, int]:
    options = {**NAMED, "domain": counting.FROM_DATA, "table": table, **options}
    return dict(counting.count_events(server.address, **options))


def refused(server: PostgresServer, source: Any = None, **options: Any) -> str:
    """The sentence of the error; it has no password and nothing of a person."""
    options = {**NAMED, "domain": DOMAIN, **options}
    with pytest.raises(TopgapError) as raised:
        counting.count_events(source or server.address, **options)
    sentence = str(raised.value)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    for secret in (PASSWORD, "P-0042"):
        assert secret not in f"{sentence} {raised.value!r}"
    assert raised.value.__context__ is None
    return sentence


def load(server: PostgresServer, rows: list[tuple[str, str]], table: str = "visits") -> None:
    quoted = ", ".join(
        "({})".format(", ".join("'" + cell.replace("'", "''") + "'" for cell in row))
        for row in rows
    )
    server.execute(
        f"CREATE TABLE {table} (who text, what text); INSERT INTO {table} VALUES {quoted}"
    )


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize("there", [False, True])
def test_a_table_a_view_and_a_query_are_counted(there: bool, postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    postgresql.execute(
        "CREATE SCHEMA s; GRANT USAGE ON SCHEMA s TO ann;"
        'CREATE TABLE s."Odd ""name" AS TABLE visits;'
        "GRANT SELECT ON ALL TABLES IN SCHEMA s TO ann;"
        "CREATE VIEW late AS SELECT who, what FROM visits WHERE day NOT IN (8, 9)"
    )
    options: dict[str, Any] = {"domain": DOMAIN, "count_in_database": there}
    try:
        assert count(postgresql, **options) == COUNTED
        assert count(postgresql, "public.visits", **options) == COUNTED
        assert count(postgresql, 's.Odd "name', **options) == COUNTED
        assert count(postgresql, "late", **options) == COUNTED
        query = "SELECT who, upper(what) AS what FROM visits WHERE day::int <> 3;"
        assert count(postgresql, None, query=query, **options) == {
            "flu": 0, "cold": 0, "gout": 0,
        }  # fmt: skip
        options["domain"] = ["FLU"]
        assert count(postgresql, None, query=query, **options) == {"FLU": 1}
        pattern = counting.Domain.pattern("[a-z]{3,5}")
        assert count(postgresql, domain=pattern, count_in_database=there) == {"flu": 2, "cold": 1}
    finally:
        postgresql.execute("DROP SCHEMA s CASCADE")


def test_hostile_spellings_are_counted_as_those_of_a_file(postgresql: PostgresServer) -> None:
    load(postgresql, ROWS)
    frame = pd.DataFrame(ROWS, columns=["who", "what"])
    expected = dict(counting.count_events(frame, **NAMED, domain=counting.FROM_DATA))
    assert len(expected) > 12
    assert count(postgresql) == expected
    assert count(postgresql, count_in_database=True) == expected


@pytest.mark.parametrize("there", [False, True])
def test_one_person_moves_each_count_by_one_at_most(
    there: bool, postgresql: PostgresServer
) -> None:
    load(postgresql, ROWS)
    before = count(postgresql, count_in_database=there)
    for names in PERSONS[:6]:
        postgresql.execute("DROP TABLE IF EXISTS fewer")
        load(postgresql, [row for row in ROWS if row[0] not in names], "fewer")
        after = count(postgresql, "fewer", count_in_database=there)
        moved = {before[item] - after.get(item, 0) for item in before}
        assert moved == {0, 1}
        assert {*after} <= {*before}


def test_a_tuple_is_counted_by_the_server(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    for there in (False, True):
        counted = count(postgresql, item=["what", "day"], count_in_database=there)
        assert counted == {("flu", 1): 1, ("flu", 2): 1, ("flu", 3): 1, ("cold", 3): 1}


TYPES = {
    "text": ("'  flu '", "flu"),
    "varchar(9)": ("'flu'", "flu"),
    "char(9)": ("'flu'", "flu"),
    "citext": ("'Flu'", "Flu"),
    "mood": ("'flu'", "flu"),
    "code": ("'flu'", "flu"),
    "smallint": ("7", 7),
    "bigint": ("9223372036854775807", 2**63 - 1),
    "numeric": ("7.50", "7.5"),
    "numeric(9, 2)": ("7", "7"),
    "money_like": ("0.10", "0.1"),
    "real": ("7.0", "7"),
    "double precision": ("0.1", "0.1"),
    "boolean": ("true", "true"),
    "date": ("'2024-02-03'", "2024-02-03"),
    "timestamp": ("'2024-02-03 04:05:06.50'", "2024-02-03 04:05:06.5"),
    "timestamptz": ("'2024-02-03 04:05:06+02'", "2024-02-03 02:05:06+00"),
    "time": ("'04:05'", "04:05:00"),
    "uuid": ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    "jsonb": ("'\"flu\"'", "flu"),
    "json": ("'7.50'", "7.5"),
}


@pytest.mark.deep
def test_types_name_what_they_name_in_a_file(postgresql: PostgresServer) -> None:
    postgresql.execute(
        "CREATE EXTENSION IF NOT EXISTS citext SCHEMA pg_catalog; CREATE TYPE mood AS ENUM ('flu');"
        "CREATE DOMAIN code AS varchar(9); CREATE DOMAIN money_like AS numeric(9, 2)"
    )
    columns = ", ".join(f"c{n} {kind}" for n, kind in enumerate(TYPES))
    values = ", ".join(value for value, _ in TYPES.values())
    postgresql.execute(f"CREATE TABLE visits (who int, {columns})")
    postgresql.execute(f"INSERT INTO visits VALUES (1, {values}), (2, {values})")
    postgresql.execute("INSERT INTO visits (who) VALUES (3)")
    for n, (kind, (_, item)) in enumerate(TYPES.items()):
        named: dict[str, Any] = {"item": f"c{n}", "domain": [item, "other"]}
        assert count(postgresql, **named) == {item: 2, "other": 0}, kind
        named |= {"person": f"c{n}", "item": "who", "domain": [1, 2, 3]}
        assert count(postgresql, **named) == {1: 1, 2: 1, 3: 0}, kind
        if "json" not in kind:
            named = {"item": f"c{n}", "domain": [item, "other"], "count_in_database": True}
            assert count(postgresql, **named) == {item: 2, "other": 0}, kind


def test_a_query_finds_the_same_by_a_file(tmp_path: Path, postgresql: PostgresServer) -> None:
    (tmp_path / "v.csv").write_text(
        "who,what\n1,7.5\n2,a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11\n2,12\n"
    )
    postgresql.execute(
        "CREATE TABLE n (who int, what numeric(9, 3)); INSERT INTO n VALUES (1, 7.5), (2, 12);"
        "CREATE TABLE u (who int, what uuid);"
        "INSERT INTO u VALUES (2, 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')"
    )
    of_file = counting.count_events(tmp_path / "v.csv", **NAMED, domain=counting.FROM_DATA)
    assert {**count(postgresql, "n"), **count(postgresql, "u")} == dict(of_file)


def test_not_a_number_is_missing_and_bytes_are_persons(postgresql: PostgresServer) -> None:
    postgresql.execute(
        "CREATE TABLE visits (who float8, what numeric, b bytea);"
        "INSERT INTO visits VALUES ('NaN', 1, '\\x00'), (1, 'NaN', '\\x01'), (-0.0, 1, '\\x0001'),"
        "(0, 1, '\\x00'), (1, 'Infinity', NULL)"
    )
    for there in (False, True):
        assert count(postgresql, count_in_database=there) == {"1": 1, "inf": 1}
        counted = count(postgresql, person="b", count_in_database=there)
        assert counted == {"1": 2}
    assert "type that cannot be used" in refused(postgresql, table="visits", item="b", person="who")


@pytest.mark.parametrize("kind", ["int[]", "interval", "inet", "pair"])
def test_other_types_are_refused(kind: str, postgresql: PostgresServer) -> None:
    postgresql.execute(
        f"CREATE TYPE pair AS (a int, b int); CREATE TABLE visits (who int, what {kind})"
    )
    for there in (False, True):
        said = refused(postgresql, table="visits", count_in_database=there)
        assert "type that cannot be used here" in said
        assert "cast it to text" in said


# ---------------------------------------------------------------- what databases merge


MERGING = """
    CREATE EXTENSION IF NOT EXISTS citext SCHEMA pg_catalog;
    CREATE COLLATION IF NOT EXISTS loose
        (provider = icu, locale = 'und-u-ks-level1', deterministic = false);
    CREATE TABLE visits (who text COLLATE loose, what {kind});
    INSERT INTO visits SELECT who, what FROM
        (VALUES ('ann', 'flu'), ('Ann', 'Flu'), ('ANN', 'flu'), ('bob', 'FLU')) AS v(who, what),
        generate_series(1, 50);
    ANALYZE visits
"""
APART = {"flu": 2, "Flu": 1, "FLU": 1}


@pytest.mark.parametrize("kind", ["text COLLATE loose", "citext"])
def test_what_a_collation_merges_stays_apart(kind: str, postgresql: PostgresServer) -> None:
    postgresql.execute(MERGING.format(kind=kind))
    assert count(postgresql) == APART
    assert count(postgresql, count_in_database=True) == APART
    query = "SELECT who, max(what) AS what FROM visits GROUP BY who"
    assert "makes different texts equal" in refused(postgresql, query=query)
    assert "makes different texts equal" in refused(
        postgresql, query="SELECT DISTINCT * FROM visits"
    )


def test_the_server_sends_different_rows_alone(
    postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken on purpose: without COLLATE "C" they merge what the rule tells apart."""
    postgresql.execute(MERGING.format(kind="text COLLATE loose"))
    sent = []
    read = postgresql_module.read_postgresql

    def look(engine: Any, *rest: Any) -> Any:
        table = read(engine, *rest)
        sent.append(engine.connection.execute(f"SELECT count(*) FROM {table.relation}").fetchall())
        return table

    monkeypatch.setattr(databases, "read_postgresql", look)
    assert count(postgresql) == APART
    assert sent == [[(4,)]]
    right = postgresql_columns.build_sent_sql

    def wrong(cell: str, kind: Any) -> str:
        return str(right(cell, kind)).replace(' COLLATE "C"', "")

    monkeypatch.setattr(postgresql_module, "build_sent_sql", wrong)
    assert count(postgresql) != APART


def test_counting_raw_cells_would_count_a_person_twice(
    postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken on purpose: cells that are counted at the server as they are spelt."""
    load(postgresql, [("ann", "flu"), ("ann ", "flu"), (" ann", "flu")])
    assert count(postgresql, count_in_database=True) == {"flu": 1}
    monkeypatch.setattr(postgresql_module, "build_normal_sql", postgresql_columns.build_sent_sql)
    assert count(postgresql, count_in_database=True) == {"flu": 3}


def test_a_text_that_the_rule_would_change_again_is_left_out(
    postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    load(postgresql, [("ann", "flu"), ("bob", "flu "), ("ann", "flu ")])
    monkeypatch.setattr(postgresql_module, "build_normal_sql", postgresql_columns.build_sent_sql)
    assert count(postgresql, count_in_database=True) == {"flu": 1}


def test_every_spelling_means_the_same_to_both(postgresql: PostgresServer) -> None:
    load(postgresql, [(str(n), text) for n, text in enumerate(SPELLINGS)])
    assert count(postgresql, count_in_database=True) == count(postgresql)


@pytest.mark.parametrize("options", [
    {"together": 2}, {"items_per_person": 1}, {"by": "day", "groups": [1]},
])  # fmt: skip
def test_what_takes_each_persons_items_is_not_counted_there(
    options: dict[str, Any], postgresql: PostgresServer
) -> None:
    postgresql.execute(VISITS)
    said = refused(postgresql, table="visits", count_in_database=True, **options)
    assert "the rows must be transferred" in said


def test_a_server_without_unicode_does_not_count_texts(postgresql: PostgresServer) -> None:
    postgresql.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
    try:
        owner = postgresql.address.replace("ann:", "owner:").replace("clinic", "latin")
        import adbc_driver_postgresql.dbapi as driver

        with closing(driver.connect(owner, autocommit=True)) as made, closing(made.cursor()) as c:
            c.execute("CREATE TABLE visits AS SELECT 'ann' AS who, U&'caf\\00e9' AS what")
        options: dict[str, Any] = {**NAMED, "table": "visits", "domain": ["café"]}
        assert counting.count_events(owner, **options) == {"café": 1}
        assert "a database in UTF8" in refused(
            postgresql, owner, table="visits", count_in_database=True
        )
    finally:
        postgresql.execute("DROP DATABASE latin")


# ---------------------------------------------------------------- groups, counts, connections


def test_groups_bounds_sets_and_counts(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    grouped = counting.count_events(
        postgresql.address, **NAMED, table="visits", domain=DOMAIN, by="day", groups=[1, 3]
    )
    assert (grouped[1], grouped[3]) == ({"flu": 1}, {"flu": 1, "cold": 1})
    assert sum(count(postgresql, items_per_person=1).values()) == 2
    assert count(postgresql, domain=DOMAIN, together=2) == {("flu", "cold"): 1}
    postgresql.execute("CREATE TABLE n AS SELECT 'flu' AS what, 7::numeric AS n")
    read: dict[str, Any] = {"item": "what", "count": "n", "domain": DOMAIN, "table": "n"}
    assert counting.read_counts(postgresql.address, **read)["flu"] == 7
    postgresql.execute("INSERT INTO n TABLE n")
    with pytest.raises(SourceError, match="more than once"):
        counting.read_counts(postgresql.address, **read)


def test_engines_urls_and_connections(tmp_path: Path, postgresql: PostgresServer) -> None:
    import adbc_driver_postgresql.dbapi as driver

    postgresql.execute(VISITS)
    options: dict[str, Any] = {**NAMED, "table": "visits", "domain": DOMAIN}
    url = sqlalchemy.make_url(postgresql.address).set(drivername="postgresql+psycopg")
    assert counting.count_events(url, **options) == COUNTED
    own = sqlalchemy.create_engine(url)
    assert counting.count_events(own, **options) == COUNTED
    elsewhere = {"options": "-csearch_path=other"}
    others = [
        sqlalchemy.create_engine(url, connect_args=elsewhere),
        own.execution_options(schema_translate_map={None: "other"}),
    ]
    for each in others:
        assert "settings that are not in its URL" in refused(postgresql, each, table="visits")
        each.dispose()
    own.dispose()
    with (
        closing(driver.connect(postgresql.address)) as connection,
        closing(connection.cursor()) as cursor,
    ):
        cursor.execute("CREATE TEMP TABLE mine AS SELECT 1 AS n")
        assert counting.count_events(connection, **options) == COUNTED
        assert cursor.execute("SELECT n FROM mine").fetchall() == [(1,)]  # no rollback
    assert postgresql.sessions() == 0
    path = tmp_path / "v.db"
    engine = sqlalchemy.create_engine(f"sqlite:///{path}")
    with engine.begin() as made:
        made.execute(sqlalchemy.text("CREATE TABLE visits AS SELECT 'ann' AS who, 'flu' AS what"))
        with pytest.raises(SourceError, match="give its engine"):
            counting.count_events(made, **options)
    assert counting.count_events(engine, **options) == {"flu": 1, "cold": 0, "gout": 0}
    raw = engine.raw_connection()
    assert "does not return Arrow" in refused(postgresql, raw.driver_connection, table="visits")
    raw.close()
    engine.dispose()
    assert "(mysql)" in refused(postgresql, sqlalchemy.make_url(f"mysql://ann:{PASSWORD}@h/d"))


def test_an_address_with_two_at_signs_reaches_nobody(postgresql: PostgresServer) -> None:
    wrong = postgresql.address.replace(PASSWORD, f"{PASSWORD}@part")
    assert "%40" in refused(postgresql, wrong, table="visits")


@pytest.mark.parametrize("there", [False, True])
def test_whole_numbers_are_not_looked_for_among_days(
    there: bool, postgresql: PostgresServer
) -> None:
    postgresql.execute("CREATE TABLE days (who text, day date, id uuid)")
    for item in ("day", "id"):
        options: dict[str, Any] = {"item": item, "domain": counting.Domain.range(0, 5)}
        options["count_in_database"] = there
        assert "whole numbers" in refused(postgresql, table="days", **options)


def test_a_connection_of_duckdb_has_exact_names() -> None:
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits AS SELECT 'ann' AS who, 'flu' AS what")
        asked: dict[str, Any] = {**NAMED, "domain": DOMAIN}
        assert counting.count_events(connection, table="visits", **asked)["flu"] == 1
        wrong: list[tuple[str, dict[str, Any]]] = [
            ("it has 'who'", {"table": "visits", "person": "WHO"}),
            ("no column 'whom'", {"table": "visits", "person": "whom"}),
            ("no such table", {"table": "visit", "rows_are_per_person": True}),
        ]
        for said, more in wrong:
            with pytest.raises(SourceError, match=said):
                counting.count_events(connection, **{**asked, **more})


REFUSED_BY_DUCKDB = [
    "SELECT * FROM all_of",
    "SELECT who, what FROM few",
    "SELECT * FROM visits LIMIT 1",
    "SELECT * FROM read_csv('x.csv')",
    "SELECT 1; SELECT 2",
    "DROP TABLE visits",
]


def test_a_connection_of_duckdb_and_its_relation() -> None:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 'ann' AS who, 'flu' AS what, INTERVAL 1 DAY"
        )
        options: dict[str, Any] = {**NAMED, "domain": DOMAIN}
        relation = connection.sql("SELECT * FROM visits")
        counted = {"flu": 1, "cold": 0, "gout": 0}
        assert counting.count_events(relation, **options) == counted
        assert counting.count_events(relation.to_arrow_reader(), **options) == counted
        assert counting.count_events(connection, table="visits", **options) == counted
        connection.execute("CREATE VIEW few AS SELECT * FROM visits LIMIT 1")
        connection.execute("CREATE TEMP VIEW all_of AS SELECT * FROM few")
        with pytest.raises(SourceError, match="LIMIT"):
            counting.count_events(connection, table="few", **options)
        for query in REFUSED_BY_DUCKDB:
            with pytest.raises(SourceError):
                counting.count_events(connection, query=query, **options)
        connection.execute("CREATE TEMP VIEW visits AS SELECT * FROM main.visits LIMIT 1")
        # What is temporary is another session's.
        assert counting.count_events(connection, table="visits", **options) == counted
        connection.execute("DROP VIEW temp.visits; ATTACH ':memory:' AS other")
        with pytest.raises(SourceError, match="confirm that"):
            counting.count_events(connection, table="visits", **options)
        options["rows_are_per_person"] = True
        assert counting.count_events(connection, table="main.visits", **options) == counted
        query = "SELECT * FROM visits"
        assert counting.count_events(connection, query=query, **options) == counted
        with pytest.raises(ParameterError, match="Only PostgreSQL can count"):
            counting.count_events(connection, query=query, count_in_database=True, **options)
        with pytest.raises(SourceError, match="no such table"):
            counting.count_events(connection, table="none", **options)


# ---------------------------------------------------------------- failures


def test_what_is_not_there_or_not_allowed(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    postgresql.execute("CREATE TABLE secret (who int, what int); REVOKE ALL ON secret FROM ann")
    postgresql.execute("CREATE TABLE empty (who int, what int)")
    postgresql.execute('CREATE TABLE "Empty" (who int)')
    assert count(postgresql, "empty", domain=DOMAIN) == {"flu": 0, "cold": 0, "gout": 0}
    assert "no table 'nope'; it has 'Empty', 'empty'" in refused(postgresql, table="nope")
    assert "Say which table of" in refused(postgresql)
    assert "no column 'what'; it has 'who'" in refused(postgresql, table="Empty")
    assert "may not read this table" in refused(postgresql, table="secret")
    assert "not both" in refused(postgresql, table="visits", query="SELECT 1")
    assert "has no format" in refused(postgresql, table="visits", format="csv")
    wrong = postgresql.address.replace(PASSWORD, f"not-{PASSWORD}")
    assert "refuses this user or password" in refused(postgresql, wrong, table="visits")
    assert "asks for a password" in refused(postgresql, postgresql.public_address, table="visits")
    other = postgresql.address.replace("clinic", "none")
    assert "no such database" in refused(postgresql, other, table="visits")
    gone = postgresql.address.replace(str(postgresql.port), "1")
    assert "no server listens there" in refused(postgresql, gone, table="visits")
    odd = f"postgresql://h/d?passwort={PASSWORD}@1"
    assert "not a valid address" in refused(postgresql, odd, table="visits")
    several = [postgresql.address, "visits.csv"]
    assert "Only one database" in refused(postgresql, several, table="visits")
    assert postgresql.sessions() == 0


def test_words_of_the_driver_would_show_a_password(
    postgresql: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Broken on purpose: what libpq says, and an address as it was typed."""
    odd = f"postgresql://ann@/d?host={PASSWORD}.invalid"
    assert "no host with this name" in refused(postgresql, odd, table="visits")

    def quote(error: BaseException, label: str, **_: bool) -> SourceError:
        return SourceError(str(error).replace("\n", " ").strip() + f" {label}.")

    with monkeypatch.context() as patch:
        patch.setattr(database_session, "explain_failure", quote)
        with pytest.raises(AssertionError):
            refused(postgresql, odd, table="visits")
    monkeypatch.setattr(databases, "label_path", str)
    with pytest.raises(AssertionError):
        refused(postgresql, odd, table="visits")


def test_a_policy_that_hides_rows_is_refused(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    postgresql.execute(
        "ALTER TABLE visits ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY few ON visits USING (day > (SELECT count(*) FROM pg_class) - 9999)"
    )
    assert "row-level security policy" in refused(postgresql, table="visits")
    assert count(postgresql, domain=DOMAIN, rows_are_per_person=True) == COUNTED


def in_a_moment(do: Callable[[], object]) -> threading.Thread:
    def wait() -> None:
        time.sleep(0.4)
        do()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


LONG = "SELECT n::text AS who, md5(n::text) AS what FROM generate_series(1, 30000000) AS n"


@pytest.mark.parametrize(("function", "said"), [
    ("pg_cancel_backend", "the server cancelled the query"),
    ("pg_terminate_backend", "was closed by the server"),
])  # fmt: skip
def test_a_query_that_is_stopped_in_the_middle(
    function: str, said: str, postgresql: PostgresServer
) -> None:
    stop = f"SELECT {function}(pid) FROM pg_stat_activity WHERE usename = 'ann'"
    thread = in_a_moment(lambda: postgresql.ask(stop))
    assert said in refused(postgresql, query=LONG, rows_are_per_person=True)
    thread.join()
    assert postgresql.sessions() == 0


def test_a_query_that_takes_too_long_or_fails(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS + "ALTER ROLE ann SET statement_timeout = '300ms'")
    try:
        said = refused(postgresql, query=LONG, rows_are_per_person=True)
        assert "longer than the server allows" in said
    finally:
        postgresql.execute("ALTER ROLE ann RESET statement_timeout")
    query = "SELECT who::int AS who, what FROM visits"
    assert "failed" in refused(postgresql, query=query)


def test_an_interrupt_stops_the_server(postgresql: PostgresServer) -> None:
    calls: list[str] = []

    def interrupt(doing: str, _share: float | None) -> None:
        calls.append(doing)
        if len(calls) == 5:
            raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        count(postgresql, None, query=LONG, rows_are_per_person=True, progress=interrupt)
    assert time.monotonic() - began < 20
    end = time.monotonic() + 10
    while postgresql.sessions() and time.monotonic() < end:
        time.sleep(0.05)
    assert postgresql.sessions() == 0


def test_columns_and_tables_are_listed(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS)
    only = counting.list_columns(postgresql.address)
    assert only.columns == [("who", "text"), ("what", "text"), ("day", "int4")]
    postgresql.execute("CREATE TABLE others (a int)")
    assert counting.list_columns(postgresql.address).tables == ["others", "visits"]
    assert counting.list_columns(postgresql.address, table="visits").columns == only.columns
    with pytest.raises(SourceError, match="has no table 'nothing'") as error:
        counting.list_columns(postgresql.address, table="nothing")
    assert PASSWORD not in str(error.value)


def test_letters_are_folded_where_rows_are_moved_alone(postgresql: PostgresServer) -> None:
    postgresql.execute(VISITS + "INSERT INTO visits VALUES ('P9', 'FLU', 9)")
    assert count(postgresql, domain=DOMAIN, fold_case=True)["flu"] == 3
    assert "fold_case" in refused(postgresql, fold_case=True, count_in_database=True)
    assert "encoding" in refused(postgresql, encoding="latin-1", table="visits")
