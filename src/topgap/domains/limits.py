"""How large a domain may be: public numbers, none of which depends on the data."""

from topgap.errors import DomainError

MOST_ITEMS = 10_000_000
"""So many items may be written out in a list."""

MOST_PARTS = 64
"""So many parts may a tuple have."""

LARGEST_SIZE = 10**4000
"""So many items may be given by a rule; Python writes no number that is much longer."""


def check_size(size: int) -> int:
    """Return the size of a domain that is given by a rule.

    Raises:
        DomainError: It is larger than any may be.
    """
    if size > LARGEST_SIZE:
        raise DomainError(
            "The domain has more than 10^4000 items; use shorter texts or a smaller range."
        )
    return size
