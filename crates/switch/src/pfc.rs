//! Priority flow control (IEEE 802.1Qbb): the buffer of lossless traffic classes, and when to pause the link partner.
//!
//! A port has a priority group for each lossless class. While a packet waits in a queue, it counts in the group of the
//! port where it arrived. Above the XOFF threshold packets go to the headroom of the group, and the partner is paused.
//! The headroom holds all frames that arrive until the partner stops.

use hitless_core::wire::{Duration, PortId, Time};

/// Number of bytes of a priority group at which the partner is paused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum XoffThreshold {
    /// A constant.
    Bytes(u64),
    /// This factor times the free part of the shared buffer (Choudhury and Hahne 1998).
    OfFree(f64),
}

/// Priority flow control at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PortPfc {
    /// The lossless traffic classes, one bit each.
    pub classes: u8,
    /// Threshold of each class.
    pub xoff: XoffThreshold,
    /// Distance below the threshold at which the partner may resume.
    pub xon_offset_bytes: u64,
    /// Memory of each class for frames that arrive after XOFF; the shared buffer does not contain it.
    pub headroom_bytes: u64,
    /// Time from the arrival of a pause frame until this port stops.
    pub response: Duration,
    /// Whether a lossless packet without room is a violation: the headroom suffices, and links deliver pause frames.
    pub is_guaranteed: bool,
    /// `None` lets a pause last as long as the partner wants.
    pub watchdog: Option<PfcWatchdog>,
}

impl PortPfc {
    /// Returns whether `class` is lossless.
    pub const fn is_lossless(&self, class: u8) -> bool {
        // IEEE 802.1Q has eight priorities; a pause frame has one bit for each (802.1Qbb).
        self.classes >> (class & 7) & 1 == 1
    }

    fn limit_bytes(&self, free_bytes: u64) -> u64 {
        match self.xoff {
            XoffThreshold::Bytes(bytes) => bytes,
            XoffThreshold::OfFree(factor) => (factor * free_bytes as f64) as u64,
        }
    }
}

/// The end of pauses that last too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcWatchdog {
    /// Duration of a pause after which the class ignores pause frames.
    pub detection: Duration,
    /// Time without pause frames after which the class obeys them again.
    pub restoration: Duration,
    /// Whether the class drops its packets meanwhile; otherwise it sends them.
    pub drops: bool,
}

/// Where a packet finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charge {
    /// In no group: the packet is not lossless here.
    Lossy,
    /// In the part of the buffer that all groups and queues share.
    Shared,
    /// In the group's headroom: the partner must pause.
    Headroom,
    Refused,
}

/// Bytes of the packets of a class that arrived at a port.
#[derive(Clone, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(crate) struct PriorityGroup {
    shared_bytes: u64,
    headroom_bytes: u64,
    pub headroom_peak_bytes: u64,
    /// Whether the partner must be paused.
    pub is_over: bool,
    /// Time of the next pause frame to the partner; [`Time::NEVER`] means none.
    pub tells_at: Time,
    pub drops: u64,
    /// Bytes of the group by the port at which they wait.
    by_egress: Vec<u64>,
}

impl Default for PriorityGroup {
    fn default() -> Self {
        Self {
            shared_bytes: 0,
            headroom_bytes: 0,
            headroom_peak_bytes: 0,
            is_over: false,
            tells_at: Time::NEVER,
            drops: 0,
            by_egress: Vec::new(),
        }
    }
}

impl PriorityGroup {
    /// Charges a frame, while `free_bytes` of the shared buffer are free.
    pub fn charge(&mut self, pfc: &PortPfc, free_bytes: u64, frame_bytes: u32) -> Charge {
        let frame_bytes = u64::from(frame_bytes);
        // The headroom is for frames sent before the partner heard of the pause, so it comes second.
        if frame_bytes <= free_bytes && self.shared_bytes + frame_bytes <= pfc.limit_bytes(free_bytes) {
            self.shared_bytes += frame_bytes;
            return Charge::Shared;
        }
        if self.headroom_bytes + frame_bytes > pfc.headroom_bytes {
            self.drops += 1;
            return Charge::Refused;
        }
        self.headroom_bytes += frame_bytes;
        self.headroom_peak_bytes = self.headroom_peak_bytes.max(self.headroom_bytes);
        Charge::Headroom
    }

