//! The parameters of packet trimming. Sections are those of NDP (Handley et al., SIGCOMM 2017).

use hitless_core::settings::quantity::{QueueLength, Text};
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packet trimming on ports of switches: a packet of TCP data whose queue is full is cut to its header, which goes to
/// the receiver ahead of the data; the receiver tells the sender at once what is missing, and it is retransmitted.
/// Packets of other transports are dropped as without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrimmingSettings {
    /// The ports whose refused packets are cut: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a
    /// switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// What is left of a frame. NDP and CP say 64 bytes; with timestamps TCP's header, with those of IP and Ethernet
    /// and the check sequence, is 70 bytes long.
    #[serde(with = "Text::<Bytes>")]
    pub trimmed_frame: Bytes,
    /// What the queue of the headers may hold at each port. A header that finds it full is dropped.
    #[serde(with = "Text::<QueueLength>")]
    pub queue: QueueLength,
    /// How many headers may leave for each full frame of data while both wait (section 3.1: 10, so that headers do not
    /// starve the data); 0: headers always go first.
    #[schemars(range(max = 1000))]
    pub headers_per_packet: u32,
    /// Whether packets that carry no data, as acknowledgements, go by the queue of the headers too (section 3.1).
    pub control_too: bool,
}

impl Default for TrimmingSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            trimmed_frame: Bytes(70),
            queue: QueueLength::Bytes(Bytes(64_000)),
            headers_per_packet: 10,
            control_too: true,
        }
    }
}
