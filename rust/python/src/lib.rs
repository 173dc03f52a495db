//! The Python face of the kernel: nothing but the translation between the two worlds.

mod patterns;

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::available_parallelism;

use num_bigint::{BigInt, BigUint};
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray1};
use pyo3::exceptions::{
    PyImportError, PyKeyboardInterrupt, PyMemoryError, PyOverflowError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use topgap_kernel::answers::Answers;
use topgap_kernel::bit_source::{BitSource, Cipher, Key, NoEntropy};
use topgap_kernel::constant_work::{select_constant_work, select_noisy_answers_constant_work};
use topgap_kernel::enclosures::Ratio;
use topgap_kernel::floats::{self, FloatProblem};
use topgap_kernel::groups::draw_each_group;
use topgap_kernel::laplace::laplace;
use topgap_kernel::noise;
use topgap_kernel::quantities::{Ticks, Units};
use topgap_kernel::ranking::{NoisySelection, Selection};
use topgap_kernel::rate::{GRID_BITS, Rate};
use topgap_kernel::runs::{Run, Runs};
use topgap_kernel::workers::{Sequential, Threads, Workers};
use topgap_kernel::{
    NoisyCandidate, noisy_candidates, noisy_candidates_with_runs, select, select_noisy_answers,
};

pyo3::import_exception!(topgap.errors, KernelError);

/// Work on more answers than this lets other threads run meanwhile.
const MAX_ANSWERS_WITH_GIL: usize = 10_000;

/// Each thread has at least so many answers, unless the user says how many threads there are.
const MIN_ANSWERS_PER_THREAD: usize = 1 << 20;

/// A group is as much work as so many answers, about.
const ANSWERS_PER_GROUP: usize = 1 << 15;

/// Numbers drawn between two looks for signals.
const DRAWS_PER_CHECKPOINT: usize = 1 << 12;

/// Noisy answers have this many bits in ticks: answers have 64 of them, the ticks of a unit the rest.
const TICK_BITS: u32 = 120;

const TOO_SHORT: &str = "The kernel's integers are too short for it.";
const TOO_FEW: &str = "There must be more answers than winners.";
const NO_GROUPS: &str = "The groups must end where the answers do, each after the one before.";
const OTHER_CUT: &str = "A floor is for Laplace noise, and a sentinel for exponential noise.";
const MORE_LISTED: &str = "More items of a run are listed than it has.";
const TOO_MANY: &str = "So many draws do not fit into memory; draw fewer at a time.";
const DEFECT: &str = "The kernel met a defect of its own, or answers that were changed while it ran; nothing was released.";
const STOPPED: &str = "The work was stopped; nothing was released.";
const NO_NUMPY: &str =
    "The kernel cannot use NumPy's C API; install the NumPy that topgap asks for.";
const NO_ENTROPY: &str = "The operating system gave no randomness; nothing was released.";

/// The winners' indices, and the gaps in steps; with Laplace noise, the noisy answers in steps in place
/// of the gaps, and that of the next item. Either as the bytes of int64; gaps and noisy answers as a
/// list of int if one does not fit.
type Released<'py> = (Bound<'py, PyBytes>, Bound<'py, PyAny>);

/// The same for many groups, one after the other: how many winners each group has, all indices, how
/// many numbers each has, and all numbers.
type ReleasedGroups<'py> =
    (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyAny>);

/// The indices of items, as the bytes of int64, and their noisy answers in ticks.
type Found<'py> = (Bound<'py, PyBytes>, Vec<i128>);

/// A run: its answer, how many items it has, and how many of them are listed.
type RunGiven = (i64, BigUint, usize);

/// Asks whether to go on.
type Checkpoint = Box<dyn FnMut() -> PyResult<()> + Send + Sync>;

/// The compiled kernel of topgap.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::patterns::Pattern;
    #[pymodule_export]
    use super::{Kernel, Laplace, Stream, Streams, floor_to_steps};

    use super::{Bound, PyModule, PyResult, prepare, set_hook};

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        // What a defect would print could tell of the answers.
        set_hook(Box::new(|_| {}));
        prepare(module.py())
    }
}

