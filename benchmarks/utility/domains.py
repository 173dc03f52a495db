"""Without a list of items: a domain of 10^12 members beside OpenDP's thresholds, at the same ε.

    python -m benchmarks.utility.domains            all of it, in twenty minutes to an hour
    python -m benchmarks.utility.domains --quick    a part of it in about a minute, printed only

The first fills the marked places of docs/utility.md and writes docs/utility/domains.csv. topgap
names k of 10^12 members, all of which take part, with pure ε and no bound on what a person
contributes. OpenDP releases the keys above a threshold with (ε, δ), after a bound L; the k largest
of them are its list. Simulated lists choose the L that finds the most for each data set, noise, ε
and k, and then OpenDP itself is run with that L. To choose L by the data costs nothing here, which
favours OpenDP. All are judged by the share of the true k largest that they name; of equal counts
whoever is named is right.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import topgap
from benchmarks.data import Counts
from benchmarks.pages import DOCS
from benchmarks.utility import domain_tables
from benchmarks.utility.contributions import Data, kosarak, pairs_of_t40, retail
from benchmarks.utility.domain_tables import MEMBERS, OPENDP, TOPGAP, Share
from benchmarks.utility.results import MEASURED, SIMULATED
from benchmarks.utility.thresholds import Threshold, make_threshold
from topgap.planning.statistics import Mean


class Source(NamedTuple):
    """A data set, and how many lists there are of it for each setting.

    Attributes:
        make: Makes it.
        topgap: How many lists of topgap there are.
        simulated: How many simulated lists choose L.
        opendp: How many releases of OpenDP there are with each L that was chosen.
    """

    make: Callable[[], Data]
    topgap: int
    simulated: int
    opendp: int


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        sources: The data sets.
        epsilons: The values of ε.
        ks: The values of k.
    """

    sources: Sequence[Source]
    epsilons: Sequence[str]
    ks: Sequence[int]


FULL = Settings(
    sources=(
        Source(retail, 100, 50, 50),
        Source(lambda: kosarak(1), 100, 10, 50),
        Source(lambda: kosarak(8), 100, 10, 50),
        Source(pairs_of_t40, 50, 5, 5),  # one release of OpenDP takes seconds
    ),
    epsilons=("0.1", "0.5", "1", "2"),
    ks=(10, 25, 100),
)
QUICK = Settings(
    sources=(Source(retail, 10, 3, 3), Source(lambda: kosarak(8), 10, 3, 3)),
    epsilons=("1",),
    ks=(10, 100),
)


@dataclass(frozen=True)
class Truth:
    """The true k largest, and how much of them a list names.

    >>> Truth.of(np.array([9, 7, 7, 1]), 2).share([2, 1])   # there is a place for one of the sevens
    0.5
    """

    counts: Counts
    k: int
    least: int
    tied_places: int

    @classmethod
    def of(cls, counts: Counts, k: int) -> "Truth":
        least = int(np.partition(counts, -k)[-k])
        return cls(counts, k, least, k - int(np.count_nonzero(counts > least)))

    def share(self, names: Sequence[int]) -> float:
        """Judge the first k; names that are no place of the counts are members nobody has."""
        named = names[: self.k]
        counts = [int(self.counts[name]) if name < len(self.counts) else 0 for name in named]
        above = sum(count > self.least for count in counts)
        return (above + min(self.tied_places, counts.count(self.least))) / self.k


def measure(settings: Settings) -> Iterator[Share]:
    """All figures, one after another."""
    for source in settings.sources:
        data = source.make()
        truths = [Truth.of(data.counts, k) for k in settings.ks]
        yield from measure_topgap(data.label, truths, source.topgap, settings)
        simulated = [*simulate_opendp(data, truths, source.simulated, settings)]
        yield from simulated
        for noise in OPENDP:
            of_noise = [each for each in simulated if each.who == noise]
            yield from measure_opendp(data, truths, noise, of_noise, source.opendp, settings)


def measure_topgap(
    label: str, truths: Sequence[Truth], lists: int, settings: Settings
) -> Iterator[Share]:
    """Lists of topgap: counts of what occurs, in a domain of `MEMBERS` members."""
    domain = topgap.Domain.range(0, MEMBERS)
    occur = {place: count for place, count in enumerate(truths[0].counts.tolist()) if count}
    for epsilon in settings.epsilons:
        for truth in truths:
            releases = (
                topgap.top_k(occur, truth.k, epsilon, monotonic=True, domain=domain)
                for _ in range(lists)
            )
            shares = [truth.share(release.items) for release in releases]
            yield summarize((label, epsilon, truth.k, TOPGAP, MEASURED), (0, 0), shares)


def simulate_opendp(
    data: Data, truths: Sequence[Truth], lists: int, settings: Settings
) -> Iterator[Share]:
    """Lists by the laws of OpenDP's thresholds with each bound."""
    generator = np.random.default_rng(1)
    most = max(settings.ks)
    for bound in data.bounds:
        shares: dict[tuple[str, str, int], list[float]] = {}
        for _ in range(lists):
            kept = data.bounded(bound, generator)
            for noise in OPENDP:
                for epsilon in settings.epsilons:
                    names = _made(noise, bound, epsilon).simulate(kept, most, generator)
                    for truth in truths:
                        found = shares.setdefault((noise, epsilon, truth.k), [])
                        found.append(truth.share(names))
        for (noise, epsilon, k), each in shares.items():
            public = bound, _made(noise, bound, epsilon).threshold
            yield summarize((data.label, epsilon, k, noise, SIMULATED), public, each)


def measure_opendp(
    data: Data,
    truths: Sequence[Truth],
    noise: str,
    simulated: Sequence[Share],
    releases: int,
    settings: Settings,
) -> Iterator[Share]:
    """Lists of OpenDP itself, with the L that found the most in simulated ones."""
    generator = np.random.default_rng(2)
    for epsilon in settings.epsilons:
        best = {truth.k: best_bound(simulated, epsilon, truth.k) for truth in truths}
        for bound in sorted({*best.values()}):
            mechanism = _made(noise, bound, epsilon)
            lists = [
                mechanism.release(data.bounded(bound, generator), max(settings.ks))
                for _ in range(releases)
            ]
            for truth in (truth for truth in truths if best[truth.k] == bound):
                shares = [truth.share(names) for names in lists]
                setting = data.label, epsilon, truth.k, noise, MEASURED
                yield summarize(setting, (bound, mechanism.threshold), shares)


def best_bound(simulated: Sequence[Share], epsilon: str, k: int) -> int:
    """The bound that found the most; of equals, the smallest."""
    found = [each for each in simulated if (each.epsilon, each.k) == (epsilon, k)]
    return max(found, key=lambda each: (each.share, -each.bound)).bound


def summarize(
    setting: tuple[str, str, int, str, str], public: tuple[int, int], shares: Sequence[float]
) -> Share:
    """The mean of these shares, beside what it is of."""
    mean = Mean()
    mean.add(np.array(shares))
    return Share(*setting, *public, len(shares), *mean.figure())


def _made(who: str, bound: int, epsilon: str) -> Threshold:
    return make_threshold(OPENDP[who], bound, epsilon)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare a domain with thresholds.")
    parser.add_argument("--quick", action="store_true", help="a part of it, printed only")
    quick = parser.parse_args().quick
    found = []
    for each in measure(QUICK if quick else FULL):
        print(*each, sep=", ", file=sys.stderr)
        found.append(each)
    if quick:
        for name, text in domain_tables.places(found).items():
            print(f"\n{name}\n\n{text}")
    else:
        domain_tables.write(found, DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
