//! Stochastic fairness queueing (McKenney 1990): flows hashed to a fixed number of queues that take turns.

use hitless_core::wire::{Duration, Time};

use super::entry::{Arriving, Waiting};
use super::round_robin::RoundRobin;
use super::spread::spread;
use crate::queueing::marking::EcnMarker;

/// The parameters of stochastic fairness queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SfqConfig {
    /// Number of queues: 32 in AFQ's comparison (section 6.2.2).
    pub queues: u32,
    /// Quantum in bytes of a queue.
    pub quantum_bytes: u32,
    /// Time after which the hash changes; `None` means never.
    pub perturbation: Option<Duration>,
    /// Salt of the hash, so that different ports hash different flows together.
    pub salt: u32,
}

#[derive(Debug, hitless_core::state::State)]
pub(super) struct Sfq {
    #[configured]
    config: SfqConfig,
    queues: RoundRobin,
}

impl Sfq {
    pub fn new(config: SfqConfig) -> Self {
        Self { config, queues: RoundRobin::default() }
    }

    /// Queues a packet; returns whether the depth of its queue requires a mark.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving, marker: &mut EcnMarker) -> bool {
        let number = self.queue_of(arriving.flow.hash(), arriving.entry.enqueued_at);
        let before = self.queues.list(number);
        self.queues.push(number, arriving.waiting(), self.config.quantum_bytes.into());
        marker.marks(before.packets as usize, before.bytes)
    }

    /// Returns the queue of a flow. When the hash changes, waiting packets stay where they are, as in McKenney's paper,
    /// so a flow with waiting packets can be reordered.
    #[inline]
    fn queue_of(&self, flow_hash: u32, now: Time) -> u32 {
        let epoch = self.config.perturbation.map_or(0, |period| now.as_ps() / period.as_ps());
        spread(flow_hash, self.config.salt.wrapping_add(epoch as u32), self.config.queues)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        self.queues.pop().map(|(_, packet)| packet)
    }

    /// Takes the last packet of the longest queue in bytes ("buffer stealing").
    pub fn evict(&mut self) -> Option<Waiting> {
        self.queues.pop_longest().map(|(_, packet)| packet)
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.waiting()
    }
}
