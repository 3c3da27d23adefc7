//! `[[transport]]`: how flows send.

use hitless_hosts::transport::roce::DcqcnConfig;
use hitless_hosts::transport::tcp::{BoltConfig, SwiftConfig};
use hitless_settings::quantity::{Optional, Text};
use hitless_wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::host::CloseSettings;

pub use hitless_hosts::transport::roce::RoceRecovery;
pub use hitless_hosts::transport::tcp::{BoltReaction, DctcpEstimate, RtoFormula, TcpRecovery, WindowGrowth};

/// A transport with its parameters, for `[[flows]]` to name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TransportSettings {
    /// What `[[flows]]` call it; unique.
    pub name: String,
    /// Which protocol, and its parameters.
    #[serde(flatten)]
    pub protocol: Protocol,
}

/// The protocol of a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Protocol {
    /// TCP.
    Tcp(TcpSettings),
    /// RoCEv2, reliable connection, RDMA WRITE.
    Roce(RoceSettings),
    /// UDP at a constant rate.
    Udp(UdpSettings),
    /// Packet-pair flow control for fair-queueing switches, with TCP's loss recovery (AFQ, section 5 and appendix A).
    PacketPair(PacketPairSettings),
}

/// Parameters of TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
}

/// Congestion control of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Congestion {
    /// NewReno (RFC 5681, RFC 6582).
    Newreno,
    /// CUBIC (RFC 9438).
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
            dctcp_gain: 1.0 / 16.0,
            dctcp_estimate: DctcpEstimate::EachWindow,
            pacing: false,
            bbr_rtprop_window: Duration::from_seconds(10),
            bbr_probe_rtt_duration: Duration::from_ms(200),
            swift: None,
            bolt: None,
            receive_window: None,
        }
    }
}

/// Parameters of Swift, by its paper's names (section 3.5 and algorithm 1). The paper gives few values: defaults are
/// those of the simulator that its authors published with Bolt, and where that has none those of htsim. Hops are
/// counted by the time to live with which packets arrive; the delay is the whole round-trip time, both hosts' stacks
/// included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SwiftSettings {
    /// Target delay of a path without switches and of a large window.
    #[serde(with = "Text::<Duration>")]
    pub base_target: Duration,
    /// What each switch on the path adds to the target, h-bar.
    #[serde(with = "Text::<Duration>")]
    pub per_hop: Duration,
    /// What a small window adds to the target at most: flow scaling, so that many flows share fairly.
    #[serde(with = "Text::<Duration>")]
    pub fs_range: Duration,
    /// Windows up to this, in segments, add all of fs_range.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_min_cwnd: f64,
    /// Windows from this on, in segments, add nothing; above fs_min_cwnd.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub fs_max_cwnd: f64,
    /// Segments that the window grows by in a round-trip time below the target.
    #[schemars(range(min = 0.000001, max = 1000.0))]
    pub ai: f64,
    /// The part of the delay in excess of the target, of all of the delay, by which the window shrinks.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub beta: f64,
    /// The largest part of the window that a decrease takes; what a loss and a timeout take.
    #[schemars(range(min = 0.000001, max = 0.999999))]
    pub max_mdf: f64,
    /// Least window in segments. Below 1, a packet leaves in each round-trip time divided by the window.
    #[schemars(range(min = 0.000001, max = 1000000.0))]
    pub min_cwnd: f64,
    /// Largest window in segments; left out: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub max_cwnd: Option<f64>,
    /// Timeouts in a row that set the window to min_cwnd, RETX_RESET_THRESHOLD.
    #[schemars(range(min = 1, max = 1000000))]
    pub retransmit_reset_threshold: u32,
    /// Weight of the newest sample in the round-trip time by which decreases and packets are spaced.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rtt_gain: f64,
}

impl Default for SwiftSettings {
    fn default() -> Self {
        let SwiftConfig { base_target, per_hop, fs_range, fs_min_cwnd, fs_max_cwnd, .. } = SwiftConfig::default();
        let SwiftConfig { additive_increase: ai, beta, max_mdf, min_cwnd, .. } = SwiftConfig::default();
        let SwiftConfig { retransmit_reset_threshold, rtt_gain, .. } = SwiftConfig::default();
        Self {
            base_target,
            per_hop,
            fs_range,
            fs_min_cwnd,
            fs_max_cwnd,
            ai,
            beta,
            max_mdf,
            min_cwnd,
            max_cwnd: None,
            retransmit_reset_threshold,
            rtt_gain,
        }
    }
}

