//! A sampler that draws from a tape and records its draws.

use std::convert::Infallible;

use topgap_kernel::quantities::{TickCount, Ticks};
use topgap_kernel::ranks::Rank;
use topgap_kernel::rate::Rate;
use topgap_kernel::sampler::Sampler;

use crate::tape::Tape;

/// A tape, and what was made of it.
pub struct Recorded<'a> {
    tape: Tape<'a>,
    /// The noise, in the order in which it was drawn.
    pub noise: Vec<TickCount>,
    /// The same of Laplace noise.
    pub laplace: Vec<Ticks>,
    /// The uniform numbers of the shuffle.
    pub shuffled: Vec<u64>,
    /// How often anything else was drawn.
    pub others: usize,
}

impl<'a> Recorded<'a> {
    /// Sampler from this tape.
    #[must_use]
    pub fn new(tape: Tape<'a>) -> Self {
        Self { tape, noise: Vec::new(), laplace: Vec::new(), shuffled: Vec::new(), others: 0 }
    }

    /// The largest noise that was drawn.
    ///
    /// # Panics
    /// When it has more than 127 bits.
    #[must_use]
    pub fn most_noise(&self) -> Ticks {
        self.noise.iter().copied().max().unwrap_or_default().signed()
    }
}

impl Sampler for Recorded<'_> {
    type Stop = Infallible;

    fn geometric(&mut self, rate: &Rate, zeros: u32) -> Result<TickCount, Infallible> {
        let noise = self.tape.geometric(rate, zeros)?;
        self.noise.push(noise);
        Ok(noise)
    }

    fn laplace(&mut self, rate: &Rate, zeros: u32) -> Result<Ticks, Infallible> {
        let noise = self.tape.laplace(rate, zeros)?;
        self.laplace.push(noise);
        Ok(noise)
    }

    fn first_head(
        &mut self,
        from: u64,
        end: u64,
        leading_zeros: u32,
    ) -> Result<Option<u64>, Infallible> {
        self.others += usize::from(from < end);
        let head = self.tape.first_head(from, end, leading_zeros)?;
        assert!(head.is_none_or(|head| (from..end).contains(&head)), "a head is one of the items");
        Ok(head)
    }

    fn first_head_of_run(
        &mut self,
        from: Rank,
        end: &Rank,
        leading_zeros: u32,
    ) -> Result<Option<Rank>, Infallible> {
        self.others += usize::from(from < *end);
        let first = from.clone();
        let head = self.tape.first_head_of_run(from, end, leading_zeros)?;
        let is_of_run = |head: &Rank| (&first..end).contains(&head);
        assert!(head.as_ref().is_none_or(is_of_run), "a head is one of the run");
        Ok(head)
    }

    fn all_zero(&mut self, count: u32) -> Result<bool, Infallible> {
        self.others += 1;
        self.tape.all_zero(count)
    }

    fn below(&mut self, bound: u64) -> Result<u64, Infallible> {
        let number = self.tape.below(bound)?;
        assert!(number < bound, "a number below the bound");
        self.shuffled.push(number);
        Ok(number)
    }

    fn checkpoint(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
