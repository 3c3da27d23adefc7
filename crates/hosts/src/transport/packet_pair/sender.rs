//! The end that has data: TCP's sender, and when it may send a pair.

use hitless_wire::{
    Duration, Packet, PacketPairAcknowledgement, PacketPairData, PacketPairHeader, PairPosition, TcpFlags, TcpHeader,
    Time, Transport,
};

use super::estimate::ShareEstimate;
use super::settings::PacketPairSettings;
use crate::host::NetworkCard;
use crate::transport::tcp::TcpSender;
use crate::transport::{Outgoing, Sender, SenderStatistics};

/// The second packet of the pair under way.
#[derive(Clone, Copy, Debug, hitless_state::Value)]
struct Second {
    due_at: Time,
    /// The gap before it says something of the bottleneck.
    measured: bool,
}

/// The sending end of a packet-pair connection. Calls as for every [`Sender`].
#[derive(Clone, Debug, hitless_state::Value)]
pub struct PacketPairSender {
    tcp: TcpSender,
    share: ShareEstimate,
    /// No pair begins before this (nextSendTime of figure 13).
    next_pair_at: Time,
    /// When pacing has something to do; [`Time::NEVER`] when an acknowledgement must come first.
    wake_at: Time,
    second: Option<Second>,
    /// Number of the last pair begun; they count from 1.
    pair: u32,
    /// A pair was sent without an estimate: the next waits for an answer.
    awaits_answer: bool,
    /// From handing over a first packet to handing over its second, in pairs that are spaced; zero: none is.
    spacing: Duration,
    /// No pair is spaced before this.
    next_spacing_at: Time,
    /// When the last acknowledgement came.
    last_heard_at: Time,
    mss_bytes: u16,
    restart_after_idle: bool,
}

impl PacketPairSender {
    /// A connection that has sent nothing through `card`; the host's timer ticks at `timer_phase` modulo its tick.
    ///
    /// # Panics
    /// When `config` cannot work.
    pub fn new(config: &PacketPairSettings, card: &NetworkCard, timer_phase: Duration) -> Self {
        config.check();
        let bytes_per_round = config.bytes_per_round.0 as u32;
        let is_spaced = bytes_per_round > config.full_frame_bytes();
        Self {
            tcp: TcpSender::new(&config.recovery(), timer_phase).assuming_no_marks(),
            share: ShareEstimate::new(config),
            next_pair_at: Time::ZERO,
            wake_at: Time::NEVER,
            second: None,
            pair: 0,
            awaits_answer: false,
            // The first packet itself, and then what is missing to a round.
            spacing: if is_spaced { card.serialisation(bytes_per_round) } else { Duration::ZERO },
            next_spacing_at: Time::ZERO,
            last_heard_at: Time::ZERO,
            mss_bytes: config.mss.0 as u16,
            restart_after_idle: config.restart_after_idle,
        }
    }

    /// Payload per second that the bottleneck has for the flow, in bytes, as the gaps say; `None` before the first.
    pub fn link_rate_bytes_per_second(&self) -> Option<f64> {
        self.share.is_known().then(|| self.share.bytes_per_second())
    }

