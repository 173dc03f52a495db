"""Tables of what follows from the measurements: costs per answer, rounds and calls."""

import statistics
from collections.abc import Mapping, Sequence

from benchmarks.pages import format_table
from benchmarks.paper.published import DATASETS, KS, PARTS, TIMES, implied_rounds
from benchmarks.paper.runs import Measured
from benchmarks.paper.tables import WAYS, format_signed, ratio, standardize_calls


def costs(all_found: Sequence[Measured]) -> str:
    """What an answer costs each way at the smallest k, over all data sets."""
    rows = []
    for way in WAYS:
        ours = [statistics.fmean(f.times[way, KS[0]]) * 1e6 / f.source.n for f in all_found]
        paper = [
            TIMES[f.source.paper][way][0] * 1e3 / DATASETS[f.source.paper][1] for f in all_found
        ]
        rows.append([way, format_range(paper), format_range(ours)])
    return format_table([f"µs for each answer, k = {KS[0]}", "paper", "ours"], rows)


def kernel_ratios(all_found: Sequence[Measured]) -> str:
    """Mean times divided by the kernel's median, over all data sets and k."""
    rows = []
    for way in ("Baseline", "Opt. Secure"):
        faster = [ratio(found, way, "Kernel", k) for found in all_found for k in KS]
        rows.append([way, f"{min(faster):,.0f}", f"{max(faster):,.0f}"])
    return format_table(["mean time / kernel's median", "least", "largest"], rows)


def round_differences(all_found: Sequence[Measured]) -> str:
    """How far the paper's rounds are from both laws; a row for each law, none without its data."""
    cases = [(f, k) for f in all_found if f.source.label == f.source.paper for k in KS]
    laws = {(f.source.label, k): [len(pools) for pools in f.pools[k]] for f, k in cases}
    scripts = {(f.source.label, k): f.script_rounds[k] for f, k in cases}
    rows = []
    for name, law in {"law": laws, "law, with the script's coins": scripts}.items():
        if law:
            error = max(statistics.stdev(each) for each in law.values()) / 1_000**0.5
            rows.append([name, *_ends(law), f"{error:.2f}"])
    header = ["paper's rounds minus", "least", "at", "largest", "at", "standard error, at most"]
    return format_table(header, rows)


def _ends(laws: Mapping[tuple[str, int], Sequence[int]]) -> list[str]:
    off = {(n, k): implied_rounds(n, k) - statistics.fmean(law) for (n, k), law in laws.items()}
    ends = [min(off, key=lambda case: off[case]), max(off, key=lambda case: off[case])]
    return [cell for n, k in ends for cell in (format_signed(off[n, k], "+.2f"), f"{n}, k = {k}")]


def part_costs(all_found: Sequence[Measured]) -> str:
    """What the first part costs for each answer, and the last for each winner."""
    first = [
        statistics.fmean(run.parts.possible for run in f.runs[k]) * 1e6 / f.source.n
        for f in all_found
        for k in KS
    ]
    paper_first = [
        ms * 1e3 / DATASETS[f.source.paper][1]
        for f in all_found
        for ms in PARTS[f.source.paper]["possible top-k"]
    ]
    last = [
        statistics.fmean(run.parts.gaps for run in f.runs[k]) * 1e6 / k
        for f in all_found
        for k in KS
    ]
    paper_last = [
        ms * 1e3 / k
        for f in all_found
        for k, ms in zip(KS, PARTS[f.source.paper]["find gaps"], strict=True)
    ]
    rows = [
        ["possible top-k, for each of the n answers", *map(format_range, (paper_first, first))],
        ["find gaps, for each of the k named items", *map(format_range, (paper_last, last))],
    ]
    return format_table(["µs, over all data sets and k", "paper", "ours"], rows)


def call_differences(kosarak: Measured) -> str:
    """How far the runs are from what is expected of them, and how many answers they refined."""
    runs = kosarak.runs[800]
    farthest = {
        call: format_signed(max((standardize_calls(run, call) for run in runs), key=abs), "+.1f")
        for call in ("bernoulli", "uniform")
    }
    sizes = [pools[0] for pools in kosarak.pools[800] if pools]
    just_these = sizes.count(802) / len(sizes)
    rows = [
        [f"largest deviation of {len(runs)} runs, Bernoulli calls", f"{farthest['bernoulli']} sd"],
        [f"largest deviation of {len(runs)} runs, uniform calls", f"{farthest['uniform']} sd"],
        ["simulated runs with ties whose first round refined k + 2 = 802", f"{just_these:.1%}"],
        ["most answers in the first round of a simulated run", f"{max(sizes)}"],
    ]
    return format_table(["given the geometric draws of each run", "figure"], rows)


def format_range(values: Sequence[float]) -> str:
    """The least and the largest to one decimal, or one number if they are the same.

    >>> format_range([0.62, 0.58, 0.6]), format_range([1, 2.04])
    ('0.6', '1.0 to 2.0')
    """
    low, high = f"{min(values):.1f}", f"{max(values):.1f}"
    return low if low == high else f"{low} to {high}"
