//! Ideal fair queueing: bit-by-bit round robin (Demers, Keshav and Shenker 1989; AFQ, section 2.1).
//!
//! A packet's finish number is the round that would send its last bit if flows sent bit by bit. The packet with the
//! lowest finish number goes first. If the buffer is full, the packet with the highest is dropped (AFQ, section 5); it
//! is the last packet of its flow. Finish numbers count the line time of a packet, including preamble and gap, because
//! rounds advance with the line rate.

use std::cmp::Reverse;

use hitless_core::wire::BitRate;

use super::entry::{Arriving, Waiting};
use super::flows::{FlowKey, FlowNumbers};
use super::heap::IndexedHeap;
use super::packets::{PacketList, PacketLists};
use super::rounds::Rounds;
use super::weights::ClassWeights;
use crate::queueing::marking::EcnMarker;

/// The parameters of ideal fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdealFqConfig {
    /// Bits of a flow per round, by class.
    pub weights: ClassWeights,
    /// Threshold for marks, in rounds of bits from the current round to the end of the packet: the depth of the flow's
    /// queue, as AFQ's transport measures it (section 5).
    pub mark_rounds: Option<u64>,
    /// Whether a flow is charged for packets dropped for lack of buffer, as in Demers, Keshav and Shenker, who leave
    /// finish numbers unchanged.
    pub charge_drops: bool,
}

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Note {
    finish: u64,
    /// Arrival number of the packet, to order equal finish numbers.
    number: u64,
    /// Progress of the flow before this packet.
    before: Progress,
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Progress {
    /// Round that sends the last bit of its last packet.
    finish: u64,
    /// Bits that it can still send in that round.
    spare_bits: u32,
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Flow {
    key: FlowKey,
    list: PacketList,
    progress: Progress,
    weight: u32,
}

#[derive(Debug, hitless_core::state::State)]
pub(super) struct IdealFq {
    #[configured]
    config: IdealFqConfig,
    #[configured]
    overhead_bytes: u32,
    numbers: FlowNumbers,
    flows: Vec<Flow>,
    #[part]
    rounds: Rounds,
    packets: PacketLists<Note>,
    arrivals: u64,
    /// Flows with packets, by finish number of their first packet.
    first: IndexedHeap<(u64, u64)>,
    /// Flows with packets, by finish number of their last packet, largest first.
    last: IndexedHeap<Reverse<(u64, u64)>>,
}

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

    /// Queues a packet; returns whether the depth of its flow's queue requires a mark.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving, marker: &mut EcnMarker) -> bool {
        self.rounds.go_on(arriving.entry.enqueued_at);
        // A flow becomes inactive when the rounds pass its last one; without packets it is then forgotten.
        while let Some(number) = self.rounds.next_through() {
            self.forget_if_gone(number);
        }
        let number = self.flow_of(arriving);
        let note = self.bid(number, arriving.entry.frame_bytes);
        let flow = &mut self.flows[number as usize];
        let depth = flow.list;
        self.packets.push_back(&mut flow.list, arriving.waiting(), note);
        // Only the first packet of a flow competes for service; only its last one can be dropped.
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

    /// Assigns the flow's next finish number and charges the flow for the packet.
    #[inline]
    fn bid(&mut self, number: u32, frame_bytes: u32) -> Note {
        let flow = &mut self.flows[number as usize];
        // An idle flow cannot claim past rounds; it starts at the current one.
        if !self.rounds.is_active(number) {
            flow.progress = Progress { finish: self.rounds.made(), spare_bits: 0 };
        }
        let before = flow.progress;
        let bits = u64::from(frame_bytes + self.overhead_bytes) * 8;
        let weight = u64::from(flow.weight);
        let rounds = bits.saturating_sub(before.spare_bits.into()).div_ceil(weight);
        // A flow of weight w sends w bits per round; bits of its last round that a packet does not use go to the next
        // packet.
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

    /// Takes the packet with the highest finish number.
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
            // Without the dropped packet, the flow's last round is already over.
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

    /// Forgets a flow when its last packet has left and its last round is over.
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
