//! A congestion control with methods of a Python object as hooks.

use std::sync::Arc;

use hitless_core::engine::Stream;
use hitless_core::state::Writer;
use hitless_core::wire::{BitRate, Time};
use hitless_hosts::transport::tcp::congestion::{
    AckEvent, AckSample, BoxedControl, CongestionControl, CongestionSign, Window,
};
use pyo3::prelude::*;
use rand::Rng;

use super::ack::Ack;
use super::window::TransportWindow;
use crate::mechanism::fault::end_run;

/// The functions of a class.
pub struct PythonClass {
    pub name: &'static str,
    pub sets_cwnd: bool,
    /// Takes settings as JSON; returns an error in them, or None.
    pub check: Py<PyAny>,
    /// Takes settings as JSON, the segment and the first window in bytes, and a seed; returns an object.
    pub build: Py<PyAny>,
}

/// The object of a connection.
#[derive(Debug)]
struct Object {
    window: Py<TransportWindow>,
    on_ack: Py<PyAny>,
}

impl Object {
    fn of(made: Bound<'_, PyAny>) -> PyResult<Self> {
        let on_ack = made.getattr("on_ack")?.unbind();
        Ok(Self { window: made.cast_into::<TransportWindow>()?.unbind(), on_ack })
    }
}

/// A Python object as the congestion control of a connection.
pub struct PythonControl {
    class: Arc<PythonClass>,
    settings: String,
    /// The window of the new connection.
    first: Window,
    /// None before the random stream is known.
    object: Option<Object>,
    pacing_rate: Option<BitRate>,
    /// Whether the acknowledgement in progress echoes a mark.
    marked: bool,
}

impl std::fmt::Debug for PythonControl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple(self.class.name).field(&self.settings).finish()
    }
}

impl PythonControl {
    /// Prepares the control of a new connection. Its object is made with the random stream.
    pub fn new(class: Arc<PythonClass>, settings: String, first: Window) -> Self {
        Self { class, settings, first, object: None, pacing_rate: None, marked: false }
    }

    fn make(&self, py: Python<'_>, seed: u64) -> PyResult<Object> {
        let (mss, cwnd) = (self.first.mss_bytes, self.first.cwnd_bytes);
        Object::of(self.class.build.bind(py).call1((&self.settings, mss, cwnd, seed))?)
    }

    /// Calls a hook; returns the window that it has set.
    fn call(&mut self, hook: &str, window: &Window, ack: Option<Ack>) -> u64 {
        let Some(object) = &self.object else { return window.cwnd_bytes };
        let called = Python::attach(|py| {
            let own = object.window.bind(py);
            if self.class.sets_cwnd {
                own.borrow_mut().note_ssthresh(window.ssthresh_bytes);
            } else {
                own.borrow_mut().take(window);
            }
            match ack {
                Some(ack) => object.on_ack.call1(py, (ack,))?,
                None => own.call_method0(hook)?.unbind(),
            };
            let own = own.borrow();
            PyResult::Ok((own.cwnd_bytes(), own.pacing_bps()))
        });
        let (cwnd_bytes, pacing_bps) = called.unwrap_or_else(|error| end_run(self.class.name, hook, error));
        self.pacing_rate = pacing_bps.and_then(BitRate::from_bps);
        cwnd_bytes.min(window.max_cwnd_bytes)
    }
}

fn hook_of(sign: CongestionSign) -> &'static str {
    match sign {
        CongestionSign::Ece => "on_ecn",
        CongestionSign::Loss => "on_loss",
        CongestionSign::Rto => "on_timeout",
    }
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, event: &AckEvent) {
        self.marked = event.ece;
    }

    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        window.cwnd_bytes = self.call("on_ack", window, Some(Ack::growing(event)));
    }

    fn ssthresh(&mut self, window: &Window, sign: CongestionSign) -> u64 {
        if self.class.sets_cwnd {
            return window.ssthresh_bytes;
        }
        let reduced = self.call(hook_of(sign), window, None);
        window.clamp_ssthresh(reduced)
    }

    fn draw_from(&mut self, mut stream: Stream) {
        let seed = stream.next_u64();
        let made = Python::attach(|py| {
            let object = self.make(py, seed)?;
            let rate = object.window.borrow(py).pacing_bps();
            PyResult::Ok((object, rate))
        });
        let (object, pacing_bps) = made.unwrap_or_else(|error| end_run(self.class.name, "__init__", error));
        self.pacing_rate = pacing_bps.and_then(BitRate::from_bps);
        self.object = Some(object);
    }

    fn on_recovery(&mut self, window: &mut Window, sign: CongestionSign, _now: Time) {
        if self.class.sets_cwnd {
            window.cwnd_bytes = self.call(hook_of(sign), window, None);
        }
    }

    fn on_undo(&mut self, window: &mut Window) {
        if let Some(object) = &self.object {
            Python::attach(|py| object.window.borrow_mut(py).take(window));
        }
    }

    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        window.cwnd_bytes = self.call("on_ack", window, Some(Ack::sampled(event, self.marked)));
    }

    fn pacing_rate(&self) -> Option<BitRate> {
        self.pacing_rate
    }
}

impl BoxedControl for PythonControl {
    fn copy(&self) -> Box<dyn BoxedControl> {
        let copied = |object: &Object| {
            Python::attach(|py| Object::of(py.import("copy")?.call_method1("deepcopy", (&object.window,))?))
                .unwrap_or_else(|error| end_run(self.class.name, "__deepcopy__", error))
        };
        Box::new(Self {
            class: Arc::clone(&self.class),
            settings: self.settings.clone(),
            first: self.first,
            object: self.object.as_ref().map(copied),
            pacing_rate: self.pacing_rate,
            marked: self.marked,
        })
    }

    fn save(&self, _: &mut Writer) {
        unreachable!("a run with a class of Python has no checkpoints")
    }
}
