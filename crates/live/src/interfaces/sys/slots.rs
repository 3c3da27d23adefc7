//! A packet socket's ring: slots of equal size that pass between the kernel and the process.
//!
//! Each slot starts with a status word. The owner of a slot writes everything else first and the status word last, with
//! release order. A reader that loads the word with acquire order and finds that it owns the slot has exclusive access
//! to the rest (Documentation/networking/packet_mmap.rst of Linux).

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::mapping::Mapping;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The kernel fills slots.
    Receive,
    /// The process fills slots.
    Transmit,
}

#[derive(Debug)]
pub struct Slots {
    mapping: Mapping,
    slot_bytes: usize,
    count: usize,
    direction: Direction,
}

impl Slots {
    /// Maps the ring of `socket` with `count` slots of `slot_bytes`.
    pub fn map(socket: BorrowedFd<'_>, slot_bytes: usize, count: usize, direction: Direction) -> io::Result<Self> {
        let mapping = Mapping::of_socket(socket, slot_bytes * count, 0)?;
        Ok(Self { mapping, slot_bytes, count, direction })
    }

    /// Reads the status word of slot `index`.
    #[inline]
    pub fn status(&self, index: usize) -> u32 {
        self.mapping.word(index * self.slot_bytes).load(Acquire)
    }

    /// Returns the status word of slot `index` and all its bytes (including that word) if the process owns it.
    #[inline]
    pub fn owned(&mut self, index: usize) -> Option<(u32, &mut [u8])> {
        assert!(index < self.count, "slot {index} of {}", self.count);
        let status = self.status(index);
        if !self.is_ours(status) {
            return None;
        }
        // SAFETY: the status shows that the process owns the slot. The kernel does not touch it before `give`, which
        // needs `&mut self`, as does any other slice.
        let bytes = unsafe { self.mapping.bytes_mut(index * self.slot_bytes, self.slot_bytes) }?;
        Some((status, bytes))
    }

    /// Passes slot `index` to the kernel with a new status word.
    #[inline]
    pub fn give(&mut self, index: usize, status: u32) {
        assert!(index < self.count, "slot {index} of {}", self.count);
        self.mapping.word(index * self.slot_bytes).store(status, Release);
    }

    fn is_ours(&self, status: u32) -> bool {
        match self.direction {
            Direction::Receive => status & libc::TP_STATUS_USER != 0,
            Direction::Transmit => status & (libc::TP_STATUS_SEND_REQUEST | libc::TP_STATUS_SENDING) == 0,
        }
    }
}
