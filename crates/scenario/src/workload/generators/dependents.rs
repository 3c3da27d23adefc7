//! Flows of lists that start when other flows of their list have ended.

use std::collections::BTreeMap;

use hitless_core::wire::{Duration, Time};

use crate::workload::FlowSpec;

/// A flow that waits for others of its group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependent {
    /// The flow; its start follows from the run.
    pub flow: FlowSpec,
    /// Time from the end of the last flow that it needs to its start.
    pub delay: Duration,
    /// Positions of the flows that it waits for.
    pub after: Vec<u64>,
    /// Number of them that must have ended, at least 1.
    pub needed: u32,
}

/// All flows of a run that wait for others.
#[derive(Clone, Debug, Default, hitless_core::state::State)]
pub struct Dependents {
    #[configured]
    flows: Vec<Dependent>,
    /// By group and position of a flow that has not ended: the dependents that wait for it.
    followers: BTreeMap<(usize, u64), Vec<u32>>,
    /// By dependent: number of flows that must still end; 0 as soon as its start is known.
    missing: Vec<u32>,
    /// Number of dependents that have not started.
    waiting: u64,
}

impl Dependents {
    /// Adds the dependents of one group.
    pub fn add(&mut self, dependents: Vec<Dependent>) {
        for dependent in dependents {
            let number = self.flows.len() as u32;
            for &before in &dependent.after {
                self.followers.entry((dependent.flow.group, before)).or_default().push(number);
            }
            self.missing.push(dependent.needed);
            self.waiting += 1;
            self.flows.push(dependent);
        }
    }

    /// Returns the groups with dependents, once for each dependent.
    pub fn groups(&self) -> impl Iterator<Item = usize> + '_ {
        self.flows.iter().map(|dependent| dependent.flow.group)
    }

    /// Returns the number of flows that have not started.
    pub fn waiting(&self) -> u64 {
        self.waiting
    }

    /// Returns the flows that wait, with the positions in their groups of the flows they name that have not ended.
    pub fn held_back(&self) -> impl Iterator<Item = (&FlowSpec, Vec<u64>)> {
        let waiting = self.flows.iter().zip(&self.missing).filter(|(_, missing)| **missing > 0);
        waiting.map(|(Dependent { flow, after, .. }, _)| {
            let is_open = |position: &u64| self.followers.contains_key(&(flow.group, *position));
            (flow, after.iter().copied().filter(is_open).collect())
        })
    }

    /// Notes the end of a flow at `time`; returns the dependents that can start, with their start times.
    pub fn end(&mut self, group: usize, position: u64, time: Time) -> Vec<(u32, Time)> {
        let mut ready = Vec::new();
        for number in self.followers.remove(&(group, position)).into_iter().flatten() {
            let missing = &mut self.missing[number as usize];
            if *missing == 1 {
                let delay_ps = self.flows[number as usize].delay.as_ps();
                ready.push((number, Time(time.as_ps().saturating_add(delay_ps))));
            }
            *missing = missing.saturating_sub(1);
        }
        ready
    }

    /// Returns dependent `number`, which starts at `time`.
    pub fn start(&mut self, number: u32, time: Time) -> FlowSpec {
        assert!(self.waiting > 0 && self.missing[number as usize] == 0, "dependent flow {number} must wait");
        self.waiting -= 1;
        FlowSpec { start: time, ..self.flows[number as usize].flow }
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::HostId;

    use super::*;
    use crate::workload::generators::Template;

    fn dependents(waits: &[(u64, &[u64], u32)]) -> Dependents {
        let template = Template { start: Time(0), stop: None, transport: 0, class: 0, group: 3 };
        let flow = |position| FlowSpec { position, ..template.sized(HostId(0), HostId(1), 1, Time(0)) };
        let dependent = |&(position, after, needed): &(u64, &[u64], u32)| Dependent {
            flow: flow(position),
            delay: Duration::from_ps(7),
            after: after.to_vec(),
            needed,
        };
        let mut made = Dependents::default();
        made.add(waits.iter().map(dependent).collect());
        made
    }

    #[test]
    fn a_flow_starts_when_enough_others_have_ended_and_only_once() {
        let mut dependents = dependents(&[(4, &[0, 1, 2], 3), (5, &[0, 1, 2], 1), (6, &[4], 1)]);
        assert_eq!(dependents.end(3, 1, Time(10)), [(1, Time(17))]);
        assert_eq!(dependents.end(3, 0, Time(20)), []);
        assert_eq!(dependents.end(9, 2, Time(25)), [], "another group");
        assert_eq!(dependents.end(3, 2, Time(30)), [(0, Time(37))]);
        assert_eq!(dependents.waiting(), 3);
        assert_eq!((dependents.start(0, Time(37)).position, dependents.waiting()), (4, 2));
        assert_eq!(dependents.end(3, 4, Time(50)), [(2, Time(57))]);
    }

    #[test]
    fn a_flow_that_waits_names_only_flows_that_have_not_ended() {
        let mut dependents = dependents(&[(4, &[0, 1], 2), (5, &[0, 1, 4], 2)]);
        let open = |dependents: &Dependents| -> Vec<(u64, Vec<u64>)> {
            dependents.held_back().map(|(flow, after)| (flow.position, after)).collect()
        };
        assert_eq!(open(&dependents), [(4, vec![0, 1]), (5, vec![0, 1, 4])]);
        assert_eq!(dependents.end(3, 0, Time(10)), []);
        assert_eq!(open(&dependents), [(4, vec![1]), (5, vec![1, 4])]);
        assert_eq!(dependents.end(3, 0, Time(11)), [], "a flow ends once");
        assert_eq!(dependents.end(3, 1, Time(12)), [(0, Time(19)), (1, Time(19))]);
        assert_eq!(open(&dependents), []);
    }

    #[test]
    #[should_panic(expected = "dependent flow 0 must wait")]
    fn a_flow_does_not_start_before_the_flows_that_it_waits_for_have_ended() {
        dependents(&[(4, &[0], 1)]).start(0, Time(1));
    }
}
