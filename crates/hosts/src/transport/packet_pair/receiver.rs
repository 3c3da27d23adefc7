//! The receiving end: TCP's receiver, and a stopwatch.

use hitless_core::wire::{
    Duration, Ecn, Packet, PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, TcpFlags,
    TcpHeader, Time, Transport,
};

use super::settings::PacketPairSettings;
use crate::transport::tcp::TcpReceiver;
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct PacketPairReceiver {
    tcp: TcpReceiver,
    /// Pair of the first packet that arrived last; 0, an unused number, if it has been measured or there was none.
    pair: u32,
    first_arrived_at: Time,
    /// Measured gap, not yet returned; zero if there is none.
    gap: Duration,
}

impl PacketPairReceiver {
    /// Creates an unused connection; the host's timer ticks at `timer_phase` modulo its tick.
    pub fn new(config: &PacketPairSettings, timer_phase: Duration) -> Self {
        config.check();
        let tcp = TcpReceiver::new(&config.recovery(), timer_phase);
        Self { tcp, pair: 0, first_arrived_at: Time::ZERO, gap: Duration::ZERO }
    }

    pub fn out_of_order_bytes(&self) -> u64 {
        self.tcp.out_of_order_bytes()
    }

    /// Measures the gap of a pair (figure 13, OnPacketReceive). A duplicate packet measures nothing.
    #[inline]
    fn measure(&mut self, data: &PacketPairData, arrived_at: Time) {
        match data.position {
            PairPosition::First if data.pair != self.pair => {
                self.pair = data.pair;
                self.first_arrived_at = arrived_at;
            }
            PairPosition::Second if data.pair == self.pair => {
                self.pair = 0;
                if data.measured_segments > 0 {
                    let gap = arrived_at.saturating_since(self.first_arrived_at);
                    self.gap = Duration::from_ps(gap.as_ps() / u64::from(data.measured_segments));
                }
            }
            _ => {}
        }
    }
}

impl Receiver for PacketPairReceiver {
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::PacketPair(PacketPairHeader::Data(data)) = &packet.transport else { return };
        self.measure(data, if data.arrived_at == Time::ZERO { now } else { data.arrived_at });
        let header = TcpHeader {
            sequence: data.sequence,
            timestamp: data.timestamp,
            payload_bytes: data.payload_bytes,
            flags: TcpFlags::ACK,
            ..TcpHeader::default()
        };
        self.tcp.take(now, &header, packet.ecn == Ecn::CongestionExperienced);
        if matches!(data.position, PairPosition::Second | PairPosition::Alone) {
            self.tcp.acknowledge_now();
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let outgoing = self.tcp.poll_transmit(now)?;
        let Transport::Tcp(header) = outgoing.transport else { unreachable!("TCP's receiver sends TCP") };
        let acknowledgement = PacketPairAcknowledgement {
            acknowledgement: header.acknowledgement,
            sack: header.sack,
            gap: std::mem::take(&mut self.gap),
            timestamp_echo: header.timestamp_echo,
            congestion: header.flags.contains(TcpFlags::ECE),
        };
        let transport = Transport::PacketPair(PacketPairHeader::Acknowledgement(acknowledgement));
        Some(Outgoing { transport, ..outgoing })
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.tcp.next_timeout()
    }

    fn handle_timeout(&mut self, now: Time) {
        self.tcp.handle_timeout(now);
    }

    #[inline]
    fn delivered_bytes(&self) -> u64 {
        self.tcp.delivered_bytes()
    }

    fn statistics(&self) -> ReceiverStatistics {
        self.tcp.statistics()
    }
}
