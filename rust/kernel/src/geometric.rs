//! Exact geometric noise: real exponential noise, rounded down to whole ticks.

use num_bigint::BigUint;

use crate::bit_source::BitSource;
use crate::enclosures::{Ratio, exp_minus};
use crate::quantities::{GridSteps, TickCount};
use crate::rate::Rate;

/// Draw noise of this rate, given that the first `zeros` bits of the uniform number U
/// that it is made from are 0.
///
/// The noise on the grid is the g with e^−(rate·(g+1)) ≤ U < e^−(rate·g). U is looked at one word
/// at a time; nothing is decided but by enclosures that leave no doubt.
///
/// # Errors
/// When the source ends.
#[inline(always)]
pub fn geometric<S: BitSource>(
    rate: &Rate,
    zeros: u32,
    source: &mut S,
) -> Result<TickCount, S::Stop> {
    let grid_steps = on_grid(rate, u64::from(zeros), source)?;
    if rate.digits() == 0 {
        return Ok(grid_steps.to_ticks(0, 0));
    }
    Ok(grid_steps.to_ticks(rate.digits(), digit(rate, source)?))
}

#[inline(always)]
fn on_grid<S: BitSource>(rate: &Rate, zeros: u64, source: &mut S) -> Result<GridSteps, S::Stop> {
    let width = source.width();
    let mut length = zeros + u64::from(width);
    let mut word = source.bits(width)?;
    while word == 0 {
        word = source.bits(width)?;
        length += u64::from(width);
    }
    // The word's bits begin after those that 64 has more than the width.
    let leading = word.leading_zeros() - (u64::BITS - width);
    let leading_zeros = length - u64::from(width - leading);
    match rate.bracket(leading_zeros, word << word.leading_zeros(), width - leading) {
        Some((first, last)) if first == last => Ok(GridSteps(u128::from(first))),
        bracket => undecided(rate, word, length, bracket, source),
    }
}

/// The slow step of `on_grid`: halve the bracket, if there is one, by exact comparisons.
///
/// Of the uniform number, `length` bits are known; they end with `word`.
#[cold]
fn undecided<S: BitSource>(
    rate: &Rate,
    word: u64,
    length: u64,
    bracket: Option<(u64, u64)>,
    source: &mut S,
) -> Result<GridSteps, S::Stop> {
    let mut uniform = Uniform { prefix: BigUint::from(word), length };
    let mut is_reached =
        |g: u128| uniform.is_below_exp_minus(&rate.of_grid_steps(GridSteps(g)), source);
    let (mut reached, mut missed) = if let Some((first, last)) = bracket {
        (u128::from(first), u128::from(last) + 1)
    } else {
        let mut missed = 1;
        while is_reached(missed)? {
            missed *= 2;
        }
        (missed / 2, missed)
    };
    while missed - reached > 1 {
        let middle = reached + (missed - reached) / 2;
        if is_reached(middle)? {
            reached = middle;
        } else {
            missed = middle;
        }
    }
    Ok(GridSteps(reached))
}

/// The ticks of the noise below its grid steps of 2^digits ticks: r with a probability proportional
/// to e^−(ρr).
///
/// A uniform r is accepted with probability e^−(ρr), which is more than 1 − 2^−grid.
fn digit<S: BitSource>(rate: &Rate, source: &mut S) -> Result<u64, S::Stop> {
    let width = source.width();
    loop {
        let r = source.bits(rate.digits())?;
        let word = source.bits(width)?;
        // U < (word + 1)/2^width ≤ 1 − 2^−grid
        let surely =
            (u128::from(word) + 1) << rate.grid() <= ((1_u128 << rate.grid()) - 1) << width;
        let mut uniform = Uniform { prefix: BigUint::from(word), length: u64::from(width) };
        if surely || uniform.is_below_exp_minus(&rate.of_ticks(r), source)? {
            return Ok(r);
        }
    }
}

/// A uniform number in [0, 1) of which the first bits have been drawn.
struct Uniform {
    prefix: BigUint,
    length: u64,
}

impl Uniform {
    /// Whether this number is below e^−x. Draw more bits for as long as that is open.
    fn is_below_exp_minus<S: BitSource>(
        &mut self,
        x: &Ratio,
        source: &mut S,
    ) -> Result<bool, S::Stop> {
        const GUARD_BITS: u64 = 8;
        loop {
            let bound = exp_minus(x, self.length + GUARD_BITS);
            if (&self.prefix + 1_u8) << GUARD_BITS <= bound.low {
                return Ok(true);
            }
            if &self.prefix << GUARD_BITS >= bound.high {
                return Ok(false);
            }
            let width = source.width();
            self.prefix = (&self.prefix << width) + source.bits(width)?;
            self.length += u64::from(width);
        }
    }
}
