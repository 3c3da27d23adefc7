//! A flow's transport: enums over all transports instead of virtual calls.

use hitless_core::engine::Stream;
use hitless_core::wire::packet::VLAN_TAG_BYTES;
use hitless_core::wire::{Bytes, Duration, Packet, Time};

use crate::host::Uplink;
use crate::stack::{DelayConfig, StackDelay};
use crate::transport::packet_pair::{PacketPairReceiver, PacketPairSender, PacketPairSettings};
use crate::transport::roce::{RoceRequester, RoceResponder, RoceSettings};
use crate::transport::tcp::{CloseSettings, CongestionName, TcpReceiver, TcpSender, TcpSettings};
use crate::transport::udp::{UdpSender, UdpSettings, UdpSink};
use crate::transport::uet::{self, UetReceiver, UetSender, UetSettings};
use crate::transport::{Outgoing, Receiver, ReceiverStatistics, Sender, SenderStatistics, SenderWait, TimeoutPurpose};

#[derive(Clone, Debug)]
pub enum TransportConfig {
    Tcp(TcpSettings),
    Roce(RoceSettings),
    Udp(UdpSettings),
    PacketPair(PacketPairSettings),
    Uet(UetSettings),
}

impl TransportConfig {
    /// Creates both ends of a new connection. The sender has `ports` with `rate` together. The timers of the two hosts
    /// tick at the given phases. Packets of the sender start with `time_to_live`. Random numbers come from `stream`,
    /// which is called with the purpose, only if something is drawn.
    pub fn connect(
        &self,
        Uplink { rate, ports, highest_rate, is_ideal }: Uplink,
        sender_phase: Duration,
        receiver_phase: Duration,
        time_to_live: u8,
        stream: impl Fn(&str) -> Stream,
    ) -> (SenderState, ReceiverState) {
        match self {
            TransportConfig::Tcp(config) => (
                SenderState::Tcp(Box::new(tcp_sender(config, sender_phase, &stream).with_time_to_live(time_to_live))),
                ReceiverState::Tcp(Box::new(
                    TcpReceiver::new(config, receiver_phase).closing_after(close_delay(config, stream)),
                )),
            ),
            TransportConfig::Roce(config) => (
                SenderState::Roce(Box::new(RoceRequester::new(*config, rate))),
                ReceiverState::Roce(Box::new(RoceResponder::new(*config))),
            ),
            TransportConfig::Udp(config) => {
                let sender = UdpSender::new(*config);
                let sender = if is_ideal { sender } else { sender.with_jitter(rate, stream("pacing")) };
                (SenderState::Udp(Box::new(sender)), ReceiverState::Udp(Box::default()))
            }
            TransportConfig::PacketPair(config) => (
                SenderState::PacketPair(Box::new(PacketPairSender::new(config, sender_phase))),
                ReceiverState::PacketPair(Box::new(PacketPairReceiver::new(config, receiver_phase))),
            ),
            TransportConfig::Uet(config) => (
                SenderState::Uet(Box::new(UetSender::new(*config, rate, ports, stream("paths")))),
                ReceiverState::Uet(Box::new(UetReceiver::new(*config, highest_rate))),
            ),
        }
    }

    /// Returns the transport for an open connection with a round-trip time of `known_rtt`.
    pub fn opened(&self, known_rtt: Option<Duration>) -> Self {
        match self {
            TransportConfig::Tcp(config) => {
                let known_rtt = known_rtt.or(config.known_rtt);
                TransportConfig::Tcp(TcpSettings { handshake: false, known_rtt, ..*config })
            }
            other => other.clone(),
        }
    }

    /// Returns the transport in a VLAN: each frame is longer by a tag.
    pub fn tagged(self) -> Self {
        let longer = |bytes: Bytes| bytes + Bytes(VLAN_TAG_BYTES.into());
        match self {
            TransportConfig::Tcp(tcp) => TransportConfig::Tcp(TcpSettings {
                header_bytes: longer(tcp.header_bytes),
                ack_bytes: longer(tcp.ack_bytes),
                ..tcp
            }),
            TransportConfig::Roce(roce) => TransportConfig::Roce(RoceSettings {
                header_bytes: longer(roce.header_bytes),
                ack_bytes: longer(roce.ack_bytes),
                ..roce
            }),
            TransportConfig::Udp(udp) => TransportConfig::Udp(UdpSettings {
                frame_bytes: longer(udp.frame_bytes),
                header_bytes: longer(udp.header_bytes),
                ..udp
            }),
            TransportConfig::PacketPair(pair) => TransportConfig::PacketPair(PacketPairSettings {
                header_bytes: longer(pair.header_bytes),
                ack_bytes: longer(pair.ack_bytes),
                ..pair
            }),
            TransportConfig::Uet(uet) => TransportConfig::Uet(UetSettings {
                header_bytes: longer(uet.header_bytes),
                ack_bytes: longer(uet.ack_bytes),
                ..uet
            }),
        }
    }

