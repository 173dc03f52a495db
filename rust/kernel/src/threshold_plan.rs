//! Where to set the threshold: an estimate that changes the cost and never the law.
//!
//! The plan is a function of the answers alone, so it may be computed in any way.

use crate::answers::{Answers, Blocks, few_of};
use crate::candidates::Target;
use crate::noise::Noise;
use crate::quantities::{Ticks, TicksPerUnit, Units};
use crate::rate::Rate;
use crate::runs::Run;

/// What the candidates must reach, and how the many items that hardly can are skipped.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Candidates are the items whose noisy answer reaches this.
    pub threshold: Ticks,
    /// Items so low that they need this many leading zeros to reach it share their coins; at most
    /// `MAX_LEADING_ZEROS`, and 0 if none do.
    pub leading_zeros: u32,
    /// Items are looked at in blocks of 2^`log_block`; there are more blocks than winners.
    pub log_block: u32,
}

/// Coins of a smaller probability than 2^−32 are not needed: heads are rare enough.
pub const MAX_LEADING_ZEROS: u32 = 32;

/// Bins are a quarter of the distance of one leading zero wide; half of them lie below the anchor.
const BINS: usize = 2 * MIDDLE_BIN;
const MIDDLE_BIN: usize = 4 * MAX_LEADING_ZEROS as usize;
const MIDDLE_BIN_I64: i64 = 4 * MAX_LEADING_ZEROS as i64;

/// If so many times as many items as needed lie above the anchor, a better one is worth its cost.
const MANY_TIMES_NEEDED: u64 = 8;

/// One item, in counts, which are multiples of 1/256 of an item.
const ITEM: u64 = 256;

/// From one bin to the next below, the probability to reach a given height falls to 2^−1/4 of what it
/// was, and from a bin's middle to its edge to 2^−1/8: both in multiples of 1/256.
const FALL_PER_BIN: u64 = 215;
const FALL_PER_HALF_BIN: u64 = 235;

/// A plan by which enough items are likely to reach the threshold, and hardly more than needed.
pub(crate) fn plan<N: Noise>(
    answers: Answers,
    blocks: &Blocks,
    runs: &[Run],
    target: Target,
    noise: N,
) -> Plan {
    let (needed, rate) = (target.needed, noise.rate());
    let ticks_per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    let mut base = target.base(ticks_per_unit);
    base = runs_base(runs, needed, ticks_per_unit, rate).map_or(base, |runs| base.max(runs));
    let anchor = ticks_per_unit.whole_units(base);
    let (mut counts, misled_by) = histogram(answers, blocks, anchor, rate);
    if 4 * misled_by > needed || !runs.is_empty() {
        count_high(answers, blocks, needed, anchor, rate, &mut counts);
    }
    if blocks.size() > 1
        && counts[MIDDLE_BIN..].iter().sum::<u64>() > ITEM * MANY_TIMES_NEEDED * needed as u64
        && let Some(listed) = blocks.anchor(needed)
    {
        let highest = blocks.highest_anchor(answers.units, listed, needed);
        base = base.max(ticks_per_unit.ticks(highest));
        (counts, _) = histogram(answers, blocks, anchor.max(highest), rate);
    }
    let in_runs = runs.iter().map(|run| reaching(run, base, ticks_per_unit, rate)).sum();
    let bin = if N::IS_NEVER_NEGATIVE {
        threshold_bin(&counts, in_runs, needed as u64, answers.units.len())
    } else {
        laplace_threshold_bin(&counts, in_runs, needed as u64)
    };
    let quarters = u32::try_from(bin.abs_diff(MIDDLE_BIN)).expect("a bin");
    let distance = quarter_zeros(quarters, rate);
    let threshold = if bin < MIDDLE_BIN { base - distance } else { base + distance };
    Plan {
        threshold: target.floor.map_or(threshold, |floor| floor.max(threshold)),
        leading_zeros: choose_leading_zeros(&counts, bin, answers.units.len() as u64),
        log_block: blocks.log_size,
    }
}

/// The distance of so many quarters of a leading zero.
fn quarter_zeros(quarters: u32, rate: &Rate) -> Ticks {
    if quarters == 0 { Ticks(0) } else { Ticks(rate.ticks_at_leading_zeros(quarters).0 / 4) }
}

