"""What a domain is made of: the parts of a product, the inner domain of sets."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from topgap.domains.domain import Domain, _restore
from topgap.domains.products import Product
from topgap.domains.ranges import WholeNumbers
from topgap.domains.subsets import Subsets


class Sets(NamedTuple):
    """Sets of so many items of an inner domain."""

    inner: Domain
    together: int


def list_parts(domain: Domain) -> list[Domain]:
    """The domain of each column, from the first to the last.

    >>> list_parts(Domain.product(["AT", "DE"], Domain.range(0, 10)))
    [<Domain of 2 items>, <Domain of 10 items: the whole numbers from 0 to 9>]
    """
    kind = domain._kind
    return [*map(_restore, kind.parts)] if isinstance(kind, Product) else [domain]


def find_sets(domain: Domain) -> Sets | None:
    """The inner domain, and how many of its items go together; None if the domain has no sets.

    >>> find_sets(Domain.subsets(["tea", "milk", "rum"], size=2))
    Sets(inner=<Domain of 3 items>, together=2)
    """
    kind = domain._kind
    return Sets(_restore(kind.inner), kind.count) if isinstance(kind, Subsets) else None


def order_members(domain: Domain, members: Sequence[Any]) -> list[int]:
    """The positions of some members, in the order of the domain.

    >>> order_members(Domain(["flu", "cold", "cough"]), ["cough", "flu"])
    [1, 0]
    """
    keys = [*map(domain._kind.sort_key, members)]
    return sorted(range(len(members)), key=keys.__getitem__)


def is_range(domain: Domain) -> bool:
    """Whether the items are the whole numbers of a range.

    >>> is_range(Domain.range(0, 10)), is_range(Domain([0, 1]))
    (True, False)
    """
    return isinstance(domain._kind, WholeNumbers)
