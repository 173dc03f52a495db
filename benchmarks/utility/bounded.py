"""What a bound on the items of one person does for a list, and for its counts, at the same ε.

    python -m benchmarks.utility.bounded            all of it, in some six minutes
    python -m benchmarks.utility.bounded --quick    a part of it in some seconds, printed only

The first fills the marked places of docs/utility.md and writes bounded.csv, bounded_map.csv,
truncation.csv and bounded.svg in docs/utility. Neighbours differ by one person, who is added or
removed. Of each person's items at most L are kept, drawn uniformly from that person's own, anew in
each cut. With a bound every count gets Laplace noise of scale L/ε; without one, noise grows with k.
Lists are judged by the share of the true k largest that they name, and counts by how far they are
off, both by the counts before anything was cut.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import topgap
from benchmarks.data import Counts, load
from benchmarks.pages import DOCS
from benchmarks.utility import bounded_plot, bounded_tables
from benchmarks.utility.bounded_tables import (
    ESTIMATES,
    JOINT,
    LAPLACE_ON_ALL,
    THRESHOLD,
    TOP_K,
    TOPGAP,
    Accuracy,
    Truncation,
)
from benchmarks.utility.contributions import Baskets, retail, t40
from benchmarks.utility.domains import Truth
from benchmarks.utility.joint import JointMechanism
from benchmarks.utility.libraries import opendp_measure
from benchmarks.utility.results import MEASURED, SIMULATED
from benchmarks.utility.thresholds import LAPLACE, make_threshold
from topgap.planning.statistics import Mean

LOOKED_AT = 25
"""Of so many of the largest counts it is told by how much cutting lowers them."""


class Outcome(NamedTuple):
    """What a list is judged by.

    Attributes:
        share: The share of the true k largest that it names.
        error: The median of how far the counts of the items that it names are off; NaN if it has no
            counts, or no items.
    """

    share: float
    error: float


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        sources: The data sets with the persons behind them.
        counts_alone: Those without, of which nothing can be cut.
        epsilons: The values of ε.
        ks: The values of k.
        plotted: More values of k for the picture, which has one data set at one ε.
        cuts: How often each person's items are drawn for each bound.
        lists: How many lists there are of each cut.
        opendp: How many releases of OpenDP there are with each L that was chosen, each of a cut of
            its own.
    """

    sources: Sequence[Callable[[], Baskets]]
    counts_alone: Sequence[str]
    epsilons: Sequence[str]
    ks: Sequence[int]
    plotted: Sequence[int]
    cuts: int
    lists: int
    opendp: int


FULL = Settings(
    sources=(retail, t40),
    counts_alone=("Kosarak",),
    epsilons=("0.1", "1"),
    ks=(10, 25, 100, 400),
    plotted=(5, 10, 15, 25, 40, 60, 100, 150, 250, 400),
    cuts=10,
    lists=20,
    opendp=50,
)
QUICK = Settings(
    sources=(retail,),
    counts_alone=(),
    epsilons=("0.1", "1"),
    ks=(10, 100),
    plotted=(10, 25, 100),
    cuts=3,
    lists=5,
    opendp=3,
)


class Found(NamedTuple):
    """All figures."""

    accuracies: list[Accuracy]
    truncations: list[Truncation]
    plotted: list[Accuracy]


def measure(settings: Settings) -> Found:
    """All figures; what is plotted is of the first data set at the first ε."""
    found = Found([], [], [])
    for make in settings.sources:
        data = make()
        truths = {k: Truth.of(data.counts, k) for k in settings.ks}
        found.accuracies.extend(measure_unbounded(data.label, truths, settings))
        cuts = {bound: [*cut(data, bound, settings.cuts)] for bound in data.bounds}
        found.truncations.extend(describe_cuts(data, cuts))
        tried = [*measure_bounds(data.label, cuts, truths, settings)]
        found.accuracies.extend(tried)
        found.accuracies.extend(measure_opendp(data, truths, tried, settings))
        if not found.plotted:
            found.plotted.extend(measure_plotted(data, cuts, settings))
        print(f"{data.label}: done", file=sys.stderr)
    for name in settings.counts_alone:
        label, counts = load(name)
        truths = {k: Truth.of(counts, k) for k in settings.ks}
        found.accuracies.extend(measure_unbounded(label, truths, settings))
    return found


