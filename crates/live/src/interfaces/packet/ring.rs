//! The shape of a ring, and the socket that has one.

use std::io;

use crate::interfaces::device::NetworkDevice;
use crate::interfaces::sys::socket::Socket;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    pub slot_bytes: usize,
    pub slots: usize,
}

impl Ring {
    /// Maximum number of bytes before a frame in its slot: header, address, the header of the checksum's state, room
    /// for a tag.
    const HEADROOM_BYTES: usize = 128;
    /// Slots are contiguous if a block holds a whole number of them, so all sizes are powers of two.
    const BLOCK_BYTES: usize = 1 << 16;

    pub fn for_frames(mtu_bytes: usize, frames: usize) -> Self {
        let longest = mtu_bytes + crate::interfaces::frame::HEADER_BYTES + crate::interfaces::frame::TAG_BYTES;
        let slot_bytes = (longest + Self::HEADROOM_BYTES).next_power_of_two().max(2048);
        let slots = frames.max(Self::BLOCK_BYTES / 2048).next_power_of_two();
        Self { slot_bytes, slots }
    }

    pub fn mtu_limit_bytes(self) -> usize {
        self.slot_bytes
            - Self::HEADROOM_BYTES
            - crate::interfaces::frame::HEADER_BYTES
            - crate::interfaces::frame::TAG_BYTES
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

    pub fn after(self, index: usize) -> usize {
        (index + 1) & (self.slots - 1)
    }
}

/// Opens a packet socket with a ring, not bound yet. `switches` are set before the ring is created.
pub fn open_socket(direction: libc::c_int, shape: Ring, switches: &[libc::c_int]) -> io::Result<Socket> {
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

/// Binds to the interface, for frames of type `protocol`; 0 receives nothing.
pub fn bind(socket: &Socket, device: &NetworkDevice, protocol: libc::c_int) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as libc::c_ushort,
        sll_protocol: u16::try_from(protocol).map_err(io::Error::other)?.to_be(),
        sll_ifindex: device.index(),
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    socket.bind(&address)
}
