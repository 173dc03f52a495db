//! The fast logarithm against the proven one.

use num_bigint::{BigInt, BigUint};
use topgap_kernel::enclosures::ln;
use topgap_kernel::fast_log2::{FRACTION_BITS, FastLog2, MAX_ERROR};

use crate::Checked;
use crate::inputs::Inputs;

/// Compare −log₂(y/2^64) with the same by enclosures, for some y ≥ 2^63.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    for _ in 0..given.within(1, 4)? {
        let y = given.word()? | 1 << 63;
        let fast = BigInt::from(FastLog2::shared().minus_log2(y)) << 64;
        // −log₂(y/2^64) = 1 − ln(y/2^63)/ln 2, here in units of 2^−(FRACTION_BITS + 64). Without its last
        // bit, y is less by at most 2^−63 of itself, which is less than 2^−6 units of 2^−FRACTION_BITS.
        let ln2 = BigInt::from(ln(2, 1, 200).low);
        let of_y = BigInt::from(ln(y >> 1, 1 << 62, 200).low);
        let truth: BigInt =
            (BigInt::from(1) << (FRACTION_BITS + 64)) - (of_y << (FRACTION_BITS + 64)) / ln2;
        let error: BigInt = fast - truth;
        assert!(
            *error.magnitude() < BigUint::from(MAX_ERROR) << 64,
            "the logarithm is as near as it says"
        );
    }
    Ok(())
}
