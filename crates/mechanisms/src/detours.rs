//! How often packets are detoured: in the packet, wherever it goes in the fabric, and in what a switch counts of it.

use hdrhistogram::Histogram;
use hitless_core::wire::Packet;
use hitless_core::wire::shim::DetourCount;
use hitless_switch::Report;

/// What a report calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names {
    /// The most detours of a packet.
    pub most: &'static str,
    /// Detours that the packet had no room to be counted in.
    pub uncounted: &'static str,
    /// The histogram of the detours of packets that were detoured.
    pub of_packet: &'static str,
}

/// The detours of the packets of one switch.
#[derive(Debug)]
pub(crate) struct Detours {
    /// The most that a packet has had in the whole fabric when it was detoured here.
    most: u64,
    /// Those of packets that had been detoured and left for their host.
    ended: Histogram<u64>,
    /// Those that the packet has no room to be counted in.
    uncounted: u64,
}

hitless_core::state!(Detours { values: most, uncounted; parts: ended });

impl Detours {
    /// None yet.
    pub fn new() -> Self {
        let ended = Histogram::new_with_bounds(1, u64::from(u8::MAX), 3).expect("these bounds are legal");
        Self { most: 0, ended, uncounted: 0 }
    }

    /// The packet is detoured once more.
    pub fn once_more(&mut self, packet: &mut Packet) {
        let before = packet.shims.get::<DetourCount>();
        let count = DetourCount(before.map_or(0, |count| count.0).saturating_add(1));
        if !packet.shims.replace(count) && packet.push_shim(count).is_err() {
            self.uncounted += 1;
        }
        self.most = self.most.max(u64::from(count.0));
    }

    /// The packet leaves for its host: its detours are over.
    #[inline]
    pub fn end(&mut self, packet: &mut Packet) {
        if let Some(DetourCount(count)) = packet.remove_shim::<DetourCount>() {
            self.ended.saturating_record(u64::from(count));
        }
    }

    /// All of it, as of the switch.
    pub fn report(&self, names: Names, report: &mut Report) {
        report.count("switch", names.most, self.most);
        report.count("switch", names.uncounted, self.uncounted);
        if !self.ended.is_empty() {
            report.histograms.push(("switch".into(), names.of_packet, self.ended.clone()));
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
