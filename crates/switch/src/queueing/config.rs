//! The configuration of a queue.

use super::marking::{EcnMarker, EcnThreshold};

/// The limit of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// No limit of the queue; a shared buffer can still limit it.
    Unlimited,
    /// Maximum number of packets, including the one in transmission.
    Packets(u32),
    /// Maximum number of bytes, including the frame in transmission.
    Bytes(u64),
}

impl QueueLimit {
    #[inline]
    pub(crate) fn has_room(self, packets: usize, bytes: u64, arriving_bytes: u32) -> bool {
        self.holds(packets + 1, bytes + u64::from(arriving_bytes))
    }

    /// Returns whether the limit allows this many packets and bytes.
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
    /// Quantum in bytes per round among the queues of the same level (deficit round robin, Shreedhar and Varghese
    /// 1995).
    pub quantum_bytes: u32,
    /// Limit of this queue.
    pub limit: QueueLimit,
    /// ECN threshold.
    pub ecn: EcnThreshold,
    /// Time at which the depth is compared with the threshold.
    pub marks_at: MarkingPoint,
    /// Order of service.
    pub order: QueueOrder,
    /// Whether packets of hosts leave through it. Such a queue stops while the link partner pauses it or a mechanism
    /// holds host packets back. False for a queue with packets that a mechanism makes or repeats, and for a queue that
    /// packets do not leave through.
    pub of_hosts: bool,
}

/// When the decision to mark a packet is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkingPoint {
    /// At enqueue, by the packets ahead of it.
    #[default]
    Enqueue,
    /// At dequeue, by the packets left in the queue. Needs a queued scheduler: a FIFO scheduler decides at admission
    /// and does not know what will follow the packet.
    Dequeue,
}

/// The order of service among the packets of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueOrder {
    /// First come, first served.
    #[default]
    ByArrival,
    /// Smallest [`hitless_core::wire::Packet::urgency`] first, and equal ranks in order of arrival: a priority queue
    /// like pFabric's (SIGCOMM 2013, section 4.1). If the queue is full, an arriving packet can evict packets of
    /// strictly larger rank from the end, but never the frame in transmission.
    ByRank,
}

impl QueueConfig {
    /// The level of queues for normal traffic; mechanisms request levels above or below it.
    pub const NORMAL_PRIORITY: u8 = 100;

    /// Creates a queue for normal traffic with `limit`.
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

    /// Returns the queue for packets of a mechanism; a pause of host packets does not stop it.
    pub const fn of_mechanism(self) -> Self {
        Self { of_hosts: false, ..self }
    }

    /// Returns the queue on another level.
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Returns the queue with another order.
    pub const fn with_order(self, order: QueueOrder) -> Self {
        Self { order, ..self }
    }

    /// Returns the queue with an ECN threshold.
    pub const fn with_ecn(self, ecn: EcnThreshold) -> Self {
        Self { ecn, ..self }
    }

    /// Returns the queue with another marking point.
    pub const fn marking_at(self, marks_at: MarkingPoint) -> Self {
        Self { marks_at, ..self }
    }

    /// Returns the length of the longest frame that an empty queue takes unmarked.
    pub(super) fn passing_bytes(&self) -> u32 {
        let (packets, bytes) = EcnMarker::new(self.ecn).mark_free_below();
        match self.limit {
            _ if packets == 0 || bytes == 0 => 0,
            QueueLimit::Packets(0) => 0,
            QueueLimit::Unlimited | QueueLimit::Packets(_) => u32::MAX,
            QueueLimit::Bytes(limit) => u32::try_from(limit).unwrap_or(u32::MAX),
        }
    }

    /// Returns whether packets are marked at dequeue.
    pub fn marks_at_dequeue(&self) -> bool {
        self.marks_at == MarkingPoint::Dequeue && self.ecn != EcnThreshold::Off
    }
}