/// The height that many times as many items of a run as needed can be expected to reach, of the run
/// for which it is the largest. None if no run has so many items.
pub(crate) fn runs_base(
    runs: &[Run],
    needed: usize,
    ticks_per_unit: TicksPerUnit,
    rate: &Rate,
) -> Option<Ticks> {
    let spare = 4 * i64::from(MANY_TIMES_NEEDED.saturating_mul(needed as u64).ilog2());
    let rise = |run: &Run| u32::try_from(quarter_log2(run) - spare).ok();
    let base = |run: &Run| Some(ticks_per_unit.ticks(run.answer) + quarter_zeros(rise(run)?, rate));
    runs.iter().filter_map(base).max()
}

/// How many of a run's items can be expected to reach a height, in multiples of 1/256.
fn reaching(run: &Run, height: Ticks, ticks_per_unit: TicksPerUnit, rate: &Rate) -> u64 {
    let all = quarter_log2(run);
    let distance = (height - ticks_per_unit.ticks(run.answer)).0.max(0);
    // Many at once: where noise is steep, a quarter of a leading zero is no whole number of ticks.
    let per_bins = rate.ticks_at_leading_zeros(MAX_LEADING_ZEROS).0.max(1);
    let quarters = distance.saturating_mul(i128::from(MIDDLE_BIN_I64)) / per_bins;
    let log = all - i64::try_from(quarters).unwrap_or(i64::MAX).min(all + MAX_QUARTERS);
    let whole = log.div_euclid(4).clamp(-8, 40);
    let quarter = [256, 304, 362, 431][usize::try_from(log.rem_euclid(4)).expect("of 4")];
    if whole < 0 { quarter >> -whole } else { quarter << whole }
}

/// Beyond this, a fall of probabilities makes no difference.
const MAX_QUARTERS: i64 = 64;

/// Four times the logarithm of how many items of a run are not listed, rounded down; less than 0 if
/// none is.
fn quarter_log2(run: &Run) -> i64 {
    let unlisted = run.unlisted();
    let bits = unlisted.bits();
    if bits == 0 {
        return -MAX_QUARTERS;
    }
    // Its first 16 bits, and how often 2^(1/4) goes into them.
    let first = if bits > 16 { &unlisted >> (bits - 16) } else { &unlisted << (16 - bits) };
    let first = u64::try_from(first).expect("16 bits");
    let quarters = [38_968, 46_341, 55_109].iter().filter(|&&bar| first >= bar).count();
    4 * i64::try_from(bits - 1).expect("few bits") + i64::try_from(quarters).expect("at most 3")
}

/// About how many items lie in each bin: the largest of each block, and a sample of the others; and
/// how many one of the sample stands for, if it lies above the anchor, where there are not so many.
fn histogram(
    answers: Answers,
    blocks: &Blocks,
    anchor: Units,
    rate: &Rate,
) -> ([u64; BINS], usize) {
    let bins = Bins::new(answers, anchor, rate);
    let (mut counts, mut misled_by) = ([0; BINS], 0);
    for &unit in blocks.largest.iter() {
        if let Some(bin) = bins.of(Units(unit)) {
            counts[bin] += ITEM;
        }
    }
    if blocks.size() > 1 {
        let weight = answers.units.len().div_ceil(few_of(answers.units.len()));
        for (i, &unit) in answers.units.iter().enumerate().step_by(weight) {
            if let Some(bin) = bins.of(Units(unit))
                && !blocks.is_first_largest(answers.units, i)
            {
                counts[bin] += ITEM * weight as u64;
                if bin >= MIDDLE_BIN {
                    misled_by = weight;
                }
            }
        }
    }
    (counts, misled_by)
}

/// Count all items above the anchor, in place of what a sample says of them, unless they are in many
/// blocks. A threshold that is missed costs as many heads of a run again.
fn count_high(
    answers: Answers,
    blocks: &Blocks,
    needed: usize,
    anchor: Units,
    rate: &Rate,
    counts: &mut [u64; BINS],
) {
    let largest = blocks.largest.iter().enumerate();
    let high = largest.filter(|(_, unit)| **unit >= anchor.0).map(|(block, _)| block);
    let high: Vec<usize> = high.take(2 * needed + 1).collect();
    if blocks.size() == 1 || high.len() > 2 * needed {
        return;
    }
    let mut reaching = Vec::new();
    for block in high {
        blocks.push_reaching(answers.units, block, anchor, &mut reaching);
    }
    let bins = Bins::new(answers, anchor, rate);
    counts[MIDDLE_BIN..].fill(0);
    for bin in reaching.into_iter().filter_map(|index| bins.of(answers.at(index))) {
        counts[bin] += ITEM;
    }
}

struct Bins {
    anchor: Units,
    /// From the anchor to the outermost bins, in units.
    reach: i64,
    /// Bins per unit of distance: in multiples of 2^−50, for a distance without its last `shift` bits.
    per_unit: i64,
    shift: u32,
}

