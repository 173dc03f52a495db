"""Where a plan goes: files, standard output, and remarks on standard error."""

import json
import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path

from topgap.cli import files
from topgap.cli.csv_text import format_csv
from topgap.cli.plan.request import PlanRequest
from topgap.planning import DomainPlan, Plan, ThresholdPlan
from topgap.planning.forms import NOT_PRIVATE


def write_plans(request: PlanRequest, plans: Sequence[Plan | ThresholdPlan]) -> None:
    """Write the files that were asked for, and show the rest; a plan for each k.

    Raises:
        OutputError: It cannot be written.
    """
    content, contents = _to_format(plans, request.resolved_format), dict[Path, bytes]()
    if request.output is not None:
        contents[request.output] = content
    if request.plot is not None:
        (plan,) = plans
        contents[request.plot] = plan.render(request.plot_format)
    # CSV has no place for it.
    remarks = [NOT_PRIVATE] if request.resolved_format == "csv" else []
    _write(request, contents, remarks, content)


def write_domain_plan(request: PlanRequest, plan: DomainPlan) -> None:
    """The same for a plan of only a domain.

    Raises:
        OutputError: It cannot be written.
    """
    output_format = request.resolved_format
    if output_format == "json":
        content = f"{plan.to_json(indent=2)}\n".encode()
    elif output_format == "csv":
        content = _to_csv(plan.columns())
    else:
        content = f"{plan}\n".encode()
    _write(request, {} if request.output is None else {request.output: content}, [], content)


def _write(
    request: PlanRequest, contents: dict[Path, bytes], remarks: list[str], content: bytes
) -> None:
    files.write(contents, overwrite=request.overwrite)
    if not request.quiet and sys.stderr is not None:
        for remark in [*remarks, *map(files.describe_written, contents)]:
            print(remark, file=sys.stderr)
    if request.output is None:
        files.write_standard_output(content)


def _to_format(plans: Sequence[Plan | ThresholdPlan], output_format: str | None) -> bytes:
    if output_format == "json":
        documents = [plan.to_dict() for plan in plans]
        document = documents[0] if len(plans) == 1 else documents
        return f"{json.dumps(document, ensure_ascii=False, indent=2)}\n".encode()
    if output_format != "csv":
        return "\n".join(f"{plan}\n" for plan in plans).encode()
    if len(plans) == 1:
        return _to_csv(plans[0].columns())
    columns: dict[str, list[float | None]] = {"k": [plan.k for plan in plans for _ in plan.rows]}
    by_plan: list[Mapping[str, Sequence[float | None]]] = [plan.columns() for plan in plans]
    # A bound that is not less than k has other columns.
    for name in dict.fromkeys(chain(*sorted(by_plan, key=len, reverse=True))):
        columns[name] = []
        for plan, each in zip(plans, by_plan, strict=True):
            columns[name] += each.get(name, [None] * len(plan.rows))
    return _to_csv(columns)


def _to_csv(columns: Mapping[str, Sequence[float | None]]) -> bytes:
    return format_csv([columns, *zip(*columns.values(), strict=True)]).encode()
