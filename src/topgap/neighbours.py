"""For which neighbouring data sets an ε is true, and what it is for others.

Two data sets are neighbours if one person was added or removed ("add-remove"), or if one person was
replaced by another ("replace"). A sum of ε is a promise for one of these relations, so a data set
has one, and each charge is converted to it.
"""

from fractions import Fraction
from typing import Literal, TypeAlias, get_args

from topgap.display.text import to_line
from topgap.errors import LedgerError
from topgap.parameters import TopK

Neighbours: TypeAlias = Literal["add-remove", "replace"]
RELATIONS: tuple[Neighbours, ...] = get_args(Neighbours)

DEFAULT_RELATION: Neighbours = "add-remove"
"""What the sum of a data set is true for that was added before a ledger knew of relations.

Every release of topgap is true for it, if its sensitivity is, and one of monotonic answers for it
alone.
"""


def relation_of(parameters: TopK) -> Neighbours | None:
    """Return what the ε of a release by these parameters is true for; None if its user knows.

    Half the noise is enough for answers that move the same way, and so they do if a person is added
    or removed. Otherwise ε is true for whichever neighbours the sensitivity is true for.

    >>> relation_of(TopK(k=1, epsilon=1, monotonic=True)), relation_of(TopK(k=1, epsilon=1))
    ('add-remove', None)
    """
    return "add-remove" if parameters.monotonic else None


def conversion_factor(stated: Neighbours | None, relation: Neighbours) -> int | None:
    """Return how many times the stated ε is lost between these neighbours; None if unbounded.

    A replacement is a removal and an addition, so it loses at most twice what one of them loses. A
    promise between data sets of equal size says nothing of an addition.

    Args:
        stated: What the ε is true for; None if that is the relation itself.
        relation: That of the data set.

    >>> conversion_factor("add-remove", "replace"), conversion_factor(None, "replace")
    (2, 1)
    >>> conversion_factor("replace", "add-remove") is None
    True
    """
    if stated is None or stated == relation:
        return 1
    return 2 if stated == "add-remove" else None


def convert_epsilon(
    epsilon: Fraction, stated: Neighbours | None, relation: Neighbours, dataset: str
) -> Fraction:
    """Return what a release costs a data set with this relation.

    Raises:
        LedgerError: Nothing follows from what was stated.

    >>> convert_epsilon(Fraction(1, 3), "add-remove", "replace", "visits")
    Fraction(2, 3)
    """
    times = conversion_factor(stated, relation)
    if times is None:
        raise LedgerError(
            f"The ε of {to_line(dataset)} is for one person added or removed (add-remove), and "
            f"an ε for one person replaced by another (replace) says nothing of that; state one "
            f"that is true for add-remove, or charge a data set that was added with neighbours "
            f"replace; nothing was charged."
        )
    return epsilon * times
