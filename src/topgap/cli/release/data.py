"""The data of a request: read and checked, and released from."""

import re
import sys
from typing import Any

import typer

from topgap import counting
from topgap.cli.charges import ask
from topgap.cli.progress import Bar
from topgap.cli.release.mechanism import Making
from topgap.cli.release.publication import Publication
from topgap.cli.release.request import Request
from topgap.cli.signals import raise_again
from topgap.counting import FROM_DATA, Domain
from topgap.counting.events import check_query
from topgap.errors import DomainError, SourceError
from topgap.ledger.charging import FREE, Charged, Payment
from topgap.selection.check import Check
from topgap.streams.rows import Rows


class OverDomain:
    """Data that are counted over the items of a domain."""

    def __init__(self, request: Request, making: Making, payment: Payment) -> None:
        self._request, self._making, self._payment = request, making, payment
        self._domain, k = _domain(request), request.k
        if isinstance(self._domain, Domain) and len(self._domain) <= k:
            raise DomainError(
                f"With k = {k} the domain must have at least {k + 1} items; it has "
                f"{len(self._domain)}."
            )

    def checked(self) -> Check:
        """See that all of it can be used."""
        counts = self._counts()
        self._making.prepared(counts)
        return self._making.checked(len(counts), sum(map(bool, counts.values())), self._payment)

    def released(self) -> Publication:
        """Count, charge, and draw."""
        if isinstance(self._payment, Charged):
            self._payment.before_charge = self._before_charge
        if self._request.query is None:
            return self._making.published(
                self._payment.charge_then_run(self._making.prepared(self._counts()))
            )
        # Whether a query fails as it runs is an answer to it, so it is charged before; whether it
        # can be run, and whether a file can be read, is not.
        if self._payment is not FREE:
            _check_query(self._request)
        drawn = self._payment.charge_then_run(lambda: self._making.prepared(self._counts())())
        return self._making.published(drawn)

    def _before_charge(self, payment: Charged) -> None:
        raise_again()  # a signal that was lost is heard before anything is spent
        if not self._request.yes:
            ask(payment)

    def _counts(self) -> dict[Any, int]:
        with Bar(shown=not self._request.quiet) as bar:
            counts = _counts(self._request, self._domain, bar)
        k = self._request.k
        if len(counts) <= k:  # only where the data are the domain: how many is a secret
            raise DomainError(f"The data have too few different items for k = {k}.")
        return counts


class AllRows:
    """Precomputed counts, each row of which is an item."""

    def __init__(self, request: Request, making: Making, payment: Payment) -> None:
        self._request, self._making, self._payment = request, making, payment
        self._bar = Bar(shown=not request.quiet)
        is_count = request.monotonic is None and request.neighbours == "add-remove"
        item, count = str(request.item), str(request.count)
        self._rows = Rows(_source(request), item, count, self._bar, None, is_count=is_count)

    def checked(self) -> Check:
        """See that all of it can be used."""
        with self._bar, self._rows.opened():
            rows, occurring = self._rows.dry_run(self._request.k)
        return self._making.checked(rows, occurring, self._payment)

    def released(self) -> Publication:
        """Look at the rows, charge, and draw."""
        if isinstance(self._payment, Charged):
            self._payment.before_charge = self._before_charge
        with self._bar:
            return self._making.of_rows(self._rows, self._payment)

    def _before_charge(self, payment: Charged) -> None:
        raise_again()
        if not self._request.yes:
            self._bar.pause()
            ask(payment)


def _check_query(request: Request) -> None:
    asked: dict[str, Any] = {
        "query": request.query,
        "item": request.item,
        "person": request.person,
        "count": request.count,
        "format": request.source_format,
        "rows_are_per_person": request.rows_are_per_person,
    }
    check_query(request.sources, **asked)


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
    common["rows_are_per_person"] = request.rows_are_per_person
    return counting.count_events(source, person=str(request.person), **common)
