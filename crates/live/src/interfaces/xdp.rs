//! A port over AF_XDP: a program in the driver (or in the stack, if the driver has no hook) passes frames to a socket
//! before the kernel's network stack sees them.
//!
//! The socket serves queue 0. If the other side of a veth has checksum offload or VLAN offload, frames arrive without
//! checksum and without tag, and unlike with a packet socket nothing indicates it: both must be off at the other end.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::thread;
use std::time::Duration;

use crate::interfaces::capability::Capability;
use crate::interfaces::device::{EmptyLooks, NetworkDevice};
use crate::interfaces::error::OpenError;
use crate::interfaces::frame::{HEADER_BYTES, TAG_BYTES, limit_bytes};
use crate::interfaces::interface::{Counters, Interface, MonotonicTime, Received, Refusal};
use crate::interfaces::sys::bpf::{Attachment, Hook, SocketMap};
use crate::interfaces::sys::machine::monotonic_ns;
use crate::interfaces::sys::xdp::{HEADROOM_BYTES, Shape, XdpSocket};

/// Maximum number of frames per ring: the memory is locked, and the default limit of a process is 8 MB.
const RING_FRAMES_LIMIT: usize = 2048;
/// Maximum length of a chunk: a page.
const CHUNK_BYTES_LIMIT: usize = 4096;

/// The mode of an AF_XDP socket, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum XdpMode {
    /// The network card writes into the memory of the process.
    ZeroCopy,
    /// The driver's hook, and one copy.
    Copy,
    /// The stack's hook, and one copy or more.
    Generic,
}

impl XdpMode {
    pub const ALL: [Self; 3] = [Self::ZeroCopy, Self::Copy, Self::Generic];

    const fn words(self) -> &'static str {
        match self {
            Self::ZeroCopy => "AF_XDP, zero-copy in the driver",
            Self::Copy => "AF_XDP, one copy in the driver (native XDP)",
            Self::Generic => "AF_XDP, copies in the stack (generic XDP, skb mode)",
        }
    }
}

#[derive(Debug)]
pub struct XdpInterface {
    // Dropped first, so that no frame is passed to a socket that is being closed.
    _attachment: Attachment,
    _map: SocketMap,
    socket: XdpSocket,
    device: NetworkDevice,
    mode: XdpMode,
    mtu_bytes: usize,
    empty_looks: EmptyLooks,
    waiting: u64,
    counters: Counters,
}

impl XdpInterface {
    /// Opens the interface called `name` in the network namespace of the calling thread, in exactly `mode`.
    pub fn open(name: &str, mode: XdpMode, ring_frames: usize) -> Result<Self, OpenError> {
        let device = NetworkDevice::of_ethernet(name)?;
        let mtu_bytes = device.mtu_bytes().map_err(|error| OpenError::asking(name, "its MTU", error))?;
        let refuse = |what: &str, error| OpenError::of_capabilities(name, what, error, &Capability::OF_XDP);
        let shape = shape(mtu_bytes, ring_frames).map_err(|error| refuse("memory for frames of this MTU", error))?;
        one_queue(&device).map_err(|error| refuse("a socket for its receive queue", error))?;
        let socket = XdpSocket::open(shape).map_err(|error| refuse("an AF_XDP socket", locked_memory(error)))?;
        let map = SocketMap::new().map_err(|error| refuse("a map of AF_XDP sockets", error))?;
        let hook = if mode == XdpMode::Generic { Hook::Generic } else { Hook::Native };
        let attachment =
            map.attach(device.index(), hook).map_err(|error| refuse("attaching an XDP program", occupied(error)))?;
        bind(&socket, &device, mode).map_err(|error| refuse(mode.words(), error))?;
        map.set(socket.socket.as_fd()).map_err(|error| refuse("naming the socket of its queue", error))?;
        let obtained = socket.is_zero_copy().map_err(|error| refuse("asking for the mode that was obtained", error))?;
        if obtained != (mode == XdpMode::ZeroCopy) {
            return Err(refuse(mode.words(), io::Error::other("the kernel chose another mode")));
        }
        Ok(Self {
            _attachment: attachment,
            _map: map,
            socket,
            device,
            mode,
            mtu_bytes,
            empty_looks: EmptyLooks::default(),
            waiting: 0,
            counters: Counters::default(),
        })
    }

    /// Opens it in the first available mode of `modes`.
    ///
    /// # Errors
    /// [`OpenError`] of the last mode, if all fail.
    pub fn open_first(name: &str, modes: &[XdpMode], ring_frames: usize) -> Result<Self, OpenError> {
        let (last, others) = modes.split_last().unwrap_or((&XdpMode::Generic, &[]));
        let opened = others.iter().find_map(|mode| Self::open(name, *mode, ring_frames).ok());
        opened.map_or_else(|| Self::open(name, *last, ring_frames), Ok)
    }

    fn judge(&self, error: io::Error) -> io::Result<()> {
        self.device.judge(error, "its AF_XDP socket failed")
    }
}

