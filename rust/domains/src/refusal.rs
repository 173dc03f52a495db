//! Why a pattern is no domain, in one sentence each.

use std::fmt::{Display, Formatter, Result};

/// Why a pattern is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Refusal {
    /// It is longer than any may be.
    TooLong {
        /// The greatest number of characters.
        most: usize,
    },
    /// It cannot be read.
    Syntax {
        /// What is wrong, in a few words.
        problem: String,
        /// The place in the pattern, counted in characters from 1 on.
        place: usize,
    },
    /// It has something that no deterministic automaton can do.
    Unsupported,
    /// Its automaton, or the table of its counts, is too large.
    TooLarge,
    /// It takes a character that normalization changes or joins with others.
    NotNormal(char),
    /// It takes the digits of all scripts.
    AllDigits,
    /// It matches the empty text.
    EmptyText,
    /// A text that it matches can begin with a character that shows nothing.
    BlankStart,
    /// A text that it matches can end with a character that shows nothing.
    BlankEnd,
    /// It matches texts of any length, and no greatest length was given.
    Endless,
    /// It matches nothing.
    Empty,
    /// It matches more texts than can be counted.
    TooMany,
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Self::TooLong { most } => {
                write!(f, "The pattern has more than {most} characters; list the items instead.")
            }
            Self::Syntax { problem, place } => {
                write!(f, "The pattern cannot be read at its character {place}: {problem}.")
            }
            Self::Unsupported => f.write_str(
                "The pattern has a word boundary or another condition that cannot be counted; \
                 write the texts without it, or with (?-u:\\b) for \\b.",
            ),
            Self::TooLarge => f.write_str(
                "The pattern needs too large an automaton; take smaller numbers of repetitions, \
                 or a shorter greatest length.",
            ),
            Self::NotNormal(character) => write!(
                f,
                "The pattern takes characters that a cell's normal form changes or joins with \
                 others, such as U+{:04X}; write those that you mean, as in [a-z] for ., or turn \
                 Unicode off, as in (?-u:\\w) and (?i-u:a).",
                u32::from(*character),
            ),
            Self::AllDigits => f.write_str(
                "The pattern takes the digits of all scripts; write [0-9] or (?-u:\\d) for \\d.",
            ),
            Self::EmptyText => f.write_str(
                "The pattern matches the empty text, which is no item; ask for one character or \
                 more, as by + in place of *.",
            ),
            Self::BlankStart => f.write_str(
                "The pattern matches texts that begin with a space or what shows nothing, which \
                 cells do not count; begin it with another character.",
            ),
            Self::BlankEnd => f.write_str(
                "The pattern matches texts that end with a space or what shows nothing, which \
                 cells do not count; end it with another character.",
            ),
            Self::Endless => f.write_str(
                "The pattern matches texts of any length; give the greatest length in characters \
                 (max_length=, --max-length).",
            ),
            Self::Empty => f.write_str("The pattern matches no text; write one that does."),
            Self::TooMany => f.write_str(
                "The pattern matches more than 10^4000 texts; take a shorter greatest length.",
            ),
        }
    }
}
