//! The Python interface of a live run: real interfaces connected by a scenario's fabric.

use std::fs::{File, create_dir_all};
use std::io::{Error, Write};
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hitless_core::settings::input;
use hitless_core::wire::frame::MacAddress;
use hitless_live::fabric::{CAPTURE_CHUNKS, LiveFabric, LiveSettings, OpenCapture};
use hitless_live::interfaces::watch::LinkWatch;
use hitless_live::interfaces::{Interface, MonotonicTime, Options as InterfaceOptions, open};
use hitless_live::recording::{Header, RecorderOptions, RecordingState, mac_address};
use hitless_live::self_test::measure;
use hitless_live::{Command, Control, Driver, Intake, MonotonicClock, Options, Recorder, Request, Status, WaitMode};
use hitless_scenario::{Purpose, Scenario};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::kinds::registry;
use crate::mechanism::fault::caught;
use crate::simulator::{Execution, Failure, check};
use crate::tables;

/// A scenario's fabric between real interfaces, with the wall clock.
///
/// Made, run once in a separate thread, and read afterwards; during the run other threads can use everything except
/// `run`.
#[pyclass(frozen, module = "hitless._native")]
pub struct Live {
    effective: String,
    recording: Option<Arc<Mutex<RecordingState>>>,
    control: Control,
    stage: Mutex<Stage>,
}

enum Stage {
    Ready(Box<Driver<MonotonicClock>>),
    Running,
    Done { summary_json: String, status_json: String, tables: Py<PyDict> },
    Failed,
}

#[pymethods]
impl Live {
    /// Reads the scenario and opens the interfaces, in the network namespace of the calling thread.
    ///
    /// Raises `ScenarioError` with the complete message, `OSError` for an interface that cannot be opened.
    #[new]
    #[pyo3(signature = (
        text, file_name, interfaces, *, seed=None, stations=None, slack_us=1000.0, busy_poll=false, spin_us=50.0,
        frames=8192, frame_bytes=2048, ring_frames=1024, record=None, record_frame_bytes=None, record_decisions=true,
        mode="packet", self_test=true, captures=None
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keyword arguments")]
    fn new(
        py: Python<'_>,
        text: &str,
        file_name: &str,
        interfaces: &Bound<'_, PyDict>,
        seed: Option<u64>,
        stations: Option<&Bound<'_, PyDict>>,
        slack_us: f64,
        busy_poll: bool,
        spin_us: f64,
        frames: u32,
        frame_bytes: u16,
        ring_frames: usize,
        record: Option<PathBuf>,
        record_frame_bytes: Option<usize>,
        record_decisions: bool,
        mode: &str,
        self_test: bool,
        captures: Option<PathBuf>,
    ) -> PyResult<Self> {
        let scenario = caught(|| check(text, file_name, Purpose::Live, Execution::ALONE))?;
        let scenario = Scenario { seed: seed.unwrap_or(scenario.seed), ..scenario };
        let effective = scenario.effective_toml();
        let interfaces: Vec<(String, String)> =
            interfaces.iter().map(|(node, name)| Ok((node.extract()?, name.extract()?))).collect::<PyResult<_>>()?;
        let points = interfaces.iter().map(|(node, _)| node.clone()).collect();
        let stations = stations.map(read_stations).transpose()?.unwrap_or_default();
        let captured = captures.is_some();
        let settings = LiveSettings { frames, frame_bytes, stations, captures: captured, ..LiveSettings::new(points) };
        if !(1.0..=1e6).contains(&slack_us) {
            return Err(PyValueError::new_err(format!("slack_us is {slack_us}; it must be from 1 to 1,000,000")));
        }
        let slack_ns = nanoseconds("slack_us", slack_us)?;
        let test = || measure(&mut MonotonicClock, &scenario, &settings, slack_ns).map_err(Failure::Scenario);
        let tested = self_test.then(|| py.detach(|| caught(test))).transpose()?;
        let mut fabric = caught(|| LiveFabric::new(scenario, &settings).map_err(Failure::Scenario))?;
        captures.into_iter().for_each(|folder| fabric.write_captures(capture_files(folder), CAPTURE_CHUNKS));
        let recording = record.map(|path| {
            let options = RecorderOptions {
                kept_bytes: record_frame_bytes.unwrap_or(usize::MAX),
                decisions: record_decisions,
                ..RecorderOptions::default()
            };
            let recorder = File::create(&path)
                .and_then(|file| Recorder::new(file, &Header::new(effective.clone(), &settings), options))
                .map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
            let state = recorder.state();
            fabric.watch(Box::new(recorder));
            Ok::<_, PyErr>(state)
        });
        let recording = recording.transpose()?;
        let preference = mode.parse().map_err(PyValueError::new_err::<String>)?;
        let options = InterfaceOptions { preference, ring_frames };
        let (opened, watch) = py.detach(|| open_interfaces(&interfaces, options))?;
        let options = Options {
            slack_ns,
            spin_ns: nanoseconds("spin_us", spin_us)?,
            waiting: if busy_poll { WaitMode::Busy } else { WaitMode::Sleep },
            ..Options::default()
        };
        let mut driver = Driver::new(fabric, opened, MonotonicClock, options);
        driver.show_self_test(tested);
        driver.watch_carriers(watch);
        Ok(Self {
            effective,
            recording,
            control: Control::default(),
            stage: Mutex::new(Stage::Ready(Box::new(driver))),
        })
    }

