"""How often intervals of counts from a threshold cover, and how far counts are biased.

`make coverage` runs it, after that of estimates: 10,000 releases of each kind of data through
`topgap.select` and `Release.counts`. ε = 1, monotonic, resolution 0.1, at most k = 10 names, and
so noise of mean 10. For each kind it prints

- how often the threshold ended the list, so that there were counts, and how many items were named
  then on average;
- the coverage of the own intervals of named items at the levels 50%, 95% and 99%;
- the mean of the counts' errors, in standard errors;
- which part of the counts is marked as biased, and which part has an interval of 95% that misses
  though it is not marked;
- how often an item is named and its 95% interval misses, of the item for which that is most often;
- how often one or more of the simultaneous intervals of 95% miss.

The last two are at most 5%, whatever the data are. Means of n releases are off by about
√(0.95·0.05/n). More than three of these above 5% are marked, and make the run fail.
"""

import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from math import log
from multiprocessing import get_context
from os import cpu_count
from typing import Any, NamedTuple

import numpy as np

import topgap

LEVELS = ("0.5", "0.95", "0.99")
LEVEL = 0.95
K = 10
SCALE = 10
RELEASES = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
AT_ONCE = 500
Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
FAR = 10**5


class Kind(NamedTuple):
    """Some data, and a threshold."""

    name: str
    counts: list[int]
    threshold: int


def kinds() -> Iterator[Kind]:
    yield Kind("clear: 30 times the noise apart", [FAR - 300 * i for i in range(20)], FAR - 1_350)
    for part in (4, 2, 1):
        apart = int(part * SCALE)
        yield Kind(
            f"{part} of the noise apart", [FAR - apart * i for i in range(40)], FAR - 4 * apart
        )
    yield Kind("five tied, far above", [FAR] * 5 + [0] * 5, FAR // 2)
    yield Kind("three clear, five at the threshold", [FAR] * 3 + [500] * 5 + [0] * 9, 500)
    yield Kind("one at the threshold, no other", [500] + [0] * 10, 500)
    crowd = SCALE * int(log(1_000))
    yield Kind("three clear, 1,000 just below", [FAR] * 3 + [1_000 - crowd] * 1_000, 1_000)
    yield Kind("eight clear, 1,000 just below", [FAR] * 8 + [1_000 - crowd] * 1_000, 1_000)
    yield Kind("nine clear, no other near", [FAR - 300 * i for i in range(9)] + [0] * 9, 500)
    yield Kind("nine clear, 1,000 just below", [FAR] * 9 + [1_000 - crowd] * 1_000, 1_000)
    ranks = range(1, 1_001)
    yield Kind("heavy tail: 10,000 / rank", [10_000 // rank for rank in ranks], 1_800)


class Seen(NamedTuple):
    """What some releases showed."""

    named: Array  # for each release how many are named; −1 if there are no counts
    covered: Array  # for each named item, at each level
    errors: Array  # of each named item, in standard errors
    biased: Array  # whether it is marked
    missed: Array  # for each item, how often it is named and missed at 95%
    all_covered: Array  # for each release with counts


def look(kind: Kind, releases: int) -> Seen:
    counts = np.array(kind.counts, dtype=np.int64)
    parameters = topgap.TopK(K, 1, monotonic=True, threshold=kind.threshold)
    named, covered, errors, biased, at_once = [], [], [], [], []
    missed = np.zeros(len(counts))
    for _ in range(releases):
        release = topgap.select(parameters, counts)
        named.append(len(release) if release.has_counts else -1)
        if not release.has_counts:
            continue
        found = [release.counts(level) for level in LEVELS]
        wide = release.counts("0.95", simultaneous=True, size=len(counts))
        at_once.append(all(each.low <= counts[each.item] <= each.high for each in wide))
        for each in zip(*found, strict=True):
            truth = int(counts[each[0].item])
            covers = [one.low <= truth <= one.high for one in each]
            missed[each[0].item] += not covers[1]
            covered.append(covers)
            errors.append(float(each[0].value - truth) / each[0].standard_error)
            biased.append(each[0].is_biased)
    columns = named, covered, errors, biased, missed / releases, at_once
    return Seen(*(np.array(column, dtype=np.float64) for column in columns))


def combine(parts: list[Seen]) -> Seen:
    """Put together what the processes saw."""
    some = [part for part in parts if part.errors.size]
    missed = np.mean([part.missed for part in parts], axis=0)
    columns: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in some])
        for name in ("covered", "errors", "biased", "all_covered")
    }
    named = np.concatenate([part.named for part in parts])
    return Seen(named=named, missed=missed, **columns)


def main() -> None:
    short = False
    allowed = 3 * (LEVEL * (1 - LEVEL) / RELEASES) ** 0.5
    print(f"{RELEASES:,} releases of each kind, allowed shortfall {allowed:.5f}")
    print(
        f"{'data':<36}{'counts':>7}{'named':>6}{'at 50%':>8}{'95%':>7}{'99%':>7}{'bias':>7}"
        f"{'marked':>8}{'missed':>8}{'one item':>9}{'at once':>8}"
    )
    with ProcessPoolExecutor(mp_context=get_context("fork"), max_workers=cpu_count()) as pool:
        for kind in kinds():
            runs = RELEASES // AT_ONCE
            seen = combine([*pool.map(look, [kind] * runs, [AT_ONCE] * runs)])
            cut, misses = seen.named >= 0, seen.covered[:, 1] == 0
            missed_at_once = (cut.sum() - seen.all_covered.sum()) / len(cut)
            # The largest of many means exceeds more often than one.
            most = max(seen.missed.max() - allowed / 3, missed_at_once)
            mark = "" if most <= 1 - LEVEL + allowed else "  short"
            short = short or bool(mark)
            levels = "".join(f"{each:>7.4f}" for each in seen.covered.mean(axis=0))
            print(
                f"{kind.name:<36}{cut.mean():>7.3f}{seen.named[cut].mean():>6.2f} {levels}"
                f"{seen.errors.mean():>7.2f}{seen.biased.mean():>8.3f}"
                f"{(misses & (seen.biased == 0)).mean():>8.4f}{seen.missed.max():>9.4f}"
                f"{missed_at_once:>8.4f}{mark}",
                flush=True,
            )
    if short:
        sys.exit("Some intervals cover less often than they say.")


if __name__ == "__main__":
    main()
