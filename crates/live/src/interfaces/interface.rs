//! What a port of a live switch can do, whatever is behind it.

use std::io;
use std::os::fd::BorrowedFd;

use serde::Serialize;

/// Nanoseconds of the kernel's monotonic clock (`CLOCK_MONOTONIC`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonotonicTime(pub u64);

/// A frame that has come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The frame from the destination address to the end of the payload, without check sequence. A VLAN tag that the
    /// kernel has taken out is in it again.
    pub bytes: &'a [u8],
    /// When the kernel took it in.
    pub at: MonotonicTime,
}

/// Why a frame could not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The ring has no room now.
    RingFull,
    /// The frame is longer than the interface takes.
    TooLong,
    /// It is no frame: too short for addresses and type.
    TooShort,
}

/// What has gone through an interface since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Frames handed to [`Interface::receive`]'s caller.
    pub frames_received: u64,
    /// Frames that the kernel had no room for in the receive ring: lost before anybody saw them.
    pub frames_overrun: u64,
    /// Frames that were put into the transmit ring.
    pub frames_sent: u64,
    /// Frames that [`Interface::send`] refused.
    pub frames_refused: u64,
    /// Frames that were put into the transmit ring and taken out again, because the interface was down when they were
    /// to leave.
    pub frames_discarded: u64,
    /// Received frames that were not handed over because they are none of the wire: merged from several by an offload
    /// (TSO of the sender, GRO or LRO of the receiver), or longer than the MTU. Any of them means that an offload is
    /// on: see [`crate::interfaces::offloads`].
    pub frames_merged: u64,
    /// Received frames whose checksum the sender's kernel had left to its network card, and that was completed here.
    pub checksums_completed: u64,
}

/// A port: frames in, frames out. Nothing here blocks.
pub trait Interface {
    /// The name of the interface.
    fn name(&self) -> &str;

    /// How frames cross to the kernel, in words: the mode that was obtained, not the one that was asked for.
    fn mode(&self) -> &str;

    /// The longest frame without VLAN tag that can be sent, without check sequence. A tag (IEEE 802.1Q) comes on top.
    fn frame_limit_bytes(&self) -> usize;

    /// Hands up to `limit` frames that have come in to `take`, in the order in which they came; returns how many.
    ///
    /// # Errors
    /// When the interface is gone, or what it is bound to.
    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize>;

    /// Puts a frame, without check sequence, into the transmit ring; it leaves with the next [`Interface::flush`] at
    /// the latest.
    ///
    /// # Errors
    /// [`Refusal`]: the frame was not sent.
    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal>;

    /// Has the kernel send what is in the transmit ring, and returns whether it has taken all of it; what it has no
    /// room for stays for the next call. While the interface is down, what is in the ring is discarded.
    ///
    /// # Errors
    /// When the interface is gone.
    fn flush(&mut self) -> io::Result<bool>;

    /// What has gone through it so far.
    ///
    /// # Errors
    /// When the kernel does not tell.
    fn counters(&mut self) -> io::Result<Counters>;

    /// Checks that the interface still exists under its name, and follows its MTU.
    ///
    /// # Errors
    /// `NotFound` when it was removed, renamed, or moved to another namespace.
    fn look(&mut self) -> io::Result<()>;

    /// Switches to the interface that has the name now. Needs no capability, because the sockets are reused.
    ///
    /// # Errors
    /// `NotFound` if no interface has the name, `Unsupported` for kinds of port that cannot rejoin.
    fn rejoin(&mut self) -> io::Result<()>;

    /// Readable when frames have come in; none when the port cannot be waited for.
    fn wakes(&self) -> Option<BorrowedFd<'_>>;
}
