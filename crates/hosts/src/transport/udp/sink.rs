//! The sink: counts lost, duplicated and reordered datagrams by their numbers.

use hitless_wire::{Duration, Ecn, Packet, Time, Transport};

use super::numbers::{Arrival, NumberWindow};
use crate::transport::{Outgoing, Receiver, ReceiverStatistics};

/// What became of the datagrams of a flow, as far as the sink can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramCounts {
    /// Datagrams that arrived, each counted once.
    pub distinct: u64,
    /// Numbers below the highest seen that have not arrived; late ones may still come.
    pub missing: u64,
    /// Arrivals of a number that had arrived before.
    pub duplicates: u64,
    /// First arrivals after a higher number.
    pub reordered: u64,
    /// Arrivals so late that a duplicate cannot be told from a reordered one (2,048 numbers behind).
    pub unknown: u64,
}

hitless_state::value!(DatagramCounts { distinct, missing, duplicates, reordered, unknown });

/// One-way delays from the sending to the receiving application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DelaySummary {
    /// The shortest; [`Duration::MAX`] without any datagram.
    pub minimum: Duration,
    /// The longest.
    pub maximum: Duration,
    /// The delay of the datagram that arrived last.
    pub latest: Duration,
    /// The sum over all arrivals in picoseconds.
    pub sum_ps: u128,
}

hitless_state::value!(DelaySummary { minimum, maximum, latest, sum_ps });

impl Default for DelaySummary {
    fn default() -> Self {
        Self { minimum: Duration::MAX, maximum: Duration::ZERO, latest: Duration::ZERO, sum_ps: 0 }
    }
}

/// The receiving end of a constant-rate flow. Calls as for every [`Receiver`]; it never sends anything.
#[derive(Clone, Debug)]
pub struct UdpSink {
    numbers: NumberWindow,
    counts: DatagramCounts,
    delays: DelaySummary,
    delivered_bytes: u64,
    marked_packets: u64,
}

hitless_state::value!(UdpSink { numbers, counts, delays, delivered_bytes, marked_packets });

impl UdpSink {
    /// A sink that has received nothing.
    pub fn new() -> Self {
        Self {
            numbers: NumberWindow::new(),
            counts: DatagramCounts::default(),
            delays: DelaySummary::default(),
            delivered_bytes: 0,
            marked_packets: 0,
        }
    }

    /// What became of the datagrams.
    pub fn counts(&self) -> DatagramCounts {
        let missing = (self.numbers.end() - self.counts.distinct).saturating_sub(self.counts.unknown);
        DatagramCounts { missing, ..self.counts }
    }

    /// One-way delays so far.
    pub fn delays(&self) -> DelaySummary {
        self.delays
    }

    fn count(&mut self, number: u64, payload_bytes: u32) {
        match self.numbers.insert(number) {
            Arrival::Duplicate => self.counts.duplicates += 1,
            Arrival::Unknown => self.counts.unknown += 1,
            arrival => {
                self.counts.distinct += 1;
                self.counts.reordered += u64::from(arrival == Arrival::Late);
                self.delivered_bytes += u64::from(payload_bytes);
            }
        }
    }

    fn measure(&mut self, delay: Duration) {
        self.delays.minimum = self.delays.minimum.min(delay);
        self.delays.maximum = self.delays.maximum.max(delay);
        self.delays.latest = delay;
        self.delays.sum_ps += u128::from(delay.as_ps());
    }
}

impl Default for UdpSink {
    fn default() -> Self {
        Self::new()
    }
}

impl Receiver for UdpSink {
    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::Udp(header) = &packet.transport else { return };
        self.marked_packets += u64::from(packet.ecn == Ecn::CongestionExperienced);
        self.count(header.number, header.payload_bytes);
        self.measure(now - header.sent_at);
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
        Some(self.delays.latest)
    }

    /// Payload of the distinct datagrams, in whatever order they came.
    fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    fn statistics(&self) -> ReceiverStatistics {
        let DatagramCounts { distinct, duplicates, reordered, unknown, .. } = self.counts;
        ReceiverStatistics {
            packets_received: distinct + duplicates + unknown,
            duplicate_packets: duplicates,
            reordered_packets: reordered,
            marked_packets: self.marked_packets,
            trimmed_packets: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_wire::UdpHeader;

    fn sink_after(numbers: &[u64]) -> UdpSink {
        let mut sink = UdpSink::new();
        for (position, &number) in numbers.iter().enumerate() {
            let header = UdpHeader { number, sent_at: Time(0), payload_bytes: 100 };
            let packet = Packet { transport: Transport::Udp(header), ..Packet::default() };
            sink.receive(Time(position as u64 + 1), &packet);
        }
        sink
    }

    #[test]
    fn datagrams_are_counted_by_number() {
        //                    missing, duplicates, reordered
        let table: [(&[u64], [u64; 3]); 6] = [
            (&[0, 1, 2], [0, 0, 0]),
            (&[0, 2, 3], [1, 0, 0]),
            (&[0, 2, 1], [0, 0, 1]),
            (&[0, 1, 1, 2], [0, 1, 0]),
            (&[3, 0, 0], [2, 1, 1]),
            (&[], [0, 0, 0]),
        ];
        for (numbers, expected) in table {
            let counts = sink_after(numbers).counts();
            assert_eq!([counts.missing, counts.duplicates, counts.reordered], expected, "{numbers:?}");
        }
    }

    #[test]
    fn delays_and_bytes_are_summed() {
        let sink = sink_after(&[0, 1, 1]);
        let delays = sink.delays();
        assert_eq!((delays.minimum, delays.maximum, delays.latest), (Duration(1), Duration(3), Duration(3)));
        assert_eq!((delays.sum_ps, sink.delivered_bytes()), (6, 200));
    }
}
