"""A query of PostgreSQL is one SELECT, each row of which comes from one person, and so is a view.

Without PostgreSQL these tests are skipped; with TOPGAP_NEEDS_POSTGRESQL=1 they fail.
"""

from typing import Any

import pytest

from tests.checking.postgresql_server import PostgresServer
from topgap import counting
from topgap.counting.events import check_query
from topgap.errors import SourceError

SCHEMA = """
    CREATE TABLE visits (patient text, code text, day int, "Patient" text);
    INSERT INTO visits VALUES ('P-0042', 'flu', 1), ('x', 'cold', 2), ('P-0042', 'cold', 3);
    CREATE TABLE codes (code text);
    CREATE VIEW recent AS SELECT patient, code FROM visits
        WHERE day > 0 AND code IN ('flu', 'cold');
    CREATE VIEW of_view AS SELECT patient, lower(code) AS code FROM recent;
    CREATE VIEW limited AS SELECT patient, code FROM visits LIMIT 5;
    CREATE VIEW above AS SELECT patient, code FROM limited;
    CREATE VIEW joined AS SELECT patient, v.code FROM visits v JOIN codes c ON c.code = v.code;
    CREATE VIEW numbered AS SELECT patient, (row_number() OVER ())::text AS code FROM visits;
    CREATE MATERIALIZED VIEW kept AS SELECT max(patient) AS patient, code FROM visits GROUP BY code;
    CREATE VIEW two_names AS
        SELECT patient AS "Patient", max(code) AS patient, 'x' AS code FROM visits GROUP BY patient;
    CREATE FUNCTION anybody(text) RETURNS text IMMUTABLE LANGUAGE sql
        AS 'SELECT max(patient) FROM visits';
    CREATE FUNCTION lower(varchar) RETURNS text IMMUTABLE LANGUAGE sql
        AS 'SELECT max(patient) FROM visits';
    CREATE FUNCTION secret(visits) RETURNS text IMMUTABLE LANGUAGE sql
        AS 'SELECT max(patient) FROM visits';
    CREATE OPERATOR ### (LEFTARG = text, RIGHTARG = text, FUNCTION = textcat)
"""
ACCEPTED = [
    "SELECT patient, code FROM visits",
    "SELECT patient, code FROM visits;",
    "SELECT v.patient, v.code FROM public.visits AS v WHERE v.day::int IN (1, 2) ORDER BY code",
    "SELECT DISTINCT patient, substr(code, 1, 2) AS code FROM visits WHERE code LIKE 'f%'",
    "SELECT upper(patient) AS patient, CASE WHEN day > 1 THEN code END AS code FROM visits",
    "WITH x AS (SELECT * FROM visits) SELECT patient, code FROM x",
    "SELECT patient, code FROM (SELECT * FROM visits WHERE day > 1) AS x",
    "SELECT patient, code FROM recent",
    "SELECT patient, max(code) AS code FROM visits GROUP BY patient HAVING count(*) > 1",
    "SELECT patient, code FROM visits UNION ALL SELECT patient, max(code) FROM visits GROUP BY 1",
    "SELECT patient, unnest(string_to_array(code, 'l')) AS code FROM visits",
    "SELECT patient, code FROM visits WHERE day < extract(year FROM now())",
    "SELECT patient, code FROM visits WHERE code = ANY (ARRAY['flu', 'cold'])",
    "SELECT patient, trim(both ' ' from code) || 'x' AS code FROM visits WHERE code ~ '^f'",
    'SELECT "patient", \'a -- b\' AS "code" FROM "visits"',
]
REFUSED = {
    "SELECT patient, code FROM visits LIMIT 50": "LIMIT",
    "SELECT patient, code FROM visits FETCH FIRST 5 ROWS ONLY": "",
    "SELECT patient, code FROM visits WHERE (SELECT count(*) FROM visits) > 1": "subquery",
    "SELECT patient, code FROM visits WHERE code = ANY (SELECT code FROM codes)": "subquery",
    "SELECT patient, code FROM visits WHERE code = ANY (ARRAY(SELECT code FROM codes))": "",
    "SELECT patient, count(*) OVER () AS code FROM visits": "window",
    "SELECT v.patient, c.code FROM visits v, codes c": "join",
    "SELECT patient, x AS code FROM visits, LATERAL unnest(ARRAY[1]) AS x": "",
    "SELECT DISTINCT ON (code) patient, code FROM visits": "DISTINCT ON",
    "SELECT max(patient) AS patient, code FROM visits GROUP BY code": "aggregate",
    "SELECT patient, code FROM visits TABLESAMPLE SYSTEM (50)": "",
    "SELECT patient, code FROM visits ORDER BY ctid": "ctid",
    "SELECT patient, xmin::text AS code FROM visits": "xmin",
    "SELECT patient, random()::text AS code FROM visits": "'random'",
    "SELECT patient, pg_read_file('/etc/passwd') AS code FROM visits": "'pg_read_file'",
    "SELECT patient, set_config('x.y', code, false) AS code FROM visits": "'set_config'",
    "SELECT patient, nextval('s')::text AS code FROM visits": "'nextval'",
    "SELECT (regexp_matches(patient, '.', 'g'))[1] AS patient, code FROM visits": "sign",
    "SELECT patient, pg_sleep(9)::text AS code FROM visits": "'pg_sleep'",
    "SELECT patient, query_to_xml('x', true, true, '')::text AS code FROM visits": "",
    "SELECT patient, anybody(code) AS code FROM visits": "'anybody'",
    "SELECT patient, lower(code) AS code FROM visits": "'lower'",
    "SELECT patient, public.anybody(code) AS code FROM visits": "'anybody'",
    "SELECT patient, v.secret AS code FROM visits AS v": "'.secret'",
    "SELECT v.patient, v.count AS code FROM visits AS v GROUP BY 1": "'.count'",
    "SELECT patient, code ### 'x' AS code FROM visits": "",
    "SELECT patient, code FROM visits -- all": "comment",
    "SELECT patient, code /* all */ FROM visits": "comment",
    "SELECT patient, E'\\'' AS code FROM visits": "sign",
    "SELECT patient, $$x$$ AS code FROM visits": "sign",
    'SELECT patient, U&"cod\\0065" FROM visits': "sign",
    "SELECT patient, code FROM visits FOR UPDATE": "",
    "SELECT patient, code FROM pg_stat_activity": "does not exist",
    "SELECT patient, code FROM pg_catalog.pg_class": "does not exist",
    "SELECT patient, code FROM limited": "LIMIT",
    "SELECT patient, code FROM above": "LIMIT",
    "SELECT patient, code FROM joined": "join",
    "SELECT patient, code FROM numbered": "window",
    "SELECT patient, code FROM kept": "aggregate",
    "SELECT patient, code FROM of_view": "'lower'",
    "SELECT patient, code FROM two_names": "cannot be checked",
    "SELECT 'all' AS patient, code FROM visits": "makes up",
    "SELECT 'all' AS \"Patient\", patient, code FROM visits": "",
    "SELECT patient, code FROM visits; DROP TABLE visits": "one SELECT",
    "DROP TABLE visits": "one SELECT",
    "DELETE FROM visits RETURNING patient, code": "",
    "WITH x AS (DELETE FROM visits RETURNING *) SELECT patient, code FROM x": "",
    "SELECT patient, code INTO other FROM visits": "",
    "SELECT patient, nope AS code FROM visits": "lacks",
    "SELECT patient FROM visits": "no column 'code'",
    "SELECT patient, code, code FROM visits": "more than one column 'code'",
    "TABLE codes": "",
    'SELECT "Patient" AS patient, code FROM visits': "only by case",
    'SELECT patient, code FROM visits UNION SELECT "Patient", code FROM visits': "only by case",
    "SELECT": "",
}
# What the user vouches for is still one SELECT that changes nothing.
NEVER = [
    "DROP TABLE visits",
    "DELETE FROM visits RETURNING patient, code",
    "WITH x AS (DELETE FROM visits RETURNING *) SELECT patient, code FROM x",
    "SELECT patient, code INTO other FROM visits",
    "SELECT patient, code FROM visits; DROP TABLE visits",
    "SELECT patient, code FROM visits) AS x, (SELECT 1 AS y",
    "SELECT patient, code FROM visits FOR UPDATE",
    "SELECT patient, set_config('transaction_read_only', 'off', true) AS code FROM visits",
    "COMMIT",
]
pytestmark = pytest.mark.slow
ASKED: dict[str, Any] = {"person": "patient", "item": "code", "domain": ["flu", "cold", "fl", "1"]}


