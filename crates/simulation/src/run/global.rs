//! What is of a whole run, whether its network is one or divided into partitions.

use hitless_core::wire::Time;
use hitless_scenario::{Scenario, Until};

use super::control_plane::ControlPlane;
use super::flow_starts::FlowStarts;
use super::group_totals::GroupTotals;
use super::sampling::Samplers;
use super::streaming::Streaming;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The clock reached the end of the scenario.
    Duration,
    /// Every flow was done.
    AllFlowsDone,
    /// Somebody asked for it.
    Cancelled,
    /// Not at all: it only stopped, and can go on.
    Paused,
    /// Whoever drives a live run has stopped it.
    Stopped,
}

/// A run beside its network.
pub(super) struct Global {
    pub scenario: Scenario,
    pub control_plane: ControlPlane,
    pub flow_starts: FlowStarts,
    pub samplers: Samplers,
    /// Where rows go while it runs; `None`: it keeps them.
    pub streaming: Option<Box<Streaming>>,
    /// Of the flows whose rows are made.
    pub totals: GroupTotals,
}

impl Global {
    /// When the clock ends it.
    pub fn deadline(&self) -> Time {
        self.scenario.duration.unwrap_or(Time::NEVER)
    }

    /// Whether it is over because all flows are, of which so many have ended.
    pub fn is_done(&mut self, flows_ended: u64) -> bool {
        let started = self.flow_starts.specs().len() as u64;
        debug_assert!(flows_ended <= started);
        self.scenario.until == Until::AllFlowsDone && flows_ended == started && self.flow_starts.are_over()
    }

    /// Nothing is left to happen: a run until a time goes on in silence.
    pub fn end_of_events(&self, now: Time) -> (End, Time) {
        match (self.scenario.until, self.scenario.duration) {
            (Until::Duration, Some(deadline)) => (End::Duration, deadline),
            _ => (End::AllFlowsDone, now),
        }
    }

    /// How much of it is done, in millionths; so many messages are complete that were not handed over.
    pub fn done_ppm(&self, now: Time, messages: usize) -> u64 {
        let handed_over = self.streaming.as_ref().map_or(0, |streaming| streaming.messages());
        let by_time = now.as_seconds() / self.deadline().as_seconds();
        let fraction = match self.scenario.until {
            Until::Duration => by_time,
            // Messages, and not flows, which may be a few long connections.
            Until::AllFlowsDone => {
                by_time.max((handed_over + messages) as f64 / self.flow_starts.messages_expected().max(1) as f64)
            }
        };
        // More may come than are expected.
        (fraction.min(1.0) * 1e6) as u64
    }
}
