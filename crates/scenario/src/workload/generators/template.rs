//! The common properties of a group's flows, and their start times.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::exponential;
use hitless_core::wire::{Duration, HostId, Time};

use crate::workload::{FlowSize, FlowSpec, Messages, Offer};

/// The common properties of a group's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    pub start: Time,
    pub stop: Option<Time>,
    /// Index into [`crate::Scenario::transport_configs`].
    pub transport: usize,
    pub class: u8,
    pub group: usize,
}

impl Template {
    /// Makes the group's first flow with one message of `bytes`. The flow completes even if the group ends earlier.
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
            position: 0,
            connection: None,
            query: None,
            request: None,
        }
    }

    /// Makes the group's first flow, which sends at full speed until the group ends.
    pub fn unlimited(&self, source: HostId, destination: HostId, start: Time) -> FlowSpec {
        FlowSpec { size: FlowSize::Unlimited, stop: self.stop, ..self.sized(source, destination, 0, start) }
    }

    /// Returns the time `delay` after the group's start, saturating at the end of the range.
    pub fn after(&self, delay: Duration) -> Time {
        Time(self.start.as_ps().saturating_add(delay.as_ps()))
    }

    /// Returns the time from the group's start to its end or to `end`, the earlier of both.
    fn seconds_until(&self, end: Time) -> f64 {
        self.stop.unwrap_or(Time::NEVER).min(end).saturating_since(self.start).as_seconds()
    }

    pub fn is_over(&self, time: Time) -> bool {
        self.stop.is_some_and(|stop| time >= stop)
    }
}

/// A process of arrivals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// At random, `per_second` on average (Poisson). The first arrival is random too.
    Poisson { per_second: f64 },
    /// Regular; the first arrival is immediate.
    Every(Duration),
}

/// The starts of a group, one after the other.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Starts {
    #[configured]
    pub template: Template,
    #[configured]
    arrivals: Arrivals,
    /// Number of starts left, if there is a limit.
    left: Option<u64>,
    /// Number of starts so far.
    given: u64,
    previous: Option<Time>,
}

impl Starts {
    /// Starts at the given arrivals, at most `count` times.
    pub fn new(template: Template, arrivals: Arrivals, count: Option<u64>) -> Self {
        Self { template, arrivals, left: count, given: 0, previous: None }
    }

    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// Returns whether neither a count nor a time limits the starts.
    pub fn are_endless(&self) -> bool {
        self.left.is_none() && self.template.stop.is_none()
    }

    /// Returns the number (from 0) and time of the next start, unless the group has ended by then.
    pub fn next(&mut self, stream: &mut Stream) -> Option<(u64, Time)> {
        if self.left == Some(0) {
            return None;
        }
        let gap = match (self.arrivals, self.previous) {
            (Arrivals::Poisson { per_second }, _) => Duration::from_seconds_f64(exponential(stream) / per_second),
            (Arrivals::Every(_), None) => Duration::ZERO,
            (Arrivals::Every(period), Some(_)) => period,
        };
        let start = Time(self.previous.unwrap_or(self.template.start).as_ps().saturating_add(gap.as_ps()));
        if self.template.is_over(start) {
            self.left = Some(0);
            return None;
        }
        self.previous = Some(start);
        self.left = self.left.map(|left| left - 1);
        self.given += 1;
        Some((self.given - 1, start))
    }

    /// Returns the offered load until `end`, if each start consists of `each` flows of `mean_bytes`.
    pub fn offer(&self, end: Time, each: f64, mean_bytes: f64) -> Offer {
        let window_s = self.template.seconds_until(end);
        let gap_s = match self.arrivals {
            Arrivals::Poisson { per_second } => 1.0 / per_second,
            Arrivals::Every(period) => period.as_seconds(),
        };
        let count = if gap_s > 0.0 { (window_s / gap_s).min(self.most()) } else { self.most() };
        let flows = count * each;
        Offer { flows, open_flows: flows, bytes: flows * mean_bytes, seconds: (count * gap_s).min(window_s) }
    }

    /// Returns the offered load until `end`, if consecutive flows take `each_s` seconds.
    pub fn offer_in_turn(&self, end: Time, each_s: f64) -> Offer {
        Offer { flows: (self.template.seconds_until(end) / each_s).min(self.most()), ..Offer::default() }
    }

    fn most(&self) -> f64 {
        self.left.map_or(f64::INFINITY, |left| left as f64)
    }
}
