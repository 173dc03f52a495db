"""Where a plan goes: files, standard output, and remarks on standard error."""

import sys
from pathlib import Path

from topgap.cli import files
from topgap.cli.csv_text import format_csv
from topgap.cli.plan.request import PlanRequest
from topgap.planning import Plan
from topgap.planning.plot import render
from topgap.planning.result import NOT_PRIVATE


def write_plan(request: PlanRequest, plan: Plan) -> None:
    """Write the files that were asked for, and show the rest.

    Raises:
        OutputError: It cannot be written.
    """
    content = _to_format(plan, request.resolved_format)
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = content
    if request.plot is not None:
        contents[request.plot] = render(plan.rows, plan.k, plan.title, request.plot_format)
    files.write(contents, overwrite=request.overwrite)
    remarks = [*map(files.describe_written, contents)]
    if request.resolved_format == "csv":  # which has no place for it
        remarks.insert(0, NOT_PRIVATE)
    if not request.quiet and sys.stderr is not None:
        for remark in remarks:
            print(remark, file=sys.stderr)
    if request.output is None:
        files.write_standard_output(content)


def _to_format(plan: Plan, output_format: str | None) -> bytes:
    if output_format == "json":
        return f"{plan.to_json(indent=2)}\n".encode()
    if output_format != "csv":
        return f"{plan}\n".encode()
    columns = plan.columns()
    return format_csv([columns, *zip(*columns.values(), strict=True)]).encode()
