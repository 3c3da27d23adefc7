//! The sink: counts duplicate and reordered datagrams by their numbers.

use hitless_core::wire::{Duration, Ecn, Packet, Time, Transport};

use super::numbers::{Arrival, NumberWindow};
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

/// The receiving end of a constant-rate flow; it never sends anything.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
pub struct UdpSink {
    numbers: NumberWindow,
    /// Delay of the last datagram from the sending to the receiving application.
    latest_delay: Duration,
    delivered_bytes: u64,
    statistics: ReceiverStatistics,
}

impl Receiver for UdpSink {
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::Udp(header) = &packet.transport else { return };
        self.statistics.packets_received += 1;
        self.statistics.marked_packets += u64::from(packet.ecn == Ecn::CongestionExperienced);
        self.latest_delay = now - header.sent_at;
        match self.numbers.insert(header.number) {
            Arrival::Duplicate => self.statistics.duplicate_packets += 1,
            // Too late to distinguish a duplicate from a reordered datagram.
            Arrival::Unknown => {}
            arrival => {
                self.statistics.reordered_packets += u64::from(arrival == Arrival::Late);
                self.delivered_bytes += u64::from(header.payload_bytes);
            }
        }
    }

    #[inline]
    fn poll_transmit(&mut self, _now: Time) -> Option<Outgoing> {
        None
    }

    fn next_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_timeout(&mut self, _now: Time) {}

    #[inline]
    fn latest_delay(&self) -> Option<Duration> {
        Some(self.latest_delay)
    }

    /// Returns the payload of distinct datagrams, in any order.
    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn statistics(&self) -> ReceiverStatistics {
        self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::UdpHeader;

    fn sink_after(numbers: &[u64]) -> UdpSink {
        let mut sink = UdpSink::default();
        for (position, &number) in numbers.iter().enumerate() {
            let header = UdpHeader { number, sent_at: Time(0), payload_bytes: 100 };
            let packet = Packet { transport: Transport::Udp(header), ..Packet::default() };
            sink.receive(Time(position as u64 + 1), &packet);
        }
        sink
    }

    #[test]
    fn datagrams_are_counted_by_number() {
        //                    delivered, duplicates, reordered
        let table: [(&[u64], [u64; 3]); 6] = [
            (&[0, 1, 2], [3, 0, 0]),
            (&[0, 2, 3], [3, 0, 0]),
            (&[0, 2, 1], [3, 0, 1]),
            (&[0, 1, 1, 2], [3, 1, 0]),
            (&[3, 0, 0], [2, 1, 1]),
            (&[], [0, 0, 0]),
        ];
        for (numbers, expected) in table {
            let sink = sink_after(numbers);
            let statistics = sink.statistics();
            let delivered = sink.delivered_bytes() / 100;
            assert_eq!(
                [delivered, statistics.duplicate_packets, statistics.reordered_packets],
                expected,
                "{numbers:?}"
            );
            assert_eq!(
                (statistics.packets_received, sink.latest_delay),
                (numbers.len() as u64, Duration(numbers.len() as u64))
            );
        }
    }
}
