//! TCP as a scenario describes it, and as a connection is run.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::congestion::{BoltTransportSettings, CubicTime, DctcpEstimate, SwiftSettings, Window, WindowGrowth};
use crate::stack::Jitter;

/// The threshold, and the window except after a timeout, never fall below so many segments (RFC 5681, section 3.1).
const MINIMUM_SEGMENTS: u64 = 2;

/// Formula of the retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum RtoFormula {
    /// max(rto_min, SRTT + 4 RTTVAR) (RFC 6298, section 2).
    Rfc6298,
    /// SRTT + max(4 RTTVAR, rto_min), as in Linux.
    Linux,
}

/// Loss recovery of TCP without selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
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

/// Parameters of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct TcpSettings {
    /// Congestion control.
    pub congestion: Congestion,
    /// Largest payload of a segment.
    #[serde(with = "Text::<Bytes>")]
    pub mss: Bytes,
    /// What a frame has beside the payload: Ethernet 18, IPv4 20, TCP 20, timestamps 12.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Length of the frame of an acknowledgement without data.
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Initial congestion window in segments (RFC 6928: 10).
    #[schemars(range(min = 1, max = 65535))]
    pub initial_window: u32,
    /// What the retransmission timeout is computed by.
    pub rto_formula: RtoFormula,
    /// Least retransmission timeout (Linux: 200 ms).
    #[serde(with = "Text::<Duration>")]
    pub rto_min: Duration,
    /// Largest retransmission timeout after backing off (Linux: 120 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_max: Duration,
    /// Retransmission timeout before the first round-trip time is known (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_initial: Duration,
    /// Timeout of a SYN; doubles each time (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub syn_timeout: Duration,
    /// Open a connection for each flow; otherwise it is open already, as when connections are reused.
    pub handshake: bool,
    /// What a connection that is open already knows of its round-trip time, as from its handshake; left out: nothing,
    /// so that the first timeout is `rto_initial`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub known_rtt: Option<Duration>,
    /// Send new data in bursts of up to so many segments, each when the window has room for all of it or when a third
    /// of the window is free, as with segmentation in the network card; left out: each segment as the window allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub burst_segments: Option<u32>,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Time-based loss detection and tail loss probes (RFC 8985); needs `sack`.
    pub rack_tlp: bool,
    /// Duplicate acknowledgements that start a fast retransmit when RACK is off (RFC 5681: 3).
    #[schemars(range(min = 1, max = 255))]
    pub duplicate_acks: u32,
    /// Find losses by acknowledgements. Otherwise duplicate and selective ones start nothing, and there are no tail
    /// loss probes: only the timeout repairs (as the code of Practical Packet Deflection has it for DIBS and simple
    /// deflection).
    pub fast_retransmit: bool,
    /// Loss recovery without `sack`.
    pub recovery: TcpRecovery,
    /// What an acknowledgement adds to the congestion window; only with "newreno" and "dctcp" other than the default.
    pub window_growth: WindowGrowth,
    /// Grow the congestion window only while it is what limits the sender (RFC 7661). Otherwise each acknowledgement
    /// grows it, beyond what the receiver lets be in flight (RFC 5681 as written, and INET); not with "bbr", "swift"
    /// and "bolt".
    pub window_validation: bool,
    /// Nagle's algorithm: the last segment of a message waits, unless it is full, until all before it is acknowledged
    /// (RFC 896; INET's default, and that of sockets without TCP_NODELAY).
    pub nagle: bool,
    /// Acknowledge every n-th segment; 1: each at once (RFC 1122 allows 2).
    #[schemars(range(min = 1, max = 64))]
    pub delayed_ack_segments: u32,
    /// How long an acknowledgement may be put off when `delayed_ack_segments` is above 1.
    #[serde(with = "Text::<Duration>")]
    pub delayed_ack_timeout: Duration,
    /// Segments at the start of a connection that are acknowledged at once all the same (Linux: "quick ACKs").
    pub quick_acks: u32,
    /// Applications close their connection behind its one message: the last segment carries FIN, and where it comes by
    /// itself it is acknowledged by the FIN of the receiving application, which closes after this time (Linux: a FIN
    /// ends quick acknowledgements; net/ipv4/tcp_input.c, tcp_fin). Left out: connections stay open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<CloseSettings>,
    /// What a tail loss probe adds for a delayed acknowledgement when one packet is in flight (Linux: 200 ms).
    #[serde(with = "Text::<Duration>")]
    pub tlp_max_ack_delay: Duration,
    /// Restore the window when timestamps show that a retransmission was spurious (RFC 3522, RFC 4015).
    pub eifel_undo: bool,
    /// The receiver reports what came twice (RFC 2883), and a sender whose retransmissions have all been reported
    /// restores the window: a round trip later than by timestamps. This is how Linux finds them while its timestamps
    /// tick by the millisecond, before version 6.7. Needs `sack`.
    pub dsack_undo: bool,
    /// Shrink the window after a pause longer than the retransmission timeout (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Send ECN-capable packets and react to marks (RFC 3168; with DCTCP RFC 8257).
    #[schemars(extend("x-default" = "true for DCTCP, else false"))]
    pub ecn: bool,
    /// Which time counts for CUBIC's curve; only with `congestion = "cubic"` other than the default.
    pub cubic_time: CubicTime,
    /// Weight of the newest window in DCTCP's estimate of marking, g (RFC 8257, section 3.3: 1/16).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub dctcp_gain: f64,
    /// When DCTCP's estimate of marking moves.
    pub dctcp_estimate: DctcpEstimate,
    /// Send at a pace, not as fast as the window allows: for controls with a window twice the window per round-trip
    /// time in slow start and 1.2 times afterwards, as Linux does with the `fq` queueing discipline; BBR sets its own.
    #[schemars(extend("x-default" = "true for BBR, else false"))]
    pub pacing: bool,
    /// How long BBR believes its smallest round-trip time, and so how often it drains the flight to measure it (draft,
    /// section 4.1.2.1: RTpropFilterLen).
    #[serde(with = "Text::<Duration>")]
    pub bbr_rtprop_window: Duration,
    /// How long BBR then keeps the flight at four segments (draft, section 4.3.5: ProbeRTTDuration).
    #[serde(with = "Text::<Duration>")]
    pub bbr_probe_rtt_duration: Duration,
    /// Parameters of Swift; only with `congestion = "swift"`, where left out it is `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swift: Option<SwiftSettings>,
    /// Parameters of Bolt's senders; only with `congestion = "bolt"`, where left out it is `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bolt: Option<BoltTransportSettings>,
    /// What the receiver lets be in flight; left out: never the limit.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// Period of the host's timer interrupt. Zero: timers are exact. Else they fire like Linux jiffies: a timeout of
    /// n whole ticks (rounded up) fires between n and n + 1 ticks after it was armed. The host says it, no file.
    #[serde(skip)]
    pub timer_tick: Duration,
}

