"""`topgap release`: from what the user asked for to files and standard output."""

import glob
import os
import re
import sys
from typing import Any

import typer

from topgap import counting, streams
from topgap.cli import files, usage
from topgap.cli.asked import Request
from topgap.cli.progress import Bar
from topgap.cli.publishing import publish
from topgap.counting import FROM_DATA, Domain
from topgap.counting.cells import text_of
from topgap.errors import DomainError, SourceError
from topgap.parameters import TopK
from topgap.release import Release


def release(request: Request) -> None:
    """Do what was asked; everything public is checked before the data are looked at."""
    usage.check(request)
    parameters = TopK(
        request.k,
        request.epsilon,
        resolution=request.resolution,
        sensitivity=1 if request.sensitivity is None else request.sensitivity,
        monotonic=request.neighbours == "add-remove",
    )
    files.check(
        request.targets, _read(request), overwrite=request.overwrite, or_else=", or --overwrite"
    )
    make = _of_all_rows if request.all_rows else _of_a_domain
    publish(request, make(request, parameters))


def _read(request: Request) -> list[str]:
    """Whatever is read, and must stay."""
    domain = [str(request.domain)] if request.domain else []
    inside = [os.path.join(glob.escape(each), "*") for each in request.sources]
    return [*request.sources, *inside, *domain]


def _of_a_domain(request: Request, parameters: TopK) -> Release:
    domain = _domain(request)
    if isinstance(domain, Domain) and len(domain) <= parameters.k:
        raise DomainError(
            f"With k = {parameters.k} the domain must have at least {parameters.k + 1} items; it "
            f"has {len(domain)}."
        )
    with Bar(shown=not request.quiet) as bar:
        counts = _counts(request, domain, bar)
    if len(counts) <= parameters.k:  # only where the data are the domain: how many is a secret
        raise DomainError(f"The data have too few different items for k = {parameters.k}.")
    return parameters.release(counts)


def _of_all_rows(request: Request, parameters: TopK) -> Release:
    with Bar(shown=not request.quiet) as bar:
        made = streams.top_k(
            _source(request),
            parameters.k,
            parameters.epsilon,
            item=str(request.item),
            count=str(request.count),
            resolution=parameters.resolution,
            sensitivity=parameters.sensitivity,
            monotonic=parameters.monotonic,
            progress=bar,
        )
    # Not all that can be stored can be written in every form: decimals and dates become text.
    items = [item if isinstance(item, int) else text_of(item) for item in made.items]
    units = None if made.gap_units is None else made.gap_units.tolist()
    return Release(made.parameters, None, units, items)


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