    /// Refunds a frame. Returns the part of it that leaves the headroom, which empties first.
    pub fn refund(&mut self, frame_bytes: u32) -> u64 {
        let frame_bytes = u64::from(frame_bytes);
        let of_headroom = frame_bytes.min(self.headroom_bytes);
        self.headroom_bytes -= of_headroom;
        assert!(frame_bytes - of_headroom <= self.shared_bytes, "a priority group got back more bytes than it gave");
        self.shared_bytes -= frame_bytes - of_headroom;
        of_headroom
    }

    /// Returns whether a paused partner may resume.
    pub fn may_resume(&self, pfc: &PortPfc, free_bytes: u64) -> bool {
        let resumes_at = pfc.limit_bytes(free_bytes).saturating_sub(pfc.xon_offset_bytes);
        self.headroom_bytes == 0 && self.shared_bytes <= resumes_at
    }

    /// Records that bytes wait at `port`, which `charge` has admitted.
    pub fn wait_at(&mut self, port: PortId, frame_bytes: u32) {
        let port = usize::from(port.0);
        if self.by_egress.len() <= port {
            self.by_egress.resize(port + 1, 0);
        }
        self.by_egress[port] += u64::from(frame_bytes);
    }

    /// Records that bytes have left `port`.
    pub fn leave(&mut self, port: PortId, frame_bytes: u32) {
        self.by_egress[usize::from(port.0)] -= u64::from(frame_bytes);
    }

    /// Returns the ports at which packets of the group wait.
    pub fn egress_ports(&self) -> impl Iterator<Item = PortId> + '_ {
        self.by_egress.iter().enumerate().filter(|(_, bytes)| **bytes > 0).map(|(port, _)| PortId(port as u16))
    }

    #[cfg(test)]
    pub fn bytes(&self) -> u64 {
        self.shared_bytes + self.headroom_bytes
    }
}

/// Flow control at a port until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControlCounters {
    /// Pause and resume frames sent.
    pub pause_frames_sent: u64,
    /// Time that the partner has paused classes, added over the classes.
    pub paused: Duration,
    /// Maximum number of bytes in the headroom of a class.
    pub headroom_peak_bytes: u64,
    /// Packets of lossless classes that found no room.
    pub lossless_drops: u64,
    /// Pauses that the watchdog has ended.
    pub storms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfc(xoff: XoffThreshold) -> PortPfc {
        PortPfc {
            classes: 1 << 3,
            xoff,
            xon_offset_bytes: 2_000,
            headroom_bytes: 5_000,
            response: Duration::ZERO,
            is_guaranteed: true,
            watchdog: None,
        }
    }

    #[test]
    fn frames_above_the_threshold_fill_the_headroom_and_leave_it_first() {
        let pfc = pfc(XoffThreshold::Bytes(4_000));
        let mut group = PriorityGroup::default();
        let charges: Vec<_> = (0..8).map(|_| group.charge(&pfc, u64::MAX, 1_500)).collect();
        let (shared, headroom, refused) = (Charge::Shared, Charge::Headroom, Charge::Refused);
        assert_eq!(charges, [shared, shared, headroom, headroom, headroom, refused, refused, refused]);
        assert_eq!((group.bytes(), group.headroom_peak_bytes, group.drops), (7_500, 4_500, 3));
        let resumes = (0..5).map(|_| {
            let of_headroom = group.refund(1_500);
            (of_headroom, group.may_resume(&pfc, u64::MAX))
        });
        let expected = [(1_500, false), (1_500, false), (1_500, false), (0, true), (0, true)];
        assert_eq!(resumes.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_dynamic_threshold_follows_the_free_buffer_and_needs_room_for_the_frame() {
        let mut group = PriorityGroup::default();
        for (factor, free_bytes, expected) in [
            (0.5, 3_000, Charge::Shared),
            (0.5, 2_999, Charge::Headroom),
            (8.0, 1_499, Charge::Headroom),
            (8.0, 1_500, Charge::Shared),
        ] {
            let charge = group.charge(&pfc(XoffThreshold::OfFree(factor)), free_bytes, 1_500);
            assert_eq!(charge, expected, "{factor} times {free_bytes}");
            group.refund(1_500);
        }
    }
}
