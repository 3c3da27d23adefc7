//! The Python interface of the fleet simulator: topologies, traces, and years.

use std::sync::{Arc, Mutex, PoisonError};

use hitless_core::engine::Progress;
use hitless_fleet::protection::{Effects, Table};
use hitless_fleet::repair::{self, Repair};
use hitless_fleet::series::Metrics;
use hitless_fleet::trace::{self, Hazard};
use hitless_fleet::year::Outcome;
use hitless_fleet::{LossRate, Plan, Policy, Problem, Share, topology};
use hitless_mechanisms::linkguardian::{Mode, saturated_speed};
use numpy::{Element, IntoPyArray};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::exceptions::{Cancelled, FleetError};

fn refuse(problem: Problem) -> PyErr {
    FleetError::new_err((problem.what, problem.place, problem.hint))
}

fn share(value: f64, option: &'static str) -> PyResult<Share> {
    Share::new(value).ok_or_else(|| refuse(Problem::new(format!("{value} is not a share of 0 to 1"), option)))
}

/// Switches in tiers: a named shape, or the text of a file.
#[pyclass(frozen, module = "hitless._native")]
pub struct FleetTopology {
    inner: Arc<topology::Topology>,
}

#[pymethods]
impl FleetTopology {
    #[new]
    #[pyo3(signature = (text, file_name=None))]
    fn new(py: Python<'_>, text: &str, file_name: Option<&str>) -> PyResult<Self> {
        let made = py.detach(|| match file_name {
            Some(name) => topology::from_text(text, name),
            None => topology::from_spec(text),
        });
        Ok(Self { inner: Arc::new(made.map_err(refuse)?) })
    }

    /// Returns whether the text names a shape, rather than a file.
    #[staticmethod]
    fn is_spec(text: &str) -> bool {
        topology::is_spec(text)
    }

    #[getter]
    fn links(&self) -> usize {
        self.inner.links.len()
    }
}

/// The effect of LinkGuardian on a link: in a mode, or from the text of a file.
#[pyclass(frozen, module = "hitless._native")]
pub struct FleetProtection {
    inner: Arc<Effects>,
}

