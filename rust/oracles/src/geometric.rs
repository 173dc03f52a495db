//! Noise: is it what the uniform number says that it is made of?

use num_bigint::BigUint;
use topgap_kernel::enclosures::{Ratio, exp_minus};
use topgap_kernel::geometric::geometric;
use topgap_kernel::laplace::laplace;
use topgap_kernel::rate::Rate;

use crate::Checked;
use crate::inputs::Inputs;
use crate::tape::Tape;

/// Bits more than are known of the uniform number.
const GUARD: u64 = 16;

/// Draw noise from these bytes, and prove it.
///
/// Noise is g grid steps for the g with e^−(rate·(g+1)) ≤ U < e^−(rate·g). Of U its first bits are
/// known, so that it lies between two numbers. Of the bits that were looked at first, neither end may
/// speak against g; and all that were drawn must leave no other.
///
/// # Errors
/// When there are too few bytes.
///
/// # Panics
/// When a check fails.
pub fn check(data: &[u8]) -> Checked {
    let mut given = Inputs::new(data);
    let exact = given.ratio()?;
    let grid = if given.flag()? { 30 } else { given.within(1, 30)? };
    let most_refinement = given.within(0, 55)?;
    let zeros = given.within(0, 40)?;
    let width = 64 - given.within(0, 63)?;
    let tape = given.rest();
    let Some(rate) = Rate::new(exact.clone(), grid, most_refinement) else { return Ok(()) };

    let mut source = Tape::kept(tape, width);
    let Ok(noise) = geometric(&rate, zeros, &mut source);
    // The words up to the first that is not 0 belong to U, whatever was drawn after.
    let mut first = Tape::kept(tape, width);
    while first.drawn() == BigUint::ZERO {
        let Ok(_) = topgap_kernel::bit_source::BitSource::bits(&mut first, width);
    }
    let uniform = Uniform { prefix: first.drawn(), length: first.read() + u64::from(zeros) };
    // Where a step is finer than the grid, noise has a digit below it.
    let digits = digits(&exact, grid);
    let per_grid_step = exact.shifted(i64::from(digits) - i64::from(rate.refinement()));
    let grid_steps = noise.0 >> digits;
    uniform.allows(&per_grid_step, grid_steps);
    if digits == 0 {
        let all = Uniform { prefix: source.drawn(), length: source.read() + u64::from(zeros) };
        all.decides(&per_grid_step, grid_steps);
    }

    let mut one_by_one = Tape::new(tape, width);
    let Ok(up) = geometric(&rate, 0, &mut one_by_one);
    let Ok(down) = geometric(&rate, 0, &mut one_by_one);
    let Ok(both) = laplace(&rate, 0, &mut Tape::new(tape, width));
    assert_eq!(both, up.signed() - down.signed(), "the difference of two");
    Ok(())
}

/// How many digits noise has below its grid, by the definition of the grid.
fn digits(exact: &Ratio, grid: u32) -> u32 {
    let bits = |number: &BigUint| i64::try_from(number.bits()).expect("few bits");
    let log = bits(&exact.numerator) - bits(&exact.denominator);
    u32::try_from(-(log + 1 + i64::from(grid))).unwrap_or(0)
}

/// A uniform number of which the first bits are known.
struct Uniform {
    prefix: BigUint,
    length: u64,
}

impl Uniform {
    /// See whether a number with these bits can lie between e^−(rate·(g+1)) and e^−(rate·g).
    fn allows(&self, rate: &Ratio, g: u128) {
        let bits = self.length + GUARD;
        let above = exp_minus(&rate.times(g), bits).high;
        assert!(&self.prefix << GUARD < above, "the noise is too large for its uniform number");
        let below = exp_minus(&rate.times(g + 1), bits).low;
        assert!(
            (&self.prefix + 1_u8) << GUARD > below,
            "the noise is too small for its uniform number"
        );
    }

    /// See whether every number with these bits lies there.
    fn decides(&self, rate: &Ratio, g: u128) {
        let bits = self.length + GUARD;
        let above = exp_minus(&rate.times(g), bits).high;
        assert!((&self.prefix + 1_u8) << GUARD <= above, "a larger number would have less noise");
        let below = exp_minus(&rate.times(g + 1), bits).low;
        assert!(&self.prefix << GUARD >= below, "a smaller number would have more noise");
    }
}
