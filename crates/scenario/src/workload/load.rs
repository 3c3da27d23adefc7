//! What a load is a fraction *of*.
//!
//! "50 % load" means little without it: the same flows are 2.5 times as much of the leaf-spine links of an
//! oversubscribed fabric as of its host links.

use crate::network::topology::Topology;
use hitless_core::wire::HostId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
