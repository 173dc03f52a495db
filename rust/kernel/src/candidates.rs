//! The items that can be among the winners, by a lazy threshold.
//!
//! Noise is memoryless. Set a threshold. As long as enough items reach it, the winners are among
//! these. Of each item it then matters only whether it reaches the threshold, and by how much it
//! exceeds it. Most of the other items never get any noise.

use std::ops::Range;

use crate::answers::{Answers, Blocks, ITEMS_PER_PIECE};
use crate::leading_zeros::LeadingZeros;
use crate::noise::Noise;
use crate::quantities::{TickCount, Ticks, TicksPerUnit, Units};
use crate::ranking::{Candidate, SENTINEL};
use crate::rate::Rate;
use crate::runs::{FoundInRuns, Level, Runs};
use crate::sampler::Sampler;
use crate::threshold_plan::{Plan, runs_base};
use crate::workers::Workers;

/// Blocks looked at, or heads drawn, between two checkpoints.
const BLOCKS_PER_CHECKPOINT: usize = 1 << 12;
const HEADS_PER_CHECKPOINT: usize = 1 << 12;

/// Which items are to be found.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    /// At least this many of the largest noisy answers; there are so many items.
    pub(crate) needed: usize,
    /// An answer that so many items have or exceed: with noise that is never negative, they all reach
    /// a threshold there.
    pub(crate) anchor: Units,
    /// Items that do not reach this need not be found, even if fewer than `needed` reach it.
    pub(crate) floor: Option<Ticks>,
}

impl Target {
    /// Noise that is never negative needs no threshold below this.
    pub(crate) fn base(&self, ticks_per_unit: TicksPerUnit) -> Ticks {
        let anchor = ticks_per_unit.ticks(self.anchor);
        self.floor.map_or(anchor, |floor| floor.max(anchor))
    }

    /// No threshold needs to be lower than this.
    fn lowest<N: Noise>(&self, ticks_per_unit: TicksPerUnit) -> Ticks {
        if N::IS_NEVER_NEGATIVE { self.base(ticks_per_unit) } else { self.floor.unwrap_or(LOWEST) }
    }
}

/// Below all noisy answers but those whose noise does not fit the kernel's integers.
const LOWEST: Ticks = Ticks(-(1 << 125));

/// Room for so many candidates is made beforehand, at most.
const MOST_ROOM: usize = 1 << 20;

/// The items that reach a threshold.
pub(crate) struct Reaching {
    pub(crate) threshold: Ticks,
    /// Of items of runs, the index is the number of answers, and of items asked about before.
    pub(crate) candidates: Vec<Candidate>,
}

impl Reaching {
    /// Add the sentinel, unless it lies below the threshold and more than k items do not. The threshold
    /// falls to it if there are fewer.
    #[inline(never)] // or `select` becomes slower where there is none
    pub(crate) fn add_sentinel(&mut self, noisy_answer: Ticks, k: usize) {
        if noisy_answer < self.threshold {
            if self.candidates.len() > k {
                return;
            }
            let rise = TickCount((self.threshold - noisy_answer).0.cast_unsigned());
            self.candidates.iter_mut().for_each(|each| each.excess += rise);
            self.threshold = noisy_answer;
        }
        let excess = TickCount((noisy_answer - self.threshold).0.cast_unsigned());
        self.candidates.push(Candidate { excess, index: SENTINEL });
    }
}

