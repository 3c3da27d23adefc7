//! What AFQ takes of a switch.

use hitless_switch::{Half, RegisterUse, Resources};

use super::config::{AfqConfig, RoundSource, Scheduler};
use super::settings::UpdateRule;

pub(super) fn resources(config: &AfqConfig, ports: u64, rows: impl Iterator<Item = RegisterUse>) -> Resources {
    let mut resources = Resources::new("afq");
    // Where scheduler and pipeline share no state, ingress keeps `roundEstimate` and `lastAssigned` (section 4).
    match config.round {
        RoundSource::Shared => {
            resources.add_register(RegisterUse::outside::<u32>("round", Half::Ingress, 0, ports));
        }
        RoundSource::Occupancy { .. } => {
            resources.add_register(RegisterUse::outside::<u32>("roundEstimate", Half::Ingress, 0, ports));
            resources.add_register(RegisterUse::outside::<u32>("lastAssigned", Half::Ingress, 1, ports));
        }
    }
    if config.adaptive.is_some() {
        resources.add_register(RegisterUse::outside::<u64>("queues in use", Half::Ingress, 1, ports));
    }
    rows.for_each(|row| resources.add_register(row));
    let resources = resources
        .not_counting("a hash for each row, the minimum over the rows, and the division by the bytes of a round")
        .not_counting("the table of what a class is charged");
    let resources = match config.scheduler {
        Scheduler::RotatingStrictPriority { .. } => {
            resources.not_counting("a scheduler that rotates strict priorities: no switch of today has it (section 4)")
        }
        Scheduler::DeficitRoundRobin { .. } => resources,
        Scheduler::TwoGroups { .. } => resources.not_counting("writes of the switch's processor to the scheduler"),
    };
    match config.sketch.update {
        UpdateRule::Figure3 => resources.not_counting("the second access to each row that figure 3 needs"),
        UpdateRule::Increment | UpdateRule::PredicatedIncrement => resources,
    }
}