def cut(data: Baskets, bound: int, cuts: int) -> Iterator[Counts]:
    """The counts where each person keeps at most so many items, drawn so often."""
    generator = np.random.default_rng(bound)
    for _ in range(cuts):
        yield data.bounded(bound, generator)


def describe_cuts(data: Baskets, cuts: dict[int, list[Counts]]) -> Iterator[Truncation]:
    """What cutting leaves of the events and of the largest counts."""
    counts = data.counts
    largest = np.argsort(-counts, kind="stable")[:LOOKED_AT]
    for bound, kept in cuts.items():
        events = np.mean([each.sum() for each in kept]) / counts.sum()
        drops = [1 - each[largest] / counts[largest] for each in kept]
        cut_persons = np.count_nonzero(data.sizes > bound) / len(data.sizes)
        middle, lowest, highest = (float(f(np.mean(drops, axis=0))) for f in (np.median, min, max))
        yield Truncation(data.label, bound, cut_persons, float(events), middle, lowest, highest)


def measure_unbounded(
    label: str, truths: dict[int, Truth], settings: Settings
) -> Iterator[Accuracy]:
    """What needs no bound: names alone, names and measured counts, and the joint mechanism."""
    lists, generator = settings.cuts * settings.lists, np.random.default_rng(5)
    for k, truth in truths.items():
        joint = JointMechanism(truth.counts, k)
        for epsilon in settings.epsilons:
            setting = label, epsilon, k
            names = [name_top_k(truth, epsilon) for _ in range(lists)]
            yield summarize((*setting, TOP_K, MEASURED, 0), names)
            estimated = [name_with_estimates(truth, epsilon) for _ in range(lists)]
            yield summarize((*setting, ESTIMATES, MEASURED, 0), estimated)
            drawn = joint.draw(float(epsilon), lists, generator)
            outcomes = [judge(truth, each) for each in drawn]
            yield summarize((*setting, JOINT, SIMULATED, 0), outcomes)


def name_top_k(truth: Truth, epsilon: str) -> Outcome:
    release = topgap.top_k(truth.counts, truth.k, epsilon, monotonic=True)
    return judge(truth, release.indices.tolist())


def name_with_estimates(truth: Truth, epsilon: str) -> Outcome:
    made = topgap.top_k_with_estimates(truth.counts, truth.k, epsilon, monotonic=True)
    return judge(truth, [*made.items], made.estimates)


def name_bounded(truth: Truth, kept: Counts, bound: int, epsilon: str) -> Outcome:
    """topgap on what was kept; it takes this noise by itself where the bound is less than k."""
    release = topgap.top_k(
        kept, truth.k, epsilon, monotonic=True, items_per_person=bound, noise="laplace"
    )
    assert release.value_units is not None  # noqa: S101 - at the resolution 1
    return judge(truth, release.indices.tolist(), release.value_units.tolist())


def judge(truth: Truth, names: Sequence[int], told: Sequence[float] = ()) -> Outcome:
    """By the counts before anything was cut.

    >>> truth = Truth.of(np.array([9, 7, 5, 1]), 3)
    >>> judge(truth, [0, 2, 3], [8, 8, 5])
    Outcome(share=0.6666666666666666, error=3.0)
    """
    missed = [abs(a - int(truth.counts[name])) for a, name in zip(told, names, strict=bool(told))]
    return Outcome(truth.share(names), float(np.median(missed)) if missed else float("nan"))


def measure_bounds(
    label: str, cuts: dict[int, list[Counts]], truths: dict[int, Truth], settings: Settings
) -> Iterator[Accuracy]:
    """topgap's lists with each bound, and simulated ones by thresholds."""
    generator = np.random.default_rng(6)
    for bound, kept in cuts.items():
        for epsilon in settings.epsilons:
            for k, truth in truths.items():
                outcomes = [
                    [name_bounded(truth, each, bound, epsilon) for _ in range(settings.lists)]
                    for each in kept
                ]
                setting = label, epsilon, k, TOPGAP, MEASURED, bound
                yield summarize_cuts(setting, outcomes)
            threshold = make_threshold(LAPLACE, bound, epsilon)
            most = max(truths)
            lists = [[threshold.simulate(each, most, generator) for _ in range(2)] for each in kept]
            for k, truth in truths.items():
                judged = [[judge(truth, names) for names in each] for each in lists]
                yield summarize_cuts((label, epsilon, k, THRESHOLD, SIMULATED, bound), judged)


