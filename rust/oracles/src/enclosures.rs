//! Enclosures of e^−x and of logarithms: narrow, in accord with finer ones and with one another.

use num_bigint::BigUint;
use topgap_kernel::enclosures::{Enclosure, Ratio, exp_minus, ln};

use crate::Checked;
use crate::inputs::Inputs;

/// Enclose numbers, and hold the enclosures against what they enclose.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    let x = given.ratio()?;
    let bits = u64::from(given.within(1, 300)?);
    let more = u64::from(given.within(0, 200)?);
    let of_x = exp_minus(&x, bits);
    is_narrow(&of_x);
    agree(&of_x, &exp_minus(&x, bits + more), more);
    // (e^−x)² = e^−2x
    let of_twice = exp_minus(&x.times(2), 2 * bits);
    assert!(of_x.low.pow(2) <= of_twice.high, "the square of a lower bound is one");
    assert!(of_x.high.pow(2) >= of_twice.low, "the square of an upper bound is one");

    let d = given.word()? >> 2 | 1; // n + d has 64 bits, too
    let n = d + given.word()? % (d + 1);
    let of_ratio = ln(n, d, bits);
    is_narrow(&of_ratio);
    agree(&of_ratio, &ln(n, d, bits + more), more);
    // e^−ln(n/d) = d/n, and what is too small for a logarithm makes it too large.
    let one = BigUint::from(1_u8) << bits;
    let truth = (BigUint::from(d) << bits) / n;
    let of_low = exp_minus(&Ratio { numerator: of_ratio.low, denominator: one.clone() }, bits);
    assert!(of_low.high >= truth, "a lower bound of the logarithm is one");
    let of_high = exp_minus(&Ratio { numerator: of_ratio.high, denominator: one }, bits);
    assert!(of_high.low <= truth + 1_u8, "an upper bound of the logarithm is one");
    Ok(())
}

fn is_narrow(Enclosure { low, high }: &Enclosure) {
    assert!(low <= high, "the lower bound is not above the upper one");
    assert!(*high <= low + 2_u8, "the bounds are at most 2 apart");
}

/// Both enclose the same number, the second in units that are 2^−more of the first's.
fn agree(coarse: &Enclosure, fine: &Enclosure, more: u64) {
    assert!(&coarse.low << more <= fine.high, "a finer enclosure lies lower");
    assert!(&coarse.high << more >= fine.low, "a finer enclosure lies higher");
}
