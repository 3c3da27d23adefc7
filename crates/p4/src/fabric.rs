//! The interface between a program and its switch, for functions beyond v1model.

use std::collections::{BTreeMap, BTreeSet};

/// The rounds of a group of rotating queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    pub current: u64,
    pub first_queue: u32,
    pub queues: u32,
}

/// The switch around a program.
pub trait Fabric {
    /// The switch's own hash of the packet's flow.
    fn flow_hash(&mut self) -> u32;
    fn queue_depth_bytes(&mut self, port: u32, queue: u32) -> u64;
    fn queue_has_room(&mut self, port: u32, queue: u32) -> bool;
    /// The queue for the packet's class at a port.
    fn class_queue(&mut self, port: u32) -> u32;
    fn pause_queue(&mut self, port: u32, queue: u32);
    fn resume_queue(&mut self, port: u32, queue: u32);
    /// Schedules a generated packet with `token` after a delay.
    fn start_timer(&mut self, delay_ns: u64, token: u32);
    /// The rotating group of a port.
    fn current_round(&mut self, port: u32) -> Rounds;
    fn routed_port(&mut self) -> u32;
    /// A random number below `count`; `None` selects the program's own generator.
    fn below(&mut self, count: u64) -> Option<u64>;
}

/// A stand-in for the switch, with values set by a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Bytes in queues, by port and queue.
    pub depths: BTreeMap<(u32, u32), u64>,
    /// Capacities of queues in bytes.
    pub limits: BTreeMap<(u32, u32), u64>,
    pub rounds: BTreeMap<u32, Rounds>,
    pub flow_hash: u32,
    pub routed_port: u32,
    /// Size of the current packet in bytes.
    pub packet_bytes: u64,
    pub paused: BTreeSet<(u32, u32)>,
}

impl Fabric for Answers {
    fn flow_hash(&mut self) -> u32 {
        self.flow_hash
    }

    fn queue_depth_bytes(&mut self, port: u32, queue: u32) -> u64 {
        self.depths.get(&(port, queue)).copied().unwrap_or(0)
    }

    fn queue_has_room(&mut self, port: u32, queue: u32) -> bool {
        let depth = self.queue_depth_bytes(port, queue);
        self.limits.get(&(port, queue)).is_none_or(|limit| depth + self.packet_bytes <= *limit)
    }

    fn class_queue(&mut self, _: u32) -> u32 {
        0
    }

    fn pause_queue(&mut self, port: u32, queue: u32) {
        self.paused.insert((port, queue));
    }

    fn resume_queue(&mut self, port: u32, queue: u32) {
        self.paused.remove(&(port, queue));
    }

    fn start_timer(&mut self, _: u64, _: u32) {}

    fn current_round(&mut self, port: u32) -> Rounds {
        self.rounds.get(&port).copied().unwrap_or_default()
    }

    fn routed_port(&mut self) -> u32 {
        self.routed_port
    }

    fn below(&mut self, _: u64) -> Option<u64> {
        None
    }
}
