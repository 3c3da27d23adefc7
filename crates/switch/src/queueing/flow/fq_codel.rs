//! FQ-CoDel (RFC 8290): flows hashed to queues that take turns, new ones first, each controlled by CoDel.

use hitless_core::wire::Time;

use super::chain::{Chain, Links};
use super::codel::{Codel, CodelConfig, Head};
use super::entry::{Arriving, Waiting};
use super::packets::{PacketList, PacketLists};
use super::spread::spread;

/// Its parameters, by their names in RFC 8290, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// How many queues flows are hashed to.
    pub flows: u32,
    /// Bytes that a queue is given in each turn.
    pub quantum_bytes: u32,
    /// Packets that may wait; the port's own limit applies too.
    pub limit_packets: u32,
    /// Most packets that a full queue loses at once (section 4.1: half of the fattest queue, at most 64).
    pub drop_batch: u32,
    /// CoDel.
    pub codel: CodelConfig,
    /// What the hash begins with, so that not all ports put the same flows together.
    pub salt: u32,
}

/// In which of the two lists of queues a queue is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
enum Place {
    #[default]
    Neither,
    New,
    Old,
}

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Queue {
    list: PacketList,
    credit_bytes: i64,
    place: Place,
    codel: Codel,
}

/// The discipline.
#[derive(Debug)]
pub(super) struct FqCodel {
    config: FqCodelConfig,
    packets: PacketLists<()>,
    queues: Vec<Queue>,
    links: Links,
    new: Chain,
    old: Chain,
}

hitless_core::state!(FqCodel { values: packets, queues, links, new, old; configured: config });

impl FqCodel {
    pub fn new(config: FqCodelConfig) -> Self {
        let queues = vec![Queue::default(); config.flows as usize];
        let (new, old) = (Chain::default(), Chain::default());
        Self { config, packets: PacketLists::default(), queues, links: Links::default(), new, old }
    }

    pub const fn limit_packets(&self) -> usize {
        self.config.limit_packets as usize
    }

    /// RFC 8290, section 4.1. Marks are decided when packets leave.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving) {
        let number = spread(arriving.flow.hash(), self.config.salt, self.config.flows);
        let queue = &mut self.queues[number as usize];
        self.packets.push_back(&mut queue.list, arriving.waiting(), ());
        if queue.place == Place::Neither {
            queue.place = Place::New;
            queue.credit_bytes = self.config.quantum_bytes.into();
            self.links.push_back(&mut self.new, number);
        }
    }

    /// The next packet to send, and whether it is to be marked (RFC 8290, section 4.2).
    #[inline]
    pub fn pop(&mut self, now: Time, mut dropped: impl FnMut(Waiting)) -> Option<(Waiting, bool)> {
        loop {
            let number = self.new.first().or(self.old.first())?;
            if self.queues[number as usize].credit_bytes <= 0 {
                self.queues[number as usize].credit_bytes += i64::from(self.config.quantum_bytes);
                self.become_old(number);
                continue;
            }
            let Some((packet, mark)) = self.take(number, now, &mut dropped) else {
                self.retire(number);
                continue;
            };
            self.queues[number as usize].credit_bytes -= i64::from(packet.entry.frame_bytes);
            return Some((packet, mark));
        }
    }

    #[inline]
    fn take(&mut self, number: u32, now: Time, dropped: impl FnMut(Waiting)) -> Option<(Waiting, bool)> {
        let Queue { list, codel, .. } = &mut self.queues[number as usize];
        let packets = &mut self.packets;
        let next = || {
            let (packet, ()) = packets.pop_front(list)?;
            Some(Head { packet, bytes_left: list.bytes })
        };
        codel.take(&self.config.codel, now, next, dropped)
    }

    /// A new queue that is empty becomes an old one, so that a flow cannot stay new by sending one packet at a time; an
    /// old one leaves.
    fn retire(&mut self, number: u32) {
        if self.queues[number as usize].place == Place::New {
            return self.become_old(number);
        }
        self.links.remove(&mut self.old, number);
        self.queues[number as usize].place = Place::Neither;
    }

    fn become_old(&mut self, number: u32) {
        let queue = &mut self.queues[number as usize];
        match std::mem::replace(&mut queue.place, Place::Old) {
            Place::New => self.links.remove(&mut self.new, number),
            Place::Old => self.links.remove(&mut self.old, number),
            Place::Neither => {}
        }
        self.links.push_back(&mut self.old, number);
    }

    /// Drops from the head of the queue with most bytes: half of it, or as much as one batch (RFC 8290, section 4.1).
    pub fn evict(&mut self, mut dropped: impl FnMut(Waiting)) {
        let fattest = self.queues.iter_mut().max_by_key(|queue| queue.list.bytes);
        let Some(queue) = fattest else { return };
        let packets = queue.list.packets.div_ceil(2).min(self.config.drop_batch);
        for _ in 0..packets {
            if let Some((packet, ())) = self.packets.pop_front(&mut queue.list) {
                dropped(packet);
            }
        }
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.iter().flat_map(|queue| self.packets.iter(&queue.list))
    }
}
