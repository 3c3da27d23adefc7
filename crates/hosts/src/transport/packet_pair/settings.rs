//! Packet pair as a scenario describes it, and what a connection makes of that.

use hitless_settings::quantity::Text;
use hitless_wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::PacketPairConfig;
use crate::transport::tcp::{CongestionControlConfig, DctcpConfig, DelayedAck, RtoFormula, TcpConfig, TcpSettings};

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

impl PacketPairSettings {
    /// What a connection is run with, on a host whose timers fire at multiples of `timer_tick`.
    pub fn config(&self, timer_tick: Duration) -> PacketPairConfig {
        let marking = DctcpConfig { gain: self.ecn_gain, initial_alpha: 0.0, ..DctcpConfig::default() };
        PacketPairConfig {
            recovery: TcpConfig {
                mss_bytes: self.mss.0 as u16,
                header_bytes: self.header_bytes.0 as u32,
                ack_frame_bytes: self.ack_bytes.0 as u32,
                congestion_control: CongestionControlConfig::Dctcp(marking),
                ecn: self.ecn,
                sack: self.sack,
                rack_tlp: self.rack_tlp,
                dupack_threshold: self.duplicate_acks,
                delayed_ack: DelayedAck::On { segments: 2, timeout: self.ack_delay, quickack_segments: 0 },
                tlp_max_ack_delay: self.ack_delay,
                rto_formula: self.rto_formula,
                rto_min: self.rto_min,
                rto_max: self.rto_max,
                rto_initial: self.rto_initial,
                timer_tick,
                ..TcpConfig::default()
            },
            gap_gain: self.gap_gain,
            window_factor: self.window_factor,
            bytes_per_round: self.bytes_per_round.0 as u32,
            restart_after_idle: self.restart_after_idle,
        }
    }
}
