//! Parameters of packet trimming. Sections refer to NDP (Handley et al., SIGCOMM 2017).

use hitless_core::settings::quantity::{QueueLength, Text};
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packet trimming on ports of switches: a data packet of TCP, RoCE or UET with a full queue is cut to its header,
/// which goes to the receiver ahead of the data. The receiver tells the sender at once what is missing, and the sender
/// retransmits it. Packets of other transports are dropped as without trimming.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TrimmingSettings {
    /// Ports that cut refused packets: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch.
    /// Name a port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Length of a trimmed frame. NDP and CP use 64 bytes; with timestamps the headers of TCP, IP and Ethernet and the
    /// check sequence are 70 bytes long.
    #[serde(with = "Text::<Bytes>")]
    pub trimmed_frame: Bytes,
    /// Limit of the queue of the headers at each port. A header that finds it full is dropped.
    #[serde(with = "Text::<QueueLength>")]
    pub queue: QueueLength,
    /// Number of headers that may leave for each full frame of data while both wait (section 3.1: 10, so that headers
    /// do not starve the data). 0: headers always go first. Senders that repeat a window for each header, such as RoCE
    /// with go-back-N, can then fill the line with headers for ever.
    #[schemars(range(max = 1000))]
    pub headers_per_packet: u32,
    /// Whether packets without data, such as acknowledgements, use the queue of the headers too (section 3.1).
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
