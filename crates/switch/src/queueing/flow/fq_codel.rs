//! FQ-CoDel (RFC 8290): flows are hashed to queues that take turns, new queues first; CoDel controls each queue.

use hitless_core::wire::Time;

use super::chain::{Chain, Links};
use super::codel::{Codel, CodelConfig, Head};
use super::entry::{Arriving, Waiting};
use super::packets::{PacketList, PacketLists};
use super::spread::spread;

/// The parameters, named as in RFC 8290, section 5.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelConfig {
    /// Number of queues that flows are hashed to.
    pub flows: u32,
    /// Quantum in bytes of a queue.
    pub quantum_bytes: u32,
    /// Maximum number of waiting packets; the port's limit applies too.
    pub limit_packets: u32,
    /// Maximum number of packets dropped at once from a full queue (section 4.1: half of the fattest queue, at most
    /// 64).
    pub drop_batch: u32,
    /// CoDel's parameters.
    pub codel: CodelConfig,
    /// Salt of the hash, so that different ports hash different flows together.
    pub salt: u32,
}

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

#[derive(Debug, hitless_core::state::State)]
pub(super) struct FqCodel {
    #[configured]
    config: FqCodelConfig,
    packets: PacketLists<()>,
    queues: Vec<Queue>,
    links: Links,
    new: Chain,
    old: Chain,
}

impl FqCodel {
    pub fn new(config: FqCodelConfig) -> Self {
        let queues = vec![Queue::default(); config.flows as usize];
        let (new, old) = (Chain::default(), Chain::default());
        Self { config, packets: PacketLists::default(), queues, links: Links::default(), new, old }
    }

    pub const fn limit_packets(&self) -> usize {
        self.config.limit_packets as usize
    }

    /// Queues a packet (RFC 8290, section 4.1). Marks are decided at dequeue.
    #[inline]
    pub fn push(&mut self, arriving: &Arriving) {
        let number = spread(arriving.flow.hash(), self.config.salt, self.config.flows);
        let queue = &mut self.queues[number as usize];
        self.packets.push_back(&mut queue.list, arriving.waiting(), ());
        if queue.place == Place::Neither {
            queue.place = Place::New;
            // A queue that becomes active starts with one quantum (RFC 8290, section 4.1).
            queue.credit_bytes = self.config.quantum_bytes.into();
            self.links.push_back(&mut self.new, number);
        }
    }

    /// Returns the next packet to send, and whether to mark it (RFC 8290, section 4.2).
    #[inline]
    pub fn pop(&mut self, now: Time, mut dropped: impl FnMut(Waiting)) -> Option<(Waiting, bool)> {
        loop {
            // New queues go first, which favours sparse flows (RFC 8290, section 4.2).
            let number = self.new.first().or(self.old.first())?;
            if self.queues[number as usize].credit_bytes <= 0 {
                // A queue that has used its credit goes to the end of the old list, whichever list it was in (RFC 8290,
                // section 4.2).
                self.queues[number as usize].credit_bytes += i64::from(self.config.quantum_bytes);
                self.become_old(number);
                continue;
            }
            // CoDel can drop all packets of a queue, which then counts as empty.
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

    /// Retires an empty queue. A new queue becomes old first, so that a flow cannot stay new by sending one packet at a
    /// time; an old queue leaves its list.
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

    /// Drops from the head of the queue with the most bytes: half of its packets, at most one batch (RFC 8290, section
    /// 4.1).
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
