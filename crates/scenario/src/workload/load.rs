//! Loads and the capacities that they are relative to.
//!
//! "50 % load" is ambiguous: in an oversubscribed fabric the same flows can be 2.5 times as much of the leaf-spine
//! links as of the host links.

use hitless_core::wire::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::Topology;

/// Capacity that a load is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadDenominator {
    /// The sum of the rates of the links of the sending hosts of this group.
    SourceHostLinks,
    /// The sum of the rates of all hosts' links.
    HostLinks,
    /// The sum of the rates, in one direction, of the links between two switches if at least one of them has hosts:
    /// leaf to spine.
    LeafSpineLinks,
}

impl LoadDenominator {
    /// Returns the capacity in bits per second; `senders` are the sending hosts of the group.
    pub fn capacity_bps(self, topology: &Topology, senders: &[HostId]) -> u64 {
        match self {
            LoadDenominator::SourceHostLinks => senders.iter().map(|&host| topology.host_rate(host).as_bps()).sum(),
            LoadDenominator::HostLinks => topology.host_capacity_bps(),
            LoadDenominator::LeafSpineLinks => topology.edge_uplink_capacity_bps(),
        }
    }
}

/// The offered load of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offer {
    /// Number of flows, or of messages on open connections.
    pub flows: f64,
    /// Number of flows that start independently of earlier ones, so that they can accumulate.
    pub open_flows: f64,
    /// Payload of the open flows, in bytes; 0 if unknown.
    pub bytes: f64,
    /// Duration of their starts, in seconds.
    pub seconds: f64,
}

impl Offer {
    /// Returns the rate in bits per second.
    pub fn rate_bps(&self) -> f64 {
        if self.seconds > 0.0 { 8.0 * self.bytes / self.seconds } else { 0.0 }
    }
}
