//! Integers that provably enclose e^−x and logarithms, to as many bits as are asked for.
//!
//! This is the slow step: big integers, for the rare comparison that 64 bits do not decide, and
//! for the constants of the fast step.

use num_bigint::BigUint;

/// A rational number that is not negative.
#[derive(Clone, Debug)]
pub struct Ratio {
    /// The number above the line.
    pub numerator: BigUint,
    /// The number below the line, not 0.
    pub denominator: BigUint,
}

impl Ratio {
    /// This number times `factor`.
    #[must_use]
    pub fn times(&self, factor: u128) -> Self {
        Self { numerator: &self.numerator * factor, denominator: self.denominator.clone() }
    }

    /// This number times 2^`exponent`.
    #[must_use]
    pub fn shifted(&self, exponent: i64) -> Self {
        let by = exponent.unsigned_abs();
        if exponent >= 0 {
            Self { numerator: &self.numerator << by, denominator: self.denominator.clone() }
        } else {
            Self { numerator: self.numerator.clone(), denominator: &self.denominator << by }
        }
    }
}

/// Two integers with low ≤ 2^bits·v ≤ high for the number v that was asked for.
#[derive(Debug)]
pub struct Enclosure {
    /// At most 2^bits·v.
    pub low: BigUint,
    /// At least 2^bits·v.
    pub high: BigUint,
}

/// Enclose 2^bits·e^−x; `bits` is at least 1. The bounds are at most 2 apart.
///
/// With y = x/2^h < 1/256, e^−y = 1 − y + y²/2 − … and e^−x = (e^−y)^(2^h). Every quantity is kept
/// as a lower and an upper bound in units of 2^−p, the lower rounded down and the upper up:
///
/// - a term is at least ⌊t·y⁻/n⌋ and at most ⌊t·y⁺/n⌋ + 1, and a term that is subtracted
///   changes sides;
/// - the terms fall and alternate, so what is left out is at most the last term; the last upper
///   bound is 1, so one unit on either side covers it;
/// - squaring bounds that are w units apart and together at most 2 leaves them at most 2w + 2
///   apart; for tiny x the upper one may exceed 1, by less than the lower falls short of it.
///
/// A term is below 1/256 of the one before, so its bounds lie less than 3 units apart, and there
/// are fewer than p terms: the bounds of the sum lie less than 4p units apart. After h squarings
/// they are less than 2^h·(4p + 2) apart, which p = bits + h + 48 makes less than one unit of
/// 2^−bits as long as p < 2^45; rounding both outwards to that unit makes it at most 2.
#[must_use]
pub fn exp_minus(x: &Ratio, bits: u64) -> Enclosure {
    let Ratio { numerator, denominator } = x;
    if *numerator == BigUint::ZERO {
        let one = BigUint::from(1_u8) << bits;
        return Enclosure { low: one.clone(), high: one };
    }
    if *numerator >= denominator * bits {
        // e^−x ≤ e^−bits < 2^−bits
        return Enclosure { low: BigUint::ZERO, high: BigUint::from(1_u8) };
    }
    let h = (numerator / denominator).bits() + 8;
    let p = bits + h + 48;
    let y_low = (numerator << (p - h)) / denominator;
    let y_high = &y_low + 1_u8;

    let one = BigUint::from(1_u8) << p;
    let (mut term_low, mut term_high) = (one.clone(), one.clone());
    let (mut low, mut high) = (one.clone(), one.clone());
    let mut n = 1_u64;
    while term_high > BigUint::from(1_u8) {
        term_low = ((term_low * &y_low) >> p) / n;
        term_high = ((term_high * &y_high) >> p) / n + 1_u8;
        if n % 2 == 1 {
            low -= &term_high;
            high -= &term_low;
        } else {
            low += &term_low;
            high += &term_high;
        }
        n += 1;
    }
    low -= 1_u8;
    high = (high + 1_u8).min(one);

    for _ in 0..h {
        low = (&low * &low) >> p;
        high = ((&high * &high) >> p) + 1_u8;
    }
    Enclosure { low: low >> (p - bits), high: round_up(&high, p - bits) }
}

/// Enclose 2^bits·ln(n/d) for d ≤ n ≤ 2d. The bounds are at most 2 apart.
///
/// ln(n/d) = 2·(z + z³/3 + z⁵/5 + …) with z = (n − d)/(n + d) ≤ 1/3. In units of 2^−p, each power is
/// rounded down and is less than 2 units too small: the error before, over 9, and one more for the
/// rounding. So each term is less than 3 units too small. There are fewer than p terms before the
/// power vanishes, when it truly is less than 2 units, and what is left out less than 9/4. Doubled,
/// the sum is less than 6p + 5 units too small: less than one unit of 2^−bits, with p = bits + 48.
#[must_use]
pub fn ln(n: u64, d: u64, bits: u64) -> Enclosure {
    let p = bits + 48;
    let square = (BigUint::from(n - d).pow(2), BigUint::from(n + d).pow(2));
    let mut power = (BigUint::from(n - d) << p) / (n + d);
    let mut sum = BigUint::ZERO;
    let mut odd = 1_u64;
    while power > BigUint::ZERO {
        sum += &power / odd;
        power = power * &square.0 / &square.1;
        odd += 2;
    }
    let low = (sum << 1_u8) >> (p - bits);
    let high = &low + 2_u8;
    Enclosure { low, high }
}

fn round_up(number: &BigUint, bits: u64) -> BigUint {
    let unit = BigUint::from(1_u8) << bits;
    (number + unit - 1_u8) >> bits
}
