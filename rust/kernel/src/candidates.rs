//! Which items can be among the winners: the lazy threshold.
//!
//! Noise is never negative and memoryless. Set a threshold. Whether an item reaches it, and by how
//! much it exceeds it, is all that can matter of the item, as long as enough items reach it: then
//! the winners are among them. The others never get a value.

use std::ops::Range;

use crate::answers::{Answers, Blocks, PIECE};
use crate::ranking::Candidate;
use crate::rate::Rate;
use crate::sampler::Sampler;
use crate::threshold_plan::{MAX_LEADING_ZEROS, Plan};
use crate::workers::Workers;

/// Blocks, or heads, looked at between two checkpoints.
const STRETCH: usize = 1 << 12;

/// Which items are target.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// So many of the largest noisy answers, at least; there are so many items.
    pub(crate) needed: usize,
    /// An answer that so many items have or exceed: a threshold there is never missed.
    pub(crate) anchor: i64,
    /// Items that do not reach this, in units, are not target even if fewer than needed do.
    pub(crate) floor: Option<i64>,
}

impl Target {
    /// As low as a threshold need be.
    pub(crate) fn lowest(&self) -> i64 {
        self.floor.map_or(self.anchor, |floor| floor.max(self.anchor))
    }
}

/// Everything that reaches the plan's threshold, or a lower one if fewer items do than needed; and
/// that threshold.
pub(crate) fn collect<W: Workers>(
    answers: Answers,
    blocks: &Blocks,
    rate: &Rate,
    mut plan: Plan,
    target: Target,
    workers: &mut W,
) -> Result<(i64, Vec<Candidate>), W::Stop> {
    let ticks_per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    let leading_zeros = LeadingZeros::new(ticks_per_unit, rate);
    // A missed threshold falls by one octave, then by two, by four, and so on; and so does the
    // number of zero bits that items need which share their coins.
    let mut fall = i64::try_from(leading_zeros.distance(1)).unwrap_or(i64::MAX);
    let mut zeros_of_fall = 1_u32;
    let mut before = None;
    let ranges = blocks.divided(workers.size());
    let room = target.needed.div_ceil(ranges.len()) * 3 / 2;
    let part = |blocks| Part { blocks, found: Found::with_room_for(room) };
    let mut parts: Vec<Part> = ranges.into_iter().map(part).collect();
    loop {
        workers.each(&mut parts, |part, sampler| {
            let mut round = Round {
                answers,
                rate,
                leading_zeros: &leading_zeros,
                threshold: plan.threshold,
                before,
                ticks_per_unit,
                far: leading_zeros.lowest_without(2, plan.threshold),
                sampler,
            };
            round.collect(blocks, plan.leading_zeros, part)
        })?;
        let count: usize = parts.iter().map(|part| part.found.count).sum();
        let is_enough = count >= target.needed;
        if is_enough || target.floor.is_some_and(|floor| plan.threshold <= floor) {
            return Ok((plan.threshold, all_of(parts)));
        }
        assert!(
            plan.threshold > target.anchor,
            "the answers have changed since they were first looked at"
        );
        before = Some(plan.threshold);
        plan.threshold = target.lowest().max(plan.threshold.saturating_sub(fall));
        plan.leading_zeros = plan.leading_zeros.saturating_sub(zeros_of_fall);
        fall = fall.saturating_mul(2);
        zeros_of_fall = zeros_of_fall.saturating_mul(2);
    }
}

/// Some of the items, looked at by one of the workers.
struct Part {
    blocks: Range<usize>,
    found: Found,
}

/// The items found in all parts.
fn all_of(parts: Vec<Part>) -> Vec<Candidate> {
    let mut parts = parts.into_iter().map(|part| part.found.into_vec());
    let mut all = parts.next().unwrap_or_default();
    parts.for_each(|more| all.extend(more));
    all
}

