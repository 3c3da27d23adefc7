//! The swarm as Python sees it: random worlds, judged, and those that fail as scenario files.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hitless_engine::Progress;
use hitless_swarm::judge::JUDGES;
use hitless_swarm::{Finding, Hunt, World, run};
use hitless_switch::canary::{ARE_COMPILED_IN, Canary};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::kinds::registry;

/// A hunt. Frozen: `cancel` and `take_found` are for other threads while `run` is under way.
#[pyclass(frozen, module = "hitless._native")]
pub struct Swarm {
    hunt: Hunt,
    progress: Progress,
    found: Mutex<Vec<Value>>,
}

#[pymethods]
impl Swarm {
    /// Worlds from `seed` on, so many, or for so many seconds. Raises ValueError for a canary that is not there.
    #[new]
    #[pyo3(signature = (seed, worlds=None, seconds=None, threads=1, canary=None))]
    fn new(
        seed: u64,
        worlds: Option<u64>,
        seconds: Option<f64>,
        threads: usize,
        canary: Option<&str>,
    ) -> PyResult<Self> {
        let canary = canary.map(sown).transpose()?;
        let wall_time = seconds.map(Duration::try_from_secs_f64).transpose();
        let wall_time = wall_time.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let first_only = canary.is_some();
        let hunt =
            Hunt { first_seed: seed, worlds, wall_time, threads, canary, first_only, shrink_for: Hunt::SHRINK_FOR };
        Ok(Self { hunt, progress: Progress::default(), found: Mutex::default() })
    }

    /// Goes through the worlds, other Python threads running meanwhile; totals as JSON.
    fn run(&self, py: Python<'_>) -> String {
        let tell = |finding: &Finding| self.found.lock().unwrap_or_else(PoisonError::into_inner).push(shown(finding));
        let totals = py.detach(|| quietly(|| self.hunt.run(&registry(), &self.progress, &tell)));
        json!({
            "worlds": totals.worlds,
            "refused": totals.refused,
            "packets": totals.packets,
            "judged": totals.judged,
            "findings": totals.findings.iter().map(shown).collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// What was found since this was last asked, as a JSON list.
    fn take_found(&self) -> String {
        Value::Array(std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))).to_string()
    }

    /// Asks a hunt under way to end.
    fn cancel(&self) {
        self.progress.cancel();
    }
}

fn shown(finding: &Finding) -> Value {
    json!({
        "seed": finding.seed,
        "judge": finding.fault.judge,
        "fault": finding.fault.sentence,
        "times": finding.times,
        "scenario": finding.world.text(),
    })
}

fn sown(name: &str) -> PyResult<Canary> {
    if !ARE_COMPILED_IN {
        return Err(PyValueError::new_err(
            "canaries are compiled in with debug assertions only: HITLESS_PROFILE=dev ./hitless swarm has them",
        ));
    }
    let known: Vec<&str> = Canary::ALL.iter().map(|canary| canary.name()).collect();
    Canary::named(name).ok_or_else(|| PyValueError::new_err(format!("the canaries are {}", known.join(", "))))
}

/// Panics of worlds are findings, and their messages are among those.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = work();
    std::panic::set_hook(hook);
    result
}

/// The judges: name, and what must hold.
#[pyfunction]
pub fn swarm_judges() -> Vec<(&'static str, &'static str)> {
    JUDGES.iter().map(|judge| (judge.name, judge.promise)).collect()
}

/// What the judges say of one scenario file, as JSON. Raises ValueError for a file that is no scenario.
#[pyfunction]
pub fn swarm_judge(py: Python<'_>, text: &str) -> PyResult<String> {
    let table = text.parse().map_err(|error: toml::de::Error| PyValueError::new_err(error.to_string()))?;
    let verdict = py.detach(|| quietly(|| run::run(&World::new(table), &registry())));
    let verdict = verdict.map_err(PyValueError::new_err)?;
    let faults = verdict.faults.iter().map(|fault| json!({ "judge": fault.judge, "fault": fault.sentence }));
    let document = json!({
        "judged": verdict.judged,
        "faults": faults.collect::<Vec<_>>(),
        "packets": verdict.transmissions,
    });
    Ok(document.to_string())
}
