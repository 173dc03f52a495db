"""SQL that DuckDB's parser and SQLite read alike, so that what was checked is what SQLite runs.

They differ in comments, which only DuckDB nests, in what ends one, in which characters are white
space, in brackets, backticks, dollars and letters before a quote, and in double quotes: SQLite
takes `"x"` for a text if there is no such column.
"""

import re
from collections.abc import Collection

from topgap.counting.query_tree import OPEN_QUOTE
from topgap.errors import SourceError

_TOKEN = re.compile(
    r"""
    '(?:[^'\0]|'')*'                    # a text
    | "(?P<name>(?:[^"\0\]]|"")*)"      # a name in quotes
    | (?P<plain>[^'"])
    """,
    re.VERBOSE,
)
_TEXT = "\0"  # stands for a text
_UNLIKE = re.compile(rf"--|/\*|[][`$@:?\\]|\w{_TEXT}|[^\n\t\x20-\x7e{_TEXT}]")


def to_portable_sql(query: str) -> str:
    """Write a query so that both read it alike, with names in brackets, which no text can be.

    Raises:
        SourceError: It has something that they may read in two ways.

    >>> to_portable_sql('SELECT "who", what FROM visits;')
    'SELECT [who], what FROM visits'
    """
    query = query.strip().rstrip(";")
    tokens = _tokens(query)
    if tokens is None:
        tokens, outside = _split(query)
        if _is_open(tokens, query) and not _UNLIKE.search(outside):
            raise SourceError(OPEN_QUOTE)
        raise SourceError(
            "The query has a comment, or a sign outside quotes, that SQLite may read differently "
            "from the check; leave it out, or confirm that each row comes from only one "
            "person's rows (rows_are_per_person=True, --rows-are-per-person)."
        )
    return "".join(each[0] if each["name"] is None else f"[{_name(each)}]" for each in tokens)


def is_portable_sql(definition: str, names: Collection[str]) -> bool:
    """Whether both read the definition of a view alike, whose quoted names are all known ones.

    >>> is_portable_sql('CREATE VIEW v AS SELECT "who" FROM visits', {"v", "who", "visits"})
    True
    """
    tokens = _tokens(definition)
    return tokens is not None and all(
        _name(each).lower() in names for each in tokens if each["name"] is not None
    )


def _name(token: re.Match[str]) -> str:
    return token["name"].replace('""', '"')


def _tokens(text: str) -> list[re.Match[str]] | None:
    """The tokens of the text; None if some of it can be read in two ways."""
    tokens, outside = _split(text)
    is_clear = not _is_open(tokens, text) and not _UNLIKE.search(outside)
    return tokens if is_clear and "\0" not in text else None


def _split(text: str) -> tuple[list[re.Match[str]], str]:
    """The tokens, and what is outside quotes."""
    tokens = [*_TOKEN.finditer(text)]
    outside = "".join(each["plain"] or (_TEXT if each["name"] is None else " ") for each in tokens)
    return tokens, outside


def _is_open(tokens: list[re.Match[str]], text: str) -> bool:
    """Whether a quote is left open, which is in no token then."""
    return sum(len(each[0]) for each in tokens) < len(text)
