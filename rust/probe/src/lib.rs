//! Exhaustive walks of the kernel's randomness, for tests alone.
//!
//! - `tape`: every sequence of random bits;
//! - `script`: every sequence of results of a sampler.

#![forbid(unsafe_code)]

pub mod script;
pub mod tape;
