"""A list of winners, alone or with estimates: its parameters, its charge, and how it is drawn."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from topgap.counting import Domain, Occurring
from topgap.domains import FromData
from topgap.estimates import Estimates
from topgap.estimates.noise import Noise
from topgap.ledger.charging import NO_CHARGE, LedgerLike, PendingCharge, prepare_charge
from topgap.numbers.parse import Number
from topgap.parameters import Neighbours, TopK
from topgap.release import Release
from topgap.selection.candidate_pool import CandidatePool
from topgap.selection.check import Check, describe_check
from topgap.selection.measurement import Shares
from topgap.selection.mechanism import select_prepared
from topgap.selection.preparation import prepare
from topgap.selection.top_k_with_estimates import (
    estimate_from,
    estimate_prepared,
    prepare_charge_for_estimates,
)
from topgap.selection.unlisted import check_domain, check_domain_size


class Mechanism:
    """A list of winners alone, or with estimates, with parameters that have been checked.

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
        self, parameters: TopK, selection_share: "Number | None" = None, *, gaps: bool = True
    ) -> None:
        self.parameters = parameters
        self.shares = None
        self._gaps = gaps
        if selection_share is not None:
            self.shares = Shares.of(parameters, selection_share)
            # An error of the parameters comes up here, and not after a charge.
            Noise.discrete_laplace(self.shares.selection, self.shares.measurement_epsilon)

    @property
    def selection(self) -> TopK:
        """The parameters of the selection, with its part of ε."""
        return self.parameters if self.shares is None else self.shares.selection

    def prepare_charge(
        self,
        ledger: "LedgerLike | None",
        dataset: str | None,
        name: str,
        stated: Neighbours | None = None,
        **noted: Any,
    ) -> PendingCharge:
        """Prepare the charge for the release.

        Args:
            ledger: The ledger, if there is one.
            dataset: The data set in it.
            name: What the ledger calls the mechanism.
            stated: The neighbouring data sets that the sensitivity was stated for. Counted persons
                move a count by at most 1 between neighbours of either kind: None then.
            **noted: What else the ledger notes.

        Raises:
            ParameterError, ParameterTypeError, BudgetExceeded, LedgerError: It cannot be charged.
        """
        if self.shares is None:
            noted["gaps"] = self._gaps
            return prepare_charge(ledger, dataset, name, self.parameters, stated, **noted)
        return prepare_charge_for_estimates(
            ledger, dataset, name, self.parameters, self.shares, stated, **noted
        )

    def check_domain(self, domain: Domain | FromData) -> None:
        """Check that k items can be drawn from a domain.

        Raises:
            DomainError, ParameterError: They cannot.
        """
        if isinstance(domain, FromData):
            return
        if domain.is_listed:
            check_domain_size(domain.size, self.parameters.fewest_winners)
        else:
            check_domain(domain, self.selection)

    def prepare(self, counts: dict[Any, int]) -> Callable[[], Release | Estimates]:
        """Check the counts of a list of items; the result draws.

        Raises:
            AnswersError: There are too few.
        """
        shares = self.shares
        if shares is None:
            data = prepare(self.parameters, counts)
            return lambda: select_prepared(self.parameters, data, gaps=self._gaps)
        data = prepare(shares.selection, counts)
        return lambda: estimate_prepared(shares, data, NO_CHARGE)

    def draw(self, occurring: Occurring) -> Release | Estimates:
        """Draw from what occurs of a domain that is not written out, which is read meanwhile."""
        shares = self.shares
        if shares is None:
            return _feed(self.parameters, occurring).rank().release(gaps=self._gaps)

        def select_and_measure() -> tuple[Release, tuple[Fraction, ...]]:
            pool = _feed(shares.selection, occurring, keep_answers=True)
            release = pool.rank().release()
            return release, shares.measure(pool.take_answers([*release.items]))

        return estimate_from(shares, select_and_measure, NO_CHARGE)

    def describe_check(
        self,
        items: int,
        occurring: int,
        pending: PendingCharge,
        *,
        domain_from_data: bool = False,
    ) -> Check:
        """Describe the release that so many items would get, of which so many occur."""
        return describe_check(
            self.parameters, pending, items, occurring, measured=self.shares is not None,
            domain_from_data=domain_from_data, has_gaps=self._gaps,
        )  # fmt: skip


def _feed(parameters: TopK, occurring: Occurring, *, keep_answers: bool = False) -> CandidatePool:
    pool = CandidatePool(
        parameters,
        domain=occurring.domain,
        find_listed=occurring.find,
        remember_names=False,
        keep_answers=keep_answers,
    )
    for names, counts in occurring.batches():
        pool.add(counts, names)
    return pool
