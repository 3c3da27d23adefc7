//! Settings of both ends of a spraying connection.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The congestion control.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(rename_all = "kebab-case")]
pub enum UetCongestion {
    /// The sender's window follows delay and marks.
    #[default]
    Nscc,
    /// The receiver gives credit to its senders in turn, a little below the rate of its port.
    Rccc,
    /// Both: a packet needs credit and room in the window.
    Both,
}

/// Choice of the entropy value, and so of the path, of a packet.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(rename_all = "kebab-case")]
pub enum PathChoice {
    /// All values in turn, in an order that is drawn anew for each round.
    Oblivious,
    /// As "oblivious", but values with a penalty are skipped, and a skip takes 1 off the penalty. A mark adds 1, a
    /// trimmed packet 4, a timeout 15; the maximum is 15.
    Bitmap,
    /// Values of acknowledged packets without a mark are used again (REPS, EuroSys 2026): a ring of 8 values, random
    /// values while it has no fresh one. After a timeout only values of the ring are used for 10 ms.
    Reps,
    /// A value of an acknowledged packet without a mark if there is one, else as "bitmap".
    #[default]
    Mixed,
    /// As "oblivious", without retired values: a lost packet retires its value at once, and a probe restores it. Marks
    /// and trimmed packets show congestion and not a bad path (MRC; details are assumptions).
    Mrc,
}

/// Settings of a spraying connection. A scenario derives the times from its topology; the times of [`Self::default`]
/// belong to the fabric of Ultra Ethernet's experiments: 100 Gb/s, three tiers, links of 1 us.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct UetSettings {
    /// Payload of a packet.
    #[serde(with = "Text::<Bytes>")]
    pub mtu: Bytes,
    /// Header bytes of a frame.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Frame length of acknowledgements, credits, requests and probes.
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Congestion control.
    pub congestion: UetCongestion,
    /// Round-trip time of the longest path in an empty network, for a full packet and its acknowledgement. It gives the
    /// maximum window (1.5 bandwidth-delay products), NSCC's scale and its target. A connection with a lower measured
    /// time uses that.
    #[schemars(extend("x-default" = "by rates, delays and tiers of the topology, and frame lengths"))]
    #[serde(with = "Text::<Duration>")]
    pub base_rtt: Duration,
    /// Queueing delay that NSCC aims for; left out: 0.75 x `base_rtt`, which fits switches that trim (without trimming
    /// the authors use 1.0 x).
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub target_delay: Option<Duration>,
    /// Initial window in packets; left out: the maximum window.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub initial_window: Option<u32>,
    /// Number of entropy values of a connection, a power of 2; 1: a single path.
    #[schemars(range(min = 1, max = 32768))]
    pub paths: u16,
    /// Choice of the entropy value of a packet.
    pub path_choice: PathChoice,
    /// Bytes after which the receiver acknowledges; 1 B: each packet. Marked, duplicate and requested packets are
    /// acknowledged at once.
    #[serde(with = "Text::<Bytes>")]
    pub acknowledge_bytes: Bytes,
    /// Retransmission timeout of a packet. It does not back off, and a connection never gives up.
    #[schemars(extend("x-default" = "7 x base_rtt: an idle round trip and 6 full queues of a bandwidth-delay product"))]
    #[serde(with = "Text::<Duration>")]
    pub timeout: Duration,
    /// Whether SACK also finds losses, for switches that do not trim (the authors' Sleek). A packet counts as lost when
    /// 1.5 windows of packets (5 or more) wait behind a gap. With NSCC, a probe asks for an acknowledgement after a
    /// pause: 3 x `base_rtt`, or `base_rtt` and `target_delay` if all data has been sent. Missing packets from before
    /// the probe count as lost, if its round trip shows less delay than the target.
    pub sack_recovery: bool,
    /// Interval of the probes of a retired entropy value, with `path_choice = "mrc"` (an assumption).
    #[serde(with = "Text::<Duration>")]
    pub probe_interval: Duration,
    /// Bytes of a credit (the authors: 4 of their packets).
    #[serde(with = "Text::<Bytes>")]
    pub credit_bytes: Bytes,
    /// Rate of a receiver's credits relative to its port.
    #[schemars(range(min = 0.01, max = 1.0))]
    pub credit_rate: f64,
}

impl Default for UetSettings {
    fn default() -> Self {
        Self {
            mtu: Bytes(4_086),
            header_bytes: Bytes(64),
            ack_bytes: Bytes(64),
            congestion: UetCongestion::Nscc,
            // 2 x 6 links of 1 us, 6 x 4,150 B and 6 x 64 B at 100 Gb/s.
            base_rtt: Duration::from_ns(14_023),
            target_delay: None,
            initial_window: None,
            paths: 64,
            path_choice: PathChoice::Mixed,
            acknowledge_bytes: Bytes(16_384),
            timeout: Duration::from_us(100),
            sack_recovery: false,
            probe_interval: Duration::from_us(100),
            credit_bytes: Bytes(16_384),
            credit_rate: 0.99,
        }
    }
}

/// State of a packet in flight: the sender's record and its place in the order of transmissions, 16 B each, and the
/// receiver's entry of 8 B, in rings with room for twice as many.
const PACKET_STATE_BYTES: u64 = 80;

impl UetSettings {
    /// Returns the default timeout. The authors' 15 us are about an idle round trip of their fabric, and each of 6
    /// queues holds up to a bandwidth-delay product.
    pub fn timeout_for(base_rtt: Duration) -> Duration {
        base_rtt * 7
    }

    pub(super) fn frame_bytes(&self, payload_bytes: u32) -> u32 {
        (payload_bytes + self.header_bytes.0 as u32).max(MINIMUM_FRAME_BYTES)
    }

    pub(super) fn full_frame_bytes(&self) -> u32 {
        self.frame_bytes(self.mtu.0 as u32)
    }

    /// Returns the maximum window in bytes: 1.5 products of rate and round-trip time.
    pub(super) fn window_max(&self, rate: BitRate, rtt: Duration) -> u64 {
        (rate.bytes_in(rtt).0 * 3 / 2).max(self.full_frame_bytes().into())
    }

    /// Estimates the bytes of a connection's state: a penalty of each path, and a window of packets at both ends.
    pub fn state_bytes(&self, rate: BitRate) -> u64 {
        let packets = self.window_max(rate, self.base_rtt) / u64::from(self.full_frame_bytes());
        u64::from(self.paths) + packets * PACKET_STATE_BYTES
    }

    pub(super) fn has_window(&self) -> bool {
        self.congestion != UetCongestion::Rccc
    }

    pub(super) fn has_credit(&self) -> bool {
        self.congestion != UetCongestion::Nscc
    }
}
