"""The mechanism of a release: its parameters, how it is charged, and how it is drawn."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

from topgap.cli.release.request import ReleaseRequest
from topgap.counting import Domain, Occurring
from topgap.domains import FromData
from topgap.domains.cell_text import to_text
from topgap.estimates import Estimates
from topgap.estimates.noise import Noise
from topgap.ledger import Ledger
from topgap.ledger.charging import NO_CHARGE, PendingCharge, prepare_charge
from topgap.margins import people_needed
from topgap.numbers.parse import LEVEL, read_level
from topgap.parameters import TopK
from topgap.release import Release, format_domain
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
from topgap.streams.one_pass_release import release_rows, release_rows_with_estimates
from topgap.streams.rows import Rows

_SHARE = Fraction(1, 2)
"""The part of ε that selects, unless the user gives another."""


class Mechanism:
    """A release alone, or with estimates, with parameters that have been checked.

    Attributes:
        parameters: Those of the whole.
        shares: How ε is shared if there are estimates; else None.
        level: The level of their intervals, or of those of noisy counts.

    Raises:
        ParameterError: A parameter cannot be used.
    """

    def __init__(self, request: ReleaseRequest) -> None:
        self.parameters = TopK(request.k, request.epsilon, **read_options(request))
        self.shares = None
        self.level = LEVEL if request.level is None else read_level(request.level)
        if request.estimate:
            self.shares = Shares.of(self.parameters, read_share(request))
            # An error of the parameters comes up here, and not after a charge.
            Noise.discrete_laplace(self.shares.selection, self.shares.measurement_epsilon)

    def prepare_charge(self, request: ReleaseRequest, ledger: Ledger | None) -> PendingCharge:
        """How the release is paid for, and what the ledger notes.

        Raises:
            BudgetExceeded, LedgerError: It could not be charged now.
        """
        # A person who is counted moves a count by at most 1 between neighbours of either kind; how
        # far they move a precomputed count is known for those neighbours alone that were named.
        stated = None if request.count is None else request.neighbours
        whole, source = self.parameters, request.describe_source()
        if self.shares is None:
            name = "topgap release"
            return prepare_charge(ledger, request.dataset, name, whole, stated, gaps=True, **source)
        name = "topgap release --estimate"
        return prepare_charge_for_estimates(
            ledger, request.dataset, name, whole, self.shares, stated, **source
        )

    @property
    def selection(self) -> TopK:
        """The parameters of the selection, with its part of ε."""
        return self.parameters if self.shares is None else self.shares.selection

    def describe_domain(self, domain: Domain | FromData) -> list[str]:
        """See whether k items can be drawn from a domain, and say what stands out in it.

        Returns:
            A sentence about a domain that is not written out, which tells public facts alone.

        Raises:
            DomainError, ParameterError: They cannot be drawn.
        """
        if isinstance(domain, FromData):
            return []
        if domain.is_listed:
            check_domain_size(domain.size, self.parameters.fewest_winners)
            return []
        check_domain(domain, self.selection)
        count = people_needed(self.selection, domain.size)
        return [
            f"The domain is {format_domain(domain.description)}; an item needs a count of "
            f"{count:,} to be named with a probability of 95%, and one that is named need not "
            f"occur."
        ]

    def prepare(self, counts: dict[Any, int]) -> Callable[[], Release | Estimates]:
        """Check the counts of a domain; what is returned draws.

        Raises:
            AnswersError: There are too few.
        """
        shares = self.shares
        if shares is None:
            data = prepare(self.parameters, counts)
            return lambda: select_prepared(self.parameters, data, gaps=True)
        data = prepare(shares.selection, counts)
        return lambda: estimate_prepared(shares, data, NO_CHARGE)

    def draw(self, occurring: Occurring) -> Release | Estimates:
        """Draw from what occurs of a domain that is not written out, which is read meanwhile."""
        shares = self.shares
        if shares is None:
            return _feed(self.parameters, occurring).rank().release()

        def select_and_measure() -> tuple[Release, tuple[Fraction, ...]]:
            pool = _feed(shares.selection, occurring, keep_answers=True)
            release = pool.rank().release()
            return release, shares.measure(pool.take_answers([*release.items]))

        return estimate_from(shares, select_and_measure, NO_CHARGE)

    def release_rows(self, rows: Rows, pending: PendingCharge) -> Release | Estimates:
        """Read all rows, charge, and draw."""
        if self.shares is None:
            return _format_items(release_rows(self.parameters, rows, pending, gaps=True))
        estimates = release_rows_with_estimates(self.shares, rows, pending)
        return replace(estimates, release=_format_items(estimates.release))

    def describe_check(self, items: int, occurring: int, pending: PendingCharge) -> Check:
        """What would be released from so many items, of which so many occur."""
        measured = self.shares is not None
        return describe_check(self.parameters, pending, items, occurring, measured=measured)


def read_options(request: ReleaseRequest) -> dict[str, Any]:
    """The parameters of one list, but for k and ε."""
    return {
        "resolution": request.resolution,
        "sensitivity": 1 if request.sensitivity is None else request.sensitivity,
        "monotonic": request.neighbours == "add-remove" and request.monotonic is not False,
        "items_per_person": request.items_per_person,
        "threshold": request.threshold,
        "noise": request.noise,
    }


def read_share(request: ReleaseRequest) -> str | Fraction:
    """The part of ε that selects, if there are estimates."""
    return _SHARE if request.selection_share is None else request.selection_share


def _format_items(release: Release) -> Release:
    """Decimals and dates become text, for not every format can hold them."""
    return release.with_items([*map(_format_item, release.items)])


def _format_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_format_item, item))
    return item if isinstance(item, int) else to_text(item)


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
