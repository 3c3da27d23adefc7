//! What mechanisms ask of a switch together.

use std::collections::{BTreeMap, BTreeSet};

use crate::network::switch::SchedulerKind;
use crate::network::topology::SwitchId;
use hitless_core::settings::Problem;

use super::check::Check;
use crate::kind::{Entries, Entry, Stage, Surroundings};

/// The most queues of a port.
const QUEUES_MAX: u16 = 64;
/// The most mechanisms of a switch, each of which has a bit in the hooks of a port.
const MECHANISMS_MAX: usize = 8;

/// What each switch runs.
#[derive(Default)]
struct Runs {
    once: BTreeSet<&'static str>,
    by_entry: usize,
}

impl Check<'_> {
    /// What a switch can run at once.
    pub(super) fn composition(&mut self, around: Surroundings<'_>) {
        let mut switches: BTreeMap<SwitchId, Runs> = BTreeMap::new();
        for entry in &self.scenario.mechanisms {
            for id in entry.switches(around.topology) {
                let runs = switches.entry(id).or_default();
                if entry.facts.entries == Entries::Each {
                    runs.by_entry += 1;
                } else {
                    runs.once.insert(entry.name());
                }
            }
        }
        let most = switches.into_iter().map(|(id, runs)| (runs.by_entry + runs.once.len(), id));
        let Some((count, id)) = most.max_by_key(|(count, _)| *count) else { return };
        self.require_else(count <= MECHANISMS_MAX, || {
            let name = &around.topology.switch(id).name;
            let rule = format!("{name} would run {count} mechanisms, and a switch runs {MECHANISMS_MAX} at most");
            Problem::new("mechanism", "", rule).hint("name several ports in one entry instead of giving each its own")
        });
    }

    /// What the ports have of queues: those of the switch, and those that mechanisms ask for. An entry that says itself
    /// how many it asks for is checked beside all others.
    pub(super) fn queues_of_ports(&mut self) {
        let switch = &self.scenario.switch;
        let of_switch = if switch.scheduler == SchedulerKind::Fifo { 1 } else { u16::from(switch.queues_per_port) };
        let others =
            queues_by_stage(self.scenario.mechanisms.iter().filter(|entry| entry.facts.queues_field.is_none()));
        let sum = others.iter().map(|(_, queues)| queues).sum::<u16>() + of_switch;
        let named: String = others.iter().map(|(title, queues)| format!(", {title} {queues}")).collect();
        self.require_else(sum <= QUEUES_MAX, || {
            let rule = format!("a port has {QUEUES_MAX} queues at most: the switch {of_switch}{named} are {sum}");
            Problem::new("switch.queues_per_port", switch.queues_per_port.to_string(), rule)
        });
        for (number, entry) in self.scenario.mechanisms.iter().enumerate() {
            let (Some(field), queues) = (entry.facts.queues_field, entry.queues()) else { continue };
            let sum = sum + queues;
            self.require_else(sum <= QUEUES_MAX, || {
                let title = entry.title();
                let rule = format!(
                    "a port has {QUEUES_MAX} queues at most: {title} {queues}, the switch {of_switch}{named} are {sum}"
                );
                Problem::new(format!("mechanism[{number}].{field}"), "", rule)
            });
        }
    }
}

/// Of each stage the one that asks for most queues, if it asks for any: one of a stage works at a port.
fn queues_by_stage<'e>(entries: impl Iterator<Item = &'e Entry>) -> Vec<(&'static str, u16)> {
    let mut most = BTreeMap::<Stage, (&'static str, u16)>::new();
    for entry in entries {
        let queues = entry.queues();
        let known = most.entry(entry.facts.stage).or_default();
        if queues > known.1 {
            *known = (entry.title(), queues);
        }
    }
    most.into_values().filter(|&(_, queues)| queues > 0).collect()
}
