"""A query as the tree that DuckDB's parser makes of it: parse it, walk it, name its parts."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from topgap.counting.engine import Engine, quote_literal
from topgap.display.text import to_line
from topgap.errors import SourceError

Node = dict[str, Any]

_OPAQUE = {"SUBQUERY", "WINDOW"}


OPEN_QUOTE = (
    "The query has a quote that is not closed; close it, and write a quote within a text twice, as "
    "in 'it''s'."
)


class UnparsedError(SourceError):
    """A query cannot be parsed."""


def parse(engine: Engine, query: str) -> Node:
    """Parse one SELECT.

    Raises:
        SourceError: It cannot be parsed, or is something else.
    """
    serialized = (
        f"json_serialize_sql({quote_literal(query)}, skip_null := true, skip_empty := true)"
    )
    parsed = json.loads(engine.connection.execute(f"SELECT {serialized}").fetchall()[0][0])
    if parsed["error"] and parsed.get("error_type") == "parser":
        # Of the parser's words alone it is known that they quote the query and no row.
        why = to_line(str(parsed["error_message"]).rstrip("."))
        raise UnparsedError(f"The query cannot be parsed: {why[:200]}.")
    statements = parsed.get("statements", [])
    if parsed["error"] or len(statements) != 1:
        pivot = ", without PIVOT" if "pivot" in query.lower() else ""
        raise SourceError(f"The query must be one SELECT{pivot}, and nothing else.")
    node: Node = statements[0]["node"]
    return node


def rewrite_query(engine: Engine, query: str) -> str:
    """Write a SELECT from the tree of DuckDB's parser, so that nothing else is in it.

    Raises:
        SourceError: It is not one SELECT.
    """
    parse(engine, query)
    sql = f"json_deserialize_sql(json_serialize_sql({quote_literal(query)}))"
    return str(engine.connection.execute(f"SELECT {sql}").fetchall()[0][0])


def walk_expressions(part: object) -> Iterator[Node]:
    """Walk all expressions in a part of the tree, but not into subqueries and windows."""
    if isinstance(part, dict):
        if "class" in part:
            yield part
        if part.get("class") in _OPAQUE:
            return
        part = [*part.values()]
    if isinstance(part, list):
        for each in part:
            yield from walk_expressions(each)


def function_name(node: Node) -> str | None:
    """The name of the function that an expression calls; None if it calls none."""
    return str(node["function_name"]).lower() if node["class"] == "FUNCTION" else None


def last_name(node: Node) -> str:
    """The name of a column without those of table and schema."""
    return str(node["column_names"][-1]).lower()


def table_path(table: Node) -> Sequence[str]:
    """The name of a table, with those of database and schema before it if they are given."""
    path = table.get("qualified_name", {}).get("path")
    if path is None:
        parts = [table.get(each) for each in ("catalog_name", "schema_name", "table_name")]
        path = [each for each in parts if each]
    return [str(each).lower() for each in path]


def catalogue_name(path: Sequence[str]) -> str:
    """The name of a table as a catalogue has it."""
    if len(path) == 3 or (len(path) == 2 and path[0] == "source"):
        path = path[1:]  # the file goes by this name
    return ".".join(path[1:] if path[0] == "main" and len(path) > 1 else path)


def unquote(name: str) -> str:
    """Remove the quotes of a name of SQL, and put it in lower case."""
    if name[0] in '"`':
        name = name[1:-1].replace(name[0] * 2, name[0])
    return name.strip("[]").lower()


def output_name(node: Node) -> str | None:
    """The name of a column that a SELECT gives."""
    if node.get("alias"):
        return str(node["alias"]).lower()
    return last_name(node) if node["class"] == "COLUMN_REF" else None


def resolve_group(node: Node, columns: Sequence[Node]) -> Node:
    """Find the expression that GROUP BY means, by number or by itself."""
    if node["class"] != "CONSTANT":
        return node
    literal_ = node.get("literal") or {}  # DuckDB 2; before, a value of its type
    is_whole = literal_.get("kind") == "INTEGER"
    place = int(literal_["text"]) if is_whole else node.get("value", {}).get("value")
    return columns[place - 1] if type(place) is int and 0 < place <= len(columns) else node


def canonicalize(node: Node) -> tuple[str, str]:
    """Reduce an expression to what it means, without aliases and positions in the text."""
    if node["class"] == "COLUMN_REF":
        return "COLUMN_REF", last_name(node)
    return "", json.dumps(_drop_places(node), sort_keys=True)


def _drop_places(part: object) -> object:
    if isinstance(part, dict):
        left_out = {"query_location", "query_location_length", "alias"}
        return {name: _drop_places(each) for name, each in part.items() if name not in left_out}
    return [*map(_drop_places, part)] if isinstance(part, list) else part