    /// Returns whether every byte written arrives, unless the flow fails.
    pub fn is_reliable(&self) -> bool {
        !matches!(self, TransportConfig::Udp(_))
    }

    pub fn is_tcp(&self) -> bool {
        matches!(self, TransportConfig::Tcp(_))
    }

    /// Returns whether each packet can take another path, and another port of its host.
    pub fn spreads(&self) -> bool {
        matches!(self, TransportConfig::Uet(_))
    }

    /// Returns whether the transport runs in the network card and has no kernel delays.
    pub fn is_on_network_card(&self) -> bool {
        matches!(self, TransportConfig::Roce(_) | TransportConfig::Uet(_))
    }

    /// Returns the payload of a full packet, for transports that count packets instead of bytes.
    pub fn counted_packet_bytes(&self) -> Option<u64> {
        match self {
            TransportConfig::Roce(config) => Some(config.mtu.0),
            TransportConfig::Udp(config) => Some(config.payload_bytes().into()),
            TransportConfig::Uet(config) => Some(config.mtu.0),
            TransportConfig::Tcp(_) | TransportConfig::PacketPair(_) => None,
        }
    }

    /// Returns how long the receiving end outlives the sending end.
    pub fn linger(&self) -> Duration {
        match self {
            TransportConfig::Udp(udp) => udp.linger.unwrap_or(UdpSettings::LINGER_MIN),
            TransportConfig::Tcp(_) | TransportConfig::Roce(_) => Duration::ZERO,
            TransportConfig::PacketPair(_) | TransportConfig::Uet(_) => Duration::ZERO,
        }
    }
}

/// Draws the time from the last byte to the close by the receiving application.
fn close_delay(config: &TcpSettings, stream: impl Fn(&str) -> Stream) -> Duration {
    let delay = |CloseSettings { delay: fixed, jitter }| StackDelay::new(DelayConfig { fixed, jitter });
    config.close.and_then(delay).map_or(Duration::ZERO, |delay| delay.draw(&mut stream("close")))
}

fn tcp_sender(config: &TcpSettings, phase: Duration, stream: impl Fn(&str) -> Stream) -> TcpSender {
    let sender = TcpSender::new(config, phase);
    let draws = matches!(config.congestion.name(), CongestionName::Bbr | CongestionName::Own);
    if draws { sender.with_stream(stream("transport")) } else { sender }
}

/// Calls an expression with the actual variant: one dispatch per packet, none in the code below.
macro_rules! dispatch {
    ($state:expr, $kind:ident, $end:ident => $call:expr) => {
        match $state {
            $kind::Tcp($end) => $call,
            $kind::Roce($end) => $call,
            $kind::Udp($end) => $call,
            $kind::PacketPair($end) => $call,
            $kind::Uet($end) => $call,
        }
    };
}

pub(crate) use dispatch;

/// The sending end of a flow. Boxed, so that the kind is known without a load from the transport.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub enum SenderState {
    Tcp(Box<TcpSender>),
    Roce(Box<RoceRequester>),
    Udp(Box<UdpSender>),
    PacketPair(Box<PacketPairSender>),
    Uet(Box<UetSender>),
}

impl SenderState {
    #[inline]
    pub fn has_failed(&self) -> bool {
        match self {
            SenderState::Roce(requester) => requester.has_failed(),
            SenderState::Tcp(_) | SenderState::Udp(_) | SenderState::PacketPair(_) | SenderState::Uet(_) => false,
        }
    }

    pub fn smoothed_rtt(&self) -> Option<Duration> {
        match self {
            SenderState::Tcp(sender) => sender.smoothed_rtt(),
            SenderState::Roce(_) | SenderState::Udp(_) | SenderState::PacketPair(_) | SenderState::Uet(_) => None,
        }
    }

    /// Returns the state that explains why this end is quiet.
    pub fn wait(&self) -> SenderWait {
        match self {
            SenderState::Tcp(sender) => sender.explain_wait(),
            SenderState::Roce(requester) => requester.explain_wait(),
            SenderState::PacketPair(sender) => sender.explain_wait(),
            SenderState::Uet(sender) => sender.explain_wait(),
            SenderState::Udp(_) => SenderWait { quiet_since: Time::NEVER, timeouts_in_row: 0, lacks_credit: false },
        }
    }

    /// Returns when the connection was open for data, or `None` while it is not; time zero for transports without a
    /// handshake.
    pub fn opened_at(&self) -> Option<Time> {
        match self {
            SenderState::Tcp(sender) => sender.opened_at(),
            SenderState::Roce(_) | SenderState::Udp(_) => Some(Time::ZERO),
            SenderState::PacketPair(_) | SenderState::Uet(_) => Some(Time::ZERO),
        }
    }

