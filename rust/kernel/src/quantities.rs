//! The quantities that the kernel computes with, each a type of its own.
//!
//! - *Units*: answers are whole numbers of units.
//! - *Steps*: a unit has `steps_per_unit` steps of the resolution. Gaps are released in steps.
//! - *Ticks*: a step has 2^refinement ticks. Noise is drawn in ticks.
//! - *Grid steps*: the geometric sampler decides in grid steps. A grid step is one tick, or 2^digits
//!   ticks where the noise is enormous.
//!
//! The arithmetic is that of the integers inside, and an overflow stops the kernel.

use std::ops::{Add, AddAssign, Rem, Sub};

/// A whole number of units: an answer, a threshold for noisy answers, or a distance of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Units(pub i64);

impl Units {
    /// Below or equal to every answer.
    pub const MIN: Self = Self(i64::MIN);

    /// The difference, or the nearest number of units that there is.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The number of units nearest to `number`.
    #[must_use]
    pub fn nearest(number: i128) -> Self {
        Self(i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX }))
    }
}

/// A number of ticks with a sign: a noisy answer, or how far one is above another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Ticks(pub i128);

impl Add for Ticks {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Ticks {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

/// A number of ticks that is not negative: noise, or how far a noisy answer exceeds a threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct TickCount(pub u128);

impl TickCount {
    /// The same number, which may now become negative.
    ///
    /// # Panics
    /// When it has more than 127 bits.
    #[inline(always)]
    #[must_use]
    pub fn signed(self) -> Ticks {
        Ticks(i128::try_from(self.0).expect("noise of fewer than 128 bits"))
    }

    /// How many whole steps of 2^`refinement` ticks there are in it.
    #[inline(always)]
    #[must_use]
    pub fn whole_steps(self, refinement: u32) -> Steps {
        Steps(self.0 >> refinement)
    }

    /// Whether it is a whole number of steps of 2^`refinement` ticks.
    #[inline(always)]
    #[must_use]
    pub fn is_whole_steps(self, refinement: u32) -> bool {
        self.0.trailing_zeros() >= refinement
    }
}

impl AddAssign for TickCount {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl Sub for TickCount {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Rem for TickCount {
    type Output = Self;

    #[inline(always)]
    fn rem(self, divisor: Self) -> Self {
        Self(self.0 % divisor.0)
    }
}

/// A number of steps of the resolution: a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Steps(pub u128);

/// A number of steps of the grid on which the geometric sampler decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct GridSteps(pub u128);

impl GridSteps {
    /// Grid steps of 2^`digits` ticks each, and `digit` ticks more.
    #[inline(always)]
    #[must_use]
    pub fn to_ticks(self, digits: u32, digit: u64) -> TickCount {
        // A product and not a shift, which would silently drop the bits that do not fit.
        TickCount(self.0 * (1 << digits) + u128::from(digit))
    }
}

/// How many ticks a unit has: from 1 to 2^63 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct TicksPerUnit(i64);

impl TicksPerUnit {
    /// Units of `steps_per_unit` steps of 2^`refinement` ticks.
    ///
    /// # Panics
    /// When a unit would have 2^63 ticks or more.
    #[must_use]
    pub fn new(steps_per_unit: u64, refinement: u32) -> Self {
        let ticks = u128::from(steps_per_unit) << refinement;
        Self(i64::try_from(ticks).expect("a unit of fewer than 2^63 ticks"))
    }

    /// The ticks in so many units.
    #[inline(always)]
    #[must_use]
    pub fn ticks(self, units: Units) -> Ticks {
        Ticks(i128::from(units.0) * i128::from(self.0))
    }

    /// The whole units in a noisy answer, rounded down; or the nearest number of units.
    #[must_use]
    pub fn whole_units(self, ticks: Ticks) -> Units {
        Units::nearest(ticks.0.div_euclid(i128::from(self.0)))
    }

    /// The largest whole number of units that is not above it, in ticks.
    pub(crate) fn round_down(self, ticks: Ticks) -> Ticks {
        Ticks(ticks.0 - ticks.0.rem_euclid(i128::from(self.0)))
    }

    /// The least number of units that has at least so many ticks, of which there is at least one.
    pub(crate) fn units_for(self, ticks: Ticks) -> i128 {
        (ticks.0 - 1) / i128::from(self.0) + 1
    }
}
