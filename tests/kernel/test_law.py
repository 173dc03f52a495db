"""The compiled kernel has the law: walked on every tape, and on every sequence of its draws."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.checking.depths import DEPTHS
from tests.kernel.kernel_mutants import KernelMutant, at_depth, leaves_open
from tests.kernel.law_cases import (
    CANDIDATES,
    CONSTANT_WORK,
    GEOMETRIC,
    HEADS,
    LAPLACE,
    LARGER_RUNS,
    PARTS,
    RUNS,
    SCRIPTS,
    TAPES,
    Case,
)
from tests.kernel.probe import Probe

CASES = [*HEADS, *GEOMETRIC, *LAPLACE, *TAPES, *SCRIPTS, *PARTS, *CONSTANT_WORK, *CANDIDATES, *RUNS]


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_has_the_law(
    case: Case, depth: str, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    case = at_depth(case, depth)
    rest = leaves_open(case, probe)
    record_property(f"{case.kind}, {depth}", float(rest))


@pytest.mark.deep
@pytest.mark.parametrize("case", LARGER_RUNS, ids=str)
def test_larger_domains_have_the_law_of_the_list_written_out(
    case: Case, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    rest = leaves_open(case, probe)
    record_property(f"{case.kind}, up to 12 items", float(rest))


MUTANTS = [
    KernelMutant(*mutant)
    for mutant in [
        # The threshold and who reaches it.
        ("candidates.rs", "above and not at the threshold",
         "self.count += usize::from(excess.0 >= 0);",
         "self.count += usize::from(excess.0 > 0);", SCRIPTS),
        ("candidates.rs", "no fresh noise above the threshold",
         "found.offer(noise - (self.threshold - answer), index);",
         "found.offer((noise - (self.threshold - answer)).min(Ticks(0)), index);", SCRIPTS),
        ("candidates.rs", "the zero bits forgotten",
         "self.noise.draw(zeros, self.sampler)?", "self.noise.draw(0, self.sampler)?", SCRIPTS),
        ("candidates.rs", "the zero bits forgotten where a threshold was missed",
         "self.noise.draw_below(before - answer, zeros, self.sampler)?",
         "self.noise.draw_below(before - answer, 0, self.sampler)?", SCRIPTS),
        ("candidates.rs", "the zero bits of a lone item forgotten",
         "            zeros = needed;\n", "", SCRIPTS),
        ("noise.rs", "the fallback without mod",
         "Ok((noise % TickCount(span.0.cast_unsigned())).signed())",
         "let _ = span;\n        Ok(noise.signed())", SCRIPTS),
        ("candidates.rs", "values not raised when the threshold falls",
         "candidate.excess += rise", "candidate.excess += rise - rise", SCRIPTS),
        ("candidates.rs", "an item found twice",
         "|| self.0.binary_search(&index).is_err()", "|| true", SCRIPTS),
        ("candidates.rs", "an item of many units takes part in the shared coins",
         "if units[index] < low.0 && known.lacks(index)", "if known.lacks(index)", SCRIPTS),
        ("candidates.rs", "the first item has no shared coin",
         "let mut from = items.start as u64;", "let mut from = items.start as u64 + 1;", SCRIPTS),
        ("candidates.rs", "wrong leading zeros: one bit too many",
         "self.draw(index, zeros, &mut part.found)?",
         "self.draw(index, zeros + 1, &mut part.found)?", SCRIPTS),
        ("leading_zeros.rs", "wrong leading zeros: coins shared too close to the threshold",
         "self.distances_in_units[zeros as usize] + 1;",
         "self.distances_in_units[zeros as usize] + 2;", SCRIPTS),
        ("leading_zeros.rs", "wrong leading zeros: the table not asked",
         "while i128::from(distance) < self.distances_in_units[zeros as usize] {",
         "zeros = (zeros + 1).min(MAX_LEADING_ZEROS);\n        while zeros == 0 {", SCRIPTS),
        ("rate.rs", "wrong leading zeros: distances a little too short",
         "(product >> (POINT_BITS + self.shift)) + 1;",
         "(product >> (POINT_BITS + self.shift)).max(1);",
         SCRIPTS),
        ("answers.rs", "the last block lost if it is not full",
         "self.units.chunks(self.size)", "self.units.chunks_exact(self.size)", SCRIPTS),
        ("answers.rs", "the last item of a block lost",
         "all.min(blocks.end << self.log_size)", "all.min((blocks.end << self.log_size) - 1)",
         SCRIPTS),
        ("answers.rs", "an anchor that too few reach",
         "self.largest.len().checked_sub(needed)?",
         "(self.largest.len() + 1).checked_sub(needed)?", SCRIPTS),
        # Parts, and items of a larger whole.
        ("candidates.rs", "every part draws coins for all items",
         "let items = self.blocks.items_of(&part.blocks, units.len());",
         "let items = 0..units.len();",
         PARTS),
        ("candidates.rs", "the coins of the first part alone",
         "let mut from = items.start as u64;", "let mut from = 0;", PARTS),
        ("candidates.rs", "the parts' blocks counted from the first",
         "let first = part.blocks.start + stretch * BLOCKS_PER_CHECKPOINT;",
         "let first = stretch * BLOCKS_PER_CHECKPOINT;",
         PARTS),
        ("candidates.rs", "each part must find enough",
         "parts.iter_mut().map(|part| part.found.count_from(above)).sum();",
         "parts.iter_mut().map(|part| part.found.count_from(above)).max().unwrap_or(0);", PARTS),
        ("candidates.rs", "only the first part is kept",
         "parts.for_each(|more| all.extend(more));", "parts.for_each(drop);", PARTS),
        ("answers.rs", "the last part lost",
         "(0..blocks).step_by(each)", "(0..blocks.max(2) - 1).step_by(each)", PARTS),
        ("candidates.rs", "enough at a threshold above the floor: one too few",
         "let is_enough = count >= target.needed;", "let is_enough = count + 1 >= target.needed;",
         CANDIDATES),
        ("candidates.rs", "the floor not reached",
         "target.floor.is_some_and(|floor| plan.threshold <= floor)",
         "target.floor.is_some_and(|floor| plan.threshold <= floor || true)", CANDIDATES),
        ("lib.rs", "the floor rounded up",
         "let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         "let per_unit = noise.rate().ticks_per_unit(answers.steps_per_unit);\n"
         "    let up = |floor| per_unit.round_down(floor + per_unit.ticks(Units(1)) - Ticks(1));\n"
         "    let floor = floor.map(up);\n"
         "    let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };",
         CANDIDATES),
        ("lib.rs", "counted from the threshold, and not from zero",
         "noisy_answer: threshold + excess.signed()",
         "noisy_answer: threshold - threshold + excess.signed()", CANDIDATES),
        # Runs.
        ("runs.rs", "a head on a listed item counts",
         ".filter(|(_, is_listed)| !**is_listed)", ".filter(|_| true)", RUNS),
        ("runs.rs", "a head twice", "if !known.contains(rank.words()) {",
         "if !known.contains(rank.words()) || heads > 0 {", RUNS),
        ("runs.rs", "wrong leading zeros: one bit too many for the coins of a run",
         "let zeros = size.shared_zeros(needed, level.noise.rate());",
         "let zeros = size.shared_zeros(needed, level.noise.rate()) + 1;", RUNS),
        ("runs.rs", "wrong leading zeros: the zero bits of a head forgotten",
         "level.noise.draw(zeros, sampler)?", "level.noise.draw(0 * zeros, sampler)?", RUNS),
        ("runs.rs", "wrong leading zeros: those of a head forgotten where a threshold was missed",
         "level.noise.draw_below(span, zeros, sampler)?",
         "level.noise.draw_below(span, 0 * zeros, sampler)?", RUNS),
        ("runs.rs", "the last rank never drawn",
         "Self { end: Rank::new(size, room), room }",
         "Self { end: Rank::new(&(size - 1_u8), room), room }", RUNS),
        ("runs.rs", "the rank after a head never drawn",
         "from = rank.next();", "from = rank.next().next();", RUNS),
        ("noise.rs", "the fallback of a run without mod",
         "Ok((noise % TickCount(span.0.cast_unsigned())).signed())",
         "let _ = span;\n        Ok(noise.signed())", RUNS),
        ("runs.rs", "the excess of a run not raised when the threshold falls",
         "item.excess += rise", "item.excess += rise - rise", RUNS),
        ("runs.rs", "above and not at the threshold, in a run",
         "if excess >= Ticks(0) {", "if excess > Ticks(0) {", RUNS),
        ("runs.rs", "listed items counted twice",
         "&self.size - self.listed", "&self.size - 0 * self.listed", RUNS),
        ("candidates.rs", "enough at a threshold below the run's",
         "part.found.count_from(above)", "part.found.count_from(above - above)", RUNS),
        ("candidates.rs", "the excess of a run counted from its own threshold",
         "(item.excess.signed() + above)", "(item.excess.signed() + above - above)", RUNS),
        ("candidates.rs", "the run drawn once for each part",
         "found_in_runs.draw(runs, level, workers.main_sampler())?;",
         "for _ in 0..parts.len().max(1) {\n"
         "                found_in_runs.draw(runs, level, workers.main_sampler())?;\n"
         "            }", RUNS),
        ("candidates.rs", "the items of runs not enough by themselves",
         "let count = listed + found_in_runs.items.len();",
         "let count = listed + 0 * found_in_runs.items.len();", RUNS),
        ("ranks.rs", "all words added to the lowest",
         "(by.count_below - above) * source.width()", "0 * (by.count_below - above)", HEADS),
        ("ranks.rs", "nothing carried", "rest >>= u64::BITS;", "rest = 0;", HEADS),
        ("ranks.rs", "only the highest words compared",
         "for above in 0..=one.count_below {", "for above in 0..=0 * one.count_below {", HEADS),
        ("ranks.rs", "words that are equal taken for less",
         "        Ok(false)", "        Ok(one.count_below > 0)", HEADS),
        ("ranks.rs", "a word that was compared drawn again",
         "let word = by.word(above, source)?;",
         "let word = if above == 0 { by.highest } else { source.bits(source.width())? };", HEADS),
        ("rate.rs", "the many zeros of a far item forgotten",
         "let middle = far + u128::from(", "let middle = far - far + u128::from(", GEOMETRIC),
        # Ties and gaps.
        ("ranking.rs", "ties broken by position",
         "if ranked.windows(2).any(in_whole_steps) {\n        shuffle(&mut candidates, sampler)?;",
         "if ranked.windows(2).any(in_whole_steps) {", SCRIPTS),
        ("quantities.rs", "the order drawn for ties alone",
         "self.0.trailing_zeros() >= refinement", "self.0 == u128::from(refinement) * 0", SCRIPTS),
        ("ranking.rs", "gaps without remainders",
         "u128::from(pair[0].place > pair[1].place)", "0 * pair[0].place as u128", SCRIPTS),
        ("ranking.rs", "remainders the other way round",
         "u128::from(pair[0].place > pair[1].place)",
         "u128::from(pair[0].height > pair[1].height && pair[0].place < pair[1].place)", SCRIPTS),
        ("ranking.rs", "ties refined, and then a uniform order for all",
         "(pair[0].height - pair[1].height - remainder_is_smaller).whole_steps(refinement)",
         "Steps(((pair[0].height.0 >> refinement) - (pair[1].height.0 >> refinement))"
         ".saturating_sub(remainder_is_smaller.0))", SCRIPTS),
        ("ranking.rs", "the last is never moved",
         "for last in (1..items.len()).rev() {",
         "for last in (1..items.len() - 1).rev() {",
         SCRIPTS),
        ("ranking.rs", "Sattolo's shuffle",
         "sampler.below(last as u64 + 1)?", "sampler.below(last as u64)?", SCRIPTS),
        # Constant work.
        ("constant_work.rs", "an order that is not drawn", "shuffle(&mut order, sampler)?;", "",
         CONSTANT_WORK),
        ("constant_work.rs", "the item at a place for that of the order",
         "answers.at(index)", "answers.at(place + 0 * index)", CONSTANT_WORK),
        ("constant_work.rs", "ties broken the other way round, and gaps not",
         "let comes_later = u8::from(self.rank < other.rank);",
         "let comes_later = u8::from(self.rank > other.rank);", CONSTANT_WORK),
        ("constant_work.rs", "ties left as they lie",
         "Choice::from(is_lower | (is_level & comes_later))",
         "Choice::from(is_lower | (is_level & comes_later & 0))", CONSTANT_WORK),
        ("constant_work.rs", "values below zero taken for above",
         "noisy_answer.0.cast_unsigned() ^ (1 << 127)",
         "noisy_answer.0.unsigned_abs() ^ (1 << 127)", CONSTANT_WORK),
        ("constant_work.rs", "the last group lost if it is not full",
         "self.group.resize(self.size(), Entry::NONE);\n        self.take_group();", "",
         CONSTANT_WORK),
        ("constant_work.rs", "a group that takes the place of the best",
         "best.order(new);", "*best = *new;", CONSTANT_WORK),
        ("constant_work.rs", "the largest with the largest compared",
         "self.group.iter_mut().rev()", "self.group.iter_mut()", CONSTANT_WORK),
        ("constant_work.rs", "a group that is not sorted", "sort(&mut self.group);", "",
         CONSTANT_WORK),
        ("constant_work.rs", "the best not sorted", "merge(&mut self.best);", "", CONSTANT_WORK),
        ("constant_work.rs", "room for the winners alone",
         "rank_all(answers, sentinel, k.saturating_add(1), Exponential(rate), sampler)?",
         "rank_all(answers, sentinel, k, Exponential(rate), sampler)?", CONSTANT_WORK),
        ("constant_work.rs", "no noise",
         "largest.offer(Entry::new(answer + noise.draw(0, sampler)?, place));",
         "let _ = noise.draw(0, sampler)?;\n            "
         "largest.offer(Entry::new(answer, place));", CONSTANT_WORK),
        # The draws.
        ("sampler.rs", "a remainder instead of a rejection",
         "if number < bound {\n                return Ok(number);\n            }",
         "return Ok(number % bound);", TAPES),
        ("shared_coins.rs", "the proposal always accepted",
         "if all_tails::<P, S>(&mut v, leading_zeros, source)? {",
         "if all_tails::<P, S>(&mut v, leading_zeros, source)? || true {", HEADS),
        ("shared_coins.rs", "odd for even", "let mut even = true;", "let mut even = false;", HEADS),
        ("shared_coins.rs", "equal numbers go on", "Ok(one < other)", "Ok(one <= other)", HEADS),
        ("shared_coins.rs", "a short last stretch taken for a full one",
         "return Ok((from < *end).then_some(from));", "return Ok(Some(from));", HEADS),
        ("geometric.rs", "the guess not proved",
         "Some((first, last)) if first == last => Ok(GridSteps(u128::from(first))),",
         "Some((first, _)) => Ok(GridSteps(u128::from(first))),", GEOMETRIC),
        ("geometric.rs", "a word of zeros thrown away",
         "length += u64::from(width);\n    }", "}", GEOMETRIC),
        ("geometric.rs", "a bracket that is one too short",
         "(u128::from(first), u128::from(last) + 1)",
         "(u128::from(first), u128::from(last).max(1))",
         GEOMETRIC),
        ("geometric.rs", "decided too early",
         "if (&self.prefix + 1_u8) << GUARD_BITS <= bound.low {",
         "if &self.prefix << GUARD_BITS <= bound.low {", GEOMETRIC),
        ("geometric.rs", "the digit uniform",
         "if surely || uniform.is_below_exp_minus(&rate.of_ticks(r), source)? {",
         "let _ = rate.of_ticks(r);\n        if surely || true {", GEOMETRIC),
        ("geometric.rs", "too sure of the digit",
         "<= ((1_u128 << rate.grid()) - 1) << width;", "<= (1_u128 << rate.grid()) << width;",
         GEOMETRIC),
        ("rate.rs", "a word taken for all bits",
         "self.least_error + ((self.spread >> 1) >> (known - 1));",
         "self.least_error + u64::from(known > 64);", GEOMETRIC),
        # Laplace noise.
        ("laplace.rs", "both draws the same",
         "let down = geometric(rate, 0, source)?.signed();", "let down = up;", LAPLACE),
        ("laplace.rs", "the sign dropped", "Ok(up - down)", "Ok(Ticks((up - down).0.abs()))",
         LAPLACE),
        ("laplace.rs", "one draw alone",
         "let down = geometric(rate, 0, source)?.signed();", "let down = Ticks(0);", LAPLACE),
        ("laplace.rs", "the sum and not the difference", "Ok(up - down)", "Ok(up + down)", LAPLACE),
        ("laplace.rs", "a sign and a magnitude: zero counted twice",
         "let down = geometric(rate, 0, source)?.signed();",
         "let down = if source.bits(1)? == 0 { Ticks(0) } else { up + up };", LAPLACE),
        ("laplace.rs", "a sign and a magnitude: zero drawn again for one sign only once",
         "let down = geometric(rate, 0, source)?.signed();",
         "let negative = source.bits(1)? == 1;\n"
         "    let again = up == Ticks(0) && negative;\n"
         "    let up = if again { geometric(rate, 0, source)?.signed() } else { up };\n"
         "    let down = if negative { up + up } else { Ticks(0) };", LAPLACE),
        ("laplace.rs", "twice the noise", "Ok(up - down)", "Ok(up - down + (up - down))", LAPLACE),
        ("laplace.rs", "half the noise", "Ok(up - down)", "Ok(Ticks((up - down).0 / 2))", LAPLACE),
        ("laplace.rs", "wrong rate: one draw's noise halved",
         "let down = geometric(rate, 0, source)?.signed();",
         "let down = Ticks(geometric(rate, 0, source)?.signed().0 / 2);", LAPLACE),
        ("laplace.rs", "wrong rate: the first bit of one draw taken for 0",
         "let up = geometric(rate, zeros, source)?.signed();",
         "let up = geometric(rate, zeros + 1, source)?.signed();", LAPLACE),
        ("laplace.rs", "from 1", "Ok(up - down)", "Ok(up - down + Ticks(1))", LAPLACE),
    ]
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_broken_kernel_is_found(mutant: KernelMutant, tmp_path: Path) -> None:
    assert mutant.is_found(tmp_path)
