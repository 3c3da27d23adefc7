//! AFQ's counters.

use hitless_core::wire::PortId;
use hitless_switch::Report;

hitless_switch::counters! {
    pub struct PortCounters {
        assigned as packets_assigned = "packets given a queue",
        too_far_ahead as packets_dropped_too_far_ahead = "packets dropped too far ahead",
        taken_when_idle as packets_taken_when_idle = "packets too far ahead that an idle port took",
        refused as packets_refused_by_traffic_manager = "packets the traffic manager refused",
        /// Refused packets with a refunded charge.
        refunded as packets_refunded = "packets refunded",
        marked as packets_marked = "packets marked",
        /// Packets above the marking threshold, without ECN support.
        not_capable as packets_not_capable = "packets not capable of a mark",
        /// Packets with different bids in the rows of the sketch.
        rows_differed as packets_with_differing_rows = "packets whose rows differed",
        rounds_ahead_max = "most rounds ahead",
        /// The round at the last packet.
        round = "round",
        /// Swaps of the two groups by the control plane.
        swaps = "swaps",
    }
}

impl PortCounters {
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
