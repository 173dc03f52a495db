"""What a source is taken to pieces into."""

from collections.abc import Iterator
from typing import TypeAlias

REST = "(rest)"
"""What no other piece that does something has of a file."""

Pieces: TypeAlias = Iterator[tuple[str, str, bool]]
"""Name and code of each piece, and whether it does something."""


class UnreadableError(ValueError):
    """A source cannot be parsed, or has something at its outermost level that is not known."""