/// Fetch what is needed of Python and `NumPy` now: at the first use, a failure would be a panic.
///
/// Fetching runs a little of Python's code, in which a signal's handler can raise. If it fails once
/// and then does not, that was the reason; what the handler raised is lost in the panic.
fn prepare(py: Python<'_>) -> PyResult<()> {
    for module in ["numpy", "numpy.lib", "topgap.errors"] {
        py.import(module)?;
    }
    let fetch = || {
        let _ = py.get_type::<KernelError>();
        PyArray1::from_vec(py, vec![0_i64]).try_readonly().is_ok()
    };
    let fetched = || matches!(catch_unwind(AssertUnwindSafe(fetch)), Ok(true));
    match (0..2).position(|_| fetched()) {
        Some(0) => Ok(()),
        Some(_) => Err(PyKeyboardInterrupt::new_err(())),
        None => Err(PyImportError::new_err(NO_NUMPY)),
    }
}

/// What of the parameters the kernel works with, prepared once.
#[pyclass(frozen, module = "topgap._core")]
struct Kernel {
    rate: Rate,
    k: usize,
    steps_per_unit: u64,
    is_laplace: bool,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
impl Kernel {
    /// The kernel for k winners and noise of rate numerator/denominator per step: exponential, or
    /// Laplace noise, which is drawn in steps.
    #[new]
    #[pyo3(signature = (k, numerator, denominator, steps_per_unit, *, is_laplace))]
    fn new(
        k: usize,
        numerator: BigUint,
        denominator: BigUint,
        steps_per_unit: u64,
        is_laplace: bool,
    ) -> PyResult<Self> {
        let step_bits = u64::BITS - steps_per_unit.leading_zeros();
        let prepared = guarded(|| {
            let room = TICK_BITS.checked_sub(64 + step_bits)?;
            let most_refinement = if is_laplace { 0 } else { room };
            Rate::new(Ratio { numerator, denominator }, GRID_BITS, most_refinement)
        })?;
        let rate = prepared.ok_or_else(|| PyOverflowError::new_err(TOO_SHORT))?;
        Ok(Self { rate, k, steps_per_unit, is_laplace })
    }

    /// Noise is drawn in ticks, of which 2^refinement make a step of the resolution.
    #[getter]
    fn refinement(&self) -> u32 {
        self.rate.refinement()
    }

