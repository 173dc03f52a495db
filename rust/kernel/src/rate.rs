//! How fast the noise falls: the exact rate, and its enclosure in 64 bits.

use crate::enclosures::{Ratio, ln};
use crate::fast_log2::{FRACTION_BITS, FastLog2, MAX_ERROR};
use crate::quantities::{GridSteps, Ticks, TicksPerUnit};

/// Production's grid: where there is room for it, noise passes each grid step with a probability of
/// at least 1 − 2^−`GRID_BITS`. Then two of a thousand noisy answers rarely tie, and 64 bits still
/// decide almost always.
pub const GRID_BITS: u32 = 30;

/// Noise with a grid step of more than 2^`MAX_DIGITS` ticks would not fit the kernel's integers.
const MAX_DIGITS: u32 = 60;

/// Leading zeros of a uniform number that the fast step can count.
const MAX_COUNTED_ZEROS: u64 = (1 << (63 - FRACTION_BITS)) - 2;

/// A product of leading zeros and `grid_steps_per_zero` has `FRACTION_BITS` + `POINT_BITS` + `shift`
/// bits behind the point: its upper half has `shift` of them.
const POINT_BITS: u32 = 64 - FRACTION_BITS;

/// The rate of geometric noise per step of the resolution, and the grid on which it is drawn.
///
/// A geometric number of rate ρ is drawn on a *grid* of rate close to 2^−30 per grid step:
///
/// - most often the grid is finer than the steps: 2^`refinement` grid steps, of one tick each, make
///   one step;
/// - where noise is enormous it is coarser: a tick is a step, 2^`digits` ticks make one grid step,
///   and the digit below is drawn by itself.
///
/// Either way the law is that of real exponential noise rounded down, and so the same.
pub struct Rate {
    /// ρ, per step.
    exact: Ratio,
    /// Per grid step.
    per_grid_step: Ratio,
    refinement: u32,
    digits: u32,
    grid: u32,
    /// Grid steps per leading zero, ln 2 over the rate, lie between this and this plus 2, in multiples
    /// of 2^−(`POINT_BITS` + `shift`).
    grid_steps_per_zero: u64,
    shift: u32,
    /// Of the error in `bracket`, in multiples of 2^−`shift` grid steps: what is always there, and
    /// what halves with each bit known.
    least_error: u64,
    spread: u64,
    logarithm: &'static FastLog2,
}

impl Rate {
    /// The rate ρ > 0 with ticks on a grid of about 2^−`grid`, at most 2^`most_refinement` times
    /// as fine as the steps. None if the noise is so large that its ticks would not fit.
    #[must_use]
    pub fn new(exact: Ratio, grid: u32, most_refinement: u32) -> Option<Self> {
        // 2^(log − 1) < ρ < 2^(log + 1)
        let log = i64::try_from(exact.numerator.bits()).ok()?
            - i64::try_from(exact.denominator.bits()).ok()?;
        let finer = log + 1 + i64::from(grid);
        let refinement = finer.clamp(0, i64::from(most_refinement));
        let digits = (-finer).max(0);
        if digits > i64::from(MAX_DIGITS) {
            return None;
        }
        let per_grid_step = exact.shifted(digits - refinement);
        let (grid_steps_per_zero, shift) = grid_steps_per_zero(&per_grid_step)?;
        Some(Self {
            exact,
            per_grid_step,
            refinement: u32::try_from(refinement).ok()?,
            digits: u32::try_from(digits).ok()?,
            grid,
            grid_steps_per_zero,
            shift,
            least_error: high_product(MAX_ERROR, grid_steps_per_zero) + 4,
            spread: high_product(3 << FRACTION_BITS, grid_steps_per_zero) + 1,
            logarithm: FastLog2::shared(),
        })
    }

    /// 2^`refinement` ticks make a step.
    #[must_use]
    pub fn refinement(&self) -> u32 {
        self.refinement
    }

    /// Ticks in a unit of so many steps.
    ///
    /// # Panics
    /// When there are 2^63 or more: `most_refinement` is to prevent it.
    #[must_use]
    pub fn ticks_per_unit(&self, steps_per_unit: u64) -> TicksPerUnit {
        TicksPerUnit::new(steps_per_unit, self.refinement)
    }

    pub(crate) fn digits(&self) -> u32 {
        self.digits
    }

    pub(crate) fn grid(&self) -> u32 {
        self.grid
    }

    /// x for which e^−x is the probability that noise is at least `ticks`, where a tick is a step.
    pub(crate) fn of_ticks(&self, ticks: u64) -> Ratio {
        self.exact.times(u128::from(ticks))
    }

    /// x for which e^−x is the probability that noise is at least `grid_steps`.
    pub(crate) fn of_grid_steps(&self, grid_steps: GridSteps) -> Ratio {
        self.per_grid_step.times(grid_steps.0)
    }

    /// A number of ticks that noise reaches only if the first `leading_zeros` bits of its uniform
    /// number are 0, and hardly more than the least such number.
    #[must_use]
    pub fn ticks_at_leading_zeros(&self, leading_zeros: u32) -> Ticks {
        // e^−(rate·steps) ≤ 2^−leading_zeros when steps ≥ leading_zeros·ln 2/rate.
        let product = u128::from(leading_zeros) * (u128::from(self.grid_steps_per_zero) + 2);
        let grid_steps = (product >> (POINT_BITS + self.shift)) + 1;
        Ticks((grid_steps << self.digits).cast_signed())
    }

