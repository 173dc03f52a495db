"""The tutorials: whether their commands work as printed, and print what the page shows.

    python -m tests.tools.tutorials            runs each in a scratch folder, and prints its seconds
    python -m tests.tools.tutorials --write    stores what a new run prints

A block ```sh is a step, and the block ```text after it is all that the step prints. Noise is new at
each run, so outputs are compared without numbers and hashes. A line `...` stands for any lines.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.tools.documents import PREAMBLE, ROOT, blocks, name

WITH_SERVERS = ROOT / "docs" / "tutorials" / "spark-or-postgresql.md"
"""The only tutorial that needs servers: its parts have a test each."""

_NUMBER = re.compile(r"\b[0-9a-f]{64}\b|[-−]?\d[\d,.]*(?:/\d+)?")  # a hash, or a number
_BAR = re.compile("[█░]+")
_ELLIPSIS = "..."
_MARK = "==== the end of a step"
_SECONDS = 300
_DOCKER = 'docker() { [[ "$1" = run || "$1" = stop ]]; }\n'  # a test's own server is there


class Step(NamedTuple):
    """What is typed, what the page says that it prints, and on which line, if it shows anything."""

    commands: str
    shown: str = ""
    line: int | None = None
    section: str = ""


class Ran(NamedTuple):
    """What a step printed, and how many seconds it took."""

    printed: str
    seconds: float


def tutorials() -> list[Path]:
    """All of them, and the page that leads to them."""
    return [ROOT / "docs" / "start.md", *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]


def steps(text: str) -> list[Step]:
    """The steps of a page, with what each is said to print.

    Raises:
        ValueError: A block of output follows no step.
    """
    found: list[Step] = []
    lines = text.splitlines()
    open_step = False
    for block in blocks(text):
        if block.language == "sh":
            above = [line[3:] for line in lines[: block.line] if line.startswith("## ")]
            found.append(Step(block.text, section=above[-1] if above else ""))
        elif block.language == "text":
            if not open_step:
                raise ValueError(f"line {block.line}: an output that follows no command")
            found[-1] = found[-1]._replace(shown=block.text, line=block.line)
        open_step = block.language == "sh"
    return found


def run_steps(given: list[Step], folder: Path) -> list[Ran]:
    """Type the steps one after the other in one shell.

    Raises:
        RuntimeError: A command failed.
    """
    mark = f'echo "{_MARK} $EPOCHREALTIME"\n'
    script = PREAMBLE + _DOCKER + mark + "".join(step.commands + mark for step in given)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", script],  # noqa: S607
        cwd=folder,
        env=os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_SECONDS,
        check=False,
    )
    *parts, rest = re.split(rf"{_MARK} ([\d.]+)\n", done.stdout.decode())
    if done.returncode:
        raise RuntimeError(f"step {len(parts) // 2} failed:\n{rest}")
    printed, ends = parts[2::2], [float(each) for each in parts[1::2]]
    return [Ran(p, b - a) for p, a, b in zip(printed, ends, ends[1:], strict=False)]


def is_shown(printed: str, shown: str) -> bool:
    """Whether this is what the page shows, but for numbers, bars, and the width of columns."""
    pattern = "".join(
        r"(?:.*\n)*?" if line == _ELLIPSIS else re.escape(line) + r"\n" for line in _plain(shown)
    )
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _plain(printed))) is not None


def _plain(text: str) -> list[str]:
    return [
        " ".join(_NUMBER.sub("0", _BAR.sub("|", line)).split()) for line in text.strip().split("\n")
    ]


def store(text: str, given: list[Step], ran: list[Ran]) -> str:
    """The page with new outputs, but for those that are shown in part."""
    lines = text.splitlines(keepends=True)
    for step, new in reversed([*zip(given, ran, strict=True)]):
        if step.line is not None and _ELLIPSIS not in step.shown.splitlines():
            trimmed = "".join(f"{each.rstrip()}\n" for each in new.printed.strip("\n").split("\n"))
            length = len(step.shown.strip("\n").splitlines())
            lines[step.line : step.line + length] = [trimmed]
    return "".join(lines)


def postgresql_steps(given: list[Step], port: int) -> list[Step]:
    """Those of the page with servers that need PostgreSQL, with the port of a server."""
    return [
        step._replace(commands=step.commands.replace("PGPORT=5432", f"PGPORT={port}"))
        for step in given
        if step.section != "On Spark"
    ]


def spark_steps(given: list[Step]) -> list[Step]:
    """Those of the page with servers that need Spark."""
    return [step for step in given if step.section != "On PostgreSQL"]


def main() -> int:
    """Run all tutorials; return 1 if one does not show what it prints."""
    from tests.checking.postgresql_server import serve_postgresql

    parser = argparse.ArgumentParser(prog="python -m tests.tools.tutorials")
    parser.add_argument("--write", action="store_true", help="store what the run prints")
    write = parser.parse_args().write
    with serve_postgresql() as server:
        choices: list[tuple[Path, Callable[[list[Step]], list[Step]]]] = [
            *((page, list) for page in tutorials() if page != WITH_SERVERS),
            (WITH_SERVERS, lambda given: postgresql_steps(given, server.port)),
            (WITH_SERVERS, spark_steps),
        ]
        return max(_run_page(page, choose, write=write) for page, choose in choices)


def _run_page(page: Path, choose: Callable[[list[Step]], list[Step]], *, write: bool) -> int:
    text = page.read_text(encoding="utf-8")
    given = choose(steps(text))
    with tempfile.TemporaryDirectory() as folder:
        ran = run_steps(given, Path(folder))
    print(f"{name(page)}: {sum(each.seconds for each in ran):.1f} s")
    if write:
        text = store(text, given, ran)
        page.write_text(text, encoding="utf-8", newline="\n")
    differ = [
        f"{step.commands}prints\n{each.printed}"
        for step, each in zip(choose(steps(text)), ran, strict=True)
        if not is_shown(each.printed, step.shown)
    ]
    print("".join(differ), end="")
    return int(bool(differ))


if __name__ == "__main__":
    sys.exit(main())