    /// Release the top k of the answers, given in units or in steps: indices, and gaps or noisy answers.
    ///
    /// With a floor, which is for Laplace noise, only winners whose noisy answers reach it. With a
    /// sentinel, which is for exponential noise, only those above it. Either is a number of steps.
    #[pyo3(signature = (answers, *, in_steps, threads, floor=None, sentinel=None))]
    fn release<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        in_steps: bool,
        threads: usize,
        floor: Option<BigInt>,
        sentinel: Option<Whole>,
    ) -> PyResult<Released<'py>> {
        let answers = self.answers(&answers, in_steps)?;
        let cut = self.cut(floor.as_ref(), sentinel)?;
        self.check_enough(&BigUint::from(answers.units.len()), cut.is_given)?;
        let count = answers.units.len();
        let threads = threads_for(count, threads);
        let selection = detached(py, count, || {
            if threads == 1 {
                let sampler = &mut fresh(check_signals)?;
                self.select(answers, None, cut, &mut Sequential { sampler, parts: 1 })
            } else {
                self.select(answers, None, cut, &mut in_threads(threads)?)
            }
        })?;
        released(py, &selection)
    }

    /// The same release where some items are in runs: indices from the number of answers on count
    /// through the items that `find_listed` was asked about.
    #[pyo3(signature = (answers, *, runs, find_listed, in_steps, threads, floor=None, sentinel=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn release_with_runs<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        runs: Vec<RunGiven>,
        find_listed: Py<PyAny>,
        in_steps: bool,
        threads: usize,
        floor: Option<BigInt>,
        sentinel: Option<Whole>,
    ) -> PyResult<Released<'py>> {
        let answers = self.answers(&answers, in_steps)?;
        let cut = self.cut(floor.as_ref(), sentinel)?;
        let all = read_runs(runs)?;
        let in_runs: BigUint = all.iter().map(Run::unlisted).sum();
        self.check_enough(&(in_runs + answers.units.len()), cut.is_given)?;
        let mut find_listed = ask_python(find_listed);
        let runs = Some(Runs { all: &all, find_listed: &mut find_listed });
        let count = answers.units.len();
        let threads = threads_for(count, threads);
        let selection = detached(py, count, || {
            if threads == 1 {
                let sampler = &mut fresh(check_signals)?;
                let workers = &mut Sequential { sampler, parts: 1 };
                self.select(answers, runs, cut, workers)
            } else {
                self.select(answers, runs, cut, &mut in_threads(threads)?)
            }
        })?;
        released(py, &selection)
    }

    /// Release the top k of each group; `ends` has where the answers of each group end. If there is a
    /// size, that of a domain, each group has all its members, and those that are not listed among the
    /// group's answers have this answer. `find_listed` is given the number of a group and a few ranks.
    ///
    /// A stream is used up from its beginning on, group after group.
    #[pyo3(signature = (answers, ends, *, in_steps, threads, floor=None, sentinel=None, run=None, find_listed=None, constant_work=false, stream=None))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords")]
    fn release_groups<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        ends: PyReadonlyArray1<'py, i64>,
        in_steps: bool,
        threads: usize,
        floor: Option<BigInt>,
        sentinel: Option<Whole>,
        run: Option<(i64, BigUint)>,
        find_listed: Option<Py<PyAny>>,
        constant_work: bool,
        stream: Option<&mut Stream>,
    ) -> PyResult<ReleasedGroups<'py>> {
        let answers = self.answers(&answers, in_steps)?;
        let cut = self.cut(floor.as_ref(), sentinel)?;
        let groups = Groups::new(answers, ends.as_slice()?, run, find_listed)?;
        groups.check_room()?;
        let can_be_fewer = cut.is_given || (constant_work && self.is_laplace);
        self.check_enough(&groups.fewest_items(), can_be_fewer)?;
        let works: Vec<usize> =
            groups.listed.iter().map(|listed| listed.units.len() + ANSWERS_PER_GROUP).collect();
        let work: usize = works.iter().sum();
        let threads = if stream.is_some() { 1 } else { threads_for(work, threads) };
        let draw = |group: usize, sampler: &mut Cipher<Checkpoint>, published: &mut Published| {
            published.push(&self.select_in_group(&groups, group, cut, constant_work, sampler)?);
            Ok(())
        };
        // Threads may call Python, so this one must not keep it to itself.
        let parts = py.detach(|| {
            guarded(|| {
                if let Some(Stream(sampler)) = stream {
                    draw_each_group(&works, &mut Sequential { sampler, parts: 1 }, draw)
                } else {
                    draw_each_group(&works, &mut in_threads(threads.min(works.len()).max(1))?, draw)
                }
            })?
        })?;
        released_groups(py, &parts)
    }

    /// Add noise to the items of runs: the indices among the items that `find_listed` was asked about
    /// and noisy answers, in ticks, of all but those that lie below k + 1 others of them, or below
    /// the floor.
    #[pyo3(signature = (runs, *, find_listed, in_steps, floor))]
    fn run_candidates<'py>(
        &self,
        py: Python<'py>,
        runs: Vec<RunGiven>,
        find_listed: Py<PyAny>,
        in_steps: bool,
        floor: Option<BigInt>,
    ) -> PyResult<Found<'py>> {
        let all = read_runs(runs)?;
        let mut find_listed = ask_python(find_listed);
        let runs = Runs { all: &all, find_listed: &mut find_listed };
        let steps_per_unit = if in_steps { 1 } else { self.steps_per_unit };
        let answers = Answers { units: &[], steps_per_unit };
        let floor = floor.as_ref().and_then(to_floor);
        let needed = self.k.saturating_add(1);
        let found = detached(py, 0, || {
            let sampler = &mut fresh(check_signals)?;
            let workers = &mut Sequential { sampler, parts: 1 };
            let rate = &self.rate;
            if self.is_laplace {
                let noise = noise::Laplace(rate);
                noisy_candidates_with_runs(answers, runs, needed, floor, noise, None, workers)
            } else {
                let noise = noise::Exponential(rate);
                noisy_candidates_with_runs(answers, runs, needed, floor, noise, None, workers)
            }
        })?;
        in_python(py, &found)
    }

    /// The same release, with the same work for all answers; with Laplace noise of all of them, if
    /// there are no more than k.
    #[pyo3(signature = (answers, *, in_steps, sentinel=None))]
    fn release_constant_work<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        in_steps: bool,
        sentinel: Option<Whole>,
    ) -> PyResult<Released<'py>> {
        let answers = self.answers(&answers, in_steps)?;
        let Cut { sentinel, is_given, .. } = self.cut(None, sentinel)?;
        self.check_enough(&BigUint::from(answers.units.len()), self.is_laplace || is_given)?;
        let selection = detached(py, answers.units.len(), || {
            self.select_constant_work(answers, sentinel, &mut fresh(check_signals)?)
        })?;
        released(py, &selection)
    }

    /// Add noise to the answers: the indices and noisy answers, in ticks, of all items but those that
    /// lie below k + 1 others, or below the floor.
    #[pyo3(signature = (answers, *, in_steps, floor, stream, threads))]
    fn candidates<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        in_steps: bool,
        floor: Option<BigInt>,
        stream: Option<&mut Stream>,
        threads: usize,
    ) -> PyResult<Found<'py>> {
        let answers = self.answers(&answers, in_steps)?;
        let count = answers.units.len();
        let floor = floor.as_ref().and_then(to_floor);
        let threads = threads_for(count, threads);
        let found: Vec<NoisyCandidate> = detached(py, count, || {
            if let Some(Stream(sampler)) = stream {
                self.find_candidates(answers, floor, &mut Sequential { sampler, parts: 1 })
            } else if threads == 1 {
                let sampler = &mut fresh(check_signals)?;
                self.find_candidates(answers, floor, &mut Sequential { sampler, parts: 1 })
            } else {
                self.find_candidates(answers, floor, &mut in_threads(threads)?)
            }
        })?;
        in_python(py, &found)
    }
}

