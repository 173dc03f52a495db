//! Makes inputs for the kernel of any bytes, and holds what comes of them against what must hold.
//!
//! Each module checks one part of the kernel and has a target of the same name, which a
//! coverage-guided fuzzer hands its bytes. A check that fails panics, and so does a defect.
//!
//! - `inputs`: numbers, rates and answers, near all that is extreme;
//! - `tape`: the random bits that are drawn, given too, so that rare ways are common;
//! - `recorded`: what was drawn, to compute the same again in a plain way;
//! - `plain_ranking`: that plain way, from noisy values to winners and gaps.

#![forbid(unsafe_code)]

pub mod constant_work;
pub mod enclosures;
pub mod fast_log2;
pub mod floats;
pub mod geometric;
pub mod inputs;
pub mod noisy_candidates;
pub mod plain_ranking;
pub mod ranking;
pub mod recorded;
pub mod select;
pub mod tape;

/// What a target does with its bytes; None if there are too few of them to make an input.
pub type Checked = arbitrary::Result<()>;
