//! Run-wide state, for a run of one network or of several partitions.

use hitless_core::wire::Time;
use hitless_scenario::{Scenario, Until};

use super::control_plane::ControlPlane;
use super::flow_starts::FlowStarts;
use super::group_totals::GroupTotals;
use super::sampling::Samplers;
use super::streaming::Streaming;
use crate::results::Explanation;

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The clock reached the scenario's duration.
    Duration,
    /// Every flow is done.
    AllFlowsDone,
    /// The caller cancelled it.
    Cancelled,
    /// It has not ended: it has paused and can continue.
    Paused,
    /// The driver of a live run has stopped it.
    Stopped,
}

/// Everything of a run except its network.
pub(super) struct Global {
    pub scenario: Scenario,
    pub control_plane: ControlPlane,
    pub flow_starts: FlowStarts,
    pub samplers: Samplers,
    /// The destination of rows handed over during the run; `None` if the run keeps them.
    pub streaming: Option<Box<Streaming>>,
    /// Totals of the flows with complete rows.
    pub totals: GroupTotals,
    /// Explanation of the flows that have not ended. A divided run makes it before its parts are joined.
    pub explanation: Option<Explanation>,
}

impl Global {
    /// The end of the scenario's duration.
    pub fn deadline(&self) -> Time {
        self.scenario.duration.unwrap_or(Time::NEVER)
    }

    /// Checks whether the run is over because all its flows are, given the number of ended flows.
    pub fn check_done(&mut self, flows_ended: u64) -> bool {
        let started = self.flow_starts.specs().len() as u64;
        debug_assert!(flows_ended <= started);
        self.scenario.until == Until::AllFlowsDone && flows_ended == started && self.flow_starts.check_over()
    }

    /// No event is left: a run with a fixed duration idles until its deadline.
    pub fn end_of_events(&self, now: Time) -> (End, Time) {
        match (self.scenario.until, self.scenario.duration) {
            (Until::Duration, Some(deadline)) => (End::Duration, deadline),
            _ => (End::AllFlowsDone, now),
        }
    }

    /// Progress of the run in parts per million; `messages` counts complete messages that have not been handed over.
    pub fn done_ppm(&self, now: Time, messages: usize) -> u64 {
        let handed_over = self.streaming.as_ref().map_or(0, |streaming| streaming.messages());
        let by_time = now.as_seconds() / self.deadline().as_seconds();
        let fraction = match self.scenario.until {
            Until::Duration => by_time,
            // By messages instead of flows, because the flows may be a few long connections.
            Until::AllFlowsDone => {
                by_time.max((handed_over + messages) as f64 / self.flow_starts.messages_expected().max(1) as f64)
            }
        };
        // Random arrivals can exceed the expected number.
        (fraction.min(1.0) * 1e6) as u64
    }
}
