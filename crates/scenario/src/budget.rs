//! Whether the switches have what their mechanisms take of them (`checked = true`).

use hitless_core::settings::Problem;

use crate::Scenario;
use crate::resources::{Shortage, SwitchResources, survey};

const HINT: &str = "hitless scenario resources FILE shows all of it. Leave out a mechanism, make its tables \
                    smaller, or \
    give switch.budget what your switch has";

/// A problem for each kind of switch and each thing of which there is not enough. The scenario is sound otherwise.
pub(super) fn check(scenario: &Scenario) -> Vec<Problem> {
    match survey(scenario) {
        Ok(switches) => switches.iter().flat_map(problems).collect(),
        // What a file of flows says is found out when the run is built.
        Err(_) => Vec::new(),
    }
}

fn problems(switch: &SwitchResources) -> impl Iterator<Item = Problem> + '_ {
    switch.shortages.iter().map(|shortage| Problem::new("switch.checked", "", sentence(switch, shortage)).hint(HINT))
}

fn sentence(switch: &SwitchResources, shortage: &Shortage) -> String {
    let name = &switch.switches[0];
    let others = switch.switches.len() - 1;
    let also = if others > 0 { format!(" (and {others} more like it)") } else { String::new() };
    let each = shortage.taken.iter().filter(|(_, amount)| *amount > 0);
    let each: Vec<String> = each.map(|(mechanism, amount)| format!("{mechanism} {amount}")).collect();
    let Shortage { what, needed, available, .. } = shortage;
    let of = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!("the mechanisms of {name}{also} take {needed} {what}{of}, and the switch has {available}")
}
