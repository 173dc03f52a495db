//! Noisy Top-k with Gap in integers: exactly the law of real exponential noise.
//!
//! Answers are *units*, gaps are *steps*, noise and noisy answers are *ticks*: see `quantities`. The
//! path of the data:
//!
//! - `answers`: one pass over all answers;
//! - `threshold_plan`: a threshold that a little more than k + 1 items will reach;
//! - `candidates`: the items that reach it. `leading_zeros` says how unlikely an item is to reach
//!   it, `shared_coins` skips over the unlikely ones, and `geometric` draws the noise. `runs` finds
//!   those of items that have equal answers and are not written out, by their `ranks`;
//! - `ranking`: their order, and the gaps.
//!
//! Answers that come in parts go as far as `candidates`, and are ranked elsewhere. `constant_work`
//! is another path, with the same work for all answers. `groups` goes either path for each of many
//! groups.
//!
//! `workers` run the work, one after the other or in threads. All randomness comes from a `sampler`,
//! which draws it from the bits of a `bit_source`. `geometric` decides by `rate` and `fast_log2` in
//! 64 bits, or else by `enclosures` in as many bits as it takes.
//!
//! `noise` is exponential, and gaps are released; or it is Laplace noise, and so are the noisy
//! answers. `laplace` is also the noise that is added to a single released number.

#![forbid(unsafe_code)]

pub mod answers;
pub mod bit_source;
mod candidates;
pub mod constant_work;
pub mod enclosures;
pub mod fast_log2;
pub mod floats;
pub mod geometric;
pub mod groups;
pub mod laplace;
mod leading_zeros;
pub mod noise;
pub mod quantities;
pub mod ranking;
pub mod ranks;
pub mod rate;
pub mod runs;
pub mod sampler;
pub mod shared_coins;
pub mod threshold_plan;
pub mod workers;

use std::cmp::Reverse;

use num_bigint::BigUint;

use answers::{Answers, Blocks};
use candidates::{Reaching, Target, collect};
use noise::{Exponential, Laplace, Noise};
use quantities::{Ticks, Units};
use ranking::{Candidate, NoisySelection, Selection, rank, rank_noisy_answers};
use rate::Rate;
use runs::{Run, Runs};
use sampler::Sampler;
use threshold_plan::Plan;
use workers::Workers;

/// Select the k items with the largest noisy answers, from the largest down, and the gap from each
/// to the next. There must be more than k items, those of runs included, and k ≥ 1.
///
/// If there is a sentinel, its answer in ticks, it is one more item, and only the winners above it are
/// named; the last gap may be the lead over it. There can be any number of items then.
///
/// Where some items are in runs, the law is that of all items written out. An index from the number of
/// answers on counts through the items that `find_listed` was asked about.
///
/// `plan` is for tests: all plans and all workers give the same law.
///
/// # Errors
/// When the sampler ends, a checkpoint asks to stop, or the runs cannot say what is listed.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn select<W: Workers>(
    answers: Answers,
    runs: Option<Runs<W::Stop>>,
    k: usize,
    sentinel: Option<Ticks>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Selection, W::Stop> {
    let noise = Exponential(rate);
    let sentinel = sentinel.map(|answer| draw_sentinel(answer, noise, workers.main_sampler()));
    let sentinel = sentinel.transpose()?;
    let needed = at_most(k.saturating_add(1), &answers, runs.as_ref());
    // An item below the sentinel is neither named nor next.
    let mut reaching = reaching(answers, runs, needed, sentinel, noise, plan, workers)?;
    if let Some(noisy_answer) = sentinel {
        reaching.add_sentinel(noisy_answer, k);
    }
    rank(reaching.candidates, k, rate.refinement(), workers.main_sampler())
}

/// The noisy answer of a sentinel with this answer.
#[inline(never)] // or `select` becomes slower where there is none
fn draw_sentinel<S: Sampler>(
    answer: Ticks,
    noise: Exponential,
    sampler: &mut S,
) -> Result<Ticks, S::Stop> {
    Ok(answer + noise.draw(0, sampler)?)
}

/// Select the k items with the largest noisy answers, with Laplace noise, and release these, too, and
/// the noisy answer that comes next. If there is a floor, items that do not reach it are left out, and
/// there can be fewer winners, or none. There must be an item, those of runs included, and k ≥ 1; and
/// more than k without a floor. Indices of items of runs are those of `select_with_runs`.
///
/// # Errors
/// When the sampler ends, a checkpoint asks to stop, or the runs cannot say what is listed.
pub fn select_noisy_answers<W: Workers>(
    answers: Answers,
    runs: Option<Runs<W::Stop>>,
    k: usize,
    floor: Option<Ticks>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<NoisySelection, W::Stop> {
    let needed = at_most(k + 1, &answers, runs.as_ref());
    let Reaching { threshold, candidates } =
        reaching(answers, runs, needed, floor, Laplace(rate), plan, workers)?;
    rank_noisy_answers(candidates, k, threshold, floor, workers.main_sampler())
}

/// An item and its noisy answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoisyCandidate {
    /// The noisy answer, rounded down to ticks.
    pub noisy_answer: Ticks,
    /// The item's position among the answers.
    pub index: usize,
}

