//! Oracles: they make an input for the kernel from any bytes, and check what the kernel does with it.
//!
//! Each module checks one part of the kernel. The tests of this crate run the checks on fixed inputs.
//! `rust/fuzz` has a target of the same name, to which a coverage-guided fuzzer hands its bytes. A
//! check that fails panics, and so does a defect.
//!
//! - `inputs`: numbers, rates and answers, often extreme ones;
//! - `tape`: the random bits, taken from the input too, so that rare paths are common;
//! - `recorded`: a sampler that records its draws, to compute the same again in a plain way;
//! - `plain_ranking`: that plain way, from noisy answers to winners and gaps.

#![forbid(unsafe_code)]

pub mod constant_work;
pub mod enclosures;
pub mod fast_log2;
pub mod floats;
pub mod geometric;
pub mod inputs;
pub mod noisy_answers;
pub mod noisy_candidates;
pub mod plain_ranking;
pub mod ranking;
pub mod recorded;
pub mod select;
pub mod tape;

/// The result of a check: an error if there are too few bytes to make an input.
pub type Checked = inputs::Result<()>;
