//! The laws of the kernel on every tape of random bits to a depth, with words of few bits.
//!
//! A walk gives each outcome the exact mass of the tapes that lead to it. The probability of the
//! outcome lies between that mass and the mass plus the rest, which was not walked.

use std::collections::BTreeMap;

use num_bigint::BigUint;
use topgap_kernel::answers::Answers;
use topgap_kernel::constant_work::{select_constant_work, select_noisy_answers_constant_work};
use topgap_kernel::enclosures::Ratio;
use topgap_kernel::geometric::geometric;
use topgap_kernel::laplace::laplace;
use topgap_kernel::quantities::{Ticks, Units};
use topgap_kernel::ranking::{NoisySelection, Selection};
use topgap_kernel::rate::Rate;
use topgap_kernel::sampler::Sampler;
use topgap_kernel::shared_coins::first_head;
use topgap_kernel::threshold_plan::Plan;
use topgap_kernel::workers::Sequential;
use topgap_kernel::{select, select_noisy_answers};
use topgap_probe::script::{self, Noise};
use topgap_probe::tape::{Missing, Tape, walk};

/// Probabilities are computed in floats, and are closer to the truth than this.
const FLOAT_ERROR: f64 = 1e-12;

/// Masses of outcomes, which sum to 1 − `rest`.
struct Walk {
    masses: BTreeMap<String, f64>,
    rest: f64,
}

impl Walk {
    /// In multiples of 1/`one`.
    #[expect(clippy::cast_precision_loss, reason = "masses have few bits, or are known to 2^-53")]
    fn new(masses: BTreeMap<String, u64>, one: u64) -> Self {
        let rest = (one - masses.values().sum::<u64>()) as f64 / one as f64;
        let share = |(outcome, mass)| (outcome, mass as f64 / one as f64);
        Self { masses: masses.into_iter().map(share).collect(), rest }
    }

    fn of_tapes(
        width: u32,
        depth: u32,
        program: impl Fn(&mut Tape) -> Result<String, Missing>,
    ) -> Self {
        Self::new(walk(width, depth, program), 1 << depth)
    }

    /// Fail unless each outcome can have the probability that the law gives it, and unless at least
    /// `least` of the mass was walked.
    fn follows(&self, least: f64, law: impl Fn(&str) -> f64) {
        assert!(self.rest <= 1.0 - least, "not walked: {}", self.rest);
        for (outcome, mass) in &self.masses {
            let truth = law(outcome);
            assert!(*mass <= truth + FLOAT_ERROR, "{outcome}: {mass} is more than {truth}");
            let most = mass + self.rest + FLOAT_ERROR;
            assert!(truth <= most, "{outcome}: {most} is less than {truth}");
        }
    }

    /// Fail unless both can be walks of one law.
    fn agrees_with(&self, other: &Self) {
        for (one, another) in [(self, other), (other, self)] {
            for (outcome, mass) in &one.masses {
                let most = another.masses.get(outcome).unwrap_or(&0.0) + another.rest + FLOAT_ERROR;
                assert!(
                    *mass <= most,
                    "{outcome}: {mass} in one walk, at most {most} in the other"
                );
            }
        }
    }
}

fn rate(numerator: u32, denominator: u32, grid: u32, most_refinement: u32) -> Rate {
    let exact =
        Ratio { numerator: BigUint::from(numerator), denominator: BigUint::from(denominator) };
    Rate::new(exact, grid, most_refinement).expect("a rate that fits")
}

/// Numerator and denominator of a rate, its grid, the most refinement, and the digits below a grid
/// step that follow from them.
const RATES: [(u32, u32, u32, u32, u32); 8] = [
    (2, 1, 0, 0, 0),
    (1, 2, 0, 0, 0),
    (1, 2, 2, 2, 0),
    (1, 3, 30, 1, 0),
    (5, 1, 30, 0, 0),
    (7, 5, 1, 1, 0),
    (1, 5, 0, 0, 1),
    (1, 9, 1, 0, 1),
];

#[test]
fn geometric_noise() {
    for (numerator, denominator, grid, most_refinement, digits) in RATES {
        let rate = rate(numerator, denominator, grid, most_refinement);
        let steps_per_tick = 2_f64.powi(-rate.refinement().cast_signed());
        let per_tick = f64::from(numerator) / f64::from(denominator) * steps_per_tick;
        for (zeros, width) in [(0, 1), (0, 2), (0, 3), (0, 6), (2, 1), (2, 3)] {
            let walk =
                Walk::of_tapes(width, 15, |tape| Ok(geometric(&rate, zeros, tape)?.0.to_string()));
            walk.follows(0.7, |ticks| {
                let ticks: f64 = ticks.parse().expect("ticks");
                let size = 2_f64.powi(digits.cast_signed());
                let (step, digit) = ((ticks / size).floor() * size, ticks.rem_euclid(size));
                // That U < e^−x, given that it has so many leading zeros.
                let reached = |x: f64| ((-x).exp() * 2_f64.powi(zeros.cast_signed())).min(1.0);
                let on_step = reached(per_tick * step) - reached(per_tick * (step + size));
                let t = (-per_tick).exp();
                on_step * t.powf(digit) * (1.0 - t) / (1.0 - t.powf(size))
            });
        }
    }
}

