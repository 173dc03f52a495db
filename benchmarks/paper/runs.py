"""Runs of the paper's algorithms, its baseline and the kernel, in turn, with all that is reported.

The pruned algorithm is timed in its three parts, without a change to it: the first ends when it
first looks for a tie, and the last begins with the shuffle.
"""

import math
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple
from unittest.mock import patch

import topgap
from benchmarks.data import Counts, load
from benchmarks.interleaving import Runs, measure_seconds
from benchmarks.numpy_baselines import select_scalar
from benchmarks.paper.probabilities import coins_of, exponential, pools
from topgap import TopK
from topgap.reference import Sampler, gap_top_k, gap_top_k_pruned, secure

KERNEL_CALLS = 20  # in its turn, for a hundred microseconds would be all cold caches
SLOWER = 2  # so many times fewer runs of the script's law: its noise takes longer to draw

Clock = Callable[[], float]


class Parts(NamedTuple):
    """The seconds of each part of the pruned algorithm."""

    possible: float
    ties: float
    gaps: float


class Run(NamedTuple):
    """The parts and the calls of one run of the pruned algorithm."""

    parts: Parts
    calls: Counter[str]

    @property
    def rounds(self) -> int:
        """How often the resolution was refined."""
        return self.calls["argsort"] - 1


class Source(NamedTuple):
    """Counts to measure on, and which of the paper's data sets they stand for."""

    paper: str
    label: str
    counts: Counts

    @classmethod
    def load(cls, paper: str) -> "Source":
        """The counts for one of the paper's data sets; of BMS-POS a part is at hand."""
        return cls(paper, *load("part of BMS-POS" if paper == "BMS-POS" else paper))

    @property
    def real(self) -> bool:
        """Whether these are counts of the data set, or of a part of it, and not made up."""
        return self.label in (self.paper, f"part of {self.paper}")

    @property
    def n(self) -> int:
        """How many answers there are."""
        return len(self.counts)


@dataclass
class Measured:
    """What was measured on one data set, for each k."""

    source: Source
    times: dict[tuple[str, int], list[float]] = field(default_factory=dict)
    runs: dict[int, list[Run]] = field(default_factory=dict)
    pools: dict[int, list[list[int]]] = field(default_factory=dict)
    script_rounds: dict[int, list[int]] = field(default_factory=dict)

    def typical(self, way: str, k: int) -> float:
        """The mean time; of the kernel the median, as one interruption outweighs all its calls."""
        times = self.times[way, k]
        return statistics.median(times) if way == "Kernel" else statistics.fmean(times)


class _Marking(Sampler):
    """A sampler that notes when the shuffle begins."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self.shuffled: list[float] = []

    def shuffle(self, n: int) -> list[int]:
        self.shuffled.append(self._clock())
        return super().shuffle(n)


def pruned(counts: list[int], parameters: TopK, clock: Clock = time.perf_counter) -> Run:
    """Run the pruned algorithm once, and time its parts."""
    sampler = _Marking(clock)
    looked: list[float] = []
    tie = secure._tie

    def marking(descending: Iterable[int]) -> bool:
        looked.append(clock())
        return tie(descending)

    with patch.object(secure, "_tie", marking):
        start = clock()
        gap_top_k_pruned(counts, parameters, sampler=sampler)
        end = clock()
    (shuffled,) = sampler.shuffled
    parts = Parts(looked[0] - start, shuffled - looked[0], end - shuffled)
    return Run(parts, sampler.calls)


def measure(
    source: Source, ks: Iterable[int], rounds: int, simulated: int, tell: Callable[[str], None]
) -> Measured:
    """Run everything for so many rounds, and draw so many times how its ties come out."""
    found = Measured(source)
    runs: Runs = {}
    keys: dict[str, tuple[str, int]] = {}  # of what is timed from outside
    for k in ks:
        for way, call in _ways(source.counts, k, found).items():
            runs[f"{way} {k}"] = call
            if way != "Kernel":
                keys[f"{way} {k}"] = (way, k)
    for done in range(rounds):
        tell(f"{source.label}: round {done + 1} of {rounds}")
        elapsed = measure_seconds(runs, rounds=1)
        for name, key in keys.items():
            found.times.setdefault(key, []).extend(elapsed[name])
    for k in ks:
        tell(f"{source.label}: how ties come out, k = {k}")
        parameters = TopK(k, 1)
        steps, t = float(1 / parameters.resolution), int(1 / parameters.rate)
        by_law, by_script = exponential(t), coins_of(math.factorial, t)
        found.pools[k] = [pools(source.counts, k, steps, by_law) for _ in range(simulated)]
        found.script_rounds[k] = [
            len(pools(source.counts, k, steps, by_script)) for _ in range(simulated // SLOWER)
        ]
    return found


def _ways(counts: Counts, k: int, found: Measured) -> Runs:
    """What is measured; the reference gets a list, as it reads one faster than an array."""
    parameters = TopK(k, 1)
    listed = counts.tolist()

    def opt_secure() -> None:
        found.runs.setdefault(k, []).append(pruned(listed, parameters))

    def kernel() -> None:
        for _ in range(KERNEL_CALLS):
            start = time.perf_counter()
            topgap.top_k(counts, k, 1)
            found.times.setdefault(("Kernel", k), []).append(time.perf_counter() - start)

    return {
        "Secure": partial(gap_top_k, listed, parameters),
        "Opt. Secure": opt_secure,
        "Baseline": partial(select_scalar, counts, k, float(parameters.scale)),
        "Kernel": kernel,
    }
