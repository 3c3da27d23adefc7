//! Whether what a switch has is enough.

use hitless_core::wire::BitRate;

use super::budget::Budget;
use super::footprint::Footprint;

impl Budget {
    /// Each thing that is limited, and how much of it there is. `recirculation_rate` is that of a recirculation port.
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

/// Something that is limited.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    /// What it is.
    pub what: &'static str,
    /// How much of it mechanisms need.
    pub needed_by: fn(&Footprint) -> u64,
    /// How much there is.
    pub available: u64,
}
