//! A port over packet sockets with memory-mapped rings (packet(7), AF_PACKET): works on any Ethernet interface.
//!
//! It uses two sockets, one per direction. Both rings have slots of one frame (TPACKET_V2): a frame is visible as soon
//! as it is in its slot. TPACKET_V3 delivers blocks of frames, the last of them after a timeout of at least a
//! millisecond, which is far longer than any timeout of a switch.

mod checksum;
mod merged;
mod receive;
mod ring;
mod transmit;
mod whole;

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use receive::ReceiveRing;
use ring::Ring;
use transmit::TransmitRing;
use whole::{Sent, WholeSocket};

use crate::interfaces::device::{EmptyLooks, NetworkDevice};
use crate::interfaces::error::OpenError;
use crate::interfaces::interface::{Arrived, Counters, Interface, Received, Refusal, Together};

/// Default number of slots of each ring: with frames of up to 1500 bytes 8 MB, and at a million frames per second
/// enough for 4 ms without a read.
pub const RING_FRAMES: usize = 4096;

#[derive(Debug)]
pub struct PacketInterface {
    device: NetworkDevice,
    ring: Ring,
    mtu_bytes: usize,
    receiving: ReceiveRing,
    transmitting: TransmitRing,
    whole: WholeSocket,
    /// Buffer for a frame of a merged buffer.
    single: Vec<u8>,
    buffers_split: u64,
    empty_looks: EmptyLooks,
}

impl PacketInterface {
    /// Opens the interface called `name` in the network namespace of the calling thread, with `ring_frames` slots per
    /// ring (rounded up to a power of two).
    pub fn open(name: &str, ring_frames: usize) -> Result<Self, OpenError> {
        let device = NetworkDevice::of_ethernet(name)?;
        let mtu_bytes = device.mtu_bytes().map_err(|error| OpenError::asking(name, "its MTU", error))?;
        let ring = Ring::for_frames(mtu_bytes, ring_frames);
        let receiving = ReceiveRing::open(&device, ring, mtu_bytes)
            .map_err(|error| OpenError::packet_socket(name, "a receive ring", error))?;
        let transmitting = TransmitRing::open(&device, ring, mtu_bytes)
            .map_err(|error| OpenError::packet_socket(name, "a transmit ring", error))?;
        let whole =
            WholeSocket::open(&device).map_err(|error| OpenError::packet_socket(name, "merged buffers", error))?;
        Ok(Self {
            device,
            ring,
            mtu_bytes,
            receiving,
            transmitting,
            whole,
            single: Vec::new(),
            buffers_split: 0,
            empty_looks: EmptyLooks::default(),
        })
    }

    /// Adopts the interface's MTU, capped by the ring slots.
    fn follow_mtu(&mut self) -> io::Result<()> {
        self.mtu_bytes = self.device.mtu_bytes()?.min(self.ring.mtu_limit_bytes());
        self.receiving.mtu_bytes = self.mtu_bytes;
        self.transmitting.mtu_bytes = self.mtu_bytes;
        Ok(())
    }

    fn judge(&self, error: io::Error) -> io::Result<()> {
        self.device.judge(error, "its packet socket failed")
    }
}

impl Interface for PacketInterface {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn mode(&self) -> &str {
        "AF_PACKET, memory-mapped rings (TPACKET_V2)"
    }

    fn frame_limit_bytes(&self) -> usize {
        self.mtu_bytes + crate::interfaces::frame::HEADER_BYTES
    }

    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let (mut single, mut split) = (std::mem::take(&mut self.single), 0);
        let handed = self.receive_whole(limit, &mut |arrived| match arrived {
            Arrived::Frame(frame) => take(frame),
            Arrived::Merged(merged) => {
                split += 1;
                for number in 0..merged.segments.count() {
                    merged.segments.write(&merged.bytes[merged.start..], number, &mut single);
                    take(Received { bytes: &single, at: merged.at });
                }
            }
        });
        (self.single, self.buffers_split) = (single, self.buffers_split + split);
        handed
    }

    fn receive_whole(&mut self, limit: usize, take: &mut dyn FnMut(Arrived<'_>)) -> io::Result<usize> {
        let handed = self.receiving.receive(limit, take);
        if self.empty_looks.count(handed == 0) {
            self.receiving.socket.take_error().or_else(|error| self.judge(error))?;
        }
        Ok(handed)
    }

    fn send_together(&mut self, frames: &Together<'_>) -> usize {
        let Together { buffer, segments, numbers } = frames;
        // Frames in the ring come first. An error of the ring shows again at the next flush.
        let fits = segments.frame_bytes(numbers.start) <= self.frame_limit_bytes();
        let can_be_whole = fits && numbers.len() > 1 && self.flush().is_ok_and(|is_done| is_done);
        if can_be_whole && self.whole.send(frames) == Sent::Done {
            return 0;
        }
        let mut refused = 0;
        for number in numbers.clone() {
            segments.write(buffer, number, &mut self.single);
            refused += usize::from(self.transmitting.put(&self.single).is_err());
        }
        refused
    }

    fn sends_whole(&self) -> Result<String, String> {
        if let Some(reason) = &self.whole.refused {
            return Err(reason.clone());
        }
        Ok(match self.device.segmentation_off() {
            Some(off) => format!("whole; the kernel splits them, because {off} of {} is off", self.device.name()),
            None => "whole".to_owned(),
        })
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
        counters.buffers_split += self.buffers_split;
        counters.buffers_sent += self.whole.buffers_sent;
        counters.frames_sent += self.whole.frames_sent;
        counters.frames_sent_together += self.whole.frames_sent;
        counters.frames_discarded += self.whole.frames_discarded;
        Ok(counters)
    }

    fn look(&mut self) -> io::Result<()> {
        self.device.still_there()?;
        self.follow_mtu()
    }

    fn rejoin(&mut self) -> io::Result<()> {
        self.device.rejoin()?;
        self.follow_mtu()?;
        self.transmitting.rejoin(&self.device)?;
        self.whole.rejoin(&self.device)?;
        self.receiving.rejoin(&self.device)
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.receiving.socket.as_fd())
    }
}
