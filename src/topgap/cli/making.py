"""From counts to what is published: the release alone, or estimates too."""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol

from topgap.cli.publications import Estimated, Publication, Released
from topgap.counting.cells import text_of
from topgap.estimates.calls import estimated, paid_estimates
from topgap.estimates.value import LEVEL, read_level
from topgap.exact import Number
from topgap.measurement import Shares
from topgap.mechanism import given, paid_release
from topgap.parameters import TopK
from topgap.payment import LedgerLike, Payment, paid_by
from topgap.release import Release
from topgap.streams.rows import Rows
from topgap.streams.selection import released, released_with_estimates

SHARE = Fraction(1, 2)
"""The part of ε that selects, unless another is given."""


class Making(Protocol):
    """One way to it, with parameters that have been checked."""

    def paid_by(
        self, ledger: "LedgerLike | None", dataset: str | None, described: dict[str, Any]
    ) -> Payment:
        """How it is paid for, and what the ledger notes of where it is from.

        Raises:
            BudgetExceeded, LedgerError: It could not be charged now.
        """

    def of_counts(self, counts: dict[Any, int], payment: Payment) -> Publication:
        """From the counts of a domain."""

    def of_rows(self, rows: Rows, payment: Payment) -> Publication:
        """From all rows of a source."""


@dataclass(frozen=True)
class Releasing:
    """Names the largest, and gives the gaps."""

    parameters: TopK

    def paid_by(
        self, ledger: "LedgerLike | None", dataset: str | None, described: dict[str, Any]
    ) -> Payment:
        """As `Making` says; and so do the others."""
        return paid_by(ledger, dataset, "topgap release", self.parameters, gaps=True, **described)

    def of_counts(self, counts: dict[Any, int], payment: Payment) -> Publication:
        """As `Making` says."""
        data = given(self.parameters, counts, None, None)
        return Released(paid_release(self.parameters, data, True, payment))

    def of_rows(self, rows: Rows, payment: Payment) -> Publication:
        """As `Making` says."""
        return Released(_in_text(released(self.parameters, rows, True, payment)))


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
        self, parameters: TopK, selection_share: Number = SHARE, level: Number = LEVEL
    ) -> None:
        self._parameters = parameters
        self._shares = Shares.of(parameters, selection_share)
        self._level = read_level(level)

    def paid_by(
        self, ledger: "LedgerLike | None", dataset: str | None, described: dict[str, Any]
    ) -> Payment:
        """As `Making` says."""
        mechanism = "topgap release --estimate"
        whole, shares = self._parameters, self._shares
        return paid_estimates(ledger, dataset, mechanism, whole, shares, **described)

    def of_counts(self, counts: dict[Any, int], payment: Payment) -> Publication:
        """As `Making` says."""
        data = given(self._shares.selection, counts, None, None)
        return Estimated(estimated(self._shares, data, payment), self._level)

    def of_rows(self, rows: Rows, payment: Payment) -> Publication:
        """As `Making` says."""
        made = released_with_estimates(self._shares, rows, payment)
        return Estimated(replace(made, release=_in_text(made.release)), self._level)


def _in_text(made: Release) -> Release:
    """Not all that can be stored can be written in every form: decimals and dates become text."""
    items = [item if isinstance(item, int) else text_of(item) for item in made.items]
    return made._with_items(items)
