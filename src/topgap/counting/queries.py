"""SQL that a user types: one SELECT, each row of which comes from the rows of one person alone.

One person moves a count by at most 1 only if no row of a query depends on anybody else. A limit, a
window or a subquery breaks that, and so does whatever is drawn at random. DuckDB's own parser takes
the query apart, and `check_rows` accepts what can be seen to treat each row, or each person, by
itself. Views and macros are looked into in the same way. What it refuses may still be right: then
the user says so.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from topgap.counting.engine import Engine
from topgap.counting.tables import literal, quoted
from topgap.errors import SourceError
from topgap.text import on_one_line

Node = dict[str, Any]

_NAME = r'(?:"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|\w+)'
_VIEW = re.compile(
    rf"\s*CREATE\s+(?:TEMP\s+|TEMPORARY\s+)?VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    rf"{_NAME}(?:\s*\.\s*{_NAME})*\s*(?:\(\s*{_NAME}(?:\s*,\s*{_NAME})*\s*\))?\s*AS\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
_EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "TYPE",
}  # fmt: skip
_OTHER_EXPRESSIONS = {"SUBQUERY": "has a subquery", "WINDOW": "has a window function"}
_TABLES = {"BASE_TABLE", "SUBQUERY", "EMPTY", "EXPRESSION_LIST"}
_OTHER_TABLES = {"JOIN": "has a join", "TABLE_FUNCTION": "reads from a function"}
_MANY_ROWS = {"unnest", "generate_subscripts", "regexp_split_to_table"}  # of one row
_PLACES = {"rowid", "_rowid_"}  # where a row stands among the others
_AGGREGATE = "has an aggregate that is not grouped by the person, or within another SELECT"


@dataclass(frozen=True)
class Catalogue:
    """What the names in a query can stand for; all names are in lower case.

    Attributes:
        tables: The tables.
        views: The definition of each view; of several, if schemas have one by the same name.
        by_row: The functions that see one row, and give the same each time.
        aggregates: The functions that see several rows.
        macros: The definitions of the functions that are written in SQL.
        others: The functions that must not be used: random ones, and those that raise errors.
        places: Columns that tell where a row stands among the others.
    """

    tables: frozenset[str]
    views: Mapping[str, Sequence[str]]
    by_row: frozenset[str]
    aggregates: frozenset[str]
    macros: Mapping[str, Sequence[str]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset(_PLACES)


def parse(engine: Engine, query: str) -> Node:
    """The one SELECT that the text is, as DuckDB's parser sees it.

    Raises:
        SourceError: It cannot be parsed, or is something else.
    """
    serialized = f"json_serialize_sql({literal(query)}, skip_null := true, skip_empty := true)"
    parsed = json.loads(engine.connection.execute(f"SELECT {serialized}").fetchall()[0][0])
    if parsed["error"] and parsed.get("error_type") == "parser":
        # Of the parser's words alone it is known that they quote the query and no row.
        why = on_one_line(str(parsed["error_message"]).rstrip("."))
        raise SourceError(f"The query cannot be parsed: {why[:200]}.")
    statements = parsed.get("statements", [])
    if parsed["error"] or len(statements) != 1:
        raise SourceError("The query must be one SELECT, and nothing else; PIVOT is not allowed.")
    node: Node = statements[0]["node"]
    return node


def text_of_query(engine: Engine, query: str) -> str:
    """The SELECT as DuckDB writes it, from what its parser saw: nothing else can be in it.

    Raises:
        SourceError: It is not one SELECT.
    """
    parse(engine, query)
    written = f"json_deserialize_sql(json_serialize_sql({literal(query)}))"
    return str(engine.connection.execute(f"SELECT {written}").fetchall()[0][0])


def check_rows(engine: Engine, query: str, person: str, catalogue: Catalogue) -> None:
    """See that each row of a query comes from the rows of one person alone.

    Args:
        engine: Parses it.
        query: One SELECT.
        person: The column of it that identifies the person.
        catalogue: What its names stand for.

    Raises:
        SourceError: It cannot be seen; the sentence says why, and what the user can say instead.
    """
    _Check(engine, person.lower(), catalogue).query(parse(engine, query), "The query")


def check_view(engine: Engine, name: str, person: str, catalogue: Catalogue) -> None:
    """See the same of a view.

    Raises:
        SourceError: As of `check_rows`.
    """
    _Check(engine, person.lower(), catalogue).view(name.lower(), outermost=True)


class _Check:
    """One check, of a query and of the views and macros that it uses."""

    def __init__(self, engine: Engine, person: str, catalogue: Catalogue) -> None:
        self._engine = engine
        self._person = person
        self._known = catalogue
        self._seen: set[tuple[str, str]] = set()

    def query(self, node: Node, of: str, *, outermost: bool = True) -> None:
        """Check a SELECT, or several that are put together by UNION."""
        self._nodes(node, of, frozenset(), place=None, outermost=outermost)

    def view(self, name: str, *, outermost: bool) -> None:
        """Check the definition of a view."""
        if ("view", name) in self._seen:
            return
        self._seen.add(("view", name))
        of = f"The view {quoted(name)}"
        for definition in self._known.views[name]:
            match = _VIEW.fullmatch(definition)
            try:
                node = parse(self._engine, match[1]) if match else None
            except SourceError:
                node = None
            if node is None:
                raise _refusal(of, "is written in a way that cannot be checked")
            self.query(node, of, outermost=outermost)

    def _nodes(
        self, node: Node, of: str, named: frozenset[str], place: int | None, *, outermost: bool
    ) -> None:
        """Check a node of the tree that is a query.

        Args:
            node: The node.
            of: What the sentence of an error calls it.
            named: The names that WITH has given to queries.
            place: Where the person stands in its columns, if another SELECT has named them.
            outermost: Whether its rows are those that are counted.
        """
        for entry in node.get("cte_map", {}).get("map", []):
            self._nodes(entry["value"]["query_node"], of, named, None, outermost=False)
            named |= {str(entry["key"]).lower()}
        for each in node.get("modifiers", []):
            if each["type"] not in {"ORDER_MODIFIER", "DISTINCT_MODIFIER"}:
                raise _refusal(of, "has a LIMIT or OFFSET")
            if each.get("distinct_on_targets"):
                raise _refusal(of, "has DISTINCT ON")
            self._expressions(each, of)
        if node["type"] == "SET_OPERATION_NODE":
            self._union(node, of, named, place, outermost=outermost)
        elif node["type"] == "SELECT_NODE":
            self._select(node, of, named, place, outermost=outermost)
        else:
            raise _refusal(of, "is recursive, or of another kind that cannot be checked")

    def _union(
        self, node: Node, of: str, named: frozenset[str], place: int | None, *, outermost: bool
    ) -> None:
        if not str(node.get("setop_type")).startswith("UNION"):
            raise _refusal(of, "has INTERSECT or EXCEPT")
        parts = node.get("children") or [node["left"], node["right"]]
        if place is None and parts[0]["type"] == "SELECT_NODE":
            place = self._place_of_person(parts[0])
        for part in parts:
            self._nodes(part, of, named, place, outermost=outermost)

    def _select(
        self, node: Node, of: str, named: frozenset[str], place: int | None, *, outermost: bool
    ) -> None:
        if node.get("sample"):
            raise _refusal(of, "takes a sample")
        if "qualify" in node:
            raise _refusal(of, "has a window function")
        self._table(node.get("from_table", {"type": "EMPTY"}), of, named)
        parts = [node.get(each) for each in ("select_list", "where_clause", "having")]
        parts += [node.get("group_expressions")]
        aggregates = sum(self._expressions(part, of) for part in parts)
        columns = node.get("select_list", [])
        if place is None:
            place = self._place_of_person(node)
        person = columns[place] if place is not None and place < len(columns) else None
        is_grouped = "group_expressions" in node or node["aggregate_handling"] != _STANDARD
        if (aggregates or is_grouped) and not (outermost and self._by_person(node, person, of)):
            raise _refusal(of, _AGGREGATE)
        if outermost and person is not None and person["class"] != "STAR":
            inside = [*_expressions_in(person)]
            made_up = not any(each["class"] == "COLUMN_REF" for each in inside)
            if made_up or any(_function(each) in _MANY_ROWS for each in inside):
                raise _refusal(of, f"makes up {quoted(self._person)}")

    def _by_person(self, node: Node, person: Node | None, of: str) -> bool:
        """Whether all rows of each group have the same person."""
        if person is None or self._expressions(person, of):
            return False
        if node["aggregate_handling"] != _STANDARD:  # GROUP BY ALL
            return True
        sets, columns = node.get("group_sets", []), node["select_list"]
        groups = [_bare(_at_place(each, columns)) for each in node.get("group_expressions", [])]
        names = {_bare(person), ("COLUMN_REF", self._person)}
        return len(sets) == 1 and any(each in names for each in groups)

    def _place_of_person(self, node: Node) -> int | None:
        columns = node.get("select_list", [])
        if any(each["class"] == "STAR" for each in columns):
            return None
        names = [_name_of(each) for each in columns]
        return names.index(self._person) if names.count(self._person) == 1 else None

    def _table(self, table: Node, of: str, named: frozenset[str]) -> None:
        if table["type"] not in _TABLES:
            why = _OTHER_TABLES.get(table["type"], "reads what cannot be checked")
            raise _refusal(of, why)
        if table.get("sample"):
            raise _refusal(of, "takes a sample")
        if table["type"] == "SUBQUERY":
            self._nodes(table["subquery"]["node"], of, named, None, outermost=False)
        elif table["type"] == "BASE_TABLE":
            name = str(table["table_name"]).lower()
            if name in named:
                return
            if name in self._known.views:
                self.view(name, outermost=False)
            elif name not in self._known.tables:
                raise SourceError(f"{of} names a table {quoted(name)} that is not in the file.")
        else:
            self._expressions(table.get("values"), of)

    def _expressions(self, part: object, of: str) -> int:
        """Check all expressions in a part of the tree; how many aggregates there are."""
        return sum(self._expression(each, of) for each in _expressions_in(part))

    def _expression(self, node: Node, of: str) -> bool:
        """Check one expression, without what is in it; whether it is an aggregate."""
        kind = node["class"]
        if kind not in _EXPRESSIONS:
            why = _OTHER_EXPRESSIONS.get(kind, "has an expression that cannot be checked")
            raise _refusal(of, why)
        if kind == "COLUMN_REF" and _last_name(node) in self._known.places:
            raise _refusal(of, f"uses {_last_name(node)}")
        name = _function(node)
        if name is None or name == "unnest" or not name.isidentifier():  # such as || and ~~
            return False
        known = self._known
        if name in known.others:
            raise _refusal(of, f"uses the function {quoted(name)}")
        if not any(name in each for each in (known.by_row, known.aggregates, known.macros)):
            raise SourceError(f"{of} uses a function {quoted(name)} that is not known.")
        return name in known.aggregates or self._macro(name)

    def _macro(self, name: str) -> bool:
        """Check the definitions of a macro; whether it has an aggregate."""
        if ("macro", name) in self._seen:
            return True  # as an aggregate, for a macro within itself cannot be seen through
        has_aggregates = False
        self._seen.add(("macro", name))
        for definition in self._known.macros.get(name, ()):
            of = f"The macro {quoted(name)}"
            try:
                node = parse(self._engine, f"SELECT {definition}")
            except SourceError:
                raise _refusal(of, "is written in a way that cannot be checked") from None
            has_aggregates |= self._expressions(node.get("select_list"), of) > 0
        self._seen.remove(("macro", name))
        return has_aggregates


_STANDARD = "STANDARD_HANDLING"


def _refusal(of: str, why: str) -> SourceError:
    return SourceError(
        f"{of} {why}, so that a row may depend on more than one person; change it, or say that "
        f"each row comes from one person's rows alone (rows_are_per_person=True, "
        f"--rows-are-per-person)."
    )


def _expressions_in(part: object) -> Iterator[Node]:
    """All expressions in a part of the tree, those within others too."""
    if isinstance(part, dict):
        if "class" in part:
            yield part
        if part.get("class") in _OTHER_EXPRESSIONS:
            return
        part = [*part.values()]
    if isinstance(part, list):
        for each in part:
            yield from _expressions_in(each)


def _function(node: Node) -> str | None:
    return str(node["function_name"]).lower() if node["class"] == "FUNCTION" else None


def _last_name(node: Node) -> str:
    return str(node["column_names"][-1]).lower()


def _name_of(node: Node) -> str | None:
    """The name of a column that a SELECT gives."""
    if node.get("alias"):
        return str(node["alias"]).lower()
    return _last_name(node) if node["class"] == "COLUMN_REF" else None


def _at_place(node: Node, columns: Sequence[Node]) -> Node:
    """What GROUP BY means: a column by its number, or an expression."""
    if node["class"] != "CONSTANT":
        return node
    constant = node.get("literal") or node.get("value") or {}
    text = str(constant.get("text", constant.get("value", "")))
    return columns[int(text) - 1] if text.isdecimal() and 0 < int(text) <= len(columns) else node


def _bare(node: Node) -> tuple[str, str]:
    """What two expressions that mean the same have in common: all but their names and places."""
    if node["class"] == "COLUMN_REF":
        return "COLUMN_REF", _last_name(node)
    return "", json.dumps(_without_places(node), sort_keys=True)


def _without_places(part: object) -> object:
    if isinstance(part, dict):
        left_out = {"query_location", "query_location_length", "alias"}
        return {name: _without_places(each) for name, each in part.items() if name not in left_out}
    return [*map(_without_places, part)] if isinstance(part, list) else part
