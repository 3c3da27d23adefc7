//! What the flows of a group have counted together.

use hitless_hosts::transport::SenderStatistics;

/// What is counted, over all flows of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::run) struct Counts {
    pub delivered_bytes: u64,
    pub packets_sent: u64,
    pub packets_retransmitted: u64,
    pub timeouts: u64,
    pub congestion_echoes: u64,
}

hitless_state::value!(Counts { delivered_bytes, packets_sent, packets_retransmitted, timeouts, congestion_echoes });

impl Counts {
    /// What the sending end of a flow counted.
    pub fn of_sender(sender: &SenderStatistics) -> Self {
        Self {
            delivered_bytes: 0,
            packets_sent: sender.packets_sent,
            packets_retransmitted: sender.packets_retransmitted,
            timeouts: sender.timeouts,
            congestion_echoes: sender.congestion_echoes,
        }
    }

    /// What the receiving end of a flow got.
    pub fn of_receiver(delivered_bytes: u64) -> Self {
        Self { delivered_bytes, ..Self::default() }
    }

    pub fn add(&mut self, other: Counts) {
        self.delivered_bytes += other.delivered_bytes;
        self.packets_sent += other.packets_sent;
        self.packets_retransmitted += other.packets_retransmitted;
        self.timeouts += other.timeouts;
        self.congestion_echoes += other.congestion_echoes;
    }

    pub fn since(&self, before: &Counts) -> Counts {
        Counts {
            delivered_bytes: self.delivered_bytes - before.delivered_bytes,
            packets_sent: self.packets_sent - before.packets_sent,
            packets_retransmitted: self.packets_retransmitted - before.packets_retransmitted,
            timeouts: self.timeouts - before.timeouts,
            congestion_echoes: self.congestion_echoes - before.congestion_echoes,
        }
    }
}