/// How long a receiving application takes to close its connection, from the arrival of the last byte: its process
/// wakes, reads to the end and closes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(deny_unknown_fields, default)]
pub struct CloseSettings {
    /// The part that is always the same.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
    /// What comes on top, drawn for each connection.
    pub jitter: Jitter,
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// NewReno (RFC 5681, RFC 6582).
    Newreno,
    /// CUBIC (RFC 9438), without HyStart (RFC 9406): slow start ends with a loss or a mark.
    Cubic,
    /// DCTCP (RFC 8257).
    Dctcp,
    /// BBR, version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; where that is older, Linux).
    Bbr,
    /// Swift (Kumar et al., SIGCOMM 2020).
    Swift,
    /// Bolt (Arslan et al., NSDI 2023); needs switches with the mechanism "bolt".
    Bolt,
}

impl Congestion {
    /// Whether chance has a part in it.
    pub fn draws(self) -> bool {
        self == Congestion::Bbr
    }
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self {
            congestion: Congestion::Cubic,
            mss: Bytes(1_448),
            header_bytes: Bytes(70),
            ack_bytes: Bytes(70),
            initial_window: 10,
            rto_formula: RtoFormula::Linux,
            rto_min: Duration::from_ms(200),
            rto_max: Duration::from_seconds(120),
            rto_initial: Duration::from_seconds(1),
            syn_timeout: Duration::from_seconds(1),
            handshake: false,
            known_rtt: None,
            burst_segments: None,
            sack: true,
            rack_tlp: true,
            duplicate_acks: 3,
            fast_retransmit: true,
            recovery: TcpRecovery::Newreno,
            window_growth: WindowGrowth::ByteCounting,
            window_validation: true,
            nagle: false,
            delayed_ack_segments: 1,
            delayed_ack_timeout: Duration::from_ms(40),
            quick_acks: 0,
            close: None,
            tlp_max_ack_delay: Duration::from_ms(200),
            eifel_undo: true,
            dsack_undo: false,
            slow_start_after_idle: false,
            ecn: false,
            cubic_time: CubicTime::Rfc9438,
            dctcp_gain: 1.0 / 16.0,
            dctcp_estimate: DctcpEstimate::EachWindow,
            pacing: false,
            bbr_rtprop_window: Duration::from_seconds(10),
            bbr_probe_rtt_duration: Duration::from_ms(200),
            swift: None,
            bolt: None,
            receive_window: None,
            timer_tick: Duration::ZERO,
        }
    }
}

