//! Parameters of both ends of a TCP connection.

use super::congestion::{
    BbrConfig, BoltTransportSettings, CongestionControlConfig, DctcpConfig, SwiftSettings, WindowConfig, WindowGrowth,
};
use crate::stack::DelayConfig;
use hitless_wire::Duration;
use hitless_wire::packet::MINIMUM_FRAME_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long the receiver may hold an acknowledgement back (RFC 5681, section 4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every data packet is acknowledged at once.
    Off,
    /// An acknowledgement waits for more data.
    On {
        /// Data packets that one acknowledgement answers at most (2 in RFC 5681).
        segments: u32,
        /// The longest an acknowledgement waits; at most 500 ms in RFC 5681, 40 ms and more in Linux.
        timeout: Duration,
        /// Data packets at the start of the connection that are acknowledged at once (Linux: "quick ACKs").
        quickack_segments: u32,
    },
}

hitless_state::value!(enum DelayedAck { Off, On { segments, timeout, quickack_segments } });

/// By how much the pace of a control that knows a window only exceeds the window per smoothed round-trip time, so that
/// the window is what limits it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowPacing {
    /// While the window is below half of the slow start threshold (Linux, tcp_pacing_ss_ratio: 2).
    pub slow_start_gain: f64,
    /// Otherwise (Linux, tcp_pacing_ca_ratio: 1.2).
    pub avoidance_gain: f64,
}

hitless_state::value!(WindowPacing { slow_start_gain, avoidance_gain });

impl Default for WindowPacing {
    fn default() -> Self {
        Self { slow_start_gain: 2.0, avoidance_gain: 1.2 }
    }
}

/// Formula of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFormula {
    /// max(rto_min, SRTT + 4 RTTVAR) (RFC 6298, section 2).
    Rfc6298,
    /// SRTT + max(4 RTTVAR, rto_min), as in Linux.
    Linux,
}

hitless_state::value!(
    enum RtoFormula {
        Rfc6298,
        Linux,
    }
);

/// Loss recovery of TCP without selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpRecovery {
    /// One recovery for each window: each acknowledgement of a part of it sends a segment again, and duplicates for
    /// what was retransmitted start nothing (RFC 6582). The first timeout of a window halves it, as in Linux.
    Newreno,
    /// Without RFC 6582, as in RFC 2001 and in INET's TcpReno: any acknowledgement of new data ends a recovery, any
    /// `duplicate_acks` in a row start one, and each of them and each timeout sets the threshold to half of the window,
    /// which counts at most as what the receiver lets be in flight. Needs `sack = false`.
    Reno,
}

hitless_state::value!(
    enum TcpRecovery {
        Newreno,
        Reno,
    }
);

