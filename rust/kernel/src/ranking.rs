//! From the candidates to the winners and their gaps.

use std::cmp::Reverse;

use crate::quantities::{Steps, TickCount, Ticks};
use crate::sampler::Sampler;

/// Candidates sorted, or moved, between two checkpoints.
const CANDIDATES_PER_CHECKPOINT: usize = 1 << 18;

/// The index of the sentinel, which is no item's.
pub const SENTINEL: usize = usize::MAX;

/// An item that may be among the winners, or the sentinel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// How far its noisy answer exceeds the threshold, rounded down to ticks.
    pub excess: TickCount,
    /// Its position among the answers.
    pub index: usize,
}

/// What may be published.
#[derive(Debug, PartialEq, Eq)]
pub struct Selection {
    /// The winners' positions among the answers, from the largest down.
    pub indices: Vec<usize>,
    /// The gap from each to the next, rounded down.
    pub gaps: Vec<Steps>,
}

/// What may be published where the noisy answers are released, too.
#[derive(Debug, PartialEq, Eq)]
pub struct NoisySelection {
    /// The winners' positions among the answers, from the largest down.
    pub indices: Vec<usize>,
    /// The noisy answer of each winner, and that of the item after the last, if there is one.
    pub noisy_answers: Vec<Ticks>,
}

/// Rank the candidates by their noisy answers, among which is every item that ties with the (k+1)-th
/// or exceeds it; if there is a floor, of those items that reach it. Noise is whole ticks; items that
/// tie come in a uniform order.
///
/// # Errors
/// When there are no more draws.
pub(crate) fn rank_noisy_answers<S: Sampler>(
    mut candidates: Vec<Candidate>,
    k: usize,
    threshold: Ticks,
    floor: Option<Ticks>,
    sampler: &mut S,
) -> Result<NoisySelection, S::Stop> {
    if let Some(floor) = floor {
        candidates.retain(|candidate| threshold + candidate.excess.signed() >= floor);
    }
    if candidates.is_empty() {
        return Ok(NoisySelection { indices: Vec::new(), noisy_answers: Vec::new() });
    }
    let mut ranked = downwards(&candidates, k + 1, sampler)?;
    if ranked.windows(2).any(|pair| pair[0].height == pair[1].height) {
        shuffle(&mut candidates, sampler)?;
        ranked = downwards(&candidates, k + 1, sampler)?;
    }
    let winners = ranked.iter().take(k);
    let indices = winners.map(|winner| candidates[winner.place].index).collect();
    let noisy_answers = ranked.iter().map(|ranked| threshold + ranked.height.signed()).collect();
    Ok(NoisySelection { indices, noisy_answers })
}

/// Rank the candidates, among which is every item that ties with the (k+1)-th or exceeds it. The
/// sentinel ends the winners if it is among them: those that follow need not be candidates.
///
/// A real noisy answer is a number of ticks plus a remainder below one tick. Noise is memoryless, so
/// the remainders are independent of the ticks and of one another, and have one law: their order is
/// uniform. Nothing else of the remainders matters. The order is drawn only if it matters: where
/// neighbours in the ranking differ by whole steps, ties included.
///
/// # Errors
/// When there are no more draws.
pub fn rank<S: Sampler>(
    mut candidates: Vec<Candidate>,
    k: usize,
    refinement: u32,
    sampler: &mut S,
) -> Result<Selection, S::Stop> {
    // The order in which the candidates lie stands for that of their remainders, the largest first.
    let count = candidates.len().min(k.saturating_add(1));
    let mut ranked = downwards(&candidates, count, sampler)?;
    let in_whole_steps =
        |pair: &[Ranked]| (pair[0].height - pair[1].height).is_whole_steps(refinement);
    if ranked.windows(2).any(in_whole_steps) {
        shuffle(&mut candidates, sampler)?;
        ranked = downwards(&candidates, count, sampler)?;
    }
    Ok(published(&ranked, refinement, |place| candidates[place].index))
}

