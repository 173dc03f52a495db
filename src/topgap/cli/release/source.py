"""The source of a request: how it is opened, counted and looked at."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from topgap import counting
from topgap.cli.progress import Bar
from topgap.cli.release.grouped_mechanism import GroupedMechanism
from topgap.cli.release.mechanism import Mechanism
from topgap.cli.release.request import ReleaseRequest
from topgap.counting import Domain, events
from topgap.domains import Counts, FromData, GroupedCounts
from topgap.errors import DomainError, SourceError
from topgap.estimates import Estimates, GroupedEstimates
from topgap.release import GroupedRelease, Release

Result = Release | Estimates | GroupedRelease | GroupedEstimates
"""What is published."""


class PreparedCounts(NamedTuple):
    """Counts that can be drawn from.

    Attributes:
        draw: Draws the release.
        items: How many items take part, in all groups together if there are any.
        occurring: Says how many of them have a count other than 0. It is secret.
    """

    draw: Callable[[], Result]
    items: int
    occurring: Callable[[], int]


@contextmanager
def prepare_counts(
    request: ReleaseRequest, mechanism: Mechanism, domain: Domain | FromData, bar: Bar
) -> Iterator[PreparedCounts]:
    """Count the items of a domain; they can be drawn from until the end of the block.

    Raises:
        SourceError: The source cannot be read.
        DomainError: The data are the domain, and have too few items.
    """
    if isinstance(domain, Domain) and not domain.is_listed:
        options = _list_options(request, bar)
        with counting.counted_items(open_source(request), domain=domain, **options) as occurring:
            bar.pause()
            yield PreparedCounts(
                lambda: mechanism.draw(occurring), domain.size, lambda: occurring.count
            )
        return
    counts = _count(request, domain, bar)
    bar.pause()
    _check_enough(len(counts), mechanism.parameters.fewest_winners)
    yield PreparedCounts(
        mechanism.prepare(counts), len(counts), lambda: sum(map(bool, counts.values()))
    )


@contextmanager
def prepare_grouped_counts(
    request: ReleaseRequest,
    mechanism: GroupedMechanism,
    groups: Domain,
    domain: Domain | FromData,
    bar: Bar,
) -> Iterator[PreparedCounts]:
    """Count the items of a domain in each group, as `prepare_counts` does of one list.

    Raises:
        SourceError: The source cannot be read.
        DomainError: The data are the domain, and have too few items.
    """
    counts = _count_groups(request, groups, domain, bar)
    bar.pause()
    _check_enough(counts.domain.size, mechanism.selection.fewest_winners)
    yield PreparedCounts(
        mechanism.prepare(counts),
        counts.domain.size * len(counts),
        lambda: len(counts.counts),
    )


def _check_enough(items: int, fewest: int) -> None:
    if items <= fewest:  # only where the data are the domain: how many is a secret
        few = f"too few different items for k = {fewest}" if fewest else "no items"
        raise DomainError(f"The data have {few}.")


def check_query(
    request: ReleaseRequest, domain: Domain | FromData, groups: Domain | None = None
) -> None:
    """Check the query of a request without reading a row.

    Raises:
        SourceError, DomainError, ParameterError: It cannot be run, or the domain does not fit it.
    """
    form = request.source_format
    events.check_query(
        request.sources,
        query=str(request.query),
        item=request.item or [],
        domain=domain,
        by=request.by,
        groups=groups,
        person=request.person,
        count=request.count,
        format=None if form == "arrow" else form,  # which a query is never asked of
        rows_are_per_person=request.rows_are_per_person,
        count_in_database=request.count_in_database,
    )


def open_source(request: ReleaseRequest) -> Any:
    """The sources as they are read: paths, or standard input.

    Raises:
        SourceError: Standard input is closed.
    """
    if request.sources != ["-"]:
        return request.sources
    if sys.stdin is None:
        raise SourceError("Standard input is closed.")
    return sys.stdin.buffer


def _count(request: ReleaseRequest, domain: Domain | FromData, bar: Bar) -> dict[Any, int]:
    source, options = open_source(request), _list_options(request, bar)
    if request.resolved_source_format == "fimi":
        return counting.count_transactions(source, domain=domain, groups=None, **options)
    if request.count is not None:
        counts = counting.read_counts(source, domain=domain, by=None, **options)
        return Counts(counts, items_per_person=request.items_per_person)  # by the user's word
    return counting.count_events(source, domain=domain, by=None, **options)


def _count_groups(
    request: ReleaseRequest, groups: Domain, domain: Domain | FromData, bar: Bar
) -> GroupedCounts:
    source, options = open_source(request), _list_options(request, bar)
    options["domain"] = domain
    if request.resolved_source_format == "fimi":
        return counting.count_transactions(source, groups=groups, **options)
    by = request.by or []
    if request.count is not None:
        counts = counting.read_counts(source, by=by, groups=groups, **options)
        counts.items_per_person = request.items_per_person  # by the user's word
        return counts
    most = 1 if request.groups_per_person is None else request.groups_per_person
    return counting.count_events(source, by=by, groups=groups, groups_per_person=most, **options)


def _list_options(request: ReleaseRequest, bar: Bar) -> dict[str, Any]:
    """The options of the function that counts."""
    options: dict[str, Any] = {"memory": request.memory, "progress": bar}
    if request.count is None and request.items_per_person is not None:
        options["items_per_person"] = request.items_per_person
    if request.resolved_source_format == "fimi":
        return options
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
        return options | {"count": request.count}
    return options | {
        "person": request.person,
        "rows_are_per_person": request.rows_are_per_person,
        "count_in_database": request.count_in_database,
    }
