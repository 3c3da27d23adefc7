//! Flows one after the other: each starts when the one before is done.

use hitless_wire::{Duration, Time};

use super::pairs::PairGenerator;
use super::template::Template;
use crate::workload::{FlowSpec, Offer};

/// A group of flows of which one at a time is under way.
#[derive(Clone, Debug)]
pub struct Sequence {
    template: Template,
    flows: PairGenerator,
    gap: Duration,
}

hitless_state::state!(Sequence { parts: flows; configured: template, gap });

impl Sequence {
    /// What it asks of a fabric until `end`: one flow at a time.
    pub fn offer(&self, end: Time, line_bps: f64) -> Offer {
        self.flows.offer_in_turn(end, line_bps, self.gap.as_seconds())
    }

    /// The flows of `flows`, whatever their own times, with a pause of `gap` between the end of one and the start of
    /// the next.
    pub fn new(template: Template, flows: PairGenerator, gap: Duration) -> Self {
        Self { template, flows, gap }
    }

    /// The group's number.
    pub fn group(&self) -> usize {
        self.template.group
    }

    /// When the first flow starts.
    pub fn start(&self) -> Time {
        self.template.start
    }

    /// When the flow after one that ended at `time` starts.
    pub fn start_after(&self, time: Time) -> Time {
        Time(time.as_ps().saturating_add(self.gap.as_ps()))
    }

    /// The next flow, which starts at `time`; none when the group has ended.
    pub fn next_at(&mut self, time: Time) -> Option<FlowSpec> {
        if self.template.is_over(time) {
            return None;
        }
        self.flows.next().map(|flow| FlowSpec { start: time, ..flow })
    }

    /// How many flows are left, if there is a limit.
    pub fn left(&self) -> Option<u64> {
        self.flows.left()
    }

    /// Whether neither a count nor a time ends it.
    pub fn is_endless(&self) -> bool {
        self.flows.is_endless()
    }
}
