"""How often intervals cover, and how far estimates lean, from clear winners to ties.

`make coverage` runs it: 100,000 releases of each kind of data through `topgap.top_k_with_estimates`
and `Estimates.intervals`, in half an hour. Unless said otherwise ε = 1, half of it for the
selection, monotonic, resolution 0.1, intervals at the level 95%. For each kind it prints

- the coverage of each winner's own interval: its mean over the ranks, and the rank of the least;
- how often all k simultaneous intervals cover at once;
- the mean width of an interval, as a part of that of the measurement alone, and the coverage of
  the latter;
- the bias at the first, a middle and the last rank, in standard errors of the estimate;
- the squared error with gaps divided by that without.

Means of n releases are off by about √(0.95·0.05/n). A shortfall of more than three of these is
marked, and makes the run fail.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np

import topgap
from benchmarks.data import Counts, load

LEVEL = 0.95
RELEASES = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
AT_ONCE = 1_000
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


class Kind(NamedTuple):
    """Some data, and how many winners are asked of it."""

    name: str
    counts: list[int]
    k: int
    epsilon: int = 1
    share: str = "1/2"
    resolution: str = "1/10"
    monotonic: bool = True
    variances: tuple[int, ...] = ()
    """Of normal noise, where they are measured elsewhere."""

    def estimate(self, counts: Counts) -> topgap.Estimates:
        how: dict[str, Any] = {"resolution": self.resolution, "monotonic": self.monotonic}
        if not self.variances:
            made: topgap.Estimates = topgap.top_k_with_estimates(
                counts, self.k, self.epsilon, selection_share=self.share, **how
            )
            return made
        release = topgap.top_k(counts, self.k, self.epsilon, **how)
        noise = np.random.default_rng().normal(size=self.k) * np.sqrt(self.variances)
        measured = counts[release.indices] + noise
        return topgap.estimate(release, measured, variance=self.variances, noise="normal")


def kinds() -> Iterator[Kind]:
    k = 10
    mean = 2 * k  # of the selection's noise
    yield Kind("clear: 30 times the noise apart", [10**6 - 30 * mean * i for i in range(20)], k)
    for part in (4, 2, 1, 0.5):
        apart = int(part * mean)
        yield Kind(f"{part} of the noise apart", [10**5 - apart * i for i in range(40)], k)
    yield Kind("all of 1,000 tied", [10**5] * 1_000, k)
    yield Kind("five tied pairs, then far", [10**5 - 10**4 * (i // 2) for i in range(10)] + [0], k)
    nine = [10**6 - 10**4 * i for i in range(9)]
    yield Kind("nine clear, 1,000 tied for the last", nine + [10**5] * 1_000, k)
    ranks = range(1, 2_001)
    yield Kind("heavy tail: 100,000 / rank", [10**5 // rank for rank in ranks], k)
    yield Kind("heavy tail, few people: 1,000 / rank", [10**3 // rank for rank in ranks], k)
    tied = [10**6] + [10**5] * 19
    yield Kind("one clear, 19 tied, steps of 1, ε = 13", [*tied, 0], 20, 13, "10/13", "1")
    yield Kind("one clear, 9 tied, share 9/10", [*tied[:10], 0], k, share="9/10")
    yield Kind("one clear, 9 tied, not monotonic", [*tied[:10], 0], k, monotonic=False)
    unequal = (2_000, 2, *[2_000] * 8)
    yield Kind("one clear, 9 tied, measured unequally", [*tied[:10], 0], k, variances=unequal)
    for name in ("T40I10D100K", "Kosarak"):
        label, counts = load(name)
        yield Kind(label, counts.tolist(), 25)


class Seen(NamedTuple):
    """What some releases showed, one row for each."""

    errors: Array  # of the estimates
    measured_errors: Array
    covered: Array
    all_covered: Array
    covered_alone: Array
    width: Array
    width_alone: Array


def look(kind: Kind, releases: int) -> Seen:
    counts = np.array(kind.counts, dtype=np.int64)
    rows: list[tuple[Array, ...]] = []
    for _ in range(releases):
        made = kind.estimate(counts)
        truth = counts[made.release.indices].astype(np.float64)
        each, at_once, alone = (
            np.array(made.intervals(LEVEL, **how))
            for how in ({}, {"simultaneous": True}, {"measured_only": True})
        )
        rows.append((
            np.array(made.estimates) - truth,
            np.array([float(each) for each in made.measurements]) - truth,
            _covers(each, truth),
            _covers(at_once, truth).min(keepdims=True),
            _covers(alone, truth),
            each[:, 1] - each[:, 0],
            alone[:, 1] - alone[:, 0],
        ))  # fmt: skip
    return Seen(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


def _covers(intervals: Array, truth: Array) -> Array:
    covered = (intervals[:, 0] <= truth) & (truth <= intervals[:, 1])
    return covered.astype(np.float64)


def main() -> None:
    short = False
    allowed = 3 * (LEVEL * (1 - LEVEL) / RELEASES) ** 0.5
    print(f"{RELEASES:,} releases of each kind, level {LEVEL}, allowed shortfall {allowed:.5f}")
    print(
        f"{'data':<38}{'k':>3}{'each':>8}{'least':>8}{'rank':>5}{'all k':>8}{'width':>7}"
        f"{'alone':>8}{'bias: first':>13}{'middle':>8}{'last':>7}{'sq. error':>11}"
    )
    with ProcessPoolExecutor(mp_context=get_context("fork"), max_workers=cpu_count()) as pool:
        for kind in kinds():
            parts = pool.map(
                look, [kind] * (RELEASES // AT_ONCE), [AT_ONCE] * (RELEASES // AT_ONCE)
            )
            seen = Seen(*map(np.concatenate, zip(*parts, strict=True)))
            by_rank = seen.covered.mean(axis=0)
            errors = np.array(kind.estimate(np.array(kind.counts)).standard_errors)
            lean = seen.errors.mean(axis=0) / errors
            squared = (seen.errors**2).mean() / (seen.measured_errors**2).mean()
            # The least of k means falls short more often than one.
            worst = min(by_rank.min() + allowed / 3, seen.all_covered.mean(), by_rank.mean())
            mark = "" if worst >= LEVEL - allowed else "  short"
            short = short or bool(mark)
            print(
                f"{kind.name:<38}{kind.k:>3}{by_rank.mean():>8.4f}{by_rank.min():>8.4f}"
                f"{by_rank.argmin() + 1:>5}{seen.all_covered.mean():>8.4f}"
                f"{seen.width.mean() / seen.width_alone.mean():>7.2f}"
                f"{seen.covered_alone.mean():>8.4f}"
                f"{lean[0]:>13.2f}{lean[kind.k // 2]:>8.2f}{lean[-1]:>7.2f}{squared:>11.3f}{mark}",
                flush=True,
            )
    if short:
        sys.exit("Some intervals cover less often than they say.")


if __name__ == "__main__":
    main()