/// One look at some items for those that reach the threshold.
struct Round<'a, S> {
    answers: Answers<'a>,
    rate: &'a Rate,
    leading_zeros: &'a LeadingZeros,
    threshold: i64,
    /// The threshold of the round before: items that were not found are known to lie below it.
    before: Option<i64>,
    /// Values that make a unit; fewer than 2^63.
    ticks_per_unit: i64,
    /// Items below this need two zero bits or more to reach the threshold.
    far: i64,
    sampler: &'a mut S,
}

impl<S: Sampler> Round<'_, S> {
    /// Add the items that reach the threshold to those found before, at a higher one.
    fn collect(
        &mut self,
        blocks: &Blocks,
        leading_zeros: u32,
        part: &mut Part,
    ) -> Result<(), S::Stop> {
        let found = &mut part.found;
        if let Some(before) = self.before {
            let rise = self.in_ticks(before, self.threshold).cast_unsigned();
            found.all().iter_mut().for_each(|candidate| candidate.value += rise);
        }
        let mut known: Vec<usize> = found.all().iter().map(|candidate| candidate.index).collect();
        known.sort_unstable();
        let is_new = |index: usize| known.is_empty() || known.binary_search(&index).is_err();

        // Items below `low` need `leading_zeros` zero bits to reach the threshold, and share their coins.
        let units = self.answers.units;
        let low = match leading_zeros {
            0 => i64::MIN,
            _ => self.leading_zeros.lowest_without(leading_zeros, self.threshold),
        };
        let mut reaching = Vec::new();
        let largest = &blocks.largest[part.blocks.clone()];
        for (stretch, largest) in largest.chunks(STRETCH).enumerate() {
            if stretch > 0 {
                self.sampler.checkpoint()?;
            }
            let first = part.blocks.start + stretch * STRETCH;
            for (block, _) in (first..).zip(largest).filter(|each| *each.1 >= low) {
                if blocks.size() < PIECE {
                    for index in blocks.items(block, units.len()) {
                        if units[index] >= low && is_new(index) {
                            self.draw(index, 0, found)?;
                        }
                    }
                } else {
                    blocks.push_reaching(units, block, low, &mut reaching);
                    for index in reaching.drain(..).filter(|&index| is_new(index)) {
                        self.draw(index, 0, found)?;
                    }
                }
            }
        }
        let items = blocks.items_of(&part.blocks, units.len());
        let mut from = items.start as u64;
        let end = if leading_zeros == 0 { from } else { items.end as u64 };
        let mut heads = 0_usize;
        while let Some(head) = self.sampler.first_head(from, end, leading_zeros)? {
            let index = usize::try_from(head).expect("an index");
            if units[index] < low && is_new(index) {
                self.draw(index, leading_zeros, found)?;
            }
            from = head + 1;
            heads += 1;
            if heads.is_multiple_of(STRETCH) {
                self.sampler.checkpoint()?;
            }
        }
        Ok(())
    }

    /// Draw an item's noise, of whose uniform number the first bits are known to be 0, and add the
    /// item if it reaches the threshold.
    ///
    /// If it is known to lie below an earlier threshold, its noise is a geometric number given that
    /// it is less than `span`, which has the law of a geometric number modulo `span`. That reaches
    /// the new threshold only if the number itself does, so zero bits are needed as before.
    #[inline(always)]
    fn draw(&mut self, index: usize, mut zeros: u32, found: &mut Found) -> Result<(), S::Stop> {
        let unit = self.answers.units[index];
        // One bit more is not worth a look of its own.
        if unit < self.far {
            let needed = self.leading_zeros.needed(self.threshold, unit);
            if needed > zeros + 1 {
                if !self.sampler.all_zero(needed - zeros)? {
                    return Ok(());
                }
                zeros = needed;
            }
        }
        let mut noise = self.sampler.geometric(self.rate, zeros)?;
        if let Some(before) = self.before {
            let span = self.in_ticks(before, unit);
            noise %= span.cast_unsigned();
        }
        let noise = i128::try_from(noise).expect("noise of fewer than 128 bits");
        let value = noise - self.in_ticks(self.threshold, unit);
        found.offer(value, index);
        Ok(())
    }

    /// The difference of two answers as one of values.
    #[inline(always)]
    fn in_ticks(&self, high: i64, low: i64) -> i128 {
        match high.checked_sub(low) {
            Some(units) => i128::from(units).wrapping_mul(i128::from(self.ticks_per_unit)),
            None => (i128::from(high) - i128::from(low)) * i128::from(self.ticks_per_unit),
        }
    }
}