#[test]
fn laplace_noise() {
    for (numerator, denominator) in [(2, 1), (1, 2), (7, 5)] {
        let noise = rate(numerator, denominator, 30, 0);
        let t = (-f64::from(numerator) / f64::from(denominator)).exp();
        for width in [1, 2, 4] {
            let walk =
                Walk::of_tapes(width, 18, |tape| Ok(laplace(&noise, 0, tape)?.0.to_string()));
            walk.follows(0.95, |x| {
                let x: f64 = x.parse().expect("ticks");
                (1.0 - t) / (1.0 + t) * t.powf(x.abs())
            });
        }
    }
}

#[test]
fn shared_coins() {
    for (items, zeros) in [(1, 1), (2, 1), (3, 2), (5, 1), (5, 2), (8, 2), (8, 3)] {
        let walk = Walk::of_tapes(1, 20, |tape| {
            let (mut heads, mut from) = (Vec::new(), 0);
            while let Some(head) = first_head(from, &items, zeros, tape)? {
                heads.push(head.to_string());
                from = head + 1;
            }
            Ok(heads.join(","))
        });
        walk.follows(0.8, |heads| {
            let heads = heads.split(',').filter(|head| !head.is_empty()).count();
            let (p, heads) =
                (0.5_f64.powi(zeros.cast_signed()), i32::try_from(heads).expect("few"));
            let tails = i32::try_from(items).expect("few") - heads;
            p.powi(heads) * (1.0 - p).powi(tails)
        });
    }
}

#[test]
fn uniform_numbers() {
    for bound in 1..=9_u32 {
        let walk = Walk::of_tapes(1, 16, |tape| Ok(tape.below(u64::from(bound))?.to_string()));
        walk.follows(0.95, |_| 1.0 / f64::from(bound));
        assert_eq!(walk.masses.len(), bound as usize, "all numbers below {bound}");
    }
}

fn written(selection: &Selection) -> String {
    let pairs = selection.indices.iter().zip(&selection.gaps);
    pairs.map(|(index, gap)| format!("{index}:{}", gap.0)).collect::<Vec<_>>().join(" ")
}

/// The gap of two items: their noise differs by Laplace noise that is not rounded.
fn law_of_two(units: [i64; 2], rate: f64, outcome: &str) -> f64 {
    let (winner, gap) = outcome.split_once(':').expect("one winner");
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let lead = if winner == "0" { units[0] - units[1] } else { units[1] - units[0] } as f64;
    let gap: f64 = gap.parse().expect("steps");
    let exceeds = |x: f64| {
        if x >= 0.0 { (-rate * x).exp() / 2.0 } else { 1.0 - (rate * x).exp() / 2.0 }
    };
    exceeds(gap - lead) - exceeds(gap + 1.0 - lead)
}

/// Plans of every sort; None is the kernel's own.
fn plans(rate: &Rate) -> Vec<Option<Plan>> {
    let plan = |threshold, leading_zeros, log_block| {
        let threshold = rate.ticks_per_unit(1).ticks(Units(threshold));
        Some(Plan { threshold, leading_zeros, log_block })
    };
    vec![None, plan(i64::MIN, 0, 0), plan(1, 1, 0), plan(2, 1, 0), plan(2, 2, 0), plan(3, 1, 0)]
}

#[test]
fn selection_of_two_bit_by_bit() {
    for units in [[2, 1], [1, 1], [0, 2]] {
        for (grid, refinement, width) in [(0, 0, 1), (0, 0, 3)] {
            let rate = rate(2, 1, grid, refinement);
            let answers = Answers { units: &units, steps_per_unit: 1 };
            for plan in plans(&rate) {
                let walk = Walk::of_tapes(width, 16, |tape| {
                    let mut workers = Sequential { sampler: tape, parts: 1 };
                    select(answers, None, 1, None, &rate, plan, &mut workers)
                        .map(|made| written(&made))
                });
                // A missed threshold takes many bits.
                walk.follows(0.1, |outcome| law_of_two(units, 2.0, outcome));
            }
            let walk = Walk::of_tapes(width, 16, |tape| {
                select_constant_work(answers, 1, None, &rate, tape).map(|made| written(&made))
            });
            walk.follows(0.5, |outcome| law_of_two(units, 2.0, outcome));
        }
    }
}