#[pymethods]
impl FleetProtection {
    #[new]
    #[pyo3(signature = (text, file_name=None))]
    fn new(text: &str, file_name: Option<&str>) -> PyResult<Self> {
        let inner = match (text, file_name) {
            (text, Some(name)) => Effects::Measured(Table::from_text(text, name).map_err(refuse)?),
            ("blocking", None) => Effects::Published {
                in_order: true,
                other_rates: |rate, loss| saturated_speed(rate, Mode::Blocking, loss),
            },
            ("non-blocking", None) => Effects::Published {
                in_order: false,
                other_rates: |rate, loss| saturated_speed(rate, Mode::NonBlocking, loss),
            },
            _ => return Err(refuse(Problem::new(format!("there is no protection {text:?}"), "--protection"))),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Returns whether the text names a mode, rather than a file.
    #[staticmethod]
    fn is_mode(text: &str) -> bool {
        matches!(text, "blocking" | "non-blocking")
    }

    /// Returns the effective loss rate of a link, and its remaining speed in Gb/s.
    fn at(&self, gbps: f64, loss_rate: f64) -> PyResult<(f64, f64)> {
        let unknown = || refuse(Problem::new(format!("no link has {gbps} Gb/s and a loss rate of {loss_rate}"), ""));
        let (rate, loss) = topology::rate_of(gbps).zip(LossRate::new(loss_rate)).ok_or_else(unknown)?;
        let found = self.inner.on(rate, loss).map_err(refuse)?;
        Ok((found.effective.as_f64(), found.speed_bps as f64 / 1e9))
    }
}

/// Failures of the links of a topology.
#[pyclass(frozen, module = "hitless._native")]
pub struct FleetTrace {
    topology: Arc<topology::Topology>,
    inner: Arc<trace::Trace>,
}

#[pymethods]
impl FleetTrace {
    /// Generates a trace.
    #[staticmethod]
    fn generate(
        py: Python<'_>,
        topology: &FleetTopology,
        seed: u64,
        mean_hours: f64,
        weibull_shape: f64,
        duration_hours: u64,
    ) -> PyResult<Self> {
        let hazard = Hazard { mean_hours, weibull_shape, duration_hours };
        let name = format!("hitless-seed{seed}");
        let topology = Arc::clone(&topology.inner);
        let made = py.detach(|| trace::generate(&topology, &hazard, seed, &name)).map_err(refuse)?;
        Ok(Self { topology, inner: Arc::new(made) })
    }

    /// Reads a trace in the published format, for `topology` or, without one, for the topology named in the trace.
    #[staticmethod]
    fn read(py: Python<'_>, text: &str, file_name: &str, topology: Option<&FleetTopology>) -> PyResult<Self> {
        let given = topology.map(|topology| Arc::clone(&topology.inner));
        let (topology, inner) = py.detach(|| read(text, file_name, given)).map_err(refuse)?;
        Ok(Self { topology, inner: Arc::new(inner) })
    }

    /// Writes the trace in the published format.
    fn to_json(&self, py: Python<'_>) -> String {
        py.detach(|| trace::to_json(&self.inner))
    }

    /// Column name -> values, with a row for each failure.
    fn columns(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        let failures = &self.inner.failures;
        let columns = PyDict::new(py);
        set(&columns, "time_s", failures.iter().map(|failure| failure.time_s))?;
        set(&columns, "link", failures.iter().map(|failure| u64::from(failure.link.0)))?;
        set(&columns, "loss_rate", failures.iter().map(|failure| failure.loss.as_f64()))?;
        Ok(columns.unbind())
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// The seconds of the first and the last failure; None without failures.
    #[getter]
    fn span_s(&self) -> Option<(u64, u64)> {
        self.inner.span_s()
    }

    #[getter]
    fn topology(&self) -> FleetTopology {
        FleetTopology { inner: Arc::clone(&self.topology) }
    }
}

fn read(
    text: &str,
    file_name: &str,
    given: Option<Arc<topology::Topology>>,
) -> Result<(Arc<topology::Topology>, trace::Trace), Problem> {
    let trace = trace::from_json(text, file_name)?;
    let topology = match given {
        Some(topology) => topology,
        None => Arc::new(trace.own_topology(file_name)?),
    };
    trace.check_for(&topology, file_name)?;
    Ok((topology, trace))
}

/// One year: made from a trace and a policy, run once, read afterwards.
///
/// Frozen: other threads can use `progress` and `cancel` during `run`.
#[pyclass(frozen, module = "hitless._native")]
pub struct FleetYear {
    topology: Arc<topology::Topology>,
    trace: Arc<trace::Trace>,
    policy: Policy,
    capacity: Share,
    deployment: Share,
    effects: Arc<Effects>,
    seed: u64,
    replay: Option<(Vec<Repair>, String)>,
    progress: Progress,
    outcome: Mutex<Option<Outcome>>,
}

#[pymethods]
impl FleetYear {
    /// Makes a year; `repairs` is the text of a file of repairs and its name.
    #[new]
    fn new(
        trace: &FleetTrace,
        policy: &str,
        capacity: f64,
        deployment: f64,
        protection: &FleetProtection,
        seed: u64,
        repairs: Option<(String, String)>,
    ) -> PyResult<Self> {
        let replay = match repairs {
            Some((text, name)) => Some((repair::from_text(&text, &name).map_err(refuse)?, name)),
            None => None,
        };
        let made = Self {
            topology: Arc::clone(&trace.topology),
            trace: Arc::clone(&trace.inner),
            policy: Policy::named(policy).map_err(refuse)?,
            capacity: share(capacity, "--capacity")?,
            deployment: share(deployment, "--deployment")?,
            effects: Arc::clone(&protection.inner),
            seed,
            replay,
            progress: Progress::default(),
            outcome: Mutex::new(None),
        };
        made.plan().check().map_err(refuse)?;
        Ok(made)
    }

    /// Runs to the end while other Python threads run; raises `Cancelled` if it was cancelled.
    fn run(&self, py: Python<'_>) -> PyResult<()> {
        let outcome = py.detach(|| self.plan().run(&self.progress)).map_err(refuse)?;
        if self.progress.is_cancelled() {
            return Err(Cancelled::new_err("the run was cancelled"));
        }
        *self.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
        Ok(())
    }

    #[getter]
    fn progress(&self) -> f64 {
        self.progress.fraction()
    }

    fn cancel(&self) {
        self.progress.cancel();
    }

    /// The state after each event, and first the state before any event: column name -> values.
    fn states(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.with_outcome(|outcome| {
            let rows = || outcome.series.times_s.iter().copied().zip(&outcome.series.states);
            metrics(py, rows)
        })
    }

    /// The rows that the published simulator writes: column name -> values.
    fn published_rows(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        self.with_outcome(|outcome| metrics(py, || outcome.series.published_rows()))
    }

    /// The repairs as the text of a file.
    fn repairs(&self) -> PyResult<String> {
        self.with_outcome(|outcome| Ok(repair::to_text(&outcome.repairs)))
    }

    /// Number of failures in the trace, of failures of links that were down, and of links taken down.
    fn counts(&self) -> PyResult<(usize, u64, usize)> {
        self.with_outcome(|outcome| Ok((self.trace.failures.len(), outcome.skipped_failures, outcome.repairs.len())))
    }
}

impl FleetYear {
    fn plan(&self) -> Plan<'_> {
        Plan {
            topology: &self.topology,
            trace: &self.trace,
            policy: self.policy,
            capacity: self.capacity,
            deployment: self.deployment,
            effects: &self.effects,
            seed: self.seed,
            replay: self.replay.as_ref().map(|(repairs, name)| (&repairs[..], name.as_str())),
        }
    }

    fn with_outcome<T>(&self, read: impl FnOnce(&Outcome) -> PyResult<T>) -> PyResult<T> {
        let outcome = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        read(outcome.as_ref().ok_or_else(|| PyRuntimeError::new_err("the year has not been run; call run() first"))?)
    }
}

fn set<'py, T: Element>(columns: &Bound<'py, PyDict>, name: &str, values: impl Iterator<Item = T>) -> PyResult<()> {
    columns.set_item(name, values.collect::<Vec<T>>().into_pyarray(columns.py()))
}

/// Converts states to the published columns.
fn metrics<'a, R: Iterator<Item = (i64, &'a Metrics)>>(py: Python<'_>, rows: impl Fn() -> R) -> PyResult<Py<PyDict>> {
    let columns = PyDict::new(py);
    let of = |read: fn(&Metrics) -> f64| rows().map(move |(_, state)| read(state));
    let count = |read: fn(&Metrics) -> u64| rows().map(move |(_, state)| read(state));
    set(&columns, "time", rows().map(|(time_s, _)| time_s))?;
    set(&columns, "total_penalty", of(|state| state.total_penalty))?;
    set(&columns, "total_effective_penalty", of(|state| state.total_effective_penalty))?;
    set(&columns, "avg_per_tor_paths", of(|state| state.avg_per_tor_paths))?;
    set(&columns, "min_per_tor_paths", count(|state| state.min_per_tor_paths))?;
    set(&columns, "avg_per_pod_capacity", of(|state| state.avg_per_pod_capacity))?;
    set(&columns, "min_per_pod_capacity", of(|state| state.min_per_pod_capacity))?;
    set(&columns, "max_link_loss_rate", of(|state| state.max_link_loss_rate))?;
    set(&columns, "curr_disabled_links", count(|state| state.curr_disabled_links))?;
    set(&columns, "curr_corrupting_links", count(|state| state.curr_corrupting_links))?;
    set(&columns, "max_lg_ports_per_pipe", count(|state| state.max_lg_ports_per_pipe))?;
    Ok(columns.unbind())
}

/// The names of all policies.
#[pyfunction]
pub fn fleet_policies() -> Vec<&'static str> {
    Policy::names().collect()
}

/// Returns whether the policy runs LinkGuardian.
#[pyfunction]
pub fn fleet_policy_protects(name: &str) -> PyResult<bool> {
    Ok(Policy::named(name).map_err(refuse)?.protects())
}
