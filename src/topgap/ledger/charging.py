"""How a release is paid for: charged in a ledger before it is drawn, and recorded after.

A release costs ε whether or not there is a ledger; without one, nobody adds it up.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from topgap.display.text import to_line
from topgap.errors import ChargeMissingError, LedgerWarning, ParameterError, TopgapError
from topgap.neighbours import Neighbours, relation_of
from topgap.numbers.format import format_exact
from topgap.parameters import TopK
from topgap.user_stacklevel import find_user_stacklevel

if TYPE_CHECKING:
    from topgap.ledger import Charge, Ledger

_Made = TypeVar("_Made")
LedgerLike: TypeAlias = "Ledger | str | os.PathLike[str]"
"""A ledger, or the path of one."""


class PendingCharge(Protocol):
    """What comes between the answers and the first random bit."""

    def charge_then_run(self, draw: Callable[[], _Made]) -> _Made:
        """Pay, and give what is drawn then."""


class _Free:
    """A release that nobody adds up."""

    def charge_then_run(self, draw: Callable[[], _Made]) -> _Made:
        """Give what is drawn."""
        return draw()


NO_CHARGE: PendingCharge = _Free()


class LedgerCharge:
    """A release that a ledger adds up.

    Args:
        ledger: The ledger.
        dataset: The data set in it that is released from.
        epsilon: What the release costs.
        mechanism: What it is.
        parameters: And with which parameters.
        neighbours: Which neighbouring data sets ε is true for; None if for those of the data set.

    Attributes:
        dataset: The data set.
        epsilon: The ε of the release.
        cost: What will be charged to it.
        left: What that leaves, as far as can be seen now.
        charge: The charge, when it has been made.
        is_recorded: Whether its result is in the ledger.
        before_charge: Is called when all is ready, right before the charge, and may raise.

    Raises:
        BudgetExceeded, LedgerError: It could not be charged now. So this comes first, before any
            data are read.
    """

    def __init__(
        self,
        ledger: "Ledger",
        dataset: str,
        epsilon: Fraction,
        mechanism: str,
        parameters: Mapping[str, Any],
        neighbours: Neighbours | None = None,
    ) -> None:
        self.cost, self.left = ledger.check(dataset, epsilon, neighbours=neighbours)
        self.dataset = dataset
        self._ledger = ledger
        self.epsilon = epsilon
        self._mechanism = mechanism
        self._parameters = parameters
        self._neighbours = neighbours
        self.charge: Charge | None = None
        self.is_recorded = False
        self.before_charge: Callable[[LedgerCharge], None] | None = None

    def charge_then_run(self, draw: Callable[[], _Made]) -> _Made:
        """Charge, draw, and record what was drawn.

        Whatever ends this between the first two leaves a charge without a result, and never a
        result without a charge. If the result cannot be recorded it is given all the same, with a
        warning, for it has been paid for.

        Raises:
            BudgetExceeded, LedgerError: It cannot be charged; nothing was drawn.
        """
        if self.before_charge is not None:
            self.before_charge(self)
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self._parameters,
            neighbours=self._neighbours,
        )
        made = self._drawn(draw)
        try:
            self._ledger.record(self.charge, made)
            self.is_recorded = True
        except Exception as error:
            warning = LedgerWarning(_unrecorded(self.charge.number, error))
            warning.result = made
            warnings.warn(warning, stacklevel=find_user_stacklevel())
        return made

    def _drawn(self, draw: Callable[[], _Made]) -> _Made:
        """What is drawn; an error that comes now is told to have cost something."""
        try:
            return draw()
        except BaseException as error:
            if self.charge is not None:
                epsilon, dataset = format_exact(self.charge.epsilon), to_line(self.dataset)
                error.add_note(
                    f"ε = {epsilon} was charged to {dataset} before, as entry "
                    f"{self.charge.number} of the ledger, and stays spent."
                )
            raise


def describe_cost(cost: Fraction, epsilon: Fraction) -> str:
    """What is charged for a release with this ε, and why, if it is more.

    >>> describe_cost(Fraction(2), Fraction(1))
    'ε = 2 (twice 1, because the data set is for persons who are replaced)'
    """
    if cost == epsilon:
        return f"ε = {format_exact(cost)}"
    return (
        f"ε = {format_exact(cost)} (twice {format_exact(epsilon)}, because the data set is for "
        f"persons who are replaced)"
    )


def _unrecorded(number: int, error: Exception) -> str:
    """What is said of a release whose result is not in the ledger."""
    why = str(error) if isinstance(error, TopgapError) else f"{type(error).__name__}."
    if isinstance(error, ChargeMissingError):
        return (
            f"The ledger has lost charge {number} since it was made for this release, and does not "
            f"have the result: {why} Charge it again."
        )
    return (
        f"The release was charged, but its result is not in the ledger: {why} Record it as that of "
        f"charge {number}."
    )


def open_ledger(ledger: "LedgerLike | None", dataset: str | None) -> "tuple[Ledger, str] | None":
    """Where a release is charged; None if it is not.

    Raises:
        ParameterError, ParameterTypeError, LedgerError: One was given without the other, or is
            none.

    >>> open_ledger(None, None)
    """
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise ParameterError("ledger and dataset go together: give both, or none.")
    from topgap.ledger import Ledger

    return (ledger if isinstance(ledger, Ledger) else Ledger(ledger)), dataset


def prepare_charge(
    ledger: "LedgerLike | None",
    dataset: str | None,
    mechanism: str,
    parameters: TopK,
    stated: Neighbours | None = None,
    **more: Any,
) -> PendingCharge:
    """How a release with these parameters is paid for.

    Args:
        ledger: The ledger, or the path of one; None if there is none.
        dataset: The data set in it.
        mechanism: What is released.
        parameters: And with which parameters; their ε is what it costs.
        stated: Which neighbouring data sets the sensitivity is said to be true for, and so ε; None
            if nobody said it, and then the parameters may.
        **more: Further parameters.

    Raises:
        ParameterError, ParameterTypeError: One was given without the other, or is none.
        BudgetExceeded, LedgerError: It could not be charged now.

    >>> prepare_charge(None, None, "topgap.top_k", TopK(k=1, epsilon=1)) is NO_CHARGE
    True
    """
    charged = open_ledger(ledger, dataset)
    if charged is None:
        return NO_CHARGE
    listed = {**parameters.to_dict(), **more}
    neighbours = stated or relation_of(parameters)
    return LedgerCharge(*charged, parameters.epsilon, mechanism, listed, neighbours)
