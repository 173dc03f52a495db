"""What is read from a database: a table, a view or a query."""

from collections.abc import Sequence
from typing import NamedTuple

from topgap.errors import SourceError
from topgap.sources.columns import quote

QUERY_LABEL = "What the query selects"


class Extraction(NamedTuple):
    """What of a database is read.

    Attributes:
        columns: The columns that are wanted.
        table: The table or view, if it is named.
        query: The SELECT to ask instead.
        person: The column that identifies the person, if rows are to come from one person alone;
            None if rows are not persons', or if the user confirms it.
        run: Whether the query is run; otherwise it is only checked.
        counts: Whether a query computes counts.
        count_there: Whether the database counts the distinct persons, who are in the first column.
    """

    columns: Sequence[str]
    table: str | None = None
    query: str | None = None
    person: str | None = None
    run: bool = True
    counts: bool = False
    count_there: bool = False


class SourceColumns(NamedTuple):
    """What columns a source has.

    Attributes:
        columns: Their names, each with its type, or with None where the source has no types.
        tables: The tables or sheets, if there are several and none is named; no columns then.
    """

    columns: Sequence[tuple[str, str | None]]
    tables: Sequence[str] = ()


def choose_table(names: Sequence[str], table: str | None, label: str, noun: str = "table") -> str:
    """Choose the named table, or sheet, or the only one if none is named."""
    if table is None and len(names) == 1:
        return names[0]
    if table in names:
        return str(table)
    shown = ", ".join(map(quote, names[:8])) + (", …" if len(names) > 8 else "")
    has = f"it has {shown}" if names else "it has none"
    if table is None:
        raise SourceError(f"Say which {noun} of {label} to read (table=, --table); {has}.")
    raise SourceError(f"{label} has no {noun} {quote(table)}; {has}.")
