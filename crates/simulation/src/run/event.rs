//! What the simulator schedules, and where each event stands among those of the same time.

use hitless_core::engine::{OrderKey, TraceHash};
use hitless_core::wire::{OrderedSet, Time};
use hitless_hosts::HostEvent;
use hitless_switch::SwitchEvent;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
pub(super) enum SimulationEvent {
    /// The first frame under way reaches the end of a link, of that
    /// [index](hitless_scenario::network::topology::DirectedLink::index).
    LinkArrival { link: u32 },
    /// A control ordered set reaches the end of a link between switches.
    OrderedSetArrival { link: u32, set: OrderedSet },
    /// A switch's own event.
    Switch { switch: u32, event: SwitchEvent },
    /// A host's own event.
    Host(HostEvent),
    /// The next flow of the workload starts.
    NextFlow,
    /// The next flow of a sequence starts.
    NextInSequence { sequence: u32 },
    /// The next entry of the schedule of faults and commands is due.
    Change,
    /// A link fails, or something that follows from it.
    Recovery(RecoveryEvent),
    /// A sampler is due.
    Sample { sampler: u32 },
}

impl SimulationEvent {
    /// Whether it counts as no event: what is measured, and when flows are drawn, must not change the trace.
    pub fn leaves_no_mark(self) -> bool {
        matches!(self, Self::Sample { .. } | Self::NextFlow | Self::NextInSequence { .. })
    }
}

/// Something that failures bring about: `failure` is the number of its record, `end` is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum RecoveryEvent {
    /// The next failure of an entry of the scenario is due.
    Fail { entry: u32 },
    /// An end detects a failure.
    Detect { failure: u32, end: u8 },
    /// An end may use another port.
    Reroute { failure: u32, end: u8 },
    /// The link is whole.
    Whole { failure: u32 },
    /// An end learns that the link is whole.
    Return { failure: u32, end: u8 },
    /// The control plane reads the counters of the ports that may become backups.
    Poll,
}

/// The kinds in the order in which events of one time are handled: what changes the world, then what arrives in it,
/// then what is drawn and started, then what its nodes do, then what is observed. An event may schedule another of the
/// same time only of its own kind or a later one.
///
/// No key depends on how a run is divided: it is made of what the node knows where the event happens, or of what is
/// unique by itself.
pub(super) mod kind {
    pub const CHANGE: u8 = 0;
    pub const ARRIVAL: u8 = 1;
    /// The next flow is taken from the workload or a sequence. Leaves no mark in the trace.
    pub const DRAW: u8 = 2;
    /// At the host that opens the flow; the sequence is its number.
    pub const START: u8 = 3;
    /// At the switch that receives it; the sequence is that of the sender, below the port.
    pub const ORDERED_SET: u8 = 4;
    pub const SWITCH: u8 = 5;
    pub const HOST: u8 = 6;
    /// At the receiving host of a flow; the sequence is its number.
    pub const SENDER_ENDED: u8 = 7;
    pub const SAMPLE: u8 = 8;
}

/// What a node has scheduled and what has happened at it.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct NodeClock {
    /// Events that it has scheduled for itself: the last part of their order.
    sequence: u64,
    trace: TraceHash,
}

/// The clocks of all nodes. Behind the hosts and the switches stands one for what happens to all.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct NodeClocks(Vec<NodeClock>);

impl NodeClocks {
    pub fn new(nodes: usize) -> Self {
        Self(vec![NodeClock::default(); nodes + 1])
    }

    /// The number of what is no node: what happens to all.
    pub fn everywhere(&self) -> u32 {
        self.0.len() as u32 - 1
    }

    #[inline]
    pub fn key(&mut self, kind: u8, node: u32) -> OrderKey {
        OrderKey::new(kind, node, self.next(node))
    }

    /// The next number of a node's own.
    #[inline]
    pub fn next(&mut self, node: u32) -> u64 {
        let sequence = &mut self.0[node as usize].sequence;
        *sequence += 1;
        *sequence
    }

    /// An event happens at the node in its key.
    #[inline(always)]
    pub fn record(&mut self, at: Time, order: OrderKey) {
        self.0[order.node() as usize].trace.record(at.as_ps(), order.as_u64());
    }

    /// Takes over the clock of a node from another partition, where it is.
    pub fn take_over(&mut self, node: u32, other: &Self) {
        self.0[node as usize] = other.0[node as usize];
    }

    /// One hash over those of all nodes, in their order.
    pub fn hash(&self) -> u64 {
        let mut all = TraceHash::default();
        (0..).zip(&self.0).for_each(|(node, clock)| all.record(node, clock.trace.value()));
        all.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_fits_beside_its_time_and_key_in_half_a_cache_line() {
        assert!(size_of::<SimulationEvent>() <= 12, "{}", size_of::<SimulationEvent>());
    }
}
