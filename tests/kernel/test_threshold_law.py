"""The kernel with a sentinel has the law of the list with one more item, cut where that comes."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checking.depths import DEPTHS, MODERATE
from tests.kernel.kernel_mutants import KernelMutant, at_depth, leaves_open
from tests.kernel.probe import Probe
from tests.kernel.threshold_cases import (
    CONSTANT_WORK_SENTINELS,
    LARGER_SENTINELS_WITH_RUNS,
    SENTINELS,
    SENTINELS_WITH_RUNS,
    Cut,
)

CASES = [*SENTINELS, *CONSTANT_WORK_SENTINELS, *SENTINELS_WITH_RUNS]

# The most that a walk of a kind leaves open, less deep and deep, rounded up to two digits: nothing
# in a walk is left to chance, so that it leaves the same open wherever it is run.
MOST_LEFT_OPEN = {
    "kernel, sentinel, draw by draw": (0.16, 0.0079),
    "kernel, sentinel, bit by bit": (0.39, 0.055),
    "kernel, sentinel, constant work, draw by draw": (0.0049, 6.8e-5),
    "kernel, sentinel, constant work, bit by bit": (0.045, 0.0066),
    "kernel, sentinel with runs, draw by draw": (0.081, 0.0036),
    "kernel, sentinel with runs, bit by bit": (0.051, 0.0095),
}


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_list_that_is_cut_has_the_law(
    case: Cut, depth: str, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    less_deep, deep = MOST_LEFT_OPEN[case.kind]
    case = at_depth(case, depth)
    rest = leaves_open(case, probe)
    assert rest <= (less_deep if depth == MODERATE else deep)
    record_property(f"{case.kind}, {depth}", float(rest))


@pytest.mark.deep
@pytest.mark.parametrize("case", LARGER_SENTINELS_WITH_RUNS, ids=str)
def test_larger_domains_have_the_law_of_the_list_written_out(
    case: Cut, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    rest = leaves_open(case, probe)
    assert rest <= 0.024
    record_property(f"{case.kind}, up to 8 items", float(rest))


def test_the_same_draws_are_asked_for_whatever_the_answers_are(probe: Probe) -> None:
    """Constant work: an order of all entries and noise for each, the sentinel among them."""
    asked = {
        probe.ask(
            [
                f"draws units={units} per_unit=10 k={k} rate=1/100 grid=30 refinement=24 parts=1 "
                f"constant_work=1 cut={sentinel}"
            ]
        )[0]
        for units in ("0,1,2,3", "5,5,5,5", f"{-(2**62)},{2**62},0,1")
        for k in (1, 3, 9)
        for sentinel in (0, 2**100, -(2**100))
    }
    order = [f"below{bound}" for bound in range(5, 1, -1)]
    assert asked == {" ".join([*order, *["geometric0"] * 5, "checkpoint"])}


MUTANTS = [
    KernelMutant(*mutant)
    for mutant in [
        ("ranking.rs", "cut one too late: the items below the sentinel named",
         "winners[..named].iter().map(|winner| index_at(winner.place)).collect();",
         "winners.iter().map(|winner| index_at(winner.place))"
         ".filter(|&index| index != SENTINEL).collect();", SENTINELS),
        ("ranking.rs", "cut one too early", "sentinel.unwrap_or(winners.len());",
         "sentinel.map_or(winners.len(), |at| at.saturating_sub(1));", SENTINELS),
        ("ranking.rs", "the k-th gap left out where it is the lead over the sentinel",
         "ranked.windows(2).take(named).map(",
         "ranked.windows(2).take(named)"
         ".filter(|pair| index_at(pair[1].place) != SENTINEL).map(", SENTINELS),
        ("candidates.rs", "the k-th gap over the next item, and never over the sentinel",
         "if noisy_answer < self.threshold {",
         "if self.candidates.iter().filter(|each| self.threshold + each.excess.signed() "
         "> noisy_answer).count() >= k && self.candidates.len() > k {\n            return;\n"
         "        }\n        if noisy_answer < self.threshold {", SENTINELS),
        ("lib.rs", "the k-th gap over the sentinel, and never over an item",
         "let needed = at_most(k.saturating_add(1), &answers, runs.as_ref());",
         "let needed = at_most(k, &answers, runs.as_ref());", SENTINELS),
        ("lib.rs", "the sentinel's noise missing",
         "Ok(answer + noise.draw(0, sampler)?)",
         "let _ = noise.draw(0, sampler)?;\n    Ok(answer)", SENTINELS),
        ("lib.rs", "the sentinel's noise two-sided",
         "Ok(answer + noise.draw(0, sampler)?)",
         "Ok(answer + Laplace(noise.0).draw(0, sampler)?)", SENTINELS),
        ("lib.rs", "the sentinel's noise drawn twice", "reaching.add_sentinel(noisy_answer, k);",
         "let again = noise.draw(0, workers.main_sampler())?;\n"
         "        reaching.add_sentinel(noisy_answer + again, k);", SENTINELS),
        ("lib.rs", "a floor that is too high",
         "reaching(answers, runs, needed, sentinel, noise, plan, workers)?;\n    if let",
         "reaching(answers, runs, needed, sentinel.map(|floor| floor + Ticks(1)), noise, plan, "
         "workers)?;\n    if let", SENTINELS),
        ("lib.rs", "the sentinel's answer for a floor without its noise",
         "reaching.add_sentinel(noisy_answer, k);",
         "reaching.add_sentinel(reaching.threshold.max(noisy_answer), k);", SENTINELS),
        ("candidates.rs", "no sentinel below the threshold", "if self.candidates.len() > k {",
         "if self.candidates.len() + 1 > k {", SENTINELS),
        ("candidates.rs", "values not raised when the threshold falls to the sentinel",
         "each.excess += rise", "each.excess += rise - rise", SENTINELS),
        ("ranking.rs", "the sentinel has no place in the order",
         "shuffle(&mut candidates, sampler)?;\n        ranked = downwards(&candidates, count",
         "let all = candidates.len() - 1;\n        shuffle(&mut candidates[..all], sampler)?;\n"
         "        ranked = downwards(&candidates, count", SENTINELS),
        # Constant work.
        ("constant_work.rs", "the sentinel's noise missing",
         "largest.offer(Entry::new(answer + noise.draw(0, sampler)?, place));",
         "let drawn = noise.draw(0, sampler)?;\n"
         "            let drawn = if index == SENTINEL { Ticks(0) } else { drawn };\n"
         "            largest.offer(Entry::new(answer + drawn, place));", CONSTANT_WORK_SENTINELS),
        ("constant_work.rs", "the sentinel has no place in the order",
         "shuffle(&mut order, sampler)?;",
         "shuffle(&mut order[..answers.units.len()], sampler)?;", CONSTANT_WORK_SENTINELS),
        ("constant_work.rs", "no room for the sentinel where there are few items",
         "count.min(order.len())", "count.min(answers.units.len())", CONSTANT_WORK_SENTINELS),
        # Runs.
        ("lib.rs", "a floor that is too high for the members of a run",
         "reaching(answers, runs, needed, sentinel, noise, plan, workers)?;\n    if let",
         "reaching(answers, runs, needed, sentinel.map(|floor| floor + Ticks(1)), noise, plan, "
         "workers)?;\n    if let", SENTINELS_WITH_RUNS),
    ]
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_broken_kernel_is_found(mutant: KernelMutant, tmp_path: Path) -> None:
    assert mutant.is_found(tmp_path)
