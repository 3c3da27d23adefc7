//! The mean rank of a queue.

use std::collections::VecDeque;

use super::settings::Arithmetic;
use super::tables::tabled_change;

/// The ranks of packets in a FIFO queue or in transit to it, from the packets sent there and the bytes still present.
///
/// Departures need no hook: the committed bytes determine how many of the last packets are present. Packets of others
/// in the same queue make some departed packets seem present.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct QueuedRanks {
    /// Rank and bytes of each packet, oldest first.
    packets: VecDeque<(u32, u32)>,
    bytes: u64,
    rank_sum: u64,
}

impl QueuedRanks {
    /// Removes departed packets until only `committed_bytes` are left.
    #[inline]
    pub fn settle(&mut self, committed_bytes: u64) {
        // A FIFO queue sends the oldest first: the packets that have left are the first ones here.
        while self.bytes > committed_bytes {
            let (rank, frame_bytes) = self.packets.pop_front().expect("its bytes are counted");
            self.bytes -= u64::from(frame_bytes);
            self.rank_sum -= u64::from(rank);
        }
        assert!(
            !self.packets.is_empty() || self.bytes + self.rank_sum == 0,
            "an empty queue has neither bytes nor ranks"
        );
    }

    #[inline]
    pub fn add(&mut self, rank: u32, frame_bytes: u32) {
        self.packets.push_back((rank, frame_bytes));
        self.bytes += u64::from(frame_bytes);
        self.rank_sum += u64::from(rank);
    }

    /// The mean rank; 0 without packets.
    pub fn mean(&self) -> f64 {
        self.rank_sum as f64 / self.packets.len().max(1) as f64
    }
}

/// The moving average of a switch without fractions: M' = floor(((n - 1) M + rank) / n), with n = 50 in the authors'
/// program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::State)]
pub struct MovingAverage {
    #[configured]
    parts: u32,
    #[configured]
    arithmetic: Arithmetic,
    mean: u32,
}

impl MovingAverage {
    /// An average without packets.
    pub fn new(parts: u32, arithmetic: Arithmetic) -> Self {
        Self { parts: parts.max(1), arithmetic, mean: 0 }
    }

    #[cfg(test)]
    pub(super) fn starting_at(mean: u32, parts: u32, arithmetic: Arithmetic) -> Self {
        Self { mean, ..Self::new(parts, arithmetic) }
    }

    pub const fn mean(&self) -> u32 {
        self.mean
    }

    #[inline]
    pub fn add(&mut self, rank: u32) {
        self.mean = self.next(self.mean, rank);
    }

    /// The new average after a packet of `rank`, from an average of `mean`.
    pub fn next(&self, mean: u32, rank: u32) -> u32 {
        let parts = self.parts;
        match self.arithmetic {
            Arithmetic::Exact => {
                // Two factors of 32 bits have a product of 64.
                let sum = u64::from(parts - 1) * u64::from(mean) + u64::from(rank);
                (sum / u64::from(parts)) as u32
            }
            // Section 4.2: pre-filled tables give the change, because a PISA switch multiplies and divides nothing.
            Arithmetic::Tables => mean.saturating_add_signed(tabled_change(mean, rank, parts)),
        }
    }
}
