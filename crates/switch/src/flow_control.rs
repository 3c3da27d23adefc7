//! Flow control: the buffer of lossless traffic classes, and the signals to the link partner.
//!
//! A port has a priority group for each lossless class. While a packet waits in a queue, it counts in the group of the
//! port where it arrived. With priority flow control (IEEE 802.1Qbb) packets above the XOFF threshold go to the
//! headroom of the group, and the partner is paused; the headroom holds all frames that arrive until it stops. With
//! credits the whole group is headroom, and the partner sends within its free part.

use hitless_core::wire::pauses::has_class;
use hitless_core::wire::{CreditRules, Duration, PortId, ReceiverCredits, Time};

/// Number of bytes of a priority group at which the partner is paused.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum XoffThreshold {
    /// A constant.
    Bytes(u64),
    /// This factor times the free part of the shared buffer (Choudhury and Hahne 1998).
    OfFree(f64),
}

/// Flow control at a port.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowControl {
    /// The lossless traffic classes, one bit each.
    pub classes: u8,
    /// The signals that limit the partner.
    pub kind: FlowControlKind,
    /// Memory of each class that the shared buffer does not contain: for frames that arrive after XOFF, or with credits
    /// for all frames.
    pub headroom_bytes: u64,
    /// Whether a lossless packet without room is a violation: the headroom suffices, and links deliver pause frames;
    /// with credits always.
    pub is_guaranteed: bool,
    /// `None` lets a pause, or a wait for credit, last as long as the partner wants.
    pub watchdog: Option<PfcWatchdog>,
}

/// The kinds of flow control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowControlKind {
    /// Priority flow control.
    Pauses(PauseRules),
    /// Credit-based flow control.
    Credits(PortCredits),
}

/// The parameters of priority flow control.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PauseRules {
    /// Threshold of each class.
    pub xoff: XoffThreshold,
    /// Distance below the threshold at which the partner may resume.
    pub xon_offset_bytes: u64,
    /// Time from the arrival of a pause frame until this port stops.
    pub response: Duration,
}

/// The parameters of credit-based flow control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortCredits {
    /// Parameters of both directions.
    pub rules: CreditRules,
    /// Credits of each class at the link partner.
    pub limit: u32,
}

impl FlowControl {
    /// Returns whether `class` is lossless.
    pub const fn is_lossless(&self, class: u8) -> bool {
        has_class(self.classes, class)
    }

    /// Returns the parameters of credits; `None` with priority flow control.
    pub const fn credits(&self) -> Option<PortCredits> {
        match self.kind {
            FlowControlKind::Credits(credits) => Some(credits),
            FlowControlKind::Pauses(_) => None,
        }
    }

    /// Returns the response time to pause frames.
    pub const fn pause_response(&self) -> Duration {
        match self.kind {
            FlowControlKind::Pauses(rules) => rules.response,
            FlowControlKind::Credits(_) => Duration::ZERO,
        }
    }

    /// Returns the bytes of memory that a frame takes.
    pub const fn memory_bytes(&self, frame_bytes: u32) -> u64 {
        match self.kind {
            FlowControlKind::Pauses(_) => frame_bytes as u64,
            FlowControlKind::Credits(credits) => credits.rules.memory_bytes(frame_bytes),
        }
    }

    fn limit_bytes(&self, free_bytes: u64) -> u64 {
        match self.kind {
            FlowControlKind::Pauses(PauseRules { xoff: XoffThreshold::Bytes(bytes), .. }) => bytes,
            FlowControlKind::Pauses(PauseRules { xoff: XoffThreshold::OfFree(factor), .. }) => {
                (factor * free_bytes as f64) as u64
            }
            FlowControlKind::Credits(_) => 0,
        }
    }

    fn xon_offset_bytes(&self) -> u64 {
        match self.kind {
            FlowControlKind::Pauses(rules) => rules.xon_offset_bytes,
            FlowControlKind::Credits(_) => 0,
        }
    }
}

