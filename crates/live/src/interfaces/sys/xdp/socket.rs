//! The socket with its memory and its rings.

use std::io;

use super::ring::{Descriptor, Ring};
use crate::interfaces::sys::mapping::Mapping;
use crate::interfaces::sys::socket::Socket;

/// Length of the timestamp that the program stores before a received frame.
const STAMP_BYTES: usize = 8;
/// Bytes that the kernel leaves free in a chunk before a received frame (`XDP_PACKET_HEADROOM`).
pub const HEADROOM_BYTES: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of a chunk: a power of two from 2048 to the size of a page.
    pub chunk_bytes: usize,
    /// Chunks, and entries of the rings, per direction: a power of two.
    pub chunks: u32,
}

/// An AF_XDP socket for one queue of an interface.
#[derive(Debug)]
pub struct XdpSocket {
    // Fields are dropped in order: rings are unmapped before the socket is closed, and the memory after that.
    receive: Ring<Descriptor>,
    fill: Ring<u64>,
    transmit: Ring<Descriptor>,
    completion: Ring<u64>,
    pub socket: Socket,
    memory: Mapping,
    shape: Shape,
    /// Receive chunks that wait for room in the fill ring.
    returning: Vec<u64>,
    /// Transmit chunks that are neither in a ring nor with the kernel.
    free: Vec<u64>,
}

impl XdpSocket {
    /// Opens a socket with memory and rings, not bound yet.
    ///
    /// # Errors
    /// `PermissionDenied` without CAP_NET_RAW; `ENOBUFS` if the locked memory would exceed the process's limit.
    pub fn open(shape: Shape) -> io::Result<Self> {
        let socket = Socket::open(libc::AF_XDP, libc::SOCK_RAW, 0)?;
        let memory = Mapping::anonymous(shape.chunk_bytes * shape.chunks as usize * 2)?;
        register(&socket, &memory, shape)?;
        let entries = shape.chunks.cast_signed();
        for ring in [libc::XDP_UMEM_FILL_RING, libc::XDP_UMEM_COMPLETION_RING, libc::XDP_RX_RING, libc::XDP_TX_RING] {
            socket.set(libc::SOL_XDP, ring, &entries)?;
        }
        let told: libc::xdp_mmap_offsets = socket.get(libc::SOL_XDP, libc::XDP_MMAP_OFFSETS)?;
        let count = shape.chunks;
        let fill_page = page(libc::XDP_UMEM_PGOFF_FILL_RING)?;
        let completion_page = page(libc::XDP_UMEM_PGOFF_COMPLETION_RING)?;
        let mut opened = Self {
            receive: Ring::map(&socket, told.rx, count, libc::XDP_PGOFF_RX_RING)?,
            transmit: Ring::map(&socket, told.tx, count, libc::XDP_PGOFF_TX_RING)?,
            fill: Ring::map(&socket, told.fr, count, fill_page)?,
            completion: Ring::map(&socket, told.cr, count, completion_page)?,
            returning: (0..u64::from(count)).map(|chunk| chunk * shape.chunk_bytes as u64).collect(),
            free: (u64::from(count)..2 * u64::from(count)).map(|chunk| chunk * shape.chunk_bytes as u64).collect(),
            socket,
            memory,
            shape,
        };
        opened.fill();
        Ok(opened)
    }

    /// Binds to queue 0 of the interface with `index`, in exactly the requested mode.
    ///
    /// # Errors
    /// `EOPNOTSUPP` or `EINVAL` if the driver cannot do it without copying.
    pub fn bind(&self, index: libc::c_int, zero_copy: bool) -> io::Result<()> {
        let mode = if zero_copy { libc::XDP_ZEROCOPY } else { libc::XDP_COPY };
        let address = libc::sockaddr_xdp {
            sxdp_family: libc::AF_XDP as libc::__u16,
            sxdp_flags: mode | libc::XDP_USE_NEED_WAKEUP,
            sxdp_ifindex: u32::try_from(index).map_err(io::Error::other)?,
            sxdp_queue_id: 0,
            sxdp_shared_umem_fd: 0,
        };
        self.socket.bind(&address)
    }

    /// Returns whether frames cross without a copy.
    pub fn is_zero_copy(&self) -> io::Result<bool> {
        let options: libc::xdp_options = self.socket.get(libc::SOL_XDP, libc::XDP_OPTIONS)?;
        Ok(options.flags & libc::XDP_OPTIONS_ZEROCOPY != 0)
    }

    /// Passes up to `limit` received frames to `take`, each with the monotonic time of its arrival, if known. Returns
    /// their number.
    pub fn receive(&mut self, limit: usize, mut take: impl FnMut(&[u8], Option<u64>)) -> usize {
        let mut count = 0;
        while count < limit {
            let Some(descriptor) = self.receive.pop() else { break };
            count += 1;
            if let Some((stamp, frame)) = self.received(descriptor) {
                take(frame, (stamp != 0).then_some(stamp));
            }
            let chunk = descriptor.address & !(self.shape.chunk_bytes as u64 - 1);
            // Only a valid receive chunk is returned to the kernel, since the descriptor can contain any value.
            if chunk < self.shape.chunk_bytes as u64 * u64::from(self.shape.chunks) {
                self.returning.push(chunk);
            }
        }
        if count > 0 {
            self.receive.release();
            self.fill();
        }
        count
    }

