"""The parameters of a release on Spark: of one list or several, with estimates or without."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from topgap.estimates.grouped import GroupedEstimates
from topgap.estimates.result import Estimates
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger.charging import LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number
from topgap.parameters import TopK
from topgap.release import GroupedRelease, Release
from topgap.selection.check import Check, describe_check
from topgap.selection.measurement import GroupedShares, Shares
from topgap.selection.top_k_by_group_with_estimates import prepare_charge_for_groups
from topgap.selection.top_k_with_estimates import prepare_charge_for_estimates
from topgap.spark.counted import Counted
from topgap.spark.drawing import (
    charge_and_estimate,
    charge_and_estimate_groups,
    charge_and_release,
    count_items,
    try_executors,
    try_first,
)
from topgap.spark.groups import GroupColumns
from topgap.spark.query import run_query

Plan = Callable[[TopK | TopKByGroup], Counted]
"""Plans what is counted, for the parameters of the selection."""

Result = Release | GroupedRelease | Estimates | GroupedEstimates


@dataclass(frozen=True)
class ReleaseParameters:
    """What is released, and how it is drawn from what Spark counts.

    Attributes:
        whole: The parameters of all of it.
        shares: How ε is shared, if there are estimates.
        gaps: Whether the gaps are released.
    """

    whole: TopK | TopKByGroup
    shares: Shares | GroupedShares | None = None
    gaps: bool = True

    @classmethod
    def of(
        cls,
        k: int | None,
        epsilon: "Number",
        columns: GroupColumns | None,
        groups_per_person: int,
        selection_share: "Number | None" = None,
        *,
        gaps: bool = True,
        **more: Any,
    ) -> "ReleaseParameters":
        """Read the parameters of a call.

        Raises:
            ParameterError, ParameterTypeError: One cannot be used.
        """
        if columns is None:
            whole = TopK(k, epsilon, **more)
            shares = None if selection_share is None else Shares.of(whole, selection_share)
            return cls(whole, shares, gaps)
        by_group = TopKByGroup(k, epsilon, groups_per_person=groups_per_person, **more)
        if selection_share is None:
            return cls(by_group, None, gaps)
        return cls(by_group, GroupedShares.of(by_group, selection_share), gaps)

    @property
    def selection(self) -> TopK | TopKByGroup:
        """The parameters of the selection, with its part of ε."""
        return self.whole if self.shares is None else self.shares.selection

    @property
    def each(self) -> TopK:
        """The parameters of the selection of each list."""
        selection = self.selection
        return selection.each if isinstance(selection, TopKByGroup) else selection

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        mechanism: str,
        **noted: Any,
    ) -> PendingCharge:
        """Prepare the charge for all of it.

        Raises:
            ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: It cannot be charged.
        """
        whole, shares = self.whole, self.shares
        if isinstance(whole, TopKByGroup) and isinstance(shares, GroupedShares):
            return prepare_charge_for_groups(ledger, dataset, mechanism, whole, shares, **noted)
        if isinstance(whole, TopK) and isinstance(shares, Shares):
            return prepare_charge_for_estimates(ledger, dataset, mechanism, whole, shares, **noted)
        return prepare_charge(ledger, dataset, mechanism, whole, gaps=self.gaps, **noted)

    def release(self, plan: Plan, pending: PendingCharge, *, look_at_rows: bool = False) -> Result:
        """Plan, try, charge, and draw.

        Args:
            plan: Plans what is counted.
            pending: The charge.
            look_at_rows: Whether all rows are looked at before the charge.

        Raises:
            TopgapError: Something cannot be used, counted, charged or drawn.
        """
        counted = run_query(lambda: plan(self.selection))
        try_first(counted, self.each, pending, look_at_rows=look_at_rows)
        shares = self.shares
        if shares is None:
            return charge_and_release(counted, self.each, pending, gaps=self.gaps)
        if isinstance(shares, Shares):
            return charge_and_estimate(counted, shares, pending)
        assert counted.groups is not None  # noqa: S101 - they were asked for
        return charge_and_estimate_groups(counted, counted.groups, shares, pending)

    def check(self, plan: Plan, pending: PendingCharge) -> Check:
        """Plan, try, count, and describe what would be released; nothing is drawn or charged.

        Raises:
            TopgapError: Something cannot be used, counted or charged.
        """
        counted = run_query(lambda: plan(self.selection))
        try_executors(counted)
        items, occurring = count_items(counted, self.each)
        whole, groups = self.whole, counted.groups
        by = whole if isinstance(whole, TopKByGroup) else None
        shown = whole if isinstance(whole, TopK) else whole.each
        if by is not None and isinstance(self.shares, GroupedShares):
            shown = TopK(**{**shown.to_dict(), "epsilon": self.shares.each.epsilon})
        return describe_check(
            shown, pending, items, occurring, measured=self.shares is not None,
            domain_from_data=counted.is_from_data, by=by, has_gaps=self.gaps,
            groups=1 if groups is None else groups.public.size,
        )  # fmt: skip
