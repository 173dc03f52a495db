"""A release from its request: check, read the data, charge, draw, and write.

Everything public is checked before the data are read, and nothing is drawn before it is charged.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import typer

from topgap.cli import files
from topgap.cli.charges import confirm_charge, describe_charge
from topgap.cli.errors import format_warnings, raise_lost_signal
from topgap.cli.progress import Bar
from topgap.cli.release.columns import write_columns
from topgap.cli.release.domain_choice import read_request_domain, read_request_groups
from topgap.cli.release.grouped_mechanism import GroupedMechanism
from topgap.cli.release.grouped_publication import GroupedPublication
from topgap.cli.release.mechanism import Mechanism
from topgap.cli.release.noise import describe_noise
from topgap.cli.release.output import print_remarks, write_check, write_publication
from topgap.cli.release.publication import Publication
from topgap.cli.release.request import ReleaseRequest, validate
from topgap.cli.release.source import (
    PreparedCounts,
    Result,
    check_query,
    open_source,
    prepare_counts,
    prepare_grouped_counts,
)
from topgap.domains import Domain
from topgap.errors import LedgerError, TopgapError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.ledger import Ledger
from topgap.ledger.charging import NO_CHARGE, LedgerCharge, PendingCharge
from topgap.parameters import Neighbours
from topgap.release import GroupedRelease, Release
from topgap.selection.check import Check
from topgap.streams.rows import Rows


def run_release(request: ReleaseRequest) -> None:
    """Make the release and write it; or with `--check`, print what it would be."""
    if request.list_columns:
        write_columns(request)
        return
    validate(request)
    ledger = _open_ledger(request)
    request = replace(request, neighbours=_resolve_neighbours(request, ledger))
    mechanism = GroupedMechanism(request) if request.has_groups else Mechanism(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.ledger is not None:
        files.check_beside_ledger(request.targets, request.ledger)
    if request.output is None or request.check:
        files.check_standard_output()
    pending = mechanism.prepare_charge(request, ledger)
    with _note_cost(pending), format_warnings():
        remarks = describe_noise(mechanism.selection, in_each_group=request.has_groups)
        size = None
        made: Result | Check
        if isinstance(mechanism, GroupedMechanism):
            made = _release_groups(request, mechanism, pending, remarks)
        elif request.all_rows:
            made = _release_rows(request, mechanism, pending, remarks)
        else:
            domain = read_request_domain(request)
            remarks += mechanism.describe_domain(domain)
            size = domain.size if isinstance(domain, Domain) else None
            counting = _Counting(
                partial(prepare_counts, request, mechanism, domain),
                mechanism.describe_check,
                partial(check_query, request, domain),
            )
            made = _release_counts(request, pending, remarks, counting)
        if isinstance(made, Check):
            write_check(request, made, remarks)
        elif isinstance(made, GroupedRelease | GroupedEstimates):
            write_publication(request, GroupedPublication(made, mechanism.level), pending)
        else:
            write_publication(request, Publication(made, mechanism.level, size), pending)


class _Counting(NamedTuple):
    """How what is released is counted.

    Attributes:
        prepare: Counts; what it gives can be drawn from until the end of the block.
        describe_check: Says what would be released from so many items, of which so many occur.
        check_query: Checks the query, if there is one, without reading a row.
    """

    prepare: Callable[[Bar], AbstractContextManager[PreparedCounts]]
    describe_check: Callable[[int, int, PendingCharge], Check]
    check_query: Callable[[], None]


def _release_groups(
    request: ReleaseRequest,
    mechanism: GroupedMechanism,
    pending: PendingCharge,
    remarks: list[str],
) -> Result | Check:
    """Count the items of a domain in each group, charge once, and draw; add to the remarks."""
    groups, domain = read_request_groups(request), read_request_domain(request)
    pending.note_groups(groups.size)
    remarks[:] = [mechanism.describe_groups(groups), *remarks, *mechanism.describe_domain(domain)]
    counting = _Counting(
        partial(prepare_grouped_counts, request, mechanism, groups, domain),
        partial(mechanism.describe_check, groups),
        partial(check_query, request, domain, groups),
    )
    return _release_counts(request, pending, remarks, counting)


def _release_counts(
    request: ReleaseRequest, pending: PendingCharge, remarks: Sequence[str], counting: _Counting
) -> Result | Check:
    """Count the items of a domain, charge, and draw."""
    with Bar(shown=not request.quiet) as bar:
        if request.check:
            with counting.prepare(bar) as counted:
                return counting.describe_check(counted.items, counted.occurring(), pending)
        _ask_before_charge(request, pending, bar)
        if request.query is None:
            # What was counted is read again as it is drawn: after the charge, only a disk that
            # fails then, or too little memory, can leave it without a release.
            with counting.prepare(bar) as counted:
                print_remarks(request, remarks)
                return pending.charge_then_run(counted.draw)
        # Whether a query fails as it runs is an answer to it, so it is charged before; whether it
        # can be run, and whether a file can be read, is not.
        if pending is not NO_CHARGE:
            counting.check_query()
        print_remarks(request, remarks)

        def count_and_draw() -> Result:
            with counting.prepare(bar) as counted:
                return counted.draw()

        return pending.charge_then_run(count_and_draw)


def _release_rows(
    request: ReleaseRequest, mechanism: Mechanism, pending: PendingCharge, remarks: Sequence[str]
) -> Release | Estimates | Check:
    """Read precomputed counts, each row of which is an item; charge, and draw."""
    bar = Bar(shown=not request.quiet)
    is_count = request.monotonic is None and request.neighbours == "add-remove"
    (item,), count = request.item or [""], str(request.count)
    rows = Rows(open_source(request), item, count, bar, None, is_count=is_count)
    if request.check:
        with bar, rows.opened():
            found, occurring = rows.dry_run(mechanism.parameters.fewest_winners)
        return mechanism.describe_check(found, occurring, pending)
    _ask_before_charge(request, pending, bar)
    print_remarks(request, remarks)
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
