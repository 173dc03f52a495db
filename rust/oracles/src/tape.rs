//! Random bits that are given, and after their end any others, so that the work comes to its end.

use std::convert::Infallible;

use num_bigint::BigUint;
use topgap_kernel::bit_source::BitSource;

/// The bits of some bytes, and then those of a simple generator.
pub struct Tape<'a> {
    bytes: &'a [u8],
    width: u32,
    read: u64,
    state: u64,
    /// What was drawn, as one number.
    drawn: Option<BigUint>,
}

impl<'a> Tape<'a> {
    /// A tape whose words have so many bits.
    #[must_use]
    pub fn new(bytes: &'a [u8], width: u32) -> Self {
        Self { bytes, width, read: 0, state: bytes.len() as u64, drawn: None }
    }

    /// The same, and it keeps what was drawn.
    #[must_use]
    pub fn kept(bytes: &'a [u8], width: u32) -> Self {
        Self { drawn: Some(BigUint::ZERO), ..Self::new(bytes, width) }
    }

    /// How many bits were drawn.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// The bits that were drawn, if they are kept.
    #[must_use]
    pub fn drawn(&self) -> BigUint {
        self.drawn.clone().unwrap_or_default()
    }

    /// The next bit that was given, if there are any left.
    fn given(&mut self) -> Option<u64> {
        let byte = self.bytes.get(usize::try_from(self.read / 8).ok()?)?;
        Some(u64::from(byte >> (self.read % 8)) & 1)
    }

    /// `SplitMix64`, of which all bits will do here.
    fn made_up(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl BitSource for Tape<'_> {
    type Stop = Infallible;

    fn width(&self) -> u32 {
        self.width
    }

    fn bits(&mut self, count: u32) -> Result<u64, Infallible> {
        assert!(count <= 64, "at most 64 bits are asked for at a time");
        let mut number = 0;
        let mut left = count;
        while left > 0
            && let Some(bit) = self.given()
        {
            number = number << 1 | bit;
            self.read += 1;
            left -= 1;
        }
        if left > 0 {
            number = number.unbounded_shl(left) | self.made_up() >> (64 - left);
            self.read += u64::from(left);
        }
        if let Some(drawn) = &mut self.drawn {
            *drawn = (&*drawn << count) + number;
        }
        Ok(number)
    }
}
