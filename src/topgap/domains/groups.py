"""The public groups, each of which gets a list of its own."""

from topgap.domains.domain import Domain
from topgap.domains.from_data import FromData
from topgap.domains.structure import find_sets
from topgap.errors import DomainError

MOST_GROUPS = 1_000_000
"""So many groups may there be."""


def to_groups(groups: object) -> Domain:
    """Read the public groups: a domain that can be listed, or the items of one.

    Raises:
        DomainError: There is none, or too many, or one twice, or they are not public.

    >>> [*to_groups(["North", "South"])]
    ['North', 'South']
    """
    if isinstance(groups, FromData):
        raise DomainError("The groups must be public; a list from the data tells who is in one.")
    public = groups if isinstance(groups, Domain) else Domain(groups)  # type: ignore[arg-type]
    if find_sets(public) is not None:
        raise DomainError("Sets of items are no groups; give a list, or a Domain.product.")
    if public.size > MOST_GROUPS:
        raise DomainError(
            f"There are more than {MOST_GROUPS:,} groups, too many to give each a list."
        )
    return public
