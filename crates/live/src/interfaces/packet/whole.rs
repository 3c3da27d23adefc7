//! Sends merged buffers whole: the interface, its driver or the kernel splits them.

use std::io;

use super::{checksum, ring};
use crate::interfaces::device::NetworkDevice;
use crate::interfaces::interface::Together;
use crate::interfaces::sys::socket::Socket;

/// A socket without a ring, because slots have room for single frames only.
#[derive(Debug)]
pub struct WholeSocket {
    socket: Socket,
    headers: Vec<u8>,
    /// Header with the state, and the headers of the frames.
    start: Vec<u8>,
    /// The kernel's reason for refusing a buffer; none is tried after that.
    pub refused: Option<String>,
    pub buffers_sent: u64,
    pub frames_sent: u64,
    pub frames_discarded: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// The kernel has the frames, or has discarded them because the interface is down.
    Done,
    /// The frames must be sent one by one.
    OneByOne,
}

impl WholeSocket {
    /// Opens the socket; it receives nothing.
    pub fn open(device: &NetworkDevice) -> io::Result<Self> {
        let socket = Socket::open(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_VNET_HDR, &1)?;
        socket.set(libc::SOL_PACKET, libc::PACKET_QDISC_BYPASS, &1)?;
        socket.set(libc::SOL_SOCKET, libc::SO_SNDBUFFORCE, &super::transmit::SEND_BUFFER_BYTES)?;
        ring::bind(&socket, device, 0)?;
        Ok(Self {
            socket,
            headers: Vec::new(),
            start: Vec::new(),
            refused: None,
            buffers_sent: 0,
            frames_sent: 0,
            frames_discarded: 0,
        })
    }

    pub fn rejoin(&mut self, device: &NetworkDevice) -> io::Result<()> {
        self.refused = None;
        ring::bind(&self.socket, device, 0)
    }

    pub fn send(&mut self, frames: &Together<'_>) -> Sent {
        let Together { buffer, segments, numbers } = frames;
        // The kernel finds the IP header behind a tag only with the device's help.
        if self.refused.is_some() || segments.is_tagged() {
            return Sent::OneByOne;
        }
        let payload = segments.write_headers(buffer, numbers.clone(), &mut self.headers);
        self.start.resize(checksum::BYTES, 0);
        checksum::write_merged(&mut self.start, *segments, &self.headers);
        self.start.truncate(checksum::BYTES);
        self.start.extend_from_slice(&self.headers);
        match self.socket.send([&self.start, &buffer[payload]]) {
            Ok(()) => {
                self.buffers_sent += 1;
                self.frames_sent += numbers.len() as u64;
                Sent::Done
            }
            Err(error) => self.judge(&error, numbers.len()),
        }
    }

    fn judge(&mut self, error: &io::Error, frames: usize) -> Sent {
        match error.raw_os_error() {
            Some(libc::ENETDOWN | libc::ENXIO | libc::ENODEV) => {
                self.frames_discarded += frames as u64;
                Sent::Done
            }
            Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR | libc::ENOMEM) => Sent::OneByOne,
            _ => {
                self.refused = Some(format!("the kernel refused a buffer: {error}"));
                Sent::OneByOne
            }
        }
    }
}
