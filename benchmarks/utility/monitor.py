"""What a list that is there already loses if it is asked about one item at a time.

    python -m benchmarks.utility.monitor            all of it, in some ten minutes
    python -m benchmarks.utility.monitor --quick    a part of it in some seconds, printed only

The first fills the marked places of docs/monitor.md. Kosarak's counts are asked about in an order
that is drawn anew for each run, by `topgap.Monitor`; beside it stands `topgap.top_k` with the same
threshold, the same number of names at most, and the same ε. Neighbours differ by one person, who is
added or removed. The threshold is the true count at a rank; to choose it so is not private.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

import topgap
from benchmarks.data import Counts, load
from benchmarks.pages import DOCS, describe_machine, fill_places, format_table
from benchmarks.utility.tables import significant
from topgap.planning.statistics import Mean

DATA, NAMES, RANKS, EPSILONS = "Kosarak", 25, (5, 25, 60), ("1", "0.1")
MONITOR, TOP_K = "`Monitor`", "`top_k`"
FULL, QUICK = (50, 200), (2, 5)  # runs of the monitor, and releases of `top_k`


class Named(NamedTuple):
    """What one run named, each name with its count as far as the run tells it."""

    items: Sequence[int]
    counts: Sequence[float]
    spent: float


class Row(NamedTuple):
    """All runs of one kind: means with their standard errors, and the median error of a count."""

    epsilon: str
    rank: int
    who: str
    runs: int
    right: tuple[float, float]
    false: tuple[float, float]
    spent: float
    error: float | None


def ask_about_each(
    counts: Counts, threshold: int, epsilon: str, generator: np.random.Generator
) -> Named:
    """Ask a monitor about all counts in a random order, until it stops."""
    monitor = topgap.Monitor(threshold, NAMES, epsilon, monotonic=True)
    parameters = monitor.parameters
    # What the noise of an answer has more on average than that of the threshold.
    excess = mean_noise(parameters.answer_rate) - mean_noise(parameters.threshold_rate)
    items, told = [], []
    for item in generator.permutation(len(counts)).tolist():
        gap = monitor.ask(int(counts[item]))
        if gap is not None:
            items.append(item)
            told.append(threshold + float(gap) - excess)
        if monitor.left == 0:
            break
    return Named(items, told, float(parameters.epsilon))


def mean_noise(rate: object) -> float:
    """The mean of geometric noise of this rate, in steps."""
    return float(1 / np.expm1(float(rate)))  # type: ignore[arg-type]


def release(counts: Counts, threshold: int, epsilon: str) -> Named:
    """Release all that is above at once; counts are told if the threshold ended the list."""
    made = topgap.top_k(counts, NAMES, epsilon, monotonic=True, threshold=threshold)
    told: list[float] = []
    if made.threshold_reached:
        gaps = [float(gap) for gap in made.gaps or ()]
        told = [threshold + above for above in accumulate(reversed(gaps))][::-1]
    return Named(made.indices.tolist(), told, float(made.spent))


def summarize(
    counts: Counts, threshold: int, setting: tuple[str, int, str], runs: Sequence[Named]
) -> Row:
    """Judge the runs by the true counts.

    >>> runs = [Named([0, 2], [9.5, 8.0], 1.0), Named([0], [7.0], 1.0)]
    >>> row = summarize(np.array([9, 7, 5]), 7, ("1", 2, TOP_K), runs)
    >>> row.right[0], row.false[0], row.error
    (1.0, 0.5, 2.0)
    """
    right, false, spent = Mean(), Mean(), Mean()
    above = [[counts[item] >= threshold for item in run.items] for run in runs]
    right.add(np.array([float(sum(each)) for each in above]))
    false.add(np.array([float(len(each) - sum(each)) for each in above]))
    spent.add(np.array([run.spent for run in runs]))
    off = [
        abs(told - int(counts[item]))
        for run in runs
        for item, told in zip(run.items, run.counts, strict=False)
    ]
    error = float(np.median(off)) if off else None
    (part, _), figures = spent.figure(), (right.figure(), false.figure())
    return Row(*setting, len(runs), *figures, part, error)


def measure(streams: int, lists: int) -> Iterator[Row]:
    """All rows."""
    _, counts = load(DATA)
    largest, generator = np.sort(counts)[::-1], np.random.default_rng(23)
    for epsilon in EPSILONS:
        for rank in RANKS:
            threshold = int(largest[rank - 1])
            asked = [ask_about_each(counts, threshold, epsilon, generator) for _ in range(streams)]
            yield summarize(counts, threshold, (epsilon, rank, MONITOR), asked)
            released = [release(counts, threshold, epsilon) for _ in range(lists)]
            yield summarize(counts, threshold, (epsilon, rank, TOP_K), released)
            print(f"ε = {epsilon}, rank {rank}: done", file=sys.stderr)


def places(rows: Sequence[Row]) -> dict[str, str]:
    """The tables, by their places."""
    label, counts = load(DATA)
    largest = np.sort(counts)[::-1]
    table = [
        [
            row.epsilon,
            f"{row.rank}: {largest[row.rank - 1]:,}",
            row.who,
            row.runs,
            f"{_figure(row.right)} of {min(row.rank, NAMES)}",
            _figure(row.false),
            "–" if row.error is None else significant(row.error),
            f"{row.spent / float(row.epsilon):.0%}",
        ]
        for row in rows
    ]
    header = ["ε", "rank: threshold", "method", "runs", "right names", "false names",
              "error of a count", "cost, of ε"]  # fmt: skip
    settings = [
        ["command", "`python -m benchmarks.utility.monitor`"],
        ["data", f"{label}, {len(counts):,} counts"],
        ["machine", describe_machine("topgap", "numpy")],
    ]
    return {
        "monitor run": format_table(["setting", "value"], settings, text_columns=2),
        "monitor": format_table(header, table, text_columns=3),
    }


def _figure(figure: tuple[float, float]) -> str:
    return f"{figure[0]:.1f} ± {figure[1]:.1f}"


def main() -> int:
    """Measure, and write or print what was found."""
    parser = argparse.ArgumentParser(description="Compare a monitor with a list all at once.")
    parser.add_argument("--quick", action="store_true", help="a part of it, printed only")
    quick = parser.parse_args().quick
    found = places([*measure(*(QUICK if quick else FULL))])
    if quick:
        for name, text in found.items():
            print(f"\n{name}\n\n{text}")
    else:
        fill_places(DOCS / "monitor.md", found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