/// What is told of the winners and the runner-up: who the winners are, down to the sentinel if it is one
/// of them, and the gap from each of these to the next.
pub(crate) fn published(
    ranked: &[Ranked],
    refinement: u32,
    index_at: impl Fn(usize) -> usize,
) -> Selection {
    let (_, winners) = ranked.split_last().expect("winners and a runner-up");
    let sentinel = winners.iter().position(|winner| index_at(winner.place) == SENTINEL);
    let named = sentinel.unwrap_or(winners.len());
    let indices = winners[..named].iter().map(|winner| index_at(winner.place)).collect();
    let gaps = ranked.windows(2).take(named).map(|pair| {
        let remainder_is_smaller = TickCount(u128::from(pair[0].place > pair[1].place));
        (pair[0].height - pair[1].height - remainder_is_smaller).whole_steps(refinement)
    });
    Selection { indices, gaps: gaps.collect() }
}

/// A uniform order (Fisher and Yates).
pub(crate) fn shuffle<T, S: Sampler>(items: &mut [T], sampler: &mut S) -> Result<(), S::Stop> {
    for last in (1..items.len()).rev() {
        if last.is_multiple_of(CANDIDATES_PER_CHECKPOINT) {
            sampler.checkpoint()?;
        }
        let other = sampler.below(last as u64 + 1)?;
        items.swap(last, usize::try_from(other).expect("an index"));
    }
    Ok(())
}

/// A noisy answer, and its place among others: of two equal ones, the first has the larger remainder.
pub(crate) struct Ranked {
    /// How far the noisy answer is above an origin that all have in common, rounded down to ticks.
    pub(crate) height: TickCount,
    pub(crate) place: usize,
}

/// The first `count` candidates, from the largest excess down; of equal ones, as they lie.
fn downwards<S: Sampler>(
    candidates: &[Candidate],
    count: usize,
    sampler: &mut S,
) -> Result<Vec<Ranked>, S::Stop> {
    let last = candidates.len() - 1;
    let place_bits = usize::BITS - last.leading_zeros();
    let all = candidates.iter().fold(0, |all, candidate| all | candidate.excess.0);
    if all.leading_zeros() >= u64::BITS + place_bits {
        return downwards_in_words(candidates, count, place_bits, sampler);
    }
    let ranked =
        |(place, candidate): (usize, &Candidate)| Ranked { height: candidate.excess, place };
    let mut ranked: Vec<Ranked> = candidates.iter().enumerate().map(ranked).collect();
    for stretch in ranked.chunks_mut(CANDIDATES_PER_CHECKPOINT) {
        stretch.sort_by_key(|ranked| Reverse(ranked.height));
        sampler.checkpoint()?;
    }
    ranked.sort_by_key(|ranked| Reverse(ranked.height));
    ranked.truncate(count);
    Ok(ranked)
}

/// The same, where an excess and a place of `place_bits` bits fit one word: words are sorted faster.
#[expect(clippy::cast_possible_truncation, reason = "excess and place are short enough")]
#[expect(clippy::stable_sort_primitive, reason = "it merges what is sorted already")]
fn downwards_in_words<S: Sampler>(
    candidates: &[Candidate],
    count: usize,
    place_bits: u32,
    sampler: &mut S,
) -> Result<Vec<Ranked>, S::Stop> {
    // Places are counted from the end, so that of equal ones the first is the largest word.
    let last = candidates.len() - 1;
    let mut words: Vec<u64> = Vec::with_capacity(candidates.len());
    words.extend(candidates.iter().enumerate().map(|(place, candidate)| {
        (candidate.excess.0 as u64) << place_bits | (last - place) as u64
    }));
    if words.len() <= CANDIDATES_PER_CHECKPOINT {
        words.sort_unstable();
    } else {
        for stretch in words.chunks_mut(CANDIDATES_PER_CHECKPOINT) {
            stretch.sort_unstable();
            sampler.checkpoint()?;
        }
        words.sort();
    }
    let ranked = |word: &u64| Ranked {
        height: TickCount(u128::from(word >> place_bits)),
        place: last - (word & ((1 << place_bits) - 1)) as usize,
    };
    Ok(words.iter().rev().take(count).map(ranked).collect())
}
