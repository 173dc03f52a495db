"""A request for an audit: each option with its help, and their validation."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from topgap.auditing.auditor import FAILURE, LEAST_RELEASES, read_failure
from topgap.cli import files, options
from topgap.cli.options import OUTPUT
from topgap.display.figure import FORMS
from topgap.display.text import to_line
from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import read_whole

AuditFormat = Literal["table", "json"]
_AUDITED = "The audit"


@dataclass(frozen=True, kw_only=True)
class AuditRequest:
    """A request for an audit; its fields are the options of `topgap audit`."""

    function: Annotated[
        str | None,
        typer.Option(
            metavar="MODULE:NAME",
            help="Your function, in place of topgap. It is called with answers, a tuple of ints, "
            "and a topgap.TopK, and returns a topgap.Release or pairs (index, gap).",
            rich_help_panel=_AUDITED,
        ),
    ] = None
    gaps: Annotated[
        bool,
        typer.Option(
            "--gaps/--no-gaps",
            help="Whether your function returns gaps, or only indices.",
            rich_help_panel=_AUDITED,
        ),
    ] = True
    privacy_only: Annotated[
        bool,
        typer.Option(
            "--privacy-only",
            help="Test only the promise of ε, and not that your function has the output "
            "distribution of topgap.",
            rich_help_panel=_AUDITED,
        ),
    ] = False
    attack: Annotated[
        bool,
        typer.Option(
            "--attack",
            help="Attack the floating-point version, and topgap in the same way, in place of the "
            "audit.",
            rich_help_panel=_AUDITED,
        ),
    ] = False
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Fewer releases: about half a minute.", rich_help_panel=_AUDITED
        ),
    ] = False
    releases: Annotated[
        int | None,
        typer.Option(
            help="Number of releases of each mechanism that must be private; more releases show "
            "more. Default: 10,000,000; 400,000 for your function; 20,000 for an attack.",
            rich_help_panel=_AUDITED,
        ),
    ] = None
    failure: Annotated[
        str,
        typer.Option(
            metavar="PROBABILITY",
            help="Greatest false-positive probability, at least 1e-200: that a correct mechanism "
            "is reported as a violation.",
            rich_help_panel=_AUDITED,
        ),
    ] = FAILURE
    processes: Annotated[
        int | None,
        typer.Option(
            help="Number of processes. Default: one per core. Not with --attack.",
            rich_help_panel=_AUDITED,
        ),
    ] = None
    output_format: Annotated[
        AuditFormat | None,
        typer.Option(
            "--format",
            help="Format of the audit. Default: from the name of --output, otherwise a table. "
            "JSON has every bound and its event.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    output: options.Output = None
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Also write a plot of the results: a .png, .svg or .pdf file. Needs Matplotlib.",
            rich_help_panel=OUTPUT,
        ),
    ] = None
    overwrite: options.Overwrite = False
    quiet: options.Quiet = False

    @property
    def resolved_format(self) -> str | None:
        """The format of the audit, by option or by name; None if neither gives one."""
        return self.output_format or files.format_by_name(self.output)

    @property
    def plot_format(self) -> str:
        """The format of the plot, as its name gives it."""
        return "" if self.plot is None else self.plot.suffix.lower().removeprefix(".")

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.plot) if each is not None]

    @property
    def inputs(self) -> list[str]:
        """The files that the function may be in: they must not be overwritten."""
        module = (self.function or "").partition(":")[0].replace(".", os.sep)
        return [glob.escape(f"{module}.py"), glob.escape(os.path.join(module, "__init__.py"))]


def validate(request: AuditRequest) -> None:
    """Refuse options that contradict each other or are out of range.

    Raises:
        typer.BadParameter: Some do.
    """
    if request.function is None and (request.privacy_only or not request.gaps):
        raise typer.BadParameter("--privacy-only and --no-gaps are for a --function of yours.")
    if request.attack and request.function is not None:
        raise typer.BadParameter("--attack is made on known mechanisms; give no --function.")
    if request.attack and request.processes is not None:
        raise typer.BadParameter("--attack is played by one process; give no --processes.")
    if not files.are_distinct(request.targets):
        raise typer.BadParameter("--output and --plot name the same file.")
    if request.resolved_format not in ("table", "json"):
        raise typer.BadParameter("an audit is written as table or json; say which by --format.")
    if request.plot is not None and request.plot_format not in FORMS:
        raise typer.BadParameter("the name of --plot must end in .png, .svg or .pdf.")
    try:
        _check_numbers(request)
    except (ParameterError, ParameterTypeError) as error:
        raise typer.BadParameter(f"--{error}") from None
    if request.function is not None:
        module, _, name = request.function.partition(":")
        if not module or not name:
            label = to_line(request.function)
            raise typer.BadParameter(f"--function must be module:name, not {label}.")


def _check_numbers(request: AuditRequest) -> None:
    """The same for numbers; each error begins with the name of the option."""
    failure = read_failure(request.failure)
    if request.processes is not None:
        read_whole(request.processes, "processes", least=1)
    if request.releases is not None:
        least = LEAST_RELEASES
        if request.attack:
            from topgap.auditing import attacks

            least = attacks.least_releases(failure)
        read_whole(request.releases, "releases", least=least)
