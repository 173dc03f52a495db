//! Runs the kernel for the tests: it answers each line of standard input by one line. Never part of
//! the package.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Write};
use std::str::FromStr;

use num_bigint::BigUint;
use topgap_kernel::answers::Answers;
use topgap_kernel::constant_work::{select_constant_work, select_noisy_answers_constant_work};
use topgap_kernel::enclosures::{Ratio, exp_minus, ln};
use topgap_kernel::fast_log2::FastLog2;
use topgap_kernel::floats::floor_to_steps;
use topgap_kernel::geometric::geometric;
use topgap_kernel::groups::draw_each_group;
use topgap_kernel::laplace::laplace;
use topgap_kernel::noise::{self, Exponential, Laplace};
use topgap_kernel::quantities::{Ticks, Units};
use topgap_kernel::ranks::{Rank, to_number};
use topgap_kernel::rate::{GRID_BITS, Rate};
use topgap_kernel::runs::{Run, Runs};
use topgap_kernel::sampler::Sampler;
use topgap_kernel::shared_coins::first_head;
use topgap_kernel::threshold_plan::Plan;
use topgap_kernel::workers::{Sequential, Workers};
use topgap_kernel::{noisy_candidates, noisy_candidates_with_runs, select, select_noisy_answers};
use topgap_probe::script::{self, Noise, Record};
use topgap_probe::tape::{Counted, Missing, Tape, Words, walk};

fn main() -> io::Result<()> {
    let mut output = io::BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let (command, rest) = line.split_once(' ').expect("a command and its arguments");
        let given = Given(rest.split(' ').filter_map(|word| word.split_once('=')).collect());
        let answer = match command {
            "exp" => enclose_exp(&given),
            "ln" => enclose_ln(&given),
            "minus_log2" => FastLog2::shared().minus_log2(given.number("y")).to_string(),
            "floor" => floor(&given),
            "heads" => walk_heads(&given),
            "heads_of_run" => walk_heads_of_run(&given),
            "geometric" => walk_geometric(&given),
            "laplace" => walk_laplace(&given),
            "noise" => noise(&given),
            "select" => walk_select(&given),
            "scripts" => walk_scripts(&given),
            "groups" => walk_groups(&given),
            "groups_scripts" => walk_groups_scripts(&given),
            "draws" => draws_of_select(&given),
            "bits" => bits_of_select(&given),
            _ => panic!("no such command"),
        };
        writeln!(output, "{answer}")?;
    }
    Ok(())
}

/// The arguments of a command, as in `k=1 rate=1/3`.
struct Given<'a>(HashMap<&'a str, &'a str>);

impl<'a> Given<'a> {
    fn number<T: FromStr>(&self, name: &str) -> T {
        self.0[name].parse().unwrap_or_else(|_| panic!("{name} is no such number"))
    }

    fn numbers<T: FromStr>(&self, name: &str) -> Vec<T> {
        let read = |number: &str| number.parse().unwrap_or_else(|_| panic!("{name}: no numbers"));
        self.0[name].split(',').filter(|number| !number.is_empty()).map(read).collect()
    }

    /// The arguments of each of several groups, which differ in units and runs alone.
    fn groups(&self) -> Vec<Given<'a>> {
        let count = self.0["units"].split('|').count();
        let one = |group| {
            let mut given = self.0.clone();
            for name in ["units", "runs"] {
                if let Some(all) = self.0.get(name) {
                    given.insert(name, all.split('|').nth(group).expect("as many groups"));
                }
            }
            Given(given)
        };
        (0..count).map(one).collect()
    }

    /// Runs, as in `0:12:3+5` for twelve items with the answer 0 of which the ranks 3 and 5 are listed.
    fn runs(&self) -> Vec<(Run, Vec<BigUint>)> {
        let whole = |number: &str| BigUint::from_str(number).expect("digits");
        let read = |run: &str| {
            let [answer, size, listed] = run.split(':').collect::<Vec<_>>()[..] else {
                panic!("a run is an answer, a size and ranks")
            };
            let listed: Vec<BigUint> =
                listed.split('+').filter(|rank| !rank.is_empty()).map(whole).collect();
            let answer = Units(answer.parse().expect("an answer"));
            (Run { answer, size: whole(size), listed: listed.len() }, listed)
        };
        self.0.get("runs").map_or_else(Vec::new, |runs| runs.split(',').map(read).collect())
    }

    fn ratio(&self, name: &str) -> Ratio {
        let (numerator, denominator) = self.0[name].split_once('/').expect("a ratio");
        let read = |digits: &str| BigUint::from_str(digits).expect("digits");
        Ratio { numerator: read(numerator), denominator: read(denominator) }
    }

    /// On production's grid unless another is given.
    fn rate(&self) -> Rate {
        let grid = if self.0.contains_key("grid") { self.number("grid") } else { GRID_BITS };
        Rate::new(self.ratio("rate"), grid, self.number("refinement")).expect("a rate that fits")
    }

    fn walk(&self, program: impl Fn(&mut Tape) -> Result<String, Missing>) -> String {
        written(&walk(self.number("width"), self.number("depth"), program))
    }
}

