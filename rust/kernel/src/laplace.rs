//! Exact discrete Laplace noise: symmetric, in whole values.

use crate::bit_source::BitSource;
use crate::geometric::geometric;
use crate::rate::Rate;

/// Draw x, in values, with a chance proportional to e^−(rate·|x|).
///
/// It is the difference of two independent geometric numbers. With t = e^−rate, that is x ≥ 0 with
/// chance Σ (1 − t)·t^(x+h)·(1 − t)·t^h over all h ≥ 0, which is (1 − t)/(1 + t)·t^x, and −x with
/// the same chance. No sign is drawn, so none can count zero twice.
///
/// # Errors
/// When the source ends.
///
/// # Panics
/// When a geometric number has more than 127 bits.
pub fn laplace<S: BitSource>(rate: &Rate, source: &mut S) -> Result<i128, S::Stop> {
    let up = signed(geometric(rate, 0, source)?);
    let down = signed(geometric(rate, 0, source)?);
    // Neither is negative, so the difference fits.
    Ok(up - down)
}

fn signed(noise: u128) -> i128 {
    i128::try_from(noise).expect("noise of fewer than 128 bits")
}
