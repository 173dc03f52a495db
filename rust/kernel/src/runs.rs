//! Runs: items that all have the same answer, of which only those that can win are ever drawn.
//!
//! The items of a run are its ranks, from 0 on. They share one distance to the threshold, so they
//! share their coins, over as many ranks as there are. A run may hold items that are listed among the
//! answers as well; these take part as listed, and what is drawn for their ranks is thrown away.

use std::collections::HashSet;

use num_bigint::BigUint;

use crate::noise::Noise;
use crate::quantities::{TickCount, Ticks, TicksPerUnit, Units};
use crate::rate::Rate;
use crate::sampler::Sampler;

/// Coins that are less likely by so many bits than one head in the whole run gain nothing.
const SPARE_ZEROS: u32 = 16;

/// Heads drawn between two checkpoints.
const HEADS_PER_CHECKPOINT: usize = 1 << 10;

/// Items with equal answers, none of which is written out.
#[derive(Clone, Debug)]
pub struct Run {
    /// The answer of each, in units.
    pub answer: Units,
    /// How many items there are: their ranks are 0 to this minus 1.
    pub size: BigUint,
    /// How many of them are listed, too, with an answer of their own.
    pub listed: usize,
}

impl Run {
    /// How many items have no answer but the run's.
    ///
    /// # Panics
    /// When more are listed than there are.
    #[must_use]
    pub fn unlisted(&self) -> BigUint {
        &self.size - self.listed
    }
}

/// An item of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunItem {
    /// Which of the runs it belongs to.
    pub run: usize,
    /// Its rank in that run.
    pub rank: BigUint,
}

/// Says which of some items are listed, or why that cannot be said.
pub type AreListed<'a, E> = dyn FnMut(&[RunItem]) -> Result<Vec<bool>, E> + Send + 'a;

/// The runs beside the answers.
pub struct Runs<'a, E> {
    /// All of them.
    pub all: &'a [Run],
    /// It is asked about the few items that may win.
    pub are_listed: &'a mut AreListed<'a, E>,
}

/// The threshold that items must reach, and what is known from higher ones.
#[derive(Clone, Copy)]
pub(crate) struct Level<N> {
    pub(crate) noise: N,
    pub(crate) ticks_per_unit: TicksPerUnit,
    pub(crate) threshold: Ticks,
    /// The threshold of the round before. Items that were not found are known to lie below it.
    pub(crate) before: Option<Ticks>,
}

/// The items of runs that were found to reach the threshold.
#[derive(Default)]
pub(crate) struct FoundInRuns {
    pub(crate) items: Vec<RunItem>,
    /// How far the noisy answer of each exceeds the threshold.
    pub(crate) excess: Vec<TickCount>,
}

impl FoundInRuns {
    /// Add the items that reach the threshold to those found before, at a higher one.
    #[inline(never)] // or the loops over listed items become slower where there is no run
    pub(crate) fn draw<N: Noise, S: Sampler>(
        &mut self,
        runs: &mut Runs<S::Stop>,
        level: Level<N>,
        sampler: &mut S,
    ) -> Result<(), S::Stop> {
        if let Some(before) = level.before {
            let rise = TickCount((before - level.threshold).0.cast_unsigned());
            self.excess.iter_mut().for_each(|excess| *excess += rise);
        }
        let known: HashSet<RunItem> = self.items.iter().cloned().collect();
        let mut new = Self::default();
        for (index, run) in runs.all.iter().enumerate() {
            new.draw_run(index, run, level, &known, sampler)?;
        }
        if new.items.is_empty() {
            return Ok(());
        }
        let are_listed = (runs.are_listed)(&new.items)?;
        assert_eq!(are_listed.len(), new.items.len(), "a word on each item");
        let found = new.items.into_iter().zip(new.excess).zip(are_listed);
        for ((item, excess), _) in found.filter(|(_, is_listed)| !is_listed) {
            self.items.push(item);
            self.excess.push(excess);
        }
        Ok(())
    }

    /// Draw the items of one run whose coins show heads, and keep those that reach the threshold.
    ///
    /// The noise of an item that is known to lie below an earlier threshold is less than `span`.
    fn draw_run<N: Noise, S: Sampler>(
        &mut self,
        index: usize,
        run: &Run,
        level: Level<N>,
        known: &HashSet<RunItem>,
        sampler: &mut S,
    ) -> Result<(), S::Stop> {
        let answer = level.ticks_per_unit.ticks(run.answer);
        let needed = level.threshold - answer;
        let span = level.before.map(|before| before - answer);
        // If the answer itself reached an earlier threshold, all items are known.
        if N::IS_NEVER_NEGATIVE && span.is_some_and(|span| span <= Ticks(0)) {
            return Ok(());
        }
        let zeros = shared_zeros(run, needed, level.noise.rate());
        let mut heads = 0_usize;
        let mut from = BigUint::ZERO;
        while let Some(rank) = sampler.first_head_of_run(from, &run.size, zeros)? {
            from = &rank + 1_u8;
            heads += 1;
            if heads.is_multiple_of(HEADS_PER_CHECKPOINT) {
                sampler.checkpoint()?;
            }
            let item = RunItem { run: index, rank };
            if known.contains(&item) {
                continue;
            }
            let noise = match span {
                None => level.noise.draw(zeros, sampler)?,
                Some(span) => level.noise.draw_below(span, zeros, sampler)?,
            };
            let excess = noise - needed;
            if excess >= Ticks(0) {
                self.items.push(item);
                self.excess.push(TickCount(excess.0.cast_unsigned()));
            }
        }
        Ok(())
    }
}

/// How many leading zeros the uniform number of each item has if its coin shows heads: no more than
/// its noise needs to rise by `needed` ticks.
fn shared_zeros(run: &Run, needed: Ticks, rate: &Rate) -> u32 {
    let size_log = u32::try_from(run.size.bits()).expect("a size of fewer than 2^32 bits");
    rate.leading_zeros_at(needed, size_log.saturating_add(SPARE_ZEROS))
}