/// Parameters of a connection; one value configures both ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TcpConfig {
    /// Largest payload of a segment, in bytes.
    pub mss_bytes: u16,
    /// What a data frame holds besides payload: Ethernet 14, check sequence 4, IP 20, TCP 20, timestamps 12.
    pub header_bytes: u32,
    /// Frame of an acknowledgement without SACK blocks, in bytes; n blocks add 4 + 8n (RFC 2018, padded).
    pub ack_frame_bytes: u32,
    /// Congestion window of a new connection, in segments (RFC 6928: 10).
    pub initial_window_segments: u32,
    /// The threshold and the window never shrink below this many segments, except after a timeout (RFC 5681: 2).
    pub minimum_window_segments: u32,
    /// Upper bound of the congestion window, in bytes.
    pub max_window_bytes: Option<u64>,
    /// The receiver's window, in bytes; `None` is as much as the header can say (2^32 - 1).
    pub receive_window_bytes: Option<u32>,
    /// Send new data in bursts of up to this many segments, each when the window has room for all of it or when a third
    /// of the window is free: what segmentation offload does. `None` sends each segment as soon as the window allows.
    pub segments_per_burst: Option<u32>,
    /// Packets are paced at a multiple of the window per round-trip time. `None` sends as the window allows.
    pub pacing: Option<WindowPacing>,
    /// Congestion control.
    pub congestion_control: CongestionControlConfig,
    /// Both ends use ECN (RFC 3168, or RFC 8257 with DCTCP).
    pub ecn: bool,
    /// Both ends use selective acknowledgements (RFC 2018).
    pub sack: bool,
    /// Losses are found by RACK-TLP (RFC 8985). Otherwise by [`Self::dupack_threshold`]: RFC 6675 with SACK,
    /// [`Self::recovery`] without. Has no effect without SACK, which RACK needs.
    pub rack_tlp: bool,
    /// Duplicate acknowledgements, or selectively acknowledged segments, that mean loss (RFC 5681: 3).
    pub dupack_threshold: u32,
    /// Losses are found before the retransmission timer runs out. Otherwise duplicate and selective acknowledgements
    /// start nothing, and there are no tail loss probes: only the timeout repairs.
    pub fast_retransmit: bool,
    /// Loss recovery without SACK; has no effect with it.
    pub recovery: TcpRecovery,
    /// How acknowledgements make the window grow.
    pub window_growth: WindowGrowth,
    /// The window only grows while it is what limits the sender (RFC 7661). Otherwise every acknowledgement grows it,
    /// far beyond what the receiver's window or the application lets be in flight (RFC 5681 as written).
    pub window_validation: bool,
    /// A segment that is not full waits until all before it is acknowledged (RFC 896, RFC 1122, section 4.2.3.4).
    pub nagle: bool,
    /// Restore the window when timestamps show that a retransmission was spurious (RFC 3522 and 4015).
    pub eifel_undo: bool,
    /// The receiver reports what came twice (RFC 2883), and a sender all of whose retransmissions are reported
    /// restores its window, a round trip later than timestamps could tell (Linux: tcp_try_undo_dsack). Needs
    /// [`Self::sack`].
    pub dsack_undo: bool,
    /// Shrink the window after an idle time longer than the retransmission timeout (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Delayed acknowledgements.
    pub delayed_ack: DelayedAck,
    /// The application closes behind its one message, so that the last segment carries FIN; how long after that has
    /// come the receiver's closes as well. Until then a FIN in a segment of its own is not acknowledged, as in Linux
    /// (tcp_fin enters ping-pong mode), and the receiver's FIN acknowledges it. `None`: nobody closes.
    pub close: Option<DelayConfig>,
    /// Lower bound of the retransmission timeout; what it bounds depends on [`Self::rto_formula`].
    pub rto_min: Duration,
    /// Upper bound of the retransmission timeout, with backoff.
    pub rto_max: Duration,
    /// Retransmission timeout before the first round-trip sample (RFC 6298: 1 s).
    pub rto_initial: Duration,
    /// Formula of the retransmission timeout.
    pub rto_formula: RtoFormula,
    /// Clock granularity G of RFC 6298.
    pub rtt_granularity: Duration,
    /// Timeout of the first SYN; doubles each time.
    pub syn_timeout: Duration,
    /// Period of the host's timer interrupt. Zero: timers are exact. Else they fire like Linux jiffies: a timeout of
    /// n whole ticks (rounded up) fires between n and n + 1 ticks after it was armed.
    pub timer_tick: Duration,
    /// What a tail loss probe adds for a delayed acknowledgement when one packet is in flight (Linux: 200 ms).
    pub tlp_max_ack_delay: Duration,
    /// The connection opens with SYN and SYN-ACK. Otherwise it is a reused one: data flows at once.
    pub handshake: bool,
    /// What a reused connection knows of its round-trip time, as from its handshake. Has no effect with
    /// [`Self::handshake`].
    pub known_rtt: Option<Duration>,
}

hitless_state::value!(TcpConfig {
    mss_bytes,
    header_bytes,
    ack_frame_bytes,
    initial_window_segments,
    minimum_window_segments,
    max_window_bytes,
    receive_window_bytes,
    segments_per_burst,
    pacing,
    congestion_control,
    ecn,
    sack,
    rack_tlp,
    dupack_threshold,
    fast_retransmit,
    recovery,
    window_growth,
    window_validation,
    nagle,
    eifel_undo,
    dsack_undo,
    slow_start_after_idle,
    delayed_ack,
    close,
    rto_min,
    rto_max,
    rto_initial,
    rto_formula,
    rtt_granularity,
    syn_timeout,
    timer_tick,
    tlp_max_ack_delay,
    handshake,
    known_rtt
});

impl Default for TcpConfig {
    /// Linux's defaults: CUBIC, SACK, RACK-TLP, no ECN, RTO minimum 200 ms; exact timers, no delayed ACKs.
    fn default() -> Self {
        Self {
            mss_bytes: 1_448,
            header_bytes: 70,
            ack_frame_bytes: 70,
            initial_window_segments: 10,
            minimum_window_segments: 2,
            max_window_bytes: None,
            receive_window_bytes: None,
            segments_per_burst: None,
            pacing: None,
            congestion_control: CongestionControlConfig::Cubic,
            ecn: false,
            sack: true,
            rack_tlp: true,
            dupack_threshold: 3,
            fast_retransmit: true,
            recovery: TcpRecovery::Newreno,
            window_growth: WindowGrowth::ByteCounting,
            window_validation: true,
            nagle: false,
            eifel_undo: true,
            dsack_undo: false,
            slow_start_after_idle: false,
            delayed_ack: DelayedAck::Off,
            close: None,
            rto_min: Duration::from_ms(200),
            rto_max: Duration::from_seconds(120),
            rto_initial: Duration::from_seconds(1),
            rto_formula: RtoFormula::Linux,
            rtt_granularity: Duration::ZERO,
            syn_timeout: Duration::from_seconds(1),
            timer_tick: Duration::ZERO,
            tlp_max_ack_delay: Duration::from_ms(200),
            handshake: false,
            known_rtt: None,
        }
    }
}

