//! Settings of both ends of a reliable connection.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MINIMUM_FRAME_BYTES};
use hitless_core::wire::{Bytes, Duration, Ecn};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dcqcn::{DcqcnChoice, DcqcnSettings};

/// Treatment of packets that arrive after a lost one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value,
)]
#[serde(rename_all = "kebab-case")]
pub enum RoceRecovery {
    /// They are discarded and retransmitted with it (InfiniBand, volume 1, section 9.7).
    #[default]
    GoBackN,
    /// They are kept, and only missing packets are retransmitted, like ConnectX-6 and later cards. The cards' method is
    /// not published; this is the method of IRN (Mittal et al., SIGCOMM 2018).
    SelectiveRepeat,
}

/// Additional length of a congestion notification over an acknowledgement: 16 reserved bytes (InfiniBand, annex A17)
/// instead of the 4 bytes of the ACK header.
const NOTIFICATION_BYTES_MORE: u32 = 12;

/// Settings of RoCEv2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields, default)]
pub struct RoceSettings {
    /// Payload of a packet: the path MTU of InfiniBand, 256 B to 4 KiB.
    #[serde(with = "Text::<Bytes>")]
    pub mtu: Bytes,
    /// Header bytes of a frame: Ethernet 18, IPv4 20, UDP 8, base transport header 12, RDMA extended header 16 (counted
    /// for every packet, although only the first of a message has it), invariant CRC 4.
    #[serde(with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Frame length of an acknowledgement (with 4 bytes of ACK header).
    #[serde(with = "Text::<Bytes>")]
    pub ack_bytes: Bytes,
    /// Maximum number of packets sent beyond the first unacknowledged one.
    #[schemars(range(min = 1, max = 8388607))]
    pub window: u32,
    /// Number of packets per acknowledgement; at most `window`. The last packet of a message is always acknowledged.
    #[schemars(range(min = 1, max = 65535))]
    pub acknowledge_every: u32,
    /// Retransmission timeout of the NIC (LinkGuardian's testbed: about 1 ms).
    #[serde(with = "Text::<Duration>")]
    pub timeout: Duration,
    /// Number of consecutive timeouts after which the connection gives up.
    #[schemars(range(min = 1, max = 255))]
    pub retries: u32,
    /// Treatment of packets that arrive after a lost one.
    pub recovery: RoceRecovery,
    /// DCQCN (Zhu et al., SIGCOMM 2015): marked packets cause notifications, which set the rate. Needs switches that
    /// mark, usually at random. `{}` uses the paper's parameters, "vendor" those of deployed cards, and `{ preset =
    /// "vendor", minimum_rate = "100 Mbps" }` the latter with one change. By default packets are sent at line rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "DcqcnChoice")]
    pub dcqcn: Option<DcqcnSettings>,
    /// Overhead of a frame on the link, which counts towards DCQCN's rate. It comes from the link, not from the file.
    #[serde(skip)]
    pub wire_overhead_bytes: u32,
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
            wire_overhead_bytes: ETHERNET_OVERHEAD_BYTES,
        }
    }
}

impl RoceSettings {
    pub(super) fn ecn(&self) -> Ecn {
        if self.dcqcn.is_some() { Ecn::Capable } else { Ecn::NotCapable }
    }

    pub(super) fn notification_frame_bytes(&self) -> u32 {
        self.ack_bytes.0 as u32 + NOTIFICATION_BYTES_MORE
    }

    pub(super) fn frame_bytes(&self, payload_bytes: u32) -> u32 {
        (payload_bytes + self.header_bytes.0 as u32).max(MINIMUM_FRAME_BYTES)
    }
}
