//! Makes inputs for the kernel of any bytes, and holds what comes of them against what must hold.
//!
//! Each module checks one part of the kernel and has a target of the same name, which a
//! coverage-guided fuzzer hands its bytes. A check that fails panics, and so does a defect.
//!
//! - `given`: numbers, rates and answers, near all that is extreme;
//! - `tape`: the random bits that are drawn, given too, so that rare ways are common;
//! - `recorded`: what was drawn, to compute the same again in a plain way;
//! - `plainly`: that plain way, from noisy values to winners and gaps.

#![forbid(unsafe_code)]

pub mod enclosures;
pub mod evenly;
pub mod floats;
pub mod geometric;
pub mod given;
pub mod logarithm;
pub mod noisy;
pub mod plainly;
pub mod ranking;
pub mod recorded;
pub mod select;
pub mod tape;

/// What a target does with its bytes; None if there are too few of them to make an input.
pub type Checked = arbitrary::Result<()>;
