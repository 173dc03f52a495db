//! Many unlikely coins at once: which of a row of items show heads, when each does with the same
//! probability 2^−b? The cost is about one draw for each head, however many items lie between.

use num_bigint::BigUint;

use crate::bit_source::BitSource;

/// Where an item stands in a row: a number of 64 bits, or one of any size.
pub trait Position: Clone + Ord {
    /// A uniform number of `count` bits.
    ///
    /// # Errors
    /// When the source ends.
    fn draw<S: BitSource>(count: u32, source: &mut S) -> Result<Self, S::Stop>;

    /// How many items there are from this one to `end`; 2^`most_log` if there are more.
    #[must_use]
    fn stretch(&self, end: &Self, most_log: u32) -> Self;

    /// Go so many items further.
    fn advance(&mut self, by: &Self);
}

impl Position for u64 {
    #[inline(always)]
    fn draw<S: BitSource>(count: u32, source: &mut S) -> Result<Self, S::Stop> {
        source.bits(count)
    }

    #[inline(always)]
    fn stretch(&self, end: &Self, most_log: u32) -> Self {
        (end - self).min(1 << most_log)
    }

    #[inline(always)]
    fn advance(&mut self, by: &Self) {
        *self += by;
    }
}

impl Position for BigUint {
    #[expect(clippy::cast_possible_truncation, reason = "a word is cut in two")]
    fn draw<S: BitSource>(count: u32, source: &mut S) -> Result<Self, S::Stop> {
        // Digits of 32 bits, two from each word.
        let mut digits = Vec::with_capacity(count.div_ceil(u32::BITS) as usize + 1);
        let mut left = count;
        while left > 0 {
            let some = left.min(u64::BITS);
            let word = source.bits(some)?;
            digits.extend([word as u32, (word >> u32::BITS) as u32]);
            left -= some;
        }
        Ok(Self::new(digits))
    }

    fn stretch(&self, end: &Self, most_log: u32) -> Self {
        let items = end - self;
        // A number has more than b bits if it is 2^b or more.
        if items.bits() > u64::from(most_log) { Self::from(1_u8) << most_log } else { items }
    }

    fn advance(&mut self, by: &Self) {
        *self += by;
    }
}

/// The first of the items `from..end` whose coin of probability 2^−`leading_zeros` shows heads, if any does.
///
/// Take at most 2^b items at a time and draw v of b bits. The v-th of them is proposed if there is
/// one, and it is the first head if none of the v before it shows heads: this has the probability
/// 2^−b·(1 − 2^−b)^v, as it must. Where nothing is proposed or the proposal fails, none of the
/// items shows heads; the probabilities of the others leave exactly (1 − 2^−b)^items for that.
///
/// # Errors
/// When the source ends.
#[inline]
pub fn first_head<P: Position, S: BitSource>(
    mut from: P,
    end: &P,
    leading_zeros: u32,
    source: &mut S,
) -> Result<Option<P>, S::Stop> {
    while from < *end {
        let items = from.stretch(end, leading_zeros);
        let v = P::draw(leading_zeros, source)?;
        if v < items && all_tails(&v, leading_zeros, source)? {
            from.advance(&v);
            return Ok(Some(from));
        }
        from.advance(&items);
    }
    Ok(None)
}

/// Whether `items` coins of probability 2^−`leading_zeros` all show tails: true with probability (1 − 2^−b)^items.
///
/// Draw numbers of b bits for as long as each is below the one before, the first below `items`.
/// A run of at least d numbers has the probability C(items, d)·2^(−bd), so one of even length has
/// 1 − C(items, 1)·2^−b + C(items, 2)·2^−2b − … = (1 − 2^−b)^items.
#[inline]
fn all_tails<P: Position, S: BitSource>(
    items: &P,
    leading_zeros: u32,
    source: &mut S,
) -> Result<bool, S::Stop> {
    let mut even = true;
    let mut last = items.clone();
    loop {
        let v = P::draw(leading_zeros, source)?;
        if v >= last {
            return Ok(even);
        }
        last = v;
        even = !even;
    }
}