fn enclose_exp(given: &Given) -> String {
    let bounds = exp_minus(&given.ratio("x"), given.number("bits"));
    format!("{} {}", bounds.low, bounds.high)
}

fn enclose_ln(given: &Given) -> String {
    let bounds = ln(given.number("n"), given.number("d"), given.number("bits"));
    format!("{} {}", bounds.low, bounds.high)
}

fn floor(given: &Given) -> String {
    let numbers = given.numbers::<u64>("bits").into_iter().map(f64::from_bits);
    format!("{:?}", floor_to_steps(numbers, given.number("factor")))
}

fn walk_heads(given: &Given) -> String {
    let (items, leading_zeros) = (given.number("items"), given.number("leading_zeros"));
    given.walk(|tape| {
        let mut heads = Vec::new();
        let mut from = 0;
        while let Some(head) = first_head(from, &items, leading_zeros, tape)? {
            heads.push(head);
            from = head + 1;
        }
        Ok(joined(&heads))
    })
}

/// The same over the ranks of a run, from `first` on: so that numbers of several words are drawn.
fn walk_heads_of_run(given: &Given) -> String {
    let (first, leading_zeros): (BigUint, u32) =
        (given.number("first"), given.number("leading_zeros"));
    let end = &first + given.number::<u64>("items");
    let room = u32::try_from(end.bits()).expect("few bits").max(leading_zeros + 1);
    let end = Rank::new(&end, room);
    given.walk(|tape| {
        let mut heads: Vec<BigUint> = Vec::new();
        let mut from = Rank::new(&first, room);
        while let Some(head) = first_head(from, &end, leading_zeros, tape)? {
            heads.push(to_number(head.words()) - &first);
            from = head.next();
        }
        Ok(joined(&heads))
    })
}

fn walk_geometric(given: &Given) -> String {
    let (rate, zeros) = (given.rate(), given.number("zeros"));
    given.walk(|tape| Ok(geometric(&rate, zeros, tape)?.0.to_string()))
}

fn walk_laplace(given: &Given) -> String {
    let rate = given.rate();
    let zeros = given.0.get("zeros").map_or(0, |_| given.number("zeros"));
    given.walk(|tape| Ok(laplace(&rate, zeros, tape)?.0.to_string()))
}

/// One draw of noise from given words: its ticks, and how many words it took.
fn noise(given: &Given) -> String {
    let mut words = Words::new(given.numbers("words"));
    let noise = geometric(&given.rate(), given.number("zeros"), &mut words);
    format!("{} {}", noise.map_or("none".into(), |noise| noise.0.to_string()), words.read())
}

fn walk_select(given: &Given) -> String {
    let units = given.numbers("units");
    let release = Release::new(given, &units);
    given.walk(|tape| release.run(tape))
}

fn walk_scripts(given: &Given) -> String {
    let units = given.numbers("units");
    let release = Release::new(given, &units);
    let noise = Noise::new(given.numbers("reached"), given.numbers("digits"));
    written(&script::walk(&noise, given.number("smallest"), |script| release.run(script)))
}

fn walk_groups(given: &Given) -> String {
    let groups = given.groups();
    let units: Vec<Vec<i64>> = groups.iter().map(|group| group.numbers("units")).collect();
    let releases = Releases::new(&groups, &units);
    given.walk(|tape| releases.run(tape))
}

fn walk_groups_scripts(given: &Given) -> String {
    let groups = given.groups();
    let units: Vec<Vec<i64>> = groups.iter().map(|group| group.numbers("units")).collect();
    let releases = Releases::new(&groups, &units);
    let noise = Noise::new(given.numbers("reached"), given.numbers("digits"));
    written(&script::walk(&noise, given.number("smallest"), |script| releases.run(script)))
}

