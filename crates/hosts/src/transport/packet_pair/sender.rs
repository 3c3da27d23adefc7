//! The sending end: TCP's sender, with pairs as its clock.

use hitless_core::wire::{
    Duration, Packet, PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, TcpFlags, TcpHeader,
    Time, Transport,
};

use super::estimate::ShareEstimate;
use super::settings::PacketPairSettings;
use crate::transport::tcp::TcpSender;
use crate::transport::{Outgoing, Sender, SenderStatistics, SenderWait, TimeoutPurpose};

/// The rest of the current pair.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Rest {
    /// Packets to send; the last of them is the second of the pair.
    packets: u32,
    /// Packets from the first to the second, if the gap between them measures the bottleneck; else 0.
    measured_segments: u16,
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct PacketPairSender {
    tcp: TcpSender,
    share: ShareEstimate,
    /// Earliest start of the next pair (nextSendTime of figure 13).
    next_pair_at: Time,
    /// Time for pacing to act; [`Time::NEVER`] if an acknowledgement must come first.
    wake_at: Time,
    rest: Option<Rest>,
    /// Number of the last pair begun, counted from 1.
    pair: u32,
    /// Whether a pair was sent without an estimate: the next one waits for an answer.
    awaits_answer: bool,
    /// Packets that fill a round of AFQ.
    segments_per_round: u32,
    /// Earliest start of the next pair longer than two packets.
    next_long_at: Time,
    last_heard_at: Time,
    mss_bytes: u16,
    restart_after_idle: bool,
}

impl PacketPairSender {
    /// Creates an unused connection; the host's timer ticks at `timer_phase` modulo its tick.
    pub fn new(config: &PacketPairSettings, timer_phase: Duration) -> Self {
        config.check();
        Self {
            tcp: TcpSender::new(&config.recovery(), timer_phase).assuming_no_marks(),
            share: ShareEstimate::new(config),
            next_pair_at: Time::ZERO,
            wake_at: Time::NEVER,
            rest: None,
            pair: 0,
            awaits_answer: false,
            segments_per_round: config.segments_per_round(),
            next_long_at: Time::ZERO,
            last_heard_at: Time::ZERO,
            mss_bytes: config.mss.0 as u16,
            restart_after_idle: config.restart_after_idle,
        }
    }

    /// Returns the payload bytes per second of the flow's share, as measured by the gaps; `None` before the first.
    pub fn link_rate_bytes_per_second(&self) -> Option<f64> {
        self.share.is_known().then(|| self.share.bytes_per_second())
    }

