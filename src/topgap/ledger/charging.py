"""Charge a release to a ledger before the first random bit is drawn, and record its result after.

A call that releases prepares its charge first, then looks at the answers, then charges and draws:

    pending = prepare_charge(ledger, dataset, mechanism, parameters)   refuses if too little is left
    …                                                                  looks at the answers
    release = pending.charge_then_run(draw)                            charges, draws, records,
                                                                       and settles

Without a ledger, `prepare_charge` gives `NO_CHARGE`, and `charge_then_run` only draws.
"""

import os
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from topgap.display.text import to_line
from topgap.errors import (
    ChargeMissingError,
    LargeEpsilonWarning,
    LedgerWarning,
    ParameterError,
    TopgapError,
)
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.entry import DEFAULT_RELATION, NUMBER_OF_GROUPS, relation_of
from topgap.numbers.format import format_short
from topgap.parameters import LARGE_EPSILON, Neighbours, TopK
from topgap.user_stacklevel import find_user_stacklevel

if TYPE_CHECKING:
    from topgap.ledger import Charge, Ledger

_Result = TypeVar("_Result")
LedgerLike: TypeAlias = "Ledger | str | os.PathLike[str]"
"""A ledger, or the path of one."""


class PendingCharge(Protocol):
    """The charge for one release, before it is made."""

    def note_groups(self, number: int) -> None:
        """Note how many groups share the charge, which is known once they have been read."""

    def charge_then_run(self, draw: Callable[[], _Result]) -> _Result:
        """Make the charge; then draw the release, and return it."""


class _NoCharge:
    """The charge for a release without a ledger: none."""

    def note_groups(self, number: int) -> None:
        """Note nothing."""

    def charge_then_run(self, draw: Callable[[], _Result]) -> _Result:
        """Draw the release, and return it."""
        return draw()


NO_CHARGE: PendingCharge = _NoCharge()


class LedgerCharge:
    """The charge for one release to a data set in a ledger, before it is made.

    Args:
        ledger: The ledger.
        dataset: The data set in it that is released from.
        epsilon: The ε of the release.
        mechanism: The mechanism of the release, for the ledger's entry.
        parameters: The parameters of the mechanism, for the entry.
        neighbours: The neighbouring data sets that ε is true for; None for those of the data set.
        may_settle: Whether some outputs of the mechanism cost less than ε.

    Attributes:
        dataset: The data set.
        epsilon: The ε of the release.
        parameters: What will be noted with it.
        cost: The ε that will be charged, converted to the neighbours of the data set.
        left: What that leaves of the budget, as of now.
        may_settle: Whether less may count once the result is recorded, for a threshold may end the
            list early.
        charge: The charge, once it has been made; after that with its result and settlement.
        may_be_charged: Whether the ledger was asked to make the charge, and may have made it.
        is_drawn: Whether the release was drawn.
        is_recorded: Whether the result is in the ledger.
        before_charge: A function that is called right before the charge, and may raise.

    Raises:
        BudgetExceeded, LedgerError: It cannot be charged now. So a call that cannot be charged
            fails before it reads any data.
    """

    def __init__(
        self,
        ledger: "Ledger",
        dataset: str,
        epsilon: Fraction,
        mechanism: str,
        parameters: Mapping[str, Any],
        neighbours: Neighbours | None = None,
        *,
        may_settle: bool = False,
    ) -> None:
        self.cost, self.left = ledger.check(dataset, epsilon, neighbours=neighbours)
        self.dataset = dataset
        self._ledger = ledger
        self.epsilon = epsilon
        self._mechanism = mechanism
        self.parameters: Mapping[str, Any] = parameters
        self._neighbours = neighbours
        self.may_settle = may_settle
        self.charge: Charge | None = None
        self.may_be_charged = False
        self.is_drawn = False
        self.is_recorded = False
        self.before_charge: Callable[[LedgerCharge], None] | None = None

    def note_groups(self, number: int) -> None:
        """Note how many groups share the charge: their lists are one release, and cost ε once."""
        self.parameters = {**self.parameters, NUMBER_OF_GROUPS: number}

    def charge_then_run(self, draw: Callable[[], _Result]) -> _Result:
        """Charge; then draw the release, record it and return it.

        If the output cost less than ε, the charge is settled as the result is recorded. A crash
        after the charge leaves a charge without a result, never a result without a charge. A
        release that cannot be recorded is returned all the same, with a warning, because it has
        been charged; all of its ε stays charged.

        Raises:
            BudgetExceeded, LedgerError: It cannot be charged; nothing was drawn.
        """
        if self.before_charge is not None:
            self.before_charge(self)
        self.may_be_charged = True
        self.charge = self._ledger.charge(
            self.dataset,
            self.epsilon,
            mechanism=self._mechanism,
            parameters=self.parameters,
            neighbours=self._neighbours,
        )
        result = self._run(draw)
        self.is_drawn = True
        try:
            self.charge = self._ledger._record_drawn(self.charge, result)
            self.is_recorded = True
        except Exception as error:
            warning = LedgerWarning(_describe_unrecorded(self.charge.number, error))
            warning.result = result
            warnings.warn(warning, stacklevel=find_user_stacklevel())
        return result

    def _run(self, draw: Callable[[], _Result]) -> _Result:
        """Draw; a note on any error says that the charge stays."""
        try:
            return draw()
        except BaseException as error:
            if self.charge is not None:
                note_charge(error, self.charge)
            raise


