"""All items above a threshold, and their counts: four ways to release them at the same ε.

    python -m benchmarks.utility.threshold            all of it, in some three minutes
    python -m benchmarks.utility.threshold --quick    a part of it in some seconds, printed only

The first fills the marked places of docs/threshold.md and writes docs/utility/threshold.csv.
Neighbours differ by one person, who is added or removed, and adds at most 1 to any count:
sensitivity 1, monotonic. The threshold t lies between the r-th and the (r + 1)-th largest count. To
choose it so is not private; it serves to say what is right. All four are releases of topgap:

    threshold            top_k with a threshold and exponential noise of scale k/ε. Where t ended
                         the list, t plus the gaps down to it are the counts.
    counts too           top_k_with_estimates, half of ε for names and half for counts; of its k
                         items, those whose estimate is above t.
    Laplace, L           Laplace noise of scale L/ε on every count, and the k largest that reach t.
                         It takes that nobody has more than L items, and that L is public. Here it
                         is the size of the largest basket, so that nothing is cut. Of Kosarak there
                         are counts alone, so it is left out.
    Laplace, n           The same without any bound: one person may have all n items.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import sqrt
from typing import NamedTuple

import numpy as np

import topgap
from benchmarks.data import Counts, load
from benchmarks.pages import DOCS
from benchmarks.utility import threshold_tables
from benchmarks.utility.contributions import retail, t40
from benchmarks.utility.domains import Truth
from benchmarks.utility.threshold_tables import (
    ESTIMATES,
    LAPLACE,
    LAPLACE_N,
    THRESHOLD,
    Accuracy,
    Combination,
)
from topgap.planning.statistics import Figure, Mean, root_mean_square


class Source(NamedTuple):
    """A data set.

    Attributes:
        label: What it is, as a table says it.
        counts: Its counts.
        bound: How many items anybody has at most; None where that is not known.
    """

    label: str
    counts: Counts
    bound: int | None


def make_kosarak() -> Source:
    return Source(*load("Kosarak"), None)


def make_retail() -> Source:
    data = retail()
    return Source(data.label, data.counts, data.bounds[-1])


def make_t40() -> Source:
    data = t40()
    return Source(data.label, data.counts, data.bounds[-1])


@dataclass(frozen=True)
class Settings:
    """What is measured.

    Attributes:
        sources: The data sets.
        epsilons: The values of ε.
        ks: The values of k.
        ranks: How many items are above the threshold.
        lists: How many lists there are of each.
    """

    sources: Sequence[Callable[[], Source]]
    epsilons: Sequence[str]
    ks: Sequence[int]
    ranks: Sequence[int]
    lists: int


FULL = Settings(
    sources=(make_kosarak, make_retail, make_t40),
    epsilons=("0.1", "1"),
    ks=(25, 100),
    ranks=(5, 25, 60),
    lists=1_000,
)
QUICK = Settings(sources=(make_retail,), epsilons=("1",), ks=(25, 100), ranks=(5, 60), lists=20)


class Outcome(NamedTuple):
    """What one output names, how far off its counts are, and what it cost.

    Attributes:
        names: The places of the items, from the first down.
        counts: Their counts as released; empty if there are none.
        spent: What it cost.
    """

    names: Sequence[int]
    counts: Sequence[float]
    spent: Fraction


@dataclass(frozen=True, eq=False)
class Question:
    """Which items are above t, at most k of them?

    Attributes:
        counts: The counts; the place in the array is an item's name.
        k: How many items are named at most.
        rank: How many have counts above the threshold, unless there are ties.
        epsilon: The privacy loss ε, as it is written.
    """

    counts: Counts
    k: int
    rank: int
    epsilon: str

    @cached_property
    def threshold(self) -> int:
        """In the middle between two neighbouring counts.

        >>> Question(np.array([9, 4, 6, 1]), 2, 1, "1").threshold
        7
        """
        higher, lower = np.sort(self.counts)[::-1][self.rank - 1 : self.rank + 1].tolist()
        return int(higher + lower) // 2

    @cached_property
    def places(self) -> int:
        """How many items should be named."""
        return min(self.k, int(np.count_nonzero(self.counts > self.threshold)))

    def ask_threshold(self) -> Outcome:
        release = topgap.top_k(
            self.counts, self.k, self.epsilon, monotonic=True, threshold=self.threshold
        )
        counts = [float(each.value) for each in release.counts()] if release.has_counts else []
        return Outcome(release.indices.tolist(), counts, release.spent)

    def ask_estimates(self) -> Outcome:
        made = topgap.top_k_with_estimates(self.counts, self.k, self.epsilon, monotonic=True)
        above = [(item, value) for item, value in made if value > self.threshold]
        return Outcome(
            [item for item, _ in above], [value for _, value in above], Fraction(self.epsilon)
        )

    def ask_laplace(self, bound: int) -> Outcome:
        release = topgap.top_k(
            self.counts,
            self.k,
            self.epsilon,
            monotonic=True,
            threshold=self.threshold,
            items_per_person=bound,
            noise="laplace",
        )
        assert release.values is not None  # noqa: S101 - there are with this noise
        return Outcome(release.indices.tolist(), [*map(float, release.values)], release.spent)


class Judgement(NamedTuple):
    """How right an output is.

    Attributes:
        found: The share of the items that should be named: those above t, or the k largest of them.
        false: How many others are named.
        square: The mean square of how far the counts are off; None without counts.
        last_error: By how much the count of the last item is too large; None without counts.
        spent: What it cost, as a part of ε.
    """

    found: float
    false: float
    square: float | None
    last_error: float | None
    spent: float


def judge(question: Question, truth: Truth, outcome: Outcome) -> Judgement:
    """Judge an output by the counts; of equal counts at the k-th place whoever is named is right.

    >>> ask = Question(np.array([9, 7, 5, 1]), 3, 2, "1")   # t = 6
    >>> judge(ask, Truth.of(ask.counts, 3), Outcome([0, 2], [8.0, 8.0], Fraction(1, 2)))
    Judgement(found=0.5, false=1.0, square=5.0, last_error=3.0, spent=0.5)
    """
    counts, threshold = question.counts, question.threshold
    above = [name for name in outcome.names if counts[name] > threshold]
    right = question.k * truth.share(above)
    off = [
        released - int(counts[name])
        for released, name in zip(outcome.counts, outcome.names, strict=bool(outcome.counts))
    ]
    return Judgement(
        found=right / question.places,
        false=len(outcome.names) - right,
        square=float(np.square(off).mean()) if off else None,
        last_error=off[-1] if off else None,
        spent=float(outcome.spent / Fraction(question.epsilon)),
    )


def measure(settings: Settings) -> Iterator[Accuracy]:
    """All figures, one after another."""
    for make in settings.sources:
        source = make()
        for k in settings.ks:
            truth = Truth.of(source.counts, k)
            for epsilon in settings.epsilons:
                for rank in settings.ranks:
                    question = Question(source.counts, k, rank, epsilon)
                    yield from measure_question(source, question, truth, settings.lists)
        print(f"{source.label}: done", file=sys.stderr)


def measure_question(
    source: Source, question: Question, truth: Truth, lists: int
) -> Iterator[Accuracy]:
    """The accuracy of all who answer it."""
    size = len(source.counts)
    answers: list[tuple[str, int, Callable[[], Outcome]]] = [
        (THRESHOLD, 0, question.ask_threshold),
        (ESTIMATES, 0, question.ask_estimates),
        (LAPLACE_N, size, partial(question.ask_laplace, size)),
    ]
    if source.bound is not None:
        answers.append((LAPLACE, source.bound, partial(question.ask_laplace, source.bound)))
    for who, bound, answer in answers:
        judged = [judge(question, truth, answer()) for _ in range(lists)]
        setting = source.label, question.epsilon, question.k, question.rank, question.threshold
        yield summarize((*setting, who, bound), judged)


def summarize(
    setting: tuple[str, str, int, int, int, str, int], judged: Sequence[Judgement]
) -> Accuracy:
    """The means of these, beside what they are of; of counts where there are some."""
    counted = [each for each in judged if each.square is not None]
    error = last = Figure(float("nan"), float("nan"))
    if len(counted) > 1:
        error = root_mean_square(find_mean([each.square for each in counted]), Fraction(1))
        last = find_mean([each.last_error for each in counted]).figure()
    figures = (
        find_mean([each.found for each in judged]).figure(),
        find_mean([each.false for each in judged]).figure(),
        error,
        last,
        find_mean([each.spent for each in judged]).figure(),
    )
    flat = (number for figure in figures for number in figure)
    return Accuracy(*setting, len(judged), len(counted), *flat)


def find_mean(values: Sequence[float | None]) -> Mean:
    mean = Mean()
    mean.add(np.array(values, dtype=np.float64))
    return mean


# --- Free counts and measurements together


def combined_deviation(named: int, share: float) -> float:
    """The standard deviation of the best linear estimate of a count, in units of k/ε.

    A share s of ε selects, with noise of mean 1/s, and the rest measures each item that is named,
    with Laplace noise of scale 1/(1 − s), whose variance is b = 2/(1 − s)². The threshold plus gaps
    is a count plus η_i − η_s, where the variance of each is a = 1/s² and η_s is the same for all j.
    So the inverse of the covariance of the estimates is

        (1/a + 1/b)·I − 1/(a(j + 1))·J,   where all entries of J are 1,

    and this is the root of an entry on the diagonal of what that is the inverse of. With s = 1
    there are no measurements, and it is √2.

    >>> round(combined_deviation(5, 1) ** 2, 9), combined_deviation(1, 0.5)
    (2.0, 2.0)
    """
    of_noise = share**2
    alone = of_noise + (1 - share) ** 2 / 2
    shared = of_noise / (named + 1)
    return sqrt((1 + shared / (alone - named * shared)) / alone)


def find_combinations(all_named: Sequence[int]) -> list[Combination]:
    """For so many items named: half of ε for measurements, and the share that is best."""
    found = []
    for named in all_named:
        shares = [part / 100 for part in range(1, 101)]
        best = min(shares, key=partial(combined_deviation, named))
        half, at_best = (combined_deviation(named, share) for share in (0.5, best))
        found.append(Combination(named, combined_deviation(named, 1), half, best, at_best))
    return found


NAMED = 1, 5, 25, 60, 99


def main() -> int:
    """Measure, and write or print what was found."""
    parser = argparse.ArgumentParser(description="Measure a threshold beside other ways.")
    parser.add_argument("--quick", action="store_true", help="a part of it, printed only")
    quick = parser.parse_args().quick
    found, combinations = [*measure(QUICK if quick else FULL)], find_combinations(NAMED)
    if quick:
        for name, text in threshold_tables.places(found, combinations).items():
            print(f"\n{name}\n\n{text}")
    else:
        threshold_tables.write(found, combinations, DOCS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
