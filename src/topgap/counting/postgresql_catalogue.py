"""What the names in a query of PostgreSQL stand for, for `query_check`.

DuckDB's parser, which is descended from PostgreSQL's, takes queries and views apart. What the two
may read in different ways is refused: comments, escapes, parameters, and characters outside ASCII
that are not in quotes. Functions are allowed by list. A function that the database defines itself
hides nothing: its name is not known, even if it is that of a known one.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from topgap.counting.database_session import Session
from topgap.counting.engine import quote_identifier
from topgap.counting.query_check import Catalogue
from topgap.counting.query_tree import OPEN_QUOTE
from topgap.errors import SourceError

_TOKEN = re.compile(
    r"""
    '(?:[^'\0]|'')*'             # a text
    | (?P<name>"(?:[^"\0]|"")*") # a name in quotes
    | (?P<plain>[^'"])
    """,
    re.VERBOSE,
)
_TEXT, _NAME = "\0", "\1"  # stand for a text and a name in quotes
_UNLIKE = re.compile(rf"--|/\*|[`$\\?]|[\w&][{_TEXT}{_NAME}]|[^\n\t\x20-\x7e{_TEXT}{_NAME}]")
# So DuckDB calls the operator ~; the function of this name gives many rows.
_MATCHES = "regexp_matches"

_BY_ROW = frozenset({
    "lower", "upper", "initcap", "trim", "btrim", "ltrim", "rtrim", "substr", "substring", "left",
    "right", "length", "char_length", "character_length", "octet_length", "replace", "translate",
    "reverse", "repeat", "lpad", "rpad", "concat", "concat_ws", "split_part", "strpos",
    "position", "starts_with", "overlay", "regexp_replace", "regexp_match", "regexp_substr",
    "regexp_count", "regexp_like", "regexp_full_match", _MATCHES, "normalize", "ascii", "chr",
    "md5", "sha224", "sha256", "sha384", "sha512", "encode", "decode", "to_hex", "to_char",
    "to_number", "to_date", "to_timestamp", "abs", "round", "floor", "ceil", "ceiling", "trunc",
    "mod", "div", "power", "sqrt", "sign", "exp", "ln", "log", "log10", "greatest", "least",
    "width_bucket", "trim_scale", "gcd", "lcm", "date_part", "date_trunc", "date_bin", "extract",
    "age", "make_date", "isfinite", "timezone", "now", "current_date", "current_timestamp",
    "localtimestamp", "coalesce", "nullif", "jsonb_typeof", "json_typeof",
    "json_extract_path_text", "jsonb_extract_path_text", "array_length", "cardinality",
    "array_to_string", "string_to_array", "array_position", "like_escape", "not_like_escape",
    "ilike_escape", "not_ilike_escape", "list_value", "array_value", "array_extract",
    "struct_extract", "row", "contains", "list_contains", "unnest",
})  # fmt: skip
_AGGREGATES = frozenset({
    "count", "count_star", "sum", "avg", "min", "max", "bool_and", "bool_or", "every",
    "string_agg", "array_agg", "stddev", "stddev_samp", "stddev_pop", "variance", "var_samp",
    "var_pop", "bit_and", "bit_or",
})  # fmt: skip
_PLAIN = {"r", "p"}  # tables, and those that are made of parts
_LIST = r"(?:[^\[\]'\"]|'(?:[^']|'')*')*"
_PLACES = frozenset({"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid", "oid"})
_MERGES = re.compile(r"\b(group|distinct|union|collate)\b", re.IGNORECASE)
_DUCKDB_SCHEMAS = {"main", "source"}  # which query_check takes for the default one

_RELATIONS = """
    SELECT n.nspname::text, c.relname::text, c.relkind::text, pg_table_is_visible(c.oid),
        CASE WHEN c.relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END,
        (SELECT array_to_string(array_agg(quote_ident(a.attname) ORDER BY a.attnum), ', ')
            FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attnum > 0
            AND NOT a.attisdropped AND c.relkind IN ('v', 'm'))
    FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema'
        AND n.nspname !~ '^pg_' ORDER BY 2, 1
"""
_OWN_NAMES = """
    SELECT DISTINCT lower(name), is_column FROM (
        SELECT p.proname::text AS name, false AS is_column, p.oid, p.pronamespace AS space,
            'pg_proc'::regclass AS class FROM pg_proc AS p
        UNION ALL SELECT o.oprname::text, false, o.oid, o.oprnamespace, 'pg_operator'::regclass
            FROM pg_operator AS o
        ) AS own
    WHERE space NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        AND NOT EXISTS (SELECT FROM pg_depend AS d JOIN pg_extension AS e ON e.oid = d.refobjid
            WHERE d.classid = own.class AND d.objid = own.oid AND d.deptype = 'e'
            AND e.extname = 'citext')
    UNION SELECT DISTINCT lower(p.proname::text), true FROM pg_proc AS p
        JOIN pg_type AS t ON t.oid = p.proargtypes[0]
        WHERE p.pronargs = 1 AND t.typtype IN ('c', 'p')
"""
_MERGING = """
    SELECT DISTINCT lower(a.attname::text) FROM pg_attribute AS a
        JOIN pg_class AS c ON c.oid = a.attrelid JOIN pg_type AS t ON t.oid = a.atttypid
        LEFT JOIN pg_type AS b ON b.oid = t.typbasetype
        LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
        WHERE a.attnum > 0 AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
            AND (NOT l.collisdeterministic OR 'citext' IN (t.typname, b.typname))
    UNION SELECT lower(collname::text) FROM pg_collation WHERE NOT collisdeterministic
"""


class Relations(NamedTuple):
    """The tables and views of a database.

    Attributes:
        shown: What each is called: with its schema, unless it is found without.
        sql: SQL for each, by that and by the name with the schema.
        plain: The SQL of those that are tables, and no views and not of another server.
        rows: What the server says of them.
    """

    shown: list[str]
    sql: dict[str, str]
    plain: set[str]
    rows: list[tuple[str, str, str, bool, str | None, str | None]]


def read_relations(session: Session) -> Relations:
    """Read the names of the tables and views, and the definitions of the views."""
    rows = session.read_rows(_RELATIONS)
    shown: list[str] = []
    sql: dict[str, str] = {}
    plain: set[str] = set()
    for schema, name, kind, is_visible, *_ in rows:
        shown.append(name if is_visible else f"{schema}.{name}")
        for each in (shown[-1], f"{schema}.{name}"):
            sql[each] = f"{quote_identifier(schema)}.{quote_identifier(name)}"
        plain |= {sql[shown[-1]]} if kind in _PLAIN else set()
    return Relations(shown, sql, plain, rows)


def read_catalogue(session: Session, relations: Relations) -> Catalogue:
    """Read what else names can stand for."""
    own = session.read_rows(_OWN_NAMES)
    functions = {name for name, is_column in own if not is_column}
    views: dict[str, str] = {}
    tables: set[str] = set()
    for schema, name, kind, is_visible, definition, columns in relations.rows:
        names = {f"{schema}.{name}".lower()}
        names |= {name.lower()} if is_visible or schema.lower() in _DUCKDB_SCHEMAS else set()
        is_plain = kind in _PLAIN and schema.lower() not in _DUCKDB_SCHEMAS
        for each in names:
            if each in tables or not is_plain:  # in PostgreSQL, names can differ by case alone
                is_clear = each not in tables and schema.lower() not in _DUCKDB_SCHEMAS
                views[each] = _write_view(definition, columns) if is_clear else ""
            tables.add(each)
    return Catalogue(
        tables=frozenset(tables),
        views=views,
        by_row=_BY_ROW - functions,
        aggregates=_AGGREGATES - functions,
        others=frozenset(each for each in functions if not each.isidentifier()),
        places=_PLACES,
    )


def check_portable(session: Session, query: str, definitions: Iterable[str]) -> None:
    """Check that both parsers read a query alike, and that nothing in it merges two persons.

    Raises:
        SourceError: They may not, or a collation or a type makes different texts equal.
    """
    if not is_portable(query):
        if has_open_quote(query):
            raise SourceError(OPEN_QUOTE)
        raise SourceError(
            "The query has a comment, a sign outside quotes, or names that differ only by case, "
            "which PostgreSQL may read differently from the check; leave it out, or confirm "
            "that each row comes from only one person's rows (rows_are_per_person=True, "
            "--rows-are-per-person)."
        )
    calls = {name for name, is_column in session.read_rows(_OWN_NAMES) if is_column}
    for name in re.findall(r"\.\s*\"?(\w+)\"?(?!\s*\.)", _blank_texts(query)):
        if name.lower() in calls:
            raise SourceError(
                f"The query has '.{name.lower()}', which PostgreSQL may read as a function of the "
                f"whole row; leave out the table's name before it."
            )
    check_merging(session, [query, *definitions])


def check_merging(session: Session, texts: Iterable[str]) -> None:
    """Check that GROUP BY, DISTINCT and UNION do not take two persons for one.

    Raises:
        SourceError: A column that is named may have a collation or type that does.
    """
    blank = [_blank_texts(each) for each in texts]
    if not any(map(_MERGES.search, blank)):
        return
    merging = {name for (name,) in session.read_rows(_MERGING)}
    words = {word.lower() for each in blank for word in re.findall(r"\w+|\*", each)}
    if merging and ("*" in words or words & merging):
        raise SourceError(
            "The query, or a view, has GROUP BY, DISTINCT, UNION or COLLATE, and a column whose "
            "collation or type (citext) makes different texts equal, so that a row may depend on "
            "more than one person; leave it out, or confirm that each row comes from only one "
            "person's rows (rows_are_per_person=True, --rows-are-per-person)."
        )


def is_portable(sql: str) -> bool:
    """Whether DuckDB's parser and PostgreSQL read a query alike, as far as its signs tell.

    >>> is_portable("SELECT who::text, 'a -- b' FROM visits"), is_portable("SELECT 1 -- all")
    (True, False)
    """
    tokens, outside = _split(sql)
    is_whole = sum(len(each[0]) for each in tokens) == len(sql)  # else a quote is left open
    has_stand_ins = _TEXT in sql or _NAME in sql
    if not is_whole or has_stand_ins or _UNLIKE.search(outside) is not None:
        return False
    # To PostgreSQL, names in quotes differ by case; to DuckDB they do not.
    quoted = {each["name"][1:-1].replace('""', '"') for each in tokens if each["name"]}
    names = quoted | {word.lower() for word in re.findall(r"\w+", outside)}
    are_apart = len({each.lower() for each in names}) == len(names)
    return are_apart and _MATCHES not in _blank_texts(sql).lower()


def has_open_quote(sql: str) -> bool:
    """Whether a quote is left open, and nothing else is read in two ways.

    >>> has_open_quote("SELECT who FROM visits WHERE what = 'it's'"), has_open_quote("SELECT '-'")
    (True, False)
    """
    tokens, outside = _split(sql)
    return sum(len(each[0]) for each in tokens) < len(sql) and not _UNLIKE.search(outside)


def _split(sql: str) -> tuple[list[re.Match[str]], str]:
    """The tokens, and what is outside quotes."""
    tokens = [*_TOKEN.finditer(sql)]
    outside = "".join(each["plain"] or (_NAME if each["name"] else _TEXT) for each in tokens)
    return tokens, outside


def rewrite_lists(sql: str) -> str:
    """Write `IN` for what PostgreSQL makes of it in a view, which DuckDB takes for a subquery.

    >>> rewrite_lists("code = ANY (ARRAY['flu'::text, 'cold'::text])")
    "code IN ('flu'::text, 'cold'::text)"
    """
    for every, name in ((r"= ANY", "IN"), (r"<> ALL", "NOT IN")):
        plain, cast = rf"\(ARRAY\[({_LIST})\]\)", rf"\(\(ARRAY\[({_LIST})\]\)::[a-z ]+\[\]\)"
        found = re.compile(f"{every} (?:{plain}|{cast})")
        sql = found.sub(rf"{name} (\1\2)", sql)
    return sql


def _blank_texts(sql: str) -> str:
    return re.sub(r"'(?:[^']|'')*'", "''", sql)


def _write_view(definition: str | None, columns: str | None) -> str:
    """Write the statement that makes a view; empty if it cannot be checked."""
    body = rewrite_lists((definition or "").strip().rstrip(";"))
    names = [each.strip('"').lower() for each in re.findall(r'"(?:[^"]|"")*"|\w+', columns or "")]
    is_clear = len({*names}) == len(names) > 0 and is_portable(body)
    return f"CREATE VIEW v ({columns}) AS {body}" if is_clear else ""
