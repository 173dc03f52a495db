//! NoisyCandidate Top-k with Gap in integers: the law of real exponential noise, exactly.
//!
//! Answers come in *units*, of which each makes so many *steps* of the resolution. Noise and noisy
//! answers are *values*, of which 2^refinement make a step. The way of the data:
//!
//! - `answers`: one look at every answer;
//! - `guess`: a threshold that a little more than k + 1 items will reach;
//! - `candidates`: the items that do, by `skips` over those that hardly can, and `geometric` noise;
//! - `ranking`: their order, and the gaps.
//!
//! Answers that come in parts go as far as `candidates`, and are ranked elsewhere. `even` goes a way
//! of its own, by the same work for any answers.
//!
//! A `workers` does the work, alone or in threads. What these need at random they take from `draws`,
//! which makes it from the bits of a `source`: `geometric` decides by `rate` and `logarithm` in 64
//! bits, or else by `enclosures` in as many as it takes.
//!
//! Noise that a number carries by itself, such as an answer that is released, is symmetric:
//! `laplace`, from the same `geometric`.

#![forbid(unsafe_code)]

pub mod answers;
pub mod bit_source;
mod candidates;
pub mod constant_work;
pub mod enclosures;
pub mod fast_log2;
pub mod floats;
pub mod geometric;
pub mod laplace;
pub mod ranking;
pub mod rate;
pub mod sampler;
pub mod shared_coins;
pub mod threshold_plan;
pub mod workers;

use answers::{Answers, Blocks};
use candidates::{Target, collect};
use ranking::{Candidate, Selection, rank};
use rate::Rate;
use threshold_plan::Plan;
use workers::Workers;

/// Name the k items whose noisy answers are largest, from the largest down, and the gap from each
/// to the next. There must be more than k answers, and k ≥ 1.
///
/// `plan` is for tests: any plan gives the same law, and so does any workers.
///
/// # Errors
/// When there are no more draws or a checkpoint asks to stop.
pub fn select<W: Workers>(
    answers: Answers,
    k: usize,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Selection, W::Stop> {
    let (_, candidates) = reaching(answers, k + 1, None, rate, plan, workers)?;
    rank(candidates, k, rate.refinement(), workers.lead())
}

/// An item and its noisy answer, rounded down to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoisyCandidate {
    /// The noisy answer, in values.
    pub value: i128,
    /// The item's position among the answers.
    pub index: usize,
}

/// Give all items noise, and find those that can be among the `needed` largest of a larger whole:
/// whoever is not found lies below `needed` others that are, or below `floor`, in values.
///
/// # Errors
/// When there are no more draws or a checkpoint asks to stop.
///
/// # Panics
/// When a noisy answer has more than 127 bits.
pub fn noisy_candidates<W: Workers>(
    answers: Answers,
    needed: usize,
    floor: Option<i128>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Vec<NoisyCandidate>, W::Stop> {
    if answers.units.is_empty() {
        return Ok(Vec::new());
    }
    let ticks_per_unit = i128::from(rate.ticks_per_unit(answers.steps_per_unit));
    // Lower is right too.
    let floor = floor.map(|floor| {
        let units = floor.div_euclid(ticks_per_unit);
        i64::try_from(units).unwrap_or(if units < 0 { i64::MIN } else { i64::MAX })
    });
    let needed = needed.min(answers.units.len());
    let (threshold, candidates) = reaching(answers, needed, floor, rate, plan, workers)?;
    let threshold = i128::from(threshold) * ticks_per_unit;
    let noisy = |Candidate { value, index }| NoisyCandidate {
        value: threshold + i128::try_from(value).expect("noise of fewer than 128 bits"),
        index,
    };
    Ok(candidates.into_iter().map(noisy).collect())
}

/// The items that reach a threshold, and the threshold: so low that `needed` items reach it, or
/// not above the floor. There are at least so many answers, and at least one.
fn reaching<W: Workers>(
    answers: Answers,
    needed: usize,
    floor: Option<i64>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<(i64, Vec<Candidate>), W::Stop> {
    let log_block =
        plan.map_or_else(|| Blocks::fitting(answers.units.len(), needed), |plan| plan.log_block);
    let blocks = Blocks::new(answers.units, log_block, workers)?;
    let target = Target { needed, anchor: blocks.anchor(needed), floor };
    let plan = plan.unwrap_or_else(|| threshold_plan::plan(answers, &blocks, target, rate));
    collect(answers, &blocks, rate, plan, target, workers)
}
