"""Columns of PostgreSQL, as SQL for what leaves the server, by the rule of equal cells.

What is sent tells the same cells apart as the rule does, or more: DISTINCT must not merge two of
them. A collation, citext or char(n) would, so texts are sent as plain text, compared by their bytes
(COLLATE "C"). Numbers with a decimal point are written as short as they can be.

What is counted at the server must tell the same cells apart, and no more: one person in two
spellings would count twice. So `build_normal_sql` also does to a text what `cells` does.
"""

from typing import NamedTuple

from topgap.domains.cell_text import INVISIBLE_RANGES

_INTEGERS = {"int2", "int4", "int8"}
_FLOATS = {"float4", "float8"}
_TEXTS = {"text", "varchar", "bpchar", "name", "citext", "char"}
_PLAIN = {"date", "time", "timestamp", "timestamptz", "uuid"}  # whose texts are ASCII, without ends
_JSON = {"json", "jsonb"}
_SENT = {
    "int2": "SMALLINT", "int4": "INTEGER", "int8": "BIGINT", "oid": "BIGINT",
    "float4": "FLOAT", "float8": "DOUBLE", "bool": "BOOLEAN", "bytea": "BLOB",
}  # fmt: skip


_KEPT = {
    "date": "DATE", "time": "TIME", "timestamp": "TIMESTAMP",
    "timestamptz": "TIMESTAMP WITH TIME ZONE", "uuid": "UUID",
}  # fmt: skip
"""Types whose cells are sent as texts; by their names it is known that they are not numbers."""


class ServerType(NamedTuple):
    """A type of a column, which is not a domain: what a domain is made over stands for it.

    Attributes:
        name: Its name.
        kind: Its class, in one letter: `e` for an enum, `b` for a plain type.
        is_own: Whether the database defines it itself.
    """

    name: str
    kind: str
    is_own: bool

    @property
    def is_text(self) -> bool:
        """Whether its cells are texts that may be spelt in several ways."""
        is_citext = self.is_own and self.name == "citext"  # of the extension
        return self.kind == "e" or is_citext or self._name in _TEXTS

    @property
    def is_json(self) -> bool:
        """Whether its cells are JSON."""
        return self._name in _JSON

    @property
    def duckdb_kind(self) -> str:
        """The type that DuckDB has for what is sent of it."""
        return _SENT.get(self._name, "VARCHAR")

    @property
    def counted_kind(self) -> str:
        """The type by which it is counted; DuckDB's name of what it is on the server."""
        return _KEPT.get(self._name, self.duckdb_kind)

    @property
    def _name(self) -> str:
        return "" if self.is_own else self.name


def build_sent_sql(cell: str, kind: ServerType) -> str | None:
    """Build SQL for what is sent of a cell; None if the type cannot be used.

    >>> build_sent_sql('"code"', ServerType("bpchar", "b", False))
    '"code"::text COLLATE "C"'
    """
    name = "" if kind.is_own else kind.name
    if kind.is_text or kind.is_json or name in _PLAIN:
        return f'{cell}::text COLLATE "C"'
    if name == "numeric":
        return _build_numeric_sql(cell)
    if name == "oid":
        return f"{cell}::int8"
    return cell if name in {*_INTEGERS, *_FLOATS, "bool", "bytea"} else None


def build_normal_sql(cell: str, kind: ServerType) -> str | None:
    """Build SQL for what a cell is counted by at the server, NULL if it is missing; or None."""
    if kind.is_json:
        return None
    sent = build_sent_sql(cell, kind)
    if sent is None:
        return None
    if kind.is_text:
        return _build_text_sql(f"({sent})")
    return f"nullif({cell}, 'NaN')" if not kind.is_own and kind.name in _FLOATS else sent


def _build_numeric_sql(cell: str) -> str:
    text = f"{cell}::text"
    return (
        f"(CASE WHEN {cell} = 'NaN' THEN NULL "
        f"WHEN {text} LIKE '%.%' THEN rtrim(rtrim({text}, '0'), '.') "
        f"ELSE replace({text}, 'Infinity', 'inf') END) COLLATE \"C\""
    )


def _build_text_sql(text: str) -> str:
    # As in `cells`: ASCII that neither begins nor ends with a space or control character is normal.
    plain = (
        f"octet_length({text}) = char_length({text}) AND ascii({text}) BETWEEN 33 AND 126 "
        f"AND ascii(right({text}, 1)) BETWEEN 33 AND 126"
    )
    ends = f"regexp_replace({text}, '^[{_CLASS}]+|[{_CLASS}]+$', '', 'g')"
    return f"(CASE WHEN {plain} THEN {text} ELSE nullif(normalize({ends}, NFC), '') END)"


def _write_character(code: int) -> str:
    return f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"


_CLASS = "".join(  # PostgreSQL's texts have no NUL, nor do its patterns
    f"{_write_character(max(first, 1))}-{_write_character(last)}"
    for first, last in INVISIBLE_RANGES
)
