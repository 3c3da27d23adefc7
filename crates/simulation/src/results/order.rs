//! Whether packets arrived in order.

use serde::Serialize;

/// Packets by what became of them. Sent = arrived + lost + under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, hitless_core::state::Value)]
pub struct OrderCounts {
    /// Packets that hosts put on their links.
    pub packets_sent: u64,
    /// Packets of which no copy ever arrived, and none exists any more.
    pub packets_lost: u64,
    /// Packets that arrived, for the first time, after one that was sent later.
    pub packets_reordered: u64,
    /// Arrivals of packets that had arrived before.
    pub packets_duplicated: u64,
    /// Packets that had not arrived when the run ended, and exist.
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
