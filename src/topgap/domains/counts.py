"""Counts that know where their list of items is from, and which domain they are of."""

from typing import Any

from topgap.domains.domain import Domain
from topgap.errors import DomainError, ParameterTypeError
from topgap.numbers.parse import read_flag, read_whole


class Counts(dict[Any, int]):
    """The count of each item: a dict that knows where its list of items is from.

    Attributes:
        domain_from_data: Whether the list was taken from the data; what is released from it says so
            then, unless another list is given.
        domain: The domain, if these are the counts of those of its items alone that occur; None if
            they are of all items.
        items_per_person: The contribution bound L, if at most so many items of each person were
            counted; None if no bound is known. Joined counts have the sum of both bounds, because
            a person may be in both, and none if either is not known.
        groups_per_person: The same for the groups in which each person was counted, if these are
            the counts of one group of many. It matters where several get lists.

    >>> Counts({"flu": 2}, domain_from_data=True).copy().domain_from_data
    True
    """

    __slots__ = ("domain", "domain_from_data", "groups_per_person", "items_per_person")

    domain_from_data: bool
    domain: Domain | None
    items_per_person: int | None
    groups_per_person: int | None

    def __init__(
        self,
        counts: Any = (),
        *,
        domain_from_data: bool = False,
        domain: Domain | None = None,
        items_per_person: int | None = None,
        groups_per_person: int | None = None,
    ) -> None:
        super().__init__(counts)
        self.domain_from_data = read_flag(domain_from_data, "domain_from_data")
        if domain is not None and not isinstance(domain, Domain):
            raise ParameterTypeError(f"domain must be a Domain, not {type(domain).__name__}.")
        self.domain = domain
        if items_per_person is not None:
            items_per_person = read_whole(items_per_person, "items_per_person", least=1)
        self.items_per_person = items_per_person
        if groups_per_person is not None:
            groups_per_person = read_whole(groups_per_person, "groups_per_person", least=1)
        self.groups_per_person = groups_per_person
        if isinstance(counts, Counts):  # whose mark, domain and bounds go along
            self.domain_from_data |= counts.domain_from_data
            self.domain = counts.domain if domain is None else domain
            if items_per_person is None:
                self.items_per_person = counts.items_per_person
            if groups_per_person is None:
                self.groups_per_person = counts.groups_per_person

    def __setitem__(self, item: Any, count: int) -> None:
        """Set a count; nothing is known then of how many items of one person were counted."""
        self.items_per_person = self.groups_per_person = None
        super().__setitem__(item, count)

    def setdefault(self, item: Any, count: int = 0) -> int:
        """The count of an item, set if it has none; as `__setitem__` then."""
        if item not in self:
            self[item] = count
        return self[item]

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (
            dict(self), self.domain_from_data, self.domain, self.items_per_person,
            self.groups_per_person,
        )  # fmt: skip

    def copy(self) -> "Counts":
        """The same counts, of the same domain and with the same bounds."""
        return Counts(self)

    def __or__(self, other: Any) -> Any:
        return self._joined(super().__or__(other), other)

    def __ror__(self, other: Any) -> Any:
        return self._joined(super().__ror__(other), other)

    def __ior__(self, other: Any) -> "Counts":  # type: ignore[override]
        self.update(other)
        return self

    def update(self, other: Any = (), /, **more: int) -> None:
        """Take over counts, and with them the mark and the domain if they have them.

        The bounds of both are added.

        Raises:
            DomainError: They are of another domain.
        """
        self.domain = self._joined_domain(other)
        super().update(other, **more)
        bounds = (None, None) if more else self._joined_bounds(other)
        self.items_per_person, self.groups_per_person = bounds
        self.domain_from_data |= getattr(other, "domain_from_data", False)

    def _joined(self, both: Any, other: Any) -> Any:
        if both is NotImplemented:
            return both
        marked = self.domain_from_data or getattr(other, "domain_from_data", False)
        items, groups = self._joined_bounds(other)
        return Counts(
            both,
            domain_from_data=marked,
            domain=self._joined_domain(other),
            items_per_person=items,
            groups_per_person=groups,
        )

    def _joined_bounds(self, other: Any) -> tuple[int | None, int | None]:
        # Whether there are any counts must not matter: that is not public.
        if not isinstance(other, Counts):
            return None, None
        return (
            _add(self.items_per_person, other.items_per_person),
            _add(self.groups_per_person, other.groups_per_person),
        )

    def _joined_domain(self, other: Any) -> Domain | None:
        theirs: Domain | None = other.domain if isinstance(other, Counts) else None
        if self.domain is not None and theirs is not None and self.domain != theirs:
            raise DomainError("Counts of two domains cannot be joined; count with one domain.")
        return theirs if self.domain is None else self.domain


def _add(bound: int | None, other: int | None) -> int | None:
    return None if bound is None or other is None else bound + other


def _restore(
    counts: dict[Any, int],
    domain_from_data: bool,  # noqa: FBT001 - as it was pickled
    domain: Domain | None,
    items_per_person: int | None,
    groups_per_person: int | None = None,
) -> Counts:
    return Counts(
        counts,
        domain_from_data=domain_from_data,
        domain=domain,
        items_per_person=items_per_person,
        groups_per_person=groups_per_person,
    )
