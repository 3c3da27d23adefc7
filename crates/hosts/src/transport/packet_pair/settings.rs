//! Packet pair: settings in a scenario, and the TCP settings below them.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::transport::tcp::{Congestion, DctcpSettings, RtoFormula, TcpSettings};

/// Settings of packet pair. The gap between the arrivals of two packets sent together measures the flow's share of its
/// bottleneck, which sets the rate. TCP detects and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PacketPairSettings {
    /// Maximum payload of a packet.
    #[serde(with = "Text::<Bytes>")]
    pub mss: Bytes,
    /// Header bytes of a frame. The paper gives no format; the default is TCP with timestamps.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Frame length of an acknowledgement, which carries the gap.
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Weight of the newest gap in the moving average, GAIN of figure 13. The paper gives no value; a quarter averages
    /// over the four pairs of a round trip at 10 Gb/s and 10 us (section 5). For longer round trips see `longest_pair`.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub gap_gain: f64,
    /// Maximum packets from the first of a pair to its second. If a round trip holds n > 1 / `gap_gain` pairs, measured
    /// pairs are n x `gap_gain` packets long, so that the average spans a round trip (section 5), and cycles are
    /// skipped or packets injected as the estimate falls or rises. AFQ serves the packets of a round in order of
    /// arrival, so two flows with pairs of two packets can both measure a gap of one frame. The default keeps a pair
    /// below the marking threshold of 8 rounds (section 5). 1: figure 13.
    #[schemars(range(min = 1, max = 64))]
    pub longest_pair: u32,
    /// Maximum bytes in flight when a pair begins, in products of estimated rate and minimum round-trip time:
    /// CWND_FACTOR of figure 13 (section 5: 1.5).
    #[schemars(range(min = 0.01, max = 1000.0))]
    pub window_factor: f64,
    /// Bytes that AFQ's switches let a flow send per round (BpR). If it exceeds a full frame, measured pairs have as
    /// many packets between their two as fill a round, so that switches serve these in different rounds (section 5). 0
    /// means no AFQ, or short rounds.
    #[serde(with = "Text::<Bytes>")]
    pub bytes_per_round: Bytes,
    /// Send ECN-capable packets, and multiply the rate by (1 - alpha / 2), where alpha is the marked fraction (section
    /// 5: marking per flow).
    pub ecn: bool,
    /// Weight of the newest window in the estimate of alpha. The paper gives none; 1/16 is DCTCP's (RFC 8257).
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub ecn_gain: f64,
    /// After a pause longer than a round trip, forget the share and restart with one pair, like a new flow.
    pub restart_after_idle: bool,
    /// Time that the first packet of a pair waits for the second before it is acknowledged alone.
    #[serde(with = "Text::<Duration>")]
    pub ack_delay: Duration,
    /// Formula of the retransmission timeout.
    pub rto_formula: RtoFormula,
    /// Minimum retransmission timeout (Linux: 200 ms; AFQ's simulations: 200 us).
    #[serde(with = "Text::<Duration>")]
    pub rto_min: Duration,
    /// Maximum retransmission timeout after backing off (Linux: 120 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_max: Duration,
    /// Retransmission timeout before the first round-trip time is known (RFC 6298: 1 s).
    #[serde(with = "Text::<Duration>")]
    pub rto_initial: Duration,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    pub sack: bool,
    /// Time-based loss detection and tail loss probes (RFC 8985); needs `sack`.
    pub rack_tlp: bool,
    /// Duplicate acknowledgements that start a fast retransmit without RACK (RFC 5681: 3).
    #[schemars(range(min = 1, max = 255))]
    pub duplicate_acks: u32,
    /// Period of the host's timer interrupt, as [`TcpSettings::timer_tick`]. It comes from the host, not from the file.
    #[serde(skip)]
    pub timer_tick: Duration,
}

impl Default for PacketPairSettings {
    fn default() -> Self {
        let TcpSettings { mss, header_bytes, ack_bytes, rto_formula, rto_min, rto_max, rto_initial, .. } =
            TcpSettings::default();
        let TcpSettings { sack, rack_tlp, duplicate_acks, timer_tick, .. } = TcpSettings::default();
        Self {
            mss,
            header_bytes,
            ack_bytes,
            gap_gain: 0.25,
            longest_pair: 7,
            window_factor: 1.5,
            bytes_per_round: Bytes::ZERO,
            ecn: true,
            ecn_gain: DctcpSettings::default().gain,
            restart_after_idle: true,
            ack_delay: Duration::from_ms(1),
            rto_formula,
            rto_min,
            rto_max,
            rto_initial,
            sack,
            rack_tlp,
            duplicate_acks,
            timer_tick,
        }
    }
}

impl PacketPairSettings {
    /// Returns the TCP settings for everything except the clock of pairs: segments, loss recovery, timers, ECN, and the
    /// acknowledgement of a first packet without its second. DCTCP provides its estimate of the fraction of marked
    /// bytes; its window is unused.
    pub(super) fn recovery(&self) -> TcpSettings {
        TcpSettings {
            congestion: Congestion::Dctcp(DctcpSettings { gain: self.ecn_gain, ..DctcpSettings::default() }),
            mss: self.mss,
            header_bytes: self.header_bytes,
            ack_bytes: self.ack_bytes,
            ecn: self.ecn,
            sack: self.sack,
            rack_tlp: self.rack_tlp,
            duplicate_acks: self.duplicate_acks,
            delayed_ack_segments: 2,
            delayed_ack_timeout: self.ack_delay,
            tlp_max_ack_delay: self.ack_delay,
            rto_formula: self.rto_formula,
            rto_min: self.rto_min,
            rto_max: self.rto_max,
            rto_initial: self.rto_initial,
            timer_tick: self.timer_tick,
            ..TcpSettings::default()
        }
    }

    /// Returns the segments from the first packet of a measured pair to its second: as many as fill a round, so that
    /// switches serve the two in different rounds.
    pub(super) fn segments_per_round(&self) -> u32 {
        let segments = self.bytes_per_round.0.div_ceil(self.full_frame_bytes().into()).max(1);
        u32::try_from(segments).unwrap_or(u32::MAX)
    }

    /// Returns the length of a frame with a full segment.
    pub(super) fn full_frame_bytes(&self) -> u32 {
        self.recovery().data_frame_bytes(self.mss.0 as u16)
    }

    /// Checks values that no connection can work with.
    pub(super) fn check(&self) {
        assert!(self.gap_gain > 0.0 && self.gap_gain <= 1.0, "gap_gain must be above 0 and at most 1");
        assert!(self.longest_pair > 0, "longest_pair must be at least 1");
        assert!(self.window_factor > 0.0 && self.window_factor.is_finite(), "window_factor must be above 0");
    }
}
