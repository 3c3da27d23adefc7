//! The Python module `hitless._native` as it is packaged: with the kinds of mechanisms that are built in.
//!
//! `hitless mechanism build` writes a crate like this one that has the user's kinds too.

use pyo3::prelude::*;

/// The extension module `hitless._native`.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    hitless_python::fill(module, &[])
}
