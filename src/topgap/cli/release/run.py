"""A release from its request: check, read the data, charge, draw, and write.

Everything public is checked before the data are read, and nothing is drawn before it is charged.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial

import typer

from topgap.cli import files
from topgap.cli.charges import confirm_charge, describe_charge
from topgap.cli.errors import format_warnings, note_cost, raise_lost_signal
from topgap.cli.progress import Bar
from topgap.cli.release.columns import write_columns
from topgap.cli.release.grouped_publication import GroupedPublication
from topgap.cli.release.mechanism import build_mechanism, draw_from_rows, prepare_charge
from topgap.cli.release.output import print_remarks, write_check, write_publication
from topgap.cli.release.publication import Publication
from topgap.cli.release.remarks import describe_mechanism
from topgap.cli.release.report_details import build_details
from topgap.cli.release.request import ReleaseRequest, check_order, validate
from topgap.cli.release.source import open_source, read_table
from topgap.domains import Domain
from topgap.errors import LedgerError, TopgapError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.events.count_and_release import count_and_check, count_and_release
from topgap.events.event_table import EventTable, Result
from topgap.events.grouped_mechanism import GroupedMechanism
from topgap.events.mechanism import Mechanism
from topgap.ledger import Ledger
from topgap.ledger.charging import (
    LedgerCharge,
    PendingCharge,
    describe_kept_charge,
    resolve_neighbours,
)
from topgap.numbers.parse import LEVEL, read_level
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
    details = build_details(request)
    ledger = _open_ledger(request)
    request = replace(request, neighbours=_resolve_neighbours(request, ledger))
    check_order(request)  # the ledger's data set may have changed the answer
    level = LEVEL if request.level is None else read_level(request.level)
    mechanism = build_mechanism(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.ledger is not None:
        files.check_beside_ledger(request.targets, request.ledger)
    if request.output is None or request.check:
        files.check_standard_output()
    with format_warnings(is_quiet=request.quiet), ExitStack() as charged:
        pending = prepare_charge(request, mechanism, ledger)
        charged.enter_context(_note_cost(pending))
        size, bar = None, Bar(shown=not request.quiet)
        made: Result | Check
        if request.all_rows and isinstance(mechanism, Mechanism):
            remarks = describe_mechanism(mechanism)
            with bar:
                made = _release_rows(request, mechanism, pending, bar, remarks)
        else:
            table = read_table(request, bar)
            mechanism.check_domain(table.domain)
            remarks = describe_mechanism(mechanism, table)
            if isinstance(table.domain, Domain):
                size = table.domain.size
            with bar:
                made = _release_table(request, mechanism, table, pending, bar, remarks)
        if isinstance(made, Check):
            write_check(request, made, remarks)
        elif isinstance(made, GroupedRelease | GroupedEstimates):
            write_publication(request, GroupedPublication(made, level), pending, details)
        else:
            write_publication(request, Publication(made, level, size), pending, details)


def _release_table(
    request: ReleaseRequest,
    mechanism: Mechanism | GroupedMechanism,
    table: EventTable,
    pending: PendingCharge,
    bar: Bar,
    remarks: Sequence[str],
) -> Result | Check:
    """Count a table, charge, and draw."""
    if request.check:
        return count_and_check(table, mechanism, pending)
    _ask_before_charge(request, pending, bar)
    return count_and_release(
        table, mechanism, pending, after_counting=bar.pause,
        before_release=partial(print_remarks, request, remarks),
    )  # fmt: skip


def _release_rows(
    request: ReleaseRequest,
    mechanism: Mechanism,
    pending: PendingCharge,
    bar: Bar,
    remarks: Sequence[str],
) -> Release | Estimates | Check:
    """Read precomputed counts, each row of which is an item; charge, and draw."""
    is_count = request.monotonic is None and request.neighbours == "add-remove"
    (item,), count = request.item or [""], str(request.count)
    rows = Rows(open_source(request), item, count, bar, None, is_count=is_count)
    if request.check:
        with rows.opened():
            found, occurring = rows.dry_run(mechanism.selection.fewest_winners)
        return mechanism.describe_check(found, occurring, pending)
    _ask_before_charge(request, pending, bar)
    print_remarks(request, remarks)
    return draw_from_rows(mechanism, rows, pending)


def _ask_before_charge(request: ReleaseRequest, pending: PendingCharge, bar: Bar) -> None:
    """Look for lost signals and ask the user, right before the charge is made."""

    def ask(charged: LedgerCharge) -> None:
        raise_lost_signal()
        if not request.yes:
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
    """Return which data sets are neighbours, by option or by the ledger's data set.

    Raises:
        typer.BadParameter: The numbers are said to be monotonic, which they cannot be then.
    """
    neighbours = resolve_neighbours(request.neighbours, ledger, request.dataset)
    if neighbours == "replace" and request.monotonic:
        raise typer.BadParameter(
            "the ledger's data set is for replace-one neighbours, between which numbers move both "
            "ways; leave --monotonic out."
        )
    return neighbours


@contextmanager
def _note_cost(pending: PendingCharge) -> Iterator[None]:
    """After any error or signal, let the command say what was charged."""
    try:
        yield
    except (typer.BadParameter, typer.Exit):  # before any charge
        raise
    except BaseException as error:
        if isinstance(pending, LedgerCharge):
            note_cost(*_describe_cost(pending, error))
        raise


def _describe_cost(pending: LedgerCharge, error: BaseException) -> list[str]:
    """What was charged before this error, as far as it is known."""
    charge = pending.charge
    if charge is None and isinstance(error, LedgerError):
        return []  # its own sentence says it, if that is known
    if charge is None and pending.may_be_charged and not isinstance(error, TopgapError):
        return ["It may have been charged: topgap budget history shows it."]
    if charge is None:
        return ["Nothing was charged."]
    if pending.is_recorded:
        return [
            describe_charge(charge),
            "The release is in the ledger: topgap budget history with --format json has it.",
        ]
    if pending.is_drawn:
        return [
            describe_kept_charge(charge),
            "Whether its result was recorded is in topgap budget history.",
        ]
    return [describe_kept_charge(charge)]
