//! From the candidates' values to the winners and their gaps.

use std::cmp::Reverse;

use crate::sampler::Sampler;

/// Candidates sorted, or moved, between two checkpoints.
const STRETCH: usize = 1 << 18;

/// An item that may be among the winners.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// How far its noisy answer exceeds the threshold, rounded down.
    pub value: u128,
    /// Its position among the answers.
    pub index: usize,
}

/// What may be published.
#[derive(Debug, PartialEq, Eq)]
pub struct Selection {
    /// The winners' positions among the answers, from the largest down.
    pub indices: Vec<usize>,
    /// The lead of each over the next, in steps, rounded down.
    pub gaps: Vec<u128>,
}

/// Rank the candidates, among which is every item that ties with the (k+1)-th value or exceeds it.
///
/// The real noisy answers are the values plus remainders below one. Noise being memoryless,
/// the remainders are independent of the values and of one another, and all alike: their order is
/// a uniform one. Nothing else of them matters, and it is drawn only if it matters at all: between
/// neighbours whose values differ by whole steps, ties included.
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
    let mut ranked = downwards(&candidates, k + 1, sampler)?;
    let in_whole_steps =
        |pair: &[Ranked]| (pair[0].value - pair[1].value).trailing_zeros() >= refinement;
    if ranked.windows(2).any(in_whole_steps) {
        shuffle(&mut candidates, sampler)?;
        ranked = downwards(&candidates, k + 1, sampler)?;
    }
    Ok(published(&ranked, refinement, |place| candidates[place].index))
}

/// What is told of the winners and the runner-up: who the winners are, and all gaps.
pub(crate) fn published(
    ranked: &[Ranked],
    refinement: u32,
    index_at: impl Fn(usize) -> usize,
) -> Selection {
    let (_, winners) = ranked.split_last().expect("winners and a runner-up");
    let indices = winners.iter().map(|winner| index_at(winner.place)).collect();
    let gaps = ranked.windows(2).map(|pair| {
        let remainder_is_smaller = u128::from(pair[0].place > pair[1].place);
        (pair[0].value - pair[1].value - remainder_is_smaller) >> refinement
    });
    Selection { indices, gaps: gaps.collect() }
}

/// A uniform order (Fisher and Yates).
pub(crate) fn shuffle<T, S: Sampler>(items: &mut [T], sampler: &mut S) -> Result<(), S::Stop> {
    for last in (1..items.len()).rev() {
        if last.is_multiple_of(STRETCH) {
            sampler.checkpoint()?;
        }
        let other = sampler.below(last as u64 + 1)?;
        items.swap(last, usize::try_from(other).expect("an index"));
    }
    Ok(())
}

/// A value, and its place among others: of two equal ones, the first has the larger remainder.
pub(crate) struct Ranked {
    pub(crate) value: u128,
    pub(crate) place: usize,
}

/// The first `count` candidates, from the largest value down; of equal values, as they lie.
fn downwards<S: Sampler>(
    candidates: &[Candidate],
    count: usize,
    sampler: &mut S,
) -> Result<Vec<Ranked>, S::Stop> {
    let last = candidates.len() - 1;
    let place_bits = usize::BITS - last.leading_zeros();
    let all = candidates.iter().fold(0, |all, candidate| all | candidate.value);
    if all.leading_zeros() >= u64::BITS + place_bits {
        return downwards_in_words(candidates, count, place_bits, sampler);
    }
    let ranked = |(place, candidate): (usize, &Candidate)| Ranked { value: candidate.value, place };
    let mut ranked: Vec<Ranked> = candidates.iter().enumerate().map(ranked).collect();
    for stretch in ranked.chunks_mut(STRETCH) {
        stretch.sort_by_key(|ranked| Reverse(ranked.value));
        sampler.checkpoint()?;
    }
    ranked.sort_by_key(|ranked| Reverse(ranked.value));
    ranked.truncate(count);
    Ok(ranked)
}

/// The same, where a value and a place of `place_bits` bits fit one word: words are sorted faster.
#[expect(clippy::cast_possible_truncation, reason = "values and places are short enough")]
#[expect(clippy::stable_sort_primitive, reason = "it merges what is sorted already")]
fn downwards_in_words<S: Sampler>(
    candidates: &[Candidate],
    count: usize,
    place_bits: u32,
    sampler: &mut S,
) -> Result<Vec<Ranked>, S::Stop> {
    // Places are counted from the end, so that of equal values the first is the largest word.
    let last = candidates.len() - 1;
    let mut words: Vec<u64> = Vec::with_capacity(candidates.len());
    words.extend(
        candidates.iter().enumerate().map(|(place, candidate)| {
            (candidate.value as u64) << place_bits | (last - place) as u64
        }),
    );
    if words.len() <= STRETCH {
        words.sort_unstable();
    } else {
        for stretch in words.chunks_mut(STRETCH) {
            stretch.sort_unstable();
            sampler.checkpoint()?;
        }
        words.sort();
    }
    let ranked = |word: &u64| Ranked {
        value: u128::from(word >> place_bits),
        place: last - (word & ((1 << place_bits) - 1)) as usize,
    };
    Ok(words.iter().rev().take(count).map(ranked).collect())
}
