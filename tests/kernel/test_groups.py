"""The kernel draws for several groups by the product of their laws: walked, and broken."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checking.depths import DEPTHS, MODERATE
from tests.kernel.group_cases import NOISY, PLAIN, RUNS, SENTINELS, Groups
from tests.kernel.kernel_mutants import KernelMutant, at_depth, leaves_open
from tests.kernel.probe import Probe

CASES = [*PLAIN, *SENTINELS, *NOISY, *RUNS]


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_groups_are_independent_and_each_has_its_law(
    case: Groups, depth: str, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    case = at_depth(case, depth)
    rest = leaves_open(case, probe)
    # Rounded up: nothing in a walk is left to chance, so that it leaves the same open anywhere.
    less_deep, deep = (0.18, 0.022) if case.each[0].tape else (0.039, 0.0028)
    assert rest <= (less_deep if depth == MODERATE else deep)
    record_property(f"{case.kind}, {depth}", float(rest))


MUTANTS = [
    KernelMutant("groups.rs", *mutant)
    for mutant in [
        ("one stream for all groups, each from its beginning",
         "+ Sync,\n) -> Result<Vec<T>, W::Stop> {\n"
         "    let mut parts = divide(works, workers.size());\n"
         "    workers.each(&mut parts, |part, sampler| {\n"
         "        for group in part.first..part.end {\n"
         "            if (group - part.first).is_multiple_of(GROUPS_PER_CHECKPOINT) {\n"
         "                sampler.checkpoint()?;\n"
         "            }\n"
         "            draw(group, sampler, &mut part.drawn)?;",
         "+ Sync,\n) -> Result<Vec<T>, W::Stop>\nwhere\n    W::Sampler: Clone,\n{\n"
         "    let mut parts = divide(works, workers.size());\n"
         "    workers.each(&mut parts, |part, sampler| {\n"
         "        for group in part.first..part.end {\n"
         "            if (group - part.first).is_multiple_of(GROUPS_PER_CHECKPOINT) {\n"
         "                sampler.checkpoint()?;\n"
         "            }\n"
         "            draw(group, &mut sampler.clone(), &mut part.drawn)?;", PLAIN),
        ("the first group's list for all of a part", "draw(group, sampler, &mut part.drawn)?;",
         "draw(part.first + 0 * group, sampler, &mut part.drawn)?;", PLAIN),
        ("a group drawn from its neighbour's answers", "draw(group, sampler, &mut part.drawn)?;",
         "draw(part.end - 1 - (group - part.first), sampler, &mut part.drawn)?;", PLAIN),
        ("the last group of a part left out", "for group in part.first..part.end {",
         "for group in part.first..part.end.max(1) - 1 {", PLAIN),
        ("the groups of the last worker left out", "first, end: works.len(), drawn:",
         "first, end: first, drawn:", PLAIN),
        ("a group drawn by two workers", "            first = group + 1;",
         "            first = group;", PLAIN),
        ("the parts in another order", "Ok(parts.into_iter().map(|part| part.drawn).collect())",
         "Ok(parts.into_iter().rev().map(|part| part.drawn).collect())", PLAIN),
    ]
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_broken_groups_are_found(mutant: KernelMutant, tmp_path: Path) -> None:
    assert mutant.is_found(tmp_path)
