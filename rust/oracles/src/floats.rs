//! Floats as answers, against big integers.

use num_bigint::BigInt;
use topgap_kernel::floats::{FloatProblem, floor_to_steps};

use crate::Checked;
use crate::inputs::Inputs;

/// Round floats of any bits down to steps, and compare.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    let steps_per_unit = given.word()?;
    let mut numbers = Vec::new();
    for _ in 0..given.within(0, 6)? {
        // Any bits, or a whole number and a little more or less.
        numbers.push(if given.flag()? {
            f64::from_bits(given.word()?)
        } else {
            #[expect(clippy::cast_precision_loss, reason = "any number will do")]
            let whole = given.word()?.cast_signed() as f64;
            let scaled = whole / 2_f64.powi(i32::try_from(given.within(0, 80)?).expect("few"));
            f64::from_bits(scaled.to_bits().wrapping_add_signed(i64::from(given.within(0, 2)?) - 1))
        });
    }
    let floors: Option<Vec<BigInt>> =
        numbers.iter().map(|&each| floor(each, steps_per_unit)).collect();
    let found = floor_to_steps(numbers.iter().copied(), steps_per_unit);
    let Some(floors) = floors else {
        assert_eq!(found, Err(FloatProblem::NotFinite), "not all are finite");
        return Ok(());
    };
    let fitting: Result<Vec<i64>, _> = floors.iter().map(i64::try_from).collect();
    assert_eq!(found, fitting.map_err(|_| FloatProblem::TooLarge), "rounded down exactly");
    Ok(())
}

/// ⌊number·factor⌋ of a finite number, by its definition.
fn floor(number: f64, factor: u64) -> Option<BigInt> {
    if !number.is_finite() {
        return None;
    }
    let bits = number.to_bits();
    let exponent = (bits >> 52) & 0x7ff;
    let stored = bits & ((1 << 52) - 1);
    let significand = if exponent == 0 { stored } else { stored | 1 << 52 };
    let size = (BigInt::from(significand) * factor) << exponent.max(1);
    let product = if number < 0.0 { -size } else { size };
    // BigInt's right shift rounds down.
    Some(product >> 1075_u32)
}
