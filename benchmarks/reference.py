"""What the reference costs: time, interleaved in one run, and draws as in the paper's last table.

`make bench` runs it. It takes Kosarak's counts from ../shared/data where they are, else a Zipf law
of the same size.
"""

import statistics
import time
from collections.abc import Callable

from data import load
from topgap import TopK
from topgap.reference import Sampler, gap_top_k, gap_top_k_pruned
from topgap.reference.insecure_floats import gap_top_k_ideal

ROUNDS = 5
PARAMETERS = TopK(k=800, epsilon=1)

# Table 5 of the paper: Kosarak, k = 800, one run of the pruned algorithm.
PAPER = {"geometric": 42_874, "bernoulli": 303_216, "uniform": 369_613, "argsort": 3}


def main() -> None:
    name, array = load("Kosarak")
    counts = array.tolist()
    print(f"{name}: n = {len(counts):,}, k = {PARAMETERS.k}, ε = 1, resolution 1/10, M = 10\n")

    runs: dict[str, Callable[[], object]] = {
        "Algorithm 4": lambda: gap_top_k(counts, PARAMETERS),
        "Algorithm 4, pruned": lambda: gap_top_k_pruned(counts, PARAMETERS),
        "Algorithm 1, insecure NumPy": lambda: gap_top_k_ideal(counts, PARAMETERS),
    }
    seconds: dict[str, list[float]] = {label: [] for label in runs}
    for _ in range(ROUNDS):
        for label, run in runs.items():
            start = time.perf_counter()
            run()
            seconds[label].append(time.perf_counter() - start)
    print(f"median of {ROUNDS} interleaved runs, whole call on a list")
    for label, times in seconds.items():
        print(f"  {label:<28}{statistics.median(times) * 1000:>10.1f} ms")

    sampler = Sampler()
    gap_top_k_pruned(counts, PARAMETERS, sampler=sampler)
    print(
        "\ncalls in one run of the pruned algorithm" + " " * 9 + "ours     per geometric     paper"
    )
    geometric = sampler.calls["geometric"]
    for call, calls in sorted(sampler.calls.items()):
        paper = f"{PAPER[call]:,}" if call in PAPER else "–"
        print(f"  {call:<34}{calls:>17,}{calls / geometric:>18.2f}{paper:>10}")


if __name__ == "__main__":
    main()
