//! Deficit round robin with a queue per flow (Shreedhar and Varghese 1995).

use super::entry::{Arriving, Waiting};
use super::flows::FlowNumbers;
use super::round_robin::RoundRobin;
use super::weights::ClassWeights;
use crate::queueing::marking::EcnMarker;

/// The parameters of deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrrConfig {
    /// Quantum in bytes of a flow of weight 1. Below the maximum frame length a turn can pass without a packet.
    pub quantum_bytes: u32,
    /// Weight by class: a multiple of the quantum.
    pub weights: ClassWeights,
}

#[derive(Debug, hitless_core::state::State)]
pub(super) struct Drr {
    #[configured]
    config: DrrConfig,
    numbers: FlowNumbers,
    queues: RoundRobin,
}

impl Drr {
    pub fn new(config: DrrConfig) -> Self {
        Self { config, numbers: FlowNumbers::default(), queues: RoundRobin::default() }
    }

    /// Queues a packet; returns whether the depth of its flow's queue requires a mark.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving, marker: &mut EcnMarker) -> bool {
        let (number, _) = self.numbers.of(arriving.flow);
        let before = self.queues.list(number);
        let quantum_bytes = u64::from(self.config.quantum_bytes) * u64::from(self.config.weights.of(arriving.class));
        self.queues.push(number, arriving.waiting(), quantum_bytes);
        marker.marks(before.packets as usize, before.bytes)
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let taken = self.queues.pop();
        self.forget_if_empty(taken)
    }

    /// Takes the last packet of the longest queue in bytes.
    pub fn evict(&mut self) -> Option<Waiting> {
        let taken = self.queues.pop_longest();
        self.forget_if_empty(taken)
    }

    #[inline]
    fn forget_if_empty(&mut self, taken: Option<(u32, Waiting)>) -> Option<Waiting> {
        let (number, packet) = taken?;
        if self.queues.list(number).packets == 0 {
            self.numbers.forget(packet.flow);
        }
        Some(packet)
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.waiting()
    }
}
