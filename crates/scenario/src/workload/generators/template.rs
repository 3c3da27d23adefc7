//! What all flows of a group have in common, and when they start.

use hitless_engine::Stream;
use hitless_engine::draws::exponential;
use hitless_wire::{Duration, HostId, Time};

use crate::workload::{FlowSize, FlowSpec, Messages};

/// What all flows of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// When the group starts.
    pub start: Time,
    /// When it ends, if it does.
    pub stop: Option<Time>,
    /// Index into the scenario's transports.
    pub transport: usize,
    /// Traffic class.
    pub class: u8,
    /// Index of the group.
    pub group: usize,
}

impl Template {
    /// A flow of one message of `bytes`. It runs to its end even when the group ends before it.
    pub fn sized(&self, source: HostId, destination: HostId, bytes: u64, start: Time) -> FlowSpec {
        FlowSpec {
            source,
            destination,
            size: FlowSize::Bytes(bytes),
            start,
            stop: None,
            transport: self.transport,
            messages: Messages::ONE,
            class: self.class,
            group: self.group,
            connection: None,
            query: None,
            request: None,
        }
    }

    /// A flow that sends as much as it can until the group ends.
    pub fn unlimited(&self, source: HostId, destination: HostId, start: Time) -> FlowSpec {
        FlowSpec { size: FlowSize::Unlimited, stop: self.stop, ..self.sized(source, destination, 0, start) }
    }

    /// `delay` after the group's start; beyond the range of time, the end of it.
    pub fn after(&self, delay: Duration) -> Time {
        Time(self.start.as_ps().saturating_add(delay.as_ps()))
    }

    /// From the group's start to its end, or to `end` if that is before.
    pub(in crate::workload) fn seconds_until(&self, end: Time) -> f64 {
        self.stop.unwrap_or(Time::NEVER).min(end).saturating_since(self.start).as_seconds()
    }

    /// Whether the group has ended by `time`.
    pub fn is_over(&self, time: Time) -> bool {
        self.stop.is_some_and(|stop| time >= stop)
    }
}

/// When things happen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// At random, `per_second` on average (Poisson). The first comes after a random time too.
    Poisson {
        /// Mean number in a second.
        per_second: f64,
    },
    /// Regularly, the first at once.
    Every(Duration),
}

impl Arrivals {
    /// The moment after `previous`; `None` for the first, counted from `start`.
    pub(super) fn next(self, stream: &mut Stream, start: Time, previous: Option<Time>) -> Time {
        match (self, previous) {
            (Arrivals::Poisson { per_second }, _) => {
                let gap = Duration::from_seconds_f64(exponential(stream) / per_second);
                Time(previous.unwrap_or(start).as_ps().saturating_add(gap.as_ps()))
            }
            (Arrivals::Every(_), None) => start,
            (Arrivals::Every(period), Some(previous)) => Time(previous.as_ps().saturating_add(period.as_ps())),
        }
    }
}