/// The items found so far.
struct Found {
    /// Those found, and room for more.
    slots: Vec<Candidate>,
    count: usize,
}

impl Found {
    fn with_room_for(count: usize) -> Self {
        Self { slots: vec![Candidate { value: 0, index: 0 }; count + 1], count: 0 }
    }

    /// Add an item unless its value is negative. Which it is cannot be predicted, so there is no
    /// branch: the slot is written in any case and counted if it is to stay.
    #[inline(always)]
    fn offer(&mut self, value: i128, index: usize) {
        if self.count == self.slots.len() {
            self.slots.resize(2 * self.count, Candidate { value: 0, index: 0 });
        }
        self.slots[self.count] = Candidate { value: value.cast_unsigned(), index };
        self.count += usize::from(value >= 0);
    }

    fn all(&mut self) -> &mut [Candidate] {
        &mut self.slots[..self.count]
    }

    fn into_vec(mut self) -> Vec<Candidate> {
        self.slots.truncate(self.count);
        self.slots
    }
}

/// How far below a threshold an answer must lie for its noise to need so many zero bits.
struct LeadingZeros {
    /// For each number of bits, a distance in units at which they are needed.
    distances: [i128; MAX_LEADING_ZEROS as usize + 1],
    /// Bits per unit of distance, about, in units of 2^−50, after `shift` bits are dropped.
    per_unit: u64,
    /// The distance of the most bits, after `shift` bits are dropped.
    farthest: u64,
    shift: u32,
}

impl LeadingZeros {
    fn new(ticks_per_unit: i64, rate: &Rate) -> Self {
        let ticks_per_unit = i128::from(ticks_per_unit);
        let mut distances = [0; MAX_LEADING_ZEROS as usize + 1];
        for (leading_zeros, distance) in (0..).zip(&mut distances).skip(1) {
            *distance = (rate.ticks_at_leading_zeros(leading_zeros) - 1) / ticks_per_unit + 1;
        }
        let farthest = u64::try_from(distances[distances.len() - 1]).unwrap_or(u64::MAX);
        let shift = (u64::BITS - farthest.leading_zeros()).saturating_sub(40);
        let farthest = farthest >> shift;
        let per_unit = (u64::from(MAX_LEADING_ZEROS) << 50) / farthest;
        Self { distances, per_unit, farthest, shift }
    }

    /// A distance in units at which so many zero bits are needed.
    fn distance(&self, leading_zeros: u32) -> i128 {
        self.distances[leading_zeros as usize]
    }

    /// The least number of units from which so many zero bits may not be needed.
    fn lowest_without(&self, leading_zeros: u32, threshold: i64) -> i64 {
        let lowest = i128::from(threshold) - self.distance(leading_zeros) + 1;
        // Never more than the threshold.
        i64::try_from(lowest).unwrap_or(i64::MIN)
    }

    /// How many zero bits are needed, at least, to rise from `unit` to the threshold.
    #[inline]
    fn needed(&self, threshold: i64, unit: i64) -> u32 {
        if unit >= threshold {
            return 0;
        }
        let distance = threshold.wrapping_sub(unit).cast_unsigned();
        // A guess, and then the table, which proves it.
        let near = (distance >> self.shift).min(self.farthest);
        let mut leading_zeros = ((near * self.per_unit) >> 50) as u32;
        while i128::from(distance) < self.distances[leading_zeros as usize] {
            leading_zeros -= 1;
        }
        leading_zeros
    }
}
