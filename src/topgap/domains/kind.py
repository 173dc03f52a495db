"""What every kind of domain can do; `Domain` hands over to one of them."""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, Final


class Absent:
    """The type of `ABSENT`."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "topgap.domains.ABSENT"

    def __reduce__(self) -> str:
        return "ABSENT"  # the one of this module, wherever it is sent


ABSENT: Final = Absent()
"""What `find` and `find_texts` tell of a name that is not a member."""


class Kind(ABC):
    """One way to tell which items there are. Ranks go from 0 to below the size, in its order."""

    __slots__ = ()

    size: int
    """The exact number of members."""

    columns: int = 1
    """How many columns of a table an item takes."""

    is_listed: bool = False
    """Whether the members are written out."""

    @property
    @abstractmethod
    def words(self) -> str:
        """The domain in words."""

    @property
    @abstractmethod
    def identity(self) -> Hashable:
        """What two domains with the same members, order and spelling have in common."""

    @abstractmethod
    def find(self, names: Sequence[Any]) -> list[Any]:
        """For each name the member that equals it, or ABSENT; of any objects, and no error."""

    @abstractmethod
    def find_texts(self, texts: Sequence[Any]) -> list[Any]:
        """For each text of a cell the member that it means, or ABSENT."""

    @abstractmethod
    def rank(self, member: Any) -> int:
        """The place of a member, given in the domain's spelling."""

    @abstractmethod
    def unrank(self, rank: int) -> Any:
        """The member at a place from 0 to below the size."""

    def unrank_all(self, ranks: Iterable[int]) -> list[Any]:
        """The members at these places."""
        return [*map(self.unrank, ranks)]

    def sort_key(self, member: Any) -> Any:
        """What orders members as their ranks do; cheaper than the rank where it can be."""
        return self.rank(member)

    def __iter__(self) -> Iterator[Any]:
        return map(self.unrank, range(self.size))
