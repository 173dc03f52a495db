//! Noisy Top-k with Gap in integers: exactly the law of real exponential noise.
//!
//! Answers are *units*, gaps are *steps*, noise and noisy answers are *ticks*: see `quantities`. The
//! path of the data:
//!
//! - `answers`: one pass over all answers;
//! - `threshold_plan`: a threshold that a little more than k + 1 items will reach;
//! - `candidates`: the items that reach it. `leading_zeros` says how unlikely an item is to reach
//!   it, `shared_coins` skips over the unlikely ones, and `geometric` draws the noise;
//! - `ranking`: their order, and the gaps.
//!
//! Answers that come in parts go as far as `candidates`, and are ranked elsewhere. `constant_work`
//! is another path, with the same work for all answers.
//!
//! `workers` run the work, one after the other or in threads. All randomness comes from a `sampler`,
//! which draws it from the bits of a `bit_source`. `geometric` decides by `rate` and `fast_log2` in
//! 64 bits, or else by `enclosures` in as many bits as it takes.
//!
//! Noise that is added to a single released number is symmetric: `laplace`, from the same
//! `geometric`.

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
mod leading_zeros;
pub mod quantities;
pub mod ranking;
pub mod rate;
pub mod sampler;
pub mod shared_coins;
pub mod threshold_plan;
pub mod workers;

use answers::{Answers, Blocks};
use candidates::{Target, collect};
use quantities::{Ticks, Units};
use ranking::{Candidate, Selection, rank};
use rate::Rate;
use threshold_plan::Plan;
use workers::Workers;

/// Select the k items with the largest noisy answers, from the largest down, and the gap from each
/// to the next. There must be more than k answers, and k ≥ 1.
///
/// `plan` is for tests: all plans and all workers give the same law.
///
/// # Errors
/// When the sampler ends or a checkpoint asks to stop.
pub fn select<W: Workers>(
    answers: Answers,
    k: usize,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Selection, W::Stop> {
    let (_, candidates) = reaching(answers, k + 1, None, rate, plan, workers)?;
    rank(candidates, k, rate.refinement(), workers.main_sampler())
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
pub fn noisy_candidates<W: Workers>(
    answers: Answers,
    needed: usize,
    floor: Option<Ticks>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<Vec<NoisyCandidate>, W::Stop> {
    if answers.units.is_empty() {
        return Ok(Vec::new());
    }
    let ticks_per_unit = rate.ticks_per_unit(answers.steps_per_unit);
    // A lower floor is right, too.
    let floor = floor.map(|floor| ticks_per_unit.whole_units(floor));
    let needed = needed.min(answers.units.len());
    let (threshold, candidates) = reaching(answers, needed, floor, rate, plan, workers)?;
    let threshold = ticks_per_unit.ticks(threshold);
    let noisy = |Candidate { excess, index }| NoisyCandidate {
        noisy_answer: threshold + excess.signed(),
        index,
    };
    Ok(candidates.into_iter().map(noisy).collect())
}

/// A threshold, and the items that reach it. The threshold is so low that `needed` items reach it,
/// or not above the floor. There are at least so many answers, and at least one.
fn reaching<W: Workers>(
    answers: Answers,
    needed: usize,
    floor: Option<Units>,
    rate: &Rate,
    plan: Option<Plan>,
    workers: &mut W,
) -> Result<(Units, Vec<Candidate>), W::Stop> {
    let log_block =
        plan.map_or_else(|| Blocks::fitting(answers.units.len(), needed), |plan| plan.log_block);
    let blocks = Blocks::new(answers.units, log_block, workers)?;
    let target = Target { needed, anchor: blocks.anchor(needed), floor };
    let plan = plan.unwrap_or_else(|| threshold_plan::plan(answers, &blocks, target, rate));
    collect(answers, &blocks, rate, plan, target, workers)
}
