"""Domains that are written out: lists, ranges of Python, columns."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from topgap.display.text import name_type
from topgap.domains.cell_text import normalize_text, to_text
from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import MOST_ITEMS
from topgap.errors import DomainError
from topgap.sources.columns import quote


class Listed(Kind):
    """The items of a list, in its order.

    Attributes:
        names: The items; texts without what a cell does not count at its ends.
        texts: The text by which each is compared with cells; of tuples, a tuple of texts.
    """

    __slots__ = ("_places", "_places_of_texts", "names", "texts")

    is_listed = True

    names: Sequence[Any]
    texts: Sequence[Any]

    def __init__(self, items: Sequence[Any]) -> None:
        self._places: dict[Any, int] | None = None
        self._places_of_texts: dict[Any, int] | None = None
        if isinstance(items, range):
            _check_length(_range_length(items))
            self.names, self.texts = items, [*map(str, items)]
            return
        _check_length(len(items))
        try:
            self.texts = self._read_texts(items)
        except DomainError:
            raise
        except Exception:  # whose text is not ours
            raise DomainError("The domain has an item that cannot be written as text.") from None
        _check_distinct(self.texts)
        self.names = [*map(self._name, items, self.texts)]
        _check_distinct(self.names)  # True and 1 differ as texts, and are the same to Python

    @property
    def size(self) -> int:  # type: ignore[override]
        """The number of items."""
        return len(self.texts)

    @property
    def words(self) -> str:
        """The domain in words; its size is told beside them."""
        return "a list"

    @property
    def identity(self) -> Hashable:
        """The texts, and how those items are printed that are not texts."""
        return tuple(self.texts), tuple(
            (type(name).__name__, repr(name)) if not isinstance(name, str) else None
            for name in self.names
        )

    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each name the item that equals it, or ABSENT."""
        places = self._read_places()
        try:
            found = [*map(places.get, names)]
        except Exception:  # of one that cannot be hashed or compared
            found = [_get_safely(places, name) for name in names]
        own = self.names
        return [ABSENT if place is None else own[place] for place in found]

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each text of a cell the item that it means, or ABSENT."""
        if self._places_of_texts is None:
            self._places_of_texts = {text: place for place, text in enumerate(self.texts)}
        places, own = self._places_of_texts, self.names
        found = (_get_safely(places, text) for text in texts)
        return [ABSENT if place is None else own[place] for place in found]

    def with_texts(self, texts: Sequence[Any]) -> "Listed":
        """The same items, compared by other texts.

        Raises:
            DomainError: Two items have the same text.
        """
        if len({*texts}) < len(texts):
            raise DomainError(_describe_alike(self.names, texts))
        return restore_list(self.names, texts, type(self))

    def fold(self, fold: Callable[[Sequence[str]], Sequence[str]]) -> "Listed":
        """The same items, compared by the folded texts.

        Raises:
            DomainError: Two items have the same text.
        """
        return self.with_texts(fold(self.texts))

    def rank(self, member: Any) -> int:
        """The place of an item in the list."""
        return self._read_places()[member]

    def unrank(self, rank: int) -> Any:
        """The item at a place of the list."""
        return self.names[rank]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.names)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_list, (self.names, self.texts, type(self))

    @staticmethod
    def _read_texts(items: Sequence[Any]) -> Sequence[Any]:
        return [*map(item_text, items)]

    @staticmethod
    def _name(item: Any, text: Any) -> Any:
        """The name of an item that has this text."""
        return text if isinstance(item, str) else item

    def _read_places(self) -> dict[Any, int]:
        if self._places is None:
            self._places = {name: place for place, name in enumerate(self.names)}
        return self._places


def restore_list(names: Sequence[Any], texts: Sequence[Any], form: type[Listed] = Listed) -> Listed:
    """The list of these names and texts, each of which is known to be there once."""
    kind = form.__new__(form)
    kind.names, kind.texts, kind._places, kind._places_of_texts = names, texts, None, None
    return kind


def _describe_alike(names: Sequence[Any], texts: Sequence[Any]) -> str:
    """Write the sentence about the first two items that have the same text."""
    seen: dict[Any, Any] = {}
    for name, text in zip(names, texts, strict=True):
        if text in seen:
            break
        seen[text] = name
    return (
        f"The domain has {quote(str(seen[text]))} and {quote(str(name))}, which differ only by "
        f"upper and lower case; leave one out, or fold_case (--fold-case)."
    )


def _get_safely(places: dict[Any, int], name: Any) -> int | None:
    try:
        return places.get(name)
    except Exception:  # what cannot be hashed or compared is no item
        return None


def _range_length(items: range) -> int:
    """The length, which `len` cannot tell of a long one."""
    return (items[-1] - items[0]) // items.step + 1 if items else 0


def to_items(items: Iterable[Any]) -> Sequence[Any]:
    """The items of whatever a user gives as a list; a range stays one.

    Raises:
        DomainError: It is no list, or cannot be read as one.
    """
    if isinstance(items, str | bytes) or hasattr(items, "columns"):
        raise DomainError(
            f"{name_type(items)} is not a list of items; give a list, a range, or one "
            f"column of a data frame."
        )
    if isinstance(items, set | frozenset):
        raise DomainError("The domain must have an order; make a sorted list of it.")
    if isinstance(items, range):
        return items
    try:
        return _to_list(items)
    except DomainError:
        raise
    except Exception:  # whose text is not ours
        raise DomainError("The domain has an item that cannot be written as text.") from None


def _to_list(items: Iterable[Any]) -> list[Any]:
    if isinstance(items, np.ndarray) and items.dtype.kind == "f":
        return [float(str(each)) for each in items]  # not the doubles beside single floats
    for method in ("tolist", "to_pylist", "to_list"):
        if hasattr(items, method):
            items = getattr(items, method)()
            break
    try:
        return [*items]
    except TypeError:
        raise DomainError(
            f"{name_type(items)} is not a list of items; give a list or a range."
        ) from None


def item_text(item: Any) -> str:
    """The text by which an item is compared with cells.

    Raises:
        DomainError: It is missing or blank, or of a type that names no item.
    """
    is_missing = item is None or item != item
    text = "" if is_missing else to_text(item)
    if text is None:
        raise DomainError(
            f"An item of the domain is {name_type(item, 'a')}; only strings, numbers, dates and "
            f"UUIDs can name items."
        )
    text = normalize_text(text)
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise DomainError("The domain has an item that is not valid Unicode.")
    if not text:
        raise DomainError("The domain has an item that is blank or missing.")
    return text


def _check_length(length: int) -> None:
    if length == 0:
        raise DomainError("The domain is empty; give its items.")
    if length > MOST_ITEMS:
        raise DomainError(
            f"The domain has too many items to list (at most {MOST_ITEMS:,}); use Domain.range, "
            f"Domain.pattern or Domain.strings, which describe them by a rule."
        )


def _check_distinct(items: Sequence[Any]) -> None:
    if len({*items}) == len(items):
        return
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            raise DomainError(f"The domain has {quote(str(item))} more than once.")
        seen.add(item)


_restore = restore_list
"""As lists were pickled before."""
