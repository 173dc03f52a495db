//! Exact discrete Laplace noise: symmetric, in whole ticks.

use crate::bit_source::BitSource;
use crate::geometric::geometric;
use crate::quantities::Ticks;
use crate::rate::Rate;

/// Draw x with a probability proportional to e^−(rate·|x|), given that the first `zeros` bits of the
/// uniform number U that it is made from are 0.
///
/// It is the difference of two independent geometric numbers, the first of which is made from U.
/// With t = e^−rate, that is x ≥ 0 with probability Σ (1 − t)·t^(x+h)·(1 − t)·t^h over all h ≥ 0,
/// which is (1 − t)/(1 + t)·t^x, and −x with the same probability. No sign is drawn, so none can
/// count zero twice.
///
/// # Errors
/// When the source ends.
///
/// # Panics
/// When a geometric number has more than 127 bits.
#[inline]
pub fn laplace<S: BitSource>(rate: &Rate, zeros: u32, source: &mut S) -> Result<Ticks, S::Stop> {
    let up = geometric(rate, zeros, source)?.signed();
    let down = geometric(rate, 0, source)?.signed();
    // Neither is negative, so the difference fits.
    Ok(up - down)
}
