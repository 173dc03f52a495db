"""`topgap release`: from what the user asked for to files and standard output."""

import glob
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import typer

from topgap.cli import complain, files, standard_output, usage
from topgap.cli.asked import Request
from topgap.cli.data import AllRows, OverDomain
from topgap.cli.making import SHARE, Estimating, Making, Releasing
from topgap.cli.publishing import charged, publish, words
from topgap.display.text import format_path
from topgap.errors import LedgerError, LedgerWarning, TopgapError
from topgap.ledger.charging import LedgerCharge, PendingCharge
from topgap.numbers.parse import LEVEL
from topgap.parameters import Neighbours, TopK
from topgap.selection.check import Check


def release(request: Request) -> None:
    """Do what was asked; everything public is checked before the data are looked at."""
    usage.check(request)
    ledger = _ledger(request)
    request = replace(request, neighbours=_neighbours(request, ledger))
    making = _making(request)
    files.check(
        request.targets, _read(request), overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.ledger is not None:
        files.check_beside_ledger(request.targets, request.ledger)
    if request.output is None or request.check:
        standard_output.check()
    # A person who is counted moves a count by at most 1 between neighbours of either kind; how far
    # they move a precomputed count is known for those neighbours alone that were named.
    stated = None if request.count is None else request.neighbours
    pending = making.prepare_charge(ledger, request.dataset, stated, _described(request))
    with _what_it_has_cost(pending), _warnings_in_a_line():
        data = (AllRows if request.all_rows else OverDomain)(request, making, pending)
        if request.check:
            _show(data.checked(), request)
        else:
            publish(request, data.released(), pending)


def _making(request: Request) -> Making:
    parameters = TopK(
        request.k,
        request.epsilon,
        resolution=request.resolution,
        sensitivity=1 if request.sensitivity is None else request.sensitivity,
        monotonic=request.neighbours == "add-remove" and request.monotonic is not False,
    )
    if not request.estimate:
        return Releasing(parameters)
    share, level = request.selection_share, request.level
    return Estimating(
        parameters,
        selection_share=SHARE if share is None else share,
        level=LEVEL if level is None else level,
    )


def _neighbours(request: Request, ledger: Any) -> Neighbours:
    """Which data sets are neighbours: as typed, or as the ledger's data set has it.

    Raises:
        typer.BadParameter: The numbers are said to be monotonic, which they cannot be then.
    """
    if request.neighbours is not None or ledger is None:
        return request.neighbours or "add-remove"
    neighbours: Neighbours = ledger.budget(request.dataset).neighbours
    if neighbours == "replace" and request.monotonic:
        raise typer.BadParameter(
            "the ledger's data set is for replace-one neighbours, between which numbers move both "
            "ways; leave --monotonic out."
        )
    return neighbours


def _described(request: Request) -> dict[str, Any]:
    """What was released from, as typed but for passwords; for whoever reads the ledger later."""
    told = {
        "sources": [*map(format_path, request.sources)],
        "table": request.table,
        "query": request.query,
        "rows_are_per_person": request.rows_are_per_person or None,
        "person": request.person,
        "item": request.item,
        "count": request.count,
        "neighbours": request.neighbours,
        "domain": None if request.domain is None else format_path(request.domain),
        "domain_column": request.domain_column,
        "domain_range": request.domain_range,
        "domain_from_data": request.domain_from_data or None,
        "all_rows": request.all_rows or None,
    }
    return {name: value for name, value in told.items() if value is not None}


def _ledger(request: Request) -> Any:
    if request.ledger is None:
        return None
    from topgap.ledger import Ledger

    return Ledger(
        request.ledger,
        who=request.who,
        note=request.note,
        check_clock=not request.ignore_clock,
    )


def _read(request: Request) -> list[str]:
    """Whatever is read, and must stay."""
    others = [str(each) for each in (request.domain, request.ledger) if each is not None]
    inside = [os.path.join(glob.escape(each), "*") for each in request.sources]
    return [*request.sources, *inside, *others]


@contextmanager
def _what_it_has_cost(pending: PendingCharge) -> Iterator[None]:
    """Note it on an error, if it is known."""
    try:
        yield
    except LedgerError:  # which says it, if that is known
        raise
    except (TopgapError, KeyboardInterrupt) as error:
        if isinstance(pending, LedgerCharge):
            if pending.charge is not None and pending.is_recorded:
                error.add_note(charged(pending.charge))
                error.add_note(
                    "The release is in the ledger: topgap budget history with --format json has it."
                )
            elif pending.charge is None and isinstance(error, TopgapError):
                error.add_note("Nothing was charged.")
        raise


@contextmanager
def _warnings_in_a_line() -> Iterator[None]:
    """Say in a sentence what a warning of the ledger says."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", LedgerWarning)
        usual = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if category is LedgerWarning:
                complain(str(message))
            else:
                usual(message, category, *where, **more)

        warnings.showwarning = show
        yield


def _show(check: Check, request: Request) -> None:
    """Say what a release would do."""
    marked = replace(check, domain_from_data=request.domain_from_data)
    said = [*marked.lines(), *words(request, check.parameters)]
    if request.targets:
        said.append(f"Would be written: {', '.join(map(format_path, request.targets))}.")
    standard_output.write("".join(f"{line}\n" for line in said).encode(errors="backslashreplace"))
