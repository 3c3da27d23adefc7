//! The Python module `hitless._native` as packaged, with the built-in kinds of mechanisms.
//!
//! `hitless mechanism build` writes a crate like this one that also contains the user's kinds.

use pyo3::prelude::*;

/// The extension module `hitless._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hitless_python::fill(module, &[])
}
