//! Where to set the threshold: an estimate that changes the cost and never the law.
//!
//! The plan is a function of the answers alone, so it may be computed in any way.

use crate::answers::{Answers, Blocks};
use crate::candidates::Target;
use crate::quantities::Units;
use crate::rate::Rate;

/// What the candidates must reach, and how the many items that hardly can are skipped.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Candidates are the items whose noisy answer reaches this.
    pub threshold: Units,
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

/// Items looked at beside the largest of each block.
const SAMPLED_ITEMS: usize = 1024;

/// If so many times as many items as needed lie above the anchor, a better one is worth its cost.
const MANY_TIMES_NEEDED: u64 = 8;

/// One item, in counts, which are multiples of 1/256 of an item.
const ITEM: u64 = 256;

/// From one bin to the next below, the probability to reach a given height falls to 2^−1/4 of what it
/// was, and from a bin's middle to its edge to 2^−1/8: both in multiples of 1/256.
const FALL_PER_BIN: u64 = 215;
const FALL_PER_HALF_BIN: u64 = 235;

/// A plan by which enough items are likely to reach the threshold, and hardly more than needed.
pub(crate) fn plan(answers: Answers, blocks: &Blocks, mut target: Target, rate: &Rate) -> Plan {
    let needed = target.needed;
    let mut counts = histogram(answers, blocks, target.lowest(), rate);
    if blocks.size() > 1
        && counts[MIDDLE_BIN..].iter().sum::<u64>() > ITEM * MANY_TIMES_NEEDED * needed as u64
    {
        target.anchor = blocks.highest_anchor(answers.units, target.anchor, needed);
        counts = histogram(answers, blocks, target.lowest(), rate);
    }
    let bin = threshold_bin(&counts, needed as u64);
    let quarters = u32::try_from(bin - MIDDLE_BIN).expect("a bin");
    let steps = (rate.ticks_at_leading_zeros(quarters).0 >> rate.refinement()) / 4;
    let above = if quarters == 0 { 0 } else { steps / i128::from(answers.steps_per_unit) };
    Plan {
        threshold: target.lowest().saturating_add(Units::nearest(above)),
        leading_zeros: choose_leading_zeros(&counts, bin, answers.units.len() as u64),
        log_block: blocks.log_size,
    }
}

/// About how many items lie in each bin: the largest of each block, and a sample of the others.
fn histogram(answers: Answers, blocks: &Blocks, anchor: Units, rate: &Rate) -> [u64; BINS] {
    let bins = Bins::new(answers, anchor, rate);
    let mut counts = [0; BINS];
    for &unit in blocks.largest.iter() {
        if let Some(bin) = bins.of(Units(unit)) {
            counts[bin] += ITEM;
        }
    }
    if blocks.size() > 1 {
        let weight = answers.units.len().div_ceil(SAMPLED_ITEMS);
        for (i, &unit) in answers.units.iter().enumerate().step_by(weight) {
            if let Some(bin) = bins.of(Units(unit))
                && !blocks.is_first_largest(answers.units, i)
            {
                counts[bin] += ITEM * weight as u64;
            }
        }
    }
    counts
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
fn threshold_bin(counts: &[u64; BINS], needed: u64) -> usize {
    let target = ITEM * (needed + 3 * needed.isqrt() / 2 + 4);
    // From below: how many of the items in lower bins reach each.
    let mut from_below = [0; BINS];
    for bin in 1..BINS {
        from_below[bin] =
            (from_below[bin - 1] * FALL_PER_BIN + counts[bin - 1] * FALL_PER_HALF_BIN) / ITEM;
    }
    let mut above = 0;
    for bin in (MIDDLE_BIN..BINS).rev() {
        above += counts[bin];
        if above + from_below[bin] >= target {
            return bin;
        }
    }
    MIDDLE_BIN
}

/// The number of leading zeros that makes the fewest items to look at: those that need fewer to reach
/// the threshold, and the heads of the coins that all others share.
fn choose_leading_zeros(counts: &[u64; BINS], bin: usize, items: u64) -> u32 {
    let mut best = (0, items * ITEM);
    let mut above = counts[bin..].iter().sum::<u64>();
    for leading_zeros in 1..=MAX_LEADING_ZEROS {
        let edge = bin - 4 * leading_zeros as usize;
        above += counts[edge..edge + 4].iter().sum::<u64>();
        let cost = above + 2 * ((items * ITEM) >> leading_zeros);
        if cost < best.1 {
            best = (leading_zeros, cost);
        }
    }
    best.0
}