impl TcpSettings {
    /// The defaults with this congestion control, and with ECN if it reacts to nothing but marks.
    pub fn with(congestion: Congestion) -> Self {
        Self { congestion, ecn: congestion == Congestion::Dctcp, ..Self::default() }
    }

    /// The congestion window of a new connection, and what bounds it.
    pub(super) fn window(&self) -> Window {
        let mss_bytes = self.mss.0;
        let most_segments = self.swift.and_then(|swift| swift.max_cwnd).or(self.bolt.and_then(|bolt| bolt.max_cwnd));
        let max_cwnd_bytes = most_segments.map_or(u64::MAX, |segments| (segments * mss_bytes as f64) as u64);
        Window {
            cwnd_bytes: (mss_bytes * u64::from(self.initial_window)).min(max_cwnd_bytes),
            // RFC 5681, section 3.1: arbitrarily high at first.
            ssthresh_bytes: u64::MAX,
            mss_bytes,
            min_ssthresh_bytes: mss_bytes * MINIMUM_SEGMENTS,
            max_cwnd_bytes,
            growth: self.window_growth,
        }
    }

    /// The receiver's window: at most as much as the header can say.
    pub(super) fn receive_window_bytes(&self) -> u32 {
        self.receive_window.map_or(u32::MAX, |window| u32::try_from(window.0).unwrap_or(u32::MAX))
    }

    /// Whether ECN works as RFC 8257 says rather than RFC 3168.
    pub(super) fn precise_ecn(&self) -> bool {
        self.ecn && self.congestion == Congestion::Dctcp
    }

    /// Length of the frame of a data segment.
    pub(in crate::transport) fn data_frame_bytes(&self, payload_bytes: u16) -> u32 {
        (self.header_bytes.0 as u32 + u32::from(payload_bytes)).max(MINIMUM_FRAME_BYTES)
    }

    /// Length of the frame of a SYN or SYN-ACK: MSS, SACK-permitted and window scale options add 8 bytes.
    pub(super) fn syn_frame_bytes(&self) -> u32 {
        (self.ack_bytes.0 as u32 + 8).max(MINIMUM_FRAME_BYTES)
    }

    /// Length of the frame of an acknowledgement with `blocks` SACK blocks.
    pub(super) fn ack_frame_bytes(&self, blocks: u32) -> u32 {
        let option_bytes = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        (self.ack_bytes.0 as u32 + option_bytes).max(MINIMUM_FRAME_BYTES)
    }

    /// Stops on values no connection can work with.
    ///
    /// # Panics
    /// For an empty segment, a window of no segments, a threshold of zero or a retransmission timeout of zero.
    pub(super) fn check(&self) {
        assert!(self.mss > Bytes::ZERO, "mss must not be 0");
        assert!(self.initial_window > 0, "initial_window must not be 0");
        assert!(self.duplicate_acks > 0, "duplicate_acks must not be 0");
        assert!(self.rto_initial > Duration::ZERO, "rto_initial must not be 0");
        assert!(self.rto_max >= self.rto_initial, "rto_max must not be below rto_initial");
        assert!(self.rto_max >= self.rto_min, "rto_max must not be below rto_min");
        assert!(self.syn_timeout > Duration::ZERO, "syn_timeout must not be 0");
        assert!(self.window().max_cwnd_bytes >= self.mss.0, "max_cwnd below a segment");
        assert!(u64::from(self.receive_window_bytes()) >= self.mss.0, "receive_window below mss");
        assert!(self.delayed_ack_segments > 0, "delayed_ack_segments must not be 0");
    }
}
