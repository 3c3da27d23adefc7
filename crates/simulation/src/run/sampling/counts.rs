//! Sums of counters over the flows of a group.

use hitless_hosts::transport::SenderStatistics;

/// The sums, in the order of [`Counts::NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub(in crate::run) struct Counts(pub [u64; 5]);

impl Counts {
    pub const NAMES: [&str; 5] =
        ["delivered_bytes", "packets_sent", "packets_retransmitted", "timeouts", "congestion_echoes"];

    /// The counters of a flow's sending end.
    pub fn of_sender(sender: &SenderStatistics) -> Self {
        Self([0, sender.packets_sent, sender.packets_retransmitted, sender.timeouts, sender.congestion_echoes])
    }

    /// The counters of a flow's receiving end.
    pub fn of_receiver(delivered_bytes: u64) -> Self {
        Self([delivered_bytes, 0, 0, 0, 0])
    }

    pub fn add(&mut self, other: Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(own, other)| *own += other);
    }

    pub fn since(&self, before: &Counts) -> Counts {
        Counts(std::array::from_fn(|place| self.0[place] - before.0[place]))
    }
}