    /// The estimated fraction of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.tcp.dctcp_alpha().unwrap_or(0.0)
    }

    /// Bytes believed to be in the network.
    pub fn in_flight_bytes(&self) -> u64 {
        self.tcp.in_flight_bytes()
    }

    /// Bytes written and not sent yet.
    pub fn unsent_bytes(&self) -> u64 {
        self.tcp.unsent_bytes()
    }

    /// What may be in flight when a pair begins; `None` before the first gap and the first round-trip time.
    pub fn pair_window_bytes(&self) -> Option<u64> {
        let base_rtt = self.tcp.minimum_rtt();
        (self.share.is_known() && base_rtt != Duration::MAX).then(|| self.share.window_bytes(base_rtt))
    }

    /// Two full segments.
    fn pair_bytes(&self) -> u64 {
        2 * u64::from(self.mss_bytes)
    }

    /// How long a pair takes at the present rate: 2 * MSS / rate.
    #[inline]
    fn pair_interval(&self) -> Duration {
        if !self.share.is_known() {
            return Duration::ZERO;
        }
        self.share.time_for(self.pair_bytes() as f64, self.alpha())
    }

    /// Whether a pair may begin once its time has come.
    #[inline]
    fn has_room(&self) -> bool {
        if !self.tcp.has_more_to_send() {
            return false;
        }
        self.pair_window_bytes().map_or(!self.awaits_answer, |bytes| self.in_flight_bytes() <= bytes)
    }

    fn transmit(&mut self, now: Time) -> Option<Outgoing> {
        if self.tcp.probe_is_due() {
            return self.send(now, PairPosition::Alone, false);
        }
        match self.second {
            Some(second) if now < second.due_at => None,
            Some(second) => self.end_pair(now, second),
            None if now >= self.next_pair_at && self.has_room() => self.begin_pair(now),
            None => None,
        }
    }

    /// Figure 13, SendPacketPair.
    fn begin_pair(&mut self, now: Time) -> Option<Outgoing> {
        let is_spaced = self.spacing > Duration::ZERO && now >= self.next_spacing_at;
        self.pair = self.pair.wrapping_add(1).max(1);
        self.awaits_answer = true;
        self.next_pair_at = now + self.pair_interval();
        let mut outgoing = self.send(now, PairPosition::First, false)?;
        if !self.tcp.has_more_to_send() {
            set_position(&mut outgoing, PairPosition::Alone);
            return Some(outgoing);
        }
        let due_at = if is_spaced { self.space(now) } else { now };
        self.second = Some(Second { due_at, measured: is_spaced || self.spacing == Duration::ZERO });
        Some(outgoing)
    }

    /// Spaces a pair that begins now; returns when its second packet is due.
    fn space(&mut self, now: Time) -> Time {
        let base_rtt = self.tcp.minimum_rtt();
        self.next_spacing_at = if base_rtt == Duration::MAX { now } else { now + base_rtt };
        now + self.spacing
    }

    fn end_pair(&mut self, now: Time, second: Second) -> Option<Outgoing> {
        self.second = None;
        self.next_pair_at = self.next_pair_at.max(now);
        self.send(now, PairPosition::Second, second.measured)
    }

    fn send(&mut self, now: Time, position: PairPosition, measured: bool) -> Option<Outgoing> {
        let outgoing = self.tcp.transmit_regardless(now)?;
        let Transport::Tcp(header) = outgoing.transport else { unreachable!("TCP's sender sends TCP") };
        let data = PacketPairData {
            sequence: header.sequence,
            timestamp: header.timestamp,
            pair: self.pair,
            payload_bytes: header.payload_bytes,
            position,
            // A shorter packet takes less time than the share has for a full one.
            measured: measured && header.payload_bytes == self.mss_bytes,
            ..PacketPairData::default()
        };
        Some(Outgoing { transport: Transport::PacketPair(PacketPairHeader::Data(data)), ..outgoing })
    }

    /// Nothing is sent for now.
    fn wait(&mut self, now: Time) {
        self.tcp.wait(now);
        self.wake_at = match self.second {
            Some(second) => second.due_at,
            None if self.has_room() => self.next_pair_at,
            None => Time::NEVER,
        };
    }

    /// Begins anew, with one pair and what it will tell.
    fn restart(&mut self) {
        self.share.forget();
        self.awaits_answer = false;
        self.second = None;
        self.next_spacing_at = Time::ZERO;
    }

    /// What TCP's sender makes of an acknowledgement.
    #[inline]
    fn process(&mut self, now: Time, acknowledgement: &PacketPairAcknowledgement) {
        let echo = if acknowledgement.congestion { TcpFlags::ECE } else { TcpFlags::default() };
        let header = TcpHeader {
            acknowledgement: acknowledgement.acknowledgement,
            sack: acknowledgement.sack,
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
        let is_idle = self.in_flight_bytes() == 0 && !self.tcp.has_more_to_send();
        let round_trip = self.tcp.smoothed_rtt().unwrap_or(Duration::MAX);
        if self.restart_after_idle && is_idle && now.saturating_since(self.last_heard_at) > round_trip {
            self.restart();
        }
        self.tcp.write(now, bytes);
    }

    /// Figure 13, OnAckReceive.
    fn receive(&mut self, now: Time, packet: &Packet) {
        let Transport::PacketPair(PacketPairHeader::Acknowledgement(acknowledgement)) = &packet.transport else {
            return;
        };
        self.last_heard_at = now;
        self.process(now, acknowledgement);
        if !self.share.is_known() && acknowledgement.gap > Duration::ZERO {
            // The state becomes NORMAL, and a pair goes at once.
            self.next_pair_at = now;
        }
        self.share.sample(acknowledgement.gap);
        self.awaits_answer = false;
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

    /// When a pair may begin is asked when the card has room.
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

    /// With the pair that the window lets begin.
    fn congestion_window_bytes(&self) -> u64 {
        self.pair_window_bytes().unwrap_or(0) + self.pair_bytes()
    }

    fn statistics(&self) -> SenderStatistics {
        self.tcp.statistics()
    }
}
