//! The counters of a Python mechanism.

use hitless_switch::{Counter, Report};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Converts the result of the method `report` to the report `kind`: values by counter, or by scope and counter.
/// `declared` has the counters of the class.
pub fn read(
    kind: &'static str,
    declared: &[Counter],
    returned: &Bound<'_, PyDict>,
    was_called: bool,
) -> PyResult<Report> {
    let mut report = Report::new(kind);
    let find = |key: &Bound<'_, PyAny>| {
        let key: String = key.extract()?;
        let found = declared.iter().find(|counter| counter.key == key).copied();
        let hint = || format!("{key} is not declared: give its class counters={{\"{key}\": LABEL}}");
        found.ok_or_else(|| PyValueError::new_err(hint()))
    };
    for (key, value) in returned.iter() {
        if let Ok(counters) = value.cast::<PyDict>() {
            let scope: String = key.extract()?;
            for (key, value) in counters.iter() {
                report.count(&scope, [(find(&key)?, value.extract()?)]);
            }
        } else {
            report.count("switch", [(find(&key)?, value.extract()?)]);
        }
    }
    report.acted =
        if report.counters.is_empty() { was_called } else { report.counters.iter().any(|(_, _, value)| *value > 0) };
    Ok(report)
}
