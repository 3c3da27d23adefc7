//! Vertigo's parameters. Sections refer to the paper (Abdous et al., CoNEXT 2021).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Vertigo on ports of switches: their queues are sorted by the marks of the packets, smallest first, and packets that
/// a full queue refuses or evicts go to a neighbouring switch. Packets without a mark come first: without
/// `host.priority_tagger`, or ranks of flows, nothing is sorted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct VertigoSettings {
    /// Ports with sorted queues: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Name a
    /// port in a single entry.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Number of random ports that face switches; the one with the fewest bytes gets a victim (section 3.2: two).
    #[schemars(range(min = 1, max = 2))]
    pub candidates: u8,
    /// Whether a victim may return to the switch that it has come from, as in the authors' simulator.
    pub to_arrival_port: bool,
    /// Whether the report has a histogram of the ranks of all packets that arrive for each port.
    pub record_ranks: bool,
}

impl Default for VertigoSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), candidates: 2, to_arrival_port: true, record_ranks: false }
    }
}
