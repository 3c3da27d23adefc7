//! AFQ's use of a switch's resources.

use hitless_switch::{Half, RegisterUse, Resources};

use super::settings::{AfqRound, AfqScheduler, AfqSettings, UpdateRule};

pub(super) fn resources(settings: &AfqSettings, ports: u64, rows: impl Iterator<Item = RegisterUse>) -> Resources {
    let mut resources = Resources::new("afq");
    // If scheduler and pipeline share no state, ingress keeps `roundEstimate` and `lastAssigned` (section 4).
    match settings.round {
        AfqRound::Shared => {
            resources.add_register(RegisterUse::outside::<u32>("round", Half::Ingress, 0, ports));
        }
        AfqRound::FromOccupancy => {
            resources.add_register(RegisterUse::outside::<u32>("roundEstimate", Half::Ingress, 0, ports));
            resources.add_register(RegisterUse::outside::<u32>("lastAssigned", Half::Ingress, 1, ports));
        }
    }
    if settings.adaptive.is_some() {
        resources.add_register(RegisterUse::outside::<u64>("queues in use", Half::Ingress, 1, ports));
    }
    rows.for_each(|row| resources.add_register(row));
    let resources = resources
        .not_counting("a hash for each row, the minimum over the rows, and the division by the bytes of a round")
        .not_counting("the table of what a class is charged");
    let resources = match settings.scheduler {
        AfqScheduler::RotatingStrictPriority(_) => {
            resources.not_counting("a scheduler that rotates strict priorities: no switch of today has it (section 4)")
        }
        AfqScheduler::DeficitRoundRobin(_) => resources,
        AfqScheduler::TwoGroups(_) => resources.not_counting("writes of the switch's processor to the scheduler"),
    };
    match settings.sketch.update {
        UpdateRule::Figure3 => resources.not_counting("the second access to each row that figure 3 needs"),
        UpdateRule::Increment | UpdateRule::PredicatedIncrement => resources,
    }
}
