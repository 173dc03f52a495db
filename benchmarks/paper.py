"""The paper's tables, measured again: running times, their parts, calls, with the kernel beside.

`make paper` runs it, in less than ten minutes on a quiet machine, and writes docs/reproduction.md,
its CSV files and its plots at the end. `--quick` takes a minute and only prints.
"""

import argparse
import os
import shutil
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from paper_datasets import all_records
from paper_figures import DATASETS, KS, PARTS, TIMES
from paper_plots import draw_parts, draw_times
from paper_runs import KERNEL_CALLS, Measured, Source, measure
from paper_tables import (
    WAYS,
    calls,
    explained,
    files,
    off_by,
    parts,
    ratio,
    ratios,
    rounds,
    rounds_on_kosarak,
    signed,
    times,
)
from written import DOCS, fill, machine, write_csv

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
    sources = [Source.load(name) for name in DATASETS]
    known = all_records(sources)
    found = [measure(each, KS, how_often[each.paper], simulated, _tell) for each in sources]
    places = {"datasets": known, **texts(found)}
    places["how"] = how(found, simulated, load_before, quick=asked.quick)
    for name, text in places.items():
        print(f"\n== {name}\n{text}")
    output = asked.output or (None if asked.quick else DOCS)
    if output is not None:
        publish(output, places, found)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure the paper's tables again.")
    parser.add_argument("--quick", action="store_true", help="a few runs, which are only printed")
    parser.add_argument(
        "--output", type=Path, metavar="DIR", help="write page, files and plots there, not to docs/"
    )
    return parser.parse_args()


def _tell(progress: str) -> None:
    print(progress, file=sys.stderr, flush=True)


def how(found: Sequence[Measured], simulated: int, load_before: float, *, quick: bool) -> str:
    """What was run, how often, on what machine, and how busy that was with other work."""
    command = "python benchmarks/paper.py" + (" --quick" if quick else "")
    runs = ", ".join(f"{len(each.runs[KS[0]])} on {each.source.label}" for each in found)
    return (
        f"Measured by `{command}`, on {machine('numpy', 'topgap')}, with a load of "
        f"{load_before:.1f} when it began. Rounds: {runs}; the kernel is "
        f"called {KERNEL_CALLS} times in its turn. Ties were simulated {simulated:,} times for "
        "each k. What follows ± is the standard error of the mean."
    )


def texts(found: Sequence[Measured]) -> dict[str, str]:
    """All that the page shows, by the name of its place."""
    kosarak = found[-1]
    shown = {"ratios": ratios(found), "rounds": rounds(found)}
    for each in found:
        shown[f"times on {each.source.paper}"] = f"{_caption(each)}\n\n{times(each)}"
        shown[f"parts on {each.source.paper}"] = f"{_caption(each)}\n\n{parts(each)}"
    return shown | {
        "times in words": times_in_words(found),
        "parts in words": parts_in_words(found),
        "calls": f"{_caption(kosarak)}\n\n{calls(kosarak)}",
        "calls in words": calls_in_words(kosarak),
        "rounds on Kosarak": rounds_on_kosarak(kosarak),
        "explained": explained(),
    }


def _caption(found: Measured) -> str:
    source = found.source
    items = DATASETS[source.paper][1]
    other = "" if source.n == items else f"; the paper: {source.paper}, n = {items:,}"
    return f"**{source.label}**, n = {source.n:,}{other}"


def times_in_words(found: Sequence[Measured]) -> str:
    """What an answer costs each way, and how far the kernel is from them."""
    lines = []
    for way in WAYS:
        ours = [statistics.fmean(f.times[way, KS[0]]) * 1e6 / f.source.n for f in found]
        paper = [TIMES[f.source.paper][way][0] * 1e3 / DATASETS[f.source.paper][1] for f in found]
        lines.append(f"- {way} at k = {KS[0]}: {_range(ours)} µs for each answer, the paper's "
                     f"{_range(paper)} µs.")  # fmt: skip
    for under, name in (("Baseline", "the baseline"), ("Opt. Secure", "Opt. Secure")):
        faster = [ratio(f, under, "Kernel", k) for f in found for k in KS]
        lines.append(f"- The kernel took between 1/{max(faster):,.0f} and 1/{min(faster):,.0f} of "
                     f"the time of {name}.")  # fmt: skip
    return "\n".join(lines)


def parts_in_words(found: Sequence[Measured]) -> str:
    """What grows with n, with k, and with ties."""
    first = [
        statistics.fmean(r.parts.possible for r in f.runs[k]) * 1e6 / f.source.n
        for f in found
        for k in KS
    ]
    paper_first = [
        ms * 1e3 / DATASETS[f.source.paper][1]
        for f in found
        for ms in PARTS[f.source.paper]["possible top-k"]
    ]
    last = [statistics.fmean(r.parts.gaps for r in f.runs[k]) * 1e6 / k for f in found for k in KS]
    paper_last = [
        ms * 1e3 / k
        for f in found
        for k, ms in zip(KS, PARTS[f.source.paper]["find gaps"], strict=True)
    ]
    return (
        f"- The first part took {_range(first)} µs for each of the n answers, over all data sets "
        f"and k; the paper's took {_range(paper_first)} µs.\n"
        f"- The last part took {_range(last)} µs for each of the k winners; the paper's took "
        f"{_range(paper_last)} µs."
    )


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"


def calls_in_words(kosarak: Measured) -> str:
    """How far the runs are from what is expected of them, and what the pools were."""
    runs = kosarak.runs[800]
    farthest = {
        call: signed(max((off_by(run, call) for run in runs), key=abs), "+.1f")
        for call in ("bernoulli", "uniform")
    }
    sizes = [pools[0] for pools in kosarak.pools[800] if pools]
    least = sizes.count(802) / len(sizes)
    return (
        f"Given the geometric draws of each run, the farthest of our {len(runs)} runs was off by "
        f"{farthest['bernoulli']} standard deviations in its Bernoulli calls, and by "
        f"{farthest['uniform']} in its uniform calls. Of the simulated runs with ties, "
        f"{least:.1%} refined just k + 2 = 802 answers in the first round, and none more than "
        f"{max(sizes)}."
    )


def publish(output: Path, places: dict[str, str], found: Sequence[Measured]) -> None:
    """Write the page, the files and the plots: all of them, or none if any cannot be made."""
    with TemporaryDirectory() as scratch:
        page = Path(scratch, "reproduction.md")
        folder = Path(scratch, "reproduction")
        folder.mkdir()
        shutil.copyfile(DOCS / page.name, page)
        fill(page, places)
        for name, figures in files(found).items():
            write_csv(folder / f"{name}.csv", figures.header, figures.rows)
        draw_times(found, folder / "times.svg")
        draw_parts(found, folder / "parts.svg")
        shutil.copytree(folder, output / folder.name, dirs_exist_ok=True)
        shutil.copyfile(page, output / page.name)
    _tell(f"Written: {output / page.name} and {output / folder.name}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Interrupted; nothing was written.")
