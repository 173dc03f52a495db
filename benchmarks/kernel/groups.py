"""What a list for each group costs beside the insecure NumPy version on the two-dimensional array.

`make bench` runs it. Every figure is a median of calls that were interleaved in one run, at ε = 1
with monotonic counts, resolution 0.1: whole Python calls on an int64 array with a row for each
group, whose counts fall as one over the rank, in an order of their own in each row. NumPy has to
give the same: the winners of each row from the largest down, and the gaps.
"""

import os
import platform
import sys
from collections.abc import Callable

import numpy as np

import topgap
from benchmarks.interleaving import measure_medians
from benchmarks.numpy_baselines import select_rows_vectorised

K = 10
LEAST_TIMES = 5
SHAPES = ((10_000, 1_000), (1_000, 10_000), (100, 100_000), (100_000, 100))


def beside_numpy(groups: int, items: int) -> None:
    counts = made_up(groups, items)
    names = [f"item {number}" for number in range(items)]
    scale = float(topgap.TopK(K, 1, monotonic=True).scale)
    call = topgap.top_k_by_group
    runs: dict[str, Callable[[], object]] = {
        "all": lambda: call(counts, K, 1, monotonic=True),
        "one": lambda: call(counts, K, 1, monotonic=True, threads=1),
        "named": lambda: call(counts, K, 1, monotonic=True, items=names),
        "numpy": lambda: select_rows_vectorised(counts, K, scale),
    }
    times = measure_medians(runs, rounds=21)
    print(
        f"{groups:>9,}{items:>9,}"
        + "".join(f"{f'{times[each] * 1e3:.1f} ms':>12}" for each in runs)
        + f"{times['numpy'] / times['all']:>11.1f}×{times['numpy'] / times['named']:>12.1f}×"
    )


def made_up(groups: int, items: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    generator = np.random.default_rng()
    row = 10 * items // np.arange(1, items + 1, dtype=np.int64)
    return generator.permuted(np.tile(row, (groups, 1)), axis=1)


def main() -> None:
    print(
        f"python -m benchmarks.kernel.groups, {platform.machine()}, Python "
        f"{sys.version.split()[0]}, NumPy {np.__version__}, load {os.getloadavg()[0]:.1f}"
    )
    print(f"\nk = {K} in each group (10,000 groups of 1,000 items: at least {LEAST_TIMES}×)")
    print(
        f"{'groups':>9}{'items':>9}{'top_k':>12}{'1 thread':>12}{'with names':>12}{'NumPy':>12}"
        f"{'NumPy/top_k':>12}{'NumPy/named':>13}"
    )
    for groups, items in SHAPES:
        beside_numpy(groups, items)


if __name__ == "__main__":
    main()