impl Bins {
    fn new(answers: Answers, anchor: Units, rate: &Rate) -> Self {
        let steps = rate.ticks_at_leading_zeros(MAX_LEADING_ZEROS).0 >> rate.refinement();
        let units = steps / i128::from(answers.steps_per_unit) + 1;
        let reach = i64::try_from(units).map_or(1 << 62, |units| units.min(1 << 62));
        let shift = (i64::BITS - reach.leading_zeros()).saturating_sub(40);
        let per_unit = (MIDDLE_BIN_I64 << 50) / (reach >> shift);
        Self { anchor, reach, per_unit, shift }
    }

    /// Where an item belongs, unless it lies below all bins.
    #[inline]
    fn of(&self, answer: Units) -> Option<usize> {
        let distance = answer.saturating_sub(self.anchor).0.min(self.reach);
        if distance < -self.reach {
            return None;
        }
        let bin = ((distance >> self.shift) * self.per_unit) >> 50;
        usize::try_from(bin + MIDDLE_BIN_I64).ok().map(|bin| bin.min(BINS - 1))
    }
}

/// The highest bin, from the anchor's upwards, that enough items can be expected to reach.
///
/// Of the items in runs, `in_runs` can be expected to reach the anchor, in multiples as the counts.
fn threshold_bin(counts: &[u64; BINS], in_runs: u64, needed: u64, items: usize) -> usize {
    let target = with_spare(needed);
    // So far below the middle that of all items less than a quarter of one reaches it.
    let bits = (usize::BITS - items.leading_zeros()) as usize;
    let lowest = MIDDLE_BIN.saturating_sub(4 * (bits + 2));
    let from_below = reaching_from_below(counts, in_runs, lowest);
    let mut above = 0;
    for bin in (MIDDLE_BIN..BINS).rev() {
        above += counts[bin];
        if above + from_below[bin] >= target {
            return bin;
        }
    }
    MIDDLE_BIN
}

/// The highest of all bins that enough items can be expected to reach with Laplace noise.
///
/// It is negative half of the time: of the items in lower bins about half as many reach a bin, and
/// some of those in higher bins fall below it. A bin with enough items above it will do as well if
/// hardly any of them falls.
fn laplace_threshold_bin(counts: &[u64; BINS], in_runs: u64, needed: u64) -> usize {
    let target = with_spare(needed);
    let from_below = reaching_from_below(counts, in_runs, 0);
    let (mut above, mut fallen) = (0, 0);
    for bin in (0..BINS).rev() {
        above += counts[bin];
        fallen = (fallen * FALL_PER_BIN + counts[bin] * FALL_PER_HALF_BIN) / ITEM;
        let are_safe = above >= ITEM * needed && fallen / 2 <= ITEM / 16;
        if are_safe || above + from_below[bin] / 2 >= target + fallen / 2 {
            return bin;
        }
    }
    0
}

/// A few more items than needed, in multiples as the counts, so that chance seldom leaves too few.
fn with_spare(needed: u64) -> u64 {
    ITEM * (needed + 3 * needed.isqrt() / 2 + 4)
}

/// How many of the items in lower bins, from the lowest that counts, and of `in_runs` in the middle
/// one, reach each bin.
fn reaching_from_below(counts: &[u64; BINS], in_runs: u64, lowest: usize) -> [u64; BINS] {
    let mut from_below = [0; BINS];
    for bin in lowest + 1..BINS {
        // Most bins are empty, and nothing falls from them.
        if from_below[bin - 1] | counts[bin - 1] != 0 {
            from_below[bin] =
                (from_below[bin - 1] * FALL_PER_BIN + counts[bin - 1] * FALL_PER_HALF_BIN) / ITEM;
        }
        if bin == MIDDLE_BIN {
            from_below[bin] += in_runs;
        }
    }
    from_below
}

/// The number of leading zeros that makes the fewest items to look at: those that need fewer to reach
/// the threshold, and the heads of the coins that all others share.
fn choose_leading_zeros(counts: &[u64; BINS], bin: usize, items: u64) -> u32 {
    let mut best = (0, items * ITEM);
    let mut above = counts[bin..].iter().sum::<u64>();
    let mut edge = bin;
    for leading_zeros in 1..=MAX_LEADING_ZEROS {
        let next = edge.saturating_sub(4);
        above += counts[next..edge].iter().sum::<u64>();
        edge = next;
        let cost = above + 2 * ((items * ITEM) >> leading_zeros);
        if cost < best.1 {
            best = (leading_zeros, cost);
        }
    }
    best.0
}
