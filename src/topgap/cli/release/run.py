"""A release from its request: check, read the data, charge, draw, and write.

Everything public is checked before the data are read, and nothing is drawn before it is charged.
"""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from typing import Any

import typer

from topgap import counting
from topgap.cli import files
from topgap.cli.charges import confirm_charge, describe_charge
from topgap.cli.errors import format_warnings, raise_lost_signal
from topgap.cli.progress import Bar
from topgap.cli.release.output import write_check, write_publication
from topgap.cli.release.publication import Publication
from topgap.cli.release.request import ReleaseRequest, validate
from topgap.counting import FROM_DATA, Domain
from topgap.counting.events import check_query
from topgap.domains.cell_text import to_text
from topgap.errors import DomainError, LedgerError, SourceError, TopgapError
from topgap.estimates import Estimates
from topgap.estimates.noise import Noise
from topgap.ledger import Ledger
from topgap.ledger.charging import NO_CHARGE, LedgerCharge, PendingCharge, prepare_charge
from topgap.numbers.parse import LEVEL, read_level
from topgap.parameters import Neighbours, TopK
from topgap.release import Release
from topgap.selection.check import Check, describe_check
from topgap.selection.measurement import Shares
from topgap.selection.mechanism import prepare, select_prepared
from topgap.selection.top_k_with_estimates import estimate_prepared, prepare_charge_for_estimates
from topgap.streams.one_pass_release import release_rows, release_rows_with_estimates
from topgap.streams.rows import Rows

_SHARE = Fraction(1, 2)
"""The part of ε that selects, unless the user gives another."""


