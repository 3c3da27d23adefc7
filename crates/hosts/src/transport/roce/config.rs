//! Parameters of both ends of a reliable connection.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MINIMUM_FRAME_BYTES};
use hitless_wire::{Duration, Ecn};

use super::dcqcn::DcqcnConfig;

/// What becomes of packets that come after one that was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoceRecovery {
    /// They are thrown away, and retransmitted with it (InfiniBand, volume 1, section 9.7).
    #[default]
    GoBackN,
    /// They are kept, and only what is missing is retransmitted: as ConnectX-6 and later cards do, in the way of IRN
    /// (Mittal et al., SIGCOMM 2018), since that of the cards is not published.
    SelectiveRepeat,
}

/// Parameters of a reliable connection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoceConfig {
    /// Path MTU: the payload of a full packet. InfiniBand knows 256, 512, 1024, 2048 and 4096 bytes.
    pub payload_bytes: u32,
    /// What a data packet's frame has beyond its payload. The default, 78, is Ethernet 14, IPv4 20, UDP 8, base
    /// transport header 12, RDMA extended header 16, invariant CRC 4, frame check sequence 4. Only the first packet
    /// of a message has the extended header; counting it for all makes a 1,024-byte packet 1.5% too long.
    pub header_bytes: u32,
    /// The frame of an acknowledgement: as above with an acknowledgement header (4) for the extended one.
    pub acknowledgement_frame_bytes: u32,
    /// Packets that may be sent beyond the first unacknowledged one.
    pub window_packets: u32,
    /// The responder acknowledges the last packet of a message, and otherwise every so many packets.
    pub acknowledge_every_packets: u32,
    /// Time without progress after which the requester goes back. Cards take 4.096 us x 2^n
    /// ([`Self::infiniband_timeout`]); about a millisecond was measured on a ConnectX-5 (LinkGuardian, section 4).
    pub timeout: Duration,
    /// Timeouts in a row without progress before the connection fails; verbs allow up to 7.
    pub retry_limit: u32,
    /// What becomes of packets that come after one that was lost.
    pub recovery: RoceRecovery,
    /// Congestion control; data packets are ECN-capable with it. `None`: line rate, and marks mean nothing.
    pub dcqcn: Option<DcqcnConfig>,
    /// The frame of a congestion notification: as a data packet's, with 16 reserved bytes for the extended header
    /// (InfiniBand, annex A17) and no payload.
    pub notification_frame_bytes: u32,
    /// What a frame costs on the link beyond itself: counted by the rate that DCQCN sets.
    pub wire_overhead_bytes: u32,
}

impl Default for RoceConfig {
    fn default() -> Self {
        Self {
            payload_bytes: 1_024,
            header_bytes: 78,
            acknowledgement_frame_bytes: 66,
            window_packets: 512,
            acknowledge_every_packets: 16,
            timeout: Duration::from_ms(1),
            retry_limit: 7,
            recovery: RoceRecovery::GoBackN,
            dcqcn: None,
            notification_frame_bytes: 78,
            wire_overhead_bytes: ETHERNET_OVERHEAD_BYTES,
        }
    }
}

impl RoceConfig {
    /// The timeout that a card derives from the five-bit local ACK timeout: 4.096 us x 2^`exponent` (specification,
    /// section 9.7.6.1.3). `None` for 0, which means no timeout, and above 31.
    pub const fn infiniband_timeout(exponent: u8) -> Option<Duration> {
        if exponent == 0 || exponent > 31 { None } else { Some(Duration::from_ps(4_096_000 << exponent)) }
    }

    /// Whether the parameters make a connection that can work.
    ///
    /// # Errors
    /// The first rule that they break.
    pub fn check(&self) -> Result<(), RoceConfigError> {
        if self.payload_bytes == 0 {
            return Err(RoceConfigError::NoPayload);
        }
        // Otherwise a full window could wait for ever for an acknowledgement that is not due.
        if self.acknowledge_every_packets == 0 || self.acknowledge_every_packets > self.window_packets {
            return Err(RoceConfigError::AcknowledgementsTooRare);
        }
        if self.timeout == Duration::ZERO {
            return Err(RoceConfigError::NoTimeout);
        }
        if self
            .dcqcn
            .is_some_and(|dcqcn| dcqcn.rate_timer.min(dcqcn.alpha_timer) == Duration::ZERO || dcqcn.byte_counter == 0)
        {
            return Err(RoceConfigError::NoDcqcnTimer);
        }
        Ok(())
    }

    /// ECN field of data packets.
    pub(super) fn ecn(&self) -> Ecn {
        if self.dcqcn.is_some() { Ecn::Capable } else { Ecn::NotCapable }
    }

    /// Length of the frame of a data packet.
    pub(super) fn frame_bytes(&self, payload_bytes: u32) -> u32 {
        (payload_bytes + self.header_bytes).max(MINIMUM_FRAME_BYTES)
    }
}

/// Why a [`RoceConfig`] cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoceConfigError {
    /// `payload_bytes` is 0.
    NoPayload,
    /// `acknowledge_every_packets` is 0 or above `window_packets`.
    AcknowledgementsTooRare,
    /// `timeout` is 0.
    NoTimeout,
    /// A timer or the byte counter of DCQCN is 0.
    NoDcqcnTimer,
}

impl fmt::Display for RoceConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            RoceConfigError::NoPayload => "payload_bytes is 0: must be the path MTU, for example 1024",
            RoceConfigError::AcknowledgementsTooRare => {
                "acknowledge_every_packets must be between 1 and window_packets, or a full window stalls"
            }
            RoceConfigError::NoTimeout => "timeout is 0: must be positive, for example 1 ms",
            RoceConfigError::NoDcqcnTimer => "rate_timer, alpha_timer and byte_counter of dcqcn must be positive",
        })
    }
}

impl std::error::Error for RoceConfigError {}
