//! The round as the enqueue side can infer it from empty queues (section 4).

use hitless_core::wire::{Duration, PortId, QueueId, Time};
use hitless_switch::{Context, Report, Rounds};

use super::settings::AfqOccupancy;

hitless_switch::counters! {
    pub struct EstimateCounters(estimate: &RoundEstimate) {
        rounds_estimated = "rounds estimated": estimate.packets,
        estimates_behind = "estimates behind": estimate.behind,
        estimates_ahead = "estimates ahead": estimate.ahead,
        rounds_behind_max = "most rounds behind": estimate.behind_max,
        estimated_rounds_ahead_max = "most estimated rounds ahead": estimate.ahead_max,
    }
}

#[derive(Debug, hitless_core::state::Value)]
pub struct RoundEstimate {
    queues: u8,
    granularity_bytes: u64,
    refresh: Duration,
    round: u64,
    last_assigned: Option<u64>,
    /// The last view of the queues, and the time until which it is reused.
    occupied: u64,
    valid_until: Time,
    packets: u64,
    behind: u64,
    ahead: u64,
    behind_max: u64,
    ahead_max: u64,
}

impl RoundEstimate {
    pub fn new(queues: u8, seen: AfqOccupancy) -> Self {
        assert!((1..=64).contains(&queues), "the occupancy of {queues} queues has a bit for each in 64");
        Self {
            queues,
            granularity_bytes: seen.granularity.0,
            refresh: seen.refresh,
            round: 0,
            last_assigned: None,
            occupied: 0,
            valid_until: Time::ZERO,
            packets: 0,
            behind: 0,
            ahead: 0,
            behind_max: 0,
            ahead_max: 0,
        }
    }

    /// Estimates the round in which a packet for `port` arrives. `actual` is the scheduler's round, which is only
    /// compared.
    pub fn look(&mut self, context: &mut Context<'_>, port: PortId, actual: Rounds) -> Rounds {
        if context.now() >= self.valid_until {
            self.occupied = self.see(context, port, actual.first);
            self.valid_until = context.now() + self.refresh;
        }
        // Section 4: an empty queue of an assigned round is served. The estimate stops at the first queue that is
        // occupied, or that no packet was assigned to.
        while self.is_over() {
            self.round += 1;
        }
        let beyond_last = self.last_assigned.map_or(0, |last| last + 1);
        assert!(self.round <= beyond_last, "no round is over that nobody was assigned to");
        self.compare(actual.current);
        Rounds { current: self.round, oldest: self.round, ..actual }
    }

    pub fn note_assigned(&mut self, round: u64) {
        self.last_assigned = self.last_assigned.max(Some(round));
    }

    /// Whether the round has been served: a packet was assigned to it, and its queue is empty.
    fn is_over(&self) -> bool {
        // The queue of a round is its number modulo the number of queues, as in the enqueue module.
        let queue = self.round % u64::from(self.queues);
        self.last_assigned.is_some_and(|last| self.round <= last) && self.occupied >> queue & 1 == 0
    }

    fn see(&self, context: &mut Context<'_>, port: PortId, first: QueueId) -> u64 {
        if self.granularity_bytes <= 1 {
            return context.group(port).occupied_queues();
        }
        // A switch that reports occupancy in coarse cells shows a queue with less than a cell as empty.
        let looks_occupied = |queue| context.queue(port, QueueId(first.0 + queue)).bytes() >= self.granularity_bytes;
        let seen: Vec<bool> = (0..self.queues).map(looks_occupied).collect();
        seen.iter().rev().fold(0, |occupied, &is_occupied| occupied << 1 | u64::from(is_occupied))
    }

    fn compare(&mut self, actual: u64) {
        self.packets += 1;
        let (behind, ahead) = (actual.saturating_sub(self.round), self.round.saturating_sub(actual));
        self.behind += u64::from(behind > 0);
        self.ahead += u64::from(ahead > 0);
        self.behind_max = self.behind_max.max(behind);
        self.ahead_max = self.ahead_max.max(ahead);
    }

    pub fn report(&self, port: PortId, report: &mut Report) {
        report.count(&format!("port {}", port.0), EstimateCounters::values(self));
    }
}
