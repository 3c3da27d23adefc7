//! What a queue is configured to be.

use super::marking::EcnThreshold;

/// How much a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// No limit of its own (a shared buffer may have one).
    Unlimited,
    /// At most so many packets, the one in transmission included.
    Packets(u32),
    /// At most so many bytes, the frame in transmission included.
    Bytes(u64),
}

impl QueueLimit {
    #[inline]
    pub(crate) fn has_room(self, packets: usize, bytes: u64, arriving_bytes: u32) -> bool {
        self.holds(packets + 1, bytes + u64::from(arriving_bytes))
    }

    /// Whether so much may be there.
    #[inline]
    pub(crate) fn holds(self, packets: usize, bytes: u64) -> bool {
        match self {
            QueueLimit::Unlimited => true,
            QueueLimit::Packets(limit) => packets <= limit as usize,
            QueueLimit::Bytes(limit) => bytes <= limit,
        }
    }
}

/// One queue of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Strict priority level; a higher level is served first.
    pub priority: u8,
    /// Bytes per round among the queues of the same level (deficit round robin, Shreedhar and Varghese 1995).
    pub quantum_bytes: u32,
    /// Its own limit.
    pub limit: QueueLimit,
    /// Its ECN threshold.
    pub ecn: EcnThreshold,
    /// Which depth of the queue is held against the threshold.
    pub marks_at: MarkingPoint,
    /// Which of its packets is served first.
    pub order: QueueOrder,
    /// Whether packets of hosts leave by it: it stands still while the link partner pauses them, or a mechanism holds
    /// them back. Not so one of what a mechanism says or repeats itself, or of packets that do not leave by it.
    pub of_hosts: bool,
}

/// When it is decided whether a packet is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkingPoint {
    /// When it enters its queue, by what is before it.
    #[default]
    Enqueue,
    /// When it leaves its queue for the line, by what stays behind it. Needs a queued scheduler: a FIFO one decides
    /// when it admits a packet, and does not know what will be behind it.
    Dequeue,
}

/// In which order the packets of one queue are served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// First come, first served.
    #[default]
    ByArrival,
    /// Smallest [`hitless_core::wire::Packet::urgency`] first, and those of the same rank as they came: a priority
    /// queue like pFabric's (SIGCOMM 2013, section 4.1). When it is full, a packet that arrives may drive out packets
    /// of strictly larger rank from the end. The frame in transmission is never one of them.
    ByRank,
}

impl QueueConfig {
    /// The level of a queue for normal traffic; mechanisms ask for levels above or below it.
    pub const NORMAL_PRIORITY: u8 = 100;

    /// A queue for normal traffic with `limit`.
    pub const fn normal(limit: QueueLimit) -> Self {
        Self {
            priority: Self::NORMAL_PRIORITY,
            quantum_bytes: 1_518,
            limit,
            ecn: EcnThreshold::Off,
            marks_at: MarkingPoint::Enqueue,
            order: QueueOrder::ByArrival,
            of_hosts: true,
        }
    }

    /// The same queue for a mechanism's own packets; a pause of host packets does not stop it.
    pub const fn of_mechanism(self) -> Self {
        Self { of_hosts: false, ..self }
    }

    /// The same queue on another level.
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// The same queue, served in that order.
    pub const fn with_order(self, order: QueueOrder) -> Self {
        Self { order, ..self }
    }

    /// The same queue with an ECN threshold.
    pub const fn with_ecn(self, ecn: EcnThreshold) -> Self {
        Self { ecn, ..self }
    }

    /// The same queue, which marks there.
    pub const fn marking_at(self, marks_at: MarkingPoint) -> Self {
        Self { marks_at, ..self }
    }

    /// Whether packets are marked when they leave.
    pub fn marks_at_dequeue(&self) -> bool {
        self.marks_at == MarkingPoint::Dequeue && self.ecn != EcnThreshold::Off
    }
}
