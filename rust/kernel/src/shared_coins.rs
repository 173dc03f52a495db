//! Many unlikely coins at once: which of a run of items show heads, when each does with the same
//! probability 2^−b? The cost is about one draw for each head, however many items lie between.

use crate::bit_source::BitSource;

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
pub fn first_head<S: BitSource>(
    mut from: u64,
    end: u64,
    leading_zeros: u32,
    source: &mut S,
) -> Result<Option<u64>, S::Stop> {
    while from < end {
        let items = (end - from).min(1 << leading_zeros);
        let v = source.bits(leading_zeros)?;
        if v < items && all_tails(v, leading_zeros, source)? {
            return Ok(Some(from + v));
        }
        from += items;
    }
    Ok(None)
}

/// Whether `items` coins of probability 2^−`leading_zeros` all show tails: true with probability (1 − 2^−b)^items.
///
/// Draw numbers of b bits for as long as each is below the one before, the first below `items`.
/// A run of at least d numbers has the probability C(items, d)·2^(−bd), so one of even length has
/// 1 − C(items, 1)·2^−b + C(items, 2)·2^−2b − … = (1 − 2^−b)^items.
#[inline]
fn all_tails<S: BitSource>(
    items: u64,
    leading_zeros: u32,
    source: &mut S,
) -> Result<bool, S::Stop> {
    let mut even = true;
    let mut last = items;
    loop {
        let v = source.bits(leading_zeros)?;
        if v >= last {
            return Ok(even);
        }
        last = v;
        even = !even;
    }
}