/// The draws that one run asks for.
fn draws_of_select(given: &Given) -> String {
    let units = given.numbers("units");
    let mut record = Record::default();
    Release::new(given, &units).run(&mut record).expect("which never stops");
    record.draws.join(" ")
}

/// How many random bits each of some runs asks for, each with a key of its own.
fn bits_of_select(given: &Given) -> String {
    let units = given.numbers("units");
    let release = Release::new(given, &units);
    let asked = |_| {
        let mut counted = Counted::fresh();
        release.run(&mut counted).unwrap_or_else(|never| match never {});
        counted.asked()
    };
    joined(&(0..given.number("times")).map(asked).collect::<Vec<u64>>())
}

/// A run of the whole kernel for each of several groups, by so many workers.
struct Releases<'a> {
    all: Vec<Release<'a>>,
    workers: usize,
}

impl<'a> Releases<'a> {
    fn new(groups: &[Given], units: &'a [Vec<i64>]) -> Self {
        let all = groups.iter().zip(units).map(|(given, units)| Release::new(given, units));
        Self { all: all.collect(), workers: groups[0].number("workers") }
    }

    /// What is drawn for each group, in the order of the groups. A broken kernel clones the sampler.
    fn run<S: Sampler<Stop: Send> + Clone>(&self, sampler: &mut S) -> Result<String, S::Stop> {
        let works: Vec<usize> = self.all.iter().map(|each| each.answers.units.len() + 1).collect();
        let workers = &mut Sequential { sampler, parts: self.workers };
        let parts = draw_each_group(&works, workers, |group, sampler, drawn: &mut Vec<_>| {
            drawn.push(self.all[group].run(sampler)?);
            Ok(())
        })?;
        Ok(parts.concat().join("|"))
    }
}

/// One run of the whole kernel, or as far as the candidates.
struct Release<'a> {
    answers: Answers<'a>,
    /// Runs beside the answers, and which of their ranks are listed.
    runs: Vec<(Run, Vec<BigUint>)>,
    k: usize,
    rate: Rate,
    plan: Option<Plan>,
    parts: usize,
    /// Whether the work is to be the same for all answers.
    constant_work: bool,
    /// Whether noise is Laplace noise, and noisy answers are released.
    is_laplace: bool,
    /// In ticks, the sentinel's answer, or with Laplace noise what the winners must reach, if anything.
    cut: Option<Ticks>,
    /// Whether only candidates are asked for.
    candidates: bool,
    /// What they must reach, if anything.
    floor: Option<Ticks>,
}

impl<'a> Release<'a> {
    fn new(given: &Given, units: &'a [i64]) -> Self {
        let rate = given.rate();
        let ticks_per_unit = rate.ticks_per_unit(given.number("per_unit"));
        let plan = given.0.get("threshold").map(|_| Plan {
            threshold: ticks_per_unit.ticks(Units(given.number("threshold")))
                + Ticks(given.number("above")),
            leading_zeros: given.number("leading_zeros"),
            log_block: given.number("log_block"),
        });
        Self {
            answers: Answers { units, steps_per_unit: given.number("per_unit") },
            runs: given.runs(),
            k: given.number("k"),
            rate,
            plan,
            parts: given.number("parts"),
            constant_work: given.0.contains_key("constant_work"),
            is_laplace: given.0.contains_key("laplace"),
            cut: given.0.get("cut").map(|_| Ticks(given.number("cut"))),
            candidates: given.0.contains_key("floor"),
            floor: given.0.get("floor").and_then(|floor| floor.parse().ok().map(Ticks)),
        }
    }

    fn run<S: Sampler<Stop: Send>>(&self, draws: &mut S) -> Result<String, S::Stop> {
        let mut workers = Sequential { sampler: draws, parts: self.parts };
        match (self.candidates, self.is_laplace) {
            (true, true) => return self.candidates(Laplace(&self.rate), &mut workers),
            (true, false) => return self.candidates(Exponential(&self.rate), &mut workers),
            (false, true) => return self.noisy_answers(&mut workers),
            (false, false) => {}
        }
        let (k, rate) = (self.k, &self.rate);
        let mut asked = Vec::new();
        let selection = if self.constant_work {
            select_constant_work(self.answers, k, self.cut, rate, workers.sampler)?
        } else {
            let all = self.all_runs();
            let mut find_listed =
                |run, ranks: &[&[u64]]| Ok(self.find_listed(run, ranks, &mut asked));
            let runs = Runs { all: &all, find_listed: &mut find_listed };
            let runs = (!all.is_empty()).then_some(runs);
            select(self.answers, runs, k, self.cut, rate, self.plan, &mut workers)?
        };
        let gaps: Vec<u128> = selection.gaps.iter().map(|gap| gap.0).collect();
        Ok(format!("{};{}", joined(&self.written_out(&selection.indices, &asked)), joined(&gaps)))
    }

