//! A port over packet sockets with memory-mapped rings (packet(7), AF_PACKET): works on any Ethernet interface.
//!
//! Two sockets, one per direction. Both rings have slots of one frame (TPACKET_V2): a frame can be seen as soon as it is
//! in its slot. TPACKET_V3 hands over blocks of frames, the last of them after a timeout of at least a millisecond,
//! which is far longer than anything that a switch waits for.

mod receive;
mod transmit;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::interface::{Counters, Interface, Received, Refusal};
use crate::link::Link;
use crate::open::OpenError;
use crate::sys::socket::Socket;
use receive::ReceiveRing;
use transmit::TransmitRing;

/// Slots of each ring unless asked for otherwise: with frames of up to 1500 bytes 8 MB, and at a million frames per
/// second 4 ms in which nobody looks at it.
pub const RING_FRAMES: usize = 4096;

/// Empty looks at the receive ring after which the socket is asked for an error: a system call in 100 us or so of a loop
/// that does not sleep. One that sleeps is woken by the error, and then does not sleep until it has been asked for.
const LOOKS_BETWEEN_CHECKS: u32 = 4096;

/// A port over packet sockets.
#[derive(Debug)]
pub struct PacketInterface {
    link: Link,
    mtu_bytes: usize,
    receiving: ReceiveRing,
    transmitting: TransmitRing,
    empty_looks: u32,
}

impl PacketInterface {
    /// Opens the interface called `name` in the network namespace of the calling thread, with `ring_frames` slots per
    /// ring (rounded up to a power of two).
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(name: &str, ring_frames: usize) -> Result<Self, OpenError> {
        let link = Link::of_ethernet(name)?;
        let mtu_bytes = link.mtu_bytes().map_err(|error| OpenError::asking(name, "its MTU", error))?;
        let ring = Ring::for_frames(mtu_bytes, ring_frames);
        let receiving = ReceiveRing::open(&link, ring, mtu_bytes)
            .map_err(|error| OpenError::packet_socket(name, "a receive ring", error))?;
        let transmitting = TransmitRing::open(&link, ring, mtu_bytes)
            .map_err(|error| OpenError::packet_socket(name, "a transmit ring", error))?;
        Ok(Self { link, mtu_bytes, receiving, transmitting, empty_looks: 0 })
    }

    /// An interface that is down is a port without carrier, one that is gone is an error.
    fn judge(&self, error: io::Error) -> io::Result<()> {
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => self.link.still_there(),
            _ => Err(self.link.error("its packet socket failed", &error)),
        }
    }
}

impl Interface for PacketInterface {
    fn name(&self) -> &str {
        self.link.name()
    }

    fn mode(&self) -> &str {
        "AF_PACKET, memory-mapped rings (TPACKET_V2)"
    }

    fn frame_limit_bytes(&self) -> usize {
        self.mtu_bytes + crate::frame::HEADER_BYTES
    }

    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let handed = self.receiving.receive(limit, take);
        if handed > 0 {
            self.empty_looks = 0;
            return Ok(handed);
        }
        self.empty_looks += 1;
        if self.empty_looks >= LOOKS_BETWEEN_CHECKS {
            self.empty_looks = 0;
            self.receiving.take_error().or_else(|error| self.judge(error))?;
        }
        Ok(0)
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        self.transmitting.put(frame)
    }

    fn flush(&mut self) -> io::Result<bool> {
        // What an interface that is down did not take is given up.
        self.transmitting.flush().or_else(|error| self.judge(error).map(|()| true))
    }

    fn counters(&mut self) -> io::Result<Counters> {
        let mut counters = self.receiving.counters()?;
        self.transmitting.add_to(&mut counters);
        Ok(counters)
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.receiving.as_fd())
    }
}

/// The shape of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ring {
    slot_bytes: usize,
    slots: usize,
}

impl Ring {
    /// Bytes before a frame in its slot, at most: header, address, the header of the checksum's state, room for a tag.
    const HEADROOM_BYTES: usize = 128;
    /// Slots lie behind each other without gaps when a block holds a whole number of them: all are powers of two.
    const BLOCK_BYTES: usize = 1 << 16;

    fn for_frames(mtu_bytes: usize, frames: usize) -> Self {
        let longest = mtu_bytes + crate::frame::HEADER_BYTES + crate::frame::TAG_BYTES;
        let slot_bytes = (longest + Self::HEADROOM_BYTES).next_power_of_two().max(2048);
        let slots = frames.max(Self::BLOCK_BYTES / 2048).next_power_of_two();
        Self { slot_bytes, slots }
    }

    fn request(self) -> io::Result<libc::tpacket_req> {
        let number = |value: usize| libc::c_uint::try_from(value).map_err(io::Error::other);
        let block_bytes = self.slot_bytes.max(Self::BLOCK_BYTES);
        Ok(libc::tpacket_req {
            tp_block_size: number(block_bytes)?,
            tp_block_nr: number(self.slot_bytes * self.slots / block_bytes)?,
            tp_frame_size: number(self.slot_bytes)?,
            tp_frame_nr: number(self.slots)?,
        })
    }

    /// Index of the slot behind `index`.
    fn after(self, index: usize) -> usize {
        (index + 1) & (self.slots - 1)
    }
}

/// The header that tells the state of a checksum and of segmentation (`struct virtio_net_hdr`, linux/virtio_net.h).
mod state {
    use crate::frame::PartialChecksum;

    pub const BYTES: usize = 10;
    const NEEDS_CHECKSUM: u8 = 1;

    /// What it says of a received frame.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct State {
        pub is_merged: bool,
        pub partial: Option<PartialChecksum>,
    }

    impl State {
        pub fn read(header: &[u8]) -> Self {
            let number = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
            let needs = header[0] & NEEDS_CHECKSUM != 0;
            let partial = needs.then(|| PartialChecksum { start: number(6), offset: number(8) });
            Self { is_merged: header[1] != 0, partial }
        }
    }

    /// Writes the header of a whole frame that the kernel is to copy, all `copied` bytes of it, instead of referring to
    /// the ring: a frame that refers to the ring is copied anyway when it crosses a veth, at a higher price.
    pub fn write_copied(header: &mut [u8], copied: u16) {
        header[..BYTES].fill(0);
        header[2..4].copy_from_slice(&copied.to_ne_bytes());
    }
}

/// A packet socket with a ring, which is not bound yet. `switches` are set before there is a ring.
fn open_socket(direction: libc::c_int, shape: Ring, switches: &[libc::c_int]) -> io::Result<Socket> {
    let version = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
    let socket = Socket::open(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
    socket.set(libc::SOL_PACKET, libc::PACKET_VERSION, &version)?;
    socket.set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
    for switch in switches {
        socket.set(libc::SOL_PACKET, *switch, &1)?;
    }
    socket.set(libc::SOL_PACKET, direction, &shape.request()?)?;
    Ok(socket)
}

/// Binds to the interface, for frames of type `protocol`; of none when it is 0.
fn bind(socket: &Socket, link: &Link, protocol: libc::c_int) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: u16::try_from(protocol).map_err(io::Error::other)?.to_be(),
        sll_ifindex: link.index(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    socket.bind(&address)
}
