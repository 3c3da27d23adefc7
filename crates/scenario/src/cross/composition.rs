//! Combined requirements of a switch's mechanisms: queues, hooks and room for headers.

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::Problem;
use hitless_core::wire::{PriorityMark, ShimStack};

use super::check::Check;
use crate::kind::{Entries, Entry, Header, Reach, Stage, Surroundings};
use crate::network::topology::SwitchId;

/// Maximum number of queues of a port.
const QUEUES_MAX: u16 = 64;
/// Maximum number of mechanisms of a switch; each needs a bit in the hooks of a port.
const MECHANISMS_MAX: usize = 8;

/// The mechanisms of a switch.
#[derive(Default)]
struct Runs {
    once: BTreeSet<&'static str>,
    by_entry: usize,
}

impl Check<'_> {
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

    /// Checks the number of queues of a port: those of the switch plus those of mechanisms. An entry that sets its
    /// number of queues in a field is checked on that field, together with all others.
    pub(super) fn queues_of_ports(&mut self) {
        let switch = &self.scenario.switch;
        let of_switch = switch.variants().map(|switch| u16::from(switch.queue_count())).max().unwrap_or(1);
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

/// Returns for each stage the entry with the most queues, if any asks for queues; only one mechanism of a stage works
/// at a port.
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

/// The name of [`PriorityMark`] in messages, for any writer.
pub const MARKS: &str = "the marks of hosts";

impl Check<'_> {
    /// Checks that all headers that can meet on a packet fit, at each port where it carries a header for one hop.
    pub(super) fn room_for_headers(&mut self, around: Surroundings<'_>) {
        let all: Vec<Header> = self.scenario.mechanisms.iter().flat_map(|entry| entry.headers(around, self)).collect();
        let everywhere = self.carried_everywhere(&all);
        let mut meetings = BTreeMap::<Vec<&'static str>, Vec<&Header>>::new();
        for own in &all {
            let Reach::OneHop(ports) = &own.reach else { continue };
            // Headers for everywhere are added below, and a packet carries only one header for one hop at a time.
            let meets = |header: &&Header| match &header.reach {
                Reach::Along(along) => ports.iter().any(|port| along.contains(port)),
                Reach::Everywhere | Reach::OneHop(_) => false,
            };
            let along = unique(all.iter().filter(meets));
            let together: Vec<&Header> = everywhere.iter().chain(along).chain([own]).collect();
            meetings.insert(together.iter().map(|header| header.of).collect(), together);
        }
        meetings.values().for_each(|headers| self.require_room_in_packet(headers));
    }

    /// Returns the headers that a packet carries from switch to switch.
    fn carried_everywhere(&self, all: &[Header]) -> Vec<Header> {
        let marks = self.scenario.marks_packets().then_some(Header::of::<PriorityMark>(MARKS, Reach::Everywhere));
        let of_mechanisms = all.iter().filter(|header| header.reach == Reach::Everywhere);
        unique(marks.iter().chain(of_mechanisms)).into_iter().cloned().collect()
    }

    fn require_room_in_packet(&mut self, headers: &[&Header]) {
        let bytes: usize = headers.iter().map(|it| it.bytes).sum();
        self.require_else(bytes <= ShimStack::CAPACITY_BYTES, || {
            let named: Vec<String> = headers.iter().map(|it| format!("{} ({} B)", it.of, it.bytes)).collect();
            let rule = format!(
                "a packet has room for {} B of headers, and {} would be {bytes} B together",
                ShimStack::CAPACITY_BYTES,
                named.join(", ")
            );
            Problem::new("mechanism", "", rule)
                .hint("leave one of them out, or give them links that have none in common")
        });
    }
}

/// Removes headers with a repeated name.
fn unique<'h>(headers: impl Iterator<Item = &'h Header>) -> Vec<&'h Header> {
    let mut found: Vec<&Header> = Vec::new();
    for header in headers {
        if found.iter().all(|known| known.of != header.of) {
            found.push(header);
        }
    }
    found
}
