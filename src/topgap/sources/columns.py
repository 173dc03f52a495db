"""Names of columns in errors, and the errors for missing and repeated columns."""

from collections.abc import Iterable

from topgap.display.text import to_line
from topgap.errors import SourceError

_MOST_NAMES = 8
LISTS_COLUMNS = "--list-columns (topgap.counting.list_columns) lists them"
"""What the error for a missing column says where it must not list the names itself."""


def missing_column(label: str, name: str, names: Iterable[str]) -> SourceError:
    """Make the error for a missing column, with the first names that exist."""
    names = [*names]
    alike = [each for each in names if each.casefold() == name.casefold()]
    shown = [*map(quote, alike or names)]
    more = ", …" if len(shown) > _MOST_NAMES else ""
    has = "; it has " + ", ".join(shown[:_MOST_NAMES]) + more if shown else ""
    return SourceError(f"{label} has no column {quote(name)}{has}.")


def repeated_column(label: str, name: str) -> SourceError:
    """Make the error for a column that exists more than once."""
    return SourceError(f"{label} has more than one column {quote(name)}.")


def quote(name: str) -> str:
    """Write a name for an error: on one line, and shortened."""
    shown = to_line(name)
    return f"'{shown}'" if len(shown) <= 80 else f"'{shown[:79]}…'"
