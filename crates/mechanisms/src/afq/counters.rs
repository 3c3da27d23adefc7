//! What AFQ counts.

use hitless_core::wire::PortId;
use hitless_switch::Report;

hitless_switch::counters! {
    /// Counters of one port.
    pub struct PortCounters {
        assigned = "packets given a queue",
        too_far_ahead = "packets dropped too far ahead",
        taken_when_idle = "packets too far ahead that an idle port took",
        refused = "packets the traffic manager refused",
        /// Of those, the ones whose charge was taken back.
        refunded = "packets refunded",
        marked = "packets marked",
        /// Packets that should have been marked, and whose transport knows no ECN.
        not_capable = "packets not capable of a mark",
        /// Packets for which the rows of the sketch did not agree.
        rows_differed = "packets whose rows differed",
        rounds_ahead_max = "most rounds ahead",
        /// At the last packet.
        round = "round",
        /// Of the two groups, by the control plane.
        swaps = "swaps",
    }
}

impl PortCounters {
    /// Adds all to the report of `port`.
    pub fn report_port(&self, port: PortId, report: &mut Report) {
        let scope = format!("port {}", port.0);
        self.report(&scope, report);
        report.acted |= self.assigned + self.too_far_ahead > 0;
        if self.refused > self.assigned {
            let (refused, assigned) = (self.refused, self.assigned);
            report
                .violated_invariants
                .push(format!("{scope} refused {refused} packets, and only {assigned} had a queue"));
        }
    }
}
