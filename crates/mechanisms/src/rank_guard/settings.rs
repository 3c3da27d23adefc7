//! Parameters of the guard against hosts that lie about their priority.

use std::collections::BTreeMap;

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A guard at the edge against hosts that lie about their priority: by flow it counts what was sent and what was
/// promised. A packet claims at least what is left of the promise, and of a flow that has sent more than it promised,
/// what it has sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankGuardSettings {
    /// The ports by which packets of hosts come in: "leaf0->h3" is that of one host, "leaf0" all of a switch.
    #[schemars(extend("x-default" = "all ports that face hosts"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Slots of a switch's table of flows, which flows share by their hash. Who finds its slot taken passes unguarded.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub slots: u32,
    /// The part of its promise by which a flow may exceed it: headers and retransmissions.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub tolerance: f64,
    /// And so many bytes. So many bytes of a flow may also claim to be urgent as retransmissions.
    #[serde(with = "Text::<Bytes>")]
    pub allowance: Bytes,
    /// Frames up to this length are let through: acknowledgements.
    #[serde(with = "Text::<Bytes>")]
    pub exempt: Bytes,
    /// A flow that is silent so long is forgotten.
    #[serde(with = "Text::<Duration>")]
    pub idle: Duration,
}

impl Default for RankGuardSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            slots: 65_536,
            tolerance: 0.125,
            allowance: Bytes(15_000),
            exempt: Bytes(128),
            idle: Duration::from_us(10_000),
        }
    }
}

impl RankGuardSettings {
    /// The guarded ports whose names mean something, in order, by switch: those that face hosts.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        let mut by_switch = select_ports_by_switch(topology, &self.ports);
        let faces_host = |at: &SwitchPort| !topology.switch(at.switch).ports[usize::from(at.port.0)].faces_switch();
        by_switch.values_mut().for_each(|ports| ports.retain(faces_host));
        by_switch.retain(|_, ports| !ports.is_empty());
        by_switch
    }
}
