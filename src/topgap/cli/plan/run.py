"""A plan from its request: check, read the public counts, simulate, and write."""

import sys
from typing import Any

from topgap import counting, planning
from topgap.cli import files
from topgap.cli.plan.output import write_domain_plan, write_plans
from topgap.cli.plan.request import LARGEST, PlanRequest, parse_size, validate
from topgap.cli.progress import Bar
from topgap.cli.release.domain_choice import read_request_domain
from topgap.counting import FROM_DATA
from topgap.display.figure import require_matplotlib
from topgap.domains import Counts, Domain
from topgap.errors import SourceError
from topgap.planning import DomainPlan, Plan, ThresholdPlan
from topgap.planning.progress import Progress


def run_plan(request: PlanRequest) -> None:
    """Make the plan and write it; that the files can be written is checked before."""
    validate(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.plot is not None:
        require_matplotlib()
    domain = _read_domain(request)
    if not request.has_counts and domain is not None:
        write_domain_plan(request, _plan_domain(request, domain))
    else:
        with Bar(shown=not request.quiet) as bar:
            plans = _plan(request, domain, bar)
        write_plans(request, plans)


def _read_domain(request: PlanRequest) -> Domain | int | None:
    """The domain, or its size, if that is all that is known or needed."""
    if request.domain_size is not None:
        return parse_size(request.domain_size)
    if not request.has_domain_options:
        return None
    domain = read_request_domain(request)
    if not isinstance(domain, Domain):
        return None
    return domain if request.sources else domain.size


def _plan_domain(request: PlanRequest, domain: Domain | int) -> DomainPlan:
    return planning.plan_domain(
        domain,
        request.k,
        request.epsilon or planning.EPSILONS,
        resolution=request.resolution,
        sensitivity=request.sensitivity,
        monotonic=request.neighbours == "add-remove",
        items_per_person=request.bounds,
    )


def _plan(
    request: PlanRequest, domain: Domain | int | None, bar: Bar
) -> list[Plan | ThresholdPlan]:
    ks, bounds = sorted({*request.k}), request.bounds
    if request.has_events:
        counts = _count_events(request, domain, None, bar)
        bounded: Any = {each: _count_events(request, domain, each, bar) for each in bounds or ()}
    else:
        counts, bounded = _read_counts(request, domain, bar), bounds

    def report(done: int) -> Progress:
        return lambda doing, share: bar(doing, (done + (share or 0)) / len(ks))

    def plan_for(k: int, progress: Progress) -> Plan | ThresholdPlan:
        shared: Any = {
            "resolution": request.resolution,
            "sensitivity": request.sensitivity,
            "monotonic": request.neighbours == "add-remove",
            "domain": domain,
            "items_per_person": bounded,
            "progress": progress,
        }
        if request.releases is not None:
            shared["releases"] = request.releases
        if request.selection_share is not None:
            shared["selection_share"] = request.selection_share
        epsilons = request.epsilon or planning.EPSILONS
        if request.threshold:
            return planning.plan_threshold(counts, k, request.threshold, epsilons, **shared)
        return planning.plan(counts, k, epsilons, **shared)

    return [plan_for(k, report(done)) for done, k in enumerate(ks)]


def _read_counts(request: PlanRequest, domain: Domain | int | None, bar: Bar) -> Any:
    if request.zipf is not None:
        largest = LARGEST if request.largest is None else request.largest
        return planning.zipf(request.zipf, largest)
    source: Any = request.sources
    if source == ["-"]:
        if sys.stdin is None:
            raise SourceError("Standard input is closed.")
        source = sys.stdin.buffer
    return counting.read_counts(
        source,
        item=request.item or [],
        count=str(request.count),
        domain=domain if isinstance(domain, Domain) else FROM_DATA,  # all of it is public
        format=request.source_format or ("csv" if request.sources == ["-"] else None),
        table=request.table,
        header=request.header,
        delimiter=request.delimiter,
        encoding=request.encoding,
        fold_case=request.fold_case,
        progress=bar,
    )


def _count_events(
    request: PlanRequest, domain: Domain | int | None, bound: int | None, bar: Bar
) -> Counts:
    """Count public events or baskets, at most so many items of each person, or all of them."""
    members: Any = domain if isinstance(domain, Domain) else FROM_DATA  # all of it is public
    if request.public_baskets:
        return counting.count_transactions(
            request.sources, domain=members, items_per_person=bound, encoding=request.encoding,
            fold_case=request.fold_case, progress=bar,
        )  # fmt: skip
    return counting.count_events(
        request.sources,
        person=str(request.public_person),
        item=request.item or [],
        domain=members,
        items_per_person=bound,
        format=request.source_format,
        table=request.table,
        header=request.header,
        delimiter=request.delimiter,
        encoding=request.encoding,
        fold_case=request.fold_case,
        progress=bar,
    )
