"""A list for each group, alone or with estimates: its parameters, its charge, and its draw."""

from collections.abc import Callable
from typing import Any

from topgap.counting import Domain
from topgap.domains import FromData, GroupedCounts
from topgap.estimates import GroupedEstimates
from topgap.estimates.noise import Noise
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number
from topgap.parameters import Neighbours, TopK
from topgap.release import GroupedRelease
from topgap.selection.check import Check, describe_check
from topgap.selection.grouped_answers import read_groups
from topgap.selection.measurement import GroupedShares
from topgap.selection.top_k_by_group import select_groups
from topgap.selection.top_k_by_group_with_estimates import (
    estimate_groups,
    prepare_charge_for_groups,
)
from topgap.selection.unlisted import check_domain


class GroupedMechanism:
    """A list for each public group, alone or with estimates; one charge covers all of them.

    Args:
        parameters: Those of the whole.
        selection_share: The part of ε that selects, if there are estimates.
        gaps: Whether the gaps are released; estimates always have them.

    Attributes:
        parameters: Those of the whole.
        shares: How ε is shared if there are estimates; else None.

    Raises:
        ParameterError, ParameterTypeError: A parameter cannot be used.
    """

    def __init__(
        self,
        parameters: TopKByGroup,
        selection_share: "Number | None" = None,
        *,
        gaps: bool = True,
    ) -> None:
        self.parameters = parameters
        self.shares = None
        self._gaps = gaps
        if selection_share is not None:
            self.shares = GroupedShares.of(parameters, selection_share)
            # An error of the parameters comes up here, and not after a charge.
            Noise.for_one_winner(self.shares.selection.each, self.shares.measurement_epsilon)

    @property
    def by(self) -> TopKByGroup:
        """The parameters of the selection in all groups, with its part of ε."""
        return self.parameters if self.shares is None else self.shares.selection

    @property
    def selection(self) -> TopK:
        """The parameters of the selection in each group."""
        return self.by.each

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        name: str,
        stated: Neighbours | None = None,
        **noted: Any,
    ) -> PendingCharge:
        """Prepare the charge for all lists together; as of `Mechanism`.

        Raises:
            ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: It cannot be charged.
        """
        if self.shares is None:
            noted["gaps"] = self._gaps
            return prepare_charge(ledger, dataset, name, self.parameters, stated, **noted)
        return prepare_charge_for_groups(
            ledger, dataset, name, self.parameters, self.shares, stated, **noted
        )

    def check_domain(self, domain: Domain | FromData) -> None:
        """Check that k items of each group can be drawn from a domain.

        Raises:
            DomainError, ParameterError: They cannot.
        """
        if not isinstance(domain, FromData):
            check_domain(domain, self.selection)

    def prepare(self, counts: GroupedCounts) -> Callable[[], GroupedRelease | GroupedEstimates]:
        """Check the counts of all groups; the result draws.

        Raises:
            DomainError: There are too few items.
        """
        data, shares = read_groups(self.by, counts), self.shares
        if shares is None:
            return lambda: select_groups(self.parameters, data, gaps=self._gaps)
        return lambda: estimate_groups(shares, data, NO_CHARGE)

    def describe_check(
        self,
        items: int,
        occurring: int,
        pending: PendingCharge,
        *,
        domain_from_data: bool = False,
        groups: int = 1,
    ) -> Check:
        """Describe the release that so many items of all groups would get; so many occur."""
        each = self.parameters.each
        if self.shares is not None:
            each = TopK(**{**each.to_dict(), "epsilon": self.shares.each.epsilon})
        return describe_check(
            each, pending, items, occurring, measured=self.shares is not None,
            domain_from_data=domain_from_data, by=self.parameters, groups=groups,
            has_gaps=self._gaps,
        )  # fmt: skip