def prepare_charge(
    ledger: "LedgerLike | None",
    dataset: str | None,
    mechanism: str,
    parameters: TopK | TopKByGroup,
    stated: Neighbours | None = None,
    **more: Any,
) -> PendingCharge:
    """Prepare the charge for a release: see that enough is left, and charge nothing yet.

    Args:
        ledger: The ledger, or the path of one; None for no ledger.
        dataset: The data set in it.
        mechanism: The mechanism of the release.
        parameters: Its parameters; their ε is charged.
        stated: The neighbouring data sets that the sensitivity was stated for, and so ε; None if
            nobody stated them, and then the parameters may tell.
        **more: Further parameters, for the ledger's entry.

    Raises:
        ParameterError, ParameterTypeError: `ledger` or `dataset` is missing or cannot be used.
        BudgetExceeded, LedgerError: It cannot be charged now.

    >>> prepare_charge(None, None, "topgap.top_k", TopK(k=1, epsilon=1)) is NO_CHARGE
    True
    """
    account = open_ledger(ledger, dataset)
    if account is None:
        warn_of_large_epsilon(parameters.epsilon)
        return NO_CHARGE
    listed = {**parameters.to_dict(), **more}
    neighbours = stated or relation_of(parameters)
    may_settle = parameters.least_cost < parameters.epsilon
    pending = LedgerCharge(
        *account, parameters.epsilon, mechanism, listed, neighbours, may_settle=may_settle
    )
    warn_of_large_epsilon(pending.cost)
    return pending


def warn_of_large_epsilon(epsilon: Fraction) -> None:
    """Warn if a release has an ε that hardly anybody would choose on purpose.

    Args:
        epsilon: That of the whole release, as it is charged.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_large_epsilon(Fraction(20))
    >>> print(caught[0].message)  # doctest: +NORMALIZE_WHITESPACE
    ε = 20 is more than 10 and hardly private: one person can make an output e^20 times as likely.
    """
    if epsilon.numerator > LARGE_EPSILON * epsilon.denominator:
        written = format_short(epsilon)
        warnings.warn(
            f"ε = {written} is more than {LARGE_EPSILON} and hardly private: one person can make "
            f"an output e^{written} times as likely.",
            LargeEpsilonWarning,
            stacklevel=find_user_stacklevel(),
        )


def open_ledger(ledger: "LedgerLike | None", dataset: str | None) -> "tuple[Ledger, str] | None":
    """Return the ledger and the data set to charge; None if neither is given.

    Raises:
        ParameterError, ParameterTypeError, LedgerError: One was given without the other, or is no
            ledger.

    >>> open_ledger(None, None)
    """
    if ledger is None and dataset is None:
        return None
    if ledger is None or dataset is None:
        raise ParameterError("ledger and dataset go together; give both or neither.")
    from topgap.ledger import Ledger  # here, for it needs sqlite3

    return (ledger if isinstance(ledger, Ledger) else Ledger(ledger)), dataset


def resolve_neighbours(
    neighbours: Neighbours | None, ledger: "LedgerLike | None", dataset: str | None
) -> Neighbours:
    """Return which data sets are neighbours: as given, or as of the ledger's data set.

    Without either, one person is added or removed.

    Raises:
        ParameterError, ParameterTypeError, LedgerError: They cannot be used.

    >>> resolve_neighbours(None, None, None), resolve_neighbours("replace", None, None)
    ('add-remove', 'replace')
    """
    if neighbours is not None:
        from topgap.ledger.validation import (
            read_neighbours,
        )  # imported here because few calls need it

        return read_neighbours(neighbours)
    account = open_ledger(ledger, dataset)
    return DEFAULT_RELATION if account is None else account[0].budget(account[1]).neighbours


def note_charge(error: BaseException, charge: "Charge") -> None:
    """Say in a note on an error that what was charged before it stays spent."""
    error.add_note(describe_kept_charge(charge))


def describe_kept_charge(charge: "Charge") -> str:
    """Say that what was charged before an error stays charged."""
    epsilon, dataset = format_short(charge.epsilon), to_line(charge.dataset)
    return (
        f"ε = {epsilon} was already charged to {dataset}, as entry {charge.number} of the ledger, "
        f"and stays charged."
    )


def describe_cost(cost: Fraction, epsilon: Fraction) -> str:
    """Say what is charged for a release with this ε, and why, if it is more.

    >>> describe_cost(Fraction(2), Fraction(1))
    'ε = 2 (twice 1, because the data set is for persons who are replaced)'
    """
    if cost == epsilon:
        return f"ε = {format_short(cost)}"
    return (
        f"ε = {format_short(cost)} (twice {format_short(epsilon)}, because the data set is for "
        f"persons who are replaced)"
    )


def _describe_unrecorded(number: int, error: Exception) -> str:
    """Say that the result of this charge is not in the ledger, and what to do."""
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
