//! How many leading zeros the uniform number of an item needs for its noise to reach a threshold.

use crate::quantities::{TicksPerUnit, Units};
use crate::rate::Rate;
use crate::threshold_plan::MAX_LEADING_ZEROS;

/// How far below a threshold an answer must lie for its noise to need so many leading zeros.
pub(crate) struct LeadingZeros {
    /// For each number of leading zeros, a distance in units at which they are needed.
    distances_in_units: [i128; MAX_LEADING_ZEROS as usize + 1],
    /// About how many leading zeros a unit of distance needs: in multiples of 2^−50, for a distance
    /// without its last `shift` bits.
    zeros_per_unit: u64,
    /// The distance of the most leading zeros, without its last `shift` bits.
    farthest: u64,
    shift: u32,
}

impl LeadingZeros {
    pub(crate) fn new(ticks_per_unit: TicksPerUnit, rate: &Rate) -> Self {
        let mut distances = [0; MAX_LEADING_ZEROS as usize + 1];
        for (zeros, distance) in (0..).zip(&mut distances).skip(1) {
            *distance = ticks_per_unit.units_for(rate.ticks_at_leading_zeros(zeros));
        }
        let farthest = u64::try_from(distances[distances.len() - 1]).unwrap_or(u64::MAX);
        let shift = (u64::BITS - farthest.leading_zeros()).saturating_sub(40);
        let farthest = farthest >> shift;
        let zeros_per_unit = (u64::from(MAX_LEADING_ZEROS) << 50) / farthest;
        Self { distances_in_units: distances, zeros_per_unit, farthest, shift }
    }

    /// The least answer that may reach the threshold without so many leading zeros.
    pub(crate) fn lowest_without(&self, zeros: u32, threshold: Units) -> Units {
        // Never more than the threshold.
        let lowest = i128::from(threshold.0) - self.distances_in_units[zeros as usize] + 1;
        Units::nearest(lowest)
    }

    /// How many leading zeros are needed, at least, to rise from `answer` to the threshold.
    #[inline]
    pub(crate) fn needed(&self, threshold: Units, answer: Units) -> u32 {
        if answer >= threshold {
            return 0;
        }
        let distance = threshold.0.wrapping_sub(answer.0).cast_unsigned();
        // An approximation, and then the table, which proves it.
        let near = (distance >> self.shift).min(self.farthest);
        let mut zeros = ((near * self.zeros_per_unit) >> 50) as u32;
        while i128::from(distance) < self.distances_in_units[zeros as usize] {
            zeros -= 1;
        }
        zeros
    }
}
