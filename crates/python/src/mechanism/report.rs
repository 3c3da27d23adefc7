//! The counters of a Python mechanism.

use hitless_core::state::kept;
use hitless_switch::Report;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Converts the result of the method `report` to the report `kind`: values by counter, or by scope and counter.
pub fn read(kind: &'static str, returned: &Bound<'_, PyDict>, was_called: bool) -> PyResult<Report> {
    let mut report = Report::new(kind);
    for (name, value) in returned.iter() {
        let name: String = name.extract()?;
        if let Ok(scope) = value.cast::<PyDict>() {
            count_all(&mut report, &name, scope)?;
        } else {
            report.count("switch", kept(&name), value.extract()?);
        }
    }
    report.acted =
        if report.counters.is_empty() { was_called } else { report.counters.iter().any(|(_, _, value)| *value > 0) };
    Ok(report)
}

fn count_all(report: &mut Report, scope: &str, counters: &Bound<'_, PyDict>) -> PyResult<()> {
    for (name, value) in counters.iter() {
        report.count(scope, kept(&name.extract::<String>()?), value.extract()?);
    }
    Ok(())
}
