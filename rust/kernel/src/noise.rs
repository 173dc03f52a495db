//! The noise of the answers: exponential, or discrete Laplace.
//!
//! Either is found by the same threshold and the same coins: a large uniform number keeps an item
//! below the threshold, whichever of the two is drawn.

use crate::quantities::{TickCount, Ticks};
use crate::rate::Rate;
use crate::sampler::Sampler;

/// A law that each answer's noise has, independently.
///
/// Noise is made from a uniform number U. Noise of at least `ticks_at_leading_zeros(b)` ticks needs
/// `b` leading zero bits of U.
pub trait Noise: Copy + Sync {
    /// Whether it is never negative: then an item reaches every threshold up to its answer.
    const IS_NEVER_NEGATIVE: bool;

    /// How fast it falls.
    fn rate(&self) -> &Rate;

    /// Draw it, given that the first `zeros` bits of U are 0.
    ///
    /// # Errors
    /// When there are no more draws.
    fn draw<S: Sampler>(self, zeros: u32, sampler: &mut S) -> Result<Ticks, S::Stop>;

    /// Draw it given that it is less than `span`, for an item whose coin of probability 2^−`zeros`
    /// showed heads. A height below `span` is asked for that no noise reaches without so many zeros.
    ///
    /// Items whose coins show tails do not reach it. Coin included, each number from that height on has
    /// the probability that noise has it, given that it is less than `span`.
    ///
    /// # Errors
    /// When there are no more draws.
    fn draw_below<S: Sampler>(
        self,
        span: Ticks,
        zeros: u32,
        sampler: &mut S,
    ) -> Result<Ticks, S::Stop>;
}

/// Real exponential noise, rounded down to ticks: a geometric number.
#[derive(Clone, Copy)]
pub struct Exponential<'a>(pub &'a Rate);

impl Noise for Exponential<'_> {
    const IS_NEVER_NEGATIVE: bool = true;

    #[inline(always)]
    fn rate(&self) -> &Rate {
        self.0
    }

    #[inline(always)]
    fn draw<S: Sampler>(self, zeros: u32, sampler: &mut S) -> Result<Ticks, S::Stop> {
        Ok(sampler.geometric(self.0, zeros)?.signed())
    }

    /// A geometric number that is less than `span` has the law of a geometric number modulo `span`.
    /// That reaches a height only if the number itself does.
    #[inline(always)]
    fn draw_below<S: Sampler>(
        self,
        span: Ticks,
        zeros: u32,
        sampler: &mut S,
    ) -> Result<Ticks, S::Stop> {
        let noise = sampler.geometric(self.0, zeros)?;
        Ok((noise % TickCount(span.0.cast_unsigned())).signed())
    }
}

/// Discrete Laplace noise: x ticks with a probability proportional to e^−(rate·|x|).
///
/// It is the difference of two geometric numbers, the first of which is made from U.
#[derive(Clone, Copy)]
pub struct Laplace<'a>(pub &'a Rate);

impl Noise for Laplace<'_> {
    const IS_NEVER_NEGATIVE: bool = false;

    #[inline(always)]
    fn rate(&self) -> &Rate {
        self.0
    }

    #[inline(always)]
    fn draw<S: Sampler>(self, zeros: u32, sampler: &mut S) -> Result<Ticks, S::Stop> {
        sampler.laplace(self.0, zeros)
    }

    /// If `span` is positive, draw until the noise is less. It is so at least every second time. An
    /// item whose coin shows tails is below `span` at the first draw, and one that does not stay
    /// below is drawn anew as a whole, without its coin.
    ///
    /// If not, the noise is negative. Its size is memoryless: beyond −`span` it is more by one and a
    /// geometric number.
    #[inline(always)]
    fn draw_below<S: Sampler>(
        self,
        span: Ticks,
        zeros: u32,
        sampler: &mut S,
    ) -> Result<Ticks, S::Stop> {
        if span <= Ticks(0) {
            let beyond = sampler.geometric(self.0, 0)?.signed();
            return Ok(span - beyond - Ticks(1));
        }
        let mut noise = sampler.laplace(self.0, zeros)?;
        while noise >= span {
            noise = sampler.laplace(self.0, 0)?;
        }
        Ok(noise)
    }
}
