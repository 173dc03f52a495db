"""`topgap release`: from what the user asked for to files and standard output."""

import glob
import os
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

from topgap import counting
from topgap.cli import complain, files, standard_output, usage
from topgap.cli.asked import Request
from topgap.cli.making import SHARE, Estimating, Making, Releasing
from topgap.cli.progress import Bar
from topgap.cli.publications import Publication
from topgap.cli.publishing import charged, publish
from topgap.counting import FROM_DATA, Domain
from topgap.errors import DomainError, LedgerError, LedgerWarning, SourceError, TopgapError
from topgap.estimates.value import LEVEL
from topgap.parameters import TopK
from topgap.payment import Charged, Payment
from topgap.streams.rows import Rows
from topgap.text import shown_path


def release(request: Request) -> None:
    """Do what was asked; everything public is checked before the data are looked at."""
    usage.check(request)
    making = _making(request)
    files.check(
        request.targets, _read(request), overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.ledger is not None:
        files.check_beside_ledger(request.targets, request.ledger)
    if request.output is None:
        standard_output.check()
    payment = making.paid_by(_ledger(request), request.dataset, _described(request))
    gather = _of_all_rows if request.all_rows else _of_a_domain
    with _what_it_has_cost(payment), _warnings_in_a_line():
        publish(request, gather(request, making, payment), payment)


def _making(request: Request) -> Making:
    parameters = TopK(
        request.k,
        request.epsilon,
        resolution=request.resolution,
        sensitivity=1 if request.sensitivity is None else request.sensitivity,
        monotonic=request.neighbours == "add-remove",
    )
    if not request.estimate:
        return Releasing(parameters)
    share, level = request.selection_share, request.level
    return Estimating(
        parameters,
        selection_share=SHARE if share is None else share,
        level=LEVEL if level is None else level,
    )


def _described(request: Request) -> dict[str, Any]:
    """What was released from, as typed but for passwords; for whoever reads the ledger later."""
    told = {
        "sources": [*map(shown_path, request.sources)],
        "table": request.table,
        "query": request.query,
        "person": request.person,
        "item": request.item,
        "count": request.count,
        "domain": None if request.domain is None else shown_path(request.domain),
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
def _what_it_has_cost(payment: Payment) -> Iterator[None]:
    """Note it on an error, if it is known."""
    try:
        yield
    except LedgerError:  # which says it, if that is known
        raise
    except (TopgapError, KeyboardInterrupt) as error:
        if isinstance(payment, Charged):
            if payment.charge is not None and payment.is_recorded:
                error.add_note(charged(payment.charge))
                error.add_note(
                    "The release is in the ledger: topgap budget history with --format json has it."
                )
            elif payment.charge is None and isinstance(error, TopgapError):
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


def _of_a_domain(request: Request, making: Making, payment: Payment) -> Publication:
    domain = _domain(request)
    k = request.k
    if isinstance(domain, Domain) and len(domain) <= k:
        raise DomainError(
            f"With k = {k} the domain must have at least {k + 1} items; it has {len(domain)}."
        )
    with Bar(shown=not request.quiet) as bar:
        counts = _counts(request, domain, bar)
    if len(counts) <= k:  # only where the data are the domain: how many is a secret
        raise DomainError(f"The data have too few different items for k = {k}.")
    return making.of_counts(counts, payment)


def _of_all_rows(request: Request, making: Making, payment: Payment) -> Publication:
    with Bar(shown=not request.quiet) as bar:
        rows = Rows(_source(request), str(request.item), str(request.count), bar, None)
        return making.of_rows(rows, payment)


def _source(request: Request) -> Any:
    if request.sources != ["-"]:
        return request.sources
    if sys.stdin is None:
        raise SourceError("Standard input is closed.")
    return sys.stdin.buffer


def _domain(request: Request) -> Any:
    if request.domain_from_data:
        return FROM_DATA
    if request.domain is not None:
        return counting.read_domain(request.domain, request.domain_column)
    ends = re.fullmatch(r"\s*(-?\d{1,18})\s*:\s*(-?\d{1,18})\s*", request.domain_range or "")
    if ends is None:
        raise typer.BadParameter("--domain-range must be two integers, as in 1:942.")
    return Domain(range(int(ends[1]), int(ends[2]) + 1))


def _counts(request: Request, domain: Any, bar: Bar) -> dict[Any, int]:
    source = _source(request)
    common: dict[str, Any] = {
        "domain": domain,
        "allow_empty": request.allow_empty,
        "memory": request.memory,
        "progress": bar,
    }
    if request.counted_as == "fimi":
        return counting.count_transactions(source, **common)
    common |= {
        "item": request.item,
        "format": request.counted_as if request.sources == ["-"] else request.source_format,
        "table": request.table,
        "query": request.query,
        "header": request.header,
        "delimiter": request.delimiter,
    }
    if request.count is not None:
        return counting.read_counts(source, count=request.count, **common)
    return counting.count_events(source, person=str(request.person), **common)
