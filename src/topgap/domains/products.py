"""Domains of tuples: one item of each part."""

from collections.abc import Hashable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import MOST_PARTS, check_size
from topgap.domains.listed_tuples import ListedTuples
from topgap.errors import DomainError


class Product(Kind):
    """The tuples of one item of each part, ordered as `itertools.product` orders them.

    A part that is a product itself gives its own parts.
    """

    __slots__ = ("parts", "size")

    parts: tuple[Kind, ...]

    def __init__(self, parts: Sequence[Kind]) -> None:
        self.parts = tuple(
            inner
            for part in parts
            for inner in (part.parts if isinstance(part, Product) else [part])
        )
        if any(isinstance(part, ListedTuples) for part in self.parts):
            raise DomainError(
                "A list of tuples cannot be part of a product; give a list for each column, or "
                "write the whole tuples out."
            )
        if len(self.parts) < 2:
            raise DomainError("A product has at least two parts; give a domain for each column.")
        if len(self.parts) > MOST_PARTS:
            raise DomainError(f"A product has at most {MOST_PARTS} parts; use fewer columns.")
        self.size = check_size(prod(part.size for part in self.parts))

    @property
    def columns(self) -> int:  # type: ignore[override]
        """How many columns an item takes."""
        return sum(part.columns for part in self.parts)

    @property
    def words(self) -> str:
        """The domain in words."""
        *most, last = (f"({describe_inner(part)})" for part in self.parts)
        return f"all combinations of {', '.join(most)} and {last}"

    @property
    def identity(self) -> Hashable:
        """The parts."""
        return tuple((type(part), part.identity) for part in self.parts)

    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each name the tuple that equals it, or ABSENT."""
        return self._find(names, [part.find for part in self.parts])

    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each tuple of texts the item that it means, or ABSENT."""
        return self._find(texts, [part.find_texts for part in self.parts])

    def _find(self, names: Sequence[Any], finders: Sequence[Any]) -> list[Any]:
        count = len(self.parts)
        tuples = [_read_tuple(name, count) for name in names]
        columns = zip(*(each for each in tuples if each is not None), strict=True)
        found = [find(column) for find, column in zip(finders, columns, strict=False)]
        rows = zip(*found, strict=True)
        return [ABSENT if each is None else _join(next(rows)) for each in tuples]

    def rank(self, member: Any) -> int:
        """The place, of which the last part has the lowest digit."""
        place = 0
        for part, item in zip(self.parts, member, strict=True):
            place = place * part.size + part.rank(item)
        return place

    def unrank(self, rank: int) -> tuple[Any, ...]:
        """The tuple at a place."""
        items = []
        for part in reversed(self.parts):
            rank, place = divmod(rank, part.size)
            items.append(part.unrank(place))
        return tuple(reversed(items))

    def sort_key(self, member: Any) -> Any:
        """The keys of its items, one after the other."""
        pairs = zip(self.parts, member, strict=True)
        return tuple(part.sort_key(item) for part, item in pairs)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return product(*self.parts)


def describe_inner(kind: Kind) -> str:
    """A domain within another, in words that tell the size of a list."""
    return f"a list of {kind.size:,} items" if kind.is_listed else kind.words


def _read_tuple(name: Any, length: int) -> list[Any] | None:
    """The items of a tuple of this length, whatever else its type does; None if it is none."""
    if not issubclass(type(name), tuple) or tuple.__len__(name) != length:
        return None
    return [*tuple.__iter__(name)]


def _join(items: tuple[Any, ...]) -> Any:
    return ABSENT if any(item is ABSENT for item in items) else items
