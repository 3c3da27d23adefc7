//! What the receiving end counts.

use hitless_core::wire::Duration;

/// What the receiving end counted.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct ReceiverCounters {
    /// Packets found missing.
    pub losses: u64,
    /// Gaps in the sequence numbers, by length 1, 2, ...; the last counts all that are longer.
    pub loss_runs: [u64; 8],
    /// Missing packets that a retransmission brought.
    pub recovered: u64,
    /// Times that the wait for a retransmission was given up.
    pub timeouts: u64,
    /// Packets that waited in the reordering buffer.
    pub buffered: u64,
    /// Passes through the recirculation port.
    pub recirculations: u64,
    /// Retransmitted copies that were not needed any more.
    pub duplicates: u64,
    /// Explicit acknowledgements sent.
    pub explicit_acknowledgements: u64,
    /// Acknowledgements that rode on traffic of the reverse direction.
    pub piggybacked_acknowledgements: u64,
    /// Pause frames sent.
    pub pauses: u64,
    /// Packets that went on, repairs included.
    pub delivered: u64,
    /// Frames that no sender sends: flags or numbers that cannot be. Dropped.
    pub refused: u64,
    /// Times that the numbers were taken up at another place, after a gap too long for a loss.
    pub resynchronisations: u64,
    /// Times that the sender said where its numbers begin.
    pub starts: u64,
    /// Times that keeping order began or ended.
    pub order_changes: u64,
    /// Loss notifications sent again, since nothing had answered them.
    pub repeated_notifications: u64,
    /// The longest that a packet in front kept others waiting.
    pub longest_stall: Duration,
}
