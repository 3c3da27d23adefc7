//! Deficit round robin (Shreedhar and Varghese 1995) over numbered queues, with access to the longest.

use std::cmp::Reverse;

use super::chain::{Chain, Links};
use super::entry::Waiting;
use super::heap::IndexedHeap;
use super::packets::{PacketList, PacketLists};

#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Queue {
    list: PacketList,
    deficit_bytes: u64,
    /// Bytes added in each turn.
    quantum_bytes: u64,
}

#[derive(Debug, Default, hitless_core::state::Value)]
pub(super) struct RoundRobin {
    packets: PacketLists<()>,
    queues: Vec<Queue>,
    links: Links,
    /// Queues with packets; the first has its turn.
    active: Chain,
    /// Whether the first active queue has received its quantum.
    turn_has_begun: bool,
    /// Queues by bytes; of equally long queues the highest number comes first.
    longest: IndexedHeap<Reverse<(u64, u32)>>,
}

impl RoundRobin {
    /// Puts a packet into a queue; an empty queue takes `quantum_bytes` as its quantum.
    #[inline]
    pub fn push(&mut self, number: u32, packet: Waiting, quantum_bytes: u64) {
        let index = number as usize;
        if self.queues.len() <= index {
            self.queues.resize(index + 1, Queue { list: PacketList::default(), deficit_bytes: 0, quantum_bytes });
        }
        let queue = &mut self.queues[index];
        if queue.list.packets == 0 {
            queue.quantum_bytes = quantum_bytes;
            self.links.push_back(&mut self.active, number);
        }
        self.packets.push_back(&mut queue.list, packet, ());
        self.longest.set(number, Reverse((queue.list.bytes, number)));
    }

    /// Returns the packets of a queue.
    #[inline]
    pub fn list(&self, number: u32) -> PacketList {
        self.queues.get(number as usize).map_or_else(PacketList::default, |queue| queue.list)
    }

    /// Takes the next packet to send; returns it with its queue.
    #[inline]
    pub fn pop(&mut self) -> Option<(u32, Waiting)> {
        loop {
            let number = self.active.first()?;
            let queue = &mut self.queues[number as usize];
            if !std::mem::replace(&mut self.turn_has_begun, true) {
                queue.deficit_bytes += queue.quantum_bytes;
            }
            let first = self.packets.front(&queue.list).expect("an active queue has a packet");
            let frame_bytes = u64::from(first.0.entry.frame_bytes);
            if queue.deficit_bytes < frame_bytes {
                // The quantum does not cover the frame; the deficit stays for the next turn.
                self.links.move_to_back(&mut self.active, number);
                self.turn_has_begun = false;
                continue;
            }
            queue.deficit_bytes -= frame_bytes;
            let (packet, ()) = self.packets.pop_front(&mut queue.list)?;
            self.shortened(number);
            return Some((number, packet));
        }
    }

    /// Takes the last packet of the longest queue; returns it with its queue.
    pub fn pop_longest(&mut self) -> Option<(u32, Waiting)> {
        let (_, number) = self.longest.first()?;
        let (packet, ()) = self.packets.pop_back(&mut self.queues[number as usize].list)?;
        self.shortened(number);
        Some((number, packet))
    }

    #[inline]
    fn shortened(&mut self, number: u32) {
        let queue = &mut self.queues[number as usize];
        if queue.list.packets > 0 {
            return self.longest.set(number, Reverse((queue.list.bytes, number)));
        }
        // A queue without packets keeps no deficit, as in the paper.
        queue.deficit_bytes = 0;
        self.longest.remove(number);
        if self.active.first() == Some(number) {
            self.turn_has_begun = false;
        }
        self.links.remove(&mut self.active, number);
    }

    pub fn waiting(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.iter().flat_map(|queue| self.packets.iter(&queue.list))
    }
}
