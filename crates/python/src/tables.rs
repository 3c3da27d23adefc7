//! Columns of results as numpy arrays. The arrays take over the vectors' memory, without a copy.

use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

use crate::kept_rows::{KeptColumn, KeptTable, Names};
use crate::simulator::{CaptureFile, Column, Table};

/// Table name -> column name -> values.
pub fn to_python(py: Python<'_>, kept: Vec<KeptTable>, tables: Vec<Table>) -> PyResult<Py<PyDict>> {
    let result = PyDict::new(py);
    for table in kept {
        let columns = PyDict::new(py);
        for (name, column) in table.columns {
            columns.set_item(name, kept_values(py, column)?)?;
        }
        result.set_item(table.name, columns)?;
    }
    for table in tables {
        result.set_item(table.name, columns(py, table.columns)?)?;
    }
    Ok(result.unbind())
}

/// Name -> bytes of the file.
pub fn files(py: Python<'_>, captures: Vec<CaptureFile>) -> PyResult<Py<PyDict>> {
    let result = PyDict::new(py);
    for CaptureFile { counts, bytes } in captures {
        result.set_item(counts.name, PyBytes::new(py, &bytes))?;
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

fn kept_values(py: Python<'_>, column: KeptColumn) -> PyResult<Bound<'_, PyAny>> {
    match column {
        KeptColumn::Numbers(column) => values(py, column),
        KeptColumn::Names(Names { all, rows, .. }) => {
            let all: Vec<_> = all.iter().map(|name| PyString::new(py, name)).collect();
            Ok(PyList::new(py, rows.iter().map(|&number| &all[number as usize]))?.into_any())
        }
    }
}

fn values(py: Python<'_>, column: Column) -> PyResult<Bound<'_, PyAny>> {
    Ok(match column {
        Column::Unsigned(values) => values.into_pyarray(py).into_any(),
        Column::Signed(values) => values.into_pyarray(py).into_any(),
        Column::Text(values) => PyList::new(py, values)?.into_any(),
    })
}