@pytest.mark.deep
def test_queries_that_are_accepted_and_run(postgresql: PostgresServer) -> None:
    postgresql.execute(SCHEMA)
    for query in ACCEPTED:
        counting.count_events(postgresql.address, query=query, **ASKED)
        check_query(postgresql.address, query=query, person="patient", item="code")
    for view in ("recent", "kept"):
        trusted = {**ASKED, "table": view, "rows_are_per_person": True}
        assert counting.count_events(postgresql.address, **trusted)["cold"] > 0


@pytest.mark.deep
def test_queries_and_views_that_are_refused(postgresql: PostgresServer) -> None:
    postgresql.execute(SCHEMA)
    for query, said in REFUSED.items():
        with pytest.raises(SourceError) as raised:
            check_query(postgresql.address, query=query, person="patient", item="code")
        sentence = str(raised.value)
        assert said in sentence, query
        assert "P-0042" not in sentence
        assert "\n" not in sentence
    for view in ("limited", "above", "joined", "numbered", "kept", "of_view"):
        with pytest.raises(SourceError, match=r"confirm that|leave it out|instead|not known"):
            counting.count_events(postgresql.address, table=view, **ASKED)


def test_what_is_vouched_for_still_changes_nothing(postgresql: PostgresServer) -> None:
    postgresql.execute(SCHEMA)
    for query in NEVER:
        with pytest.raises(SourceError) as raised:
            counting.count_events(
                postgresql.address, query=query, rows_are_per_person=True, **ASKED
            )
        assert str(raised.value).count("\n") == 0
    assert postgresql.ask("SELECT count(*) FROM visits") == [(3,)]


def test_a_query_of_counts_hides_none(postgresql: PostgresServer) -> None:
    postgresql.execute(SCHEMA)
    asked: dict[str, Any] = {"item": "code", "count": "n", "domain": ["flu", "cold"]}
    query = "SELECT code, count(DISTINCT patient) AS n FROM visits GROUP BY code"
    assert counting.read_counts(postgresql.address, query=query, **asked)["cold"] == 2
    with pytest.raises(SourceError, match="not have LIMIT"):
        counting.read_counts(postgresql.address, query=f"{query} LIMIT 1", **asked)
