//! What the kernel draws at random. Each kind of draw has a law of its own, and a test of its own.

use crate::bit_source::BitSource;
use crate::geometric::geometric;
use crate::laplace::laplace;
use crate::quantities::{TickCount, Ticks};
use crate::ranks::Rank;
use crate::rate::Rate;
use crate::shared_coins::first_head;

/// Draws that are independent of one another.
pub trait Sampler {
    /// Why there are no more draws.
    type Stop;

    /// Noise of this rate, given that the first `zeros` bits of its uniform number are 0.
    ///
    /// # Errors
    /// When there are no more draws.
    fn geometric(&mut self, rate: &Rate, zeros: u32) -> Result<TickCount, Self::Stop>;

    /// Laplace noise of this rate, given that the first `zeros` bits of its uniform number are 0.
    ///
    /// # Errors
    /// When there are no more draws.
    fn laplace(&mut self, rate: &Rate, zeros: u32) -> Result<Ticks, Self::Stop>;

    /// The first of the items `from..end` whose coin of probability 2^−`leading_zeros` shows heads.
    ///
    /// # Errors
    /// When there are no more draws.
    fn first_head(
        &mut self,
        from: u64,
        end: u64,
        leading_zeros: u32,
    ) -> Result<Option<u64>, Self::Stop>;

    /// The first of the ranks `from..end` of a run whose coin of probability 2^−`leading_zeros` shows
    /// heads.
    ///
    /// # Errors
    /// When there are no more draws.
    fn first_head_of_run(
        &mut self,
        from: Rank,
        end: &Rank,
        leading_zeros: u32,
    ) -> Result<Option<Rank>, Self::Stop>;

    /// Whether the next `count` bits are all 0.
    ///
    /// # Errors
    /// When there are no more draws.
    fn all_zero(&mut self, count: u32) -> Result<bool, Self::Stop>;

    /// A uniform number below `bound`, which is at least 1.
    ///
    /// # Errors
    /// When there are no more draws.
    fn below(&mut self, bound: u64) -> Result<u64, Self::Stop>;

    /// Called now and then on long work, which ends if this is an error.
    ///
    /// # Errors
    /// When the work is to end, such as by Ctrl-C.
    fn checkpoint(&mut self) -> Result<(), Self::Stop>;
}

impl<S: BitSource> Sampler for S {
    type Stop = S::Stop;

    #[inline(always)]
    fn geometric(&mut self, rate: &Rate, zeros: u32) -> Result<TickCount, S::Stop> {
        geometric(rate, zeros, self)
    }

    #[inline(always)]
    fn laplace(&mut self, rate: &Rate, zeros: u32) -> Result<Ticks, S::Stop> {
        laplace(rate, zeros, self)
    }

    #[inline(always)]
    fn first_head(
        &mut self,
        from: u64,
        end: u64,
        leading_zeros: u32,
    ) -> Result<Option<u64>, S::Stop> {
        first_head(from, &end, leading_zeros, self)
    }

    fn first_head_of_run(
        &mut self,
        from: Rank,
        end: &Rank,
        leading_zeros: u32,
    ) -> Result<Option<Rank>, S::Stop> {
        first_head(from, end, leading_zeros, self)
    }

    #[inline(always)]
    fn all_zero(&mut self, count: u32) -> Result<bool, S::Stop> {
        Ok(self.bits(count)? == 0)
    }

    /// Bits are drawn until they are below.
    #[inline(always)]
    fn below(&mut self, bound: u64) -> Result<u64, S::Stop> {
        let count = u64::BITS - (bound - 1).leading_zeros();
        loop {
            let number = self.bits(count)?;
            if number < bound {
                return Ok(number);
            }
        }
    }

    fn checkpoint(&mut self) -> Result<(), S::Stop> {
        BitSource::checkpoint(self)
    }
}
