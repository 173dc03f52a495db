"""The public groups, each of which gets a list of its own."""

from topgap.domains.domain import Domain
from topgap.domains.from_data import FromData
from topgap.domains.structure import find_sets
from topgap.errors import DomainError
from topgap.sealing import seal_errors

MOST_GROUPS = 1_000_000
"""So many groups may there be."""


@seal_errors
def to_groups(groups: object) -> Domain:
    """Read the public groups: a domain that can be listed, or the items of one.

    Raises:
        DomainError: There is none, or too many, or one twice, or they are not public.

    >>> [*to_groups(["North", "South"])]
    ['North', 'South']
    >>> to_groups(["North", "North"])
    Traceback (most recent call last):
    topgap.errors.DomainError: The groups cannot be used: The domain has 'North' more than once.
    """
    if isinstance(groups, FromData):
        raise DomainError(
            "The groups must be public; a list taken from the data reveals which groups have "
            "people."
        )
    try:
        public = groups if isinstance(groups, Domain) else Domain(groups)  # type: ignore[arg-type]
    except DomainError as error:
        raise as_of_groups(error) from None
    if find_sets(public) is not None:
        raise DomainError("Sets of items cannot be groups; give a list, or a Domain.product.")
    if public.size > MOST_GROUPS:
        raise DomainError(
            f"There are more than {MOST_GROUPS:,} groups, too many to give each a list."
        )
    return public


def as_of_groups(error: DomainError) -> DomainError:
    """The error of a domain, said of the groups."""
    return DomainError(f"The groups cannot be used: {error}")
