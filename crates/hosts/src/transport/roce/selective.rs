//! Selective repeat: what the requester knows of packets beyond the first that is missing.
//!
//! NVIDIA says of its cards (ConnectX-6 and later) that the responder takes packets out of order and that only what
//! was lost is sent again; how is not published. Assumed here is what IRN does (Mittal et al., "Revisiting Network
//! Support for RDMA", SIGCOMM 2018, section 3.1): each packet beyond a gap draws a negative acknowledgement that
//! names the packet expected and the one that came; the first of them begins a recovery, in which the packet expected
//! is sent again and then each that is missing below the highest that came, each once; new packets follow when there
//! is nothing to repeat. The recovery ends when all is acknowledged that had been sent when it began. What is lost
//! twice waits for the timeout, after which everything is sent again that is not known to have come (IRN has shorter
//! timeouts instead).

use std::collections::VecDeque;

/// The requester's record of a connection with selective repeat.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Selective {
    /// Of each packet from the first unacknowledged one on, whether it came; shorter than the window as a rule.
    arrived: VecDeque<bool>,
    /// The first unacknowledged packet.
    base: u64,
    /// One beyond the highest packet that is known to have come.
    highest_arrived: u64,
    recovery: Option<Recovery>,
}

/// A recovery under way.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Recovery {
    /// It ends when everything below this is acknowledged.
    ends_at: u64,
    /// No packet below this is sent again in this recovery.
    next: u64,
    /// Every packet below this that is not known to have come is taken for lost.
    lost_below: u64,
}

impl Selective {
    /// Everything below `packet` has come.
    pub fn acknowledge_below(&mut self, packet: u64) {
        let count = (packet - self.base).min(self.arrived.len() as u64);
        self.arrived.drain(..count as usize);
        self.base = packet;
        if self.recovery.is_some_and(|recovery| packet >= recovery.ends_at) {
            self.recovery = None;
        }
    }

    /// `packet` has come, out of order. Returns whether that begins a recovery; `highest_sent` is one beyond the last
    /// packet ever sent.
    pub fn arrived_beyond_gap(&mut self, packet: u64, highest_sent: u64) -> bool {
        if packet < self.base {
            return false;
        }
        let index = (packet - self.base) as usize;
        if index >= self.arrived.len() {
            self.arrived.resize(index + 1, false);
        }
        self.arrived[index] = true;
        self.highest_arrived = self.highest_arrived.max(packet + 1);
        let begins = self.recovery.is_none();
        if begins {
            self.begin(highest_sent, self.base + 1);
        }
        begins
    }

    /// Nothing came for too long: all that is not known to have come is lost.
    pub fn time_out(&mut self, highest_sent: u64) {
        self.begin(highest_sent, highest_sent);
    }

    fn begin(&mut self, highest_sent: u64, lost_below: u64) {
        self.recovery = Some(Recovery { ends_at: highest_sent, next: self.base, lost_below });
    }

    /// The next packet to send again, if there is one.
    pub fn next_to_repeat(&mut self) -> Option<u64> {
        let mut recovery = self.recovery?;
        let lost_below = recovery.lost_below.max(self.highest_arrived);
        recovery.next = recovery.next.max(self.base);
        while recovery.next < lost_below && self.has_arrived(recovery.next) {
            recovery.next += 1;
        }
        self.recovery = Some(recovery);
        (recovery.next < lost_below).then_some(recovery.next)
    }

    /// `packet` was sent again.
    pub fn repeated(&mut self, packet: u64) {
        if let Some(recovery) = &mut self.recovery {
            recovery.next = packet + 1;
        }
    }

    fn has_arrived(&self, packet: u64) -> bool {
        self.arrived.get((packet - self.base) as usize).copied().unwrap_or(false)
    }
}

/// The responder's buffer of a connection with selective repeat: what came beyond the packet expected.
///
/// A card writes such packets to their place in memory at once; what waits is their bookkeeping.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct OutOfOrder {
    /// Of each packet from the expected one on, its payload bytes, if it came.
    packets: VecDeque<Option<u32>>,
}

impl OutOfOrder {
    /// Takes a packet `ahead` of the one expected; returns whether it is new.
    pub fn take(&mut self, ahead: usize, payload_bytes: u32) -> bool {
        if ahead >= self.packets.len() {
            self.packets.resize(ahead + 1, None);
        }
        self.packets[ahead].replace(payload_bytes).is_none()
    }

    /// The expected packet has come; returns the payload bytes of the next, if it came before.
    pub fn advance(&mut self) -> Option<u32> {
        self.packets.pop_front();
        self.packets.front().copied().flatten()
    }
}