    /// The winners; and their noisy answers, and that of the next item.
    fn noisy_answers<W: Workers>(&self, workers: &mut W) -> Result<String, W::Stop> {
        let (k, rate) = (self.k, &self.rate);
        let mut asked = Vec::new();
        let selection = if self.constant_work {
            let sampler = workers.main_sampler();
            select_noisy_answers_constant_work(self.answers, k, rate, sampler)?
        } else {
            let all = self.all_runs();
            let mut find_listed =
                |run, ranks: &[&[u64]]| Ok(self.find_listed(run, ranks, &mut asked));
            let runs = Runs { all: &all, find_listed: &mut find_listed };
            let runs = (!all.is_empty()).then_some(runs);
            select_noisy_answers(self.answers, runs, k, self.cut, rate, self.plan, workers)?
        };
        let ticks: Vec<i128> = selection.noisy_answers.iter().map(|each| each.0).collect();
        let winners = self.written_out(&selection.indices, &asked);
        Ok(format!("{};{}", joined(&winners), joined(&ticks)))
    }

    fn all_runs(&self) -> Vec<Run> {
        self.runs.iter().map(|run| run.0.clone()).collect()
    }

    /// The places of those that are listed; where each would be in the list written out goes into `asked`.
    fn find_listed(&self, run: usize, ranks: &[&[u64]], asked: &mut Vec<BigUint>) -> Vec<usize> {
        let before: BigUint = self.runs[..run].iter().map(|run| &run.0.size).sum();
        let ranks: Vec<BigUint> = ranks.iter().map(|words| to_number(words)).collect();
        asked.extend(ranks.iter().map(|rank| &before + rank + self.answers.units.len()));
        (0..ranks.len()).filter(|&place| self.runs[run].1.contains(&ranks[place])).collect()
    }

    /// The positions in a list of all answers, and after them of all items of each run.
    fn written_out(&self, indices: &[usize], asked: &[BigUint]) -> Vec<BigUint> {
        let position = |&index: &usize| match index.checked_sub(self.answers.units.len()) {
            None => BigUint::from(index),
            Some(number) => asked[number].clone(),
        };
        indices.iter().map(position).collect()
    }

    /// The candidates that no other k + 1 exceed, and that reach the floor: index and noisy answer.
    fn candidates<N: noise::Noise, W: Workers>(
        &self,
        noise: N,
        workers: &mut W,
    ) -> Result<String, W::Stop> {
        let (needed, floor, plan) = (self.k + 1, self.floor, self.plan);
        let mut asked = Vec::new();
        let mut found = if self.runs.is_empty() {
            noisy_candidates(self.answers, needed, floor, noise, plan, workers)?
        } else {
            let all = self.all_runs();
            let mut find_listed =
                |run, ranks: &[&[u64]]| Ok(self.find_listed(run, ranks, &mut asked));
            let runs = Runs { all: &all, find_listed: &mut find_listed };
            noisy_candidates_with_runs(self.answers, runs, needed, floor, noise, plan, workers)?
        };
        found.sort_by_key(|each| Reverse(each.noisy_answer));
        let last = found.get(self.k).map(|each| each.noisy_answer);
        found.retain(|each| Some(each.noisy_answer) >= last.max(self.floor));
        found.sort_by_key(|each| each.index);
        let ticks: Vec<i128> = found.iter().map(|each| each.noisy_answer.0).collect();
        let indices: Vec<usize> = found.iter().map(|each| each.index).collect();
        Ok(format!("{};{}", joined(&self.written_out(&indices, &asked)), joined(&ticks)))
    }
}

fn joined<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(",")
}

fn written(masses: &BTreeMap<String, u64>) -> String {
    let one = |(outcome, mass): (&String, &u64)| format!("{outcome}:{mass}");
    masses.iter().map(one).collect::<Vec<_>>().join(" ")
}
