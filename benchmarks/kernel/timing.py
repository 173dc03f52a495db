"""What the running time of a release says about the data: Welch's t, as dudect measures it.

`make timing` runs it. Of two data sets one is taken at random, put at the same place, and
released from; the whole call is timed. If the two take equally long, t is about normal: dudect
calls |t| > 4.5 a leak. Interruptions make times noisy, so t is also taken of those times that
lie below each of a hundred percentiles of all, and the largest is reported. Where there is a leak,
the last figure is how many releases it takes in all, about, to see it: as many as make |t| 4.5.
`--releases` sets how many releases each line has.
"""

import argparse
import gc
import os
from collections.abc import Callable
from functools import partial
from time import perf_counter_ns
from typing import NamedTuple

import numpy as np

from benchmarks.data import Counts, load
from topgap import TopK, select

K = 25
PARAMETERS = TopK(k=K, epsilon=1, monotonic=True)
LEAK = 4.5
STRETCH = 10_000
FEWEST = 100  # of each data set, for a t to mean something
PERCENTILES = 1 - 0.5 ** (10 * np.arange(1, 101) / 100)
Times = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


class Pair(NamedTuple):
    """Two data sets, and how they differ."""

    name: str
    one: Counts
    other: Counts


def pairs() -> list[Pair]:
    label, counts = load("T40I10D100K")
    generator = np.random.default_rng(1)
    basket = generator.permutation(len(counts))[:40]
    more = counts.copy()
    more[basket] += 1
    equal = np.full(len(counts), 5_000)
    half = equal.copy()
    half[::2] += 1
    return [
        Pair(f"{label} and itself", counts, counts.copy()),
        Pair("neighbours: and one person more, in 40 items", counts, more),
        Pair("neighbours: all equal, and one person more in half of them", equal, half),
        Pair("not neighbours: and all equal", counts, equal),
    ]


def measure(pair: Pair, releases: int, constant_work: bool) -> tuple[Times, Flags]:
    """The time of each release in ns, and whether it was of the other data set."""
    buffer, difference = pair.one.copy(), pair.other - pair.one
    release: Callable[..., object] = partial(select, PARAMETERS)
    times = np.empty(releases, dtype=np.int64)
    of_other = np.unpackbits(np.frombuffer(os.urandom(-(-releases // 8)), np.uint8))[:releases] > 0
    gc.disable()
    for i in range(releases):
        # The same numbers are read either way: a copy of one of two arrays leaves the other cold.
        np.multiply(difference, of_other[i], out=buffer)
        np.add(buffer, pair.one, out=buffer)
        before = perf_counter_ns()
        release(buffer, constant_work=constant_work)
        times[i] = perf_counter_ns() - before
        if i % STRETCH == 0:
            gc.collect()
    gc.enable()
    warm = slice(min(STRETCH, releases // 10), None)
    return times[warm], of_other[warm]


def welch(times: Times, of_other: Flags) -> tuple[float, float]:
    """The difference of the means, and Welch's t."""
    one, other = times[~of_other].astype(float), times[of_other].astype(float)
    difference = other.mean() - one.mean()
    error = (one.var(ddof=1) / len(one) + other.var(ddof=1) / len(other)) ** 0.5
    return float(difference), float(difference / error) if error else 0.0


def report(pair: Pair, releases: int, constant_work: bool) -> None:
    times, of_other = measure(pair, releases, constant_work)
    difference, t = welch(times, of_other)
    crops = [times <= limit for limit in np.quantile(times, PERCENTILES)]
    fewest = [min(of_other[kept].sum(), (~of_other[kept]).sum()) for kept in crops]
    cropped = [
        welch(times[kept], of_other[kept])
        for kept, few in zip(crops, fewest, strict=True)
        if few >= FEWEST
    ]
    largest = max(cropped, key=lambda each: abs(each[1]), default=(difference, t))
    median = np.median(times) / 1000
    most = max(abs(t), abs(largest[1]))
    needed = len(times) * (LEAK / most) ** 2 if most > LEAK else 0
    found = f"leak, seen in {needed:,.0f}" if needed else "no leak found"
    way = "constant work" if constant_work else "usual"
    print(
        f"  {way:14}{median:9.1f} µs{difference:11.1f} ns{t:10.1f}"
        f"{largest[0]:11.1f} ns{largest[1]:10.1f}   {found}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--releases", type=int, default=1_000_000)
    releases = parser.parse_args().releases
    print(f"{releases:,} interleaved releases a line; n = {len(pairs()[0].one)}, k = {K}, ε = 1")
    print(f"  {'way':14}{'median':>12}{'difference':>14}{'t':>10}{'cropped':>14}{'t':>10}")
    for pair in pairs():
        print(pair.name)
        for constant_work in (False, True):
            report(pair, releases, constant_work)


if __name__ == "__main__":
    main()
