"""The command as a user runs it: a process of its own, with its output and its exit code."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.checking.systems import IS_POSIX
from tests.cli.forked_command import can_be_forked, run_forked

# So far apart that noise of mean at most 4 changes the order with probability below 1e-50.
COUNTS = {"flu": 3_000, "cold": 2_000, "cough": 1_000, "gout": 3}
ASKED = ("--person", "who", "--item", "what", "--domain", "domain.txt", "-k", 2, "--epsilon", 1)
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
    words, variables = [*map(str, arguments)], surroundings(environment)
    if not how and can_be_forked(variables):
        code, out, err = run_forked(
            words, folder=folder, given=given, environment=variables, timeout=100
        )
        return Ended(code, out.decode(), err.decode())
    run = subprocess.run(
        [*TOPGAP, *words],
        cwd=folder,
        input=given,
        capture_output=True,
        timeout=100,
        check=False,
        env=variables,
        **how,
    )
    return Ended(run.returncode, run.stdout.decode(), run.stderr.decode())


def release(folder: Path, *arguments: object, asked: Sequence[object] = ASKED, **how: Any) -> Ended:
    """Run `topgap release` on what `write_visits` wrote there."""
    return topgap("release", "visits.csv", *asked, *arguments, folder=folder, **how)


def write_visits(folder: Path) -> None:
    """Write events with these counts, each twice, and the domain."""
    rows = [f"p{n},{item}\n" for item, count in COUNTS.items() for n in range(count)]
    (folder / "visits.csv").write_text("who,what\n" + "".join(rows * 2))
    (folder / "domain.txt").write_text("\ufeffgout\nflu\n\n cough \ncold\nmumps\n")


def shell(command: str, folder: Path, **environment: str) -> Ended:
    """Run a line of shell, in which the first `topgap` is the command."""
    if not IS_POSIX:
        pytest.skip("needs POSIX: its shell")
    run = subprocess.run(
        ["/bin/sh", "-c", command.replace("topgap", " ".join(TOPGAP), 1)],
        cwd=folder, capture_output=True, check=False, env=surroundings(environment),
    )  # fmt: skip
    return Ended(run.returncode, run.stdout.decode(), run.stderr.decode())


def surroundings(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of the command: wide, and without colours."""
    return {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", **(more or {})}


def is_one_sentence(text: str) -> bool:
    """Whether this is what the command says when it fails: one line, one sentence, no traceback."""
    lines = text.splitlines()
    return len(lines) == 1 and lines[0].startswith("topgap: ") and lines[0].endswith(".")
