"""Counts that know where their list of items is from, and which domain they are of."""

from typing import Any

from topgap.domains.domain import Domain
from topgap.errors import DomainError, ParameterTypeError
from topgap.numbers.parse import read_flag


class Counts(dict[Any, int]):
    """The count of each item: a dict that knows where its list of items is from.

    Attributes:
        domain_from_data: Whether the list was taken from the data; what is released from it says so
            then, unless another list is given.
        domain: The domain, if these are the counts of those of its items alone that occur; None if
            they are of all items.

    >>> Counts({"flu": 2}, domain_from_data=True).copy().domain_from_data
    True
    """

    __slots__ = ("domain", "domain_from_data")

    domain_from_data: bool
    domain: Domain | None

    def __init__(
        self, counts: Any = (), *, domain_from_data: bool = False, domain: Domain | None = None
    ) -> None:
        super().__init__(counts)
        self.domain_from_data = read_flag(domain_from_data, "domain_from_data")
        if domain is not None and not isinstance(domain, Domain):
            raise ParameterTypeError(f"domain must be a Domain, not {type(domain).__name__}.")
        self.domain = domain
        if isinstance(counts, Counts):  # whose mark and domain go along
            self.domain_from_data |= counts.domain_from_data
            self.domain = counts.domain if domain is None else domain

    def copy(self) -> "Counts":
        """The same counts, of the same domain."""
        return Counts(self, domain_from_data=self.domain_from_data, domain=self.domain)

    def __or__(self, other: Any) -> Any:
        return self._joined(super().__or__(other), other)

    def __ror__(self, other: Any) -> Any:
        return self._joined(super().__ror__(other), other)

    def __ior__(self, other: Any) -> "Counts":  # type: ignore[override]
        self.update(other)
        return self

    def update(self, other: Any = (), /, **more: int) -> None:
        """Take over counts, and with them the mark and the domain if they have them.

        Raises:
            DomainError: They are of another domain.
        """
        self.domain = self._joined_domain(other)
        super().update(other, **more)
        self.domain_from_data |= getattr(other, "domain_from_data", False)

    def _joined(self, both: Any, other: Any) -> Any:
        if both is NotImplemented:
            return both
        marked = self.domain_from_data or getattr(other, "domain_from_data", False)
        return Counts(both, domain_from_data=marked, domain=self._joined_domain(other))

    def _joined_domain(self, other: Any) -> Domain | None:
        theirs: Domain | None = other.domain if isinstance(other, Counts) else None
        if self.domain is not None and theirs is not None and self.domain != theirs:
            raise DomainError("Counts of two domains cannot be joined; count with one domain.")
        return theirs if self.domain is None else self.domain