    /// Gives receive chunks to the kernel. The kernel takes a chunk off the fill ring only after it has delivered the
    /// frame in it, so the ring can look full when a chunk comes back; that chunk then waits for the next call.
    fn fill(&mut self) {
        self.fill.push_from(&mut self.returning);
    }

    /// Returns a received frame and its stamp. The stamp is cleared, because the next frame in the chunk can arrive
    /// without one.
    fn received(&mut self, descriptor: Descriptor) -> Option<(u64, &[u8])> {
        let start = usize::try_from(descriptor.address).ok()?;
        let length = descriptor.length as usize;
        // Accept only a range within one receive chunk, since the descriptor can contain any value.
        let chunk = start / self.shape.chunk_bytes;
        let inside = start % self.shape.chunk_bytes;
        let fits = inside >= STAMP_BYTES && inside + length <= self.shape.chunk_bytes;
        if chunk >= self.shape.chunks as usize || !fits {
            return None;
        }
        // SAFETY: the descriptor came out of the receive ring, so the process owns its chunk. The kernel gets it back
        // only through the fill ring, for which the caller needs `&mut self` again. The range is within that one chunk.
        let bytes = unsafe { self.memory.bytes_mut(start - STAMP_BYTES, STAMP_BYTES + length) }?;
        let (stamp, frame) = bytes.split_first_chunk_mut::<STAMP_BYTES>()?;
        let nanoseconds = u64::from_ne_bytes(*stamp);
        *stamp = [0; STAMP_BYTES];
        Some((nanoseconds, frame))
    }

    /// Copies `frame` into a chunk and adds it to the transmit ring; returns false if no chunk is free or the frame is
    /// too long.
    pub fn send(&mut self, frame: &[u8]) -> bool {
        if self.free.is_empty() {
            self.reclaim();
        }
        let (Some(chunk), Ok(length)) = (self.free.pop(), u32::try_from(frame.len())) else { return false };
        if self.write(chunk, frame) && self.transmit.push(Descriptor { address: chunk, length, options: 0 }) {
            return true;
        }
        self.free.push(chunk);
        false
    }

    fn write(&mut self, chunk: u64, frame: &[u8]) -> bool {
        let Ok(start) = usize::try_from(chunk) else { return false };
        if frame.len() > self.shape.chunk_bytes {
            return false;
        }
        // SAFETY: the chunk comes from the free list, so neither a ring nor the kernel has it; the range is within that
        // one chunk.
        let Some(room) = (unsafe { self.memory.bytes_mut(start, frame.len()) }) else { return false };
        room.copy_from_slice(frame);
        true
    }

    /// Publishes frames in the transmit ring to the kernel, and reclaims the chunks of sent frames; returns the number
    /// of frames that the kernel has not taken yet.
    ///
    /// # Errors
    /// The error of sendto(2), except congestion: unsent frames then remain for the next call.
    pub fn flush(&mut self) -> io::Result<u32> {
        self.transmit.publish();
        // Without zero-copy the kernel sends a few frames (32) per call.
        let mut before = self.transmit.not_taken();
        while before > 0 && self.transmit.needs_wakeup() {
            match self.socket.kick() {
                Ok(()) => {}
                Err(error) if is_congestion(&error) => {}
                Err(error) => return Err(error),
            }
            let after = self.transmit.not_taken();
            if after == before {
                break;
            }
            before = after;
        }
        self.reclaim();
        Ok(self.transmit.not_taken())
    }

    fn reclaim(&mut self) {
        let half = self.shape.chunk_bytes as u64 * u64::from(self.shape.chunks);
        let mut count = 0;
        while let Some(chunk) = self.completion.pop() {
            count += 1;
            // Accept only a valid transmit chunk, since the ring can contain any value.
            if (half..2 * half).contains(&chunk) && chunk.is_multiple_of(self.shape.chunk_bytes as u64) {
                self.free.push(chunk);
            }
        }
        if count > 0 {
            self.completion.release();
        }
    }

    /// Number of frames that the kernel had no room for.
    pub fn overrun(&self) -> io::Result<u64> {
        let statistics: libc::xdp_statistics = self.socket.get(libc::SOL_XDP, libc::XDP_STATISTICS)?;
        Ok(statistics.rx_dropped + statistics.rx_ring_full)
    }
}

fn register(socket: &Socket, memory: &Mapping, shape: Shape) -> io::Result<()> {
    let bytes = shape.chunk_bytes * shape.chunks as usize * 2;
    let registration = libc::xdp_umem_reg_v1 {
        addr: memory.address(),
        len: bytes as u64,
        chunk_size: u32::try_from(shape.chunk_bytes).map_err(io::Error::other)?,
        headroom: 0,
    };
    socket.set(libc::SOL_XDP, libc::XDP_UMEM_REG, &registration)
}

fn page(offset: libc::c_ulonglong) -> io::Result<libc::off_t> {
    libc::off_t::try_from(offset).map_err(io::Error::other)
}

fn is_congestion(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EBUSY | libc::EINTR))
}