impl Kernel {
    fn answers<'a>(
        &self,
        answers: &'a PyReadonlyArray1<'_, i64>,
        in_steps: bool,
    ) -> PyResult<Answers<'a>> {
        let steps_per_unit = if in_steps { 1 } else { self.steps_per_unit };
        Ok(Answers { units: answers.as_slice()?, steps_per_unit })
    }

    fn select<W: Workers>(
        &self,
        answers: Answers,
        runs: Option<Runs<W::Stop>>,
        cut: Cut,
        workers: &mut W,
    ) -> Result<Outcome, W::Stop> {
        let (k, rate) = (self.k, &self.rate);
        if self.is_laplace {
            return select_noisy_answers(answers, runs, k, cut.floor, rate, None, workers)
                .map(Outcome::Noisy);
        }
        select(answers, runs, k, cut.sentinel, rate, None, workers).map(Outcome::Gaps)
    }

    /// Select in one group; the sampler goes on to the next.
    fn select_in_group(
        &self,
        groups: &Groups,
        group: usize,
        cut: Cut,
        constant_work: bool,
        sampler: &mut Cipher<Checkpoint>,
    ) -> PyResult<Outcome> {
        let answers = groups.listed[group];
        if constant_work {
            return self.select_constant_work(answers, cut.sentinel, sampler);
        }
        let workers = &mut Sequential { sampler, parts: 1 };
        let (Some((answer, size)), Some(ask)) = (&groups.run, &groups.find_listed) else {
            return self.select(answers, None, cut, workers);
        };
        let run = Run { answer: *answer, size: size.clone(), listed: answers.units.len() };
        let mut find_listed = |_: usize, ranks: &[&[u64]]| call_find_listed(ask, group, ranks);
        let runs = Runs { all: &[run], find_listed: &mut find_listed };
        self.select(answers, Some(runs), cut, workers)
    }

    fn select_constant_work(
        &self,
        answers: Answers,
        sentinel: Option<Ticks>,
        sampler: &mut Cipher<impl FnMut() -> PyResult<()>>,
    ) -> PyResult<Outcome> {
        let (k, rate) = (self.k, &self.rate);
        if self.is_laplace {
            select_noisy_answers_constant_work(answers, k, rate, sampler).map(Outcome::Noisy)
        } else {
            select_constant_work(answers, k, sentinel, rate, sampler).map(Outcome::Gaps)
        }
    }

    /// Read where the list of winners ends, in steps: for Laplace noise a floor, and else a sentinel.
    fn cut(&self, floor: Option<&BigInt>, sentinel: Option<Whole>) -> PyResult<Cut> {
        if if self.is_laplace { sentinel.is_some() } else { floor.is_some() } {
            return Err(PyValueError::new_err(OTHER_CUT));
        }
        let is_given = floor.is_some() || sentinel.is_some();
        let refinement = self.rate.refinement();
        let sentinel = sentinel.map(|steps| to_sentinel(steps, refinement)).transpose()?;
        Ok(Cut { floor: floor.and_then(to_floor), sentinel, is_given })
    }

    fn find_candidates<W: Workers>(
        &self,
        answers: Answers,
        floor: Option<Ticks>,
        workers: &mut W,
    ) -> Result<Vec<NoisyCandidate>, W::Stop> {
        let (needed, rate) = (self.k.saturating_add(1), &self.rate);
        if self.is_laplace {
            noisy_candidates(answers, needed, floor, noise::Laplace(rate), None, workers)
        } else {
            noisy_candidates(answers, needed, floor, noise::Exponential(rate), None, workers)
        }
    }

    /// See whether the top k of so many items can be released, or those of them that reach a floor.
    fn check_enough(&self, items: &BigUint, can_be_fewer: bool) -> PyResult<()> {
        let least = if can_be_fewer { 0 } else { self.k };
        if self.k == 0 || *items <= BigUint::from(least) {
            return Err(PyValueError::new_err(TOO_FEW));
        }
        Ok(())
    }
}

