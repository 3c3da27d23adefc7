//! A scripted exchange with a sender: acknowledgements with gaps as input, packets as output, in segments and
//! nanoseconds.

use hitless_core::wire::{
    Bytes, Duration, Packet, PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, SackBlocks,
    Time, Transport,
};
use hitless_hosts::transport::Sender;
use hitless_hosts::transport::packet_pair::{PacketPairSender, PacketPairSettings};
use hitless_hosts::transport::tcp::RtoFormula;

pub use PairPosition::{Alone, Between, First, Second};

/// Payload of a full packet.
pub const MSS: u64 = 1_000;

/// Length of a full packet with the overhead on the link. A byte takes 1 ns at 8 Gb/s, so this is also its time in
/// nanoseconds.
pub const FULL_NS: u64 = 1_090;

/// A sender, its clock and its packets.
pub struct Script {
    pub sender: PacketPairSender,
    sent: Vec<(u64, u64, PairPosition)>,
    pub headers: Vec<PacketPairData>,
}

/// Returns this time in nanoseconds after the start.
pub fn at(time_ns: u64) -> Time {
    Time::ZERO + Duration::from_ns(time_ns)
}

/// Returns the script's configuration: figure 13, packets of 1000 bytes, RTO by RFC 6298 with a minimum of 1 ms.
pub fn config() -> PacketPairSettings {
    PacketPairSettings {
        mss: Bytes(MSS),
        longest_pair: 1,
        rto_min: Duration::from_ms(1),
        rto_formula: RtoFormula::Rfc6298,
        ..PacketPairSettings::default()
    }
}

/// Creates an acknowledgement of `segments` with a gap, for packets sent 40 us before.
pub fn acknowledgement(time_ns: u64, segments: u64, gap_ns: u64) -> PacketPairAcknowledgement {
    PacketPairAcknowledgement {
        acknowledgement: segments * MSS,
        gap: Duration::from_ns(gap_ns),
        timestamp_echo: (at(time_ns.saturating_sub(40_000)).as_ps() >> 20) as u32,
        ..PacketPairAcknowledgement::default()
    }
}

impl Script {
    pub fn new(config: &PacketPairSettings) -> Self {
        Self { sender: PacketPairSender::new(config, Duration::ZERO), sent: Vec::new(), headers: Vec::new() }
    }

    /// Creates a sender. The application writes `segments` segments at time zero.
    pub fn writing(config: &PacketPairSettings, segments: u64) -> Self {
        let mut script = Self::new(config);
        script.write(0, segments * MSS);
        script
    }

    /// Creates a sender with much data, a round-trip time of 40 us and a known gap: its first pair is acknowledged.
    pub fn warm(config: &PacketPairSettings, gap_ns: u64) -> Self {
        let mut script = Self::new(config);
        script.write(0, 1_000 * MSS);
        script.acknowledge(40_000, 2, gap_ns);
        script
    }

    fn poll(&mut self, now: Time) {
        while let Some(outgoing) = self.sender.poll_transmit(now) {
            let Transport::PacketPair(PacketPairHeader::Data(data)) = outgoing.transport else {
                panic!("not data: {outgoing:?}")
            };
            self.sent.push((now.as_ps() / 1_000, data.sequence / MSS, data.position));
            self.headers.push(data);
        }
    }

    /// Runs timers until `time_ns`.
    fn advance(&mut self, time_ns: u64) {
        while self.sender.next_timeout() <= at(time_ns) {
            let now = self.sender.next_timeout();
            self.sender.handle_timeout(now);
            self.poll(now);
        }
    }

    pub fn write(&mut self, time_ns: u64, bytes: u64) {
        self.advance(time_ns);
        self.sender.write(at(time_ns), bytes);
        self.poll(at(time_ns));
    }

    pub fn acknowledge(&mut self, time_ns: u64, segments: u64, gap_ns: u64) {
        self.receive(time_ns, acknowledgement(time_ns, segments, gap_ns));
    }

    /// Acknowledges with SACK blocks.
    pub fn acknowledge_selectively(&mut self, time_ns: u64, segments: u64, blocks: &[(u64, u64)]) {
        let mut sack = SackBlocks::default();
        for (slot, (start, end)) in sack.0.iter_mut().zip(blocks) {
            *slot = (((start - segments) * MSS) as u32, ((end - segments) * MSS) as u32);
        }
        self.receive(time_ns, PacketPairAcknowledgement { sack, ..acknowledgement(time_ns, segments, 0) });
    }

    pub fn receive(&mut self, time_ns: u64, acknowledgement: PacketPairAcknowledgement) {
        self.advance(time_ns);
        let transport = Transport::PacketPair(PacketPairHeader::Acknowledgement(acknowledgement));
        self.sender.receive(at(time_ns), &Packet { transport, ..Packet::default() });
        self.poll(at(time_ns));
    }

    /// Checks the packets sent since the last call, up to `time_ns`: (time, segment, place in the pair).
    #[track_caller]
    pub fn expect(&mut self, time_ns: u64, expected: &[(u64, u64, PairPosition)]) {
        assert_eq!(self.sent_until(time_ns), expected);
    }

    /// Returns these packets.
    pub fn sent_until(&mut self, time_ns: u64) -> Vec<(u64, u64, PairPosition)> {
        self.advance(time_ns);
        std::mem::take(&mut self.sent)
    }
}