    /// The most leading zeros, up to `most`, that noise needs to reach so many ticks: as many as
    /// `ticks_at_leading_zeros` proves.
    #[must_use]
    pub(crate) fn leading_zeros_at(&self, ticks: Ticks, most: u32) -> u32 {
        let (mut proved, mut open) = (0, most.saturating_add(1));
        while open - proved > 1 {
            let middle = proved + (open - proved) / 2;
            if self.ticks_at_leading_zeros(middle) <= ticks {
                proved = middle;
            } else {
                open = middle;
            }
        }
        proved
    }

    /// The first and last grid step on which the noise can be, when its uniform number U has
    /// `leading_zeros` zeros, then the bits of `y` from its highest, a 1, of which `known` are known.
    ///
    /// The noise is at least g iff U < e^−(rate·g), iff g < L·ln 2/rate, where L = −log₂U. In multiples
    /// of 2^−`FRACTION_BITS`, let l be `leading_zeros` plus the logarithm of y, not below 0. The
    /// logarithm is less than `MAX_ERROR` off. With z = `leading_zeros`, U·2^z is at least y/2^64 and
    /// less than that plus 2^−known, a factor of less than 1 + 2·2^−known, so L is smaller by less
    /// than 2·log₂e·2^−known < 3·2^−known. So L lies between l − e and l + e, where
    /// e = `MAX_ERROR` + 3·2^(`FRACTION_BITS` − known).
    ///
    /// With o = `grid_steps_per_zero`, L·ln 2/rate in multiples of 2^−`shift` is at least
    /// (l − e)·o/2^64 and at most (l + e)·(o + 2)/2^64, where 2·(l + e) < 2^64. Let p = ⌊l·o/2^64⌋: it
    /// lies between p − e·o/2^64 and p + 1 + e·o/2^64 + 1. `error` is more than that, for
    /// e·o/2^64 ≤ `spread`/2^known + `MAX_ERROR`·o/2^64.
    #[inline(always)]
    pub(crate) fn bracket(&self, leading_zeros: u64, y: u64, known: u32) -> Option<(u64, u64)> {
        if leading_zeros >= MAX_COUNTED_ZEROS {
            return self.far_bracket(leading_zeros, y, known);
        }
        let whole = (leading_zeros << FRACTION_BITS).cast_signed();
        let logarithm = (whole + self.logarithm.minus_log2(y)).max(0).cast_unsigned();
        let middle = high_product(logarithm, self.grid_steps_per_zero);
        let error = self.least_error + ((self.spread >> 1) >> (known - 1));
        Some((middle.saturating_sub(error) >> self.shift, (middle + error) >> self.shift))
    }

    /// The same for any number of leading zeros below 2^32: those of the items of a large run.
    ///
    /// With z = `leading_zeros`, L = z + L₁ where L₁ = −log₂(U·2^z) lies, as above, between l − e and
    /// l + e for l the logarithm of y alone. So L·ln 2/rate is the sum of z·ln 2/rate and of what
    /// `middle` and `error` bracket. The first, in multiples of 2^−`shift`, is at least `far` and at
    /// most far + 1 + 2z/2^`POINT_BITS`.
    fn far_bracket(&self, leading_zeros: u64, y: u64, known: u32) -> Option<(u64, u64)> {
        let zeros = u128::from(u32::try_from(leading_zeros).ok()?);
        let far = (zeros * u128::from(self.grid_steps_per_zero)) >> POINT_BITS;
        let far_error = (zeros >> (POINT_BITS - 1)) + 2;
        let logarithm = self.logarithm.minus_log2(y).max(0).cast_unsigned();
        let middle = far + u128::from(high_product(logarithm, self.grid_steps_per_zero));
        let error = u128::from(self.least_error + ((self.spread >> 1) >> (known - 1)));
        let first = u64::try_from(middle.saturating_sub(error) >> self.shift).ok()?;
        let last = u64::try_from((middle + error + far_error) >> self.shift).ok()?;
        Some((first, last))
    }
}

/// a·b/2^64, rounded down.
#[inline]
fn high_product(a: u64, b: u64) -> u64 {
    (u128::from(a).wrapping_mul(u128::from(b)) >> 64) as u64
}

/// ln 2/rate with at most 64 significant bits, and less than two units of the last too small: the
/// significand, and how many more than 8 of its bits stand behind the point.
fn grid_steps_per_zero(rate: &Ratio) -> Option<(u64, u32)> {
    let precision = 128 + rate.numerator.bits();
    let ln2 = ln(2, 1, precision).low;
    // ln2 is too small by less than 2^(1 − precision), and so is the quotient relative to its size:
    // much less than one unit of the significand, to which rounding down adds less than one.
    let quotient = ln2 * &rate.denominator / &rate.numerator;
    let behind = (precision + 64).checked_sub(quotient.bits())?.min(u64::from(POINT_BITS) + 63);
    let significand = quotient >> (precision - behind);
    let shift = u32::try_from(behind).ok()?.checked_sub(POINT_BITS)?;
    Some((u64::try_from(significand).ok()?, shift))
}
