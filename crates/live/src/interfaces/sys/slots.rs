//! A packet socket's ring: slots of equal size that pass between the kernel and the process.
//!
//! Each slot starts with a status word. Whoever has the slot writes everything else first and the word last, with
//! release order; who reads the word with acquire order and finds the slot to be his has the rest of it to himself
//! (Documentation/networking/packet_mmap.rst of Linux).

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::Ordering::{Acquire, Release};

use super::mapping::Mapping;

/// Which way frames go through a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The kernel fills slots.
    Receive,
    /// The process fills slots.
    Transmit,
}

/// The slots of one ring.
#[derive(Debug)]
pub struct Slots {
    mapping: Mapping,
    slot_bytes: usize,
    count: usize,
    direction: Direction,
}

impl Slots {
    /// Maps a ring of `count` slots of `slot_bytes` that `socket` has been given.
    pub fn map(socket: BorrowedFd<'_>, slot_bytes: usize, count: usize, direction: Direction) -> io::Result<Self> {
        let mapping = Mapping::of_socket(socket, slot_bytes * count, 0)?;
        Ok(Self { mapping, slot_bytes, count, direction })
    }

    /// The status word of slot `index`.
    ///
    /// # Panics
    /// When there is no such slot.
    #[inline]
    pub fn status(&self, index: usize) -> u32 {
        self.mapping.word(index * self.slot_bytes).load(Acquire)
    }

    /// The status word of slot `index` and all of its bytes, that word included, when it belongs to the process now.
    ///
    /// # Panics
    /// When there is no such slot.
    #[inline]
    pub fn owned(&mut self, index: usize) -> Option<(u32, &mut [u8])> {
        assert!(index < self.count, "slot {index} of {}", self.count);
        let status = self.status(index);
        if !self.is_ours(status) {
            return None;
        }
        // SAFETY: the status says that the kernel has given the slot to the process, and it does not touch it again
        // before `give`, which needs self for itself; so does any other slice.
        let bytes = unsafe { self.mapping.bytes_mut(index * self.slot_bytes, self.slot_bytes) }?;
        Some((status, bytes))
    }

    /// Gives slot `index` away with a new status word.
    ///
    /// # Panics
    /// When there is no such slot.
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
