"""The mechanism of a list for each group: its parameters, and how all lists are paid for once."""

from collections.abc import Callable

from topgap.cli.release.mechanism import read_options, read_share
from topgap.cli.release.request import ReleaseRequest
from topgap.counting import Domain
from topgap.domains import FromData, GroupedCounts
from topgap.estimates import GroupedEstimates
from topgap.estimates.noise import Noise
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger import Ledger
from topgap.ledger.charging import NO_CHARGE, PendingCharge, prepare_charge
from topgap.margins import people_needed
from topgap.numbers.format import format_exact
from topgap.numbers.parse import LEVEL, read_level
from topgap.parameters import TopK
from topgap.release import GroupedRelease, format_domain
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
    """A list for each group alone, or with estimates, with parameters that have been checked.

    Attributes:
        parameters: Those of the whole.
        shares: How ε is shared if there are estimates; else None.
        level: The level of their intervals, or of those of noisy counts.

    Raises:
        ParameterError: A parameter cannot be used.
    """

    def __init__(self, request: ReleaseRequest) -> None:
        most = 1 if request.groups_per_person is None else request.groups_per_person
        options = read_options(request)
        self.parameters = TopKByGroup(request.k, request.epsilon, groups_per_person=most, **options)
        self.shares = None
        self.level = LEVEL if request.level is None else read_level(request.level)
        if request.estimate:
            self.shares = GroupedShares.of(self.parameters, read_share(request))
            # An error of the parameters comes up here, and not after a charge.
            Noise.for_one_winner(self.shares.selection.each, self.shares.measurement_epsilon)

    def prepare_charge(self, request: ReleaseRequest, ledger: Ledger | None) -> PendingCharge:
        """How all lists are paid for, and what the ledger notes; as of `Mechanism`.

        Raises:
            BudgetExceeded, LedgerError: It could not be charged now.
        """
        stated = None if request.count is None else request.neighbours
        whole, source = self.parameters, request.describe_source()
        if self.shares is None:
            name = "topgap release"
            return prepare_charge(ledger, request.dataset, name, whole, stated, gaps=True, **source)
        name = "topgap release --estimate"
        return prepare_charge_for_groups(
            ledger, request.dataset, name, whole, self.shares, stated, **source
        )

    @property
    def by(self) -> TopKByGroup:
        """The parameters of the selection in all groups, with its part of ε."""
        return self.parameters if self.shares is None else self.shares.selection

    @property
    def selection(self) -> TopK:
        """The parameters of the selection in each group."""
        return self.by.each

    def describe_groups(self, groups: Domain) -> str:
        """Say what each group costs and how ε is shared."""
        whole, most = format_exact(self.parameters.epsilon), self.parameters.groups_per_person
        if groups.size == 1:
            return f"ε = {whole} for the list of the only group."
        each = format_exact(self.parameters.each.epsilon)
        gets = "each list gets" if self.shares is None else "each list and its estimates get"
        twice = ""
        if self.shares is not None and not self.parameters.monotonic:
            twice = (
                " A person who is replaced can leave groups while the other enters others, so "
                "measurements are counted twice."
            )
        return (
            f"ε = {whole} for all {groups.size:,} groups together: each person is counted in at "
            f"most {most:,} of them, and {gets} ε = {each}.{twice}"
        )

    def describe_domain(self, domain: Domain | FromData) -> list[str]:
        """See whether k items of each group can be drawn, and say what stands out in a domain.

        Returns:
            A sentence about a domain that is not written out, which tells public facts alone.

        Raises:
            DomainError, ParameterError: They cannot be drawn.
        """
        if isinstance(domain, FromData):
            return []
        check_domain(domain, self.selection)
        if domain.is_listed:
            return []
        count = people_needed(self.selection, domain.size)
        return [
            f"The domain is {format_domain(domain.description)}; an item needs a count of "
            f"{count:,} in its group to be named with a probability of 95%, and one that is named "
            f"need not occur."
        ]

    def prepare(self, counts: GroupedCounts) -> Callable[[], GroupedRelease | GroupedEstimates]:
        """Check the counts of all groups; what is returned draws.

        Raises:
            DomainError: There are too few items.
        """
        data, shares = read_groups(self.by, counts), self.shares
        if shares is None:
            return lambda: select_groups(self.parameters, data, gaps=True)
        return lambda: estimate_groups(shares, data, NO_CHARGE)

    def describe_check(
        self, groups: Domain, items: int, occurring: int, pending: PendingCharge
    ) -> Check:
        """What would be released from so many items of all groups, of which so many occur."""
        each = self.parameters.each
        if self.shares is not None:
            each = TopK(**{**each.to_dict(), "epsilon": self.shares.each.epsilon})
        return describe_check(
            each, pending, items, occurring,
            measured=self.shares is not None, by=self.parameters, groups=groups.size,
        )  # fmt: skip
