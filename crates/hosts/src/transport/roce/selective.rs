//! Selective repeat: the requester's state about packets beyond the first missing one.
//!
//! According to NVIDIA, its cards (ConnectX-6 and later) accept packets out of order and retransmit only lost ones; the
//! method is not published. This implementation assumes the method of IRN (Mittal et al., "Revisiting Network Support
//! for RDMA", SIGCOMM 2018, section 3.1). Each packet beyond a gap causes a negative acknowledgement that names the
//! expected packet and the one that arrived. The first of these starts a recovery. It retransmits the expected packet,
//! then each packet missing below the highest one that arrived, each once; new packets follow when there is nothing to
//! repeat. The recovery ends when all packets sent before it are acknowledged. A packet lost twice waits for the
//! timeout; then every packet not known to have arrived is retransmitted (IRN has shorter timeouts instead).
//!
//! A packet that a switch has trimmed is known to be lost: it is retransmitted first, and the recovery leaves it out.

use std::collections::VecDeque;

/// The requester's state for selective repeat.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct Selective {
    /// For each packet from the first unacknowledged one; usually shorter than the window.
    known: VecDeque<Fate>,
    /// Trimmed packets to retransmit, in the order of their notices.
    trimmed: VecDeque<u64>,
    /// First unacknowledged packet.
    base: u64,
    /// Highest packet known to have arrived, plus one.
    highest_arrived: u64,
    recovery: Option<Recovery>,
}

/// The requester's knowledge of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
enum Fate {
    #[default]
    Open,
    /// It was trimmed, and its retransmission is due or in flight.
    Trimmed,
    Arrived,
}

/// A recovery in progress.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Recovery {
    /// The recovery ends when everything below this is acknowledged.
    ends_at: u64,
    /// Next candidate for retransmission in this recovery.
    next: u64,
    /// Packets below this that are not known to have arrived count as lost.
    lost_below: u64,
}

impl Selective {
    /// Handles the acknowledgement of everything below `packet`.
    pub fn acknowledge_below(&mut self, packet: u64) {
        let count = (packet - self.base).min(self.known.len() as u64);
        self.known.drain(..count as usize);
        self.base = packet;
        if self.recovery.is_some_and(|recovery| packet >= recovery.ends_at) {
            self.recovery = None;
        }
    }

    /// Handles the arrival of `packet` out of order; returns whether it starts a recovery. `highest_sent` is the last
    /// packet ever sent plus one.
    pub fn arrived_beyond_gap(&mut self, packet: u64, highest_sent: u64) -> bool {
        if packet < self.base {
            return false;
        }
        *self.fate_of(packet) = Fate::Arrived;
        self.highest_arrived = self.highest_arrived.max(packet + 1);
        let begins = self.recovery.is_none();
        if begins {
            // Only the expected packet is known to be lost; later ones count as lost below the highest arrival.
            self.begin(highest_sent, self.base + 1);
        }
        begins
    }

    /// Handles a notice that `packet` was trimmed. A second one means that its retransmission was trimmed too.
    pub fn trimmed(&mut self, packet: u64) {
        if packet >= self.base && *self.fate_of(packet) != Fate::Arrived && !self.trimmed.contains(&packet) {
            *self.fate_of(packet) = Fate::Trimmed;
            self.trimmed.push_back(packet);
        }
    }

    /// Handles a timeout: everything not known to have arrived is lost.
    pub fn time_out(&mut self, highest_sent: u64) {
        self.trimmed.clear();
        self.known.iter_mut().filter(|fate| **fate == Fate::Trimmed).for_each(|fate| *fate = Fate::Open);
        self.begin(highest_sent, highest_sent);
    }

    fn begin(&mut self, highest_sent: u64, lost_below: u64) {
        self.recovery = Some(Recovery { ends_at: highest_sent, next: self.base, lost_below });
    }

    /// Returns the next packet to retransmit, if there is one.
    pub fn next_to_repeat(&mut self) -> Option<u64> {
        while let Some(&packet) = self.trimmed.front() {
            if packet >= self.base && *self.fate_of(packet) == Fate::Trimmed {
                return Some(packet);
            }
            self.trimmed.pop_front();
        }
        let mut recovery = self.recovery?;
        let lost_below = recovery.lost_below.max(self.highest_arrived);
        recovery.next = recovery.next.max(self.base);
        while recovery.next < lost_below && self.is_settled(recovery.next) {
            recovery.next += 1;
        }
        self.recovery = Some(recovery);
        (recovery.next < lost_below).then_some(recovery.next)
    }

    pub fn repeated(&mut self, packet: u64) {
        if self.trimmed.front() == Some(&packet) {
            self.trimmed.pop_front();
        } else if let Some(recovery) = &mut self.recovery {
            recovery.next = packet + 1;
        }
    }

    /// Returns whether a recovery leaves `packet` out.
    fn is_settled(&self, packet: u64) -> bool {
        self.known.get((packet - self.base) as usize).is_some_and(|fate| *fate != Fate::Open)
    }

    fn fate_of(&mut self, packet: u64) -> &mut Fate {
        let index = (packet - self.base) as usize;
        if index >= self.known.len() {
            self.known.resize(index + 1, Fate::Open);
        }
        &mut self.known[index]
    }
}

/// The responder's buffer for selective repeat: packets beyond the expected one.
///
/// A card writes such packets to memory at once; only their bookkeeping waits.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub(super) struct OutOfOrder {
    /// Payload bytes of each packet from the expected one, if it has arrived.
    packets: VecDeque<Option<u32>>,
}

impl OutOfOrder {
    /// Adds a packet `ahead` of the expected one; returns whether it is new.
    pub fn take(&mut self, ahead: usize, payload_bytes: u32) -> bool {
        if ahead >= self.packets.len() {
            self.packets.resize(ahead + 1, None);
        }
        self.packets[ahead].replace(payload_bytes).is_none()
    }

    pub fn has(&self, ahead: usize) -> bool {
        self.packets.get(ahead).is_some_and(Option::is_some)
    }

    /// Removes the expected packet, which has arrived; returns the payload bytes of the next, if that arrived before.
    pub fn advance(&mut self) -> Option<u32> {
        self.packets.pop_front();
        self.packets.front().copied().flatten()
    }
}
