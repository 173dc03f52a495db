"""topgap beside its peers, in one run: times, growth, random bits and memory, for docs/peers.md.

    python benchmarks/peers           # some nine minutes; fills docs/peers.md and docs/peers/
    python benchmarks/peers --quick   # under a minute; prints, and writes nothing

What is written is written at the end, so that Ctrl-C leaves the page as it was.
"""

import argparse
import sys
import time
from pathlib import Path

# What all benchmarks share stands one folder up from where Python looks.
sys.path[0] = str(Path(__file__).parents[1])

from peers import memory, plots, random_bits, tables, times  # noqa: E402
from peers.contenders import ALL  # noqa: E402
from peers.times import Sizes  # noqa: E402
from written import DOCS, fill, machine, write_csv  # noqa: E402

FULL = Sizes(
    ns=(10**3, 10**4, 10**5, 10**6, 10**7),
    ks=(1, 10, 100, 1000),
    between=(3_162, 31_623, 316_228, 3_162_278),
)
QUICK = Sizes(ns=(10**3, 10**4), ks=(1, 10), between=(3_162,))
GROWTH_N, GROWTH_K = 10_000, 1  # where the growth over the other is measured
PACKAGES = ("topgap", "numpy", "opendp", "diffprivlib", "scikit-learn")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sizes; print, write nothing")
    parser.add_argument(
        "--limit", type=float, default=10.0, help="leave out calls that take longer, in seconds"
    )
    asked = parser.parse_args()
    sizes, limit = (QUICK, 1.0) if asked.quick else (FULL, asked.limit)
    start = time.perf_counter()
    timings = times.measure(ALL, sizes, limit)
    counted = random_bits.count(timings, sizes, limit / 4)
    peaks = memory.measure(ALL, timings, sizes.ns[-1:] if asked.quick else sizes.ns, limit)
    took = time.perf_counter() - start
    how = (
        f"`python benchmarks/peers` measured this in {took / 60:.0f} minutes, with calls of more "
        f"than {limit:g} s left out: {machine(*PACKAGES)}. {tables.spent(sizes)}"
    )
    filled = {
        "machine": how,
        "times": tables.times(timings, sizes),
        "left out": tables.left_out(timings),
        "growth": tables.growth(timings, GROWTH_N, GROWTH_K),
        "bits": tables.bits(counted, sizes),
        "memory": tables.memory(peaks),
    }
    if asked.quick:
        print("\n\n".join(filled.values()))
        return
    folder = DOCS / "peers"
    folder.mkdir(exist_ok=True)
    write_csv(folder / "times.csv", tables.TIMES_HEADER, tables.time_rows(timings))
    write_csv(folder / "bits.csv", random_bits.Bits._fields, counted)
    write_csv(folder / "memory.csv", memory.Memory._fields, peaks)
    plots.draw(timings, GROWTH_N, GROWTH_K, folder / "growth.svg")
    fill(DOCS / "peers.md", filled)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
