//! Answers given as floats: each is the dyadic number that it stores, and is rounded down exactly.

/// Why floats could not be rounded down to steps.
#[derive(Debug, PartialEq, Eq)]
pub enum FloatProblem {
    /// One is NaN or infinite.
    NotFinite,
    /// One has more steps than an i64 can count.
    TooLarge,
}

/// ⌊number·`steps_per_unit`⌋ for each number.
///
/// # Errors
/// When one of the numbers is not finite, or is too large for an i64 in steps.
pub fn floor_to_steps(
    numbers: impl Iterator<Item = f64>,
    steps_per_unit: u64,
) -> Result<Vec<i64>, FloatProblem> {
    let mut too_large = false;
    let mut steps = Vec::with_capacity(numbers.size_hint().0);
    for number in numbers {
        if !number.is_finite() {
            return Err(FloatProblem::NotFinite);
        }
        let floor = floor(number, steps_per_unit);
        too_large |= floor.is_none();
        steps.push(floor.unwrap_or(0));
    }
    if too_large { Err(FloatProblem::TooLarge) } else { Ok(steps) }
}

/// ⌊number·factor⌋ from the bits of a finite number: ±significand·2^exponent.
#[inline]
fn floor(number: f64, factor: u64) -> Option<i64> {
    const SIGNIFICAND: u32 = f64::MANTISSA_DIGITS - 1;
    let bits = number.to_bits();
    let stored = bits & ((1 << SIGNIFICAND) - 1);
    let biased = i32::try_from((bits >> SIGNIFICAND) & 0x7ff).ok()?;
    // A number too small to be normal has no leading 1, and the exponent of the least that is.
    let significand = if biased == 0 { stored } else { stored | 1 << SIGNIFICAND };
    let exponent = biased.max(1) - 1075;
    let size = (u128::from(significand) * u128::from(factor)).cast_signed();
    let product = if number.is_sign_negative() { -size } else { size };
    if product == 0 {
        Some(0)
    } else if exponent >= 0 {
        let shift = exponent.cast_unsigned();
        let room = product.unsigned_abs().leading_zeros();
        if shift + 1 >= room { None } else { i64::try_from(product << shift).ok() }
    } else {
        // Right shifts of negative numbers round down, too.
        i64::try_from(product >> exponent.unsigned_abs().min(127)).ok()
    }
}
