//! The packets of all queues of a port, in one slab.

use super::chain::{Chain, Links};
use super::entry::Waiting;

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
pub(super) struct PacketList {
    chain: Chain,
    pub packets: u32,
    pub bytes: u64,
}

/// The slab. `N` is the data that a discipline keeps with each packet.
#[derive(Debug, hitless_core::state::Value)]
pub(super) struct PacketLists<N> {
    slots: Vec<(Waiting, N)>,
    links: Links,
    free: Vec<u32>,
}

impl<N> Default for PacketLists<N> {
    fn default() -> Self {
        Self { slots: Vec::new(), links: Links::default(), free: Vec::new() }
    }
}

impl<N: Copy> PacketLists<N> {
    #[inline]
    pub fn push_back(&mut self, list: &mut PacketList, packet: Waiting, note: N) {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = (packet, note);
                slot
            }
            None => {
                self.slots.push((packet, note));
                self.slots.len() as u32 - 1
            }
        };
        self.links.push_back(&mut list.chain, slot);
        list.packets += 1;
        list.bytes += u64::from(packet.entry.frame_bytes);
    }

    #[inline]
    pub fn front(&self, list: &PacketList) -> Option<&(Waiting, N)> {
        Some(&self.slots[list.chain.first()? as usize])
    }

    #[inline]
    pub fn back(&self, list: &PacketList) -> Option<&(Waiting, N)> {
        Some(&self.slots[list.chain.last()? as usize])
    }

    #[inline]
    pub fn pop_front(&mut self, list: &mut PacketList) -> Option<(Waiting, N)> {
        let slot = list.chain.first()?;
        Some(self.take(list, slot))
    }

    pub fn pop_back(&mut self, list: &mut PacketList) -> Option<(Waiting, N)> {
        let slot = list.chain.last()?;
        Some(self.take(list, slot))
    }

    #[inline]
    fn take(&mut self, list: &mut PacketList, slot: u32) -> (Waiting, N) {
        self.links.remove(&mut list.chain, slot);
        self.free.push(slot);
        let taken = self.slots[slot as usize];
        list.packets -= 1;
        list.bytes -= u64::from(taken.0.entry.frame_bytes);
        taken
    }

    /// Iterates over the packets of a list, oldest first.
    pub fn iter(&self, list: &PacketList) -> impl Iterator<Item = &Waiting> {
        let slots = std::iter::successors(list.chain.first(), |&slot| self.links.after(slot));
        slots.map(|slot| &self.slots[slot as usize].0)
    }
}