/// Parameters of Bolt's senders (section 3, algorithm 3). Where the paper gives no value, defaults are those of the
/// simulator that its authors published. Notices from switches are counted as congestion echoes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoltTransportSettings {
    /// Segments that the window grows by in a round-trip time, beside what switches grant.
    #[schemars(range(min = 0.000001, max = 1000.0))]
    pub ai: f64,
    /// Least window in segments. Below 1, a packet leaves in each round-trip time divided by the window.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub min_cwnd: f64,
    /// Largest window in segments; left out: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1.0, max = 1000000.0))]
    pub max_cwnd: Option<f64>,
    /// What of a congested queue a flow holds its own: it takes a segment off its window in each time to the switch and
    /// back divided by so many packets.
    pub reaction: BoltReaction,
    /// Weight of the newest sample in the round-trip time by which the flow's rate and gaps are computed.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub rtt_gain: f64,
}

impl Default for BoltTransportSettings {
    fn default() -> Self {
        let BoltConfig { additive_increase: ai, min_cwnd, rtt_gain, .. } = BoltConfig::default();
        Self { ai, min_cwnd, max_cwnd: None, reaction: BoltReaction::Share, rtt_gain }
    }
}

/// Parameters of RoCEv2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RoceSettings {
    /// Payload of a packet: the path MTU of InfiniBand, 256 B to 4 KiB.
    #[serde(with = "Text::<Bytes>")]
    pub mtu: Bytes,
    /// What a frame has beside the payload: Ethernet 18, IPv4 20, UDP 8, base transport header 12, RDMA extended header
    /// 16 (counted for every packet, though only the first of a message has it), invariant CRC 4.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Length of the frame of an acknowledgement (with 4 bytes of ACK header).
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Packets that may be sent beyond the first unacknowledged one.
    #[schemars(range(min = 1, max = 8388607))]
    pub window: u32,
    /// The last packet of a message is acknowledged, and otherwise every so many packets; at most `window`.
    #[schemars(range(min = 1, max = 65535))]
    pub acknowledge_every: u32,
    /// Retransmission timeout of the NIC (LinkGuardian's testbed: about 1 ms).
    #[serde(with = "Text::<Duration>")]
    pub timeout: Duration,
    /// Timeouts in a row after which the connection gives up.
    #[schemars(range(min = 1, max = 255))]
    pub retries: u32,
    /// What becomes of packets that come after one that was lost.
    pub recovery: RoceRecovery,
    /// DCQCN (Zhu et al., SIGCOMM 2015): marked packets draw notifications, which set the rate. Wants switches that
    /// mark, by chance as a rule. `{}` takes the paper's parameters; left out: line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dcqcn: Option<DcqcnSettings>,
}

/// Parameters of DCQCN, by the paper's names; defaults are those of its section 5.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DcqcnSettings {
    /// N: the receiver sends at most one notification of a connection in this time.
    #[serde(with = "Text::<Duration>")]
    pub cnp_interval: Duration,
    /// g: weight of a notification in the estimate alpha, by which the rate is cut.
    #[schemars(range(min = 0.000001, max = 1.0))]
    pub g: f64,
    /// K: alpha decays when there was no notification for so long; above `cnp_interval`.
    #[serde(with = "Text::<Duration>")]
    pub alpha_timer: Duration,
    /// T: the rate is raised once in this time.
    #[serde(with = "Text::<Duration>")]
    pub rate_timer: Duration,
    /// B: and once for so many bytes sent.
    #[serde(with = "Text::<Bytes>")]
    pub byte_counter: Bytes,
    /// F: raises of either kind that only recover the rate from before the cut.
    #[schemars(range(min = 1, max = 1000))]
    pub fast_recovery_steps: u32,
    /// R_AI: step of the additive increase.
    #[serde(with = "Text::<BitRate>")]
    pub additive_increase: BitRate,
    /// R_HAI: step of the hyper increase. The paper gives no value: five steps of the additive one.
    #[serde(with = "Text::<BitRate>")]
    pub hyper_increase: BitRate,
    /// No cut goes below this. The paper gives none.
    #[serde(with = "Text::<BitRate>")]
    pub minimum_rate: BitRate,
}

impl Default for DcqcnSettings {
    fn default() -> Self {
        let DcqcnConfig { cnp_interval, g, alpha_timer, rate_timer, .. } = DcqcnConfig::default();
        let DcqcnConfig { byte_counter, fast_recovery_steps, additive_increase, .. } = DcqcnConfig::default();
        let DcqcnConfig { hyper_increase, minimum_rate, .. } = DcqcnConfig::default();
        Self {
            cnp_interval,
            g,
            alpha_timer,
            rate_timer,
            byte_counter: Bytes(byte_counter),
            fast_recovery_steps,
            additive_increase,
            hyper_increase,
            minimum_rate,
        }
    }
}