    /// Runs until `stop`, or for `duration_s`, while other Python threads run. Can be called once.
    #[pyo3(signature = (duration_s=None))]
    fn run(&self, py: Python<'_>, duration_s: Option<f64>) -> PyResult<()> {
        let duration_ns = duration_s.map(|seconds| nanoseconds("duration_s", seconds * 1e6)).transpose()?;
        let driver = self.take_driver()?;
        let result = py.detach(|| caught(|| run_to_end(*driver, &self.control, duration_ns)));
        *self.stage() = Stage::Failed;
        let (status, outcome) = result?;
        let json = |error: serde_json::Error| PyRuntimeError::new_err(error.to_string());
        let summary_json = serde_json::to_string(&outcome.summary).map_err(json)?;
        let status_json = serde_json::to_string(&status).map_err(json)?;
        let tables = tables::to_python(py, Vec::new(), outcome.tables)?;
        *self.stage() = Stage::Done { summary_json, status_json, tables };
        Ok(())
    }

    /// Asks the run to end; `run` returns soon after.
    fn stop(&self) {
        self.control.stop();
    }

    /// Whether the run has ended, successfully or not.
    #[getter]
    fn is_over(&self) -> bool {
        matches!(*self.stage(), Stage::Done { .. } | Stage::Failed)
    }

    /// The present status as JSON text; after the run, the last status.
    fn status(&self, py: Python<'_>) -> PyResult<String> {
        if let Stage::Done { status_json, .. } = &*self.stage() {
            return Ok(status_json.clone());
        }
        let status: Status = self.ask(py, Request::Status)?;
        serde_json::to_string(&status).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// Executes a command such as "fail sw1<->sw2"; raises `ValueError` if it is refused.
    fn command(&self, py: Python<'_>, text: &str) -> PyResult<()> {
        let command: Command = text.parse().map_err(PyValueError::new_err)?;
        self.ask(py, |reply| Request::Command(command, reply))?.map_err(PyValueError::new_err)
    }

    /// Sets the frames that the port of a node takes: "all", "link" (frames in the format of links), "nothing". With
    /// two times of the monotonic clock, it takes only frames received between them.
    #[pyo3(signature = (node, frames, between_ns=None))]
    fn take(&self, py: Python<'_>, node: String, frames: &str, between_ns: Option<(u64, u64)>) -> PyResult<()> {
        let kinds = frames.parse().map_err(PyValueError::new_err::<String>)?;
        let (from_ns, until_ns) = between_ns.unwrap_or((0, u64::MAX));
        let intake = Intake { kinds, from: MonotonicTime(from_ns), until: MonotonicTime(until_ns) };
        if let Stage::Ready(driver) = &mut *self.stage() {
            return driver.set_intake(&node, intake).map_err(PyValueError::new_err);
        }
        self.ask(py, |reply| Request::Intake(node, intake, reply))?.map_err(PyValueError::new_err)
    }

    /// Changes of interfaces since the last call: node, interface, change ("gone", "back", "lost" or "merged"), detail.
    fn notices(&self) -> Vec<(String, String, &'static str, String)> {
        let notices = self.control.take_notices().into_iter();
        notices.map(|notice| (notice.node, notice.interface, notice.change.name(), notice.detail)).collect()
    }

    /// The state of the recording, as JSON text; None without one.
    #[getter]
    fn recording(&self) -> PyResult<Option<String>> {
        let state = self.recording.as_ref().map(|state| state.lock().unwrap_or_else(PoisonError::into_inner).clone());
        let json = |state: &RecordingState| serde_json::to_string(state);
        state.as_ref().map(json).transpose().map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }

    /// The summary as JSON text.
    #[getter]
    fn summary(&self) -> PyResult<String> {
        match &*self.stage() {
            Stage::Done { summary_json, .. } => Ok(summary_json.clone()),
            _ => Err(PyRuntimeError::new_err("no summary: the run has not ended well")),
        }
    }

    /// Table name -> column name -> numpy array or list of str.
    #[getter]
    fn tables(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        match &*self.stage() {
            Stage::Done { tables, .. } => Ok(tables.clone_ref(py)),
            _ => Err(PyRuntimeError::new_err("no tables: the run has not ended well")),
        }
    }

    /// The scenario as TOML with all defaults written out.
    #[getter]
    fn effective(&self) -> String {
        self.effective.clone()
    }
}

impl Live {
    /// Takes the driver of a run that has not begun.
    fn take_driver(&self) -> PyResult<Box<Driver<MonotonicClock>>> {
        let mut stage = self.stage();
        match std::mem::replace(&mut *stage, Stage::Running) {
            Stage::Ready(driver) => Ok(driver),
            other => {
                *stage = other;
                Err(PyRuntimeError::new_err("a Live runs once; make a new one to run again"))
            }
        }
    }

