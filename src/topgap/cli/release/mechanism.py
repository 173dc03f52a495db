"""The mechanism of a request: its parameters, and releases of rows that are not counted."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

from topgap.cli.release.request import ReleaseRequest
from topgap.domains.cell_text import to_text
from topgap.estimates import Estimates
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.grouped_parameters import TopKByGroup
from topgap.ledger import Ledger
from topgap.ledger.charging import PendingCharge
from topgap.parameters import TopK
from topgap.release import Release
from topgap.streams.one_pass_release import release_rows, release_rows_with_estimates
from topgap.streams.rows import Rows

_SHARE = Fraction(1, 2)
"""The part of ε that selects, unless the user gives another."""


def build_mechanism(request: ReleaseRequest) -> Mechanism | GroupedMechanism:
    """Build the mechanism of a request.

    Raises:
        ParameterError: A parameter cannot be used.
    """
    share = None
    if request.estimate:
        share = _SHARE if request.selection_share is None else request.selection_share
    options: dict[str, Any] = {
        "resolution": request.resolution,
        "sensitivity": 1 if request.sensitivity is None else request.sensitivity,
        "monotonic": request.neighbours == "add-remove" and request.monotonic is not False,
        "items_per_person": request.items_per_person,
        "threshold": request.threshold,
        "noise": request.noise,
    }
    if not request.has_groups:
        return Mechanism(TopK(request.k, request.epsilon, **options), share)
    most = 1 if request.groups_per_person is None else request.groups_per_person
    parameters = TopKByGroup(request.k, request.epsilon, groups_per_person=most, **options)
    return GroupedMechanism(parameters, share)


def prepare_charge(
    request: ReleaseRequest, mechanism: Mechanism | GroupedMechanism, ledger: Ledger | None
) -> PendingCharge:
    """Prepare the charge for a request, with what the ledger notes of it.

    Raises:
        BudgetExceeded, LedgerError: It could not be charged now.
    """
    # How far a person moves a precomputed count is known only for those neighbours that were
    # named.
    stated = None if request.count is None else request.neighbours
    name = "topgap release --estimate" if request.estimate else "topgap release"
    noted = request.describe_source()
    return mechanism.prepare_charge(ledger, request.dataset, name, stated, **noted)


def draw_from_rows(mechanism: Mechanism, rows: Rows, pending: PendingCharge) -> Release | Estimates:
    """Read all rows of precomputed counts, charge, and draw."""
    if mechanism.shares is None:
        return _format_items(release_rows(mechanism.parameters, rows, pending, gaps=True))
    estimates = release_rows_with_estimates(mechanism.shares, rows, pending)
    return replace(estimates, release=_format_items(estimates.release))


def _format_items(release: Release) -> Release:
    """Decimals and dates become text, for not every format can hold them."""
    return release.with_items([*map(_format_item, release.items)])


def _format_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_format_item, item))
    return item if isinstance(item, int) else to_text(item)
