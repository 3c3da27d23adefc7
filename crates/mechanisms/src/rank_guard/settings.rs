//! Parameters of the guard against hosts that lie about their priority.

use std::collections::BTreeMap;

use hitless_core::settings::quantity::Text;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A guard at the edge against hosts that lie about their priority: for each flow it counts sent and promised bytes.
/// The rest of the promise is the minimum rank of a packet; for a flow that has sent more than it promised, the minimum
/// is the sent bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankGuardSettings {
    /// Ports through which hosts send: "leaf0->h3" is the port of a single host, "leaf0" all ports of a switch.
    #[schemars(extend("x-default" = "all ports that face hosts"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Slots of a switch's table of flows, which flows share by their hash. A flow with a hash collision passes
    /// unguarded.
    #[schemars(range(min = 1, max = 16_777_216))]
    pub slots: u32,
    /// Maximum excess over a flow's promise, as a share of it: headers and retransmissions.
    #[schemars(range(min = 0.0, max = 10.0))]
    pub tolerance: f64,
    /// Additional excess in bytes. The same number of bytes of a flow may claim to be urgent as retransmissions.
    #[serde(with = "Text::<Bytes>")]
    pub allowance: Bytes,
    /// Maximum length of frames that pass unchecked: acknowledgements.
    #[serde(with = "Text::<Bytes>")]
    pub exempt: Bytes,
    /// Silence after which a flow is forgotten.
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
    /// The existing ports among `ports` that face hosts, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        let mut by_switch = select_ports_by_switch(topology, &self.ports);
        let faces_host = |at: &SwitchPort| !topology.switch(at.switch).ports[usize::from(at.port.0)].faces_switch();
        by_switch.values_mut().for_each(|ports| ports.retain(faces_host));
        by_switch.retain(|_, ports| !ports.is_empty());
        by_switch
    }
}