    /// Discards data that a sender without acknowledgements has not sent; returns the number of bytes.
    ///
    /// A reliable transport keeps its data: the buffer drains as when a program closes its socket.
    pub fn withdraw_unsent(&mut self) -> u64 {
        match self {
            SenderState::Udp(sender) => sender.withdraw_unsent(),
            SenderState::Tcp(_) | SenderState::Roce(_) | SenderState::PacketPair(_) | SenderState::Uet(_) => 0,
        }
    }
}

impl Sender for SenderState {
    const SPREADS: bool = true;

    fn write(&mut self, now: Time, bytes: u64) {
        dispatch!(self, SenderState, end => end.write(now, bytes));
    }

    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        dispatch!(self, SenderState, end => end.receive(now, packet));
    }

    fn share_card(&mut self, flows: impl FnOnce() -> usize) {
        dispatch!(self, SenderState, end => end.share_card(flows));
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        dispatch!(self, SenderState, end => end.poll_transmit(now))
    }

    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        dispatch!(self, SenderState, end => end.transmit_into(now, put))
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        dispatch!(self, SenderState, end => end.next_timeout())
    }

    fn handle_timeout(&mut self, now: Time) {
        dispatch!(self, SenderState, end => end.handle_timeout(now));
    }

    fn timeout_purpose(&self) -> TimeoutPurpose {
        dispatch!(self, SenderState, end => end.timeout_purpose())
    }

    #[inline]
    fn timeout_when_held_back(&mut self, now: Time) -> Time {
        dispatch!(self, SenderState, end => end.timeout_when_held_back(now))
    }

    #[inline]
    fn acknowledged_bytes(&self) -> u64 {
        dispatch!(self, SenderState, end => end.acknowledged_bytes())
    }

    fn sent_bytes(&self) -> u64 {
        dispatch!(self, SenderState, end => end.sent_bytes())
    }

    fn congestion_window_bytes(&self) -> u64 {
        dispatch!(self, SenderState, end => end.congestion_window_bytes())
    }

    fn statistics(&self) -> SenderStatistics {
        dispatch!(self, SenderState, end => end.statistics())
    }
}

#[derive(Clone, Debug, hitless_core::state::Value)]
pub enum ReceiverState {
    Tcp(Box<TcpReceiver>),
    Roce(Box<RoceResponder>),
    Udp(Box<UdpSink>),
    PacketPair(Box<PacketPairReceiver>),
    Uet(Box<UetReceiver>),
}

impl ReceiverState {
    /// Returns whether this end is in its host's queue for credit.
    pub fn has_turn_for_credit(&self) -> bool {
        matches!(self, ReceiverState::Uet(receiver) if receiver.has_turn_for_credit())
    }
}

impl Receiver for ReceiverState {
    const SPREADS: bool = true;

    #[inline]
    fn receive(&mut self, now: Time, packet: &Packet) {
        dispatch!(self, ReceiverState, end => end.receive(now, packet));
    }

    #[inline]
    fn receive_merged(&mut self, now: Time, packet: &Packet, frames: u32) {
        dispatch!(self, ReceiverState, end => end.receive_merged(now, packet, frames));
    }

    #[inline]
    fn poll_transmit(&mut self, now: Time) -> Option<Outgoing> {
        dispatch!(self, ReceiverState, end => end.poll_transmit(now))
    }

    #[inline]
    fn transmit_into<T>(&mut self, now: Time, put: impl FnOnce(&Outgoing) -> T) -> Option<T> {
        dispatch!(self, ReceiverState, end => end.transmit_into(now, put))
    }

    #[inline]
    fn enters_credit_queue(&mut self) -> bool {
        dispatch!(self, ReceiverState, end => end.enters_credit_queue())
    }

    fn grant_credit(&mut self, in_advance: bool) -> Option<uet::Grant> {
        dispatch!(self, ReceiverState, end => end.grant_credit(in_advance))
    }

    #[inline]
    fn next_timeout(&self) -> Time {
        dispatch!(self, ReceiverState, end => end.next_timeout())
    }

    fn handle_timeout(&mut self, now: Time) {
        dispatch!(self, ReceiverState, end => end.handle_timeout(now));
    }

    #[inline]
    fn latest_delay(&self) -> Option<Duration> {
        dispatch!(self, ReceiverState, end => end.latest_delay())
    }

    #[inline]
    fn delivered_bytes(&self) -> u64 {
        dispatch!(self, ReceiverState, end => end.delivered_bytes())
    }

    fn statistics(&self) -> ReceiverStatistics {
        dispatch!(self, ReceiverState, end => end.statistics())
    }
}
