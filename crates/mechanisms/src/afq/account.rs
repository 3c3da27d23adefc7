//! What AFQ counts.

use hitless_switch::Report;
use hitless_wire::PortId;

/// Counters of one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Packets that got a queue.
    pub assigned: u64,
    /// Packets dropped because their round was too far ahead.
    pub too_far_ahead: u64,
    /// Packets as far ahead that the port took all the same, as it had nothing else to send.
    pub taken_when_idle: u64,
    /// Packets that the traffic manager had no room for.
    pub refused: u64,
    /// Of those, the ones whose charge was taken back.
    pub refunded: u64,
    /// Packets marked.
    pub marked: u64,
    /// Packets that should have been marked, and whose transport knows no ECN.
    pub not_capable: u64,
    /// Packets for which the rows of the sketch did not agree.
    pub rows_differed: u64,
    /// The most rounds ahead that a packet was queued.
    pub rounds_ahead_max: u64,
    /// The round at the last packet.
    pub round: u64,
    /// Swaps of the two groups by the control plane.
    pub swaps: u64,
}

hitless_state::value!(PortCounters {
    assigned,
    too_far_ahead,
    taken_when_idle,
    refused,
    refunded,
    marked,
    not_capable,
    rows_differed,
    rounds_ahead_max,
    round,
    swaps
});

impl PortCounters {
    /// Adds the counters of `port` to a report.
    pub fn report(&self, port: PortId, report: &mut Report) {
        let scope = format!("port {}", port.0);
        let counters = [
            ("packets given a queue", self.assigned),
            ("packets dropped too far ahead", self.too_far_ahead),
            ("packets too far ahead that an idle port took", self.taken_when_idle),
            ("packets the traffic manager refused", self.refused),
            ("packets refunded", self.refunded),
            ("packets marked", self.marked),
            ("packets not capable of a mark", self.not_capable),
            ("packets whose rows differed", self.rows_differed),
            ("most rounds ahead", self.rounds_ahead_max),
            ("round", self.round),
            ("swaps", self.swaps),
        ];
        counters.into_iter().for_each(|(name, value)| report.count(&scope, name, value));
        report.acted |= self.assigned + self.too_far_ahead > 0;
        if self.refused > self.assigned {
            let (refused, assigned) = (self.refused, self.assigned);
            report
                .violated_invariants
                .push(format!("{scope} refused {refused} packets, and only {assigned} had a queue"));
        }
    }
}
