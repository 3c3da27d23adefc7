//! An acknowledgement, as Python sees it.

use hitless_core::wire::Duration;
use hitless_hosts::transport::tcp::CongestionState;
use hitless_hosts::transport::tcp::congestion::{AckEvent, AckSample};
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

/// An acknowledgement.
#[pyclass(frozen, module = "hitless._native", name = "Ack")]
#[derive(Clone, Copy)]
pub struct Ack {
    event: AckEvent,
    /// For a class that sets the window.
    sample: Option<AckSample>,
}

impl Ack {
    /// An acknowledgement that can grow the window.
    pub fn growing(event: &AckEvent) -> Self {
        Self { event: *event, sample: None }
    }

    /// An acknowledgement for a class that sets the window; `marked` if it echoes a mark.
    pub fn sampled(sample: &AckSample, marked: bool) -> Self {
        let AckSample { now, delivered_bytes, snd_una, snd_nxt, rtt, .. } = *sample;
        Self { event: AckEvent { now, delivered_bytes, snd_una, snd_nxt, rtt, ece: marked }, sample: Some(*sample) }
    }

    fn sample(&self, name: &str) -> PyResult<&AckSample> {
        let refusal = || PyAttributeError::new_err(format!("{name} needs sets_cwnd=True in the line of the class"));
        self.sample.as_ref().ok_or_else(refusal)
    }
}

#[pymethods]
impl Ack {
    /// Time in picoseconds.
    #[getter]
    fn now_ps(&self) -> u64 {
        self.event.now.as_ps()
    }

    /// Bytes that this acknowledgement reports delivered for the first time.
    #[getter]
    fn delivered_bytes(&self) -> u64 {
        self.event.delivered_bytes
    }

    /// Bytes sent and not acknowledged in order.
    #[getter]
    fn outstanding_bytes(&self) -> u64 {
        self.event.snd_nxt - self.event.snd_una
    }

    /// All bytes acknowledged in order.
    #[getter]
    fn acknowledged_bytes(&self) -> u64 {
        self.event.snd_una
    }

    /// All bytes sent for the first time.
    #[getter]
    fn sent_bytes(&self) -> u64 {
        self.event.snd_nxt
    }

    /// Round-trip time of the newest acknowledged packet in picoseconds; None if unknown.
    #[getter]
    fn rtt_ps(&self) -> Option<u64> {
        Some(self.event.rtt.as_ps()).filter(|&ps| ps > 0)
    }

    /// Whether it echoes a mark of congestion.
    #[getter]
    fn marked(&self) -> bool {
        self.event.ece
    }

    /// State of the sender: "open", "cwr", "recovery" or "loss".
    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        Ok(match self.sample("state")?.state {
            CongestionState::Open => "open",
            CongestionState::Cwr => "cwr",
            CongestionState::Recovery => "recovery",
            CongestionState::Loss => "loss",
        })
    }

    /// Bytes newly detected as lost.
    #[getter]
    fn lost_bytes(&self) -> PyResult<u64> {
        Ok(self.sample("lost_bytes")?.lost_bytes)
    }

    /// Bytes in the network after the acknowledgement.
    #[getter]
    fn in_flight_bytes(&self) -> PyResult<u64> {
        Ok(self.sample("in_flight_bytes")?.flight_bytes)
    }

    /// Smoothed round-trip time in picoseconds; None before the first sample.
    #[getter]
    fn smoothed_rtt_ps(&self) -> PyResult<Option<u64>> {
        Ok(self.sample("smoothed_rtt_ps")?.smoothed_rtt.map(Duration::as_ps))
    }

    /// Whether the window limited the sender when the acknowledged data was sent.
    #[getter]
    fn cwnd_limited(&self) -> PyResult<bool> {
        Ok(self.sample("cwnd_limited")?.cwnd_limited)
    }

    /// Sample of the delivery rate in bits per second; None without one.
    #[getter]
    fn delivery_rate(&self) -> PyResult<Option<f64>> {
        let sample = self.sample("delivery_rate")?.sample;
        Ok(sample.map(|sample| 8.0 * sample.bytes_per_second()))
    }
}
