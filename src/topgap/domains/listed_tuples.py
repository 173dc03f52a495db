"""Domains of tuples that are written out: for items that are named by several columns."""

from collections.abc import Callable, Sequence
from typing import Any

from topgap.domains.limits import MOST_PARTS
from topgap.domains.listed import Listed, item_text, to_items
from topgap.errors import DomainError


class ListedTuples(Listed):
    """The tuples of a list, in its order, and no other combinations of their parts.

    >>> pages = ListedTuples([("AT", 7), ("DE", 7)])
    >>> pages.columns, pages.texts, pages.find([("DE", 7), ("AT", 8)])
    (2, [('AT', '7'), ('DE', '7')], [('DE', 7), topgap.domains.ABSENT])
    """

    __slots__ = ()

    @property
    def columns(self) -> int:  # type: ignore[override]
        """How many columns an item takes."""
        return len(self.texts[0])

    def fold(self, fold: Callable[[Sequence[str]], Sequence[str]]) -> Listed:
        """The same tuples, compared by the folded texts of their parts.

        Raises:
            DomainError: Two tuples have the same texts.
        """
        columns = map(fold, zip(*self.texts, strict=True))
        return self.with_texts([*zip(*columns, strict=True)])

    @staticmethod
    def _read_texts(items: Sequence[Any]) -> Sequence[Any]:
        if not all(issubclass(type(item), tuple) for item in items):
            raise DomainError("Some items of the domain are tuples and others are not.")
        widths = {len(item) for item in items}
        if len(widths) > 1 or not 2 <= max(widths) <= MOST_PARTS:
            raise DomainError(
                f"The tuples of a domain must all have a part for each column, 2 to {MOST_PARTS}."
            )
        return [tuple(map(item_text, item)) for item in items]

    @staticmethod
    def _name(item: Any, text: Any) -> Any:
        named = zip(item, text, strict=True)
        return tuple(word if isinstance(part, str) else part for part, word in named)


def read_list(items: Any) -> Listed:
    """The list that a user gives, of tuples if the first item is one.

    Raises:
        DomainError: It cannot be used.
    """
    listed = to_items(items)
    form = ListedTuples if listed and issubclass(type(listed[0]), tuple) else Listed
    return form(listed)
