"""`Domain`: the public items, all of which take part, whether they occur in the data or not."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from topgap.domains.description import DomainDescription
from topgap.domains.kind import ABSENT, Kind
from topgap.domains.limits import MOST_ITEMS
from topgap.domains.listed import Listed
from topgap.errors import DomainError, ParameterError
from topgap.numbers.parse import read_whole
from topgap.sealing import seal_library_errors


class Domain:
    """The public items that take part in a release, in a public order.

    Args:
        items: A list, tuple, range, Series, array or other iterable of strings, numbers, dates or
            UUIDs, at most 10,000,000. They are compared with the data as text, by the rule of
            `topgap.counting.cells`.

    Raises:
        DomainError: There is none, or one twice, or one that is blank or of another type.

    >>> Domain(["flu", "cold"]).names
    ['flu', 'cold']
    >>> len(Domain(range(1, 943)))
    942
    >>> Domain([7, "7"])
    Traceback (most recent call last):
    topgap.errors.DomainError: The domain has '7' more than once.
    """

    __slots__ = ("_kind",)

    _kind: Kind

    @seal_library_errors(DomainError, "The domain")
    def __init__(self, items: Iterable[Any]) -> None:
        self._kind = items._kind if isinstance(items, Domain) else Listed(items)

    @property
    def size(self) -> int:
        """The exact number of items."""
        return self._kind.size

    @property
    def is_listed(self) -> bool:
        """Whether the items are written out, in a list, and not told by a rule."""
        return self._kind.is_listed

    @property
    def columns(self) -> int:
        """How many columns of a table an item takes: 1, or the number of a product's parts."""
        return self._kind.columns

    @property
    def names(self) -> Sequence[Any]:
        """The items of a list.

        Raises:
            DomainError: It is no list.
        """
        return self._read_list().names

    @property
    def texts(self) -> Sequence[str]:
        """The text of each item of a list, by which it is compared with cells.

        Raises:
            DomainError: It is no list.
        """
        return self._read_list().texts

    @property
    def description(self) -> DomainDescription:
        """The domain in words, and its size.

        >>> print(Domain(["flu", "cold"]).description)
        a list (2 items)
        """
        return DomainDescription(self._kind.words, self.size, is_listed=self.is_listed)

    def find(self, names: Iterable[Any]) -> list[Any]:
        """Find the items that equal these names, as keys of a dict do.

        Args:
            names: Any objects; what cannot be compared is no item.

        Returns:
            For each name the item in the domain's own spelling, or ABSENT.

        >>> Domain([7, 8]).find([8.0, "7", [7]])
        [8, topgap.domains.ABSENT, topgap.domains.ABSENT]
        """
        return self._kind.find([*names])

    def find_texts(self, texts: Iterable[Any]) -> list[Any]:
        """Find the items that these cells mean.

        Args:
            texts: The texts of cells, normalized by the rule of `topgap.domains.cell_text`; tuples
                of them for several columns, and for subsets, in any order.

        Returns:
            For each text the item in the domain's own spelling, or ABSENT.

        >>> Domain([7, 8]).find_texts(["8", "08"])
        [8, topgap.domains.ABSENT]
        """
        return self._kind.find_texts([*texts])

    def rank(self, name: Any) -> int:
        """The place of an item in the domain's order, from 0 on.

        Raises:
            DomainError: It is no item of the domain.
        """
        [member] = self._kind.find([name])
        if member is ABSENT:
            raise DomainError("The domain has no such item; see whether it is `in` the domain.")
        return self._kind.rank(member)

    def unrank(self, rank: int) -> Any:
        """The item at this place.

        Raises:
            ParameterTypeError, ParameterError: It is no whole number from 0 to below the size.
        """
        place = read_whole(rank, "rank", least=0)
        if place >= self.size:
            raise ParameterError("rank must be less than the domain's size.")
        return self._kind.unrank(place)

    def __contains__(self, name: object) -> bool:
        return self._kind.find([name])[0] is not ABSENT

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True  # and not the length, which may be too large for `len`

    def __iter__(self) -> Iterator[Any]:
        if self.size > MOST_ITEMS:
            raise DomainError(
                f"The domain has more than {MOST_ITEMS:,} items, too many to go through; ask for "
                f"some by unrank()."
            )
        return iter(self._kind)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        ours, theirs = self._kind, other._kind
        return ours is theirs or (type(ours) is type(theirs) and ours.identity == theirs.identity)

    def __hash__(self) -> int:
        return hash((type(self._kind), self.size, self._kind.words))

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._kind,)

    def __repr__(self) -> str:
        if self.is_listed:
            return f"<Domain of {self.size} items>"
        return f"<Domain of {self.description.format_size()} items: {self._kind.words}>"

    def _read_list(self) -> Listed:
        if isinstance(self._kind, Listed):
            return self._kind
        raise DomainError("The items of this domain are not listed; use unrank() and find().")


def _restore(kind: Kind) -> Domain:
    domain = Domain.__new__(Domain)
    domain._kind = kind
    return domain
