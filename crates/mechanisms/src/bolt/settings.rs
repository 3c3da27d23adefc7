//! Bolt's switch parameters. Sections refer to the paper (Arslan et al., NSDI 2023).

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bolt's switch on ports of switches: it tells senders of congestion at once, and lets packets request more if there
/// is spare bandwidth. For flows of TCP with `congestion = "bolt"`. A queue for notices goes first at a port. Defaults
/// follow the authors' published simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoltSettings {
    /// Ports with Bolt: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Name a port in a
    /// single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// CC_THRESH: length at which a queue is congested (the authors' experiments: 3 KB, two packets).
    #[serde(with = "Text::<Bytes>")]
    pub threshold: Bytes,
    /// Unused bandwidth that a packet needs to enlarge the window, one packet (algorithm 1: MTU).
    #[serde(with = "Text::<Bytes>")]
    pub segment: Bytes,
    /// Maximum unused bandwidth that is remembered, at least `segment` (algorithm 2; their simulator: 30 KB).
    #[serde(with = "Text::<Bytes>")]
    pub supply_max: Bytes,
    /// Maximum number of remembered packets of flows about to end (their simulator: 256).
    #[schemars(range(min = 0, max = 1000000))]
    pub ramp_up_max: u32,
    /// Frame length of a notice to a sender.
    #[serde(with = "Text::<Bytes>")]
    pub notice_bytes: Bytes,
}

impl Default for BoltSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            threshold: Bytes(62_000),
            segment: Bytes(1_518),
            supply_max: Bytes(30_000),
            ramp_up_max: 256,
            notice_bytes: Bytes(64),
        }
    }
}