/// The law of geometric noise of a rate per tick, to a tail of 2^−30.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 2^60")]
fn noise(per_tick: f64) -> Noise {
    let mass = |tick: u32| (-per_tick * f64::from(tick)).exp();
    let reached = (0..).map(mass).take_while(|&mass| mass > 1e-9);
    let reached = reached.map(|mass| (mass * 2_f64.powi(60)) as u64).collect();
    Noise::new(reached, vec![1 << 60])
}

fn walk_draws(
    noise: &Noise,
    program: impl Fn(&mut script::Script) -> Result<String, script::Draw>,
) -> Walk {
    Walk::new(script::walk(noise, 1 << 40, program), 1 << 60)
}

/// Two have the law; and of more items all plans, divisions and the constant work have one law, with a
/// sentinel and without.
#[test]
fn selection_draw_by_draw() {
    for units in [vec![2, 1], vec![1, 1], vec![2, 0, 1], vec![1, 1, 1]] {
        let cuts = (1..units.len()).map(|k| (k, false)).chain([(1, true), (units.len(), true)]);
        for (k, has_sentinel) in cuts {
            for refinement in [0, 1] {
                let sentinel = has_sentinel.then_some(Ticks(1 << refinement));
                let rate = rate(4, 1, 30, refinement);
                let noise = noise(4.0 / 2_f64.powi(refinement.cast_signed()));
                let answers = Answers { units: &units, steps_per_unit: 1 };
                let plainly = walk_draws(&noise, |script| {
                    select_constant_work(answers, k, sentinel, &rate, script)
                        .map(|made| written(&made))
                });
                if let ([one, other], None) = (&units[..], sentinel) {
                    let (one, other) = (*one, *other);
                    plainly.follows(0.999, |outcome| law_of_two([one, other], 4.0, outcome));
                }
                for plan in plans(&rate) {
                    for parts in 1..units.len() {
                        let walk = walk_draws(&noise, |script| {
                            let mut workers = Sequential { sampler: script, parts };
                            select(answers, None, k, sentinel, &rate, plan, &mut workers)
                                .map(|made| written(&made))
                        });
                        // The noise of the sentinel is one draw more.
                        let open = if has_sentinel { 4e-2 } else { 1e-2 };
                        assert!(walk.rest < open, "not walked: {}", walk.rest);
                        walk.agrees_with(&plainly);
                    }
                }
            }
        }
    }
}

fn noisy_written(selection: &NoisySelection) -> String {
    let NoisySelection { indices, noisy_answers } = selection;
    let noisy: Vec<i128> = noisy_answers.iter().map(|noisy| noisy.0).collect();
    format!("{indices:?} {noisy:?}")
}

/// The probability of a winner and both noisy answers, of two items.
fn laplace_law_of_two(units: [i64; 2], rate: f64, outcome: &str) -> f64 {
    let numbers: Vec<i64> =
        outcome.split(['[', ',', ']', ' ']).filter_map(|part| part.parse().ok()).collect();
    let [winner, high, low] = numbers[..] else { panic!("a winner and two noisy answers") };
    let other = 1 - winner;
    let t = (-rate).exp();
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let mass = |noisy: i64, item: i64| {
        let unit = units[usize::try_from(item).expect("of two")];
        (1.0 - t) / (1.0 + t) * t.powf((noisy - unit).abs() as f64)
    };
    mass(high, winner) * mass(low, other) * if high == low { 0.5 } else { 1.0 }
}

/// Two have the law of Laplace noise; and of more items all plans, divisions and the constant work have
/// one law.
#[test]
fn noisy_answers_draw_by_draw() {
    for units in [vec![2, 1], vec![1, 1], vec![2, 0, 1], vec![1, 1, 1]] {
        for k in 1..units.len() {
            let rate = rate(4, 1, 30, 0);
            let noise = noise(4.0);
            let answers = Answers { units: &units, steps_per_unit: 1 };
            let plainly = walk_draws(&noise, |script| {
                select_noisy_answers_constant_work(answers, k, &rate, script)
                    .map(|made| noisy_written(&made))
            });
            if let [one, other] = units[..] {
                plainly.follows(0.999, |outcome| laplace_law_of_two([one, other], 4.0, outcome));
            }
            for plan in plans(&rate) {
                for parts in 1..units.len() {
                    let walk = walk_draws(&noise, |script| {
                        let mut workers = Sequential { sampler: script, parts };
                        select_noisy_answers(answers, None, k, None, &rate, plan, &mut workers)
                            .map(|made| noisy_written(&made))
                    });
                    assert!(walk.rest < 1e-2, "not walked: {}", walk.rest);
                    walk.agrees_with(&plainly);
                }
            }
        }
    }
}
