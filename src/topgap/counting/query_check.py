"""SQL that a user types: one SELECT, each row of which comes from the rows of one person alone.

One person moves a count by at most 1 only if no row of a query depends on anybody else. A limit, a
window or a subquery breaks that, and so does whatever is drawn at random. DuckDB's own parser takes
the query apart, and `check_rows` accepts what can be seen to treat each row, or each person, by
itself. Views and macros are looked into in the same way. What it refuses may still be right: then
the user says so.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from topgap.counting.engine import Engine
from topgap.counting.query_tree import (
    Node,
    canonicalize,
    catalogue_name,
    function_name,
    last_name,
    output_name,
    parse,
    resolve_group,
    table_path,
    unquote,
    walk_expressions,
)
from topgap.errors import SourceError
from topgap.sources.columns import quote

_NAME = r'(?:"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|\w+)'
_VIEW = re.compile(
    rf"\s*CREATE\s+(?:TEMP\s+|TEMPORARY\s+)?VIEW\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    rf"{_NAME}(?:\s*\.\s*{_NAME})*\s*(?:\((\s*{_NAME}(?:\s*,\s*{_NAME})*\s*)\))?\s*AS\s+(.*)",
    re.IGNORECASE | re.DOTALL,
)
_EXPRESSIONS = {
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "TYPE",
}  # fmt: skip
_REFUSED_EXPRESSIONS = {"SUBQUERY": "has a subquery", "WINDOW": "has a window function"}
_TABLES = {"BASE_TABLE", "SUBQUERY", "EMPTY", "EXPRESSION_LIST"}
_MANY_ROWS = {"unnest", "generate_subscripts", "regexp_split_to_table"}  # of one row
_LEAVE_OUT = "leave it out"
_GROUP = "group by the person instead, as in SELECT patient, max(code) AS code … GROUP BY patient"
_UNCLEAR = "is written in a way that cannot be checked"


@dataclass(frozen=True)
class Catalogue:
    """What the names in a query can stand for; all names are in lower case.

    Attributes:
        tables: The tables and views; the names of those that are not in the usual schema have that
            of theirs before them.
        views: The definition of each view, by the same kind of name.
        by_row: The functions that see one row, and give the same each time.
        aggregates: The functions that see several rows.
        macros: The definitions of the functions that are written in SQL.
        others: The functions that must not be used: random ones, and those that raise errors.
        places: Columns that tell where a row stands among the others.
    """

    tables: frozenset[str]
    views: Mapping[str, str]
    by_row: frozenset[str]
    aggregates: frozenset[str]
    macros: Mapping[str, Sequence[str]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    places: frozenset[str] = frozenset({"rowid"})


def check_rows(engine: Engine, query: str, person: str, catalogue: Catalogue) -> None:
    """Check that each row of a query comes from the rows of one person alone.

    Args:
        engine: Parses it.
        query: One SELECT.
        person: The column of it that identifies the person.
        catalogue: What its names stand for.

    Raises:
        SourceError: The check fails; the sentence says why, and what the user can do.
    """
    _RowCheck(engine, person.lower(), catalogue).query(parse(engine, query), "The query")


def check_view(engine: Engine, name: str, person: str, catalogue: Catalogue) -> None:
    """Check the same of a view.

    Raises:
        SourceError: As of `check_rows`.
    """
    _RowCheck(engine, person.lower(), catalogue).view(name.lower(), outermost=True)


def check_counts(engine: Engine, query: str) -> None:
    """Check that a query that computes counts leaves out none because of its value.

    Raises:
        SourceError: It does; one person could then move a count by all of it.
    """
    node = parse(engine, query)
    parts = [node, *node.get("children", [])]
    modifiers = [each["type"] for part in parts for each in part.get("modifiers", [])]
    if "LIMIT_MODIFIER" in modifiers or any({"having", "qualify"} & part.keys() for part in parts):
        raise SourceError(
            "A query that computes counts must not have LIMIT, HAVING or QUALIFY, by which one "
            "person could make a count appear or disappear; leave it out, because the domain "
            "decides which items count."
        )


class _RowCheck:
    """One check, of a query and of the views and macros that it uses."""

    def __init__(self, engine: Engine, person: str, catalogue: Catalogue) -> None:
        self._engine = engine
        self._person = person
        self._known = catalogue
        self._seen: set[tuple[str, str]] = set()

    def query(self, node: Node, of: str) -> None:
        """Check a SELECT, or several that are put together by UNION."""
        self._nodes(node, _Scope(of), place=None)

    def view(self, name: str, *, outermost: bool) -> None:
        """Check the definition of a view."""
        if ("view", name) in self._seen:
            return
        self._seen.add(("view", name))
        schema = name.rpartition(".")[0]
        scope = _Scope(f"The view {quote(name)}", outermost=outermost, schema=schema)
        match = _VIEW.fullmatch(self._known.views[name])
        try:
            node = parse(self._engine, match[2]) if match else None
        except SourceError:
            node = None
        if match is None or node is None:
            raise _refusal(scope.of, _UNCLEAR)
        columns = [unquote(each) for each in re.findall(_NAME, match[1] or "")]
        place = columns.index(self._person) if self._person in columns else None
        self._nodes(node, scope, place)

    def _nodes(self, node: Node, scope: "_Scope", place: int | None) -> None:
        """Check a node of the tree that is a query.

        Args:
            node: The node.
            scope: Where it stands.
            place: Where the person stands in its columns, if another SELECT or a view names them.
        """
        for entry in node.get("cte_map", {}).get("map", []):
            self._nodes(entry["value"]["query_node"], scope.inner(), None)
            scope = scope.naming(str(entry["key"]).lower())
        for each in node.get("modifiers", []):
            if each["type"] not in {"ORDER_MODIFIER", "DISTINCT_MODIFIER"}:
                raise _refusal(scope.of, "has a LIMIT or OFFSET", _LEAVE_OUT)
            if each.get("distinct_on_targets"):
                raise _refusal(scope.of, "has DISTINCT ON", _GROUP)
            self._expressions(each, scope)
        if node["type"] == "SET_OPERATION_NODE":
            self._union(node, scope, place)
        elif node["type"] == "SELECT_NODE":
            self._select(node, scope, place)
        else:
            raise _refusal(scope.of, "is recursive, or of another kind that cannot be checked")

    def _union(self, node: Node, scope: "_Scope", place: int | None) -> None:
        kind = str(node.get("setop_type"))
        if kind not in {"UNION", "UNION_BY_NAME"}:
            raise _refusal(scope.of, "has INTERSECT or EXCEPT")
        parts = node.get("children") or [node["left"], node["right"]]
        if kind == "UNION" and place is None:
            first = parts[0] if parts[0]["type"] == "SELECT_NODE" else {}
            place = self._locate_person(first)
            if place is None:  # nor can it be known in the others, which go by the first's columns
                scope = scope.inner()
        for part in parts:
            self._nodes(part, scope, place)
        if scope.outermost:
            self._check_same_person(parts, scope, place)

    def _check_same_person(self, parts: Sequence[Node], scope: "_Scope", place: int | None) -> None:
        """Refuse parts in which one person gets several names."""
        persons = [
            self._find_person(part, place) for part in parts if part["type"] == "SELECT_NODE"
        ]
        found = {canonicalize(each) for each in persons if each is not None}
        if len(found) > 1:
            raise _refusal(
                scope.of,
                f"takes {quote(self._person)} from another column in one part of a UNION",
                "take it from one column",
            )

    def _select(self, node: Node, scope: "_Scope", place: int | None) -> None:
        if node.get("sample"):
            raise _refusal(scope.of, "takes a sample", _LEAVE_OUT)
        if "qualify" in node:
            raise _refusal(scope.of, "has a window function", _GROUP)
        self._table(node.get("from_table", {"type": "EMPTY"}), scope)
        names = ("select_list", "where_clause", "having", "group_expressions")
        aggregates = sum(self._expressions(node.get(each), scope) for each in names)
        person = self._find_person(node, place)
        is_grouped = "group_expressions" in node or node["aggregate_handling"] != _STANDARD
        is_by_person = scope.outermost and self._is_by_person(node, person, scope)
        if (aggregates or is_grouped) and not scope.outermost:
            raise _refusal(scope.of, "has an aggregate in an inner SELECT")
        if (aggregates or is_grouped) and not is_by_person:
            raise _refusal(scope.of, "has an aggregate that is not grouped by the person")
        columns = node.get("select_list", [])
        stars = [each for each in columns if each["class"] == "STAR"]  # which may replace columns
        made = [person, *stars] if scope.outermost else columns
        if any(self._multiplies_rows(function_name(each)) for each in walk_expressions(made)):
            raise _refusal(scope.of, "may make many persons of one")
        if person is not None:
            self._check_person(person, scope)

    def _multiplies_rows(self, name: str | None) -> bool:
        """Whether a function may give several rows for one."""
        definitions = "".join(self._known.macros.get(name or "", ())).lower()
        return name in _MANY_ROWS or any(each in definitions for each in _MANY_ROWS)

    def _check_person(self, person: Node, scope: "_Scope") -> None:
        """Refuse a person who is not identified by one column."""
        parts = {last_name(e) for e in walk_expressions(person) if e["class"] == "COLUMN_REF"}
        if scope.outermost and not parts:
            what = f"makes up {quote(self._person)}"
            raise _refusal(scope.of, what, "select the column that identifies the person")
        if len(parts) > 1:
            raise _refusal(scope.of, f"makes {quote(self._person)} of several columns")

    def _is_by_person(self, node: Node, person: Node | None, scope: "_Scope") -> bool:
        """Whether all rows of each group have the same person."""
        if person is None or self._expressions(person, scope):
            return False
        if node["aggregate_handling"] != _STANDARD:  # GROUP BY ALL
            return True
        columns = node["select_list"]
        groups = [resolve_group(each, columns) for each in node.get("group_expressions", [])]
        one_set = len(node.get("group_sets", [])) == 1
        return one_set and any(canonicalize(each) == canonicalize(person) for each in groups)

    def _find_person(self, node: Node, place: int | None) -> Node | None:
        """What a SELECT gives as the person; None if that cannot be seen, as in a star."""
        columns = node.get("select_list", [])
        if place is not None:
            return columns[place] if place < len(columns) else None
        found = [each for each in columns if output_name(each) == self._person]
        return found[0] if len(found) == 1 else None

    def _locate_person(self, node: Node) -> int | None:
        """Which of its columns is the person; None if that cannot be seen."""
        columns = node.get("select_list", [])
        person = self._find_person(node, None)
        if person is None or any(each["class"] == "STAR" for each in columns):
            return None
        place: int = columns.index(person)
        return place

    def _table(self, table: Node, scope: "_Scope") -> None:
        if table["type"] not in _TABLES:
            if table["type"] == "TABLE_FUNCTION":
                raise SourceError(
                    f"{scope.of} reads from a function; a query reads tables and views of its file."
                )
            why = "has a join" if table["type"] == "JOIN" else "reads what cannot be checked"
            raise _refusal(scope.of, why)
        if table.get("sample"):
            raise _refusal(scope.of, "takes a sample", _LEAVE_OUT)
        if table["type"] == "SUBQUERY":
            self._nodes(table["subquery"]["node"], scope.inner(), None)
        elif table["type"] == "BASE_TABLE":
            self._base_table(table, scope)
        else:
            self._expressions(table.get("values"), scope)

    def _base_table(self, table: Node, scope: "_Scope") -> None:
        """Check a table, or look into a view."""
        path, known = table_path(table), self._known
        if len(path) == 1 and path[0] in scope.named:
            return
        name = catalogue_name(path)
        # In a view, a name may mean one of its own schema, or of the usual one.
        candidates = [name, f"{scope.schema}.{name}"] if len(path) == 1 else [name]
        for each in candidates:
            if each in known.views:
                self.view(each, outermost=False)
        if not any(each in known.tables for each in candidates):  # which has the views, too
            raise SourceError(f"{scope.of} names a table {quote(name)} that does not exist.")

    def _expressions(self, part: object, scope: "_Scope") -> int:
        """Check all expressions in a part of the tree; how many aggregates there are."""
        return sum(self._expression(each, scope) for each in walk_expressions(part))

    def _expression(self, node: Node, scope: "_Scope") -> bool:
        """Check one expression, without what is in it; whether it is an aggregate."""
        kind = node["class"]
        if kind not in _EXPRESSIONS:
            why = _REFUSED_EXPRESSIONS.get(kind, "has an expression that cannot be checked")
            raise _refusal(scope.of, why, _GROUP if kind == "WINDOW" else "")
        if kind == "COLUMN_REF" and last_name(node) in self._known.places:
            raise _refusal(scope.of, f"uses {last_name(node)}", _LEAVE_OUT)
        name = function_name(node)
        if name is None:
            return False
        known = self._known
        if name in known.others:
            raise SourceError(
                f"{scope.of} uses the function {quote(name)}, whose result is not determined by "
                f"the rows, or which fails for some of them; {_LEAVE_OUT}."
            )
        if name in known.macros:  # which hide what else has the name
            return self._macro(name) or name in known.aggregates
        is_known = name in known.by_row or name in known.aggregates or name == "unnest"
        if not is_known and name.isidentifier():  # unlike operators, such as || and ~~
            raise SourceError(f"{scope.of} uses a function {quote(name)} that is not known.")
        return name in known.aggregates

    def _macro(self, name: str) -> bool:
        """Check the definitions of a macro; whether it has an aggregate."""
        if ("macro", name) in self._seen:
            return True  # as an aggregate, for a macro within itself cannot be seen through
        has_aggregates = False
        self._seen.add(("macro", name))
        for definition in self._known.macros[name]:
            scope = _Scope(f"The macro {quote(name)}")
            try:
                node = parse(self._engine, f"SELECT {definition}")
            except SourceError:
                raise _refusal(scope.of, _UNCLEAR) from None
            has_aggregates |= self._expressions(node.get("select_list"), scope) > 0
        self._seen.remove(("macro", name))
        return has_aggregates


@dataclass(frozen=True)
class _Scope:
    """Where a part of a query stands.

    Attributes:
        of: What the sentence of an error calls the whole.
        outermost: Whether its rows are those that are counted.
        schema: That of the view whose definition it is in, if it is not the usual one.
        named: The names that WITH has given to queries.
    """

    of: str
    outermost: bool = True
    schema: str = ""
    named: frozenset[str] = frozenset()

    def inner(self) -> "_Scope":
        """That of a query within."""
        return replace(self, outermost=False)

    def naming(self, name: str) -> "_Scope":
        """The same after WITH has given this name."""
        return replace(self, named=self.named | {name})


_STANDARD = "STANDARD_HANDLING"


def _refusal(of: str, why: str, remedy: str = "") -> SourceError:
    """Make the error for what may break the rule; without a remedy, the user can confirm it."""
    remedy = remedy or (
        "change it; or, if each row does come from only one person's rows, confirm that "
        "(rows_are_per_person=True, --rows-are-per-person)"
    )
    return SourceError(f"{of} {why}, so that a row may depend on more than one person; {remedy}.")
