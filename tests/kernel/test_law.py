"""The compiled kernel has the law: walked on every tape, and on every sequence of its draws."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.checking.depths import DEPTHS, MODERATE
from tests.checking.mutants import Mutant
from tests.kernel.law_cases import (
    CANDIDATES,
    EVEN,
    GEOMETRIC,
    HEADS,
    LAPLACE,
    PARTS,
    SCRIPTS,
    TAPES,
    Case,
    Select,
    contradictions,
)
from tests.kernel.probe import Probe

CASES = [*HEADS, *GEOMETRIC, *LAPLACE, *TAPES, *SCRIPTS, *PARTS, *EVEN, *CANDIDATES]


@pytest.fixture(scope="module")
def probe() -> Probe:
    return Probe.build()


def moderate(case: Case) -> Case:
    """The same, less deep."""
    if isinstance(case, Select):
        smallest = max(case.smallest, Fraction(1, 2**18))
        return replace(case, depth=min(case.depth, 14), smallest=smallest)
    return replace(case, depth=min(case.depth, 14))


@pytest.mark.slow
@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_kernel_has_the_law(
    case: Case, depth: str, probe: Probe, record_property: Callable[[str, object], None]
) -> None:
    if depth == MODERATE:
        case = moderate(case)
    walk = case.walk(probe)
    assert walk.violations(case.law) == []  # type: ignore[arg-type]
    record_property(f"{case.kind}, {depth}", float(walk.rest))


class KernelMutant(NamedTuple):
    """A defect in one of the kernel's files, and the cases that must show it."""

    file: str
    name: str
    old: str
    new: str
    cases: list[Case]


