"""From counts to what is published: the release alone, or estimates too."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from topgap.cli.publications import Estimated, Publication, Released
from topgap.counting.cells import text_of
from topgap.estimates.noise import Noise
from topgap.ledger.charging import (
    NO_CHARGE,
    LedgerLike,
    PendingCharge,
    prepare_charge,
)
from topgap.numbers.parse import LEVEL, Number, read_level
from topgap.parameters import Neighbours, TopK
from topgap.release import Release
from topgap.selection.check import Check, describe_check
from topgap.selection.measurement import Shares
from topgap.selection.mechanism import prepare, select_prepared
from topgap.selection.top_k_with_estimates import (
    estimate_prepared,
    prepare_charge_for_estimates,
)
from topgap.streams.rows import Rows
from topgap.streams.selection import release_rows, release_rows_with_estimates

SHARE = Fraction(1, 2)
"""The part of ε that selects, unless another is given."""


class Making(Protocol):
    """One way to it, with parameters that have been checked."""

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        neighbours: Neighbours | None,
        described: dict[str, Any],
    ) -> PendingCharge:
        """How it is paid for, for which neighbours if that was said, and what the ledger notes.

        Raises:
            BudgetExceeded, LedgerError: It could not be charged now.
        """

    def checked(self, items: int, occurring: int, pending: PendingCharge) -> Check:
        """What would be made of so many items, of which so many occur."""

    def prepared(self, counts: dict[Any, int]) -> Callable[[], Any]:
        """Draws from the counts of a domain, which have been checked: nothing is wrong with them.

        Raises:
            AnswersError: There are too few.
        """

    def published(self, made: Any) -> Publication:
        """What was drawn, as it is published."""

    def of_rows(self, rows: Rows, pending: PendingCharge) -> Publication:
        """From all rows of a source."""


@dataclass(frozen=True)
class Releasing:
    """Names the largest, and gives the gaps."""

    parameters: TopK

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        neighbours: Neighbours | None,
        described: dict[str, Any],
    ) -> PendingCharge:
        """As `Making` says; and so do the others."""
        told = {"gaps": True, **described}
        return prepare_charge(
            ledger, dataset, "topgap release", self.parameters, neighbours, **told
        )

    def checked(self, items: int, occurring: int, pending: PendingCharge) -> Check:
        """As `Making` says."""
        return describe_check(self.parameters, pending, items, occurring)

    def prepared(self, counts: dict[Any, int]) -> Callable[[], Any]:
        """As `Making` says."""
        data = prepare(self.parameters, counts)
        return lambda: select_prepared(self.parameters, data, gaps=True)

    def published(self, made: Any) -> Publication:
        """As `Making` says."""
        return Released(made)

    def of_rows(self, rows: Rows, pending: PendingCharge) -> Publication:
        """As `Making` says."""
        return Released(_in_text(release_rows(self.parameters, rows, pending, gaps=True)))


class Estimating:
    """Measures them besides; ε is that of the whole.

    Args:
        parameters: Those of the whole.
        selection_share: The part of ε that selects.
        level: That of the intervals.

    Raises:
        ParameterError: The share or the level cannot be used.
    """

    def __init__(
        self, parameters: TopK, selection_share: "Number" = SHARE, level: "Number" = LEVEL
    ) -> None:
        self._parameters = parameters
        self._shares = Shares.of(parameters, selection_share)
        self._level = read_level(level)
        # What can be wrong with the parameters comes up here, and not after a charge.
        Noise.discrete_laplace(self._shares.selection, self._shares.measurement_epsilon)

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        neighbours: Neighbours | None,
        described: dict[str, Any],
    ) -> PendingCharge:
        """As `Making` says."""
        mechanism = "topgap release --estimate"
        whole, shares = self._parameters, self._shares
        return prepare_charge_for_estimates(
            ledger, dataset, mechanism, whole, shares, neighbours, **described
        )

    def checked(self, items: int, occurring: int, pending: PendingCharge) -> Check:
        """As `Making` says."""
        return describe_check(self._parameters, pending, items, occurring, measured=True)

    def prepared(self, counts: dict[Any, int]) -> Callable[[], Any]:
        """As `Making` says."""
        data = prepare(self._shares.selection, counts)
        return lambda: estimate_prepared(self._shares, data, NO_CHARGE)

    def published(self, made: Any) -> Publication:
        """As `Making` says."""
        return Estimated(made, self._level)

    def of_rows(self, rows: Rows, pending: PendingCharge) -> Publication:
        """As `Making` says."""
        made = release_rows_with_estimates(self._shares, rows, pending)
        return Estimated(replace(made, release=_in_text(made.release)), self._level)


def _in_text(made: Release) -> Release:
    """Not all that can be stored can be written in every form: decimals and dates become text."""
    items = [item if isinstance(item, int) else text_of(item) for item in made.items]
    return made.with_items(items)
