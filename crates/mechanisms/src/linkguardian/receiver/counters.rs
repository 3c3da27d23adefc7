//! Counters of the receiving end.

use hitless_core::wire::Duration;

#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct ReceiverCounters {
    pub losses: u64,
    /// Gaps in the sequence numbers, by length 1, 2, ...; the last entry counts all longer gaps.
    pub loss_runs: [u64; 8],
    /// Missing packets that arrived by retransmission.
    pub recovered: u64,
    /// Missing packets that arrived after all, although not by retransmission.
    pub late: u64,
    /// Waits for a retransmission that timed out.
    pub timeouts: u64,
    /// Packets that waited in the reordering buffer.
    pub buffered: u64,
    pub recirculations: u64,
    /// Retransmitted copies that were no longer needed.
    pub duplicates: u64,
    pub explicit_acknowledgements: u64,
    pub piggybacked_acknowledgements: u64,
    pub pauses: u64,
    /// Forwarded packets, including repairs.
    pub delivered: u64,
    /// Dropped frames with impossible flags or numbers.
    pub refused: u64,
    /// Times that the receiver continued at other numbers, after a gap too long for a loss.
    pub resynchronisations: u64,
    /// Announcements of the sender's first number.
    pub starts: u64,
    /// Times that keeping order began or ended.
    pub order_changes: u64,
    /// Repeated loss notifications, because no answer had come.
    pub repeated_notifications: u64,
    /// The longest wait for a packet in front.
    pub longest_stall: Duration,
}