MUTANTS = [
    KernelMutant(*mutant)
    for mutant in [
        # The threshold and who reaches it.
        ("candidates.rs", "above and not at the threshold",
         "self.count += usize::from(value >= 0);",
         "self.count += usize::from(value > 0);", SCRIPTS),
        ("candidates.rs", "no fresh noise above the threshold",
         "found.offer(value, index);", "found.offer(value.min(0), index);", SCRIPTS),
        ("candidates.rs", "the zero bits forgotten",
         "self.draws.geometric(self.rate, zeros)?", "self.draws.geometric(self.rate, 0)?", SCRIPTS),
        ("candidates.rs", "the zero bits of a lone item forgotten",
         "            zeros = needed;\n", "", SCRIPTS),
        ("candidates.rs", "the fallback without mod",
         "noise %= span.cast_unsigned();", "let _ = span;", SCRIPTS),
        ("candidates.rs", "values not raised when the threshold falls",
         "candidate.value += rise", "candidate.value += 0 * rise", SCRIPTS),
        ("candidates.rs", "an item found twice",
         "|| known.binary_search(&index).is_err()", "|| true", SCRIPTS),
        ("candidates.rs", "an item of many units takes part in the shared coins",
         "if units[index] < low && is_new(index)", "if is_new(index)", SCRIPTS),
        ("candidates.rs", "the first item has no shared coin",
         "let mut from = items.start as u64;", "let mut from = items.start as u64 + 1;", SCRIPTS),
        ("candidates.rs", "wrong octave: one bit too many",
         "self.draw(index, octaves, found)?", "self.draw(index, octaves + 1, found)?", SCRIPTS),
        ("candidates.rs", "wrong octave: coins shared too close to the threshold",
         "- self.distance(octaves) + 1;", "- self.distance(octaves) + 2;", SCRIPTS),
        ("candidates.rs", "wrong octave: the table not asked",
         "while i128::from(distance) < self.distances[octaves as usize] {",
         "octaves = (octaves + 1).min(MOST_OCTAVES);\n        while octaves == 0 {", SCRIPTS),
        ("rate.rs", "wrong octave: distances a little too short",
         "(product >> (POINT + self.shift)) + 1;", "(product >> (POINT + self.shift)).max(1);",
         SCRIPTS),
        ("answers.rs", "the last block lost if it is not full",
         "self.units.chunks(self.size)", "self.units.chunks_exact(self.size)", SCRIPTS),
        ("answers.rs", "the last item of a block lost",
         "all.min(blocks.end << self.log_size)", "all.min((blocks.end << self.log_size) - 1)",
         SCRIPTS),
        ("answers.rs", "an anchor that too few reach",
         "let at = largest.len() - needed;", "let at = largest.len() + 1 - needed;", SCRIPTS),
        # Parts, and items of a larger whole.
        ("candidates.rs", "every part draws coins for all items",
         "let items = blocks.items_of(&part.blocks, units.len());", "let items = 0..units.len();",
         PARTS),
        ("candidates.rs", "the coins of the first part alone",
         "let mut from = items.start as u64;", "let mut from = 0;", PARTS),
        ("candidates.rs", "the parts' blocks counted from the first",
         "let first = part.blocks.start + stretch * STRETCH;", "let first = stretch * STRETCH;",
         PARTS),
        ("candidates.rs", "each part must find enough",
         "parts.iter().map(|part| part.found.count).sum();",
         "parts.iter().map(|part| part.found.count).max().unwrap_or(0);", PARTS),
        ("candidates.rs", "only the first part is kept",
         "parts.for_each(|more| all.extend(more));", "parts.for_each(drop);", PARTS),
        ("answers.rs", "the last part lost",
         "(0..blocks).step_by(each)", "(0..blocks.max(2) - 1).step_by(each)", PARTS),
        ("candidates.rs", "enough at a threshold above the floor: one too few",
         "let is_enough = count >= wanted.needed;", "let is_enough = count + 1 >= wanted.needed;",
         CANDIDATES),
        ("candidates.rs", "the floor not reached",
         "floor.is_some_and(|floor| plan.threshold <= floor)", "floor.is_some()", CANDIDATES),
        ("lib.rs", "the floor rounded up",
         "let units = floor.div_euclid(values_per_unit);",
         "let units = floor.div_euclid(values_per_unit) + 1;", CANDIDATES),
        ("lib.rs", "the floor rounded towards zero",
         "let units = floor.div_euclid(values_per_unit);",
         "let units = floor / values_per_unit;", CANDIDATES),
        ("lib.rs", "values above the threshold, and not above zero",
         "value: threshold + i128", "value: 0 * threshold + i128", CANDIDATES),
        # Ties and gaps.
        ("ranking.rs", "ties broken by position",
         "shuffle(&mut candidates, draws)?;", "", SCRIPTS),
        ("ranking.rs", "the order drawn for ties alone",
         ".trailing_zeros() >= refinement;", " == 0;", SCRIPTS),
        ("ranking.rs", "gaps without remainders",
         "u128::from(pair[0].place > pair[1].place)", "0 * pair[0].place as u128", SCRIPTS),
        ("ranking.rs", "remainders the other way round",
         "u128::from(pair[0].place > pair[1].place)",
         "u128::from(pair[0].value > pair[1].value && pair[0].place < pair[1].place)", SCRIPTS),
        ("ranking.rs", "ties refined, and then a uniform order for all",
         "(pair[0].value - pair[1].value - remainder_is_smaller) >> refinement",
         "((pair[0].value >> refinement) - (pair[1].value >> refinement))"
         ".saturating_sub(remainder_is_smaller)", SCRIPTS),
        ("ranking.rs", "the last is never moved",
         "for last in (1..items.len()).rev() {",
         "for last in (1..items.len() - 1).rev() {",
         SCRIPTS),
        ("ranking.rs", "Sattolo's shuffle",
         "draws.below(last as u64 + 1)?", "draws.below(last as u64)?", SCRIPTS),
        # Constant work.
        ("even.rs", "an order that is not drawn", "shuffle(&mut order, draws)?;", "", EVEN),
        ("even.rs", "the item at a place for that of the order",
         "answers.units[index]", "answers.units[place + 0 * index]", EVEN),
        ("even.rs", "ties broken the other way round, and gaps not",
         "let comes_later = u8::from(self.rank < other.rank);",
         "let comes_later = u8::from(self.rank > other.rank);", EVEN),
        ("even.rs", "ties left as they lie",
         "Choice::from(is_lower | (is_level & comes_later))",
         "Choice::from(is_lower | (is_level & comes_later & 0))", EVEN),
        ("even.rs", "values below zero taken for above",
         "value.cast_unsigned() ^ (1 << 127)", "value.unsigned_abs() ^ (1 << 127)", EVEN),
        ("even.rs", "the last group lost if it is not full",
         "self.group.resize(self.size(), Entry::NONE);\n        self.take_group();", "", EVEN),
        ("even.rs", "a group that takes the place of the best",
         "best.order(new);", "*best = *new;", EVEN),
        ("even.rs", "the largest with the largest compared",
         "self.group.iter_mut().rev()", "self.group.iter_mut()", EVEN),
        ("even.rs", "a group that is not sorted", "sort(&mut self.group);", "", EVEN),
        ("even.rs", "the best not sorted", "merge(&mut self.best);", "", EVEN),
        ("even.rs", "room for the winners alone",
         "let mut largest = Largest::new(k + 1);", "let mut largest = Largest::new(k);", EVEN),
        ("even.rs", "no noise",
         "largest.offer(Entry::new(value, place));",
         "largest.offer(Entry::new(value - noise, place));", EVEN),
        # The draws.
        ("draws.rs", "a remainder instead of a rejection",
         "if number < bound {\n                return Ok(number);\n            }",
         "return Ok(number % bound);", TAPES),
        ("skips.rs", "the proposal always accepted",
         "if v < items && all_tails(v, octaves, source)? {", "if v < items {", HEADS),
        ("skips.rs", "odd for even", "let mut even = true;", "let mut even = false;", HEADS),
        ("skips.rs", "equal numbers go on", "if v >= last {", "if v > last {", HEADS),
        ("skips.rs", "a short last stretch taken for a full one",
         "if v < items && all_tails", "if all_tails", HEADS),
        ("geometric.rs", "the guess not proved",
         "Some((first, last)) if first == last => Ok(u128::from(first)),",
         "Some((first, _)) => Ok(u128::from(first)),", GEOMETRIC),
        ("geometric.rs", "a word of zeros thrown away",
         "length += u64::from(width);\n    }", "}", GEOMETRIC),
        ("geometric.rs", "a bracket that is one too short",
         "(u128::from(first), u128::from(last) + 1)",
         "(u128::from(first), u128::from(last).max(1))",
         GEOMETRIC),
        ("geometric.rs", "decided too early",
         "if (&self.prefix + 1_u8) << GUARD <= bound.low {",
         "if &self.prefix << GUARD <= bound.low {", GEOMETRIC),
        ("geometric.rs", "the digit uniform",
         "if surely || uniform.is_below_exp_minus(&rate.of_steps(r), source)? {",
         "let _ = rate.of_steps(r);\n        if surely || true {", GEOMETRIC),
        ("geometric.rs", "too sure of the digit",
         "<= ((1_u128 << rate.grid()) - 1) << width;", "<= (1_u128 << rate.grid()) << width;",
         GEOMETRIC),
        ("rate.rs", "a word taken for all bits",
         "self.least_error + ((self.spread >> 1) >> (known - 1));",
         "self.least_error + u64::from(known > 64);", GEOMETRIC),
        # Laplace noise.
        ("laplace.rs", "both draws the same",
         "let down = signed(geometric(rate, 0, source)?);", "let down = up;", LAPLACE),
        ("laplace.rs", "the sign dropped", "Ok(up - down)", "Ok((up - down).abs())", LAPLACE),
        ("laplace.rs", "one draw alone",
         "let down = signed(geometric(rate, 0, source)?);", "let down = 0;", LAPLACE),
        ("laplace.rs", "the sum and not the difference", "Ok(up - down)", "Ok(up + down)", LAPLACE),
        ("laplace.rs", "a sign and a magnitude: zero counted twice",
         "let down = signed(geometric(rate, 0, source)?);",
         "let down = if source.bits(1)? == 0 { 0 } else { 2 * up };", LAPLACE),
        ("laplace.rs", "a sign and a magnitude: zero drawn again for one sign only once",
         "let down = signed(geometric(rate, 0, source)?);",
         "let negative = source.bits(1)? == 1;\n"
         "    let again = up == 0 && negative;\n"
         "    let up = if again { signed(geometric(rate, 0, source)?) } else { up };\n"
         "    let down = if negative { 2 * up } else { 0 };", LAPLACE),
        ("laplace.rs", "twice the noise", "Ok(up - down)", "Ok(2 * (up - down))", LAPLACE),
        ("laplace.rs", "half the noise", "Ok(up - down)", "Ok((up - down) / 2)", LAPLACE),
        ("laplace.rs", "wrong rate: one draw's noise halved",
         "let down = signed(geometric(rate, 0, source)?);",
         "let down = signed(geometric(rate, 0, source)?) / 2;", LAPLACE),
        ("laplace.rs", "wrong rate: the first bit of one draw taken for 0",
         "let up = signed(geometric(rate, 0, source)?);",
         "let up = signed(geometric(rate, 1, source)?);", LAPLACE),
        ("laplace.rs", "from 1", "Ok(up - down)", "Ok(up - down + 1)", LAPLACE),
    ]
]  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: f"{mutant.file}: {mutant.name}")
def test_a_broken_kernel_is_found(mutant: KernelMutant, tmp_path: Path) -> None:
    defect = Mutant(mutant.name, mutant.old, mutant.new)
    broken = Probe.build_mutant(defect, mutant.file, tmp_path)
    try:
        found = next(contradictions(broken, mutant.cases), None)
    except RuntimeError as stopped:  # by an overflow check, an index out of bounds, or an assertion
        found = str(stopped)
    assert found is not None
