"""What Laplace noise on every count costs, beside NumPy, beside `top_k`, and in a large domain.

`make bench` runs it. Every figure is a ratio of medians of calls that were interleaved in one run,
at ε = 1 with monotonic counts and L = 5. The first tables have whole Python calls on int64 arrays
in random order. NumPy is insecure: floats for all counts, from `Generator.laplace` or as the
difference of two exponentials, which is faster, and the largest by `argpartition`. In the last
table "drawing" is what comes after the counts were read and checked, and the whole call is
`topgap.select` on a dict, as in `benchmarks.kernel.runs`.
"""

import os
import platform
import sys
from functools import partial

import numpy as np

import topgap
from benchmarks.data import Counts, load, zipf
from benchmarks.interleaving import Runs, measure_medians
from benchmarks.numpy_baselines import select_difference, select_laplace
from topgap import Domain, TopK
from topgap.selection.mechanism import select_prepared
from topgap.selection.preparation import prepare

KS = (25, 100, 800)
BOUND = 5
MEMBERS = 10**12
MOST_TIMES = 1.5


def beside_others(label: str, counts: Counts, rounds: int, calls: int) -> None:
    """Whole calls on an array."""
    print(f"\n{label}: n = {len(counts):,}, L = {BOUND}")
    print(
        f"{'k':>5}{'bounded':>11}{'top_k':>11}{'laplace':>12}{'difference':>12}"
        f"{'bounded/top_k':>15}{'laplace/bounded':>17}{'difference/bounded':>20}"
    )
    for k in KS:
        few = TopK(k, 1, monotonic=True, items_per_person=BOUND)
        assert few.noise == "laplace"  # noqa: S101 - L is less than k
        scale = float(few.scale)
        runs: Runs = {
            "bounded": partial(topgap.top_k, counts, k, 1, monotonic=True, items_per_person=BOUND),
            "top_k": partial(topgap.top_k, counts, k, 1, monotonic=True),
            "laplace": partial(select_laplace, counts, k, scale),
            "difference": partial(select_difference, counts, k, scale),
        }
        times = measure_medians(runs, rounds, calls)
        bounded, unbounded, laplace, difference = (times[name] for name in runs)
        print(
            f"{k:>5}{_time(bounded):>11}{_time(unbounded):>11}{_time(laplace):>12}"
            f"{_time(difference):>12}{bounded / unbounded:>14.2f}×{laplace / bounded:>16.1f}×"
            f"{difference / bounded:>19.1f}×"
        )


def in_a_domain(name: str) -> None:
    """The same counts alone, and listed in a domain of `MEMBERS`."""
    label, array = load(name)
    counts = dict(enumerate(array.tolist()))
    domain = Domain.range(0, MEMBERS)
    print(
        f"\n{label}: {len(counts):,} items listed, in a domain of 10^12, L = {BOUND} "
        f"(drawing within {MOST_TIMES})"
    )
    print(
        f"{'k':>6}{'alone':>13}{'in domain':>13}{'ratio':>9}{'whole, alone':>16}"
        f"{'in domain':>13}{'ratio':>9}{'nobody has':>12}"
    )
    for k in KS:
        parameters = TopK(k, 1, monotonic=True, items_per_person=BOUND)
        alone, within = prepare(parameters, counts), prepare(parameters, counts, domain=domain)
        drawing = measure_medians(
            {
                "alone": partial(select_prepared, parameters, alone, gaps=True),
                "within": partial(select_prepared, parameters, within, gaps=True),
            },
            rounds=200,
            calls=5,
        )
        whole = measure_medians(
            {
                "alone": partial(topgap.select, parameters, counts),
                "within": partial(topgap.select, parameters, counts, domain=domain),
            },
            rounds=21,
        )
        releases = [select_prepared(parameters, within, gaps=True) for _ in range(20)]
        empty = sum(item not in counts for each in releases for item in each.items) / len(releases)
        print(
            f"{k:>6}{_time(drawing['alone']):>13}{_time(drawing['within']):>13}"
            f"{drawing['within'] / drawing['alone']:>8.2f}×{_time(whole['alone']):>16}"
            f"{_time(whole['within']):>13}{whole['within'] / whole['alone']:>8.2f}×{empty:>12.1f}"
        )


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def main() -> None:
    print(
        f"python -m benchmarks.kernel.bounded, {platform.machine()}, Python "
        f"{sys.version.split()[0]}, NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    )
    beside_others(*load("Kosarak"), rounds=200, calls=5)
    beside_others("Zipf", zipf(10_000_000), rounds=15, calls=1)
    in_a_domain("Kosarak")


if __name__ == "__main__":
    main()
