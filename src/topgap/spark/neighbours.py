"""Which data sets are neighbours, of events that are counted here."""

from topgap.errors import ParameterError, ParameterTypeError
from topgap.ledger.charging import LedgerLike, open_ledger
from topgap.parameters import Neighbours


def resolve_neighbours(
    neighbours: Neighbours | None, ledger: "LedgerLike | None", dataset: str | None
) -> Neighbours:
    """Say between which data sets ε is a promise: by name, by the ledger, or one person more.

    Args:
        neighbours: By name; None if nobody said.
        ledger: The ledger to charge, or None.
        dataset: The data set in it, whose neighbours they are unless others are named.

    Raises:
        ParameterError, ParameterTypeError: There are no such neighbours, or one of ledger and data
            set was given alone.
        LedgerError: The ledger cannot be read.

    >>> resolve_neighbours(None, None, None), resolve_neighbours("replace", None, None)
    ('add-remove', 'replace')
    """
    if neighbours is not None:
        if not isinstance(neighbours, str):
            raise ParameterTypeError(f"neighbours must be text, not {type(neighbours).__name__}.")
        if neighbours not in ("add-remove", "replace"):
            raise ParameterError("neighbours must be add-remove or replace.")
        return neighbours
    account = open_ledger(ledger, dataset)
    return "add-remove" if account is None else account[0].budget(account[1]).neighbours
