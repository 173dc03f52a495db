//! Runs: items that all have the same answer, of which only those that can win are ever drawn.
//!
//! The items of a run are its ranks, from 0 on. They share one distance to the threshold, so they
//! share their coins, over as many ranks as there are. A run may hold items that are listed among the
//! answers as well; these take part as listed, and what is drawn for their ranks is thrown away.

use std::collections::HashSet;

use num_bigint::BigUint;

use crate::noise::Noise;
use crate::quantities::{TickCount, Ticks, TicksPerUnit, Units};
use crate::ranks::Rank;
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

/// Says which items of a run are listed, or why that cannot be said: it is given the run's number and
/// some ranks, each by its words from the highest down, and returns the places of those that are listed
/// among these ranks.
pub type FindListed<'a, E> = dyn FnMut(usize, &[&[u64]]) -> Result<Vec<usize>, E> + Send + 'a;

/// The runs beside the answers.
pub struct Runs<'a, E> {
    /// All of them.
    pub all: &'a [Run],
    /// It is asked about the few items that may win.
    pub find_listed: &'a mut FindListed<'a, E>,
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

/// An item of a run that is not listed and reaches the threshold.
pub(crate) struct FoundItem {
    /// How many items were asked about before it, in all runs and rounds.
    pub(crate) number: usize,
    /// How far its noisy answer exceeds the threshold.
    pub(crate) excess: TickCount,
}

/// The items of runs that were found to reach the threshold.
#[derive(Default)]
pub(crate) struct FoundInRuns {
    pub(crate) items: Vec<FoundItem>,
    /// The words of all ranks that were asked about, one rank after the other, for each run.
    asked: Vec<Vec<u64>>,
    /// How many these are.
    count: usize,
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
            self.items.iter_mut().for_each(|item| item.excess += rise);
        }
        self.asked.resize_with(runs.all.len(), Vec::new);
        for (index, run) in runs.all.iter().enumerate() {
            let size = RunSize::new(&run.size);
            let known = self.asked[index].chunks_exact(size.words()).collect();
            let (new, excess) = draw_run(run, &size, level, &known, sampler)?;
            if new.is_empty() {
                continue;
            }
            let ranks: Vec<&[u64]> = new.chunks_exact(size.words()).collect();
            let mut is_listed = vec![false; ranks.len()];
            for place in (runs.find_listed)(index, &ranks)? {
                is_listed[place] = true;
            }
            let found = (self.count..).zip(excess).zip(&is_listed);
            self.items.extend(
                found
                    .filter(|(_, is_listed)| !**is_listed)
                    .map(|((number, excess), _)| FoundItem { number, excess }),
            );
            self.count += is_listed.len();
            self.asked[index].extend(new);
        }
        Ok(())
    }
}

/// Draw the items of one run whose coins show heads: those that reach the threshold and are not
/// known, by the words of their ranks, and how far each exceeds it.
///
/// The noise of an item that is known to lie below an earlier threshold is less than `span`.
fn draw_run<N: Noise, S: Sampler>(
    run: &Run,
    size: &RunSize,
    level: Level<N>,
    known: &HashSet<&[u64]>,
    sampler: &mut S,
) -> Result<(Vec<u64>, Vec<TickCount>), S::Stop> {
    let (mut ranks, mut excesses) = (Vec::new(), Vec::new());
    let answer = level.ticks_per_unit.ticks(run.answer);
    let needed = level.threshold - answer;
    let span = level.before.map(|before| before - answer);
    // If the answer itself reached an earlier threshold, all items are known.
    if N::IS_NEVER_NEGATIVE && span.is_some_and(|span| span <= Ticks(0)) {
        return Ok((ranks, excesses));
    }
    let zeros = size.shared_zeros(needed, level.noise.rate());
    let mut from = Rank::new(&BigUint::ZERO, size.room);
    let mut heads = 0_usize;
    while let Some(rank) = sampler.first_head_of_run(from, &size.end, zeros)? {
        heads += 1;
        if heads.is_multiple_of(HEADS_PER_CHECKPOINT) {
            sampler.checkpoint()?;
        }
        if !known.contains(rank.words()) {
            let noise = match span {
                None => level.noise.draw(zeros, sampler)?,
                Some(span) => level.noise.draw_below(span, zeros, sampler)?,
            };
            let excess = noise - needed;
            if excess >= Ticks(0) {
                ranks.extend(rank.words());
                excesses.push(TickCount(excess.0.cast_unsigned()));
            }
        }
        from = rank.next();
    }
    Ok((ranks, excesses))
}

/// How many items a run has.
struct RunSize {
    /// As the rank behind the last.
    end: Rank,
    /// Ranks have room for so many bits: those of the size, and spare ones.
    room: u32,
}

impl RunSize {
    fn new(size: &BigUint) -> Self {
        let bits = u32::try_from(size.bits()).expect("a size of fewer than 2^32 bits");
        let room = bits + SPARE_ZEROS + 1;
        Self { end: Rank::new(size, room), room }
    }

    /// How many words a rank has.
    fn words(&self) -> usize {
        self.end.words().len()
    }

    /// How many leading zeros the uniform number of each item has if its coin shows heads: no more
    /// than its noise needs to rise by `needed` ticks.
    fn shared_zeros(&self, needed: Ticks, rate: &Rate) -> u32 {
        rate.leading_zeros_at(needed, self.room - 1)
    }
}
