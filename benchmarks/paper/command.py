"""The paper's tables, measured again: running times, their parts, calls, with the kernel beside.

`make paper` runs it, in less than ten minutes on a quiet machine, and writes docs/reproduction.md,
its CSV files and its plots at the end. `--quick` takes a minute and only prints.
"""

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.pages import DOCS, Row, describe_machine, fill_places, format_table, write_csv
from benchmarks.paper.comparisons import (
    call_differences,
    costs,
    kernel_ratios,
    part_costs,
    round_differences,
)
from benchmarks.paper.plots import draw_parts, draw_times
from benchmarks.paper.published import DATASETS, KS
from benchmarks.paper.records import all_records
from benchmarks.paper.runs import KERNEL_CALLS, SLOWER, Measured, Source, measure
from benchmarks.paper.tables import (
    calls,
    explain_calls,
    figures_by_file,
    parts,
    ratios,
    rounds,
    rounds_on_kosarak,
    times,
)

# How often everything runs on each data set, and how often ties are simulated for each k.
FULL = {"T40I10D100K": 100, "BMS-POS": 100, "Kosarak": 20}
QUICK = {"T40I10D100K": 5, "BMS-POS": 5, "Kosarak": 2}
SIMULATED = 4_000
SIMULATED_QUICK = 400


def main() -> None:
    asked = _arguments()
    load_before = os.getloadavg()[0]
    how_often = QUICK if asked.quick else FULL
    simulated = SIMULATED_QUICK if asked.quick else SIMULATED
    output = asked.output or (None if asked.quick else DOCS)
    sources = [Source.load(name) for name in DATASETS]
    refuse_made_up(output, sources)
    known = all_records(sources)
    found = [measure(each, KS, how_often[each.paper], simulated, _tell) for each in sources]
    places = {"datasets": known, **tables_of(found)}
    places["run"] = run_table(found, simulated, load_before, quick=asked.quick)
    for name, text in places.items():
        print(f"\n== {name}\n{text}")
    if output is not None:
        publish(output, places, found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the paper's tables again.")
    parser.add_argument("--quick", action="store_true", help="a few runs, which are only printed")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write page, files and plots there, not to docs/"
    )
    return parser.parse_args()


def refuse_made_up(output: Path | None, sources: Sequence[Source]) -> None:
    """The page in docs/ speaks of real data, so nothing else may be written there."""
    made_up = [source.label for source in sources if not source.real]
    if made_up and output is not None and output.resolve() == DOCS.resolve():
        sys.exit(
            f"Nothing was measured, as docs/ is for real data and of some there is only "
            f"{', '.join(made_up)}; load the data sets as docs/datasets.md says, or give --output."
        )


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def run_table(found: Sequence[Measured], simulated: int, load_before: float, *, quick: bool) -> str:
    """What was run, how often, on what machine, and how busy that was with other work."""
    rows: list[Row] = [
        ["command", "`python -m benchmarks.paper" + (" --quick`" if quick else "`")],
        ["machine", describe_machine("numpy", "topgap")],
        ["load at the start", f"{load_before:.1f}"],
        *([f"rounds on {each.source.label}", len(each.runs[KS[0]])] for each in found),
        ["calls of the kernel in each round", KERNEL_CALLS],
        ["runs simulated for each k", f"{simulated:,}"],
        ["the same with the script's coins", f"{simulated // SLOWER:,}"],
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def tables_of(found: Sequence[Measured]) -> dict[str, str]:
    """All tables of the page, by the name of their place."""
    kosarak = found[-1]
    shown = {
        "ratios": ratios(found),
        "rounds": rounds(found),
        "differences of rounds": round_differences(found),
    }
    for each in found:
        shown[f"times on {each.source.paper}"] = f"{_caption(each)}\n\n{times(each)}"
        shown[f"parts on {each.source.paper}"] = f"{_caption(each)}\n\n{parts(each)}"
    return shown | {
        "cost of an answer": f"{costs(found)}\n\n{kernel_ratios(found)}",
        "cost of parts": part_costs(found),
        "calls": f"{_caption(kosarak)}\n\n{calls(kosarak)}",
        "differences of calls": call_differences(kosarak),
        "rounds on Kosarak": rounds_on_kosarak(kosarak),
        "explained": explain_calls(),
    }


def _caption(found: Measured) -> str:
    source = found.source
    items = DATASETS[source.paper][1]
    other = "" if source.label == source.paper else f"; the paper: {source.paper}, n = {items:,}"
    return f"**{source.label}**, n = {source.n:,}{other}"


def publish(output: Path, places: dict[str, str], found: Sequence[Measured]) -> None:
    """Write the page, the files and the plots: all of them, or none if any cannot be made."""
    with TemporaryDirectory() as scratch:
        page = Path(scratch, "reproduction.md")
        folder = Path(scratch, "reproduction")
        folder.mkdir()
        shutil.copyfile(DOCS / page.name, page)
        fill_places(page, places)
        for name, figures in figures_by_file(found).items():
            write_csv(folder / f"{name}.csv", figures.header, figures.rows)
        draw_times(found, folder / "times.svg")
        draw_parts(found, folder / "parts.svg")
        shutil.copytree(folder, output / folder.name, dirs_exist_ok=True)
        shutil.copyfile(page, output / page.name)
    _tell(f"Written: {output / page.name} and {output / folder.name}")
