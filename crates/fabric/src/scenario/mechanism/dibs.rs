//! DIBS's parameters. Sections are those of the paper (Zarifis et al., EuroSys 2014).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::topology::select::{SwitchPort, select_ports_by_switch};
use crate::topology::{SwitchId, Topology};

/// DIBS on ports of switches: a packet whose queue is full goes to a random neighbouring switch whose port has room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DibsSettings {
    /// The ports that are relieved when their queue is full: "sw2->sw6" is the one that sends on this link, "sw2" all
    /// ports of a switch. A port is named by one entry only.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Whether a packet may go back to the switch that it has just come from (section 2).
    pub to_arrival_port: bool,
    /// Whether a packet may go to a port that is full as well, whose queue then drops it: naive deflection, with which DIBS is
    /// compared (Practical Packet Deflection, section 2).
    pub to_full_ports: bool,
}

impl Default for DibsSettings {
    fn default() -> Self {
        Self { ports: Vec::new(), to_arrival_port: true, to_full_ports: false }
    }
}

impl DibsSettings {
    /// The relieved ports whose names mean something, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }
}
