"""`topgap audit`: from what the user asked for to files and standard output."""

import glob
import importlib
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import typer

from topgap import auditing
from topgap.auditing import plot as drawing
from topgap.auditing.auditor import LEAST, read_failure
from topgap.auditing.result import WIDTH
from topgap.cli import files, standard_output
from topgap.cli.errors import FAILED
from topgap.cli.progress import Bar
from topgap.cli.release.formats import form_of
from topgap.display.text import to_line
from topgap.errors import ParameterError, ParameterTypeError
from topgap.numbers.parse import read_whole

Form = Literal["table", "json"]
_NOTHING = object()
_OR_ELSE = ", or --overwrite"
ATTACK, QUICK_ATTACK = 20_000, 4_000
"""How many releases an attack is made on, unless asked otherwise."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request for an audit, as `topgap audit --help` explains it."""

    function: str | None
    gaps: bool
    privacy_only: bool
    attack: bool
    quick: bool
    releases: int | None
    failure: str
    processes: int | None
    form: Form | None
    output: Path | None
    plot: Path | None
    overwrite: bool
    quiet: bool

    @property
    def written_as(self) -> str | None:
        """The form of the audit; None if nothing tells."""
        return self.form or form_of(self.output)

    @property
    def drawn_as(self) -> str:
        """The form of the plot, as its name tells it."""
        return "" if self.plot is None else self.plot.suffix.lower().removeprefix(".")

    @property
    def targets(self) -> list[Path]:
        """The files to be written."""
        return [each for each in (self.output, self.plot) if each is not None]


class Shown(NamedTuple):
    """What was found, in the forms in which it can be asked for."""

    as_expected: bool
    conclusion: str
    text: str
    json: str
    drawn: Callable[[str], bytes]


def audit(request: Request) -> None:
    """Do what was asked; files that could not be written are told of before the work is done.

    Raises:
        typer.Exit: Not all is as it should be.
    """
    _check(request)
    files.check(request.targets, _read(request), overwrite=request.overwrite, or_else=_OR_ELSE)
    if request.plot is not None:
        drawing.check_installed()
    with Bar(shown=not request.quiet) as bar:
        shown = _attacked(request, bar) if request.attack else _audited(request, bar)
    _publish(request, shown)
    if not shown.as_expected:
        raise typer.Exit(FAILED)


def _read(request: Request) -> list[str]:
    """Where the function is, as a rule: what is audited must not be overwritten."""
    module = (request.function or "").partition(":")[0].replace(".", os.sep)
    return [glob.escape(f"{module}.py"), glob.escape(os.path.join(module, "__init__.py"))]


def _check(request: Request) -> None:
    """Refuse what contradicts itself.

    Raises:
        typer.BadParameter: Something does.
    """
    if request.function is None and (request.privacy_only or not request.gaps):
        raise typer.BadParameter("--privacy-only and --no-gaps are for a --function of yours.")
    if request.attack and request.function is not None:
        raise typer.BadParameter("--attack is made on known mechanisms; give no --function.")
    if request.attack and request.processes is not None:
        raise typer.BadParameter("--attack is played by one process; give no --processes.")
    if len({os.path.realpath(each) for each in request.targets}) < len(request.targets):
        raise typer.BadParameter("--output and --plot name the same file.")
    if request.written_as not in ("table", "json"):
        raise typer.BadParameter("an audit is written as table or json; say which by --format.")
    if request.plot is not None and request.drawn_as not in drawing.FORMS:
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


def _check_numbers(request: Request) -> None:
    """The same of numbers; each error begins with the name of what is wrong."""
    failure = read_failure(request.failure)
    if request.processes is not None:
        read_whole(request.processes, "processes", least=1)
    if request.releases is not None:
        least = LEAST
        if request.attack:
            from topgap.auditing import attacks

            least = attacks.least(failure)
        read_whole(request.releases, "releases", least=least)


def _audited(request: Request, bar: Bar) -> Shown:
    with redirect_stdout(sys.stderr):  # what a function prints must not get between our own lines
        made = auditing.audit(
            None if request.function is None else imported(request.function),
            releases=request.releases,
            failure=request.failure,
            gaps=request.gaps,
            law=not request.privacy_only,
            quick=request.quick,
            processes=_processes(request.processes),
            progress=bar,
        )
    return Shown(
        made.as_expected,
        made.conclusion,
        made.to_text(width=_width(request)),
        made.to_json(indent=2),
        lambda form: drawing.drawn(made, form),
    )


def _attacked(request: Request, bar: Bar) -> Shown:
    from topgap.auditing import attack_plot, attack_report, attacks

    failure = read_failure(request.failure)
    usual = QUICK_ATTACK if request.quick else ATTACK
    least = attacks.least(failure)
    number = max(usual, least) if request.releases is None else request.releases
    results = attacks.attack(number, failure, bar)
    return Shown(
        all(each.as_expected for each in results),
        attack_report.conclusion(results),
        attack_report.to_text(results, failure, width=_width(request)),
        attack_report.to_json(results, failure),
        lambda form: attack_plot.drawn(results, form),
    )


def imported(name: str) -> Callable[..., object]:
    """The function that is called so, from what is installed or lies in the working directory.

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
                f"{to_line(module_name)} is no module; write {to_line(meant)}:{to_line(attribute)}."
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
        raise ParameterError(f"{to_line(f'{module_name}.{attribute}')} is no function.")
    return found  # type: ignore[no-any-return]


def _width(request: Request) -> int:
    """How long lines may be: as a terminal is wide, if that is less than usual."""
    if request.output is None and sys.stdout is not None and sys.stdout.isatty():
        return min(WIDTH, shutil.get_terminal_size().columns)
    return WIDTH


def _processes(asked: int | None) -> int:
    return os.cpu_count() or 1 if asked is None else asked


def _publish(request: Request, shown: Shown) -> None:
    """Write the files that were asked for, and show the rest."""
    content = (shown.json if request.written_as == "json" else shown.text).encode() + b"\n"
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = content
    if request.plot is not None:
        contents[request.plot] = shown.drawn(request.drawn_as)
    files.write(contents, overwrite=request.overwrite)
    if not request.quiet and sys.stderr is not None:
        for target in contents:
            print(files.written(target), file=sys.stderr)
        if request.output is not None:
            print(shown.conclusion, file=sys.stderr)
    if request.output is None:
        standard_output.write(content)
