//! The Python face of the kernel: nothing but the translation between the two worlds.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

use num_bigint::BigUint;
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::exceptions::{PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use topgap_kernel::answers::Answers;
use topgap_kernel::enclosures::Ratio;
use topgap_kernel::floats::{self, FloatProblem};
use topgap_kernel::ranking::Selection;
use topgap_kernel::rate::{GRID, Rate};
use topgap_kernel::select;
use topgap_kernel::source::{Cipher, NoEntropy};

pyo3::import_exception!(topgap.errors, KernelError);

/// Work on more answers than this lets other threads run meanwhile.
const LONG: usize = 10_000;

/// Values have this many bits; answers have 64 of them, a step has the rest.
const VALUE_BITS: u32 = 120;

const DEFECT: &str = "The kernel met a defect of its own, or answers that were changed while it ran; nothing was released.";
const NO_ENTROPY: &str = "The operating system gave no randomness; nothing was released.";

/// The winners' indices and the gaps in steps, as the bytes of int64; the gaps as a list of int if
/// one is larger.
type Released<'py> = (Bound<'py, PyBytes>, Bound<'py, PyAny>);

/// The compiled kernel of topgap.
#[pymodule]
mod _core {
    #[pymodule_export]
    use super::{Kernel, floor_to_steps};

    use super::{Bound, PyModule, PyResult, set_hook};

    /// The version of the package.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    #[expect(clippy::unnecessary_wraps, reason = "PyO3 asks for a result")]
    fn init(_module: &Bound<'_, PyModule>) -> PyResult<()> {
        // What a defect would print could tell of the answers.
        set_hook(Box::new(|_| {}));
        Ok(())
    }
}

/// What of the parameters the kernel works with, prepared once.
#[pyclass(frozen, module = "topgap._core")]
struct Kernel {
    rate: Rate,
    k: usize,
    steps_per_unit: u64,
}

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
impl Kernel {
    /// The kernel for k winners and noise of rate numerator/denominator per step.
    #[new]
    fn new(
        k: usize,
        numerator: BigUint,
        denominator: BigUint,
        steps_per_unit: u64,
    ) -> PyResult<Self> {
        let step_bits = u64::BITS - steps_per_unit.leading_zeros();
        let prepared = guarded(|| {
            let most_refinement = VALUE_BITS.checked_sub(64 + step_bits)?;
            Rate::new(Ratio { numerator, denominator }, GRID, most_refinement)
        })?;
        let rate = prepared.ok_or_else(|| {
            PyOverflowError::new_err("The kernel's integers are too short for it.")
        })?;
        Ok(Self { rate, k, steps_per_unit })
    }

    /// Release the top k of the answers, given in units or in steps: indices and gaps.
    fn release<'py>(
        &self,
        py: Python<'py>,
        answers: PyReadonlyArray1<'py, i64>,
        in_steps: bool,
    ) -> PyResult<Released<'py>> {
        let units = answers.as_slice()?;
        if self.k == 0 || units.len() <= self.k {
            return Err(PyValueError::new_err("There must be more answers than winners."));
        }
        let answers =
            Answers { units, steps_per_unit: if in_steps { 1 } else { self.steps_per_unit } };
        let selection = if units.len() > LONG {
            py.detach(|| self.select(answers))
        } else {
            self.select(answers)
        }?;
        let indices = selection.indices.iter().map(|&index| index as u64);
        let gaps: Result<Vec<i64>, _> =
            selection.gaps.iter().map(|&gap| i64::try_from(gap)).collect();
        let gaps = match gaps {
            Ok(gaps) => in_bytes(py, gaps.into_iter().map(i64::to_ne_bytes))?.into_any(),
            Err(_) => selection.gaps.into_pyobject(py)?,
        };
        Ok((in_bytes(py, indices.map(u64::to_ne_bytes))?, gaps))
    }
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

impl Kernel {
    fn select(&self, answers: Answers) -> PyResult<Selection> {
        guarded(|| {
            let mut source = Cipher::fresh(check_signals)
                .map_err(|NoEntropy| KernelError::new_err(NO_ENTROPY))?;
            select(answers, self.k, &self.rate, None, &mut source)
        })?
    }
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
