//! The fast step: −log₂ of a number, in 64-bit integers, with a proven error.

use std::array;
use std::sync::LazyLock;

use crate::enclosures::{Enclosure, ln};

/// Bits behind the point of a result.
pub const FRACTION_BITS: u32 = 56;

/// A result is less than this many units of 2^−`FRACTION_BITS` away from the truth.
pub const MAX_ERROR: u64 = 32;

/// Segments of [1, 2), each with a short reciprocal of its middle.
const SEGMENTS: usize = 512;

/// Terms of the series of a logarithm.
const DEGREE: usize = 4;

struct Segment {
    /// About 2^16 divided by the segment's middle.
    reciprocal: u64,
    /// 1 + log₂(reciprocal/2^16) in units of 2^−`FRACTION_BITS`, rounded down.
    height: i64,
}

/// The constants of the fast step, made once from their enclosures.
pub struct FastLog2 {
    segments: [Segment; SEGMENTS],
    /// (−1)^(j+1)·log₂(e)/j for j = 1…4, in units of 2^−62, less than one unit from the truth.
    coefficients: [i64; DEGREE],
}

static SHARED: LazyLock<FastLog2> = LazyLock::new(FastLog2::new);

impl FastLog2 {
    /// The one that all share.
    #[must_use]
    pub fn shared() -> &'static Self {
        &SHARED
    }

    fn new() -> Self {
        // Precise to about 2^−124, so what is divided and rounded down here is right to one unit.
        let ln2 = ln(2, 1, 124).low;
        let in_units = |number: Enclosure, unit: u32| {
            i64::try_from((number.low << unit) / &ln2).expect("below 2 in units of at most 2^-62")
        };
        Self {
            segments: array::from_fn(|i| {
                let twice_middle = 2 * (SEGMENTS + i) as u64 + 1;
                let reciprocal = ((1 << 27) / twice_middle + 1) >> 1;
                // 1 + log₂(reciprocal/2^16) = log₂(reciprocal/2^15)
                let height = in_units(ln(reciprocal, 1 << 15, 124), FRACTION_BITS);
                Segment { reciprocal, height }
            }),
            coefficients: array::from_fn(|i| {
                let j = i as u64 + 1;
                let size = (num_bigint::BigUint::from(1_u8) << (124_u32 + 62)) / &ln2 / j;
                let size = i64::try_from(size).expect("below 2 in units of 2^-62");
                if j % 2 == 1 { size } else { -size }
            }),
        }
    }

    /// −log₂(y/2^64) in units of 2^−`FRACTION_BITS`, for y ≥ 2^63; less than `MAX_ERROR` off.
    ///
    /// y/2^63 lies in the segment i = its next nine bits. With R the reciprocal,
    /// y/2^63·R/2^16 = 1 + r, where |r| < 2^−9.9: the segment's middle is at most 1/1024 of it away,
    /// and R is rounded to 1 in 2^16. So −log₂(y/2^64) = height − log₂(1 + r), and log₂(1 + r) is
    /// the polynomial r·(c₁ + r·c₂ + r²·(c₃ + r·c₄)) up to |r|^5/5·log₂e·(1 + 2^−9) < 2^−51.2.
    ///
    /// In units of 2^−56 the errors are: the series, less than 28; r rounded down to a multiple of
    /// 2^−64, less than 2^−7; coefficients, the square and products rounded down to multiples of
    /// 2^−62 or 2^−64, less than five of 2^−62 in all, times |r|, less than 2^−13; the last product
    /// and the height rounded down, less than 1 each. `MAX_ERROR` is more than their sum.
    #[inline]
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "what is left after the shift is small")]
    pub fn minus_log2(&self, y: u64) -> i64 {
        let segment = &self.segments[(y >> 54) as usize & (SEGMENTS - 1)];
        let product = u128::from(y).wrapping_mul(u128::from(segment.reciprocal)).cast_signed();
        let r = (product.wrapping_sub(1 << 79) >> 15) as i64;
        let [c1, c2, c3, c4] = self.coefficients;
        let square = high_product(r, r);
        let sum = c3.wrapping_add(high_product(c4, r));
        let sum = c1.wrapping_add(high_product(c2, r)).wrapping_add(high_product(sum, square));
        segment.height.wrapping_sub(high_product(sum, r) >> 6)
    }
}

/// a·b/2^64, rounded down: the upper half of a product that 128 bits always hold.
#[inline]
fn high_product(a: i64, b: i64) -> i64 {
    (i128::from(a).wrapping_mul(i128::from(b)) >> 64) as i64
}
