//! Columns of results as numpy arrays. The arrays take over the vectors' memory, without a copy.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::simulator::{Column, Table};

/// Table name -> column name -> values.
pub fn to_python(py: Python<'_>, tables: Vec<Table>) -> PyResult<Py<PyDict>> {
    let result = PyDict::new(py);
    for table in tables {
        result.set_item(table.name, columns(py, table.columns)?)?;
    }
    Ok(result.unbind())
}

/// Column name -> values.
pub fn columns<'py>(py: Python<'py>, columns: Vec<(&'static str, Column)>) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    for (name, column) in columns {
        result.set_item(name, values(py, column)?)?;
    }
    Ok(result)
}

fn values(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match column {
        Column::Unsigned(values) => values.into_pyarray(py).into_any(),
        Column::Signed(values) => values.into_pyarray(py).into_any(),
        Column::Text(values) => PyList::new(py, values)?.into_any(),
    })
}
