//! TCP: settings in a scenario, and their values for a connection.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::congestion::{Congestion, CongestionChoice, CubicSettings, Window};
use crate::stack::Jitter;

/// Minimum of the threshold, and of the window except after a timeout, in segments (RFC 5681, section 3.1).
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
    /// One recovery per window: each partial acknowledgement retransmits a segment, and duplicates caused by
    /// retransmissions start nothing (RFC 6582). The first timeout of a window halves it, as in Linux.
    Newreno,
    /// Without RFC 6582, as in RFC 2001 and in INET's TcpReno: any acknowledgement of new data ends a recovery, and any
    /// `duplicate_acks` in a row start one. Each of them and each timeout sets the threshold to half of the window; the
    /// window counts at most as the receive window. Needs `sack = false`.
    Reno,
}

/// Former fields of a transport, and their place in `congestion`.
const MOVED: [(&str, &str); 9] = [
    ("window_growth", "congestion = { kind = \"newreno\" or \"dctcp\", window_growth = ... }"),
    ("window_validation", "congestion = { kind = \"newreno\", \"cubic\" or \"dctcp\", window_validation = ... }"),
    ("cubic_time", "congestion = { kind = \"cubic\", time = ... }"),
    ("dctcp_gain", "congestion = { kind = \"dctcp\", gain = ... }"),
    ("dctcp_estimate", "congestion = { kind = \"dctcp\", estimate = ... }"),
    ("bbr_rtprop_window", "congestion = { kind = \"bbr\", rtprop_window = ... }"),
    ("bbr_probe_rtt_duration", "congestion = { kind = \"bbr\", probe_rtt_duration = ... }"),
    ("swift", "congestion = { kind = \"swift\", ... }"),
    ("bolt", "congestion = { kind = \"bolt\", ... }"),
];

/// Settings of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("x-moved" = MOVED))]
pub struct TcpSettings {
    /// Congestion control: its name, or a table with its parameters.
    #[schemars(with = "CongestionChoice", extend("x-default" = "\"cubic\""))]
    pub congestion: Congestion,
    /// Maximum payload of a segment.
    #[serde(with = "Text::<Bytes>")]
    pub mss: Bytes,
    /// Header bytes of a frame: Ethernet 18, IPv4 20, TCP 20, timestamps 12.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Frame length of an acknowledgement without data.
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Initial congestion window in segments (RFC 6928: 10).
    #[schemars(range(min = 1, max = 65535))]
    pub initial_window: u32,
    /// Formula of the retransmission timeout.
    pub rto_formula: RtoFormula,
    /// Minimum retransmission timeout (Linux: 200 ms).
    #[serde(with = "Text::<Duration>")]
    pub rto_min: Duration,
    /// Maximum retransmission timeout after backing off (Linux: 120 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_max: Duration,
    /// Retransmission timeout before the first round-trip time is known (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_initial: Duration,
    /// Timeout of a SYN; doubles each time (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub syn_timeout: Duration,
    /// Open a connection for each flow. Otherwise the connection is already open, as if it were reused.
    pub handshake: bool,
    /// RTT known at the start of an open connection, as from its handshake. By default it is unknown, and the first
    /// timeout is `rto_initial`.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub known_rtt: Option<Duration>,
    /// Send new data in bursts of up to this many segments, as with segmentation in the network card. A burst starts
    /// when the window has room for all of it, or when a third of the window is free. By default each segment is sent
    /// as soon as the window allows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub burst_segments: Option<u32>,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Time-based loss detection and tail loss probes (RFC 8985); needs `sack`.
    pub rack_tlp: bool,
    /// Duplicate acknowledgements that start a fast retransmit without RACK (RFC 5681: 3).
    #[schemars(range(min = 1, max = 255))]
    pub duplicate_acks: u32,
    /// Detect losses by acknowledgements. Otherwise duplicate and selective acknowledgements start nothing, and there
    /// are no tail loss probes: only the timeout repairs losses (like the code of Practical Packet Deflection for DIBS
    /// and simple deflection).
    pub fast_retransmit: bool,
    /// Loss recovery without `sack`.
    pub recovery: TcpRecovery,
    /// Nagle's algorithm: a last segment that is not full waits until all earlier data is acknowledged (RFC 896;
    /// default of INET, and of sockets without TCP_NODELAY).
    pub nagle: bool,
    /// Acknowledge every n-th segment; 1 acknowledges each at once (RFC 1122 allows 2).
    #[schemars(range(min = 1, max = 64))]
    pub delayed_ack_segments: u32,
    /// Maximum delay of an acknowledgement if `delayed_ack_segments` is above 1.
    #[serde(with = "Text::<Duration>")]
    pub delayed_ack_timeout: Duration,
    /// Number of segments at the start of a connection that are acknowledged at once (Linux: "quick ACKs").
    pub quick_acks: u32,
    /// Applications close the connection after its single message: the last segment carries FIN. If it arrives alone,
    /// the FIN of the receiving application acknowledges it, which closes after this time (Linux: a FIN ends quick
    /// acknowledgements; net/ipv4/tcp_input.c, tcp_fin). By default connections stay open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<CloseSettings>,
    /// Time that a tail loss probe adds for a delayed acknowledgement if one packet is in flight (Linux: 200 ms).
    #[serde(with = "Text::<Duration>")]
    pub tlp_max_ack_delay: Duration,
    /// Restore the window if timestamps show that a retransmission was spurious (RFC 3522, RFC 4015).
    pub eifel_undo: bool,
    /// The receiver reports duplicates (RFC 2883), and a sender restores the window once all of its retransmissions
    /// have been reported: a round trip later than by timestamps. Linux before version 6.7 detects them this way,
    /// because its timestamps tick by the millisecond. Needs `sack`.
    pub dsack_undo: bool,
    /// Shrink the window after a pause longer than the retransmission timeout (RFC 2861).
    pub slow_start_after_idle: bool,
    /// Send ECN-capable packets and react to marks (RFC 3168; with DCTCP RFC 8257).
    #[schemars(extend("x-default" = "true for DCTCP, else false"))]
    pub ecn: bool,
    /// Pace packets instead of sending as fast as the window allows. Window-based controls pace at twice the window per
    /// round-trip time in slow start and 1.2 times afterwards, like Linux with the `fq` queueing discipline; BBR sets
    /// its rate.
    #[schemars(extend("x-default" = "true for BBR, else false"))]
    pub pacing: bool,
    /// Receive window; by default it is never the limit.
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub receive_window: Option<Bytes>,
    /// Period of the host's timer interrupt. Zero makes timers exact. Otherwise they fire like Linux jiffies: a timeout
    /// of n whole ticks (rounded up) fires between n and n + 1 ticks after it was armed. It comes from the host, not
    /// from the file.
    #[serde(skip)]
    pub timer_tick: Duration,
}

