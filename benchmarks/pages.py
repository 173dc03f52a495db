"""Figures as they are published: tables in a page's marked places, CSV files, and the machine.

A page says where a figure belongs, and only what stands between the two marks is replaced:

    <!-- measured: times -->
    <!-- /measured -->
"""

import csv
import os
import platform
import re
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"

Row = Sequence[object]


def format_table(header: Row, rows: Iterable[Row], *, text_columns: int = 1) -> str:
    """A Markdown table: so many columns of text first, then numbers to the right."""
    lines = [header, ["---" if i < text_columns else "---:" for i in range(len(header))], *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def write_csv(path: Path, header: Row, rows: Iterable[Row]) -> None:
    """Write the figures as they were measured, unrounded."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def fill_places(page: Path, measured: dict[str, str]) -> None:
    """Put each text into the place of its name; a page without that place is an error."""
    text = page.read_text(encoding="utf-8")
    for name, figures in measured.items():
        place = re.compile(
            rf"(<!-- measured: {re.escape(name)} -->\n).*?(<!-- /measured -->)", re.DOTALL
        )
        found = place.search(text)
        if found is None:
            raise ValueError(f"{page.name} has no place for {name}.")
        begin, end = found.groups()
        text = f"{text[: found.start()]}{begin}\n{figures}\n\n{end}{text[found.end() :]}"
    page.write_text(text, encoding="utf-8")


def describe_machine(*packages: str) -> str:
    """What measured: processor, cores, memory and system, and the versions of these packages."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    parts = [
        _processor(),
        f"{os.cpu_count()} cores",
        f"{memory:.0f} GiB",
        platform.system(),
        f"Python {platform.python_version()}",
        *(f"{package} {_version(package)}" for package in packages),
    ]
    return ", ".join(parts)


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor() or platform.machine()
    models = re.findall(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return models[0].strip() if models else platform.machine()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
