//! Packets that LinkGuardian owns, and the headers of other packets.

use crate::linkguardian::headers::{AckHeader, ControlHeader, DataHeader, LossNotification};
use hitless_core::wire::packet::MINIMUM_FRAME_BYTES;
use hitless_core::wire::{Packet, Shim};
use strum::VariantArray;

#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
#[repr(u8)]
pub(crate) enum Role {
    /// A copy at the sending switch.
    TxBuffered = 1,
    /// A retransmission in transit to the link.
    Repair,
    Dummy,
    /// A packet in the reordering buffer.
    RxBuffered,
    /// A second copy, to drop when its number has had its turn.
    RxDuplicate,
    Acknowledgement,
    LossNotification,
    Pause,
    Message,
}

impl Role {
    pub(crate) const fn of_channel(self, channel: u8) -> u8 {
        self as u8 | channel << 4
    }

    pub(crate) fn of_packet(packet: &Packet) -> Option<Role> {
        // The channel is above the low four bits; 0 is no role.
        Role::VARIANTS.get(usize::from(packet.role & 15).checked_sub(1)?).copied()
    }
}

/// A frame with a message as its only content.
pub(crate) fn control_frame(control: ControlHeader) -> Packet {
    let mut frame = Packet { frame_bytes: MINIMUM_FRAME_BYTES - ControlHeader::WIRE_BYTES, ..Packet::default() };
    frame.push_shim(control).expect("an empty stack has room");
    frame
}

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
