//! The texts that match a pattern, each counted once: how many there are, which is the r-th, and
//! which place a text has.
//!
//! [`characters`] reads the pattern and refuses characters that are not their own normal form,
//! [`automaton`] makes a deterministic automaton of it, in which each text has one path, and
//! [`language`] counts the paths. Nothing here sees data but the texts that are looked up.

#![forbid(unsafe_code)]

mod automaton;
mod characters;
mod counts;
mod language;
mod refusal;

pub use language::Language;
pub use refusal::Refusal;
