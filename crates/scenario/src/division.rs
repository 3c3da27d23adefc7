//! Whether a run can be divided into parts that run side by side.

use crate::Scenario;
use crate::flows::FlowPattern;

impl Scenario {
    /// Why a run of this scenario cannot be divided into parts; `None`: it can.
    ///
    /// Parts talk by packets only, which take a time from one to the other. What takes none cannot be divided.
    pub fn undivided_because(&self) -> Option<&'static str> {
        if self.measure.order {
            return Some("the order of packets is measured, which compares what is sent with what arrives elsewhere");
        }
        if self.mechanisms.iter().any(|entry| entry.facts.shares_state) {
            return Some("a mechanism shares more between switches than packets tell");
        }
        self.flows.iter().find_map(|group| match &group.pattern {
            FlowPattern::Sequence(_) => Some("flows of a sequence start when others end elsewhere"),
            FlowPattern::Poisson(flows) if flows.connections.is_some() => Some("flows share open connections"),
            pattern if pattern.request().is_some() => Some("flows answer requests"),
            _ => None,
        })
    }
}