/// Find all items that reach the plan's threshold, or a lower one if fewer items do than needed.
pub(crate) fn collect<N: Noise, W: Workers>(
    answers: Answers,
    mut runs: Option<Runs<W::Stop>>,
    blocks: &Blocks,
    noise: N,
    mut plan: Plan,
    target: Target,
    workers: &mut W,
) -> Result<Reaching, W::Stop> {
    let rate = noise.rate();
    let ticks_per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    let leading_zeros = LeadingZeros::new(ticks_per_unit, rate);
    let all_runs = runs.as_ref().map_or(&[][..], |runs| runs.all);
    let base = runs_base(all_runs, target.needed, ticks_per_unit, rate);
    let mut fall = Fall::new(target.lowest::<N>(ticks_per_unit), base, rate);
    // The leading zeros of the shared coins fall by one, then by two, and so on.
    let mut fall_in_zeros = 1_u32;
    let mut before: Option<Ticks> = None;
    let ranges = blocks.divided(workers.size());
    let most = target.needed.min(answers.units.len()).min(MOST_ROOM);
    let room = most.div_ceil(ranges.len().max(1)) * 3 / 2;
    let part = |blocks| Part { blocks, found: Found::with_room_for(room) };
    let mut parts: Vec<Part> = ranges.into_iter().map(part).collect();
    let mut found_in_runs = FoundInRuns::default();
    loop {
        // Answers are looked at in whole units, which may find items below the threshold, too.
        let threshold = ticks_per_unit.round_down(plan.threshold);
        if runs.is_none() {
            plan.threshold = threshold;
        }
        let above = plan.threshold - threshold;
        let threshold_before = before.map(|before| ticks_per_unit.round_down(before));
        if threshold_before != Some(threshold) {
            workers.each(&mut parts, |part, sampler| {
                let in_units = ticks_per_unit.whole_units(threshold);
                let mut round = Round {
                    answers,
                    blocks,
                    noise,
                    leading_zeros: &leading_zeros,
                    threshold,
                    in_units,
                    before: threshold_before,
                    ticks_per_unit,
                    far: leading_zeros.lowest_without(2, in_units),
                    sampler,
                };
                round.run(plan.leading_zeros, part)
            })?;
        }
        if let Some(runs) = &mut runs {
            let level = Level { noise, ticks_per_unit, threshold: plan.threshold, before };
            found_in_runs.draw(runs, level, workers.main_sampler())?;
        }
        let listed: usize = parts.iter_mut().map(|part| part.found.count_from(above)).sum();
        let count = listed + found_in_runs.items.len();
        let is_enough = count >= target.needed;
        if is_enough || target.floor.is_some_and(|floor| plan.threshold <= floor) {
            let mut candidates = all_of(parts);
            candidates.extend(found_in_runs.items.iter().map(|item| Candidate {
                excess: TickCount((item.excess.signed() + above).0.cast_unsigned()),
                index: answers.units.len() + item.number,
            }));
            return Ok(Reaching { threshold, candidates });
        }
        assert!(
            plan.threshold > fall.lowest,
            "the answers have changed since they were first looked at"
        );
        before = Some(plan.threshold);
        plan.threshold = fall.below(plan.threshold);
        plan.leading_zeros = plan.leading_zeros.saturating_sub(fall_in_zeros);
        fall_in_zeros = fall_in_zeros.saturating_mul(2);
    }
}

/// How a missed threshold falls: by the distance of one leading zero, then by twice that, and so on.
///
/// It does not fall past the height at which the runs are likely to have enough items without first
/// stopping there: below it, there are twice as many of them with each leading zero.
struct Fall {
    /// No threshold needs to be lower than this.
    lowest: Ticks,
    /// Where the runs are likely to have enough items.
    base: Option<Ticks>,
    /// The distance of one leading zero.
    least: Ticks,
    /// By so much the next threshold falls.
    next: Ticks,
}

impl Fall {
    /// Any fall beyond this is one to the lowest threshold.
    const MOST: Ticks = Ticks(1 << 125);

    fn new(lowest: Ticks, base: Option<Ticks>, rate: &Rate) -> Self {
        let least = rate.ticks_at_leading_zeros(1);
        Self { lowest, base, least, next: least }
    }

    /// The threshold after one that was missed.
    fn below(&mut self, missed: Ticks) -> Ticks {
        let below = missed - self.next;
        self.next = Self::MOST.min(self.next + self.next);
        match self.base {
            Some(base) if missed > base && below <= base => {
                self.next = self.least;
                self.lowest.max(base)
            }
            _ => self.lowest.max(below),
        }
    }
}

/// Some of the blocks, for one worker, and what was found in them.
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

/// One pass over a part, for the items that reach the threshold.
struct Round<'a, N, S> {
    answers: Answers<'a>,
    blocks: &'a Blocks<'a>,
    noise: N,
    leading_zeros: &'a LeadingZeros,
    threshold: Ticks,
    /// The threshold, or the number of units nearest to it.
    in_units: Units,
    /// The threshold of the round before. Items that were not found are known to lie below it.
    before: Option<Ticks>,
    ticks_per_unit: TicksPerUnit,
    /// Items below this need two leading zeros or more to reach the threshold.
    far: Units,
    sampler: &'a mut S,
}

