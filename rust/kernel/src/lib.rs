//! Noisy Top-k with Gap in integers: the law of real exponential noise, exactly.
//!
//! Answers come in *units*, of which each makes so many *steps* of the resolution. Noise and noisy
//! answers are *values*, of which 2^refinement make a step. The way of the data:
//!
//! - `answers`: one look at every answer;
//! - `guess`: a threshold that a little more than k + 1 items will reach;
//! - `candidates`: the items that do, by `skips` over those that hardly can, and `geometric` noise;
//! - `ranking`: their order, and the gaps.
//!
//! What these need at random they take from `draws`, which makes it from the bits of a `source`:
//! `geometric` decides by `rate` and `logarithm` in 64 bits, or else by `enclosures` in as many as
//! it takes.

#![forbid(unsafe_code)]

pub mod answers;
mod candidates;
pub mod draws;
pub mod enclosures;
pub mod floats;
pub mod geometric;
pub mod guess;
pub mod logarithm;
pub mod ranking;
pub mod rate;
pub mod skips;
pub mod source;

use answers::{Answers, Blocks};
use candidates::collect;
use draws::Draws;
use guess::Plan;
use ranking::{Selection, rank};
use rate::Rate;

/// Name the k items whose noisy answers are largest, from the largest down, and the gap from each
/// to the next. There must be more than k answers, and k ≥ 1.
///
/// `plan` is for tests: any plan gives the same law.
///
/// # Errors
/// When there are no more draws or its checkpoint asks to stop.
pub fn select<D: Draws>(
    answers: Answers,
    k: usize,
    rate: &Rate,
    plan: Option<Plan>,
    draws: &mut D,
) -> Result<Selection, D::Stop> {
    let needed = k + 1;
    let log_block =
        plan.map_or_else(|| Blocks::fitting(answers.units.len(), needed), |plan| plan.log_block);
    let blocks = Blocks::new(answers.units, log_block, draws)?;
    let anchor = blocks.anchor(needed);
    let plan = plan.unwrap_or_else(|| guess::plan(answers, &blocks, anchor, needed, rate));
    let candidates = collect(answers, &blocks, rate, plan, anchor, needed, draws)?;
    rank(candidates, k, rate.refinement(), draws)
}