    /// Returns the estimated fraction of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.tcp.dctcp_alpha().unwrap_or(0.0)
    }

    pub fn explain_wait(&self) -> SenderWait {
        self.tcp.explain_wait()
    }

    pub fn in_flight_bytes(&self) -> u64 {
        self.tcp.in_flight_bytes()
    }

    pub fn unsent_bytes(&self) -> u64 {
        self.tcp.unsent_bytes()
    }

    /// Returns the maximum bytes in flight when a pair begins; `None` before the first gap and the first round-trip
    /// time.
    pub fn pair_window_bytes(&self) -> Option<u64> {
        let base_rtt = self.tcp.minimum_rtt();
        (self.share.is_known() && base_rtt != Duration::MAX).then(|| self.share.window_bytes(base_rtt))
    }

    /// Returns the segments from the first packet of a measured pair to its second.
    fn segments_to_measure(&self) -> u32 {
        self.segments_per_round.max(self.share.segments_to_measure(self.tcp.minimum_rtt()))
    }

    /// Returns the duration of a pair of `packets` at the current rate: 2 * MSS / rate for two.
    #[inline]
    fn pair_interval(&self, packets: u32) -> Duration {
        if !self.share.is_known() {
            return Duration::ZERO;
        }
        let bytes = f64::from(packets) * f64::from(self.mss_bytes);
        self.share.time_for(bytes, self.alpha(), self.in_flight_bytes(), self.tcp.minimum_rtt())
    }

    /// Returns whether the window lets a pair begin.
    #[inline]
    fn has_room(&self) -> bool {
        if !self.tcp.has_more_to_send() {
            return false;
        }
        self.pair_window_bytes().map_or(!self.awaits_answer, |bytes| self.in_flight_bytes() <= bytes)
    }

    fn transmit(&mut self, now: Time) -> Option<Outgoing> {
        if self.tcp.probe_is_due() {
            return self.send(now, PairPosition::Alone, 0);
        }
        match self.rest {
            Some(rest) => self.go_on(now, rest),
            None if now >= self.next_pair_at && self.has_room() => self.begin_pair(now),
            None => None,
        }
    }

    /// Begins a pair (figure 13, SendPacketPair).
    fn begin_pair(&mut self, now: Time) -> Option<Outgoing> {
        let base_rtt = self.tcp.minimum_rtt();
        let to_measure = self.segments_to_measure();
        let is_measured = to_measure == 1 || now >= self.next_long_at;
        let packets = if is_measured { to_measure } else { 1 };
        self.pair = self.pair.wrapping_add(1).max(1);
        self.awaits_answer = true;
        self.next_pair_at = now + self.pair_interval(packets + 1);
        let mut outgoing = self.send(now, PairPosition::First, 0)?;
        if !self.tcp.has_more_to_send() {
            set_position(&mut outgoing, PairPosition::Alone);
            return Some(outgoing);
        }
        if packets > 1 && base_rtt != Duration::MAX {
            self.next_long_at = now + self.share.time_between_measures(base_rtt);
        }
        let measured_segments = if is_measured { packets.try_into().unwrap_or(u16::MAX) } else { 0 };
        self.rest = Some(Rest { packets, measured_segments });
        Some(outgoing)
    }

    /// Sends the next packet of the current pair. If the data ends before the second packet, nothing is measured.
    fn go_on(&mut self, now: Time, rest: Rest) -> Option<Outgoing> {
        // If this pair was held back, the next one is not due before its end.
        self.next_pair_at = self.next_pair_at.max(now);
        self.rest = (rest.packets > 1).then(|| Rest { packets: rest.packets - 1, ..rest });
        if self.rest.is_none() {
            return self.send(now, PairPosition::Second, rest.measured_segments);
        }
        let mut outgoing = self.send(now, PairPosition::Between, 0);
        if outgoing.is_none() || !self.tcp.has_more_to_send() {
            self.rest = None;
            outgoing.iter_mut().for_each(|last| set_position(last, PairPosition::Second));
        }
        outgoing
    }

    fn send(&mut self, now: Time, position: PairPosition, measured_segments: u16) -> Option<Outgoing> {
        let outgoing = self.tcp.transmit_regardless(now)?;
        let Transport::Tcp(header) = outgoing.transport else { unreachable!("TCP's sender sends TCP") };
        let data = PacketPairData {
            sequence: header.sequence,
            timestamp: header.timestamp,
            pair: self.pair,
            payload_bytes: header.payload_bytes,
            position,
            // A shorter packet takes less time than a full one, so its gap would overstate the share.
            measured_segments: if header.payload_bytes == self.mss_bytes { measured_segments } else { 0 },
            ..PacketPairData::default()
        };
        Some(Outgoing { transport: Transport::PacketPair(PacketPairHeader::Data(data)), ..outgoing })
    }

    /// Notes that nothing can be sent now.
    fn wait(&mut self, now: Time) {
        self.tcp.wait(now);
        self.wake_at = if self.has_room() { self.next_pair_at } else { Time::NEVER };
    }

    /// Restarts with a single pair and no estimate.
    fn restart(&mut self) {
        self.share.forget();
        self.awaits_answer = false;
        self.rest = None;
        self.next_long_at = Time::ZERO;
    }

    /// Lets TCP's sender handle an acknowledgement.
    #[inline]
    fn process(&mut self, now: Time, acknowledgement: &PacketPairAcknowledgement) {
        let echo = if acknowledgement.congestion { TcpFlags::ECE } else { TcpFlags::default() };
        let header = TcpHeader {
            acknowledgement: acknowledgement.acknowledgement,
            sack: acknowledgement.sack,
            // Packet pair has no receive window, so the sender must never wait for one.
            window_bytes: u32::MAX,
            timestamp_echo: acknowledgement.timestamp_echo,
            flags: TcpFlags::ACK.with(echo),
            ..TcpHeader::default()
        };
        self.tcp.process(now, &header);
    }
}

