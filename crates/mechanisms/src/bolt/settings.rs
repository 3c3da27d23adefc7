//! Bolt's switch parameters. Sections are those of the paper (Arslan et al., NSDI 2023).

use hitless_core::settings::quantity::Text;
use hitless_core::wire::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bolt's switch on ports of switches: it tells senders of congestion at once, and lets packets ask for more where
/// there is bandwidth to spare. For flows of TCP with `congestion = "bolt"`. At a port a queue for notices goes first.
/// Defaults are those of the simulator that the authors published.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BoltSettings {
    /// The ports whose packets are looked at: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a
    /// switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// A queue of so much is congested, CC_THRESH (the authors' experiments: 3 KB, two packets).
    #[serde(with = "Text::<Bytes>")]
    pub threshold: Bytes,
    /// What a packet that asks for a larger window must find unused, one packet (algorithm 1: MTU).
    #[serde(with = "Text::<Bytes>")]
    pub segment: Bytes,
    /// What of unused bandwidth is remembered at most, at least `segment` (algorithm 2; their simulator: 30 KB).
    #[serde(with = "Text::<Bytes>")]
    pub supply_max: Bytes,
    /// How many packets of flows about to end are remembered at most (their simulator: 256).
    #[schemars(range(min = 0, max = 1000000))]
    pub ramp_up_max: u32,
    /// Length of the frame of a notice to a sender.
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
