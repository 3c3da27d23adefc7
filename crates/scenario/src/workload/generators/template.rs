//! What all flows of a group have in common, and when they start.

use hitless_core::engine::Stream;
use hitless_core::engine::draws::exponential;
use hitless_core::wire::{Duration, HostId, Time};

use crate::workload::{FlowSize, FlowSpec, Messages, Offer};

/// What all flows of a group have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Template {
    /// When the group starts.
    pub start: Time,
    /// When it ends, if it does.
    pub stop: Option<Time>,
    /// Index into [`crate::Scenario::transport_configs`].
    pub transport: usize,
    /// Traffic class.
    pub class: u8,
    /// Index of the group.
    pub group: usize,
}

impl Template {
    /// The first flow, of one message of `bytes`. It runs to its end even when the group ends before it.
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

    /// The first flow, which sends as much as it can until the group ends.
    pub fn unlimited(&self, source: HostId, destination: HostId, start: Time) -> FlowSpec {
        FlowSpec { size: FlowSize::Unlimited, stop: self.stop, ..self.sized(source, destination, 0, start) }
    }

    /// `delay` after the group's start; beyond the range of time, the end of it.
    pub fn after(&self, delay: Duration) -> Time {
        Time(self.start.as_ps().saturating_add(delay.as_ps()))
    }

    /// From the group's start to its end, or to `end` if that is before.
    fn seconds_until(&self, end: Time) -> f64 {
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
    Poisson { per_second: f64 },
    /// Regularly, the first at once.
    Every(Duration),
}

/// The starts of a group, one after the other.
#[derive(Clone, Debug, hitless_core::state::State)]
pub struct Starts {
    #[configured]
    pub template: Template,
    #[configured]
    arrivals: Arrivals,
    /// How many are left, if there is a limit.
    left: Option<u64>,
    /// How many there were.
    given: u64,
    previous: Option<Time>,
}

impl Starts {
    /// As they arrive, at most `count`.
    pub fn new(template: Template, arrivals: Arrivals, count: Option<u64>) -> Self {
        Self { template, arrivals, left: count, given: 0, previous: None }
    }

    pub fn left(&self) -> Option<u64> {
        self.left
    }

    /// Whether neither a count nor a time ends them.
    pub fn are_endless(&self) -> bool {
        self.left.is_none() && self.template.stop.is_none()
    }

    /// The next and its number, counted from 0, if the group has not ended by then.
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

    /// What a fabric is asked for until `end`, if each is of `each` flows of `mean_bytes`.
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

    /// What a fabric is asked for until `end`, if flows follow each other that take so long.
    pub fn offer_in_turn(&self, end: Time, each_s: f64) -> Offer {
        Offer { flows: (self.template.seconds_until(end) / each_s).min(self.most()), ..Offer::default() }
    }

    fn most(&self) -> f64 {
        self.left.map_or(f64::INFINITY, |left| left as f64)
    }
}
