//! Counts of reordered, lost and duplicated packets.

use serde::Serialize;

/// Packets by outcome. Sent = arrived + lost + in flight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, hitless_core::state::Value)]
pub struct OrderCounts {
    /// Packets that hosts put on their links.
    pub packets_sent: u64,
    /// Packets without a surviving or delivered copy.
    pub packets_lost: u64,
    /// Packets that first arrived after a packet sent later.
    pub packets_reordered: u64,
    /// Repeated arrivals.
    pub packets_duplicated: u64,
    /// Packets still in flight at the end of the run.
    pub packets_under_way: u64,
}

impl OrderCounts {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            packets_sent: self.packets_sent + other.packets_sent,
            packets_lost: self.packets_lost + other.packets_lost,
            packets_reordered: self.packets_reordered + other.packets_reordered,
            packets_duplicated: self.packets_duplicated + other.packets_duplicated,
            packets_under_way: self.packets_under_way + other.packets_under_way,
        }
    }
}
