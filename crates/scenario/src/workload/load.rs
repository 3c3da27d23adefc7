//! What a load is a fraction *of*.
//!
//! "50 % load" means little without it: the same flows are 2.5 times as much of the leaf-spine links of an
//! oversubscribed fabric as of its host links.

use hitless_core::wire::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::Topology;

/// The capacity that a load is a fraction of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LoadDenominator {
    /// The sum of the rates of the links of the sending hosts of this group.
    SourceHostLinks,
    /// The sum of the rates of all hosts' links.
    HostLinks,
    /// The sum of the rates, one way, of the links between switches of which at least one has hosts: leaf to spine.
    LeafSpineLinks,
}

impl LoadDenominator {
    /// That capacity in bits per second; `senders` are the hosts that send in the group.
    pub fn capacity_bps(self, topology: &Topology, senders: &[HostId]) -> u64 {
        match self {
            LoadDenominator::SourceHostLinks => senders.iter().map(|&host| topology.host_rate(host).as_bps()).sum(),
            LoadDenominator::HostLinks => topology.host_capacity_bps(),
            LoadDenominator::LeafSpineLinks => topology.edge_uplink_capacity_bps(),
        }
    }
}

/// Flows of a group, and what they send.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Offer {
    /// How many flows, or messages on open connections.
    pub flows: f64,
    /// How many of them start whether those before are done or not, so that they pile up where they are too many.
    pub open_flows: f64,
    /// Payload of the open ones, in bytes; nothing where it is not known.
    pub bytes: f64,
    /// The seconds in which they start.
    pub seconds: f64,
}

impl Offer {
    /// Bits in a second.
    pub fn rate_bps(&self) -> f64 {
        if self.seconds > 0.0 { 8.0 * self.bytes / self.seconds } else { 0.0 }
    }
}
