"""What a domain is made of: the parts of a product, the inner domain of sets."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from topgap.domains.domain import Domain, _restore
from topgap.domains.kind import Kind
from topgap.domains.listed import Listed, restore_list
from topgap.domains.patterns import Texts
from topgap.domains.products import Product
from topgap.domains.ranges import WholeNumbers
from topgap.domains.subsets import Subsets
from topgap.errors import DomainError


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


def fold_texts(domain: Domain, fold: Callable[[Sequence[str]], Sequence[str]]) -> Domain:
    """The same domain with other texts, by which its items are compared; its names stay.

    Args:
        domain: The domain.
        fold: Gives the other text of each of some texts.

    Raises:
        DomainError: Two items of a list then have the same text; or a pattern or an alphabet is
            not of ASCII with letters in one case.

    >>> folded = fold_texts(Domain(["Flu", "GOUT"]), lambda texts: [*map(str.lower, texts)])
    >>> folded.find_texts(["flu", "Flu"]), folded.names
    (['Flu', topgap.domains.ABSENT], ['Flu', 'GOUT'])
    """
    return _restore(_fold_kind(domain._kind, fold))


def _fold_kind(kind: Kind, fold: Callable[[Sequence[str]], Sequence[str]]) -> Kind:
    if isinstance(kind, Product):
        return Product([_fold_kind(part, fold) for part in kind.parts])
    if isinstance(kind, Subsets):
        return Subsets(_fold_kind(kind.inner, fold), kind.count)
    if isinstance(kind, Listed):
        return kind.fold(fold)
    if isinstance(kind, WholeNumbers):  # digits have no case
        return kind
    if isinstance(kind, Texts):
        return kind.with_folded_case()
    raise DomainError("Upper and lower case cannot be folded in such a domain; give a list.")


def list_as_given(names: Sequence[Any]) -> Domain:
    """The domain of these different names as they are, where cells are not compared by text.

    >>> [*list_as_given(["flu", " flu"])]
    ['flu', ' flu']
    """
    return _restore(restore_list(names, names))


def is_range(domain: Domain) -> bool:
    """Whether the items are the whole numbers of a range.

    >>> is_range(Domain.range(0, 10)), is_range(Domain([0, 1]))
    (True, False)
    """
    return isinstance(domain._kind, WholeNumbers)
