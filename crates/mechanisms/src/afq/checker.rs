//! Exact bids of flows, to measure the error of the sketch (appendix E). A switch could not keep them.

use std::collections::BTreeMap;

use hitless_core::wire::PortId;
use hitless_switch::Report;

use super::settings::UpdateRule;

#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub flow: u64,
    pub base_bytes: u64,
    pub charge_bytes: u64,
    /// The bid of the sketch, from the beginning of the current round.
    pub ahead_bytes: u64,
    /// Distance at which a packet is dropped.
    pub limit_bytes: u64,
    /// Whether the packet was dropped because of its bid; false if the port had nothing else to send.
    pub is_dropped: bool,
}

hitless_switch::counters! {
    pub struct BidCounters(checker: &ExactBids) {
        bids_checked = "packets whose bid was checked": checker.packets,
        packets_in_later_queue = "packets in a later queue than they should be": checker.later,
        packets_dropped_by_mistake = "packets dropped by a bid too high": checker.dropped_by_mistake,
        bids_too_low = "packets whose bid was too low": checker.earlier,
        flows_seen = "flows seen": checker.bids.len() as u64,
        bid_error_max_bytes = "largest error of a bid (bytes)": checker.error_max_bytes,
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct ExactBids {
    bids: BTreeMap<u64, u64>,
    bytes_per_round: u64,
    #[configured]
    update: UpdateRule,
    packets: u64,
    later: u64,
    dropped_by_mistake: u64,
    earlier: u64,
    error_max_bytes: u64,
}

impl ExactBids {
    pub fn new(bytes_per_round: u32, update: UpdateRule) -> Self {
        Self {
            bids: BTreeMap::new(),
            bytes_per_round: bytes_per_round.into(),
            update,
            packets: 0,
            later: 0,
            dropped_by_mistake: 0,
            earlier: 0,
            error_max_bytes: 0,
        }
    }

    /// Compares the exact bid of a packet with the sketch's bid, and raises it by the sketch's rule.
    pub fn compare(&mut self, estimate: &Estimate) {
        let Estimate { base_bytes, charge_bytes, ahead_bytes, limit_bytes, .. } = *estimate;
        let exact = self.bids.entry(estimate.flow).or_insert(0);
        // Figure 3 without the sketch: `max(bid, R * BpR) + pkt.size`, from the beginning of the round.
        let exact_bytes = exact.saturating_sub(base_bytes) + charge_bytes;
        let is_too_far = ahead_bytes >= limit_bytes;
        if !is_too_far || self.update == UpdateRule::Increment {
            *exact = base_bytes + exact_bytes;
        }
        self.packets += 1;
        // A count-min sketch only overestimates (section 3.2); a bid that is too low is counted below.
        self.error_max_bytes = self.error_max_bytes.max(ahead_bytes.saturating_sub(exact_bytes));
        if is_too_far {
            self.dropped_by_mistake += u64::from(estimate.is_dropped && exact_bytes < limit_bytes);
            return;
        }
        let rounds = [ahead_bytes, exact_bytes].map(|bytes| bytes / self.bytes_per_round);
        self.later += u64::from(rounds[0] > rounds[1]);
        self.earlier += u64::from(ahead_bytes < exact_bytes);
    }

    pub fn refund(&mut self, flow: u64, charge_bytes: u64) {
        if let Some(exact) = self.bids.get_mut(&flow) {
            *exact = exact.saturating_sub(charge_bytes);
        }
    }

    pub fn report(&self, port: PortId, can_fall_short: bool, report: &mut Report) {
        let scope = format!("port {}", port.0);
        report.count(&scope, BidCounters::values(self));
        if self.earlier > 0 && !can_fall_short {
            let promise = format!("the sketch of {scope} had a bid below the exact one for {} packets", self.earlier);
            report.violated_invariants.push(promise);
        }
    }
}
