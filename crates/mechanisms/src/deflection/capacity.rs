//! What a queue may hold.

use hitless_switch::{Context, Environment};
use hitless_wire::{PortId, QueueId};

/// Q: what a queue may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// Its own limit.
    StaticLimit,
    /// So many bytes, whatever its limit is.
    Bytes(u64),
    /// What a shared buffer grants it at present, at most its own limit (section 6, future directions).
    CurrentThreshold,
}

/// A queue that a packet may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub port: PortId,
    pub queue: QueueId,
}

impl Capacity {
    /// In bytes; none: there is no limit.
    #[inline]
    pub(crate) fn bytes<E: Environment>(self, place: Place, context: &Context<'_, E>) -> Option<u64> {
        let own = || context.queue_limit_bytes(place.port, place.queue);
        match self {
            Self::StaticLimit => own(),
            Self::Bytes(bytes) => Some(bytes),
            Self::CurrentThreshold => own().into_iter().chain(context.queue_threshold_bytes()).min(),
        }
    }
}

/// The queues of all ports of a switch, by one number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queues {
    /// By port: where its queues begin. Then how many there are.
    first: Vec<usize>,
}

impl Queues {
    /// Of ports with so many queues each.
    pub fn new(queue_counts: &[usize]) -> Self {
        let ends = queue_counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        Self { first: std::iter::once(0).chain(ends).collect() }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.first.last().copied().unwrap_or(0)
    }

    /// Of how many ports.
    pub fn ports(&self) -> usize {
        self.first.len().saturating_sub(1)
    }

    /// The number of one; none: another mechanism has asked for it later.
    pub fn find(&self, place: Place) -> Option<usize> {
        let index = self.index(place);
        (index < self.first[usize::from(place.port.0) + 1]).then_some(index)
    }

    /// The number of one.
    #[inline]
    pub fn index(&self, Place { port, queue }: Place) -> usize {
        self.first[usize::from(port.0)] + usize::from(queue.0)
    }
}