/// The answers of each group; and the answer and size of the run that each group has beside them.
struct Groups<'a> {
    listed: Vec<Answers<'a>>,
    run: Option<(Units, BigUint)>,
    find_listed: Option<Py<PyAny>>,
}

impl<'a> Groups<'a> {
    fn new(
        answers: Answers<'a>,
        ends: &[i64],
        run: Option<(i64, BigUint)>,
        find_listed: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let (mut from, mut listed) = (0, Vec::with_capacity(ends.len()));
        for &end in ends {
            let end = usize::try_from(end).ok();
            let range = end.and_then(|end| answers.units.get(from..end));
            let units = range.ok_or_else(|| PyValueError::new_err(NO_GROUPS))?;
            listed.push(Answers { units, ..answers });
            from += units.len();
        }
        if from != answers.units.len() || run.is_some() != find_listed.is_some() {
            return Err(PyValueError::new_err(NO_GROUPS));
        }
        Ok(Self { listed, run: run.map(|(answer, size)| (Units(answer), size)), find_listed })
    }

    /// See whether the domain has room for the items of each group.
    fn check_room(&self) -> PyResult<()> {
        let most = self.listed.iter().map(|listed| listed.units.len()).max().unwrap_or(0);
        match &self.run {
            Some((_, size)) if *size < BigUint::from(most) => {
                Err(PyValueError::new_err(MORE_LISTED))
            }
            _ => Ok(()),
        }
    }

    /// How many items take part in the group that has the fewest.
    fn fewest_items(&self) -> BigUint {
        let fewest = self.listed.iter().map(|listed| listed.units.len()).min().unwrap_or(0);
        self.run.as_ref().map_or_else(|| fewest.into(), |(_, size)| size.clone())
    }
}

/// A whole number. Python's short ones are read faster.
#[derive(FromPyObject)]
enum Whole {
    Short(i64),
    Long(BigInt),
}

/// Where the list of winners ends, in ticks.
#[derive(Clone, Copy)]
struct Cut {
    floor: Option<Ticks>,
    sentinel: Option<Ticks>,
    /// Whether there can be fewer than k winners; a floor below all noisy answers is none.
    is_given: bool,
}

/// Runs as the kernel takes them.
fn read_runs(runs: Vec<RunGiven>) -> PyResult<Vec<Run>> {
    let read = |(answer, size, listed): RunGiven| {
        if size < BigUint::from(listed) {
            return Err(PyValueError::new_err(MORE_LISTED));
        }
        Ok(Run { answer: Units(answer), size, listed })
    };
    runs.into_iter().map(read).collect()
}

/// Ask a function of Python which items of a run are listed.
fn ask_python(
    find_listed: Py<PyAny>,
) -> impl FnMut(usize, &[&[u64]]) -> PyResult<Vec<usize>> + Send {
    move |run, ranks| call_find_listed(&find_listed, run, ranks)
}

