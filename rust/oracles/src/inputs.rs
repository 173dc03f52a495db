//! Inputs made of bytes: of any size, and more often than not close to where something changes.

use num_bigint::BigUint;
use topgap_kernel::enclosures::Ratio;
use topgap_kernel::rate::Rate;

/// Noisy answers have this many bits in ticks, as in production.
const TICK_BITS: u32 = 120;

/// There is not a single byte to make an input of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// An input, if there are bytes for it.
pub type Result<T> = std::result::Result<T, Exhausted>;

/// Bytes from which inputs are made; after the last of them, all are 0.
pub struct Inputs<'a> {
    rest: &'a [u8],
    has_begun: bool,
}

impl<'a> Inputs<'a> {
    /// Inputs from these bytes.
    #[must_use]
    pub fn new(data: &'a [u8]) -> Self {
        Self { rest: data, has_begun: false }
    }

    /// The next bytes.
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        if self.rest.is_empty() && !self.has_begun {
            return Err(Exhausted);
        }
        self.has_begun = true;
        let (taken, rest) = self.rest.split_at(N.min(self.rest.len()));
        self.rest = rest;
        let mut bytes = [0; N];
        bytes[..taken.len()].copy_from_slice(taken);
        Ok(bytes)
    }

    /// A number from `least` to `most`.
    ///
    /// # Errors
    /// When there is not a single byte, as of all that follow.
    pub fn within(&mut self, least: u32, most: u32) -> Result<u32> {
        let largest = most - least;
        let taken = if largest < 256 {
            u32::from(self.take::<1>()?[0])
        } else {
            u32::from_le_bytes(self.take()?)
        };
        Ok(least + if largest == u32::MAX { taken } else { taken % (largest + 1) })
    }

    /// Whether something is so.
    ///
    /// # Errors
    /// As of `within`.
    pub fn flag(&mut self) -> Result<bool> {
        Ok(self.take::<1>()?[0] % 2 == 1)
    }

    /// Any 64 bits: often few, or those around a power of two.
    ///
    /// # Errors
    /// As of `within`.
    pub fn word(&mut self) -> Result<u64> {
        Ok(match self.within(0, 3)? {
            0 => u64::from(self.take::<1>()?[0]),
            1 => {
                let power = 1_u64 << self.within(0, 63)?;
                power.wrapping_add_signed(i64::from(i8::from_le_bytes(self.take()?)))
            }
            2 => u64::MAX - u64::from(self.take::<1>()?[0]),
            _ => u64::from_le_bytes(self.take()?),
        })
    }

    /// Any whole number of 128 bits, of all sizes.
    ///
    /// # Errors
    /// As of `within`.
    pub fn long(&mut self) -> Result<u128> {
        Ok((u128::from(self.word()?) << self.within(0, 64)?) ^ u128::from(self.word()?))
    }

    /// A number that is not 0.
    ///
    /// # Errors
    /// As of `within`.
    pub fn positive(&mut self) -> Result<u64> {
        Ok(self.word()?.max(1))
    }

    /// A ratio greater than 0: from about 2^−640 to 2^640.
    ///
    /// # Errors
    /// As of `within`.
    pub fn ratio(&mut self) -> Result<Ratio> {
        let shift = match self.within(0, 15)? {
            0 => self.within(0, 640)?,
            1..=4 => self.within(0, 40)?,
            _ => 0,
        };
        let mut numerator = BigUint::from(self.positive()?);
        let mut denominator = BigUint::from(self.positive()?);
        if self.flag()? {
            numerator <<= shift;
        } else {
            denominator <<= shift;
        }
        Ok(Ratio { numerator, denominator })
    }

    /// Steps in a unit, and a rate that goes with them, if there is one: as production makes it, or
    /// on a coarser grid.
    ///
    /// # Errors
    /// As of `within`.
    pub fn rate(&mut self) -> Result<Option<(u64, Rate)>> {
        let steps_per_unit = self.positive()?;
        let step_bits = u64::BITS - steps_per_unit.leading_zeros();
        let Some(most) = TICK_BITS.checked_sub(64 + step_bits) else { return Ok(None) };
        let grid = if self.flag()? { 30 } else { self.within(1, 30)? };
        let most = if self.flag()? { most } else { self.within(0, most)? };
        let exact = self.ratio()?;
        Ok(Rate::new(exact, grid, most).map(|rate| (steps_per_unit, rate)))
    }

    /// One answer for each item, at least two: all alike, nearly alike, extreme, or anything.
    ///
    /// # Errors
    /// As of `within`.
    pub fn units(&mut self) -> Result<Vec<i64>> {
        let count = match self.within(0, 99)? {
            99 => self.within(2, 3000)?,
            94..=98 => self.within(2, 300)?,
            _ => self.within(2, 20)?,
        };
        let base = self.word()?.cast_signed();
        let kind = self.within(0, 5)?;
        let stride = self.word()?.cast_signed();
        let mut units = Vec::with_capacity(count as usize);
        for i in 0..i64::from(count) {
            units.push(match kind {
                0 => base,
                1 => base.wrapping_add(i64::from(self.take::<1>()?[0])),
                2 => base.wrapping_add(stride.wrapping_mul(i)),
                3 => [i64::MIN, i64::MAX, -1, 0, 1, base][self.within(0, 5)? as usize],
                4 => base.saturating_sub(stride.saturating_mul(i)),
                _ => self.word()?.cast_signed(),
            });
        }
        Ok(units)
    }

    /// All bytes that are left.
    #[must_use]
    pub fn rest(self) -> &'a [u8] {
        self.rest
    }
}
