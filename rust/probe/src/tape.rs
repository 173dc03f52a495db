//! Walk every tape of random bits, as `tests/checking/walks.py` does for the reference.

use std::collections::BTreeMap;
use std::convert::Infallible;

use topgap_kernel::bit_source::{BitSource, Cipher};

/// Given bits, read from the first to the last.
#[derive(Clone)]
pub struct Tape {
    bits: u64,
    length: u32,
    read: u32,
    width: u32,
}

/// So many bits were asked for beyond the tape's end.
pub struct Missing(u32);

impl BitSource for Tape {
    type Stop = Missing;

    fn width(&self) -> u32 {
        self.width
    }

    fn bits(&mut self, count: u32) -> Result<u64, Missing> {
        let left = self.length - self.read;
        if count > left {
            return Err(Missing(count - left));
        }
        self.read += count;
        let mask = if count == 64 { u64::MAX } else { (1 << count) - 1 };
        Ok((self.bits >> (left - count)) & mask)
    }
}

/// Given words of 64 bits, one after the other.
pub struct Words {
    words: Vec<u64>,
    read: usize,
}

impl Words {
    /// These words.
    #[must_use]
    pub fn new(words: Vec<u64>) -> Self {
        Self { words, read: 0 }
    }

    /// How many words have been read.
    #[must_use]
    pub fn read(&self) -> usize {
        self.read
    }
}

impl BitSource for Words {
    type Stop = Missing;

    fn width(&self) -> u32 {
        64
    }

    fn bits(&mut self, count: u32) -> Result<u64, Missing> {
        assert_eq!(count, 64, "only whole words are given");
        self.read += 1;
        self.words.get(self.read - 1).copied().ok_or(Missing(64))
    }
}

/// The bits that a release of a user draws from, and how many of them were asked for.
pub struct Counted {
    stream: Cipher<fn() -> Result<(), Infallible>>,
    asked: u64,
}

impl Counted {
    /// With a key of its own.
    ///
    /// # Panics
    /// When the operating system has no randomness to give.
    #[must_use]
    pub fn fresh() -> Self {
        let go_on: fn() -> _ = || Ok(());
        Self { stream: Cipher::fresh(go_on).expect("a random key"), asked: 0 }
    }

    /// How many bits have been asked for.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.asked
    }
}

impl BitSource for Counted {
    type Stop = Infallible;

    fn width(&self) -> u32 {
        self.stream.width()
    }

    #[inline]
    fn bits(&mut self, count: u32) -> Result<u64, Infallible> {
        self.asked += u64::from(count);
        self.stream.bits(count)
    }
}

/// The mass of each outcome, in units of 2^−depth; what is missing of 2^depth was not walked.
pub fn walk(
    width: u32,
    depth: u32,
    program: impl Fn(&mut Tape) -> Result<String, Missing>,
) -> BTreeMap<String, u64> {
    let mut masses = BTreeMap::new();
    let mut unfinished = vec![(0_u64, 0_u32)];
    while let Some((bits, length)) = unfinished.pop() {
        let mut tape = Tape { bits, length, read: 0, width };
        match program(&mut tape) {
            Ok(outcome) => *masses.entry(outcome).or_insert(0) += 1 << (depth - length),
            Err(Missing(missing)) if length + missing <= depth => {
                let words = 0..1_u64 << missing;
                unfinished.extend(words.map(|word| (bits << missing | word, length + missing)));
            }
            Err(Missing(_)) => {}
        }
    }
    masses
}