fn set_position(outgoing: &mut Outgoing, position: PairPosition) {
    if let Transport::PacketPair(PacketPairHeader::Data(data)) = &mut outgoing.transport {
        data.position = position;
    }
}

impl Sender for PacketPairSender {
    fn write(&mut self, now: Time, bytes: u64) {
        // After a pause longer than a round trip the share is unknown; see the module docs.
        let is_idle = self.in_flight_bytes() == 0 && !self.tcp.has_more_to_send();
        let round_trip = self.tcp.smoothed_rtt().unwrap_or(Duration::MAX);
        if self.restart_after_idle && is_idle && now.saturating_since(self.last_heard_at) > round_trip {
            self.restart();
        }
        self.tcp.write(now, bytes);
    }

    /// Handles an acknowledgement (figure 13, OnAckReceive).
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::PacketPair(PacketPairHeader::Acknowledgement(acknowledgement)) = &packet.transport else {
            return;
        };
        self.last_heard_at = now;
        let acknowledged_bytes = self.tcp.acknowledged_bytes();
        self.process(now, acknowledgement);
        // The packets of a pair that fills a round are acknowledged one by one; the last acknowledgement has the gap.
        let is_part = self.segments_per_round > 1
            && acknowledgement.gap == Duration::ZERO
            && self.tcp.acknowledged_bytes() > acknowledged_bytes
            && self.in_flight_bytes() > 0;
        if !self.share.is_known() && acknowledgement.gap > Duration::ZERO {
            // The state becomes NORMAL, and a pair can begin at once.
            self.next_pair_at = now;
        }
        self.share.sample(acknowledgement.gap);
        self.awaits_answer &= is_part;
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        let outgoing = self.transmit(now);
        if outgoing.is_none() {
            self.wait(now);
        }
        outgoing
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        self.wake_at.min(self.tcp.next_timeout())
    }

    fn timeout_purpose(&self) -> TimeoutPurpose {
        if self.wake_at <= self.tcp.next_timeout() { TimeoutPurpose::Pacing } else { self.tcp.timeout_purpose() }
    }

    /// When the card has room, the host polls for pairs anyway.
    fn timeout_when_held_back(&mut self, now: Time) -> Time {
        self.wake_at = Time::NEVER;
        self.tcp.timeout_when_held_back(now)
    }

    fn handle_timeout(&mut self, now: Time) {
        let timeouts = self.tcp.statistics().timeouts;
        self.tcp.handle_timeout(now);
        if self.tcp.statistics().timeouts != timeouts {
            self.restart();
            self.next_pair_at = now;
        }
    }

    #[inline]
    fn acknowledged_bytes(&self) -> u64 {
        self.tcp.acknowledged_bytes()
    }

    fn sent_bytes(&self) -> u64 {
        self.tcp.sent_bytes()
    }

    /// Returns the window plus the pair that it lets begin.
    fn congestion_window_bytes(&self) -> u64 {
        self.pair_window_bytes().unwrap_or(0) + u64::from(self.segments_to_measure() + 1) * u64::from(self.mss_bytes)
    }

    fn statistics(&self) -> SenderStatistics {
        self.tcp.statistics()
    }
}