impl TcpConfig {
    /// The defaults with DCTCP and ECN.
    pub fn dctcp() -> Self {
        let congestion_control = CongestionControlConfig::Dctcp(DctcpConfig::default());
        Self { congestion_control, ecn: true, ..Self::default() }
    }

    /// The defaults with BBR.
    pub fn bbr() -> Self {
        Self { congestion_control: CongestionControlConfig::Bbr(BbrConfig::default()), ..Self::default() }
    }

    /// The defaults with Swift.
    pub fn swift() -> Self {
        Self { congestion_control: CongestionControlConfig::Swift(SwiftSettings::default()), ..Self::default() }
    }

    /// The defaults with Bolt.
    pub fn bolt() -> Self {
        Self { congestion_control: CongestionControlConfig::Bolt(BoltTransportSettings::default()), ..Self::default() }
    }

    /// The defaults with NewReno.
    pub fn new_reno() -> Self {
        Self { congestion_control: CongestionControlConfig::NewReno, ..Self::default() }
    }

    /// The congestion window that a connection begins with, and its bounds.
    pub(super) fn window(&self) -> WindowConfig {
        WindowConfig {
            mss_bytes: self.mss_bytes.into(),
            initial_segments: self.initial_window_segments.into(),
            minimum_segments: self.minimum_window_segments.into(),
            max_cwnd_bytes: self.max_window_bytes.unwrap_or(u64::MAX),
            growth: self.window_growth,
        }
    }

    /// Whether ECN works as RFC 8257 says rather than RFC 3168.
    pub(super) fn precise_ecn(&self) -> bool {
        self.ecn && matches!(self.congestion_control, CongestionControlConfig::Dctcp(_))
    }

    /// Length of the frame of a data segment.
    pub(in crate::transport) fn data_frame_bytes(&self, payload_bytes: u16) -> u32 {
        (self.header_bytes + u32::from(payload_bytes)).max(MINIMUM_FRAME_BYTES)
    }

    /// Length of the frame of a SYN or SYN-ACK: MSS, SACK-permitted and window scale options add 8 bytes.
    pub(super) fn syn_frame_bytes(&self) -> u32 {
        (self.ack_frame_bytes + 8).max(MINIMUM_FRAME_BYTES)
    }

    /// Length of the frame of an acknowledgement with `blocks` SACK blocks.
    pub(super) fn ack_frame_bytes(&self, blocks: u32) -> u32 {
        let option_bytes = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        (self.ack_frame_bytes + option_bytes).max(MINIMUM_FRAME_BYTES)
    }

    /// Stops on values no connection can work with.
    ///
    /// # Panics
    /// For an empty segment, a window of no segments, a threshold of zero or a retransmission timeout of zero.
    pub(super) fn check(&self) {
        assert!(self.mss_bytes > 0, "mss_bytes must not be 0");
        assert!(self.initial_window_segments > 0, "initial_window_segments must not be 0");
        assert!(self.minimum_window_segments > 0, "minimum_window_segments must not be 0");
        assert!(self.dupack_threshold > 0, "dupack_threshold must not be 0");
        assert!(self.rto_initial > Duration::ZERO, "rto_initial must not be 0");
        assert!(self.rto_max >= self.rto_initial, "rto_max must not be below rto_initial");
        assert!(self.rto_max >= self.rto_min, "rto_max must not be below rto_min");
        assert!(self.syn_timeout > Duration::ZERO, "syn_timeout must not be 0");
        let mss_bytes = u64::from(self.mss_bytes);
        assert!(self.max_window_bytes.is_none_or(|bytes| bytes >= mss_bytes), "max_window_bytes below mss_bytes");
        let window_bytes = self.receive_window_bytes.unwrap_or(u32::MAX);
        assert!(u64::from(window_bytes) >= mss_bytes, "receive_window_bytes below mss_bytes");
        if let DelayedAck::On { segments, .. } = self.delayed_ack {
            assert!(segments > 0, "delayed_ack.segments must not be 0");
        }
    }
}