def measure_opendp(
    data: Baskets, truths: dict[int, Truth], tried: Sequence[Accuracy], settings: Settings
) -> Iterator[Accuracy]:
    """OpenDP itself, with the bound that named the most.

    Laplace noise on all counts has the law of topgap's, so that its bound is chosen by those lists.
    """
    generator = np.random.default_rng(7)
    for who, by, make in (
        (LAPLACE_ON_ALL, TOPGAP, _laplace_on_all),
        (THRESHOLD, THRESHOLD, _threshold),
    ):
        for epsilon in settings.epsilons:
            best = {k: best_bound(tried, by, epsilon, k) for k in truths}
            for bound in sorted({*best.values()}):
                release = make(bound, epsilon, max(truths))
                lists = [release(data.bounded(bound, generator)) for _ in range(settings.opendp)]
                for k in (k for k in truths if best[k] == bound):
                    outcomes = [
                        judge(truths[k], [*each][:k], [*each.values()][:k]) for each in lists
                    ]
                    yield summarize((data.label, epsilon, k, who, MEASURED, bound), outcomes)


Released = Callable[[Counts], dict[int, int]]


def _laplace_on_all(bound: int, epsilon: str, most: int) -> Released:
    measure = opendp_measure(bound, float(epsilon))

    def release(kept: Counts) -> dict[int, int]:
        noisy = measure(kept.tolist())
        largest = sorted(range(len(noisy)), key=lambda place: -noisy[place])[:most]
        return {place: noisy[place] for place in largest}

    return release


def _threshold(bound: int, epsilon: str, most: int) -> Released:
    mechanism = make_threshold(LAPLACE, bound, epsilon)
    return lambda kept: mechanism.release_counts(kept, most)


def best_bound(tried: Sequence[Accuracy], who: str, epsilon: str, k: int) -> int:
    """The bound whose lists name the most; of equals, the smallest."""
    found = [each for each in tried if (each.who, each.epsilon, each.k) == (who, epsilon, k)]
    return max(found, key=lambda each: (each.share, -each.bound)).bound


def measure_plotted(
    data: Baskets, cuts: dict[int, list[Counts]], settings: Settings
) -> Iterator[Accuracy]:
    """Shares over k and L at the first ε, and those without a bound."""
    epsilon = settings.epsilons[0]
    for k in settings.plotted:
        truth = Truth.of(data.counts, k)
        names = [name_top_k(truth, epsilon) for _ in range(settings.cuts * settings.lists)]
        yield summarize((data.label, epsilon, k, TOP_K, MEASURED, 0), names)
        for bound, kept in cuts.items():
            outcomes = [
                [name_bounded(truth, each, bound, epsilon) for _ in range(settings.lists)]
                for each in kept
            ]
            yield summarize_cuts((data.label, epsilon, k, TOPGAP, MEASURED, bound), outcomes)


def summarize(
    setting: tuple[str, str, int, str, str, int], outcomes: Sequence[Outcome]
) -> Accuracy:
    """The means of these, beside what they are of."""
    return summarize_cuts(setting, [[each] for each in outcomes])


def summarize_cuts(
    setting: tuple[str, str, int, str, str, int], outcomes: Sequence[Sequence[Outcome]]
) -> Accuracy:
    """The same of lists that share cuts: their standard errors are those of the cuts' means."""
    figures = []
    for place in range(2):
        mean = Mean()
        mean.add(np.array([np.mean([each[place] for each in lists]) for lists in outcomes]))
        figures.append(mean.figure())
    share, error = figures
    return Accuracy(*setting, sum(map(len, outcomes)), *share, *error)


def main() -> int:
    """Measure, and write or print what was found."""
    parser = argparse.ArgumentParser(description="Measure what a bound on a person's items does.")
    parser.add_argument("--quick", action="store_true", help="a part of it, printed only")
    quick = parser.parse_args().quick
    found = measure(QUICK if quick else FULL)
    if quick:
        for name, text in bounded_tables.places(found.accuracies, found.truncations).items():
            print(f"\n{name}\n\n{text}")
        return 0
    bounded_tables.write(*found, DOCS)
    bounded_plot.draw(found.plotted, DOCS / "utility" / "bounded.svg")
    return 0


if __name__ == "__main__":
    sys.exit(main())
