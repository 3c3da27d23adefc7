//! Changes of interfaces, as the kernel reports them (rtnetlink(7)).

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::interfaces::device::Carrier;
use crate::interfaces::sys::socket::{Socket, netlink_address};

/// Receives changes of all interfaces of the network namespace that opened it.
#[derive(Debug)]
pub struct LinkWatch {
    socket: Socket,
    buffer: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkChange {
    /// The present state, possibly unchanged.
    Present { index: i32, name: String, carrier: Carrier, mtu_bytes: usize },
    /// It was removed, or moved to another namespace.
    Gone { index: i32 },
    /// The kernel has dropped notifications: the caller must look at each interface again.
    Missed,
}

/// Longer than any message about one interface.
const BUFFER_BYTES: usize = 1 << 16;

impl LinkWatch {
    /// Starts to receive changes of the interfaces of the calling thread's network namespace.
    pub fn open() -> io::Result<Self> {
        let socket = Socket::open(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
        socket.bind(&netlink_address(libc::RTMGRP_LINK.cast_unsigned()))?;
        Ok(Self { socket, buffer: vec![0; BUFFER_BYTES] })
    }

    /// Passes on the changes since the last call, without waiting.
    pub fn changes(&mut self, take: &mut dyn FnMut(LinkChange)) -> io::Result<()> {
        loop {
            match self.socket.receive(&mut self.buffer) {
                Ok(length) => parse(self.buffer.get(..length).unwrap_or(&self.buffer), take),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The socket's buffer was full, and messages are lost (netlink(7)).
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => take(LinkChange::Missed),
                Err(error) => return Err(error),
            }
        }
    }
}

/// Readable after a change.
impl AsFd for LinkWatch {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Length of a message's header (`struct nlmsghdr`).
const HEADER_BYTES: usize = 16;
/// Length of the fields before the attributes (`struct ifinfomsg`).
const INFO_BYTES: usize = 16;

fn parse(mut bytes: &[u8], take: &mut dyn FnMut(LinkChange)) {
    while let Some(length) = word(bytes, 0).map(|length| length as usize) {
        let Some(message) = bytes.get(HEADER_BYTES..length) else { return };
        let kind = half(bytes, 4).unwrap_or_default();
        if let Some(change) = change(kind, message) {
            take(change);
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
}

fn change(kind: u16, message: &[u8]) -> Option<LinkChange> {
    let index = word(message, 4)?.cast_signed();
    let flags = word(message, 8)?.cast_signed();
    match kind {
        libc::RTM_DELLINK => Some(LinkChange::Gone { index }),
        libc::RTM_NEWLINK => {
            let attributes = message.get(INFO_BYTES..)?;
            let name = attribute(attributes, libc::IFLA_IFNAME)?;
            let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
            let mtu_bytes = word(attribute(attributes, libc::IFLA_MTU)?, 0)? as usize;
            let name = String::from_utf8_lossy(name).into_owned();
            Some(LinkChange::Present { index, name, carrier: Carrier::of_flags(flags), mtu_bytes })
        }
        _ => None,
    }
}

/// Finds the value of the attribute of this type (`struct rtattr`: length, type, value, padded to 4 bytes).
fn attribute(mut bytes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(half(bytes, 0)?);
        let value = bytes.get(4..length)?;
        if half(bytes, 2)? == wanted {
            return Some(value);
        }
        bytes = bytes.get(length.next_multiple_of(4)..)?;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(kind: u16, index: i32, flags: i32, attributes: &[(u16, &[u8])]) -> Vec<u8> {
        let mut body = vec![0; INFO_BYTES];
        body[4..8].copy_from_slice(&index.to_ne_bytes());
        body[8..12].copy_from_slice(&flags.to_ne_bytes());
        for (kind, value) in attributes {
            body.extend_from_slice(&(value.len() as u16 + 4).to_ne_bytes());
            body.extend_from_slice(&kind.to_ne_bytes());
            body.extend_from_slice(value);
            body.resize(body.len().next_multiple_of(4), 0);
        }
        let mut bytes = vec![0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&((HEADER_BYTES + body.len()) as u32).to_ne_bytes());
        bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    fn changes(bytes: &[u8]) -> Vec<LinkChange> {
        let mut found = Vec::new();
        parse(bytes, &mut |change| found.push(change));
        found
    }

    #[test]
    fn several_messages_are_read_in_order() {
        let attributes: [(u16, &[u8]); 3] =
            [(9, b"odd"), (libc::IFLA_IFNAME, b"eth0\0"), (libc::IFLA_MTU, &1500_u32.to_ne_bytes())];
        let mut bytes = message(libc::RTM_NEWLINK, 3, libc::IFF_UP, &attributes);
        bytes.extend(message(libc::RTM_DELLINK, 4, 0, &[]));
        let present = LinkChange::Present { index: 3, name: "eth0".into(), carrier: Carrier::Lost, mtu_bytes: 1500 };
        assert_eq!(changes(&bytes), [present, LinkChange::Gone { index: 4 }]);
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            changes(&bytes);
        }

        #[test]
        fn lengths_that_lie_end(length in any::<u32>(), attribute in any::<u16>()) {
            let mut bytes = message(libc::RTM_NEWLINK, 1, 0, &[(libc::IFLA_MTU, &[0; 4])]);
            bytes[HEADER_BYTES + INFO_BYTES..HEADER_BYTES + INFO_BYTES + 2].copy_from_slice(&attribute.to_ne_bytes());
            changes(&bytes);
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            changes(&bytes);
        }
    }
}
