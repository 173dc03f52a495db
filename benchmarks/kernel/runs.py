"""What a domain that is not written out costs beside its listed items, and beside its list.

`make bench` runs it. Every figure is a ratio of medians of calls that were interleaved in one run,
at ε = 1 with monotonic counts. "Drawing" is what comes after the counts were read and checked:
the kernel, the look-up of the heads, and the release. "Whole call" is `topgap.top_k` on a dict.
"""

import platform
import sys
import tracemalloc
from functools import partial

import topgap
from benchmarks.data import load, zipf
from benchmarks.interleaving import Runs, measure_medians
from topgap import Domain, TopK
from topgap.selection.mechanism import select_prepared
from topgap.selection.preparation import Prepared, prepare

KS = (10, 100)
WRITTEN_OUT = 10**7


def beside_the_listed(name: str) -> None:
    """The same counts alone, and listed in domains of more and more members."""
    label, array = load(name)
    counts = dict(enumerate(array.tolist()))
    listed = len(counts)
    sizes = {f"{listed:,}": listed, "10^12": 10**12, "2^64": 2**64, "2^256": 2**256}
    print(f"\n{label}: {listed:,} items listed, in a domain of N")
    print(f"{'k':>5}{'N':>10}{'drawing':>12}{'of listed':>11}{'whole call':>13}{'of listed':>11}"
          f"{'nobody has':>12}")  # fmt: skip
    for k in KS:
        parameters = TopK(k, 1, monotonic=True)
        domains = {"alone": None, **{n: Domain.range(0, size) for n, size in sizes.items()}}
        data = {n: prepare(parameters, counts, domain=domain) for n, domain in domains.items()}
        drawing = measure_medians(
            {n: partial(select_prepared, parameters, each, gaps=True) for n, each in data.items()},
            rounds=200,
            calls=5,
        )
        whole = measure_medians(
            {
                n: partial(topgap.select, parameters, counts, domain=each)
                for n, each in domains.items()
            },
            rounds=21,
            calls=1,
        )
        for n in domains:
            empty = 0 if n == "alone" else _count_empty(parameters, data[n], counts)
            print(
                f"{k:>5}{n:>10}{drawing[n] * 1e6:>9.1f} µs{drawing[n] / drawing['alone']:>10.2f}×"
                f"{whole[n] * 1e3:>10.2f} ms{whole[n] / whole['alone']:>10.2f}×{empty:>12.1f}"
            )


def _count_empty(parameters: TopK, data: Prepared, counts: dict[int, int]) -> float:
    """How many of the winners have no count, on average."""
    releases = [select_prepared(parameters, data, gaps=True) for _ in range(50)]
    return sum(item not in counts for each in releases for item in each.items) / len(releases)


def beside_the_list(k: int, occurring: int) -> None:
    """Ten million members of which a few occur: written out, and as a run."""
    counts = dict(enumerate(zipf(occurring).tolist()))
    written = [*range(WRITTEN_OUT)]
    release = partial(topgap.select, TopK(k, 1, monotonic=True), counts)
    ways: Runs = {
        "written out": partial(release, domain=written),
        "run": partial(release, domain=Domain.range(0, WRITTEN_OUT)),
    }
    times = measure_medians(ways, rounds=5, calls=1)
    print(f"\n{WRITTEN_OUT:,} members of which {occurring:,} occur, k = {k}: the whole call")
    for name, way in ways.items():
        tracemalloc.start()
        way()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        ratio = times["written out"] / times[name]
        print(f"{name:>13}{times[name] * 1e3:>10.1f} ms{ratio:>10.0f}×{peak / 2**20:>10.1f} MiB")


def main() -> None:
    print(
        f"python -m benchmarks.kernel.runs, {platform.machine()}, Python {sys.version.split()[0]}"
    )
    beside_the_listed("Kosarak")
    beside_the_list(k=10, occurring=1_000)


if __name__ == "__main__":
    main()
