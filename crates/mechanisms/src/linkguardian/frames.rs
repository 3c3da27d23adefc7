//! The packets that LinkGuardian owns, and the headers of those that it does not.

use crate::linkguardian::headers::{AckHeader, ControlHeader, DataHeader, LossNotification};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Packet, Shim};

/// What a packet that LinkGuardian owns is to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Role {
    /// A copy at the sending switch.
    TxBuffered = 1,
    /// A retransmission on its way to the link.
    Repair,
    /// A dummy.
    Dummy,
    /// A packet in the reordering buffer.
    RxBuffered,
    /// A second copy of one, which is to be dropped there.
    RxDuplicate,
    /// An explicit acknowledgement.
    Acknowledgement,
    /// A loss notification.
    LossNotification,
    /// A pause frame.
    Pause,
    /// A message to the other end.
    Message,
}

impl Role {
    const ALL: [Role; 9] = [
        Role::TxBuffered,
        Role::Repair,
        Role::Dummy,
        Role::RxBuffered,
        Role::RxDuplicate,
        Role::Acknowledgement,
        Role::LossNotification,
        Role::Pause,
        Role::Message,
    ];

    /// The byte for a packet of one of the link's channels.
    pub(crate) const fn of_channel(self, channel: u8) -> u8 {
        self as u8 | channel << 4
    }

    /// What a packet of LinkGuardian's is.
    pub(crate) fn of_packet(packet: &Packet) -> Option<Role> {
        Role::ALL.get(usize::from(packet.role & 15).checked_sub(1)?).copied()
    }
}

/// A frame that carries a message and nothing else.
pub(crate) fn control_frame(control: ControlHeader) -> Packet {
    let mut frame = Packet { frame_bytes: MINIMUM_FRAME_BYTES - ControlHeader::WIRE_BYTES, ..Packet::default() };
    frame.push_shim(control).expect("an empty stack has room");
    frame
}

/// Of a packet that LinkGuardian owns.
pub(crate) fn channel_of(packet: &Packet) -> u8 {
    packet.role >> 4
}

pub(crate) fn is_of_sender(packet: &Packet) -> bool {
    packet.shims.get::<ControlHeader>().is_some_and(|control| control.message.is_of_sender())
}

pub(crate) fn carries_header(packet: &Packet) -> bool {
    let shims = &packet.shims;
    shims.contains::<DataHeader>() || shims.contains::<AckHeader>() || shims.contains::<LossNotification>()
}

pub(crate) fn data_header(packet: &Packet) -> DataHeader {
    packet.shims.get().expect("a packet that LinkGuardian buffers carries its header")
}
