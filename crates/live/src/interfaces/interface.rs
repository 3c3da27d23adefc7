//! The interface of a port of a live switch, independent of its implementation.

use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;

use serde::Serialize;

use super::segments::Segments;

/// Nanoseconds of the kernel's monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(pub u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The frame from the destination address to the end of the payload, without check sequence. A VLAN tag that the
    /// kernel removed is restored.
    pub bytes: &'a [u8],
    /// Time at which the kernel received it.
    pub at: MonotonicTime,
}

/// A received buffer of several frames of TCP, which an offload had merged.
#[derive(Debug)]
pub struct Merged<'a> {
    /// The buffer starts at `start`. The caller may take it, and leave another one for the next reception.
    pub bytes: &'a mut Vec<u8>,
    pub start: usize,
    pub segments: Segments,
    /// Time at which the kernel received it.
    pub at: MonotonicTime,
}

/// A frame, or several that arrived in one buffer.
#[derive(Debug)]
pub enum Arrived<'a> {
    Frame(Received<'a>),
    Merged(Merged<'a>),
}

/// Neighbouring frames of a merged buffer that are sent together.
#[derive(Clone, Debug)]
pub struct Together<'a> {
    pub buffer: &'a [u8],
    pub segments: Segments,
    pub numbers: Range<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    RingFull,
    TooLong,
    /// The frame is too short for addresses and type.
    TooShort,
}

/// Counters of an interface since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Frames passed to the caller of [`Interface::receive`].
    pub frames_received: u64,
    /// Frames lost because the receive ring was full.
    pub frames_overrun: u64,
    /// Frames that were put into the transmit ring.
    pub frames_sent: u64,
    /// Frames that [`Interface::send`] refused.
    pub frames_refused: u64,
    /// Frames removed from the transmit ring without being sent, because the interface was down.
    pub frames_discarded: u64,
    /// Received frames that were discarded because they were not single frames of the link and could not be split:
    /// merged by an offload (TSO of the sender, GRO or LRO of the receiver), or longer than the MTU. Any such frame
    /// means that an offload is on: see [`crate::interfaces::offloads`].
    pub frames_merged: u64,
    /// Received buffers of TCP that an offload had merged, and that were split into frames here.
    pub buffers_split: u64,
    /// Received buffers of TCP that stayed whole: each frame is a packet in the fabric, and the bytes stay together.
    pub buffers_whole: u64,
    /// Buffers of at least two frames that were sent whole.
    pub buffers_sent: u64,
    /// Frames in these; each counts in `frames_sent` too.
    pub frames_sent_together: u64,
    /// Received frames with a checksum that the sender's kernel had left to its network card and that was completed
    /// here.
    pub checksums_completed: u64,
}

/// A port: frames in, frames out. No function blocks.
pub trait Interface {
    fn name(&self) -> &str;

    /// The actual mode of exchanging frames with the kernel, in words.
    fn mode(&self) -> &str;

    /// Maximum length of a frame to be sent, without VLAN tag and check sequence. A tag (IEEE 802.1Q) is allowed in
    /// addition.
    fn frame_limit_bytes(&self) -> usize;

    /// Passes up to `limit` received frames to `take`, in order; returns their number.
    ///
    /// # Errors
    /// If the interface, or the object that it is bound to, is gone.
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize>;

    /// As [`Self::receive`], but passes on merged buffers whole.
    fn receive_whole(&mut self, limit: usize, take: &mut dyn FnMut(Arrived<'_>)) -> io::Result<usize> {
        self.receive(limit, &mut |frame| take(Arrived::Frame(frame)))
    }

    /// Sends frames together if this port can, else one by one; returns the number of refused frames.
    fn send_together(&mut self, frames: &Together<'_>) -> usize {
        let mut frame = Vec::new();
        let mut refuses = |number| {
            frames.segments.write(frames.buffer, number, &mut frame);
            self.send(&frame).is_err()
        };
        frames.numbers.clone().filter(|&number| refuses(number)).count()
    }

    /// Describes whether frames that stay together are sent in one buffer.
    ///
    /// # Errors
    /// The reason why not.
    fn sends_whole(&self) -> Result<String, String> {
        Err("this kind of port takes single frames".to_owned())
    }

    /// Puts a frame, without check sequence, into the transmit ring; it leaves with the next [`Interface::flush`] at
    /// the latest.
    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal>;

    /// Makes the kernel send the contents of the transmit ring; returns whether it has accepted all frames. The others
    /// stay in the ring for the next call. While the interface is down, the contents of the ring are discarded.
    fn flush(&mut self) -> io::Result<bool>;

    fn counters(&mut self) -> io::Result<Counters>;

    /// Checks that the interface still exists under its name, and follows its MTU.
    ///
    /// # Errors
    /// `NotFound` if it was removed, renamed, or moved to another namespace.
    fn look(&mut self) -> io::Result<()>;

    /// Switches to the interface that has the name now. Needs no capability, because the sockets are reused.
    ///
    /// # Errors
    /// `NotFound` if no interface has the name, `Unsupported` for kinds of port that cannot rejoin.
    fn rejoin(&mut self) -> io::Result<()>;

    /// Returns a descriptor that is readable when frames have arrived; `None` if the port cannot be waited for.
    fn wakes(&self) -> Option<BorrowedFd<'_>>;
}
