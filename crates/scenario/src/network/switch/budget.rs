//! `[switch.budget]`: resources of a pipeline for mechanisms.

use hitless_core::settings::quantity::Text;
use hitless_core::wire::BitRate;
use hitless_switch::Budget;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Resources of a switch pipeline for mechanisms; of their tables only registers are counted. The defaults are those of
/// the first Tofino.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BudgetSettings {
    /// Number of stages, shared by ingress and egress.
    #[schemars(range(min = 1, max = 1000))]
    pub stages: u32,
    /// Stateful arithmetic units of a stage: the number of register arrays that it can access.
    #[schemars(range(min = 1, max = 1000))]
    pub stateful_alus_per_stage: u32,
    /// Blocks of static memory per stage for registers, of 16 KiB each.
    #[schemars(range(min = 1, max = 100_000))]
    pub sram_blocks_per_stage: u32,
    /// Queues of a port.
    #[schemars(range(min = 1, max = 1000))]
    pub queues_per_port: u32,
    /// Mirror sessions: pairs of port and queue as targets of copies.
    #[schemars(range(min = 1, max = 100_000))]
    pub mirror_sessions: u32,
    /// Total bandwidth of recirculation ports that mechanisms can occupy.
    #[serde(with = "Text::<BitRate>")]
    pub recirculation: BitRate,
}

impl Default for BudgetSettings {
    fn default() -> Self {
        Budget::tofino_like().into()
    }
}

impl From<Budget> for BudgetSettings {
    fn from(budget: Budget) -> Self {
        let Budget { stages, stateful_alus_per_stage, queues_per_port, mirror_sessions, recirculation, .. } = budget;
        let sram_blocks_per_stage = budget.register_blocks_per_stage;
        Self { stages, stateful_alus_per_stage, sram_blocks_per_stage, queues_per_port, mirror_sessions, recirculation }
    }
}

impl From<BudgetSettings> for Budget {
    fn from(settings: BudgetSettings) -> Self {
        let BudgetSettings { stages, stateful_alus_per_stage, queues_per_port, mirror_sessions, recirculation, .. } =
            settings;
        let register_blocks_per_stage = settings.sram_blocks_per_stage;
        Self {
            stages,
            stateful_alus_per_stage,
            register_blocks_per_stage,
            queues_per_port,
            mirror_sessions,
            recirculation,
        }
    }
}
