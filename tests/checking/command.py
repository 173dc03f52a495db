"""The command as a user runs it: a process of its own, with its output and its exit code."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

TOPGAP = (sys.executable, "-m", "topgap.cli")


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str


def topgap(
    *arguments: object,
    folder: Path,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    **how: Any,
) -> Ended:
    """Run it to its end in a folder, with this on standard input."""
    run = subprocess.run(
        [*TOPGAP, *map(str, arguments)],
        cwd=folder,
        input=given,
        capture_output=True,
        timeout=100,
        check=False,
        env=surroundings(environment),
        **how,
    )
    return Ended(run.returncode, run.stdout.decode(), run.stderr.decode())


def surroundings(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the command: wide, and without colours."""
    return {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **(more or {})}


def is_one_sentence(text: str) -> bool:
    """Whether this is what the command says when it fails: one line, one sentence, no traceback."""
    lines = text.splitlines()
    return len(lines) == 1 and lines[0].startswith("topgap: ") and lines[0].endswith(".")
