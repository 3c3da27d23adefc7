//! The limits of a switch, for comparison with required resources.

use hitless_core::wire::BitRate;

use super::budget::Budget;
use super::footprint::Footprint;

impl Budget {
    /// Returns each limited resource and its available amount. `recirculation_rate` is the rate of a recirculation
    /// port.
    pub fn limits(&self, recirculation_rate: BitRate) -> [Limit; 8] {
        let stages = u64::from(self.stages);
        let limit = |what, needed_by, available| Limit { what, needed_by, available };
        [
            limit("stages of ingress", |footprint| footprint.stages[0].into(), stages),
            limit("stages of egress", |footprint| footprint.stages[1].into(), stages),
            limit(
                "stateful ALUs",
                |footprint| footprint.stateful_alus,
                stages * u64::from(self.stateful_alus_per_stage),
            ),
            limit("SRAM blocks", |footprint| footprint.blocks, stages * u64::from(self.register_blocks_per_stage)),
            limit(
                "SRAM blocks in one stage, where a register array must be as a whole",
                |footprint| footprint.blocks_of_largest,
                self.register_blocks_per_stage.into(),
            ),
            limit("queues at a port", |footprint| footprint.queues, self.queues_per_port.into()),
            limit("mirror sessions", |footprint| footprint.mirror_sessions, self.mirror_sessions.into()),
            limit(
                "busy recirculation ports",
                |footprint| footprint.recirculation_ports,
                self.recirculation.as_bps() / recirculation_rate.as_bps(),
            ),
        ]
    }
}

/// A limited resource.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// Name of the resource.
    pub what: &'static str,
    /// Amount that mechanisms need.
    pub needed_by: fn(&Footprint) -> u64,
    /// Amount that the switch has.
    pub available: u64,
}
