//! A Python class as a kind of mechanism.

use std::sync::Mutex;

use hitless_core::wire::ShimId;
use hitless_scenario::kind::{Profile, RuntimeKind, Site};
use hitless_switch::{Counter, Mechanism};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::Rng;
use toml::Table;

use super::fault::end_run;
use super::hooks::{Methods, PythonMechanism};
use crate::kinds;

/// The functions of a class.
pub struct PythonKind {
    name: &'static str,
    /// Takes settings as JSON; returns an error in them, or None.
    check: Py<PyAny>,
    /// Takes settings as JSON, the name of a switch, the numbers of its ports and a seed; returns an object.
    build: Py<PyAny>,
    /// The hooks that the class defines.
    defined: Vec<String>,
    /// Maximum number of queues that it requests at a port.
    queues_most: u16,
    header: Option<ShimId>,
    counters: &'static [Counter],
}

impl PythonKind {
    fn make(&self, py: Python<'_>, settings: &str, site: Site<'_>) -> PyResult<PythonMechanism> {
        let Site { switch, ports, mut stream } = site;
        let ports: Vec<u16> = ports.iter().map(|port| port.0).collect();
        let object = self.build.bind(py).call1((settings, switch, ports, stream.next_u64()))?;
        let methods = Methods::of(&object, &self.defined)?;
        Ok(PythonMechanism::new(self.name, object.unbind(), methods, self.queues_most, self.header, self.counters))
    }
}

impl RuntimeKind for PythonKind {
    fn check(&self, settings: &Table) -> Result<(), String> {
        let settings = as_json(settings)?;
        let found = Python::attach(|py| self.check.call1(py, (settings,))?.extract::<Option<String>>(py));
        found.unwrap_or_else(|error| end_run(self.name, "settings", error)).map_or(Ok(()), Err)
    }

    fn build(&self, settings: &Table, site: Site<'_>) -> Result<Box<dyn Mechanism>, String> {
        let settings = as_json(settings)?;
        let made = Python::attach(|py| self.make(py, &settings, site));
        Ok(Box::new(made.unwrap_or_else(|error| end_run(self.name, "__init__", error))))
    }
}

fn as_json(settings: &Table) -> Result<String, String> {
    serde_json::to_string(settings).map_err(|error| error.to_string())
}

/// Chooses the identifier of a class's header; the same name and length always get the same one.
fn header_of(name: &'static str, bytes: usize) -> PyResult<Option<ShimId>> {
    static CHOSEN: Mutex<Vec<(usize, &str)>> = Mutex::new(Vec::new());
    if bytes == 0 {
        return Ok(None);
    }
    let mut chosen = CHOSEN.lock().map_err(|poisoned| PyValueError::new_err(poisoned.to_string()))?;
    if !chosen.contains(&(bytes, name)) {
        chosen.push((bytes, name));
    }
    let of_length = chosen.iter().filter(|(length, _)| *length == bytes);
    let number = of_length.map(|(_, known)| *known).position(|known| known == name).unwrap_or_default();
    // The numbers come from the top, because mechanisms in Rust take them from the bottom.
    let number = 3_u8.checked_sub(number as u8).ok_or_else(|| {
        PyValueError::new_err(format!("four other classes have headers of {bytes} bytes: make it a byte longer"))
    })?;
    Ok(Some(ShimId::outside(bytes, number)))
}

/// Registers a class. `profile` is a [`Profile`] as JSON text; with `replaces` it replaces an earlier class with its
/// name. Raises `ValueError` if the name is taken or the profile is invalid.
#[pyfunction]
pub fn register_mechanism(
    profile: &str,
    check: Py<PyAny>,
    build: Py<PyAny>,
    defined: Vec<String>,
    replaces: bool,
) -> PyResult<()> {
    let profile: Profile = serde_json::from_str(profile).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let name: &'static str = profile.name.clone().leak();
    let header = header_of(name, profile.header_bytes)?;
    let counters = profile.declared();
    let kind = PythonKind { name, check, build, defined, queues_most: profile.queues, header, counters };
    let changed = kinds::change(|others| {
        let others = if replaces { others.without(name) } else { others };
        others.with_runtime(profile, kind)
    });
    changed.map_err(PyValueError::new_err)
}