/// Add noise to all answers, and find the items that can be among the `needed` largest of a larger
/// whole. An item that is not found lies below `needed` others that are, or below `floor`.
///
/// # Errors
/// When the sampler ends or a checkpoint asks to stop.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn noisy_candidates<N: Noise, W: Workers>(
    answers: Answers,
    needed: usize,
    floor: Option<Ticks>,
    noise: N,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Vec<NoisyCandidate>, W::Stop> {
    let needed = at_most::<W::Stop>(needed, &answers, None);
    reaching_floor(answers, None, needed, floor, noise, plan, workers)
}

/// The same where some items are in runs; an index from the number of answers on counts through the
/// items that `find_listed` was asked about.
///
/// # Errors
/// When the sampler ends, a checkpoint asks to stop, or the runs cannot say what is listed.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn noisy_candidates_with_runs<N: Noise, W: Workers>(
    answers: Answers,
    runs: Runs<W::Stop>,
    needed: usize,
    floor: Option<Ticks>,
    noise: N,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Vec<NoisyCandidate>, W::Stop> {
    let needed = at_most(needed, &answers, Some(&runs));
    reaching_floor(answers, Some(runs), needed, floor, noise, plan, workers)
}

/// So many items, or all if there are not so many.
fn at_most<E>(needed: usize, answers: &Answers, runs: Option<&Runs<E>>) -> usize {
    let listed = answers.units.len();
    let Some(runs) = runs else { return needed.min(listed) };
    let items = runs.all.iter().map(Run::unlisted).sum::<BigUint>() + listed;
    usize::try_from(items).map_or(needed, |items| needed.min(items))
}

/// The noisy answers of the `needed` largest items, of which there are so many, and of others that
/// may be; but for those below the floor.
fn reaching_floor<N: Noise, W: Workers>(
    answers: Answers,
    runs: Option<Runs<W::Stop>>,
    needed: usize,
    floor: Option<Ticks>,
    noise: N,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Vec<NoisyCandidate>, W::Stop> {
    let Reaching { threshold, candidates } =
        reaching(answers, runs, needed, floor, noise, plan, workers)?;
    let to_noisy = |Candidate { excess, index }| NoisyCandidate {
        noisy_answer: threshold + excess.signed(),
        index,
    };
    Ok(candidates.into_iter().map(to_noisy).collect())
}

/// A threshold, and the items that reach it. The threshold is so low that `needed` items reach it,
/// or not above the floor. There are at least so many items.
fn reaching<N: Noise, W: Workers>(
    answers: Answers,
    runs: Option<Runs<W::Stop>>,
    needed: usize,
    floor: Option<Ticks>,
    noise: N,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Reaching, W::Stop> {
    if needed == 0 {
        return Ok(Reaching { threshold: floor.unwrap_or(Ticks(0)), candidates: Vec::new() });
    }
    let log_block =
        plan.map_or_else(|| Blocks::fitting(answers.units.len(), needed), |plan| plan.log_block);
    let blocks = Blocks::new(answers.units, log_block, workers)?;
    let all_runs = runs.as_ref().map_or(&[][..], |runs| runs.all);
    let target = Target { needed, anchor: anchor(&blocks, all_runs, needed), floor };
    let plan =
        plan.unwrap_or_else(|| threshold_plan::plan(answers, &blocks, all_runs, target, noise));
    collect(answers, runs, &blocks, noise, plan, target, workers)
}

/// An answer that at least `needed` items have or exceed, and not many more.
///
/// Of the runs, those with the largest answers count, as many as makes that answer the largest.
fn anchor(blocks: &Blocks, runs: &[Run], needed: usize) -> Units {
    let mut runs: Vec<(Units, BigUint)> =
        runs.iter().map(|run| (run.answer, run.unlisted())).collect();
    runs.sort_by_key(|run| Reverse(run.0));
    let mut best = blocks.anchor(needed);
    let mut in_runs = BigUint::ZERO;
    for (answer, unlisted) in runs {
        in_runs += unlisted;
        let left = usize::try_from(&in_runs).map_or(0, |in_runs| needed.saturating_sub(in_runs));
        let with_run = if left == 0 {
            Some(answer)
        } else {
            blocks.anchor(left).map(|listed| listed.min(answer))
        };
        best = best.max(with_run);
    }
    best.expect("as many items as needed")
}
