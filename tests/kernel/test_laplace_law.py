"""The kernel with Laplace noise has the law: walked on every tape, and every sequence of draws."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checking.depths import DEPTHS, MODERATE
from tests.kernel.kernel_mutants import KernelMutant, at_depth, leaves_open
from tests.kernel.laplace_cases import (
    GIVEN_ZEROS,
    LARGER_NOISY_RUNS,
    NOISY_ANSWERS,
    NOISY_CANDIDATES,
    NOISY_CONSTANT_WORK,
    NOISY_CUTS,
    NOISY_PARTS,
    NOISY_RUNS,
    NOISY_TAPES,
    LaplaceCase,
)
from tests.kernel.probe import Probe

CASES = [
    *GIVEN_ZEROS, *NOISY_TAPES, *NOISY_ANSWERS, *NOISY_CUTS, *NOISY_PARTS, *NOISY_CONSTANT_WORK,
    *NOISY_CANDIDATES, *NOISY_RUNS,
]  # fmt: skip

# The most that a walk of a kind leaves open, less deep and deep, rounded up to two digits: nothing
# in a walk is left to chance, so that it leaves the same open wherever it is run.
MOST_LEFT_OPEN = {
    "kernel's Laplace noise given zeros, bit by bit": (0.34, 0.045),
    "kernel, Laplace noise, bit by bit": (0.92, 0.67),
    "kernel, Laplace noise, constant work, bit by bit": (0.69, 0.35),
    "kernel, Laplace noise with runs, bit by bit": (0.95, 0.75),
    "kernel, Laplace noise, draw by draw": (0.19, 0.012),
    "kernel, Laplace noise, draw by draw, with digits": (0.25, 0.18),
    "kernel, Laplace noise, constant work, draw by draw": (0.0026, 1.6e-5),
    "kernel, Laplace noise, constant work, draw by draw, with digits": (0.00079, 0.00021),
    "kernel, Laplace noise's candidates, draw by draw": (0.002, 0.0001),
    "kernel, Laplace noise with runs, draw by draw": (0.058, 0.0016),
    "kernel, Laplace noise's candidates with runs, draw by draw": (0.0043, 0.0004),
}


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_laplace_noise_has_the_law(
    case: LaplaceCase, depth: str, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    has_digits = case.grid == 0 and case.kind.endswith("draw by draw")
    less_deep, deep = MOST_LEFT_OPEN[case.kind + (", with digits" if has_digits else "")]
    case = at_depth(case, depth)
    rest = leaves_open(case, probe)
    assert rest <= (less_deep if depth == MODERATE else deep)
    record_property(f"{case.kind}, {depth}", float(rest))


@pytest.mark.deep
@pytest.mark.parametrize("case", LARGER_NOISY_RUNS, ids=str)
def test_larger_domains_have_the_law_of_the_list_written_out(
    case: LaplaceCase, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    rest = leaves_open(case, probe)
    assert rest <= 0.0081
    record_property(f"{case.kind}, up to 8 items", float(rest))


MUTANTS = [
    KernelMutant(*mutant)
    for mutant in [
        # The noise.
        ("noise.rs", "one-sided noise", "        sampler.laplace(self.0, zeros)\n",
         "        Ok(Ticks(sampler.laplace(self.0, zeros)?.0.abs()))\n", NOISY_ANSWERS),
        ("noise.rs", "a tail without its 1/(1 + t): the first number alone",
         "        sampler.laplace(self.0, zeros)\n",
         "        Ok(sampler.geometric(self.0, zeros)?.signed())\n", NOISY_ANSWERS),
        ("noise.rs", "a sign and a magnitude: zero counted twice",
         "        sampler.laplace(self.0, zeros)\n",
         "        let size = sampler.geometric(self.0, zeros)?.signed();\n"
         "        Ok(if sampler.below(2)? == 0 { size } else { Ticks(-size.0) })\n", NOISY_ANSWERS),
        ("noise.rs", "the zero bits forgotten", "        sampler.laplace(self.0, zeros)\n",
         "        sampler.laplace(self.0, 0 * zeros)\n", NOISY_ANSWERS),
        ("laplace.rs", "the zero bits forgotten, bit by bit",
         "let up = geometric(rate, zeros, source)?", "let up = geometric(rate, 0 * zeros, source)?",
         GIVEN_ZEROS),
        ("laplace.rs", "the zero bits given to both",
         "let down = geometric(rate, 0, source)?", "let down = geometric(rate, zeros, source)?",
         GIVEN_ZEROS),
        # A missed threshold.
        ("noise.rs", "not rejected", "while noise >= span {", "while noise >= span && false {",
         NOISY_ANSWERS),
        ("noise.rs", "rejected only beyond the threshold", "while noise >= span {",
         "while noise > span {", NOISY_ANSWERS),
        ("noise.rs", "a rejection not repeated", "while noise >= span {", "if noise >= span {",
         NOISY_ANSWERS),
        ("noise.rs", "a rejection repeated with its zeros",
         "noise = sampler.laplace(self.0, 0)?;", "noise = sampler.laplace(self.0, zeros)?;",
         NOISY_ANSWERS),
        ("noise.rs", "the first draw without its zeros",
         "let mut noise = sampler.laplace(self.0, zeros)?;",
         "let mut noise = sampler.laplace(self.0, 0 * zeros)?;", NOISY_ANSWERS),
        ("noise.rs", "below no span: one too high", "Ok(span - beyond - Ticks(1))",
         "Ok(span - beyond)", NOISY_ANSWERS),
        ("noise.rs", "below no span: not memoryless", "Ok(span - beyond - Ticks(1))",
         "Ok(span.min(Ticks(0) - beyond) - Ticks(1))", NOISY_ANSWERS),
        ("noise.rs", "below no span: in a run", "Ok(span - beyond - Ticks(1))",
         "Ok(span - beyond)", NOISY_RUNS),
        ("candidates.rs", "the fall stopped at the anchor",
         "if N::IS_NEVER_NEGATIVE { self.base(ticks_per_unit) }",
         "if N::IS_NEVER_NEGATIVE || true { self.base(ticks_per_unit) }", NOISY_ANSWERS),
        ("candidates.rs", "what was missed forgotten", "before = Some(plan.threshold);",
         "before = Some(plan.threshold + Ticks(1));", NOISY_ANSWERS),
        ("candidates.rs", "above and not at the threshold",
         "self.count += usize::from(excess.0 >= 0);",
         "self.count += usize::from(excess.0 > 0);", NOISY_ANSWERS),
        ("candidates.rs", "enough at a threshold above the cut",
         "target.floor.is_some_and(|floor| plan.threshold <= floor)",
         "target.floor.is_some_and(|floor| plan.threshold <= floor + Ticks(1))", NOISY_CANDIDATES),
        ("lib.rs", "the floor rounded up",
         "let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         "let per_unit = noise.rate().ticks_per_unit(answers.steps_per_unit);\n"
         "    let up = |floor| per_unit.round_down(floor + per_unit.ticks(Units(1)) - Ticks(1));\n"
         "    let floor = floor.map(up);\n"
         "    let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         NOISY_CANDIDATES),
        ("lib.rs", "a cut rounded up",
         "let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         "let per_unit = noise.rate().ticks_per_unit(answers.steps_per_unit);\n"
         "    let up = |floor| per_unit.round_down(floor + per_unit.ticks(Units(1)) - Ticks(1));\n"
         "    let floor = floor.map(up);\n"
         "    let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         NOISY_CUTS),
        # Runs.
        ("runs.rs", "a run skipped below no span",
         "if N::IS_NEVER_NEGATIVE && span.is_some_and(|span| span <= Ticks(0)) {",
         "if span.is_some_and(|span| span <= Ticks(0)) {", NOISY_RUNS),
        ("runs.rs", "wrong leading zeros: those of a head forgotten",
         "level.noise.draw(zeros, sampler)?", "level.noise.draw(0 * zeros, sampler)?", NOISY_RUNS),
        ("runs.rs", "wrong leading zeros: those of a head forgotten where a threshold was missed",
         "level.noise.draw_below(span, zeros, sampler)?",
         "level.noise.draw_below(span, 0 * zeros, sampler)?", NOISY_RUNS),
        ("runs.rs", "a head twice", "if !known.contains(rank.words()) {",
         "if !known.contains(rank.words()) || heads > 0 {", NOISY_RUNS),
        ("lib.rs", "the items of runs not counted",
         "runs.all.iter().map(Run::unlisted).sum::<BigUint>() + listed;",
         "runs.all.iter().map(Run::unlisted).sum::<BigUint>() * 0_u8 + listed;", NOISY_RUNS),
        # Ranking.
        ("lib.rs", "the next noisy answer not looked for",
         "let needed = at_most(k + 1, &answers, runs.as_ref());",
         "let needed = at_most(k, &answers, runs.as_ref());", NOISY_ANSWERS),
        ("ranking.rs", "the next noisy answer lost",
         "let noisy_answers = ranked.iter().map(|ranked| threshold",
         "let noisy_answers = ranked.iter().take(k).map(|ranked| threshold", NOISY_ANSWERS),
        ("ranking.rs", "noisy answers of others than the winners",
         "threshold + ranked.height.signed()",
         "threshold + candidates[(ranked.place + 1) % candidates.len()].excess.signed()",
         NOISY_ANSWERS),
        ("ranking.rs", "counted from the threshold, and not from zero",
         "threshold + ranked.height.signed()", "threshold - threshold + ranked.height.signed()",
         NOISY_ANSWERS),
        ("ranking.rs", "a remainder taken off, as of exponential noise",
         "threshold + ranked.height.signed()",
         "threshold + ranked.height.signed() - Ticks(i128::from(ranked.place > 0))",
         NOISY_ANSWERS),
        ("ranking.rs", "ties broken by position",
         "height == pair[1].height) {\n        shuffle(&mut candidates, sampler)?;",
         "height == pair[1].height) {", NOISY_ANSWERS),
        ("ranking.rs", "ties of the last winner broken by position",
         "if ranked.windows(2).any(|pair| pair[0].height",
         "if ranked[..k.min(ranked.len())].windows(2).any(|pair| pair[0].height", NOISY_ANSWERS),
        ("ranking.rs", "a cut one too high", "candidate.excess.signed() >= floor)",
         "candidate.excess.signed() > floor)", NOISY_CUTS),
        ("ranking.rs", "a cut one too low", "candidate.excess.signed() >= floor)",
         "candidate.excess.signed() + Ticks(1) >= floor)", NOISY_CUTS),
        # Parts.
        ("candidates.rs", "each part must find enough",
         "parts.iter_mut().map(|part| part.found.count_from(above)).sum();",
         "parts.iter_mut().map(|part| part.found.count_from(above)).max().unwrap_or(0);",
         NOISY_PARTS),
        ("candidates.rs", "only the first part is kept",
         "parts.for_each(|more| all.extend(more));", "parts.for_each(drop);", NOISY_PARTS),
        # Constant work.
        ("constant_work.rs", "exponential noise",
         "rank_all(answers, None, k.saturating_add(1), Laplace(rate), sampler)?",
         "rank_all(answers, None, k.saturating_add(1), Exponential(rate), sampler)?",
         NOISY_CONSTANT_WORK),
        ("constant_work.rs", "the next noisy answer lost",
         "rank_all(answers, None, k.saturating_add(1), Laplace(rate), sampler)?",
         "rank_all(answers, None, k, Laplace(rate), sampler)?",
         NOISY_CONSTANT_WORK),
        ("constant_work.rs", "noisy answers counted from elsewhere",
         "Ticks((height.0 ^ (1 << 127)).cast_signed())", "Ticks(height.0.cast_signed())",
         NOISY_CONSTANT_WORK),
        ("constant_work.rs", "places for items", "map(|winner| order[winner.place])",
         "map(|winner| winner.place + 0 * order.len())", NOISY_CONSTANT_WORK),
        ("constant_work.rs", "an order that is not drawn", "shuffle(&mut order, sampler)?;", "",
         NOISY_CONSTANT_WORK),
    ]
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_broken_kernel_is_found(mutant: KernelMutant, tmp_path: Path) -> None:
    assert mutant.is_found(tmp_path)
