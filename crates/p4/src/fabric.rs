//! What a program may ask of the switch around it with functions beyond v1model.

/// The rounds of a group of queues that take turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rounds {
    /// The round that is served.
    pub current: u64,
    /// The number of the group's first queue.
    pub first_queue: u32,
    /// How many queues it has.
    pub queues: u32,
}

/// The switch around a program.
pub trait Fabric {
    /// The hash of the packet's flow that the switch itself uses.
    fn flow_hash(&mut self) -> u32;
    /// Bytes in a queue.
    fn queue_depth_bytes(&mut self, port: u32, queue: u32) -> u64;
    /// Whether a queue would take the packet.
    fn queue_has_room(&mut self, port: u32, queue: u32) -> bool;
    /// The queue of the packet's class at a port.
    fn class_queue(&mut self, port: u32) -> u32;
    /// Stops the service of a queue.
    fn pause_queue(&mut self, port: u32, queue: u32);
    /// Goes on with it.
    fn resume_queue(&mut self, port: u32, queue: u32);
    /// A generated packet with `token` comes in after a delay.
    fn start_timer(&mut self, delay_ns: u64, token: u32);
    /// The rotating group of a port.
    fn current_round(&mut self, port: u32) -> Rounds;
    /// The port that routing proposes.
    fn routed_port(&mut self) -> u32;
    /// A random number below `count`; none: the program's own are taken.
    fn below(&mut self, count: u64) -> Option<u64>;
}

/// What a switch answers that is none: what a test has set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Bytes in queues: port, queue, bytes.
    pub depths: Vec<(u32, u32, u64)>,
    /// The most bytes of queues: port, queue, bytes.
    pub limits: Vec<(u32, u32, u64)>,
    /// Rotating groups: port and rounds.
    pub rounds: Vec<(u32, Rounds)>,
    /// The hash of flows.
    pub flow_hash: u32,
    /// The port that routing proposes.
    pub routed_port: u32,
    /// The bytes of the packet at hand.
    pub packet_bytes: u64,
    /// Timers that were started: delay and token.
    pub timers: Vec<(u64, u32)>,
    /// Queues that stand still.
    pub paused: Vec<(u32, u32)>,
}

impl Answers {
    /// Sets the value of a port and queue in one of the lists.
    pub fn set(list: &mut Vec<(u32, u32, u64)>, port: u32, queue: u32, value: u64) {
        list.retain(|&(other, number, _)| (other, number) != (port, queue));
        list.push((port, queue, value));
    }

    fn get(list: &[(u32, u32, u64)], port: u32, queue: u32) -> Option<u64> {
        list.iter().find(|&&(other, number, _)| (other, number) == (port, queue)).map(|&(_, _, value)| value)
    }
}

impl Fabric for Answers {
    fn flow_hash(&mut self) -> u32 {
        self.flow_hash
    }

    fn queue_depth_bytes(&mut self, port: u32, queue: u32) -> u64 {
        Self::get(&self.depths, port, queue).unwrap_or(0)
    }

    fn queue_has_room(&mut self, port: u32, queue: u32) -> bool {
        let depth = Self::get(&self.depths, port, queue).unwrap_or(0);
        Self::get(&self.limits, port, queue).is_none_or(|limit| depth + self.packet_bytes <= limit)
    }

    fn class_queue(&mut self, _: u32) -> u32 {
        0
    }

    fn pause_queue(&mut self, port: u32, queue: u32) {
        self.resume_queue(port, queue);
        self.paused.push((port, queue));
    }

    fn resume_queue(&mut self, port: u32, queue: u32) {
        self.paused.retain(|&paused| paused != (port, queue));
    }

    fn start_timer(&mut self, delay_ns: u64, token: u32) {
        self.timers.push((delay_ns, token));
    }

    fn current_round(&mut self, port: u32) -> Rounds {
        self.rounds.iter().find(|&&(of, _)| of == port).map(|&(_, rounds)| rounds).unwrap_or_default()
    }

    fn routed_port(&mut self) -> u32 {
        self.routed_port
    }

    fn below(&mut self, _: u64) -> Option<u64> {
        None
    }
}
