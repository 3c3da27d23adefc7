//! What the simulator schedules, and where each event stands among those of the same time.

use hitless_engine::OrderKey;
use hitless_hosts::HostEvent;
use hitless_switch::SwitchEvent;
use hitless_wire::OrderedSet;

/// Something that happens at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SimulationEvent {
    /// The first frame under way reaches the end of a link (numbered as in
    /// [`hitless_network::topology::DirectedLink::index`]).
    LinkArrival {
        /// The link.
        link: u32,
    },
    /// A control ordered set reaches the end of a link between switches.
    OrderedSetArrival {
        /// The link.
        link: u32,
        /// What it says.
        set: OrderedSet,
    },
    /// A switch's own event.
    Switch {
        /// The switch.
        switch: u32,
        /// The event.
        event: SwitchEvent,
    },
    /// A host's own event.
    Host(HostEvent),
    /// The next flow of the workload starts.
    NextFlow,
    /// The next flow of a sequence starts.
    NextInSequence {
        /// Its number.
        sequence: u32,
    },
    /// The next entry of the schedule of faults and commands is due.
    Change,
    /// A link fails, or something that follows from it.
    Recovery(RecoveryEvent),
    /// A sampler is due.
    Sample {
        /// Its number.
        sampler: u32,
    },
    /// Whoever drives the run wants it to stop here for now: before anything else of this time happens.
    Pause,
}

/// Something that failures bring about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecoveryEvent {
    /// The next failure of an entry of the scenario is due.
    Fail {
        /// The entry.
        entry: u32,
    },
    /// An end detects a failure.
    Detect {
        /// Number of its record.
        failure: u32,
        /// The end, 0 or 1.
        end: u8,
    },
    /// An end may use another port.
    Reroute {
        /// Number of its record.
        failure: u32,
        /// The end.
        end: u8,
    },
    /// The link is whole.
    Whole {
        /// Number of its record.
        failure: u32,
    },
    /// An end learns that the link is whole.
    Return {
        /// Number of its record.
        failure: u32,
        /// The end.
        end: u8,
    },
    /// The control plane reads the counters of the ports that may become backups.
    Poll,
}

/// The kinds in the order in which events of one time are handled: what changes the world, then what arrives in it,
/// then what is started, then what its nodes do, then what is observed. An event may schedule another of the same
/// time only of its own kind or a later one.
pub(super) mod kind {
    pub const CHANGE: u8 = 0;
    pub const ARRIVAL: u8 = 1;
    pub const FLOW: u8 = 2;
    pub const SWITCH: u8 = 3;
    pub const HOST: u8 = 4;
    pub const SAMPLE: u8 = 5;
}

/// Counts the events that each node has scheduled for itself: the last part of their order.
#[derive(Debug)]
pub(super) struct Sequences(Vec<u64>);

impl Sequences {
    pub fn new(nodes: usize) -> Self {
        Self(vec![0; nodes])
    }

    #[inline]
    pub fn key(&mut self, kind: u8, node: u32) -> OrderKey {
        let sequence = &mut self.0[node as usize];
        *sequence += 1;
        OrderKey::new(kind, node, *sequence)
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