impl Interface for XdpInterface {
    fn name(&self) -> &str {
        self.device.name()
    }

    fn mode(&self) -> &str {
        self.mode.words()
    }

    fn frame_limit_bytes(&self) -> usize {
        self.mtu_bytes + HEADER_BYTES
    }

    fn receive(&mut self, limit: usize, take: &mut dyn FnMut(Received<'_>)) -> io::Result<usize> {
        let mut handed = 0;
        let (counters, mtu_bytes) = (&mut self.counters, self.mtu_bytes);
        let looked_at = self.socket.receive(limit, |bytes, stamp| {
            if bytes.len() > limit_bytes(bytes, mtu_bytes) {
                counters.frames_merged += 1;
                return;
            }
            take(Received { bytes, at: MonotonicTime(stamp.unwrap_or_else(monotonic_ns)) });
            handed += 1;
        });
        self.counters.frames_received += handed as u64;
        if self.empty_looks.count(looked_at == 0) {
            self.socket
                .socket
                .take_error()
                .and_then(|()| self.device.still_there())
                .or_else(|error| self.judge(error))?;
        }
        Ok(handed)
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), Refusal> {
        let result = if frame.len() < HEADER_BYTES {
            Err(Refusal::TooShort)
        } else if frame.len() > limit_bytes(frame, self.mtu_bytes) {
            Err(Refusal::TooLong)
        } else if self.socket.send(frame) {
            Ok(())
        } else {
            Err(Refusal::RingFull)
        };
        match result {
            Ok(()) => self.counters.frames_sent += 1,
            Err(_) => self.counters.frames_refused += 1,
        }
        self.waiting += u64::from(result.is_ok());
        result
    }

    fn flush(&mut self) -> io::Result<bool> {
        if self.waiting == 0 {
            return Ok(true);
        }
        self.waiting = match self.socket.flush() {
            Ok(not_taken) => u64::from(not_taken),
            Err(error) => self.judge(error).map(|()| 0)?,
        };
        Ok(self.waiting == 0)
    }

    fn counters(&mut self) -> io::Result<Counters> {
        self.counters.frames_overrun = self.socket.overrun()?;
        Ok(self.counters)
    }

    fn look(&mut self) -> io::Result<()> {
        self.device.still_there()
    }

    fn rejoin(&mut self) -> io::Result<()> {
        let text = "a port over AF_XDP is not opened again: the capabilities for it were given up; start anew";
        Err(io::Error::new(io::ErrorKind::Unsupported, text))
    }

    fn wakes(&self) -> Option<BorrowedFd<'_>> {
        Some(self.socket.socket.as_fd())
    }
}

fn shape(mtu_bytes: usize, ring_frames: usize) -> io::Result<Shape> {
    let longest = mtu_bytes + HEADER_BYTES + TAG_BYTES + HEADROOM_BYTES;
    let chunk_bytes = longest.next_power_of_two().max(2048);
    if chunk_bytes > CHUNK_BYTES_LIMIT {
        let limit = CHUNK_BYTES_LIMIT - HEADROOM_BYTES - HEADER_BYTES - TAG_BYTES;
        let text = format!("an MTU of {mtu_bytes} bytes; AF_XDP takes {limit} at most, AF_PACKET any");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let chunks = ring_frames.next_power_of_two().clamp(64, RING_FRAMES_LIMIT);
    Ok(Shape { chunk_bytes, chunks: u32::try_from(chunks).map_err(io::Error::other)? })
}

/// Checks that the interface has only the receive queue that the socket serves.
fn one_queue(device: &NetworkDevice) -> io::Result<()> {
    match device.receive_queues() {
        // A driver without channels has one queue.
        Ok(0 | 1) | Err(_) => Ok(()),
        Ok(count) => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!(
                "it has {count} receive queues and one is needed: `ethtool -L {} combined 1` (or rx 1)",
                device.name()
            ),
        )),
    }
}

/// Binds to the queue. The kernel releases a queue shortly after its previous socket was closed, so a busy queue is
/// retried for two seconds.
fn bind(socket: &XdpSocket, device: &NetworkDevice, mode: XdpMode) -> io::Result<()> {
    let mut tries = 200;
    loop {
        match socket.bind(device.index(), mode == XdpMode::ZeroCopy) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy && tries > 0 => {
                tries -= 1;
                thread::sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Adds a hint to `error` if the limit of locked memory was exceeded.
fn locked_memory(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::ENOMEM) => io::Error::new(
            error.kind(),
            format!("{error}; more memory is to be locked than the process may (`ulimit -l`)"),
        ),
        _ => error,
    }
}

/// Adds a hint to `error` if another program is already attached.
fn occupied(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EBUSY | libc::EEXIST) => {
            io::Error::new(error.kind(), format!("{error}; another XDP program is attached (`ip link show` names it)"))
        }
        Some(libc::EOPNOTSUPP) => io::Error::new(error.kind(), format!("{error}: the driver knows nothing of XDP")),
        _ => error,
    }
}