impl<N: Noise, S: Sampler> Round<'_, N, S> {
    /// Add the items that reach the threshold to those found before, at a higher one.
    ///
    /// Items that need `shared_zeros` leading zeros to reach the threshold share their coins.
    fn run(&mut self, shared_zeros: u32, part: &mut Part) -> Result<(), S::Stop> {
        self.count_from_threshold(&mut part.found);
        let known = Known::of(&mut part.found);
        let low = match shared_zeros {
            0 => Units::MIN,
            _ => self.leading_zeros.lowest_without(shared_zeros, self.in_units),
        };
        self.draw_each(low, &known, part)?;
        if shared_zeros > 0 {
            self.draw_by_shared_coins(low, shared_zeros, &known, part)?;
        }
        Ok(())
    }

    /// Count the excess of the items found before from the threshold, which has fallen.
    fn count_from_threshold(&self, found: &mut Found) {
        if let Some(before) = self.before {
            let rise = TickCount((before - self.threshold).0.cast_unsigned());
            found.all().iter_mut().for_each(|candidate| candidate.excess += rise);
        }
    }

    /// Draw each item that has `low` or more by itself.
    #[inline(always)]
    fn draw_each(&mut self, low: Units, known: &Known, part: &mut Part) -> Result<(), S::Stop> {
        let (blocks, units) = (self.blocks, self.answers.units);
        let mut reaching = Vec::new();
        let largest = &blocks.largest[part.blocks.clone()];
        for (stretch, largest) in largest.chunks(BLOCKS_PER_CHECKPOINT).enumerate() {
            if stretch > 0 {
                self.sampler.checkpoint()?;
            }
            let first = part.blocks.start + stretch * BLOCKS_PER_CHECKPOINT;
            for (block, _) in (first..).zip(largest).filter(|each| *each.1 >= low.0) {
                if blocks.size() < ITEMS_PER_PIECE {
                    for index in blocks.items(block, units.len()) {
                        if units[index] >= low.0 && known.lacks(index) {
                            self.draw(index, 0, &mut part.found)?;
                        }
                    }
                } else {
                    blocks.push_reaching(units, block, low, &mut reaching);
                    for index in reaching.drain(..).filter(|&index| known.lacks(index)) {
                        self.draw(index, 0, &mut part.found)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Draw those items below `low` whose shared coins show heads: the first `zeros` bits of their
    /// uniform numbers are 0.
    #[inline(always)]
    fn draw_by_shared_coins(
        &mut self,
        low: Units,
        zeros: u32,
        known: &Known,
        part: &mut Part,
    ) -> Result<(), S::Stop> {
        let units = self.answers.units;
        let items = self.blocks.items_of(&part.blocks, units.len());
        let mut from = items.start as u64;
        let end = items.end as u64;
        let mut heads = 0_usize;
        while let Some(head) = self.sampler.first_head(from, end, zeros)? {
            let index = usize::try_from(head).expect("an index");
            if units[index] < low.0 && known.lacks(index) {
                self.draw(index, zeros, &mut part.found)?;
            }
            from = head + 1;
            heads += 1;
            if heads.is_multiple_of(HEADS_PER_CHECKPOINT) {
                self.sampler.checkpoint()?;
            }
        }
        Ok(())
    }

    /// Draw an item's noise, given that the first `zeros` bits of its uniform number are 0. Add the
    /// item if it reaches the threshold.
    ///
    /// If the item is known to lie below an earlier threshold, its noise is less than `span`; leading
    /// zeros are needed as before.
    #[inline(always)]
    fn draw(&mut self, index: usize, mut zeros: u32, found: &mut Found) -> Result<(), S::Stop> {
        let answer = self.answers.at(index);
        // One bit more is not worth a look of its own.
        if answer < self.far {
            let needed = self.leading_zeros.needed(self.in_units, answer);
            if needed > zeros + 1 {
                if !self.sampler.all_zero(needed - zeros)? {
                    return Ok(());
                }
                zeros = needed;
            }
        }
        let answer = self.ticks_per_unit.ticks(answer);
        let noise = match self.before {
            None => self.noise.draw(zeros, self.sampler)?,
            Some(before) => self.noise.draw_below(before - answer, zeros, self.sampler)?,
        };
        found.offer(noise - (self.threshold - answer), index);
        Ok(())
    }
}

/// The indices of the items found in earlier rounds.
struct Known(Vec<usize>);

impl Known {
    fn of(found: &mut Found) -> Self {
        let mut known: Vec<usize> = found.all().iter().map(|candidate| candidate.index).collect();
        known.sort_unstable();
        Self(known)
    }

    #[inline(always)]
    fn lacks(&self, index: usize) -> bool {
        self.0.is_empty() || self.0.binary_search(&index).is_err()
    }
}

/// The items found so far.
struct Found {
    /// Those found, and room for more.
    slots: Vec<Candidate>,
    count: usize,
}

impl Found {
    const EMPTY: Candidate = Candidate { excess: TickCount(0), index: 0 };

    fn with_room_for(count: usize) -> Self {
        Self { slots: vec![Self::EMPTY; count + 1], count: 0 }
    }

    /// Add an item unless its excess over the threshold is negative. That cannot be predicted, so
    /// there is no branch: the slot is written in any case, and counted if it is to stay.
    #[inline(always)]
    fn offer(&mut self, excess: Ticks, index: usize) {
        if self.count == self.slots.len() {
            self.slots.resize(2 * self.count, Self::EMPTY);
        }
        self.slots[self.count] = Candidate { excess: TickCount(excess.0.cast_unsigned()), index };
        self.count += usize::from(excess.0 >= 0);
    }

    /// How many of them exceed the threshold by so many ticks, or more.
    fn count_from(&mut self, above: Ticks) -> usize {
        if above == Ticks(0) {
            return self.count;
        }
        self.all().iter().filter(|candidate| candidate.excess.signed() >= above).count()
    }

    fn all(&mut self) -> &mut [Candidate] {
        &mut self.slots[..self.count]
    }

    fn into_vec(mut self) -> Vec<Candidate> {
        self.slots.truncate(self.count);
        self.slots
    }
}
