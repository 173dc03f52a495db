//! Ranks of the items of a run: integers of any size, drawn no further than is needed.

use num_bigint::BigUint;

use crate::bit_source::BitSource;
use crate::shared_coins::Position;

/// A rank: words of 64 bits, the highest first. Ranks that are compared have equally many.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank(Vec<u64>);

impl Rank {
    /// A number as a rank with room for a sum of two numbers of so many bits.
    ///
    /// # Panics
    /// When the number itself has more bits.
    #[must_use]
    pub fn new(number: &BigUint, bits: u32) -> Self {
        assert!(number.bits() <= u64::from(bits), "there is room for the number");
        let mut words = vec![0; bits as usize / 64 + 1];
        words
            .iter_mut()
            .rev()
            .zip(number.iter_u64_digits())
            .for_each(|(word, digit)| *word = digit);
        Self(words)
    }

    /// The rank that follows this one.
    #[must_use]
    pub fn next(mut self) -> Self {
        self.add(1, 0);
        self
    }

    /// Its words, the highest first.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.0
    }

    /// Add a number times 2^`log`.
    #[expect(clippy::cast_possible_truncation, reason = "the rest is carried")]
    fn add(&mut self, number: u64, log: u32) {
        let mut rest = u128::from(number) << (log % u64::BITS);
        for word in self.0.iter_mut().rev().skip((log / u64::BITS) as usize) {
            if rest == 0 {
                return;
            }
            rest += u128::from(*word);
            *word = rest as u64;
            rest >>= u64::BITS;
        }
        assert!(rest == 0, "there is room for the sum");
    }
}

/// The number that words stand for, the highest first.
#[must_use]
pub fn to_number(words: &[u64]) -> BigUint {
    words.iter().fold(BigUint::ZERO, |number, word| (number << u64::BITS) + word)
}

/// A uniform number, in words of the bit source. Words are drawn when they are looked at, the highest
/// first.
pub struct UniformWords {
    highest: u64,
    /// Those below it that are drawn.
    below: Vec<u64>,
    /// How many stand below it.
    count_below: u32,
}

impl UniformWords {
    /// The word that has so many above it, all of which are drawn.
    fn word<S: BitSource>(&mut self, above: u32, source: &mut S) -> Result<u64, S::Stop> {
        let Some(place) = above.checked_sub(1) else {
            return Ok(self.highest);
        };
        if self.below.len() == place as usize {
            self.below.push(source.bits(source.width())?);
        }
        Ok(self.below[place as usize])
    }
}

impl Position for Rank {
    type Uniform = UniformWords;

    fn draw<S: BitSource>(bits: u32, source: &mut S) -> Result<UniformWords, S::Stop> {
        let count_below = bits.saturating_sub(1) / source.width();
        let highest = source.bits(bits - count_below * source.width())?;
        Ok(UniformWords { highest, below: Vec::new(), count_below })
    }

    fn is_less<S: BitSource>(
        one: &mut UniformWords,
        other: &mut UniformWords,
        source: &mut S,
    ) -> Result<bool, S::Stop> {
        for above in 0..=one.count_below {
            let (word, others) = (one.word(above, source)?, other.word(above, source)?);
            if word != others {
                return Ok(word < others);
            }
        }
        Ok(false)
    }

    fn advance<S: BitSource>(
        &mut self,
        mut by: UniformWords,
        source: &mut S,
    ) -> Result<(), S::Stop> {
        for above in 0..=by.count_below {
            let word = by.word(above, source)?;
            self.add(word, (by.count_below - above) * source.width());
        }
        Ok(())
    }

    fn pass(&mut self, log_items: u32) {
        self.add(1, log_items);
    }
}
