"""Whether a domain is one of the columns that are counted, decided by public facts alone."""

from collections.abc import Sequence
from typing import Any

from topgap.counting.cells import can_hold_numbers
from topgap.counting.tally import Tally
from topgap.domains import Domain, FromData
from topgap.domains.structure import find_sets, is_range, list_parts
from topgap.errors import DomainError, ParameterError
from topgap.sources.columns import quote

_SIZES = (2, 3)
_NESTED = "Sets of items are counted as a whole domain, not as a part of another."


def make_sets(domain: Domain | FromData, together: Any) -> Domain:
    """Make the domain of the sets of so many items.

    Raises:
        ParameterError: It is neither 2 nor 3.
        DomainError: The items are taken from the data, or are sets already.

    >>> make_sets(Domain(["tea", "milk", "rum"]), 2).size
    3
    """
    if type(together) is not int or together not in _SIZES:
        raise ParameterError("together must be 2, for pairs, or 3, for triples.")
    if isinstance(domain, FromData):
        raise DomainError("together needs a public domain; it cannot be taken from the data.")
    if find_sets(domain) is not None:
        raise DomainError("The items of the domain are sets already; leave together out.")
    return Domain.subsets(domain, size=together)


def check_fit(domain: Domain | FromData, tally: Tally, columns: Sequence[str] | None) -> None:
    """See whether the items of a domain can be in these columns, by the number and types of these.

    Args:
        domain: The domain.
        tally: How the source is counted.
        columns: The names of the columns; None for transactions, which have one.

    Raises:
        DomainError: They cannot.
        ParameterError: The sets are larger than triples.
    """
    if isinstance(domain, FromData):
        return
    sets = find_sets(domain)
    if sets is not None and sets.together not in _SIZES:
        raise ParameterError("Only pairs and triples can be counted, sets of 2 or 3 items.")
    items = domain if sets is None else sets.inner
    parts = list_parts(items)
    if any(find_sets(part) is not None for part in parts):
        raise DomainError(_NESTED)
    if items.columns != tally.width:
        raise DomainError(
            f"The domain has {_count_columns(items.columns)}, and the items have "
            f"{_count_columns(tally.width)}; give a Domain.product with a part for each column, or "
            f"a list of tuples."
        )
    for name, part, kind in zip(columns or [], parts, tally.kinds, strict=False):
        if is_range(part) and not can_hold_numbers(kind):
            raise DomainError(
                f"The domain has whole numbers, and the column {quote(name)} of type {kind} cannot "
                f"hold them; use another column or domain."
            )


def _count_columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"
