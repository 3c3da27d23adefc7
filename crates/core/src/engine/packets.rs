//! The packet store: a slab of descriptors named by 32-bit handles.

use std::ops::{Index, IndexMut};

use crate::wire::Packet;

/// Identifies a packet in its [`PacketStore`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, crate::state::Value)]
pub struct PacketHandle(pub u32);

/// Approximate initial number of slots, and the growth factor of a full store.
const FIRST_SLOTS: usize = 16;
const GROWTH: usize = 4;

/// All packets that exist. Freed slots are reused, so memory stays at the maximum number alive at once.
#[derive(Debug, Default, crate::state::Value)]
pub struct PacketStore {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl PacketStore {
    /// Stores a packet. Allocates only if more packets are alive than ever before.
    ///
    /// # Panics
    /// With 2^32 packets alive.
    #[inline]
    pub fn insert(&mut self, packet: Packet) -> PacketHandle {
        let handle = self.reserve();
        self[handle] = packet;
        handle
    }

    /// Reserves a slot to be filled in place, which saves a copy. The slot holds an earlier packet's contents or a
    /// default.
    ///
    /// # Panics
    /// With 2^32 packets alive.
    #[inline]
    pub fn reserve(&mut self) -> PacketHandle {
        match self.free.pop() {
            Some(slot) => PacketHandle(slot),
            None => self.grow(),
        }
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) -> PacketHandle {
        let slot = u32::try_from(self.packets.len()).expect("fewer than 2^32 packets alive");
        if self.packets.len() == self.packets.capacity() {
            // With a factor of 4, each slot is copied a third of a time on average instead of once. Memory that is
            // reserved but not touched costs nothing.
            self.packets.reserve_exact((GROWTH - 1) * self.packets.len().max(FIRST_SLOTS));
        }
        self.packets.push(Packet::default());
        PacketHandle(slot)
    }

    /// Frees the slot of a packet that has left the run; the handle is invalid afterwards.
    #[inline]
    pub fn remove(&mut self, handle: PacketHandle) {
        debug_assert!((handle.0 as usize) < self.packets.len());
        self.free.push(handle.0);
    }

    pub fn alive(&self) -> usize {
        self.packets.len() - self.free.len()
    }

    /// Maximum number of packets alive at once.
    pub fn peak(&self) -> usize {
        self.packets.len()
    }
}

impl Index<PacketHandle> for PacketStore {
    type Output = Packet;
    #[inline(always)]
    fn index(&self, handle: PacketHandle) -> &Packet {
        &self.packets[handle.0 as usize]
    }
}

impl IndexMut<PacketHandle> for PacketStore {
    #[inline(always)]
    fn index_mut(&mut self, handle: PacketHandle) -> &mut Packet {
        &mut self.packets[handle.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn freed_slots_are_used_again() {
        let mut store = PacketStore::default();
        let first = store.insert(Packet { frame_bytes: 1, ..Packet::default() });
        let second = store.insert(Packet { frame_bytes: 2, ..Packet::default() });
        store.remove(first);
        let third = store.insert(Packet { frame_bytes: 3, ..Packet::default() });
        assert_eq!((third, store.alive(), store.peak()), (first, 2, 2));
        assert_eq!((store[second].frame_bytes, store[third].frame_bytes), (2, 3));
        store.remove(second);
        assert_eq!((store.reserve(), store.reserve(), store.peak()), (second, PacketHandle(2), 3));
    }
}
