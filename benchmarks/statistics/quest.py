"""Made-up baskets beside the public file T40I10D100K: what the same generator gives by chance.

`python -m benchmarks.statistics.quest` prints, for each figure, the least, the median, the most
and the standard deviation over seeds, and the public file's from ../shared/data where it is, with
its distance from the median. It takes about four minutes.
"""

import gzip
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np

from benchmarks.data import SHARED
from topgap.datasets import T40I10D100K, Quest, baskets

PUBLIC = SHARED / "t40i10d100k.dat.gz"
SEEDS = range(20)
VARIANTS = {
    "as the file: both levels 0.25": T40I10D100K,
    "as the paper: both levels 0.5": Quest(correlation=0.5, corruption=0.5),
    "correlation 0.5 alone": Quest(correlation=0.5),
    "corruption 0.5 alone": Quest(corruption=0.5),
    "equally likely items": Quest(equal_items=True),
}
RANKS = (1, 10, 25, 100, 500)
PAIRED = 20_000
ROUNDS = 5


def main() -> None:
    public = figures(public_baskets()) if PUBLIC.exists() else {}
    for label, quest in VARIANTS.items():
        print(f"{label}; seeds {SEEDS[0]} to {SEEDS[-1]}")
        made = [figures(baskets(quest, seed)) for seed in SEEDS]
        print(row("", ["least", "median", "most", "sd", "public file", "off by"]))
        for name in made[0]:
            values = sorted(each[name] for each in made)
            middle, deviation = statistics.median(values), statistics.stdev(values)
            cells = [f"{x:,.6g}" for x in (values[0], middle, values[-1])] + [f"{deviation:,.4g}"]
            if name in public:
                cells.append(f"{public[name]:,.6g}")
                cells.append(f"{(public[name] - middle) / deviation:+.1f} sd" if deviation else "")
            print(row(name, cells))
        print()
    print(f"one data set takes {seconds_to_make():.2f} s, the median of {ROUNDS}")


def row(name: str, cells: list[str]) -> str:
    return f"  {name:<26}" + "".join(f"{cell:>12}" for cell in cells)


def figures(baskets: Iterable[list[int]]) -> dict[str, float]:
    """What data sets are compared by; for pairs of items, the first 20,000 baskets will do."""
    sizes: list[int] = []
    counts: Counter[int] = Counter()
    rows = np.zeros((PAIRED, T40I10D100K.items), np.float32)
    for basket in baskets:
        if len(sizes) < PAIRED:
            rows[len(sizes), basket] = 1
        sizes.append(len(basket))
        counts.update(basket)
    ranked = sorted(counts.values(), reverse=True)
    both, each = rows.T @ rows, rows.sum(axis=0)
    upper = np.triu_indices(len(each), 1)
    pairs, by_chance = both[upper], np.outer(each, each)[upper] / PAIRED
    common = by_chance >= PAIRED / 500
    return {
        "different items": len(counts),
        "mean size": statistics.fmean(sizes),
        "sd of size": statistics.pstdev(sizes),
        **{f"count of item no. {rank}": ranked[rank - 1] for rank in RANKS},
        "mean count": statistics.fmean(ranked),
        "pairs in 1% of baskets": int((pairs >= PAIRED / 100).sum()),
        "99th percentile of lift": float(np.quantile(pairs[common] / by_chance[common], 0.99)),
    }


def public_baskets() -> Iterator[list[int]]:
    with gzip.open(PUBLIC, "rt", encoding="ascii") as lines:
        for line in lines:
            yield [int(item) for item in line.split()]


def seconds_to_make() -> float:
    times = []
    for seed in range(ROUNDS):
        start = time.perf_counter()
        for _ in baskets(T40I10D100K, seed):
            pass
        times.append(time.perf_counter() - start)
    return statistics.median(times)


if __name__ == "__main__":
    main()
