//! Flows one after the other: each starts when the one before is done.

use hitless_core::wire::{Duration, Time};

use super::pairs::PairGenerator;
use super::template::Template;
use crate::workload::{FlowSpec, Offer};

/// A group of flows of which one at a time is under way.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The flows, whatever their own times.
    pub(in crate::workload) flows: PairGenerator,
    /// The pause between the end of one and the start of the next.
    pub(in crate::workload) gap: Duration,
}

hitless_core::state!(Sequence { parts: flows; configured: gap });

impl Sequence {
    /// What it asks of a fabric until `end`: one flow at a time.
    pub(super) fn offer(&self, end: Time, line_bps: f64) -> Offer {
        let each_s = 8.0 * self.flows.sizes.mean_bytes() / line_bps + self.gap.as_seconds();
        self.flows.starts.offer_in_turn(end, each_s)
    }

    fn template(&self) -> &Template {
        &self.flows.starts.template
    }

    /// The group's number.
    pub fn group(&self) -> usize {
        self.template().group
    }

    /// When the first flow starts.
    pub fn start(&self) -> Time {
        self.template().start
    }

    /// When the flow after one that ended at `time` starts.
    pub fn start_after(&self, time: Time) -> Time {
        Time(time.as_ps().saturating_add(self.gap.as_ps()))
    }

    /// The next flow, which starts at `time`; none when the group has ended.
    pub fn next_at(&mut self, time: Time) -> Option<FlowSpec> {
        if self.template().is_over(time) {
            return None;
        }
        self.flows.next().map(|flow| FlowSpec { start: time, ..flow })
    }

    /// How many flows are left, if there is a limit.
    pub fn left(&self) -> Option<u64> {
        self.flows.starts.left()
    }
}
