"""How long calls take, measured in turn, so that whatever slows the machine slows all of them."""

import random
import statistics
import time
from collections.abc import Callable

Runs = dict[str, Callable[[], object]]


def measure_medians(runs: Runs, rounds: int, calls: int = 1) -> dict[str, float]:
    """The median seconds of a call, each run in turn for so many rounds of so many calls."""
    return {
        name: statistics.median(times)
        for name, times in measure_seconds(runs, rounds, calls).items()
    }


def measure_seconds(runs: Runs, rounds: int, calls: int = 1) -> dict[str, list[float]]:
    """The seconds of a call in each round, each run in turn for so many rounds of so many calls.

    Their order is another one in each round, for whoever comes after NumPy finds the caches cold.
    """
    found: dict[str, list[float]] = {name: [] for name in runs}
    order = [*runs.items()]
    for _ in range(rounds):
        random.shuffle(order)
        for name, run in order:
            start = time.perf_counter()
            for _ in range(calls):
                run()
            found[name].append((time.perf_counter() - start) / calls)
    return found
