"""How right a list is, and how far off its counts are: topgap, OpenDP and diffprivlib at equal ε.

    python -m benchmarks.utility            all of it, in some minutes on two cores
    python -m benchmarks.utility --quick    a part of it in less than a minute, printed only

The first writes docs/utility/ and the marked places of docs/utility.md, all at the end. Neighbours
differ by one person, who adds at most 1 to any count: sensitivity 1, monotonic. Releases of topgap
are made by its kernel, through `topgap.plan`. Peers are run as often as a limit of seconds allows,
at those ε where the law of their lists says that there is something to see. That law is simulated
(`laws`), and called so.
"""

import argparse
import multiprocessing
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import Pool

from benchmarks.data import load
from benchmarks.pages import DOCS
from benchmarks.utility import tables
from benchmarks.utility.laws import SELECTED
from benchmarks.utility.libraries import MEASURES, WAYS
from benchmarks.utility.results import Figures
from benchmarks.utility.runs import few_items, law, ours, peer_errors, peer_lists

IN_DOUBT = 0.05, 0.95  # peers are run where the probability of a right list lies between
MOST_ITEMS = {"diffprivlib, permute and flip": 10_000}  # above, one selection takes seconds

Task = Callable[[], Figures]


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        seconds: The data sets, and how long each peer is run on one of them for a k and a purpose.
        epsilons: For each k, the values of ε.
        measured: The values of ε at which the errors of peers are measured.
        releases: How many releases of topgap, and how many simulated lists, there are of each kind.
        few_runs: How many lists of a few items each library makes.
    """

    seconds: Mapping[str, float]
    epsilons: Mapping[int, Sequence[str]]
    measured: Sequence[str]
    releases: int
    few_runs: int


FULL = Settings(
    seconds={"T40I10D100K": 9, "part of BMS-POS": 9, "Kosarak": 32},
    epsilons={
        1: ["2e-5", "5e-5", "1e-4", "2e-4", "5e-4", "0.001", "0.01", "0.1", "1"],
        10: ["0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1"],
        25: ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5"],
    },
    measured=("0.1", "1", "0.01"),
    releases=10_000,
    few_runs=50_000,
)
QUICK = Settings(
    seconds={"T40I10D100K": 1, "part of BMS-POS": 1},
    epsilons={1: ("0.0002", "0.0005"), 10: ("0.01", "0.02", "0.1", "1")},
    measured=("0.1",),
    releases=2_000,
    few_runs=2_000,
)


def measure(settings: Settings, processes: int) -> Figures:
    """All figures, by so many processes; by this one alone if there are to be none."""
    found, begin = Figures(), time.perf_counter()

    def gather(what: str, tasks: Sequence[Task], each: Callable[..., Iterable[Figures]]) -> None:
        for done, figures in enumerate(each(_run, tasks), start=1):
            found.add(figures)
            minutes, seconds = divmod(int(time.perf_counter() - begin), 60)
            print(f"{minutes}:{seconds:02} {what}: {done} of {len(tasks)}", file=sys.stderr)

    if not processes:
        gather("topgap and the laws", first_tasks(settings), map)
        gather("peers", peer_tasks(settings, found), map)
        return found
    with _pool(processes) as pool:
        gather("topgap and the laws", first_tasks(settings), pool.imap_unordered)
        gather("peers", peer_tasks(settings, found), pool.imap_unordered)
    return found


def first_tasks(settings: Settings) -> list[Task]:
    """Releases of topgap, and simulated lists."""
    tasks: list[Task] = [partial(few_items, settings.few_runs)]
    for data in settings.seconds:
        for k, epsilons in settings.epsilons.items():
            tasks.append(partial(ours, data, k, epsilons, settings.releases))
            tasks += [partial(law, data, k, way, epsilons, settings.releases) for way in SELECTED]
    return tasks


def peer_tasks(settings: Settings, found: Figures) -> list[Task]:
    """Lists of the peers where the law leaves them in doubt, and the errors of their counts."""
    tasks: list[Task] = []
    for data, seconds in sorted(settings.seconds.items(), key=lambda each: -each[1]):
        label, counts = load(data)
        for k, epsilons in settings.epsilons.items():
            for peer, way in WAYS.items():
                if len(counts) <= MOST_ITEMS.get(peer, len(counts)):
                    doubtful = in_doubt(found, label, k, way)
                    tasks.append(partial(peer_lists, data, k, peer, doubtful, seconds))
            told = [epsilon for epsilon in settings.measured if epsilon in epsilons]
            tasks += [partial(peer_errors, data, k, peer, told, seconds) for peer in MEASURES]
    return tasks


def in_doubt(found: Figures, label: str, k: int, way: str) -> list[str]:
    """The values of ε at which lists of this way are right now and then; a coin's toss first."""
    probabilities = [
        (abs(each.right - 0.5), each.case.epsilon)
        for each in found.lists
        if (each.case.data, each.case.k, each.who) == (label, k, way)
        and IN_DOUBT[0] <= each.right <= IN_DOUBT[1]
    ]
    return [epsilon for _, epsilon in sorted(probabilities)]


def _run(task: Task) -> Figures:
    return task()


def _pool(processes: int) -> Pool:
    """Processes that Ctrl-C does not reach, from their first moment on: this one ends them."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return multiprocessing.get_context("spawn").Pool(processes)
    finally:
        signal.signal(signal.SIGINT, before)


def main() -> int:
    """Measure, and write or print what was found; 130 if interrupted, with nothing written."""
    parser = argparse.ArgumentParser(description="Compare utility at equal ε.")
    parser.add_argument("--quick", action="store_true", help="a part of it, printed only")
    parser.add_argument("--processes", type=int, default=2)
    asked = parser.parse_args()
    try:
        found = measure(QUICK if asked.quick else FULL, asked.processes)
    except KeyboardInterrupt:
        print("Interrupted; nothing was written.", file=sys.stderr)
        return 130
    if asked.quick:
        for name, text in tables.places(found).items():
            print(f"\n{name}\n\n{text}")
    else:
        tables.write(found, DOCS)
    return 0