/// Ask which of these ranks are listed in a run, or in a group, of this number.
fn call_find_listed(
    find_listed: &Py<PyAny>,
    number: usize,
    ranks: &[&[u64]],
) -> PyResult<Vec<usize>> {
    Python::attach(|py| {
        let bytes = |rank: &&[u64]| in_bytes(py, rank.iter().map(|word| word.to_be_bytes()));
        let ranks: Vec<_> = ranks.iter().map(bytes).collect::<PyResult<_>>()?;
        find_listed.call1(py, (number, ranks))?.extract(py)
    })
}

/// Candidates, as Python takes them.
fn in_python<'py>(py: Python<'py>, found: &[NoisyCandidate]) -> PyResult<Found<'py>> {
    let indices = found.iter().map(|found| found.index);
    Ok((packed_sizes(py, indices)?, found.iter().map(|found| found.noisy_answer.0).collect()))
}

/// What may be published.
enum Outcome {
    /// With exponential noise.
    Gaps(Selection),
    /// With Laplace noise.
    Noisy(NoisySelection),
}

/// What may be published of some groups, one after the other.
#[derive(Default)]
struct Published {
    winners: Vec<i64>,
    indices: Vec<i64>,
    counts: Vec<i64>,
    /// Gaps or noisy answers; 0 in the place of one that does not fit.
    numbers: Vec<i64>,
    /// Those that do not fit, and their places.
    long_numbers: Vec<(usize, BigInt)>,
}

impl Published {
    /// Add what may be published of one more group.
    fn push(&mut self, outcome: &Outcome) {
        let before = self.numbers.len();
        let indices = match outcome {
            Outcome::Gaps(selection) => {
                selection.gaps.iter().for_each(|gap| self.push_number(gap.0));
                &selection.indices
            }
            Outcome::Noisy(selection) => {
                selection.noisy_answers.iter().for_each(|each| self.push_number(each.0));
                &selection.indices
            }
        };
        self.counts.push(in_int64(self.numbers.len() - before));
        self.winners.push(in_int64(indices.len()));
        self.indices.extend(indices.iter().copied().map(in_int64));
    }

    fn push_number<T: Copy + Into<BigInt>>(&mut self, number: T)
    where
        i64: TryFrom<T>,
    {
        self.numbers.push(i64::try_from(number).unwrap_or_else(|_| {
            self.long_numbers.push((self.numbers.len(), number.into()));
            0
        }));
    }

    /// All numbers, also those that do not fit.
    fn all_numbers(&self) -> Vec<BigInt> {
        let mut numbers: Vec<BigInt> = self.numbers.iter().copied().map(BigInt::from).collect();
        for (place, number) in &self.long_numbers {
            numbers[*place].clone_from(number);
        }
        numbers
    }
}

/// What may be published, as Python takes it.
fn released<'py>(py: Python<'py>, outcome: &Outcome) -> PyResult<Released<'py>> {
    let (indices, numbers) = match outcome {
        Outcome::Gaps(selection) => {
            let gaps: Vec<u128> = selection.gaps.iter().map(|gap| gap.0).collect();
            (&selection.indices, packed(py, gaps)?)
        }
        Outcome::Noisy(selection) => {
            let ticks: Vec<i128> = selection.noisy_answers.iter().map(|each| each.0).collect();
            (&selection.indices, packed(py, ticks)?)
        }
    };
    Ok((packed_sizes(py, indices.iter().copied())?, numbers))
}

/// The same for many groups.
fn released_groups<'py>(py: Python<'py>, parts: &[Published]) -> PyResult<ReleasedGroups<'py>> {
    let numbers = if parts.iter().all(|part| part.long_numbers.is_empty()) {
        joined(py, parts, |part| &part.numbers)?.into_any()
    } else {
        PyList::new(py, parts.iter().flat_map(Published::all_numbers).collect::<Vec<_>>())?
            .into_any()
    };
    Ok((
        joined(py, parts, |part| &part.winners)?,
        joined(py, parts, |part| &part.indices)?,
        joined(py, parts, |part| &part.counts)?,
        numbers,
    ))
}

/// The numbers of all parts, one part after the other, as the bytes of int64.
fn joined<'py>(
    py: Python<'py>,
    parts: &[Published],
    numbers: fn(&Published) -> &Vec<i64>,
) -> PyResult<Bound<'py, PyBytes>> {
    let count = parts.iter().map(|part| numbers(part).len()).sum::<usize>();
    PyBytes::new_with(py, 8 * count, |bytes| {
        let (chunks, _) = bytes.as_chunks_mut();
        let all = parts.iter().flat_map(numbers);
        chunks.iter_mut().zip(all).for_each(|(chunk, number)| *chunk = number.to_ne_bytes());
        Ok(())
    })
}

