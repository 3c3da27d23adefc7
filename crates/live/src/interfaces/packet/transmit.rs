use std::io;
use std::os::fd::AsFd;

use super::checksum;
use super::ring::{self, Ring, open_socket};
use crate::interfaces::device::NetworkDevice;
use crate::interfaces::frame::{HEADER_BYTES, limit_bytes};
use crate::interfaces::interface::{Counters, Refusal};
use crate::interfaces::sys::slots::{Direction, Slots};
use crate::interfaces::sys::socket::Socket;

/// Offset of the data in one of our slots, as the kernel expects it (`TPACKET2_HDRLEN - sizeof(struct sockaddr_ll)`).
const DATA_AT: usize = libc::TPACKET2_HDRLEN - size_of::<libc::sockaddr_ll>();
/// Offset of the frame, after the header with the state of its checksum.
const FRAME_AT: usize = DATA_AT + checksum::BYTES;
/// Maximum number of bytes in the kernel: more than the rings of all sizes hold.
pub const SEND_BUFFER_BYTES: libc::c_int = 1 << 28;

#[derive(Debug)]
pub struct TransmitRing {
    // Before the socket: fields are dropped in order, and a ring must be unmapped before its socket is closed.
    slots: Slots,
    socket: Socket,
    shape: Ring,
    pub mtu_bytes: usize,
    /// Next slot to be filled.
    next: usize,
    /// Number of slots filled since the last kick.
    waiting: usize,
    frames_sent: u64,
    frames_refused: u64,
    frames_discarded: u64,
}

impl TransmitRing {
    /// Opens the ring of `device`. Its socket receives nothing.
    pub fn open(device: &NetworkDevice, shape: Ring, mtu_bytes: usize) -> io::Result<Self> {
        // Skip a frame that the kernel finds malformed: otherwise it would block the ring.
        let socket = open_socket(libc::PACKET_TX_RING, shape, &[libc::PACKET_LOSS])?;
        let slots = Slots::map(socket.as_fd(), shape.slot_bytes, shape.slots, Direction::Transmit)?;
        // Queues build in the traffic manager of the switch, so the kernel's own are bypassed.
        socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &SEND_BUFFER_BYTES)?;
        ring::bind(&socket, device, 0)?;
        Ok(Self {
            slots,
            socket,
            shape,
            mtu_bytes,
            next: 0,
            waiting: 0,
            frames_sent: 0,
            frames_refused: 0,
            frames_discarded: 0,
        })
    }

    /// Copies `frame` into the ring.
    pub fn put(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        let result = self.try_put(frame);
        match result {
            Ok(()) => self.frames_sent += 1,
            Err(_) => self.frames_refused += 1,
        }
        result
    }

    fn try_put(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        if frame.len() < HEADER_BYTES {
            return Err(Refusal::TooShort);
        }
        let length = u16::try_from(frame.len()).map_err(|_| Refusal::TooLong)?;
        if frame.len() > limit_bytes(frame, self.mtu_bytes) {
            return Err(Refusal::TooLong);
        }
        let (_, slot) = self.slots.owned(self.next).ok_or(Refusal::RingFull)?;
        let room = slot.get_mut(FRAME_AT..FRAME_AT + frame.len()).ok_or(Refusal::TooLong)?;
        room.copy_from_slice(frame);
        checksum::write_copied(&mut slot[DATA_AT..FRAME_AT], length);
        let data_bytes = u32::from(length) + checksum::BYTES as u32;
        let at = std::mem::offset_of!(libc::tpacket2_hdr, tp_len);
        slot[at..at + 4].copy_from_slice(&data_bytes.to_ne_bytes());
        self.slots.give(self.next, libc::TP_STATUS_SEND_REQUEST);
        self.next = self.shape.after(self.next);
        self.waiting += 1;
        Ok(())
    }

    /// Makes the kernel send waiting frames; returns whether it has accepted all of them.
    pub fn flush(&mut self) -> io::Result<bool> {
        if self.waiting == 0 {
            return Ok(true);
        }
        match self.socket.kick() {
            Ok(()) => {
                // The kernel starts with the oldest, and can stop half-way if its memory is short.
                let last = self.next.wrapping_sub(1) & (self.shape.slots - 1);
                let is_done = self.slots.status(last) & libc::TP_STATUS_SEND_REQUEST == 0;
                self.waiting = if is_done { 0 } else { self.waiting };
                Ok(is_done)
            }
            Err(error) if is_congestion(&error) => Ok(false),
            Err(error) => {
                self.discard();
                Err(error)
            }
        }
    }

    pub fn rejoin(&mut self, device: &NetworkDevice) -> io::Result<()> {
        self.discard();
        ring::bind(&self.socket, device, 0)
    }

    /// Takes back the frames that the kernel has not begun to send: they would be outdated when the interface is up
    /// again.
    fn discard(&mut self) {
        for _ in 0..self.waiting {
            let last = self.next.wrapping_sub(1) & (self.shape.slots - 1);
            if self.slots.status(last) & libc::TP_STATUS_SEND_REQUEST == 0 {
                break;
            }
            self.slots.give(last, libc::TP_STATUS_AVAILABLE);
            self.next = last;
            self.frames_discarded += 1;
        }
        self.waiting = 0;
    }

    pub fn add_to(&self, counters: &mut Counters) {
        counters.frames_sent += self.frames_sent;
        counters.frames_refused += self.frames_refused;
        counters.frames_discarded += self.frames_discarded;
    }
}

/// Returns whether the kernel has no room now; frames that it did not accept remain in the ring for the next call.
fn is_congestion(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR))
}
