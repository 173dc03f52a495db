"""What a threshold with exponential noise costs in time: a release with one beside one without.

`make bench` runs it. Every figure is a median of calls that were interleaved in one run, at ε = 1
with monotonic counts, resolution 0.1. The threshold is the count of the item that has this true
rank; "named" is how many items were named on average. The first tables have whole Python calls on
int64 arrays in random order, the second of them in one thread. In the last, of a domain, "drawing"
is what comes after the counts were read and checked, as in `benchmarks.kernel.runs`.
"""

import os
import platform
import sys
from collections.abc import Callable
from functools import partial

import numpy as np

import topgap
from benchmarks.data import Counts, load, zipf
from benchmarks.interleaving import Runs, measure_medians
from benchmarks.utility.contributions import retail
from topgap import Domain, Release, TopK
from topgap.selection.mechanism import select_prepared
from topgap.selection.preparation import prepare

KS = (25, 100)
RANKS = (5, 25, 60)
MEMBERS = 10**12
MOST_TIMES = 1.05

ReleaseOf = Callable[[int, int | None], Callable[[], Release]]
"""From k and a threshold, or none, to a call that releases."""


def beside_none(label: str, release_of: ReleaseOf, counts: Counts, rounds: int, calls: int) -> None:
    """Releases with a threshold at each rank of the largest counts, and without."""
    downwards = np.sort(counts)[::-1]
    print(f"\n{label} (within {MOST_TIMES})")
    print(f"{'k':>5}{'rank':>6}{'without':>12}{'threshold':>12}{'ratio':>9}{'named':>8}")
    for k in KS:
        cuts = {rank: release_of(k, int(downwards[rank - 1])) for rank in RANKS}
        runs: Runs = {"none": release_of(k, None), **{str(rank): cuts[rank] for rank in RANKS}}
        times = measure_medians(runs, rounds, calls)
        for rank, cut in cuts.items():
            named = sum(len(cut()) for _ in range(20)) / 20
            without, within = times["none"], times[str(rank)]
            print(
                f"{k:>5}{rank:>6}{_time(without):>12}{_time(within):>12}"
                f"{within / without:>8.2f}×{named:>8.1f}"
            )


def whole_call(
    counts: Counts, threads: int | None, k: int, threshold: int | None
) -> Callable[[], Release]:
    return partial(topgap.top_k, counts, k, 1, monotonic=True, threshold=threshold, threads=threads)


def drawing(counts: Counts, domain: Domain, k: int, threshold: int | None) -> Callable[[], Release]:
    parameters = TopK(k, 1, monotonic=True, threshold=threshold)
    prepared = prepare(parameters, dict(enumerate(counts.tolist())), domain=domain)
    return partial(select_prepared, parameters, prepared, gaps=True)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def main() -> None:
    print(
        f"python -m benchmarks.kernel.threshold, {platform.machine()}, Python "
        f"{sys.version.split()[0]}, NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    )
    baskets = retail()
    tables = [load("T40I10D100K"), (baskets.label, np.bincount(baskets.items)), load("Kosarak")]
    for name, counts in tables:
        items = f"{len(counts):,}"
        beside_none(f"{name}: n = {items}", partial(whole_call, counts, None), counts, 800, 5)
    many = zipf(10_000_000)
    beside_none(f"Zipf: n = {len(many):,}", partial(whole_call, many, 1), many, 801, 1)
    label = f"{name}: {items} items listed, in a domain of 10^12, drawing"
    domain = Domain.range(0, MEMBERS)
    beside_none(label, partial(drawing, counts, domain), counts, 400, 5)


if __name__ == "__main__":
    main()
