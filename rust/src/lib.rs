//! The Python face of the compiled kernel: nothing but the translation between the two worlds.

use pyo3::prelude::*;

/// The compiled kernel of topgap.
#[pymodule]
mod _core {
    /// The version of the package; `Cargo.toml` is the only place that states it.
    #[pymodule_export]
    #[allow(non_upper_case_globals)] // Python's name for it
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
