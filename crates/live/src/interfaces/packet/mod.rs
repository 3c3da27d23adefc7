//! A port over packet sockets with memory-mapped rings (packet(7), AF_PACKET): works on any Ethernet interface.
//!
//! It uses two sockets, one per direction. Both rings have slots of one frame (TPACKET_V2): a frame is visible as soon
//! as it is in its slot. TPACKET_V3 delivers blocks of frames, the last of them after a timeout of at least a
//! millisecond, which is far longer than any timeout of a switch.

mod checksum;
mod merged;
mod receive;
mod ring;
mod segments;
mod transmit;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use receive::ReceiveRing;
use ring::Ring;
use transmit::TransmitRing;

use crate::interfaces::error::OpenError;
use crate::interfaces::interface::{Counters, Interface, Received, Refusal};
use crate::interfaces::link::{EmptyLooks, Link};

/// Default number of slots of each ring: with frames of up to 1500 bytes 8 MB, and at a million frames per second
/// enough for 4 ms without a read.
pub const RING_FRAMES: usize = 4096;

#[derive(Debug)]
pub struct PacketInterface {
    link: Link,
    ring: Ring,
    mtu_bytes: usize,
    receiving: ReceiveRing,
    transmitting: TransmitRing,
    empty_looks: EmptyLooks,
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
        Ok(Self { link, ring, mtu_bytes, receiving, transmitting, empty_looks: EmptyLooks::default() })
    }

    /// Adopts the interface's MTU, capped by the ring slots.
    fn follow_mtu(&mut self) -> io::Result<()> {
        self.mtu_bytes = self.link.mtu_bytes()?.min(self.ring.mtu_limit_bytes());
        self.receiving.mtu_bytes = self.mtu_bytes;
        self.transmitting.mtu_bytes = self.mtu_bytes;
        Ok(())
    }

    fn judge(&self, error: io::Error) -> io::Result<()> {
        self.link.judge(error, "its packet socket failed")
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
        self.mtu_bytes + crate::interfaces::frame::HEADER_BYTES
    }

    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let handed = self.receiving.receive(limit, take);
        if self.empty_looks.count(handed == 0) {
            self.receiving.socket.take_error().or_else(|error| self.judge(error))?;
        }
        Ok(handed)
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        self.transmitting.put(frame)
    }

    fn flush(&mut self) -> io::Result<bool> {
        // Frames that an interface did not accept while down are given up.
        self.transmitting.flush().or_else(|error| self.judge(error).map(|()| true))
    }

    fn counters(&mut self) -> io::Result<Counters> {
        let mut counters = self.receiving.counters()?;
        self.transmitting.add_to(&mut counters);
        Ok(counters)
    }

    fn look(&mut self) -> io::Result<()> {
        self.link.still_there()?;
        self.follow_mtu()
    }

    fn rejoin(&mut self) -> io::Result<()> {
        self.link.rejoin()?;
        self.follow_mtu()?;
        self.transmitting.rejoin(&self.link)?;
        self.receiving.rejoin(&self.link)
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.receiving.socket.as_fd())
    }
}