/// A size or place, which is below 2^63.
fn in_int64(size: usize) -> i64 {
    (size as u64).cast_signed()
}

/// Sizes or places as the bytes of int64.
fn packed_sizes(
    py: Python<'_>,
    sizes: impl ExactSizeIterator<Item = usize>,
) -> PyResult<Bound<'_, PyBytes>> {
    in_bytes(py, sizes.map(|size| (size as u64).to_ne_bytes()))
}

/// Numbers as the bytes of int64, or as a list if one does not fit.
fn packed<'py, T>(py: Python<'py>, numbers: Vec<T>) -> PyResult<Bound<'py, PyAny>>
where
    T: Copy + IntoPyObject<'py>,
    i64: TryFrom<T>,
{
    let short: Result<Vec<i64>, _> = numbers.iter().map(|&number| i64::try_from(number)).collect();
    match short {
        Ok(short) => Ok(in_bytes(py, short.into_iter().map(i64::to_ne_bytes))?.into_any()),
        Err(_) => Ok(PyList::new(py, numbers)?.into_any()),
    }
}

/// Discrete Laplace noise of a rate, prepared once: x whole steps with a probability proportional to
/// e^−(rate·|x|).
#[pyclass(frozen, module = "topgap._core")]
struct Laplace {
    rate: Rate,
}

#[pymethods]
impl Laplace {
    /// Noise of rate numerator/denominator per step.
    #[new]
    fn new(numerator: BigUint, denominator: BigUint) -> PyResult<Self> {
        if numerator == BigUint::ZERO || denominator == BigUint::ZERO {
            return Err(PyValueError::new_err("The rate must be a ratio greater than 0."));
        }
        // Nothing finer than whole steps is asked for.
        let prepared = guarded(|| Rate::new(Ratio { numerator, denominator }, GRID_BITS, 0))?;
        let rate = prepared.ok_or_else(|| PyOverflowError::new_err(TOO_SHORT))?;
        Ok(Self { rate })
    }

    /// So many independent draws, in steps, from a key of their own.
    fn draw(&self, py: Python<'_>, count: usize) -> PyResult<Vec<i128>> {
        let mut drawn: Vec<i128> = Vec::new();
        drawn.try_reserve_exact(count).map_err(|_| PyMemoryError::new_err(TOO_MANY))?;
        detached(py, count, || {
            let source = &mut fresh(check_signals)?;
            while drawn.len() < count {
                for _ in 0..DRAWS_PER_CHECKPOINT.min(count - drawn.len()) {
                    drawn.push(laplace(&self.rate, 0, source)?.0);
                }
                source.checkpoint()?;
            }
            Ok(drawn)
        })
    }
}

/// The independent streams of one release, for parts of the answers that are far apart. Pickled, it
/// goes where they are, and nowhere else: who has it knows the noise.
#[pyclass(frozen, module = "topgap._core")]
struct Streams(Key);

#[pymethods]
impl Streams {
    /// Streams that nobody else has, keyed by the operating system.
    #[new]
    fn new() -> PyResult<Self> {
        Key::fresh().map(Self).map_err(|NoEntropy| KernelError::new_err(NO_ENTROPY))
    }

    /// The stream of this number, from its beginning.
    fn open(&self, number: u64) -> Stream {
        Stream(Cipher::of(&self.0, number, Box::new(check_signals)))
    }

    #[staticmethod]
    fn _received(key: [u8; 32]) -> Self {
        Self(Key::received(key))
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let key = PyBytes::new(slf.py(), slf.get().0.to_send());
        Ok((slf.get_type().getattr("_received")?, (key,)))
    }
}

/// A stream of random bits.
#[pyclass(module = "topgap._core")]
struct Stream(Cipher<Checkpoint>);

#[pymethods]
impl Stream {
    /// The next `count` bits as a number.
    fn take(&mut self, count: u64) -> PyResult<BigUint> {
        let mut number = BigUint::ZERO;
        for _ in 0..count / 64 {
            number = (number << 64) + self.0.bits(64)?;
        }
        let rest = (count % 64) as u32;
        Ok(if rest == 0 { number } else { (number << rest) + self.0.bits(rest)? })
    }
}

