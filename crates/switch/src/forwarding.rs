//! The choice among next hops of equal cost by the switch itself, instead of by the packet's route.

use std::collections::BTreeMap;

use hitless_core::engine::draws::below;
use hitless_core::engine::{Stream, fmix32};
use hitless_core::wire::{Duration, PortId, Time};

/// A choice by the state of the switch.
#[derive(Debug, hitless_core::state::State)]
pub(crate) enum PathChoice {
    TwoChoices(TwoChoices),
    Flowlets(Flowlets),
}

/// Power of two choices, per packet: draws two different next hops at random and takes the one with fewer bytes in its
/// queue (Vertigo, CoNEXT 2021, section 3; DRILL, SIGCOMM 2017). It reorders packets within a flow.
#[derive(Debug, hitless_core::state::State)]
pub(crate) struct TwoChoices {
    pub stream: Stream,
}

/// Flowlets (LetFlow, NSDI 2017): a packet follows the previous one of its flow, or a random next hop if the
/// flow was idle for longer than `gap`. Flows share an entry of the table if their hashes are equal modulo its length.
///
/// A hash of `key`, entry and number of the flowlet draws the hop, so flows of other entries change nothing.
#[derive(Debug, hitless_core::state::State)]
pub(crate) struct Flowlets {
    #[configured]
    gap: Duration,
    #[configured]
    key: u32,
    /// The used entries of a table of 65,536.
    table: BTreeMap<u16, Flowlet>,
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Flowlet {
    last_packet_at: Time,
    /// Number of the flowlet in its entry.
    number: u32,
    hop: PortId,
}

impl Flowlets {
    pub fn new(gap: Duration, mut stream: Stream) -> Self {
        Self { gap, key: below(&mut stream, 1 << 32) as u32, table: BTreeMap::new() }
    }

    /// Returns the next hop of a packet and records its time.
    pub fn choose(&mut self, now: Time, flow_hash: u32, hops: &[PortId]) -> PortId {
        let index = flow_hash as u16;
        // A withdrawn route can remove the hop.
        let follows = |flowlet: &Flowlet| now - flowlet.last_packet_at <= self.gap && hops.contains(&flowlet.hop);
        let last = self.table.get(&index).copied();
        let flowlet = match last {
            Some(flowlet) if follows(&flowlet) => Flowlet { last_packet_at: now, ..flowlet },
            _ => {
                let number = last.map_or(0, |last| last.number.wrapping_add(1));
                let hop = hops[self.draw(index, number, hops.len())];
                Flowlet { last_packet_at: now, number, hop }
            }
        };
        self.table.insert(index, flowlet);
        flowlet.hop
    }

    fn draw(&self, index: u16, number: u32, count: usize) -> usize {
        let hash = fmix32(self.key ^ fmix32(u32::from(index) ^ fmix32(number)));
        ((u64::from(hash) * count as u64) >> 32) as usize
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::engine::RandomStreams;

    use super::*;

    const HOPS: [PortId; 8] = [PortId(0), PortId(1), PortId(2), PortId(3), PortId(4), PortId(5), PortId(6), PortId(7)];

    fn flowlets() -> Flowlets {
        Flowlets::new(Duration::from_us(10), RandomStreams::new(1).stream("hops"))
    }

    #[test]
    fn packets_follow_each_other_until_the_flow_is_idle_for_longer_than_the_gap() {
        let mut flowlets = flowlets();
        let mut at = Time::ZERO;
        let first = flowlets.choose(at, 7, &HOPS);
        for _ in 0..100 {
            at += Duration::from_us(10);
            assert_eq!(flowlets.choose(at, 7, &HOPS), first);
        }
        let mut next = || {
            at += Duration::from_us(10) + Duration::from_ps(1);
            flowlets.choose(at, 7, &HOPS)
        };
        let chosen: std::collections::BTreeSet<PortId> = (0..100).map(|_| next()).collect();
        assert_eq!(chosen.len(), HOPS.len(), "a hundred flowlets use every next hop");
    }

    #[test]
    fn the_flowlets_of_a_flow_take_the_same_hops_beside_other_flows() {
        let (mut alone, mut beside) = (flowlets(), flowlets());
        for number in 0..50 {
            let at = Time::ZERO + Duration::from_us(11) * number;
            beside.choose(at, 1_000 + number as u32, &HOPS);
            assert_eq!(alone.choose(at, 7, &HOPS), beside.choose(at, 7, &HOPS));
        }
    }

    #[test]
    fn a_flowlet_leaves_a_hop_that_was_withdrawn() {
        let mut flowlets = flowlets();
        let first = flowlets.choose(Time::ZERO, 7, &HOPS);
        let others: Vec<PortId> = HOPS.into_iter().filter(|hop| *hop != first).collect();
        assert_ne!(flowlets.choose(Time::ZERO, 7, &others), first);
    }
}
