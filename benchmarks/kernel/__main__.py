"""What the kernel costs beside the best insecure NumPy version, one look at the data, and OpenDP.

`make bench` runs it. Every figure is a ratio of medians of calls that were interleaved in one run:
whole Python calls on int64 arrays in random order, ε = 1, resolution 0.1.
"""

import platform
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
import opendp.prelude as dp

import topgap
from benchmarks.data import load, zipf
from benchmarks.interleaving import measure_medians
from benchmarks.numpy_baselines import select_vectorised

ROOT = Path(__file__).parents[2]
KS = [25, 50, 100, 200, 400, 800]


def against_numpy(name: str, least: int, aim: int) -> None:
    label, counts = load(name)
    print(f"\n{label}: n = {len(counts):,} (at least {least}×, aim {aim}×)")
    print(f"{'k':>6}{'top_k':>12}{'select':>15}{'NumPy':>12}{'NumPy/top_k':>14}")
    for k in KS:
        if k >= len(counts):
            continue
        parameters = topgap.TopK(k, 1)
        scale = float(parameters.scale)
        times = measure_medians(
            {
                "top_k": lambda k=k: topgap.top_k(counts, k, 1),  # type: ignore[misc]
                "select": lambda p=parameters: topgap.select(p, counts),  # type: ignore[misc]
                "numpy": lambda k=k, s=scale: select_vectorised(counts, k, s),  # type: ignore[misc]
            },
            rounds=200,
            calls=5,
        )
        micro = [f"{times[each] * 1e6:.1f} µs" for each in ("top_k", "select", "numpy")]
        ratio = f"{times['numpy'] / times['top_k']:.1f}×"
        print(f"{k:>6}{micro[0]:>12}{micro[1]:>15}{micro[2]:>12}{ratio:>14}")


def against_one_look(k: int) -> None:
    print(f"\nOne look at all counts: Zipf, k = {k} (at 10,000,000 within 5 np.max, aim 2)")
    print(
        f"{'n':>13}{'1 thread':>12}{'2 threads':>12}{'all cores':>12}{'np.max':>12}{'NumPy':>13}"
        f"{'1/np.max':>10}{'1/2':>7}{'NumPy/all':>11}"
    )
    for n, rounds in ((1_000_000, 101), (10_000_000, 31), (100_000_000, 9), (0, 9)):
        # Last, zeros that the system keeps in one page: what threads do if memory sets no limit.
        counts = zipf(n) if n else np.zeros(100_000_000, dtype=np.int64)
        scale = float(topgap.TopK(k, 1).scale)
        runs: dict[str, Callable[[], object]] = {
            "one": lambda c=counts: topgap.top_k(c, k, 1, threads=1),  # type: ignore[misc]
            "two": lambda c=counts: topgap.top_k(c, k, 1, threads=2),  # type: ignore[misc]
            "all": lambda c=counts: topgap.top_k(c, k, 1),  # type: ignore[misc]
            "max": lambda c=counts: np.max(c),  # type: ignore[misc]
            "numpy": lambda c=counts, s=scale: select_vectorised(c, k, s),  # type: ignore[misc]
        }
        times = measure_medians(runs, rounds)
        print(
            f"{f'{n:,}' if n else '10⁸ zeros':>13}"
            + "".join(f"{f'{times[each] * 1e3:.2f} ms':>12}" for each in runs)
            + f"{times['one'] / times['max']:>11.2f}{times['one'] / times['two']:>7.2f}"
            f"{times['numpy'] / times['all']:>10.1f}×"
        )


def against_opendp(k: int) -> None:
    dp.enable_features("contrib")
    label, counts = load("Kosarak")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    scale = float(topgap.TopK(k, 1).scale)
    measurement = dp.m.make_noisy_top_k(
        domain, dp.linf_distance(T="i64"), dp.max_divergence(), k=k, scale=scale
    )
    spent = measurement.map(1)  # type: ignore[no-untyped-call]
    listed = counts.tolist()
    opendp_seconds = measure_medians({"opendp": lambda: measurement(listed)}, rounds=3)["opendp"]
    times = measure_medians({"top_k": lambda: topgap.top_k(counts, k, 1)}, rounds=500)
    print(
        f"\n{label}: n = {len(counts):,}, k = {k}, ε = 1 (at least 10,000×)\n"
        f"  OpenDP {version('opendp')} make_noisy_top_k, no gaps, ε = {spent:g}: "
        f"{opendp_seconds:.2f} s\n"
        f"  topgap, with gaps: {times['top_k'] * 1e6:.1f} µs, "
        f"{opendp_seconds / times['top_k']:,.0f}× faster"
    )


# Linux tells the peak since it was last reset.
MEMORY = """
from benchmarks.data import zipf
import topgap

def peak():
    lines = open("/proc/self/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

counts = zipf(10_000_000)
topgap.top_k(counts[:5000], 100, 1)
open("/proc/self/clear_refs", "w").write("5")
before = peak()
for _ in range(3):
    topgap.top_k(counts, 100, 1)
print(peak() - before)
"""


def memory() -> None:
    run = subprocess.run(
        [sys.executable, "-c", MEMORY],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    print(f"\nn = 10,000,000, k = 100: {int(run.stdout)} KiB more memory (under 16,384)")


def main() -> None:
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, topgap {topgap.__version__}"
    )
    against_numpy("Kosarak", least=4, aim=10)
    against_numpy("part of BMS-POS", least=1, aim=2)
    against_numpy("T40I10D100K", least=1, aim=2)
    against_one_look(100)
    memory()
    against_opendp(25)


if __name__ == "__main__":
    main()