impl Default for RoceSettings {
    fn default() -> Self {
        Self {
            mtu: Bytes(1_024),
            header_bytes: Bytes(78),
            ack_bytes: Bytes(66),
            window: 512,
            acknowledge_every: 16,
            timeout: Duration::from_ms(1),
            retries: 7,
            recovery: RoceRecovery::GoBackN,
            dcqcn: None,
        }
    }
}

/// Parameters of packet pair. The gap between the arrivals of two packets sent together gives the flow's share of its
/// bottleneck, and that the rate. Losses are found and repaired by TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketPairSettings {
    /// Largest payload of a packet.
    #[serde(with = "Text::<Bytes>")]
    pub mss: Bytes,
    /// What a frame has beside the payload. The paper gives no format; this is as much as TCP with timestamps has.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Length of the frame of an acknowledgement, which carries the gap.
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Weight of the newest gap in the moving average, GAIN of figure 13. The paper gives none; a quarter averages over
    /// the four pairs that are a round trip at 10 Gb/s and 10 us, as section 5 has it.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gap_gain: f64,
    /// How many products of estimated rate and least round-trip time may be in flight when a pair begins, CWND_FACTOR
    /// of figure 13 (section 5: 1.5).
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub window_factor: f64,
    /// Bytes that AFQ's switches let a flow send in a round (BpR). Above a full frame, one pair in each round-trip time
    /// is sent with its packets this far apart at line rate, so that they are served in different rounds, and the rate
    /// is this much in a gap (section 5); 0: no AFQ, or short rounds.
    #[serde(with = "Text::<Bytes>")]
    pub bytes_per_round: Bytes,
    /// Send ECN-capable packets, and send at the rate times (1 - alpha / 2), where alpha is the marked fraction
    /// (section 5: marking per flow).
    pub ecn: bool,
    /// Weight of the newest window in the estimate of alpha. The paper gives none; 1/16 is DCTCP's (RFC 8257).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub ecn_gain: f64,
    /// After a pause longer than a round trip, forget the share and begin with one pair, as a new flow does.
    pub restart_after_idle: bool,
    /// One acknowledgement answers both packets of a pair; how long the first waits for the second.
    #[serde(with = "Text::<Duration>")]
    pub ack_delay: Duration,
    /// What the retransmission timeout is computed by.
    pub rto_formula: RtoFormula,
    /// Least retransmission timeout (Linux: 200 ms; AFQ's simulations: 200 us).
    #[serde(with = "Text::<Duration>")]
    pub rto_min: Duration,
    /// Largest retransmission timeout after backing off (Linux: 120 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_max: Duration,
    /// Retransmission timeout before the first round-trip time is known (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_initial: Duration,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Time-based loss detection and tail loss probes (RFC 8985); needs `sack`.
    pub rack_tlp: bool,
    /// Duplicate acknowledgements that start a fast retransmit when RACK is off (RFC 5681: 3).
    #[schemars(range(min = 1, max = 255))]
    pub duplicate_acks: u32,
}

impl Default for PacketPairSettings {
    fn default() -> Self {
        let TcpSettings { mss, header_bytes, ack_bytes, rto_formula, rto_min, rto_max, rto_initial, .. } =
            TcpSettings::default();
        let TcpSettings { sack, rack_tlp, duplicate_acks, dctcp_gain, .. } = TcpSettings::default();
        Self {
            mss,
            header_bytes,
            ack_bytes,
            gap_gain: 0.25,
            window_factor: 1.5,
            bytes_per_round: Bytes::ZERO,
            ecn: true,
            ecn_gain: dctcp_gain,
            restart_after_idle: true,
            ack_delay: Duration::from_ms(1),
            rto_formula,
            rto_min,
            rto_max,
            rto_initial,
            sack,
            rack_tlp,
            duplicate_acks,
        }
    }
}

/// Parameters of UDP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UdpSettings {
    /// Rate on the wire, preamble and gap included: the link's own rate fills the link exactly.
    #[serde(with = "Text::<BitRate>")]
    pub rate: BitRate,
    /// Length of each frame, check sequence included.
    #[serde(default = "full_frame", with = "Text::<Bytes>")]
    pub frame_bytes: Bytes,
    /// What of a frame is not payload: Ethernet 18, IPv4 20, UDP 8.
    #[serde(default = "udp_headers", with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
}

fn full_frame() -> Bytes {
    Bytes(hitless_wire::packet::MTU_FRAME_BYTES.into())
}

fn udp_headers() -> Bytes {
    Bytes(46)
}
