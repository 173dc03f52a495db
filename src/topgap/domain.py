"""The public list of items: who takes part, and what is said if the data made the list."""

from typing import Any, Final

from topgap.numbers.parse import read_flag

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