/// A stream with a key of its own.
fn fresh<C>(checkpoint: C) -> PyResult<Cipher<C>> {
    Cipher::fresh(checkpoint).map_err(|NoEntropy| KernelError::new_err(NO_ENTROPY))
}

/// Threads, each with a key of its own. The first is this one and looks for signals; when it stops,
/// the others do.
fn in_threads(count: usize) -> PyResult<Threads<Cipher<Checkpoint>>> {
    let stopped = Arc::new(AtomicBool::new(false));
    let ciphers = (0..count).map(|thread| {
        let stopped = Arc::clone(&stopped);
        fresh::<Checkpoint>(if thread == 0 {
            Box::new(move || check_signals().inspect_err(|_| stopped.store(true, Relaxed)))
        } else {
            Box::new(move || {
                if stopped.load(Relaxed) { Err(KernelError::new_err(STOPPED)) } else { Ok(()) }
            })
        })
    });
    Ok(Threads::new(ciphers.collect::<PyResult<_>>()?))
}

/// How many threads work on so many answers: as many as asked for, or, of 0, as fit.
fn threads_for(answers: usize, asked: usize) -> usize {
    match asked {
        0 if answers < 2 * MIN_ANSWERS_PER_THREAD => 1,
        0 => available_parallelism().map_or(1, usize::from).min(answers / MIN_ANSWERS_PER_THREAD),
        _ => asked.min(answers).max(1),
    }
}

/// Do the work; let other threads of Python run meanwhile if it is long.
fn detached<T: Send>(
    py: Python<'_>,
    answers: usize,
    work: impl FnOnce() -> PyResult<T> + Send,
) -> PyResult<T> {
    if answers > MAX_ANSWERS_WITH_GIL { py.detach(|| guarded(work)) } else { guarded(work) }?
}

/// A floor as the kernel takes it: 2^125 ticks if it is higher, and none if it is below −2^125. A lower
/// floor is right, too.
fn to_floor(ticks: &BigInt) -> Option<Ticks> {
    let bound = 1_i128 << 125;
    let lowest = BigInt::from(-bound);
    (*ticks >= lowest).then(|| Ticks(i128::try_from(ticks).map_or(bound, |ticks| ticks.min(bound))))
}

/// A sentinel's answer as the kernel takes it: up to 2^124 ticks from 0, so that there is room for its
/// noise.
fn to_sentinel(steps: Whole, refinement: u32) -> PyResult<Ticks> {
    let ticks = match steps {
        Whole::Short(steps) => Some(i128::from(steps) << refinement),
        Whole::Long(steps) => i128::try_from(steps << refinement).ok(),
    };
    ticks
        .filter(|ticks| ticks.unsigned_abs() <= 1 << 124)
        .map(Ticks)
        .ok_or_else(|| PyOverflowError::new_err(TOO_SHORT))
}

/// Numbers of eight bytes, one after the other.
fn in_bytes(
    py: Python<'_>,
    numbers: impl ExactSizeIterator<Item = [u8; 8]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, 8 * numbers.len(), |bytes| {
        let (chunks, _) = bytes.as_chunks_mut();
        chunks.iter_mut().zip(numbers).for_each(|(chunk, number)| *chunk = number);
        Ok(())
    })
}

/// Round floats down to steps; `ValueError` if one is not finite, `OverflowError` if too large.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
fn floor_to_steps<'py>(
    py: Python<'py>,
    numbers: PyReadonlyArray1<'py, f64>,
    steps_per_unit: u64,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let numbers = numbers.as_slice()?;
    let steps =
        py.detach(|| guarded(|| floats::floor_to_steps(numbers.iter().copied(), steps_per_unit)))?;
    match steps {
        Ok(steps) => Ok(PyArray1::from_vec(py, steps)),
        Err(FloatProblem::NotFinite) => Err(PyValueError::new_err("Not all are finite.")),
        Err(FloatProblem::TooLarge) => Err(PyOverflowError::new_err("Not all fit.")),
    }
}

/// Ctrl-C ends the work, if this is the main thread's.
#[expect(clippy::redundant_closure_for_method_calls, reason = "the method is not general enough")]
fn check_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// Do the work; a defect in it becomes an error that tells nothing.
fn guarded<T>(work: impl FnOnce() -> T) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|_| KernelError::new_err(DEFECT))
}
