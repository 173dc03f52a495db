"""Where an audit goes: files, standard output, and remarks on standard error."""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from topgap.auditing.results.audit import WIDTH
from topgap.cli import files
from topgap.cli.audit.request import AuditRequest


class Findings(NamedTuple):
    """What was found, in the formats in which it can be written."""

    as_expected: bool
    conclusion: str
    text: str
    json: str
    draw: Callable[[str], bytes]


def line_width(request: AuditRequest) -> int:
    """How long lines may be: as wide as the terminal, if that is less than usual."""
    if request.output is None and sys.stdout is not None and sys.stdout.isatty():
        return min(WIDTH, shutil.get_terminal_size().columns)
    return WIDTH


def write_findings(request: AuditRequest, findings: Findings) -> None:
    """Write the files that were asked for, and show the rest.

    Raises:
        OutputError: It cannot be written.
    """
    text = findings.json if request.resolved_format == "json" else findings.text
    content = text.encode() + b"\n"
    contents: dict[Path, bytes] = {}
    if request.output is not None:
        contents[request.output] = content
    if request.plot is not None:
        contents[request.plot] = findings.draw(request.plot_format)
    files.write(contents, overwrite=request.overwrite)
    if not request.quiet and sys.stderr is not None:
        for target in contents:
            print(files.describe_written(target), file=sys.stderr)
        if request.output is not None:
            print(findings.conclusion, file=sys.stderr)
    if request.output is None:
        files.write_standard_output(content)
