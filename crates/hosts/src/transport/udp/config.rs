//! Settings of a constant-rate flow.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::packet::{ETHERNET_OVERHEAD_BYTES, MTU_FRAME_BYTES};
use hitless_core::wire::{BitRate, Bytes, Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings of UDP.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema, hitless_core::state::Value)]
#[serde(deny_unknown_fields)]
pub struct UdpSettings {
    /// Rate on the wire, including preamble and gap: the link's rate fills the link exactly.
    #[serde(with = "Text::<BitRate>")]
    pub rate: BitRate,
    /// Frame length, including the check sequence.
    #[serde(default = "full_frame", with = "Text::<Bytes>")]
    pub frame_bytes: Bytes,
    /// Header bytes of a frame: Ethernet 18, IPv4 20, UDP 8.
    #[serde(default = "udp_headers", with = "Text::<Bytes>")]
    pub header_bytes: Bytes,
    /// Time for which the receiver waits for late datagrams after the sender has sent its last one. Later datagrams
    /// count as dropped ("arrived after the end of the flow").
    #[schemars(extend("x-default" = "1 ms, 32 times the longest cable, or the time of four full queues of a port with \
        a static buffer: the longest"))]
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub linger: Option<Duration>,
    /// Overhead of a frame on the link. It comes from the link, not from the file.
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
    /// Minimum of the default of `linger`.
    pub const LINGER_MIN: Duration = Duration::from_ms(1);

    /// Creates full-size frames at `rate` on Ethernet.
    pub fn at_rate(rate: BitRate) -> Self {
        let (frame_bytes, header_bytes) = (full_frame(), udp_headers());
        Self { rate, frame_bytes, header_bytes, linger: None, wire_overhead_bytes: ethernet_overhead() }
    }

    pub const fn payload_bytes(&self) -> u32 {
        self.frame_bytes.0.saturating_sub(self.header_bytes.0) as u32
    }
}
