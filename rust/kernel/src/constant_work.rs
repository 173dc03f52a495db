//! The same work for all answers, for use where others can observe the running time.
//!
//! An order of the items is drawn first, whether or not any of them tie. Every item then draws its
//! whole noise. The largest are found by comparisons at fixed places, each of which swaps its two
//! items or not, without a branch. Only the number of random bits that the draws take varies, and
//! it does not depend on the answers.

use subtle::{Choice, ConditionallySelectable};

use crate::answers::Answers;
use crate::noise::{Exponential, Laplace, Noise};
use crate::quantities::{TickCount, Ticks};
use crate::ranking::{NoisySelection, Ranked, SENTINEL, Selection, published, shuffle};
use crate::rate::Rate;
use crate::sampler::Sampler;

/// Items looked at between two checkpoints, at least.
const ITEMS_PER_CHECKPOINT: usize = 1 << 12;

/// What `select` does, by the same work for any answers: the sentinel is one more entry. There must be
/// more than k answers, or a sentinel, and k ≥ 1. Only the number of winners changes what is done with
/// them in the end.
///
/// # Errors
/// When there are no more draws or a checkpoint asks to stop.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn select_constant_work<S: Sampler>(
    answers: Answers,
    k: usize,
    sentinel: Option<Ticks>,
    rate: &Rate,
    sampler: &mut S,
) -> Result<Selection, S::Stop> {
    // The order in which items come stands for that of their remainders, the largest first.
    let (order, ranked) =
        rank_all(answers, sentinel, k.saturating_add(1), Exponential(rate), sampler)?;
    Ok(published(&ranked, rate.refinement(), |place| order[place]))
}

/// What `select_noisy_answers` does without a floor, by the same work for any answers. If there are no
/// more than k, all of them are ranked. There must be one, and k ≥ 1.
///
/// # Errors
/// When there are no more draws or a checkpoint asks to stop.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn select_noisy_answers_constant_work<S: Sampler>(
    answers: Answers,
    k: usize,
    rate: &Rate,
    sampler: &mut S,
) -> Result<NoisySelection, S::Stop> {
    let (order, ranked) = rank_all(answers, None, k.saturating_add(1), Laplace(rate), sampler)?;
    Ok(NoisySelection {
        indices: ranked.iter().take(k).map(|winner| order[winner.place]).collect(),
        noisy_answers: ranked.iter().map(|ranked| noisy_answer_of(ranked.height)).collect(),
    })
}

/// Draw the noise of all answers, and of the sentinel if there is one, and rank the largest `count`, or
/// all if there are not so many, in a uniform order of the items.
fn rank_all<N: Noise, S: Sampler>(
    answers: Answers,
    sentinel: Option<Ticks>,
    count: usize,
    noise: N,
    sampler: &mut S,
) -> Result<(Vec<usize>, Vec<Ranked>), S::Stop> {
    let ticks_per_unit = noise.rate().ticks_per_unit(answers.steps_per_unit);
    let items = 0..answers.units.len();
    let mut order: Vec<usize> = items.chain(sentinel.map(|_| SENTINEL)).collect();
    shuffle(&mut order, sampler)?;
    let count = count.min(order.len());
    let mut largest = Largest::new(count);
    let stretch = ITEMS_PER_CHECKPOINT.next_multiple_of(largest.size());
    for (items, first) in order.chunks(stretch).zip((0..).step_by(stretch)) {
        for (&index, place) in items.iter().zip(first..) {
            let answer = match sentinel {
                Some(answer) if index == SENTINEL => answer,
                _ => ticks_per_unit.ticks(answers.at(index)),
            };
            largest.offer(Entry::new(answer + noise.draw(0, sampler)?, place));
        }
        sampler.checkpoint()?;
    }
    let ranked = largest.finish().iter().take(count).map(Entry::ranked).collect();
    Ok((order, ranked))
}

/// The noisy answer that has this height, counted from −2^127.
fn noisy_answer_of(height: TickCount) -> Ticks {
    Ticks((height.0 ^ (1 << 127)).cast_signed())
}

/// An item's noisy answer and its place in the order: the first of equals is the larger.
#[derive(Clone, Copy)]
struct Entry {
    /// The noisy answer in ticks, counted from −2^127.
    height: u128,
    /// Places, counted from the end.
    rank: u64,
}

impl Entry {
    /// Below every item's entry.
    const NONE: Self = Self { height: 0, rank: 0 };

    fn new(noisy_answer: Ticks, place: usize) -> Self {
        let height = noisy_answer.0.cast_unsigned() ^ (1 << 127);
        Self { height, rank: u64::MAX - place as u64 }
    }

    fn ranked(&self) -> Ranked {
        let place = usize::try_from(u64::MAX - self.rank).expect("an index");
        Ranked { height: TickCount(self.height), place }
    }

    /// Put the larger of two first.
    #[inline(always)]
    fn order(&mut self, other: &mut Self) {
        // All three are computed in any case.
        let is_lower = u8::from(self.height < other.height);
        let is_level = u8::from(self.height == other.height);
        let comes_later = u8::from(self.rank < other.rank);
        let exchange = Choice::from(is_lower | (is_level & comes_later));
        u128::conditional_swap(&mut self.height, &mut other.height, exchange);
        u64::conditional_swap(&mut self.rank, &mut other.rank, exchange);
    }
}

/// The largest of all entries offered so far, found in groups of a power of two by Batcher's
/// bitonic networks: which places are compared depends on nothing but the number of entries.
struct Largest {
    /// From the largest down.
    best: Vec<Entry>,
    /// Those that have come since, in the order in which they came.
    group: Vec<Entry>,
}

impl Largest {
    /// For `count` of the largest, and maybe more.
    fn new(count: usize) -> Self {
        let size = count.next_power_of_two();
        Self { best: vec![Entry::NONE; size], group: Vec::with_capacity(size) }
    }

    fn size(&self) -> usize {
        self.best.len()
    }

    fn offer(&mut self, entry: Entry) {
        self.group.push(entry);
        if self.group.len() == self.size() {
            self.take_group();
        }
    }

    fn finish(mut self) -> Vec<Entry> {
        self.group.resize(self.size(), Entry::NONE);
        self.take_group();
        self.best
    }

    /// Of the best so far and a group, keep the larger half.
    ///
    /// Both fall; of the i-th of the one and the i-th from the end of the other, the larger is kept.
    /// These are the larger half, and rise and fall at most once each, so merging sorts them.
    fn take_group(&mut self) {
        sort(&mut self.group);
        for (best, new) in self.best.iter_mut().zip(self.group.iter_mut().rev()) {
            best.order(new);
        }
        merge(&mut self.best);
        self.group.clear();
    }
}

/// Sort a power of two of entries, from the largest down.
fn sort(entries: &mut [Entry]) {
    let mut size = 2;
    while size <= entries.len() {
        for run in entries.chunks_exact_mut(size) {
            // The second half the other way round, as it is compared with the first.
            let (first, second) = run.split_at_mut(size / 2);
            for (one, other) in first.iter_mut().zip(second.iter_mut().rev()) {
                one.order(other);
            }
            merge(first);
            merge(second);
        }
        size *= 2;
    }
}

/// Sort a power of two of entries that, read in a circle, fall and rise once, from the largest down.
fn merge(entries: &mut [Entry]) {
    let mut half = entries.len() / 2;
    while half > 0 {
        for run in entries.chunks_exact_mut(2 * half) {
            let (first, second) = run.split_at_mut(half);
            for (one, other) in first.iter_mut().zip(second) {
                one.order(other);
            }
        }
        half /= 2;
    }
}
