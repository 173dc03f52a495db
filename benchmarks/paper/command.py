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

from benchmarks.pages import DOCS, fill, machine, write_csv
from benchmarks.paper.plots import draw_parts, draw_times
from benchmarks.paper.published import DATASETS, KS, PARTS, TIMES, implied_rounds
from benchmarks.paper.records import all_records
from benchmarks.paper.runs import KERNEL_CALLS, SLOWER, Measured, Source, measure
from benchmarks.paper.tables import (
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
    places = {"datasets": known, **texts(found)}
    places["how"] = how(found, simulated, load_before, quick=asked.quick)
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


def how(found: Sequence[Measured], simulated: int, load_before: float, *, quick: bool) -> str:
    """What was run, how often, on what machine, and how busy that was with other work."""
    command = "python -m benchmarks.paper" + (" --quick" if quick else "")
    runs = ", ".join(f"{len(each.runs[KS[0]])} on {each.source.label}" for each in found)
    return (
        f"Measured by `{command}`, on {machine('numpy', 'topgap')}, with a load of "
        f"{load_before:.1f} when it began. Rounds: {runs}; the kernel is "
        f"called {KERNEL_CALLS} times in its turn. Ties were simulated {simulated:,} times for "
        f"each k, and {simulated // SLOWER:,} times with the script's coins. Times are means, and "
        "what follows ± is the standard error; of the kernel there is the median of all calls."
    )


def texts(found: Sequence[Measured]) -> dict[str, str]:
    """All that the page shows, by the name of its place."""
    kosarak = found[-1]
    shown = {
        "ratios": ratios(found),
        "rounds": rounds(found),
        "rounds in words": rounds_in_words(found),
    }
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
    other = "" if source.label == source.paper else f"; the paper: {source.paper}, n = {items:,}"
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
        lines.append(f"- The kernel's median was between 1/{max(faster):,.0f} and "
                     f"1/{min(faster):,.0f} of the mean time of {name}.")  # fmt: skip
    return "\n".join(lines)


def rounds_in_words(found: Sequence[Measured]) -> str:
    """How far the paper's rounds are from both laws, on the paper's data."""
    cases = [(f, k) for f in found if f.source.label == f.source.paper for k in KS]
    if not cases:
        return "None of the data measured here are the paper's."
    laws = {(f.source.label, k): [len(pools) for pools in f.pools[k]] for f, k in cases}
    scripts = {(f.source.label, k): f.script_rounds[k] for f, k in cases}
    error = max(statistics.stdev(law) for law in laws.values()) / 1_000**0.5
    return (
        f"Where the data are the paper's, its column less the law is {_off(laws)}. Less the law "
        f"with the script's coins it is {_off(scripts)}. A mean of 1,000 runs, as the paper's, has "
        f"a standard error of up to {error:.2f} by chance alone."
    )


def _off(laws: dict[tuple[str, int], list[int]]) -> str:
    off = {(n, k): implied_rounds(n, k) - statistics.fmean(law) for (n, k), law in laws.items()}
    ends = [min(off, key=lambda case: off[case]), max(off, key=lambda case: off[case])]
    least, most = [f"{signed(off[n, k], '+.2f')} ({n}, k = {k})" for n, k in ends]
    return f"between {least} and {most}"


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