/// Time that a receiving application needs to close its connection after the arrival of the last byte: its process
/// wakes, reads to the end and closes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(deny_unknown_fields, default)]
pub struct CloseSettings {
    /// Constant part.
    #[serde(with = "Text::<Duration>")]
    pub delay: Duration,
    /// Random part, drawn per connection.
    pub jitter: Jitter,
}

impl Default for TcpSettings {
    fn default() -> Self {
        Self {
            congestion: Congestion::Cubic(CubicSettings::default()),
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
            pacing: false,
            receive_window: None,
            timer_tick: Duration::ZERO,
        }
    }
}

impl TcpSettings {
    /// Returns the defaults with this congestion control, and with ECN if it reacts only to marks.
    pub fn with(congestion: Congestion) -> Self {
        Self { congestion, ecn: matches!(congestion, Congestion::Dctcp(_)), ..Self::default() }
    }

    pub fn window(&self) -> Window {
        let mss_bytes = self.mss.0;
        let (growth, _, max_segments) = self.congestion.window_rules();
        let max_cwnd_bytes = max_segments.map_or(u64::MAX, |segments| (segments * mss_bytes as f64) as u64);
        Window {
            cwnd_bytes: (mss_bytes * u64::from(self.initial_window)).min(max_cwnd_bytes),
            // RFC 5681, section 3.1: initially arbitrarily high.
            ssthresh_bytes: u64::MAX,
            mss_bytes,
            min_ssthresh_bytes: mss_bytes * MINIMUM_SEGMENTS,
            max_cwnd_bytes,
            growth,
        }
    }

    /// Returns the receive window, limited to the header's range.
    pub(super) fn receive_window_bytes(&self) -> u32 {
        self.receive_window.map_or(u32::MAX, |window| u32::try_from(window.0).unwrap_or(u32::MAX))
    }

    /// Returns whether ECN works as in RFC 8257 instead of RFC 3168.
    pub(super) fn precise_ecn(&self) -> bool {
        self.ecn && self.congestion.counts_marks()
    }

    pub(in crate::transport) fn data_frame_bytes(&self, payload_bytes: u16) -> u32 {
        (self.header_bytes.0 as u32 + u32::from(payload_bytes)).max(MINIMUM_FRAME_BYTES)
    }

    /// Returns the frame length of a SYN or SYN-ACK: the options MSS, SACK-permitted and window scale add 8 bytes.
    pub(super) fn syn_frame_bytes(&self) -> u32 {
        (self.ack_bytes.0 as u32 + 8).max(MINIMUM_FRAME_BYTES)
    }

    /// Returns the frame length of an acknowledgement with `blocks` SACK blocks.
    pub(super) fn ack_frame_bytes(&self, blocks: u32) -> u32 {
        let option_bytes = if blocks == 0 { 0 } else { 4 + 8 * blocks };
        (self.ack_bytes.0 as u32 + option_bytes).max(MINIMUM_FRAME_BYTES)
    }

    /// Checks values that no connection can work with.
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
