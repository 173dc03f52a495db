"""Columns by name: how an error names them, and the errors of those that are not there."""

from collections.abc import Iterable

from topgap.display.text import to_line
from topgap.errors import SourceError

_MOST_NAMES = 8


def missing_column(label: str, name: str, names: Iterable[str]) -> SourceError:
    """The error that tells of a column that is not there, and the first of the names that are."""
    names = [*names]
    alike = [each for each in names if each.casefold() == name.casefold()]
    shown = [*map(quote, alike or names)]
    more = ", …" if len(shown) > _MOST_NAMES else ""
    has = "; it has " + ", ".join(shown[:_MOST_NAMES]) + more if shown else ""
    return SourceError(f"{label} has no column {quote(name)}{has}.")


def repeated_column(label: str, name: str) -> SourceError:
    """The error that tells of a column that is there more than once."""
    return SourceError(f"{label} has more than one column {quote(name)}.")


def quote(name: str) -> str:
    """A name as an error shows it: on one line, and not at any length."""
    shown = to_line(name)
    return f"'{shown}'" if len(shown) <= 80 else f"'{shown[:79]}…'"
