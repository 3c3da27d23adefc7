//! The measurements of `hitless bench live`: a stream of frames between two interfaces, and a plain forwarder.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use hitless_live::interfaces::device::NetworkDevice;
use hitless_live::interfaces::namespace::Namespace;
use hitless_live::interfaces::traffic::{Measured, Processors, Stream, forward, measure};
use hitless_live::interfaces::{Interface, OpenError, Options, pin};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Value, json};

type Port = Box<dyn Interface + Send>;

/// Reported quantiles of the delay.
const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];

/// Two ends of a device that forwards frames: a generator at one end, a sink at the other.
#[pyclass(frozen, module = "hitless._native")]
pub struct TrafficEnds(Mutex<Ends>);

struct Ends {
    source: Port,
    sink: Port,
    streams: u32,
}

#[pymethods]
impl TrafficEnds {
    /// Opens an interface in each of two network namespaces, as (namespace, interface).
    #[new]
    fn new(source: (String, String), sink: (String, String)) -> PyResult<Self> {
        let options = Options { ring_frames: 65_536, ..Options::default() };
        let open = |(namespace, name): (String, String)| open_in(&namespace, &name, options);
        let ends = Ends { source: open(source)?, sink: open(sink)?, streams: 0 };
        Ok(Self(Mutex::new(ends)))
    }

    /// Sends frames of `frame_bytes` (check sequence included) for `duration_s`, at full speed without `rate_pps`;
    /// returns the arrivals as JSON text. Generator and sink run on processor `cpu`.
    #[pyo3(signature = (frame_bytes, rate_pps, duration_s, cpu))]
    fn stream(
        &self,
        py: Python<'_>,
        frame_bytes: usize,
        rate_pps: Option<f64>,
        duration_s: f64,
        cpu: Option<usize>,
    ) -> PyResult<String> {
        const CHECK_SEQUENCE_BYTES: usize = 4;
        if rate_pps.is_some_and(|rate| rate.is_nan() || rate <= 0.0) {
            return Err(PyValueError::new_err("rate_pps must be greater than 0"));
        }
        let duration = Duration::try_from_secs_f64(duration_s);
        let duration = duration.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let frame_bytes = frame_bytes.saturating_sub(CHECK_SEQUENCE_BYTES);
        let processors = Processors { generator: cpu, sink: cpu };
        let measured = py.detach(|| {
            let mut ends = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            ends.streams += 1;
            let Ends { source, sink, streams } = &mut *ends;
            let stream = Stream { id: *streams, frame_bytes, rate_pps, duration };
            measure(&mut **source, &mut **sink, &stream, processors)
        })?;
        Ok(described(&measured).to_string())
    }
}

/// Forwards all frames between two interfaces: ports without a switch.
#[pyclass(frozen, module = "hitless._native")]
pub struct PlainForwarder {
    ports: Mutex<Option<(Port, Port)>>,
    ended: AtomicBool,
    /// The actual mode of exchanging frames with the kernel.
    #[pyo3(get)]
    mode: String,
}

#[pymethods]
impl PlainForwarder {
    /// Opens both interfaces in one network namespace.
    #[new]
    fn new(namespace: &str, left: &str, right: &str, mode: &str) -> PyResult<Self> {
        let preference = mode.parse().map_err(PyValueError::new_err::<String>)?;
        let options = Options { preference, ..Options::default() };
        let (left, right) = (open_in(namespace, left, options)?, open_in(namespace, right, options)?);
        let mode = left.mode().to_owned();
        Ok(Self { ports: Mutex::new(Some((left, right))), ended: AtomicBool::new(false), mode })
    }

    /// Forwards until `stop`, on processor `cpu`. Can be called once.
    #[pyo3(signature = (cpu))]
    fn run(&self, py: Python<'_>, cpu: Option<usize>) -> PyResult<()> {
        let ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (mut left, mut right) = ports.ok_or_else(|| PyRuntimeError::new_err("a PlainForwarder runs once"))?;
        py.detach(|| {
            // In a separate thread, so that the caller's thread is not pinned.
            std::thread::scope(|scope| {
                let thread = scope.spawn(|| pin(cpu).and_then(|()| forward(&mut *left, &mut *right, &self.ended)));
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
        })?;
        Ok(())
    }

    /// Asks the forwarder to end.
    fn stop(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Switches off the offloads of an interface in another network namespace; returns those that are still on.
#[pyfunction]
pub fn switch_off_offloads_in(namespace: &str, interface: &str) -> PyResult<Vec<String>> {
    let device = within(namespace, || NetworkDevice::of_ethernet(interface))?.map_err(refused)?;
    Ok(device.switch_off_offloads()?.still_on)
}

fn open_in(namespace: &str, name: &str, options: Options) -> PyResult<Port> {
    within(namespace, || hitless_live::interfaces::open(name, options))?.map_err(refused)
}

fn within<T: Send>(namespace: &str, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let entered = Namespace::named(namespace).and_then(|namespace| namespace.within(work));
    entered.map_err(|error| PyOSError::new_err(format!("network namespace {namespace}: {error}")))
}

fn refused(error: OpenError) -> PyErr {
    PyOSError::new_err(error.to_string())
}

fn described(measured: &Measured) -> Value {
    let (generated, arrivals) = (&measured.generated, &measured.arrivals);
    let delays: serde_json::Map<String, Value> = QUANTILES
        .iter()
        .map(|(name, quantile)| ((*name).to_owned(), json!(arrivals.delays_ns.value_at_quantile(*quantile))))
        .collect();
    json!({
        "frames_sent": generated.frames_sent,
        "sent_elapsed_ns": generated.elapsed_ns,
        "frames_arrived": arrivals.frames,
        "frames_lost": measured.frames_lost(),
        "duplicates": arrivals.duplicates,
        "reordered": arrivals.reordered,
        "arrived_elapsed_ns": arrivals.elapsed_ns,
        "delay_ns": delays,
    })
}
