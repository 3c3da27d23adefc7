//! `[[switch.ports]]`: ports that differ from the others.

use hitless_core::settings::quantity::{Optional, QueueLength};
use hitless_core::wire::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queues::EcnSettings;
use crate::network::topology::{Port, SwitchId, Topology};

/// Ports that differ from the others. Where several entries name a port, the last that says something counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PortSettings {
    /// Switches that they belong to, by name; empty: every switch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Rate of the link that they send on; left out: any.
    #[serde(with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// What may wait there, where `switch.buffer` is "static"; left out: as `switch.buffer` says.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub buffer: Option<QueueLength>,
    /// Marking of congestion; left out: as `switch.ecn` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn: Option<EcnSettings>,
}

impl PortSettings {
    /// Whether they hold for `port` of `switch`.
    pub fn apply_to(&self, topology: &Topology, switch: SwitchId, port: &Port) -> bool {
        let name = &topology.switch(switch).name;
        let of_switch = self.switches.is_empty() || self.switches.contains(name);
        let rate = topology.link(port.link.link).settings.rate;
        of_switch && self.rate.is_none_or(|wanted| wanted == rate)
    }
}
