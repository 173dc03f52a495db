"""A plan from its request: check, read the public counts, simulate, and write."""

import sys
from typing import Any

from topgap import counting, planning
from topgap.cli import files
from topgap.cli.plan.output import write_plan
from topgap.cli.plan.request import LARGEST, PlanRequest, validate
from topgap.cli.progress import Bar
from topgap.counting import FROM_DATA
from topgap.display.figure import require_matplotlib
from topgap.errors import SourceError


def run_plan(request: PlanRequest) -> None:
    """Make the plan and write it; that the files can be written is checked before."""
    validate(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.plot is not None:
        require_matplotlib()
    with Bar(shown=not request.quiet) as bar:
        plan = planning.plan(
            _read_counts(request, bar),
            request.k,
            request.epsilon or planning.EPSILONS,
            releases=request.releases,
            selection_share=request.selection_share,
            resolution=request.resolution,
            sensitivity=request.sensitivity,
            monotonic=request.neighbours == "add-remove",
            progress=bar,
        )
    write_plan(request, plan)


def _read_counts(request: PlanRequest, bar: Bar) -> Any:
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
        item=str(request.item),
        count=str(request.count),
        domain=FROM_DATA,  # all of it is public
        format=request.source_format or ("csv" if request.sources == ["-"] else None),
        table=request.table,
        header=request.header,
        delimiter=request.delimiter,
        progress=bar,
    )
