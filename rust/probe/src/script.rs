//! Walk every sequence of results that a sampler can have.
//!
//! `tape` walks what each kind of draw does with its bits. Here each has the law that it must have.
//! Masses are rounded down, so that 1 minus their sum is the mass that was not walked.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use topgap_kernel::quantities::{TickCount, Ticks};
use topgap_kernel::ranks::{Rank, to_number};
use topgap_kernel::rate::Rate;
use topgap_kernel::sampler::Sampler;

/// Masses are in units of 2^−60.
const ONE: u64 = 1 << 60;

/// The result of `first_head` when there is none.
const NONE: u64 = u64::MAX;

/// Given results, one for each draw.
#[derive(Clone)]
pub struct Script<'a> {
    results: &'a [u64],
    read: usize,
}

/// A draw for which no result was given.
pub enum Draw {
    /// Noise, given so many leading zeros.
    Geometric {
        /// How many.
        zeros: u32,
    },
    /// Laplace noise, given so many leading zeros.
    Laplace {
        /// How many.
        zeros: u32,
    },
    /// The first head.
    FirstHead {
        /// The first item.
        from: u64,
        /// Behind the last item.
        end: u64,
        /// The coins have probability 2 to the minus this.
        leading_zeros: u32,
    },
    /// Whether bits are all 0.
    AllZero {
        /// How many bits.
        count: u32,
    },
    /// A uniform number.
    Below {
        /// It is less than this.
        bound: u64,
    },
}

impl Script<'_> {
    fn next(&mut self, draw: Draw) -> Result<u64, Draw> {
        let result = self.results.get(self.read).copied().ok_or(draw)?;
        self.read += 1;
        Ok(result)
    }
}

impl Sampler for Script<'_> {
    type Stop = Draw;

    fn geometric(&mut self, _rate: &Rate, zeros: u32) -> Result<TickCount, Draw> {
        self.next(Draw::Geometric { zeros }).map(|ticks| TickCount(u128::from(ticks)))
    }

    fn laplace(&mut self, _rate: &Rate, zeros: u32) -> Result<Ticks, Draw> {
        self.next(Draw::Laplace { zeros }).map(|ticks| Ticks(i128::from(ticks.cast_signed())))
    }

    fn first_head(&mut self, from: u64, end: u64, leading_zeros: u32) -> Result<Option<u64>, Draw> {
        if from >= end {
            return Ok(None);
        }
        let head = self.next(Draw::FirstHead { from, end, leading_zeros })?;
        Ok((head != NONE).then_some(head))
    }

    fn first_head_of_run(
        &mut self,
        from: Rank,
        end: &Rank,
        leading_zeros: u32,
    ) -> Result<Option<Rank>, Draw> {
        let head = self.first_head(small(&from), small(end), leading_zeros)?;
        let room = u32::try_from(end.words().len() * 64 - 1).expect("few words");
        Ok(head.map(|head| Rank::new(&head.into(), room)))
    }

    fn all_zero(&mut self, count: u32) -> Result<bool, Draw> {
        self.next(Draw::AllZero { count }).map(|result| result == 1)
    }

    fn below(&mut self, bound: u64) -> Result<u64, Draw> {
        self.next(Draw::Below { bound })
    }

    fn checkpoint(&mut self) -> Result<(), Draw> {
        Ok(())
    }
}

/// A rank of a run that is small enough to be walked.
fn small(rank: &Rank) -> u64 {
    u64::try_from(to_number(rank.words())).expect("a small run")
}

/// Writes down which draws are asked for, and gives the same results whoever asks.
#[derive(Default)]
pub struct Record {
    /// One word for each draw.
    pub draws: Vec<String>,
}

impl Sampler for Record {
    type Stop = ();

    fn geometric(&mut self, _rate: &Rate, zeros: u32) -> Result<TickCount, ()> {
        self.draws.push(format!("geometric{zeros}"));
        Ok(TickCount(self.draws.len() as u128 % 7))
    }

    fn laplace(&mut self, _rate: &Rate, zeros: u32) -> Result<Ticks, ()> {
        self.draws.push(format!("laplace{zeros}"));
        Ok(Ticks(self.draws.len() as i128 % 7 - 3))
    }

    fn first_head(&mut self, from: u64, end: u64, leading_zeros: u32) -> Result<Option<u64>, ()> {
        self.draws.push(format!("head{from}-{end}-{leading_zeros}"));
        Ok(None)
    }

    fn first_head_of_run(
        &mut self,
        from: Rank,
        end: &Rank,
        leading_zeros: u32,
    ) -> Result<Option<Rank>, ()> {
        self.draws.push(format!("head{}-{}-{leading_zeros}", small(&from), small(end)));
        Ok(None)
    }

