//! Stochastic fairness queueing (McKenney 1990): flows hashed to a fixed number of queues, which take turns.

use hitless_core::wire::{Duration, Time};

use super::entry::{Arriving, Waiting};
use super::round_robin::RoundRobin;
use super::spread::spread;
use crate::queueing::marking::EcnMarker;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqConfig {
    /// How many queues: 32 in AFQ's comparison (section 6.2.2).
    pub queues: u32,
    /// Bytes that a queue is given in each turn.
    pub quantum_bytes: u32,
    /// How long the same flows share a queue; none: for ever.
    pub perturbation: Option<Duration>,
    /// What the hash begins with, so that not all ports put the same flows together.
    pub salt: u32,
}

/// The discipline.
#[derive(Debug)]
pub(super) struct Sfq {
    config: SfqConfig,
    queues: RoundRobin,
}

hitless_core::state!(Sfq { values: queues; configured: config });

impl Sfq {
    pub fn new(config: SfqConfig) -> Self {
        Self { config, queues: RoundRobin::default() }
    }

    /// Whether the depth of the packet's queue asks for a mark.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving, marker: &mut EcnMarker) -> bool {
        let number = self.queue_of(arriving.flow.hash(), arriving.entry.enqueued_at);
        let before = self.queues.list(number);
        self.queues.push(number, arriving.waiting(), self.config.quantum_bytes.into());
        marker.marks(before.packets as usize, before.bytes)
    }

    /// The queue of a flow. What waits when the hash changes stays where it is, as in McKenney's paper; so a flow that
    /// has packets waiting then may be reordered.
    #[inline]
    fn queue_of(&self, flow_hash: u32, now: Time) -> u32 {
        let epoch = self.config.perturbation.map_or(0, |period| now.as_ps() / period.as_ps());
        spread(flow_hash, self.config.salt.wrapping_add(epoch as u32), self.config.queues)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        self.queues.pop().map(|(_, packet)| packet)
    }

    /// The last packet of the longest queue ("buffer stealing"), by bytes.
    pub fn evict(&mut self) -> Option<Waiting> {
        self.queues.pop_longest().map(|(_, packet)| packet)
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.waiting()
    }
}
