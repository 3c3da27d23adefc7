//! Memory that is shared with the kernel.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// A mapping of a socket's ring, unmapped at drop.
///
/// Its bytes are only lent to modules that know from the ring's protocol that the kernel does not use them.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and only this value refers to it.
unsafe impl Send for Mapping {}

impl Mapping {
    /// Maps `length` bytes of `socket`, starting at `offset`.
    pub fn of_socket(socket: BorrowedFd<'_>, length: usize, offset: libc::off_t) -> io::Result<Self> {
        let flags = libc::MAP_SHARED | libc::MAP_POPULATE;
        Self::map(socket.as_raw_fd(), length, offset, flags)
    }

    /// Maps private memory of the process, which can later be registered with a socket.
    pub fn anonymous(length: usize) -> io::Result<Self> {
        Self::map(-1, length, 0, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE)
    }

    /// Its address, for registering it.
    pub fn address(&self) -> u64 {
        self.start.as_ptr().addr() as u64
    }

    fn map(fd: libc::c_int, length: usize, offset: libc::off_t, flags: libc::c_int) -> io::Result<Self> {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice does not overlap memory in use.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mmap answered address 0"))?;
        Ok(Self { start, length })
    }

    /// The 32-bit word at `offset`, which the kernel can read and write at any time.
    #[inline]
    pub fn word(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && self.holds(offset, 4), "word at {offset} of {} bytes", self.length);
        // SAFETY: the word is in the mapping, which lives as long as self. Mappings start at a page, so it is aligned,
        // and an atomic can be changed by others at any time.
        unsafe { AtomicU32::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// The 64-bit word at `offset`, which the kernel can read and write at any time.
    #[inline]
    pub fn long(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && self.holds(offset, 8), "word at {offset} of {} bytes", self.length);
        // SAFETY: as in `word`.
        unsafe { AtomicU64::from_ptr(self.start.as_ptr().add(offset).cast()) }
    }

    /// Returns `count` bytes at `offset`; `None` if they are not all in the mapping.
    ///
    /// # Safety
    /// While the slice lives the kernel must not write to these bytes, and no other slice of them may exist.
    #[inline]
    pub unsafe fn bytes_mut(&mut self, offset: usize, count: usize) -> Option<&mut [u8]> {
        if !self.holds(offset, count) {
            return None;
        }
        // SAFETY: the bytes are in the mapping, which lives as long as self, and the kernel has initialised them (pages
        // start as zeros). The caller guarantees exclusive access.
        Some(unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(offset), count) })
    }

    fn holds(&self, offset: usize, count: usize) -> bool {
        offset.checked_add(count).is_some_and(|end| end <= self.length)
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range was mapped by this value, and every slice of it borrowed this value.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}
