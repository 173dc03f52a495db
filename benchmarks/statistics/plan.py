"""How long a plan takes: 10,000 simulated releases of 40,000 counts, and the grid of ten ε.

`make bench` runs it. The counts fall as one over the rank, in random order; resolution 0.1,
monotonic. A plan simulates two kinds of releases: names and gaps, and counts too. Seconds are the
median of whole calls of `topgap.plan`; beside them, those of the kernel's calls alone, as many.
"""

import platform
import statistics
import time
from collections.abc import Callable

import numpy as np

import topgap
from benchmarks.data import Counts, zipf

N, RELEASES, ROUNDS = 40_000, 10_000, 5
KS = [10, 25, 100]


def seconds(run: Callable[[], object], rounds: int = ROUNDS) -> float:
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def kernel_alone(counts: Counts, k: int) -> None:
    for epsilon in (1, "1/2"):
        kernel = topgap.TopK(k, epsilon, monotonic=True).kernel
        assert kernel is not None  # noqa: S101
        for _ in range(RELEASES):
            kernel.release(counts, in_steps=False, threads=0)


def main() -> None:
    print(
        f"Python {platform.python_version()}, NumPy {np.__version__}, topgap {topgap.__version__}\n"
        f"\nZipf, n = {N:,}, ε = 1: {RELEASES:,} releases of each of the two kinds"
    )
    counts = zipf(N)
    print(f"{'k':>6}{'topgap.plan':>14}{'kernel alone':>15}{'plan, a kind':>15} (about 1 s)")
    for k in KS:
        whole = seconds(lambda k=k: topgap.plan(counts, k, 1, monotonic=True))  # type: ignore[misc]
        alone = seconds(lambda k=k: kernel_alone(counts, k))  # type: ignore[misc]
        columns = [f"{each:.2f} s" for each in (whole, alone, whole / 2)]
        print(f"{k:>6}{columns[0]:>14}{columns[1]:>15}{columns[2]:>15}")
    print(f"\nThe same with all {len(topgap.planning.EPSILONS)} values of ε, once")
    for k in KS:
        whole = seconds(lambda k=k: topgap.plan(counts, k, monotonic=True), 1)  # type: ignore[misc]
        print(f"{k:>6}{f'{whole:.2f} s':>14}")
    many, few = 5_000, 500
    whole = seconds(lambda: topgap.plan(counts, many, 1, releases=few, monotonic=True), 1)
    print(f"\nk = {many:,}, ε = 1, {few:,} releases of each kind: {whole:.2f} s")


if __name__ == "__main__":
    main()
