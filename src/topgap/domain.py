"""The public list of items: who takes part, and what is said if the data made the list."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from topgap.errors import DomainError
from topgap.numbers.parse import read_flag
from topgap.selection.item_names import to_list

MOST_ITEMS = 10_000_000
"""So many items may be on the list."""


class FromData:
    """The type of `FROM_DATA`."""

    def __repr__(self) -> str:
        return "topgap.counting.FROM_DATA"


FROM_DATA: Final = FromData()
"""Take the items from the data. That somebody has an item is then not protected."""


class Counts(dict[Any, int]):
    """The count of each item: a dict that knows where its list of items is from.

    Attributes:
        domain_from_data: Whether the list was taken from the data; what is released from it says so
            then, unless another list is given.

    >>> Counts({"flu": 2}, domain_from_data=True).copy().domain_from_data
    True
    """

    __slots__ = ("domain_from_data",)

    domain_from_data: bool

    def __init__(self, counts: Any = (), *, domain_from_data: bool = False) -> None:
        super().__init__(counts)
        self.domain_from_data = read_flag(domain_from_data, "domain_from_data")

    def copy(self) -> "Counts":
        """The same counts, from the same list."""
        return Counts(self, domain_from_data=self.domain_from_data)

    def __or__(self, other: Any) -> Any:
        return self._joined(super().__or__(other), other)

    def __ror__(self, other: Any) -> Any:
        return self._joined(super().__ror__(other), other)

    def __ior__(self, other: Any) -> "Counts":  # type: ignore[override]
        self.update(other)
        return self

    def update(self, other: Any = (), /, **more: int) -> None:
        """Take over counts, and the mark if they have it."""
        super().update(other, **more)
        self.domain_from_data |= getattr(other, "domain_from_data", False)

    def _joined(self, both: Any, other: Any) -> Any:
        marked = self.domain_from_data or getattr(other, "domain_from_data", False)
        return both if both is NotImplemented else Counts(both, domain_from_data=marked)


def read_members(domain: Any) -> tuple[Any, dict[Any, int]]:
    """The members of the list in its order, and the place of each.

    Raises:
        DomainError: It is no list of different items.
    """
    try:
        members = _listed(domain)
        if len(members) > MOST_ITEMS:
            raise DomainError(
                f"The domain has {len(members):,} items; at most {MOST_ITEMS:,} can take part."
            )
        places = dict(zip(members, range(len(members)), strict=True))
        has_missing = any(member is None or member != member for member in members)
    except DomainError:
        raise
    except Exception:  # whose text is not ours
        raise DomainError(
            "Each item of the domain must be of a type that cannot change, such as a string."
        ) from None
    if has_missing:
        raise DomainError("The domain has an item that is missing, as None and NaN are.")
    if len(places) < len(members):
        raise DomainError("The domain has an item more than once; 1, 1.0 and True are the same.")
    return members, places


def _listed(domain: Any) -> Any:
    no_list = isinstance(domain, str | bytes | Mapping) or hasattr(domain, "columns")
    if no_list or not isinstance(domain, Iterable):
        raise DomainError(
            f"A {type(domain).__name__} is no list of items; give a list, a range or one column, "
            f"or read a file by topgap.counting.read_domain."
        )
    if isinstance(domain, set | frozenset):
        raise DomainError("The domain must have an order; make a sorted list of it.")
    if getattr(domain, "ndim", 1) != 1:
        raise DomainError("The domain must be one-dimensional: a list of items.")
    return domain if type(domain) is range else [*to_list(domain)]
