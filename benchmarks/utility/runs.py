"""The runs that the comparison of utility is made of: of topgap, of the peers, of their laws."""

import time
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeVar

import numpy as np

import topgap
from benchmarks.data import Counts, load
from benchmarks.utility.laws import (
    probability_at_once,
    probability_by_peeling,
    right_lists,
    simulate,
)
from benchmarks.utility.libraries import LISTS, MEASURES, WAYS
from benchmarks.utility.results import (
    MEASURED,
    SIMULATED,
    Case,
    CountError,
    FewItems,
    Figures,
    ListAccuracy,
    interval,
)
from topgap import select
from topgap.planning.public_counts import PublicCounts as Truth
from topgap.planning.public_counts import Winners
from topgap.planning.statistics import Mean, root_mean_square

FEWEST_RUNS, RUNS_WORTH_IT, MOST_RUNS = 10, 100, 5_000
TRIALS = 5
FEW_ITEMS, FEW_K, FEW_SCALE = (2, 2, 1, 0), 2, 1
AT_ONCE = "noise drawn once"

Released = TypeVar("Released")


def ours(data: str, k: int, epsilons: Sequence[str], releases: int) -> Figures:
    """Releases of topgap: names and gaps with all of ε, and counts too with half of it."""
    label, counts = load(data)
    plan = topgap.plan(counts, k, epsilons, releases=releases, monotonic=True)
    found = Figures()
    for epsilon, row in zip(epsilons, plan.rows, strict=True):
        case = Case(label, k, epsilon)
        for who, lists in (("topgap", row.names), ("topgap, counts too", row.estimates)):
            right = round(lists.right.value * releases)
            ends = interval(releases, right)
            found.lists.append(
                ListAccuracy(
                    case, who, MEASURED, releases, right / releases, *ends, lists.overlap.value
                )
            )
        for who, error in (
            ("topgap, measured alone", row.measured_error),
            ("topgap, with gaps", row.combined_error),
        ):
            found.errors.append(CountError(case, who, releases, *error))
    return found


def law(data: str, k: int, way: str, epsilons: Sequence[str], lists: int) -> Figures:
    """Simulated lists that are peeled in this way."""
    label, counts = load(data)
    return Figures(
        lists=[
            _judged(
                Case(label, k, epsilon),
                counts,
                way,
                SIMULATED,
                simulate(way, counts, k, float(k / Fraction(epsilon)), lists, seed),
            )
            for seed, epsilon in enumerate(epsilons)
        ]
    )


def peer_lists(data: str, k: int, peer: str, epsilons: Sequence[str], seconds: float) -> Figures:
    """Lists of a peer at these ε, the most telling first, as many as there is time for."""
    label, counts = load(data)
    numbers = counts.tolist()
    runs = _in_time(lambda each: LISTS[peer](numbers, k, float(each)), epsilons, seconds)
    return Figures(
        lists=[
            _judged(Case(label, k, epsilon), counts, peer, MEASURED, np.array(winners))
            for epsilon, winners in runs
        ]
    )


def peer_errors(data: str, k: int, peer: str, epsilons: Sequence[str], seconds: float) -> Figures:
    """The winners' counts as a peer tells them: half of ε names, the other half measures."""
    label, counts = load(data)
    numbers = counts.tolist()

    def prepared(epsilon: str) -> Callable[[], float]:
        half = float(epsilon) / 2
        lists, measure = LISTS[peer](numbers, k, half), MEASURES[peer](k, half)

        def squared_error() -> float:
            true = [numbers[place] for place in lists()]
            told = measure(true)
            return float(sum((a - b) ** 2 for a, b in zip(told, true, strict=True))) / k

        return squared_error

    found = Figures()
    for epsilon, squares in _in_time(prepared, epsilons, seconds):
        mean = Mean()
        mean.add(np.array(squares))
        error = root_mean_square(mean, Fraction(1))
        found.errors.append(CountError(Case(label, k, epsilon), peer, len(squares), *error))
    return found


def few_items(runs: int) -> Figures:
    """Lists of a few items, where the exact law is known: who selects in which way."""
    right = right_lists(FEW_ITEMS, FEW_K)
    parameters = topgap.TopK(FEW_K, Fraction(FEW_K, FEW_SCALE), monotonic=True)

    def released() -> list[int]:
        return select(parameters, np.array(FEW_ITEMS)).indices.tolist()

    exact = {AT_ONCE: sum(probability_at_once(FEW_ITEMS, FEW_SCALE, each) for each in right)}
    for way in WAYS.values():
        exact[way] = sum(probability_by_peeling(way, FEW_ITEMS, FEW_SCALE, each) for each in right)
    makers = {"topgap": (AT_ONCE, released)}
    for peer, way in WAYS.items():
        makers[peer] = way, LISTS[peer](list(FEW_ITEMS), FEW_K, FEW_K / FEW_SCALE)
    found = Figures()
    for who, (way, make) in makers.items():
        hits = sum(tuple(make()) in right for _ in range(runs))
        small = FewItems(who, way, exact[way], runs, hits / runs, *interval(runs, hits))
        found.small.append(small)
    return found


def _judged(case: Case, counts: Counts, who: str, kind: str, winners: Winners) -> ListAccuracy:
    """Ties are decided in favour of a list."""
    truth = Truth.of(counts, topgap.TopK(case.k, 1))
    judged, runs = truth.compare(winners), len(winners)
    right = int(judged.right.sum())
    ends = interval(runs, right)
    return ListAccuracy(case, who, kind, runs, right / runs, *ends, float(judged.overlap.mean()))


def _in_time(
    prepared: Callable[[str], Callable[[], Released]], epsilons: Sequence[str], seconds: float
) -> Iterator[tuple[str, list[Released]]]:
    """Run it as often as a few trials say there is time for, which are not counted.

    So how often does not depend on what comes out of the runs. If there is no time for
    `RUNS_WORTH_IT` at all these ε, there are fewer ε; if not for `FEWEST_RUNS` at one, none.
    """
    if not epsilons:
        return
    run = prepared(epsilons[0])
    times: list[float] = []
    while len(times) < TRIALS and sum(times) < seconds / 10:
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    affordable = int((seconds - sum(times)) / min(times))
    kept = epsilons[: max(1, affordable // RUNS_WORTH_IT)]
    runs = min(MOST_RUNS, affordable // len(kept))
    if runs < FEWEST_RUNS:
        return
    for epsilon in kept:
        run = prepared(epsilon)
        yield epsilon, [run() for _ in range(runs)]
