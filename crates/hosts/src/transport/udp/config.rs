//! Parameters of a constant-rate flow.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long after the last datagram was sent the sink waits for late ones.
pub const LINGER: Duration = Duration::from_ms(1);

/// Parameters of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
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
    /// What a frame costs on the link beyond itself. The link says it, no file.
    #[serde(skip, default = "ethernet_overhead")]
    pub wire_overhead_bytes: u32,
}

fn full_frame() -> Bytes {
    Bytes(MTU_FRAME_BYTES.into())
}

fn udp_headers() -> Bytes {
    Bytes(46)
}

fn ethernet_overhead() -> u32 {
    ETHERNET_OVERHEAD_BYTES
}

impl UdpSettings {
    /// Full-size frames at `rate` on Ethernet.
    pub fn at_rate(rate: BitRate) -> Self {
        let (frame_bytes, header_bytes) = (full_frame(), udp_headers());
        Self { rate, frame_bytes, header_bytes, wire_overhead_bytes: ethernet_overhead() }
    }

    /// Payload of a full datagram.
    pub const fn payload_bytes(&self) -> u32 {
        self.frame_bytes.0.saturating_sub(self.header_bytes.0) as u32
    }
}
