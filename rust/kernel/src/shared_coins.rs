//! Many unlikely coins at once: which of a row of items show heads, when each does with the same
//! probability 2^−b? The cost is about one draw for each head, however many items lie between.

use crate::bit_source::BitSource;

/// Where an item stands in a row: a number of 64 bits, or one of any size.
pub trait Position: Ord {
    /// A uniform number of some bits, of which those may be drawn later that are not looked at.
    type Uniform;

    /// Draw a uniform number of so many bits.
    ///
    /// # Errors
    /// When the source ends.
    fn draw<S: BitSource>(bits: u32, source: &mut S) -> Result<Self::Uniform, S::Stop>;

    /// Whether one number is less than another of as many bits.
    ///
    /// # Errors
    /// When the source ends.
    fn is_less<S: BitSource>(
        one: &mut Self::Uniform,
        other: &mut Self::Uniform,
        source: &mut S,
    ) -> Result<bool, S::Stop>;

    /// Go so many items further.
    ///
    /// # Errors
    /// When the source ends.
    fn advance<S: BitSource>(&mut self, by: Self::Uniform, source: &mut S) -> Result<(), S::Stop>;

    /// Go 2^`log_items` items further.
    fn pass(&mut self, log_items: u32);
}

impl Position for u64 {
    type Uniform = u64;

    #[inline(always)]
    fn draw<S: BitSource>(bits: u32, source: &mut S) -> Result<u64, S::Stop> {
        source.bits(bits)
    }

    #[inline(always)]
    fn is_less<S: BitSource>(one: &mut u64, other: &mut u64, _: &mut S) -> Result<bool, S::Stop> {
        Ok(one < other)
    }

    #[inline(always)]
    fn advance<S: BitSource>(&mut self, by: u64, _: &mut S) -> Result<(), S::Stop> {
        *self += by;
        Ok(())
    }

    #[inline(always)]
    fn pass(&mut self, log_items: u32) {
        *self += 1 << log_items;
    }
}

/// The first of the items `from..end` whose coin of probability 2^−`leading_zeros` shows heads, if any does.
///
/// Take 2^b items at a time and draw v of b bits. The v-th of them is the first head if none of the v
/// before it shows heads: this has the probability 2^−b·(1 − 2^−b)^v, as it must. Otherwise none of
/// them shows heads; the probabilities of all v leave exactly (1 − 2^−b)^(2^b) for that. Items from
/// `end` on have coins, too, which have no influence.
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
        let mut v = P::draw(leading_zeros, source)?;
        if all_tails::<P, S>(&mut v, leading_zeros, source)? {
            from.advance(v, source)?;
            return Ok((from < *end).then_some(from));
        }
        from.pass(leading_zeros);
    }
    Ok(None)
}

/// Whether `items` coins of probability 2^−`leading_zeros` all show tails: true with probability (1 − 2^−b)^items.
///
/// Draw numbers of b bits for as long as each is below the one before, the first below `items`.
/// A row of at least d numbers has the probability C(items, d)·2^(−bd), so one of even length has
/// 1 − C(items, 1)·2^−b + C(items, 2)·2^−2b − … = (1 − 2^−b)^items.
#[inline]
fn all_tails<P: Position, S: BitSource>(
    items: &mut P::Uniform,
    leading_zeros: u32,
    source: &mut S,
) -> Result<bool, S::Stop> {
    let mut even = true;
    let mut last = P::draw(leading_zeros, source)?;
    let mut is_less = P::is_less(&mut last, items, source)?;
    while is_less {
        let mut v = P::draw(leading_zeros, source)?;
        is_less = P::is_less(&mut v, &mut last, source)?;
        last = v;
        even = !even;
    }
    Ok(even)
}
