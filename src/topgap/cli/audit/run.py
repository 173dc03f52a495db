"""An audit from its request: check, make the releases, and write what they show."""

import importlib
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import typer

from topgap import auditing
from topgap.auditing.auditor import read_failure
from topgap.auditing.results.plot import render
from topgap.cli import files
from topgap.cli.audit.output import Findings, line_width, write_findings
from topgap.cli.audit.request import AuditRequest, validate
from topgap.cli.errors import FAILED
from topgap.cli.progress import Bar
from topgap.display.figure import require_matplotlib
from topgap.display.text import to_line
from topgap.errors import ParameterError

_NOTHING = object()
ATTACK, QUICK_ATTACK = 20_000, 4_000
"""How many releases an attack is made on, unless the user gives another number."""


def run_audit(request: AuditRequest) -> None:
    """Make the audit and write it; that the files can be written is checked before.

    Raises:
        typer.Exit: Not all is as it should be.
    """
    validate(request)
    files.check(
        request.targets, request.inputs, overwrite=request.overwrite, or_else=", or --overwrite"
    )
    if request.plot is not None:
        require_matplotlib()
    with Bar(shown=not request.quiet) as bar:
        findings = _attack(request, bar) if request.attack else _audit(request, bar)
    write_findings(request, findings)
    if not findings.as_expected:
        raise typer.Exit(FAILED)


def _audit(request: AuditRequest, bar: Bar) -> Findings:
    with redirect_stdout(sys.stderr):  # what a function prints must not get between our own lines
        audit = auditing.audit(
            None if request.function is None else import_function(request.function),
            releases=request.releases,
            failure=request.failure,
            gaps=request.gaps,
            law=not request.privacy_only,
            quick=request.quick,
            processes=(os.cpu_count() or 1) if request.processes is None else request.processes,
            progress=bar,
        )
    return Findings(
        audit.as_expected,
        audit.conclusion,
        audit.to_text(width=line_width(request)),
        audit.to_json(indent=2),
        lambda plot_format: render(audit.mechanisms, plot_format),
    )


def _attack(request: AuditRequest, bar: Bar) -> Findings:
    from topgap.auditing import attacks
    from topgap.auditing.attacks import plot, report

    failure = read_failure(request.failure)
    usual = QUICK_ATTACK if request.quick else ATTACK
    least = attacks.least_releases(failure)
    number = max(usual, least) if request.releases is None else request.releases
    results = attacks.attack(number, failure, bar)
    return Findings(
        all(each.as_expected for each in results),
        report.conclusion(results),
        report.to_text(results, failure, width=line_width(request)),
        report.to_json(results, failure),
        lambda plot_format: plot.render(results, plot_format),
    )


def import_function(name: str) -> Callable[..., object]:
    """Import `module:name` from what is installed or from the working directory.

    Raises:
        ParameterError: There is none.
    """
    module_name, _, attribute = name.partition(":")
    if "" not in sys.path and os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        found: Any = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        if module_name.endswith(".py"):
            meant = module_name.removesuffix(".py").replace(os.sep, ".")
            raise ParameterError(
                f"{to_line(module_name)} is not a module; write "
                f"{to_line(meant)}:{to_line(attribute)}."
            ) from None
        why = to_line(error).removesuffix(".")
        raise ParameterError(
            f"{to_line(module_name)} cannot be imported: {type(error).__name__}: {why}."
        ) from None
    for part in attribute.split("."):
        found = getattr(found, part, _NOTHING)
    if found is _NOTHING:
        raise ParameterError(f"{to_line(module_name)} has no function {to_line(attribute)}.")
    if not callable(found):
        raise ParameterError(f"{to_line(f'{module_name}.{attribute}')} is not a function.")
    return found  # type: ignore[no-any-return]
