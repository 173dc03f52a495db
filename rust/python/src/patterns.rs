//! The Python face of topgap's domains: the texts that match a pattern.

use num_bigint::BigUint;
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use topgap_domains::Language;

/// The texts that match a pattern whole, in their order. It is public and sees no answer.
#[pyclass(frozen, module = "topgap._core")]
pub(crate) struct Pattern(Language);

#[pymethods]
#[expect(clippy::needless_pass_by_value, reason = "PyO3 hands over arguments by value")]
impl Pattern {
    /// The texts of at most so many characters; `ValueError` in a sentence if it is no domain.
    #[new]
    #[pyo3(signature = (pattern, *, max_length, blank, most))]
    fn new(
        py: Python<'_>,
        pattern: &str,
        max_length: Option<usize>,
        blank: Vec<(char, char)>,
        most: BigUint,
    ) -> PyResult<Self> {
        let language = py.detach(|| Language::new(pattern, max_length, &blank, &most));
        language.map(Self).map_err(|refusal| PyValueError::new_err(refusal.to_string()))
    }

    /// How many texts there are.
    #[getter]
    fn size(&self) -> BigUint {
        self.0.size().clone()
    }

    /// Whether each of any objects is one of the texts.
    fn contains_all(&self, names: Vec<Bound<'_, PyAny>>) -> Vec<bool> {
        let contains = |name: &Bound<'_, PyAny>| {
            let text = name.cast::<PyString>().ok()?;
            Some(self.0.contains(text.to_str().ok()?))
        };
        names.iter().map(|name| contains(name).unwrap_or(false)).collect()
    }

    /// Whether any text may have a byte from the first to the last of these in its UTF-8.
    fn may_have(&self, first: u8, last: u8) -> bool {
        self.0.may_have(first, last)
    }

    /// The place of a text; `KeyError` if it is none of them.
    fn rank(&self, text: &str) -> PyResult<BigUint> {
        self.0.rank(text).ok_or_else(|| PyKeyError::new_err("The pattern does not match it."))
    }

    /// The text at a place; `IndexError` if there are not so many.
    fn unrank(&self, rank: BigUint) -> PyResult<String> {
        self.0.unrank(rank).ok_or_else(|| PyIndexError::new_err("There are not so many texts."))
    }
}