/// The end of pauses, or of waits for credit, that last too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PfcWatchdog {
    /// Duration of a pause, or of a wait for credit, after which it ends.
    pub detection: Duration,
    /// Time without pause frames after which the class obeys them again; with credits, the maximum time of dropping.
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
    /// The credits of frames from the partner.
    pub credits: ReceiverCredits,
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
            credits: ReceiverCredits::default(),
            drops: 0,
            by_egress: Vec::new(),
        }
    }
}

impl PriorityGroup {
    /// Charges a frame, while `free_bytes` of the shared buffer are free.
    pub fn charge(&mut self, control: &FlowControl, free_bytes: u64, frame_bytes: u32) -> Charge {
        let frame_bytes = control.memory_bytes(frame_bytes);
        // The headroom is for frames sent before the partner heard of the pause, so it comes second.
        if frame_bytes <= free_bytes && self.shared_bytes + frame_bytes <= control.limit_bytes(free_bytes) {
            self.shared_bytes += frame_bytes;
            return Charge::Shared;
        }
        if self.headroom_bytes + frame_bytes > control.headroom_bytes {
            self.drops += 1;
            return Charge::Refused;
        }
        self.headroom_bytes += frame_bytes;
        self.headroom_peak_bytes = self.headroom_peak_bytes.max(self.headroom_bytes);
        Charge::Headroom
    }

    /// Refunds the memory of a frame. Returns the part of it that leaves the headroom, which empties first.
    pub fn refund(&mut self, frame_bytes: u64) -> u64 {
        let of_headroom = frame_bytes.min(self.headroom_bytes);
        self.headroom_bytes -= of_headroom;
        assert!(frame_bytes - of_headroom <= self.shared_bytes, "a priority group got back more bytes than it gave");
        self.shared_bytes -= frame_bytes - of_headroom;
        of_headroom
    }

    /// Returns whether a paused partner may resume.
    pub fn may_resume(&self, control: &FlowControl, free_bytes: u64) -> bool {
        let resumes_at = control.limit_bytes(free_bytes).saturating_sub(control.xon_offset_bytes());
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

    /// Returns the bytes of memory that the group's frames take.
    pub fn bytes(&self) -> u64 {
        self.shared_bytes + self.headroom_bytes
    }
}

/// Flow control at a port until now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowControlCounters {
    /// Pause and resume frames sent, or messages about credits.
    pub pause_frames_sent: u64,
    /// Time that the partner has paused classes, or left them without credit, added over the classes.
    pub paused: Duration,
    /// Maximum number of bytes in the headroom of a class.
    pub headroom_peak_bytes: u64,
    /// Packets of lossless classes that found no room.
    pub lossless_drops: u64,
    /// Pauses, or waits for credit, that the watchdog has ended.
    pub storms: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pfc(xoff: XoffThreshold) -> FlowControl {
        FlowControl {
            classes: 1 << 3,
            kind: FlowControlKind::Pauses(PauseRules { xoff, xon_offset_bytes: 2_000, response: Duration::ZERO }),
            headroom_bytes: 5_000,
            is_guaranteed: true,
            watchdog: None,
        }
    }

    #[test]
    fn with_credits_frames_take_whole_credits_of_the_headroom_only() {
        let rules = CreditRules {
            credit_bytes: 1_000,
            response: Duration::ZERO,
            update_interval: Duration::ZERO,
            sync_interval: None,
        };
        let credits = PortCredits { rules, limit: 5 };
        let control = FlowControl { kind: FlowControlKind::Credits(credits), ..pfc(XoffThreshold::Bytes(0)) };
        let mut group = PriorityGroup::default();
        let charges = [1_500, 1_000, 1_001, 1].map(|frame_bytes| group.charge(&control, u64::MAX, frame_bytes));
        assert_eq!(charges, [Charge::Headroom, Charge::Headroom, Charge::Headroom, Charge::Refused]);
        assert_eq!((group.bytes(), group.refund(control.memory_bytes(1_001)), group.bytes()), (5_000, 2_000, 3_000));
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
