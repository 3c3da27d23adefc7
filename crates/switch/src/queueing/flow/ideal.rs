//! Ideal fair queueing: bit-by-bit round robin (Demers, Keshav and Shenker 1989; AFQ, section 2.1).
//!
//! A packet's finish number is the round in which its last bit would be sent if flows sent bit by bit; the packet with
//! the smallest goes first. When the buffer is full the packet with the largest goes (AFQ, section 5), which is the
//! last one of its flow. Finish numbers count what a packet takes of the line, preamble and gap included, because the
//! rounds go with the line's rate.

use std::cmp::Reverse;

use hitless_core::wire::BitRate;

use super::entry::{Arriving, Waiting};
use super::flows::{FlowKey, FlowNumbers};
use super::heap::IndexedHeap;
use super::packets::{PacketList, PacketLists};
use super::rounds::Rounds;
use super::weights::ClassWeights;
use crate::queueing::marking::EcnMarker;

/// Its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdealFqConfig {
    /// By class, the bits of a flow in a round.
    pub weights: ClassWeights,
    /// A packet is marked that ends so many rounds of bits or more ahead of the round under way: a flow's own queue,
    /// measured as AFQ's transport does (section 5).
    pub mark_rounds: Option<u64>,
    /// A flow is charged for packets that were dropped for lack of buffer, as with Demers, Keshav and Shenker, who
    /// leave finish numbers as they are.
    pub charge_drops: bool,
}

/// What is noted with a packet.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Note {
    finish: u64,
    /// How many packets came before, which tells equal finish numbers apart.
    number: u64,
    /// The flow as it was before the packet.
    before: Progress,
}

/// How far a flow is with what it has sent so far.
#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Progress {
    /// The round in which the last bit of its last packet is sent.
    finish: u64,
    /// Bits that it may still send in that round.
    spare_bits: u32,
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Flow {
    key: FlowKey,
    list: PacketList,
    progress: Progress,
    weight: u32,
}

/// The discipline.
#[derive(Debug)]
pub(super) struct IdealFq {
    config: IdealFqConfig,
    overhead_bytes: u32,
    numbers: FlowNumbers,
    flows: Vec<Flow>,
    rounds: Rounds,
    packets: PacketLists<Note>,
    arrivals: u64,
    /// Flows with packets, by the finish number of the first.
    first: IndexedHeap<(u64, u64)>,
    /// Flows with packets, by the finish number of the last, the largest first.
    last: IndexedHeap<Reverse<(u64, u64)>>,
}

hitless_core::state!(IdealFq {
    values: numbers, flows, packets, arrivals, first, last;
    parts: rounds;
    configured: config, overhead_bytes
});

impl IdealFq {
    pub fn new(config: IdealFqConfig, rate: BitRate, overhead_bytes: u32) -> Self {
        Self {
            config,
            overhead_bytes,
            numbers: FlowNumbers::default(),
            flows: Vec::new(),
            rounds: Rounds::new(rate),
            packets: PacketLists::default(),
            arrivals: 0,
            first: IndexedHeap::default(),
            last: IndexedHeap::default(),
        }
    }

    /// Whether the depth of the flow's own queue asks for a mark.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving, marker: &mut EcnMarker) -> bool {
        self.rounds.go_on(arriving.entry.enqueued_at);
        while let Some(number) = self.rounds.next_through() {
            self.forget_if_gone(number);
        }
        let number = self.flow_of(arriving);
        let note = self.bid(number, arriving.entry.frame_bytes);
        let flow = &mut self.flows[number as usize];
        let depth = flow.list;
        self.packets.push_back(&mut flow.list, arriving.waiting(), note);
        if depth.packets == 0 {
            self.first.set(number, (note.finish, note.number));
        }
        self.last.set(number, Reverse((note.finish, note.number)));
        let is_far_ahead = self.config.mark_rounds.is_some_and(|ahead| note.finish >= self.rounds.made() + ahead);
        is_far_ahead || marker.marks(depth.packets as usize, depth.bytes)
    }

    #[inline]
    fn flow_of(&mut self, arriving: &Arriving) -> u32 {
        let (number, is_new) = self.numbers.of(arriving.flow);
        if is_new {
            let weight = self.config.weights.of(arriving.class);
            let flow = Flow { key: arriving.flow, weight, ..Flow::default() };
            match self.flows.get_mut(number as usize) {
                Some(slot) => *slot = flow,
                None => self.flows.push(flow),
            }
        }
        number
    }

    /// Gives the next packet of a flow its finish number, and charges the flow for it.
    #[inline]
    fn bid(&mut self, number: u32, frame_bytes: u32) -> Note {
        let flow = &mut self.flows[number as usize];
        if !self.rounds.is_active(number) {
            flow.progress = Progress { finish: self.rounds.made(), spare_bits: 0 };
        }
        let before = flow.progress;
        let bits = u64::from(frame_bytes + self.overhead_bytes) * 8;
        let weight = u64::from(flow.weight);
        let rounds = bits.saturating_sub(before.spare_bits.into()).div_ceil(weight);
        let spare_bits = u64::from(before.spare_bits) + rounds * weight - bits;
        flow.progress = Progress { finish: before.finish + rounds, spare_bits: spare_bits as u32 };
        self.rounds.take_part(number, flow.progress.finish, flow.weight);
        self.arrivals += 1;
        Note { finish: flow.progress.finish, number: self.arrivals, before }
    }

    #[inline]
    pub fn pop(&mut self) -> Option<Waiting> {
        let (_, number) = self.first.first()?;
        let flow = &mut self.flows[number as usize];
        let (packet, _) = self.packets.pop_front(&mut flow.list)?;
        match self.packets.front(&flow.list) {
            Some((_, next)) => self.first.set(number, (next.finish, next.number)),
            None => self.emptied(number),
        }
        Some(packet)
    }

    /// The packet with the largest finish number.
    pub fn evict(&mut self) -> Option<Waiting> {
        let (_, number) = self.last.first()?;
        let flow = &mut self.flows[number as usize];
        let (packet, note) = self.packets.pop_back(&mut flow.list)?;
        if !self.config.charge_drops {
            self.refund(number, note.before);
        }
        match self.packets.back(&self.flows[number as usize].list) {
            Some((_, last)) => self.last.set(number, Reverse((last.finish, last.number))),
            None => self.emptied(number),
        }
        Some(packet)
    }

    fn refund(&mut self, number: u32, before: Progress) {
        let flow = &mut self.flows[number as usize];
        flow.progress = before;
        if before.finish <= self.rounds.made() {
            self.rounds.leave(number);
        } else {
            self.rounds.take_part(number, before.finish, flow.weight);
        }
    }

    #[inline]
    fn emptied(&mut self, number: u32) {
        self.first.remove(number);
        self.last.remove(number);
        self.forget_if_gone(number);
    }

    /// A flow is known until its last packet has left and its last round is made.
    #[inline]
    fn forget_if_gone(&mut self, number: u32) {
        let flow = &self.flows[number as usize];
        if flow.list.packets == 0 && !self.rounds.is_active(number) {
            self.numbers.forget(flow.key);
        }
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.flows.iter().flat_map(|flow| self.packets.iter(&flow.list))
    }
}