    fn all_zero(&mut self, count: u32) -> Result<bool, ()> {
        self.draws.push(format!("zero{count}"));
        Ok(false)
    }

    fn below(&mut self, bound: u64) -> Result<u64, ()> {
        self.draws.push(format!("below{bound}"));
        Ok(self.draws.len() as u64 % bound)
    }

    fn checkpoint(&mut self) -> Result<(), ()> {
        self.draws.push("checkpoint".into());
        Ok(())
    }
}

/// The law of geometric noise, in units of 2^−60, rounded down.
pub struct Noise {
    /// The probability that it reaches grid steps 0, 1, 2, …
    reached: Vec<u64>,
    /// The probability of each digit below a grid step.
    digits: Vec<u64>,
    /// The law of Laplace noise by the zeros that are given, as far as it was asked for.
    laplace: RefCell<HashMap<u32, Vec<(u64, u64)>>>,
}

impl Noise {
    /// The law of which these are the parts.
    #[must_use]
    pub fn new(reached: Vec<u64>, digits: Vec<u64>) -> Self {
        Self { reached, digits, laplace: RefCell::default() }
    }

    /// Each number of ticks and its mass, given that the first bits of the uniform number are 0.
    fn given_zeros(&self, zeros: u32) -> Vec<(u64, u64)> {
        let chance = |mass: u64| (u128::from(mass) << zeros).min(u128::from(ONE));
        let on_step = |pair: &[u64]| chance(pair[0]).saturating_sub(chance(pair[1] + 1));
        let mut law = Vec::new();
        for (step, mass) in (0..).zip(self.reached.windows(2).map(on_step)) {
            for (digit, weight) in (0..).zip(&self.digits) {
                law.push((step * self.digits.len() as u64 + digit, product(mass, *weight)));
            }
        }
        law
    }

    /// The same of Laplace noise, by its definition: summed over pairs of geometric numbers. Negative
    /// numbers are written as the numbers of 64 bits that wrap to them.
    fn laplace_given_zeros(&self, zeros: u32) -> Vec<(u64, u64)> {
        let mut law = BTreeMap::new();
        for (up, up_mass) in self.given_zeros(zeros) {
            for (down, down_mass) in self.given_zeros(0) {
                let mass = product(u128::from(up_mass), down_mass);
                *law.entry(up.wrapping_sub(down)).or_insert(0) += mass;
            }
        }
        law.into_iter().collect()
    }
}

/// The product of two masses, rounded down.
fn product(a: u128, b: u64) -> u64 {
    u64::try_from((a * u128::from(b)) >> 60).expect("at most 1")
}

impl Draw {
    /// The results and their masses.
    fn law(&self, noise: &Noise) -> Vec<(u64, u64)> {
        match *self {
            Draw::Geometric { zeros } => noise.given_zeros(zeros),
            Draw::Laplace { zeros } => {
                let mut laws = noise.laplace.borrow_mut();
                laws.entry(zeros).or_insert_with(|| noise.laplace_given_zeros(zeros)).clone()
            }
            Draw::FirstHead { from, end, leading_zeros } => {
                let mut tails = ONE;
                let mut law = Vec::new();
                for head in from..end {
                    law.push((head, tails >> leading_zeros));
                    tails = tails.saturating_sub((tails >> leading_zeros) + 1);
                }
                law.push((NONE, tails));
                law
            }
            Draw::AllZero { count } => vec![(1, ONE >> count), (0, ONE - (ONE >> count))],
            Draw::Below { bound } => (0..bound).map(|number| (number, ONE / bound)).collect(),
        }
    }
}

/// The mass of each outcome, in units of 2^−60; sequences of less than `smallest` are left out.
pub fn walk(
    noise: &Noise,
    smallest: u64,
    program: impl Fn(&mut Script) -> Result<String, Draw>,
) -> BTreeMap<String, u64> {
    let mut masses = BTreeMap::new();
    let mut unfinished = vec![(Vec::new(), ONE)];
    while let Some((results, mass)) = unfinished.pop() {
        match program(&mut Script { results: &results, read: 0 }) {
            Ok(outcome) => *masses.entry(outcome).or_insert(0) += mass,
            Err(draw) => {
                for (result, chance) in draw.law(noise) {
                    let mass = product(u128::from(mass), chance);
                    if mass >= smallest {
                        unfinished.push(([results.as_slice(), &[result]].concat(), mass));
                    }
                }
            }
        }
    }
    masses
}
