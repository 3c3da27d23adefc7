//! A Python class as a kind of congestion control.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hitless_core::state::{Damaged, Reader};
use hitless_hosts::transport::tcp::congestion::{
    Behaviour, BoxedControl, CongestionFacts, CongestionKind, SettingsMap, Window,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::Value;

use super::control::{PythonClass, PythonControl};
use crate::kinds;
use crate::mechanism::fault::end_run;

/// The declaration of a class.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    name: String,
    summary: String,
    behaviour: Behaviour,
    /// The JSON schema of its settings.
    schema: Value,
}

/// A class that scenarios can name.
struct PythonTransport {
    facts: &'static CongestionFacts,
    schema: Value,
    class: Arc<PythonClass>,
}

/// The settings of a class as JSON text.
fn text_of(settings: &(dyn Any + Send + Sync)) -> &String {
    settings.downcast_ref().expect("the settings come from `read`")
}

impl CongestionKind for PythonTransport {
    fn facts(&self) -> &'static CongestionFacts {
        self.facts
    }

    fn schema(&self, _: &mut SchemaGenerator) -> Schema {
        self.schema.clone().try_into().unwrap_or_default()
    }

    fn read(&self, mut settings: SettingsMap) -> Result<(SettingsMap, Box<dyn Any + Send + Sync>), String> {
        for (name, field) in self.schema["properties"].as_object().into_iter().flatten() {
            if let Some(default) = field.get("default") {
                settings.entry(name).or_insert_with(|| default.clone());
            }
        }
        let text = Value::from(settings.clone()).to_string();
        Ok((settings, Box::new(text)))
    }

    fn check(&self, settings: &(dyn Any + Send + Sync)) -> Vec<(String, String)> {
        let check = |py: Python<'_>| self.class.check.call1(py, (text_of(settings),))?.extract::<Option<String>>(py);
        let found = Python::attach(check).unwrap_or_else(|error| end_run(self.facts.name, "settings", error));
        found.map(|rule| (String::new(), rule)).into_iter().collect()
    }

    fn build(&self, settings: &(dyn Any + Send + Sync), window: &Window) -> Box<dyn BoxedControl> {
        Box::new(PythonControl::new(Arc::clone(&self.class), text_of(settings).clone(), *window))
    }

    fn load(&self, from: &mut Reader<'_>) -> Result<Box<dyn BoxedControl>, Damaged> {
        Err(from.damaged("a congestion control with checkpoints"))
    }
}

/// Registers a class. `profile` is its declaration as JSON text; with `replaces` it replaces an earlier class with its
/// name. Raises `ValueError` if the name is taken or the profile is invalid.
#[pyfunction]
pub fn register_transport(profile: &str, check: Py<PyAny>, build: Py<PyAny>, replaces: bool) -> PyResult<()> {
    /// Distinguishes classes with the same name.
    static VERSION: AtomicU64 = AtomicU64::new(1);
    let profile: Profile = serde_json::from_str(profile).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let Profile { name, summary, behaviour, schema } = profile;
    let facts: &'static CongestionFacts = Box::leak(Box::new(CongestionFacts {
        name: name.leak(),
        summary: summary.leak(),
        behaviour,
        has_checkpoints: false,
        // Classes can have attributes that all connections share.
        shares_state: true,
        version: VERSION.fetch_add(1, Ordering::Relaxed),
    }));
    let class = Arc::new(PythonClass { name: facts.name, sets_cwnd: behaviour.sets_cwnd, check, build });
    let changed = kinds::change(|others| {
        let others = if replaces { others.without_congestion(facts.name) } else { others };
        others.with_runtime_congestion(PythonTransport { facts, schema, class })
    });
    changed.map_err(PyValueError::new_err)
}