    fn ask<T: Send>(&self, py: Python<'_>, request: impl FnOnce(std::sync::mpsc::Sender<T>) -> Request) -> PyResult<T> {
        const PATIENCE: Duration = Duration::from_millis(100);
        /// In short waits, because a process that was frozen meanwhile must wait again.
        const WAITS: u32 = 50;
        if !matches!(*self.stage(), Stage::Running) {
            return Err(PyRuntimeError::new_err("the run is not under way"));
        }
        let (reply, answer) = channel();
        self.control.request(request(reply));
        let answer = py.detach(move || (0..WAITS).find_map(|_| answer.recv_timeout(PATIENCE).ok()));
        answer.ok_or_else(|| PyRuntimeError::new_err("the run does not answer"))
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run_to_end(
    mut driver: Driver<MonotonicClock>,
    control: &Control,
    duration_ns: Option<u64>,
) -> Result<(Status, hitless_simulation::Outcome), Failure> {
    driver.run(control, duration_ns);
    let (status, outcome) = driver.finish();
    crate::simulator::refuse_violations(&outcome)?;
    Ok((status, outcome))
}

/// Returns the function that makes the files of captures, in this folder.
fn capture_files(folder: PathBuf) -> Arc<OpenCapture> {
    Arc::new(move |name| {
        let path = folder.join(format!("{name}.pcapng"));
        let file = create_dir_all(&folder).and_then(|()| File::create(&path));
        let file = file.map_err(|error| Error::new(error.kind(), format!("{}: {error}", path.display())))?;
        Ok(Box::new(file) as Box<dyn Write>)
    })
}

/// Opens the interfaces of the calling thread's network namespace, and a watch for their changes.
fn open_interfaces(
    named: &[(String, String)],
    options: InterfaceOptions,
) -> PyResult<(Vec<Box<dyn Interface + Send>>, LinkWatch)> {
    let watch = LinkWatch::open()?;
    let open = |name: &str| open(name, options).map_err(|error| PyOSError::new_err(error.to_string()));
    Ok((named.iter().map(|(_, name)| open(name)).collect::<PyResult<_>>()?, watch))
}

/// Reads addresses of stations and their nodes.
fn read_stations(stations: &Bound<'_, PyDict>) -> PyResult<Vec<(MacAddress, String)>> {
    let read = |(address, node): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let text: String = address.extract()?;
        let parsed = mac_address(&text).map_err(PyValueError::new_err)?;
        Ok((parsed, node.extract()?))
    };
    stations.iter().map(read).collect()
}

fn nanoseconds(name: &str, microseconds: f64) -> PyResult<u64> {
    if microseconds.is_finite() && microseconds >= 0.0 {
        return Ok((microseconds * 1e3) as u64);
    }
    Err(PyValueError::new_err(format!("{name} is a time, so neither negative nor infinite: {microseconds}")))
}

/// Repeats a recorded run in simulation, or its frames in the scenario `other`, and compares decisions; returns the
/// result as JSON text.
#[pyfunction]
#[pyo3(signature = (path, other=None))]
pub fn live_replay(py: Python<'_>, path: PathBuf, other: Option<&str>) -> PyResult<String> {
    let broken = |message: String| PyValueError::new_err(format!("{}: {message}", path.display()));
    let file = input::open(&path).map_err(|error| PyOSError::new_err(format!("{}: {error}", path.display())))?;
    let replay = || match other {
        Some(scenario) => hitless_live::replay_with(file, scenario, &registry()),
        None => hitless_live::replay(file, &registry()),
    };
    let found = py.detach(|| caught(|| Ok(replay())))?.map_err(broken)?;
    crate::simulator::refuse_violations(&found.outcome)?;
    let divergence = found.divergence.map(|divergence| divergence.to_string());
    let found = serde_json::json!({
        "arrivals": found.arrivals,
        "commands": found.commands,
        "refusals": found.refusals,
        "equal_decisions": found.equal,
        "divergence": divergence,
        "is_complete": found.is_complete,
        "summary": found.outcome.summary,
    });
    Ok(found.to_string())
}