def run_release(request: ReleaseRequest) -> None:
    """Make the release and write it; or with `--check`, print what it would be."""
    validate(request)
    ledger = _open_ledger(request)
    request = replace(request, neighbours=_resolve_neighbours(request, ledger))
    mechanism = _Mechanism(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.ledger is not None:
        files.check_beside_ledger(request.targets, request.ledger)
    if request.output is None or request.check:
        files.check_standard_output()
    pending = mechanism.prepare_charge(request, ledger)
    with _note_cost(pending), format_warnings():
        made = (_release_rows if request.all_rows else _release_counts)(request, mechanism, pending)
        if isinstance(made, Check):
            write_check(request, made)
        else:
            write_publication(request, Publication(made, mechanism.level), pending)


class _Mechanism:
    """A release alone, or with estimates, with parameters that have been checked.

    Attributes:
        parameters: Those of the whole.
        shares: How ε is shared if there are estimates; else None.
        level: The level of their intervals.

    Raises:
        ParameterError: A parameter cannot be used.
    """

    def __init__(self, request: ReleaseRequest) -> None:
        self.parameters = TopK(
            request.k,
            request.epsilon,
            resolution=request.resolution,
            sensitivity=1 if request.sensitivity is None else request.sensitivity,
            monotonic=request.neighbours == "add-remove" and request.monotonic is not False,
        )
        self.shares, self.level = None, LEVEL
        if request.estimate:
            share, level = request.selection_share, request.level
            self.shares = Shares.of(self.parameters, _SHARE if share is None else share)
            self.level = LEVEL if level is None else read_level(level)
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


def _format_items(release: Release) -> Release:
    """Decimals and dates become text, for not every format can hold them."""
    return release.with_items([*map(_format_item, release.items)])


def _format_item(item: Any) -> Any:
    if type(item) is tuple:
        return tuple(map(_format_item, item))
    return item if isinstance(item, int) else to_text(item)


def _release_counts(
    request: ReleaseRequest, mechanism: _Mechanism, pending: PendingCharge
) -> Release | Estimates | Check:
    """Count the items of a domain, charge, and draw."""
    domain, k = _read_domain(request), request.k
    if isinstance(domain, Domain) and len(domain) <= k:
        raise DomainError(
            f"With k = {k} the domain must have at least {k + 1} items; it has {len(domain)}."
        )

    def count() -> dict[Any, int]:
        with Bar(shown=not request.quiet) as bar:
            counts = _count(request, domain, bar)
        if len(counts) <= k:  # only where the data are the domain: how many is a secret
            raise DomainError(f"The data have too few different items for k = {k}.")
        return counts

    if request.check:
        counts = count()
        mechanism.prepare(counts)
        return mechanism.describe_check(len(counts), sum(map(bool, counts.values())), pending)
    _ask_before_charge(request, pending)
    if request.query is None:
        return pending.charge_then_run(mechanism.prepare(count()))
    # Whether a query fails as it runs is an answer to it, so it is charged before; whether it can
    # be run, and whether a file can be read, is not.
    if pending is not NO_CHARGE:
        check_query(request.sources, **_query_options(request))
    return pending.charge_then_run(lambda: mechanism.prepare(count())())


def _release_rows(
    request: ReleaseRequest, mechanism: _Mechanism, pending: PendingCharge
) -> Release | Estimates | Check:
    """Read precomputed counts, each row of which is an item; charge, and draw."""
    bar = Bar(shown=not request.quiet)
    is_count = request.monotonic is None and request.neighbours == "add-remove"
    item, count = str(request.item), str(request.count)
    rows = Rows(_open_source(request), item, count, bar, None, is_count=is_count)
    if request.check:
        with bar, rows.opened():
            found, occurring = rows.dry_run(request.k)
        return mechanism.describe_check(found, occurring, pending)
    _ask_before_charge(request, pending, bar)
    with bar:
        return mechanism.release_rows(rows, pending)


def _ask_before_charge(
    request: ReleaseRequest, pending: PendingCharge, bar: Bar | None = None
) -> None:
    """Look for lost signals and ask the user, right before the charge is made."""

    def ask(charged: LedgerCharge) -> None:
        raise_lost_signal()
        if not request.yes:
            if bar is not None:
                bar.pause()
            confirm_charge(charged)

    if isinstance(pending, LedgerCharge):
        pending.before_charge = ask


def _read_domain(request: ReleaseRequest) -> Any:
    if request.domain_from_data:
        return FROM_DATA
    if request.domain is not None:
        return counting.read_domain(request.domain, request.domain_column)
    ends = re.fullmatch(r"\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*", request.domain_range or "")
    if ends is None:
        raise typer.BadParameter("--domain-range must be two integers, as in 1:942.")
    return Domain(range(int(ends[1]), int(ends[2]) + 1))


def _count(request: ReleaseRequest, domain: Any, bar: Bar) -> dict[Any, int]:
    source = _open_source(request)
    options: dict[str, Any] = {"domain": domain, "memory": request.memory, "progress": bar}
    if request.resolved_source_format == "fimi":
        return counting.count_transactions(source, **options)
    is_piped = request.sources == ["-"]
    options |= {
        "item": request.item,
        "format": request.resolved_source_format if is_piped else request.source_format,
        "table": request.table,
        "query": request.query,
        "header": request.header,
        "delimiter": request.delimiter,
    }
    if request.count is not None:
        return counting.read_counts(source, count=request.count, **options)
    options["rows_are_per_person"] = request.rows_are_per_person
    return counting.count_events(source, person=str(request.person), **options)


def _query_options(request: ReleaseRequest) -> dict[str, Any]:
    return {
        "query": request.query,
        "item": request.item,
        "person": request.person,
        "count": request.count,
        "format": request.source_format,
        "rows_are_per_person": request.rows_are_per_person,
    }


def _open_source(request: ReleaseRequest) -> Any:
    if request.sources != ["-"]:
        return request.sources
    if sys.stdin is None:
        raise SourceError("Standard input is closed.")
    return sys.stdin.buffer


def _open_ledger(request: ReleaseRequest) -> Ledger | None:
    if request.ledger is None:
        return None
    check_clock = not request.ignore_clock
    return Ledger(request.ledger, who=request.who, note=request.note, check_clock=check_clock)


def _resolve_neighbours(request: ReleaseRequest, ledger: Ledger | None) -> Neighbours:
    """Which data sets are neighbours, by option or by the ledger's data set.

    Raises:
        typer.BadParameter: The numbers are said to be monotonic, which they cannot be then.
    """
    if request.neighbours is not None or ledger is None or request.dataset is None:
        return request.neighbours or "add-remove"
    neighbours = ledger.budget(request.dataset).neighbours
    if neighbours == "replace" and request.monotonic:
        raise typer.BadParameter(
            "the ledger's data set is for replace-one neighbours, between which numbers move both "
            "ways; leave --monotonic out."
        )
    return neighbours


@contextmanager
def _note_cost(pending: PendingCharge) -> Iterator[None]:
    """Note on an error what was charged, if that is known."""
    try:
        yield
    except LedgerError:  # which says it, if that is known
        raise
    except (TopgapError, KeyboardInterrupt) as error:
        if isinstance(pending, LedgerCharge):
            if pending.charge is not None and pending.is_recorded:
                error.add_note(describe_charge(pending.charge))
                error.add_note(
                    "The release is in the ledger: topgap budget history with --format json has it."
                )
            elif pending.charge is None and isinstance(error, TopgapError):
                error.add_note("Nothing was charged.")
        raise
