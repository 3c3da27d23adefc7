//! Parameters of a constant-rate flow.

use std::fmt;

use hitless_wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_wire::{BitRate, Duration, Ecn};

/// Parameters of a constant-rate flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpConfig {
    /// Rate on the wire: frames with [`Self::wire_overhead_bytes`] each.
    pub rate: BitRate,
    /// Length of a frame with its check sequence.
    pub frame_bytes: u32,
    /// What a frame costs on the link beyond itself; must be the link's for [`Self::rate`] to mean what it says.
    pub wire_overhead_bytes: u32,
    /// What a frame has beyond the payload: Ethernet 14, IPv4 20, UDP 8, frame check sequence 4.
    pub header_bytes: u32,
    /// How long after the last datagram was sent the sink waits for late ones.
    pub linger: Duration,
    /// ECN field of the datagrams.
    pub ecn: Ecn,
}

impl UdpConfig {
    /// Full-size frames at `rate` on Ethernet.
    pub const fn at_rate(rate: BitRate) -> Self {
        Self {
            rate,
            frame_bytes: MTU_FRAME_BYTES,
            wire_overhead_bytes: ETHERNET_OVERHEAD_BYTES,
            header_bytes: 46,
            linger: Duration::from_ms(1),
            ecn: Ecn::NotCapable,
        }
    }

    /// Payload of a full datagram.
    pub const fn payload_bytes(&self) -> u32 {
        self.frame_bytes.saturating_sub(self.header_bytes)
    }

    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// The rule that they break.
    pub fn check(&self) -> Result<(), UdpConfigError> {
        if self.payload_bytes() == 0 { Err(UdpConfigError::NoPayload) } else { Ok(()) }
    }
}

/// Why a [`UdpConfig`] cannot work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpConfigError {
    /// The frame has no room beyond its headers.
    NoPayload,
}

impl fmt::Display for UdpConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("frame_bytes must be larger than header_bytes: a datagram needs payload")
    }
}

impl std::error::Error for UdpConfigError {}
