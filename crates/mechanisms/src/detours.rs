//! The number of detours of packets: in the packet across the fabric, and in a switch's counters.

use hdrhistogram::Histogram;
use hitless_core::wire::Packet;
use hitless_core::wire::shim::DetourCount;
use hitless_switch::{Quantity, Report};

hitless_switch::counters! {
    pub(crate) struct DetourCounters(detours: &Detours) {
        /// Over the whole fabric, of the packets that were detoured here.
        packet_detours_max = "most detours of a packet": detours.most,
        /// The packet had no room for the count.
        detours_uncounted = "detours not counted in their packet": detours.uncounted,
    }
}

/// Detours of a packet that was detoured.
pub(crate) const PACKET_DETOURS: Quantity = Quantity::new("packet_detours", "detours of a detoured packet");

#[derive(Debug, hitless_core::state::State)]
pub(crate) struct Detours {
    most: u64,
    #[part]
    ended: Histogram<u64>,
    /// Detours that were not counted, because the packet had no room for the count.
    uncounted: u64,
}

impl Detours {
    pub fn new() -> Self {
        let ended = Histogram::new_with_bounds(1, u64::from(u8::MAX), 3).expect("these bounds are legal");
        Self { most: 0, ended, uncounted: 0 }
    }

    pub fn once_more(&mut self, packet: &mut Packet) {
        let before = packet.shims.get::<DetourCount>();
        let count = DetourCount(before.map_or(0, |count| count.0).saturating_add(1));
        if !packet.shims.replace(count) && packet.push_shim(count).is_err() {
            self.uncounted += 1;
        }
        self.most = self.most.max(u64::from(count.0));
    }

    #[inline]
    pub fn end(&mut self, packet: &mut Packet) {
        if let Some(DetourCount(count)) = packet.remove_shim::<DetourCount>() {
            self.ended.saturating_record(u64::from(count));
        }
    }

    pub fn report(&self, report: &mut Report) {
        report.count("switch", DetourCounters::values(self));
        if !self.ended.is_empty() {
            report.histograms.push(("switch".into(), PACKET_DETOURS, self.ended.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_detours_stay_those_of_the_packet_that_had_them() {
        let mut detours = Detours::new();
        let [mut often, mut once] = [Packet::default(), Packet::default()];
        (0..3).for_each(|_| detours.once_more(&mut often));
        detours.once_more(&mut once);
        assert_eq!((detours.most, detours.uncounted), (3, 0));
        detours.end(&mut often);
        assert_eq!((detours.ended.len(), detours.ended.max(), often.shims.is_empty()), (1, 3, true));
    }
}
