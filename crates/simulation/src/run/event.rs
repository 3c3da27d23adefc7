//! The simulator's events, and their order at equal times.

use hitless_core::engine::{OrderKey, TraceHash};
use hitless_core::wire::{HostId, OrderedSet, Time};
use hitless_hosts::HostEvent;
use hitless_switch::SwitchEvent;

/// A scheduled event.
#[derive(Clone, Copy, Debug, PartialEq, hitless_core::state::Value)]
pub(super) enum SimulationEvent {
    /// The first frame in flight reaches the end of a link; `link` is the
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
    /// All flows with a start event at this time and host start.
    StartFlows { host: HostId },
    /// The next entry of the schedule of faults and commands is due.
    Change,
    /// A link fails, or a consequence of a failure is due.
    Recovery(RecoveryEvent),
    /// A sampler is due.
    Sample { sampler: u32 },
}

impl SimulationEvent {
    /// Whether the event stays out of the trace: sampling, and the time of drawing flows, must not change the hash, and
    /// the start of each flow has a mark already.
    pub fn leaves_no_mark(self) -> bool {
        matches!(self, Self::Sample { .. } | Self::NextFlow | Self::NextInSequence { .. } | Self::StartFlows { .. })
    }
}

/// A failure or one of its consequences; `failure` is the number of its record, `end` is 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub(super) enum RecoveryEvent {
    /// The next failure of an entry of the scenario is due.
    Fail { entry: u32 },
    /// An end detects a failure.
    Detect { failure: u32, end: u8 },
    /// An end switches to another port.
    Reroute { failure: u32, end: u8 },
    /// The link is repaired.
    Whole { failure: u32 },
    /// An end learns of the repair.
    Return { failure: u32, end: u8 },
    /// The switches at a distance from the link, in links, withdraw the paths over it.
    Withdraw { failure: u32, distance: u16 },
    /// They restore them.
    Restore { failure: u32, distance: u16 },
    /// The control plane reads the counters of the ports that may become backups.
    Poll,
}

/// Event kinds in the order of handling at equal times: changes of the world first, then arrivals, then the drawing and
/// start of flows, then the nodes' own events, then observation. An event may schedule another one at the same time
/// only if that has the same kind or a later one.
///
/// No key depends on the division of a run into partitions: a key is made of numbers that the event's node knows, or of
/// numbers that are unique in the whole run.
pub(super) mod kind {
    pub const CHANGE: u8 = 0;
    pub const ARRIVAL: u8 = 1;
    /// The next flow is taken from the workload or a sequence. Not in the trace.
    pub const DRAW: u8 = 2;
    /// At the host that opens the flow; the sequence number is the flow's number. The start of all these flows has the
    /// number [`START_ALL`].
    pub const START: u8 = 3;
    /// Above the numbers of all flows.
    pub const START_ALL: u64 = 1 << 32;
    /// At the receiving switch; the sequence number holds the port above the sender's counter.
    pub const ORDERED_SET: u8 = 4;
    pub const SWITCH: u8 = 5;
    pub const HOST: u8 = 6;
    /// At the receiving host of a flow; the sequence number is the flow's number.
    pub const SENDER_ENDED: u8 = 7;
    pub const SAMPLE: u8 = 8;
}

/// Event counter and trace of one node.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct NodeClock {
    /// Number of events that the node has scheduled for itself; the last part of their order key.
    sequence: u64,
    trace: TraceHash,
}

/// The clocks of all nodes: hosts, switches, and one for global events.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct NodeClocks(Vec<NodeClock>);

impl NodeClocks {
    pub fn new(nodes: usize) -> Self {
        Self(vec![NodeClock::default(); nodes + 1])
    }

    /// The node number of global events.
    pub fn everywhere(&self) -> u32 {
        self.0.len() as u32 - 1
    }

    #[inline]
    pub fn key(&mut self, kind: u8, node: u32) -> OrderKey {
        OrderKey::new(kind, node, self.next(node))
    }

    /// The next sequence number of a node.
    #[inline]
    pub fn next(&mut self, node: u32) -> u64 {
        let sequence = &mut self.0[node as usize].sequence;
        *sequence += 1;
        *sequence
    }

    /// Adds an event to the trace of the node in its key.
    #[inline(always)]
    pub fn record(&mut self, at: Time, order: OrderKey) {
        self.0[order.node() as usize].trace.record(at.as_ps(), order.as_u64());
    }

    /// Takes over the clock of a node from the partition that holds it.
    pub fn take_over(&mut self, node: u32, other: &Self) {
        self.0[node as usize] = other.0[node as usize];
    }

    /// Hash over the hashes of all nodes, in order of their numbers.
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
