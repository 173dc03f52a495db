"""topgap beside its peers, in one run: times, growth, random bits and memory, for docs/peers.md.

    python -m benchmarks.peers           # some nine minutes; fills docs/peers.md and docs/peers/
    python -m benchmarks.peers --quick   # about a minute; prints, and writes nothing

What is written is written at the end, so that Ctrl-C leaves the page as it was.
"""

import argparse
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.pages import DOCS, describe_machine, fill_places, format_table, write_csv
from benchmarks.peers import memory, plots, random_bits, tables, times
from benchmarks.peers.contenders import ALL, flat
from benchmarks.peers.probe import program
from benchmarks.peers.times import Sizes

FULL = Sizes(
    ns=(10**3, 10**4, 10**5, 10**6, 10**7),
    ks=(1, 10, 100, 1000),
    # Closer where the answers outgrow the caches, so that enough cells lie on topgap's line there.
    between=(3_162, 31_623, 316_228, 1_778_279, 3_162_278, 5_623_413),
)
FLAT = Sizes(ns=(10**4, 10**5, 10**6), ks=(1, 100), between=())
QUICK = Sizes(ns=(10**3, 10**4), ks=(1, 10), between=(3_162,))
QUICK_FLAT = Sizes(ns=(10**4,), ks=(1, 10), between=())
GROWTH_N, GROWTH_K = 10_000, 1  # where the growth over the other is measured
PACKAGES = ("topgap", "numpy", "opendp", "diffprivlib", "scikit-learn")


class Measured(NamedTuple):
    """All that one run found."""

    sizes: Sizes
    flat_sizes: Sizes
    limit: float
    minutes: float
    timings: list[times.Timing]
    flat: list[times.Timing]
    bits: list[random_bits.Bits]
    peaks: list[memory.Memory]


def main() -> None:
    """Measure, then print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few sizes; print, write nothing")
    parser.add_argument(
        "--limit", type=float, default=10.0, help="leave out calls expected to take longer (10 s)"
    )
    asked = parser.parse_args()
    if asked.quick:
        print("\n\n".join(places(measure(QUICK, QUICK_FLAT, 1.0, QUICK.ns[-1:])).values()))
    else:
        write(measure(FULL, FLAT, asked.limit, FULL.ns[1:]), DOCS)


def measure(sizes: Sizes, flat_sizes: Sizes, limit: float, memory_ns: tuple[int, ...]) -> Measured:
    """One run of everything; what is expected to take longer than the limit is left out."""
    program()  # which needs cargo, and had better fail now than after minutes
    start = time.perf_counter()
    timings = times.measure(ALL, sizes, limit)
    even = times.measure(ALL, flat_sizes, limit, flat)
    bits = random_bits.count(timings, sizes, limit / 4)
    peaks = memory.measure(ALL, timings, memory_ns, limit)
    minutes = (time.perf_counter() - start) / 60
    return Measured(sizes, flat_sizes, limit, minutes, timings, even, bits, peaks)


def places(measured: Measured) -> dict[str, str]:
    """The tables of the page, by the name of their place."""
    return {
        "run": run_table(measured),
        "times": tables.times(measured.timings, measured.sizes),
        "left out": tables.left_out(measured.timings),
        "flat": tables.times(measured.flat, measured.flat_sizes),
        "growth": tables.growth(measured.timings, GROWTH_N, GROWTH_K),
        "bits": tables.bits(measured.bits, measured.sizes),
        "memory": tables.memory(measured.peaks),
    }


def run_table(measured: Measured) -> str:
    """What was run, on what machine, and what OpenDP says that its calls cost."""
    rows = [
        ["command", f"`python -m benchmarks.peers --limit {measured.limit:g}`"],
        ["machine", describe_machine(*PACKAGES)],
        ["minutes", f"{measured.minutes:.0f}"],
        ["calls left out, if expected to take more than", f"{measured.limit:g} s"],
        *tables.spent(measured.sizes),
    ]
    return format_table(["setting", "value"], rows, text_columns=2)


def write(measured: Measured, docs: Path) -> None:
    """Fill the page and write the files beside it."""
    folder = docs / "peers"
    folder.mkdir(exist_ok=True)
    write_csv(folder / "times.csv", tables.TIMES_HEADER, tables.time_rows(measured.timings))
    write_csv(folder / "times_flat.csv", tables.TIMES_HEADER, tables.time_rows(measured.flat))
    write_csv(folder / "bits.csv", random_bits.Bits._fields, measured.bits)
    write_csv(folder / "memory.csv", memory.Memory._fields, measured.peaks)
    plots.draw(measured.timings, GROWTH_N, GROWTH_K, folder / "growth.svg")
    fill_places(docs / "peers.md", places(measured))
