//! A ring between one producer and one consumer; the kernel is one of the two.

use std::io;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::interfaces::sys::mapping::Mapping;
use crate::interfaces::sys::socket::Socket;

pub trait Entry: Copy {
    const BYTES: usize;
    fn read(mapping: &Mapping, offset: usize) -> Self;
    fn write(self, mapping: &Mapping, offset: usize);
}

/// An address in the shared memory.
impl Entry for u64 {
    const BYTES: usize = 8;

    fn read(mapping: &Mapping, offset: usize) -> Self {
        mapping.long(offset).load(Relaxed)
    }

    fn write(self, mapping: &Mapping, offset: usize) {
        mapping.long(offset).store(self, Relaxed);
    }
}

/// A frame in the shared memory (`struct xdp_desc`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// Offset of its first byte.
    pub address: u64,
    pub length: u32,
    /// Whether it continues in the next descriptor.
    pub options: u32,
}

impl Entry for Descriptor {
    const BYTES: usize = 16;

    fn read(mapping: &Mapping, offset: usize) -> Self {
        Self {
            address: mapping.long(offset).load(Relaxed),
            length: mapping.word(offset + 8).load(Relaxed),
            options: mapping.word(offset + 12).load(Relaxed),
        }
    }

    fn write(self, mapping: &Mapping, offset: usize) {
        mapping.long(offset).store(self.address, Relaxed);
        mapping.word(offset + 8).store(self.length, Relaxed);
        mapping.word(offset + 12).store(self.options, Relaxed);
    }
}

/// One ring. The process moves the position `ours`, the kernel the other one.
#[derive(Debug)]
pub struct Ring<T> {
    mapping: Mapping,
    offsets: Offsets,
    mask: u32,
    /// Next entry to write or read; the position published to the kernel can be behind it.
    ours: u32,
    /// The kernel's position at the last look.
    theirs: u32,
    entry: std::marker::PhantomData<T>,
}

#[derive(Clone, Copy, Debug)]
struct Offsets {
    producer: usize,
    consumer: usize,
    entries: usize,
    flags: usize,
}

impl<T: Entry> Ring<T> {
    /// Maps the ring of `socket` with `entries` (a power of two).
    pub fn map(socket: &Socket, told: libc::xdp_ring_offset, entries: u32, page: libc::off_t) -> io::Result<Self> {
        let offset = |value: u64| usize::try_from(value).map_err(io::Error::other);
        let offsets = Offsets {
            producer: offset(told.producer)?,
            consumer: offset(told.consumer)?,
            entries: offset(told.desc)?,
            flags: offset(told.flags)?,
        };
        let length = offsets.entries + entries as usize * T::BYTES;
        let mapping = Mapping::of_socket(socket.as_fd(), length, page)?;
        Ok(Self { mapping, offsets, mask: entries - 1, ours: 0, theirs: 0, entry: std::marker::PhantomData })
    }

    /// Adds `entry`, without publishing it ([`Ring::publish`]); returns false if the ring is full.
    #[inline]
    pub fn push(&mut self, entry: T) -> bool {
        if self.ours.wrapping_sub(self.theirs) > self.mask {
            // The kernel writes this word: each look moves its cache line, so we look only if the ring seems full.
            self.theirs = self.mapping.word(self.offsets.consumer).load(Acquire);
            if self.ours.wrapping_sub(self.theirs) > self.mask {
                return false;
            }
        }
        entry.write(&self.mapping, self.place(self.ours));
        self.ours = self.ours.wrapping_add(1);
        true
    }

    /// Moves as many entries as possible from the end of `entries` to the ring, and publishes them.
    pub fn push_from(&mut self, entries: &mut Vec<T>) {
        while let Some(entry) = entries.pop() {
            if !self.push(entry) {
                entries.push(entry);
                break;
            }
        }
        self.publish();
    }

    pub fn publish(&self) {
        self.mapping.word(self.offsets.producer).store(self.ours, Release);
    }

    /// Takes the next entry, if there is one; the kernel can reuse its place after [`Ring::release`].
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        if self.ours == self.theirs {
            self.theirs = self.mapping.word(self.offsets.producer).load(Acquire);
            if self.ours == self.theirs {
                return None;
            }
        }
        let entry = T::read(&self.mapping, self.place(self.ours));
        self.ours = self.ours.wrapping_add(1);
        Some(entry)
    }

    pub fn release(&self) {
        self.mapping.word(self.offsets.consumer).store(self.ours, Release);
    }

    /// Number of published entries that the kernel has not taken yet.
    pub fn not_taken(&self) -> u32 {
        self.ours.wrapping_sub(self.mapping.word(self.offsets.consumer).load(Acquire))
    }

    /// Returns whether the kernel sleeps and must be woken.
    pub fn needs_wakeup(&self) -> bool {
        self.mapping.word(self.offsets.flags).load(Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }

    fn place(&self, position: u32) -> usize {
        self.offsets.entries + (position & self.mask) as usize * T::BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring of four entries; the test acts as the kernel.
    fn ring() -> Ring<u64> {
        let offsets = Offsets { producer: 0, consumer: 64, entries: 128, flags: 192 };
        let mapping = Mapping::anonymous(4096).expect("a page of memory");
        Ring { mapping, offsets, mask: 3, ours: 0, theirs: 0, entry: std::marker::PhantomData }
    }

    /// The kernel moves its position in the fill ring only after it has delivered the frame: a fast receiver finds the
    /// ring full when it returns the chunk.
    #[test]
    fn a_chunk_waits_while_the_fill_ring_still_looks_full() {
        let mut ring = ring();
        let mut chunks = vec![4, 3, 2, 1];
        ring.push_from(&mut chunks);
        assert!(chunks.is_empty());
        let mut returning = vec![1];
        ring.push_from(&mut returning);
        assert_eq!(returning, [1], "no room yet, and not lost");
        ring.mapping.word(64).store(1, Release);
        ring.push_from(&mut returning);
        assert!(returning.is_empty());
        assert_eq!(ring.mapping.word(0).load(Acquire), 5, "published");
        assert_eq!(ring.mapping.long(128).load(Relaxed), 1, "in the place of the one that was taken");
    }

    #[test]
    fn positions_wrap_around() {
        let mut ring = ring();
        (ring.ours, ring.theirs) = (u32::MAX - 1, u32::MAX - 1);
        ring.mapping.word(64).store(u32::MAX - 1, Release);
        let pushed = (0..6).filter(|entry| ring.push(*entry)).count();
        assert_eq!(pushed, 4);
        assert_eq!(ring.not_taken(), 4);
    }

    #[test]
    fn what_was_published_by_the_other_side_is_popped_in_order() {
        let mut ring = ring();
        assert_eq!(ring.pop(), None);
        for (at, entry) in [7, 8, 9].into_iter().enumerate() {
            ring.mapping.long(128 + 8 * at).store(entry, Relaxed);
        }
        ring.mapping.word(0).store(3, Release);
        assert_eq!([ring.pop(), ring.pop(), ring.pop(), ring.pop()], [Some(7), Some(8), Some(9), None]);
        ring.release();
        assert_eq!(ring.mapping.word(64).load(Acquire), 3);
    }
}
