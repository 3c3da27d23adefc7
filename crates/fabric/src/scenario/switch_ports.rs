//! `[[switch.ports]]`: ports that differ from the others.

use hitless_wire::BitRate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Optional, QueueLength};
use super::{BufferSettings, EcnSettings, FlowQueueingSettings, StaticBuffer, SwitchSettings};
use crate::topology::{Port, SwitchId, Topology};

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
    pub(crate) fn apply_to(&self, topology: &Topology, switch: SwitchId, port: &Port) -> bool {
        let name = &topology.switch(switch).name;
        let of_switch = self.switches.is_empty() || self.switches.contains(name);
        let rate = topology.link(port.link.link).settings.rate;
        of_switch && self.rate.is_none_or(|wanted| wanted == rate)
    }
}

impl SwitchSettings {
    /// Whether any port marks.
    pub(crate) fn marks_somewhere(&self) -> bool {
        let by_flow = self.flow_queueing.as_ref().is_some_and(FlowQueueingSettings::marks);
        by_flow || self.ecn.is_some() || self.ports.iter().any(|entry| entry.ecn.is_some())
    }

    /// The settings as they are for `port` of `switch`.
    pub(crate) fn of_port(&self, topology: &Topology, switch: SwitchId, port: &Port) -> SwitchSettings {
        let mut settings = self.clone();
        for entry in self.ports.iter().filter(|entry| entry.apply_to(topology, switch, port)) {
            settings.ecn = entry.ecn.or(settings.ecn);
            if let Some(per_port) = entry.buffer {
                settings.buffer = BufferSettings::Static(StaticBuffer { per_port });
            }
        }
        settings
    }
}
