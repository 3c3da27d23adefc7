//! The headers of data, acknowledgements and loss notifications.

use super::sequence::{Era, SequenceNumber};
use hitless_core::wire::shim::{Shim, ShimId};

/// The two type bits at the start of both headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
#[repr(u8)]
pub enum PacketType {
    /// A protected packet on the link.
    Data = 0,
    Ack = 1,
    AckWithLoss = 2,
    /// A copy in the sender's buffer; never on the link.
    TxBuffered = 3,
}

impl PacketType {
    const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => PacketType::Data,
            1 => PacketType::Ack,
            2 => PacketType::AckWithLoss,
            _ => PacketType::TxBuffered,
        }
    }
}

/// The header that the sending switch puts on a protected packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct DataHeader {
    /// Data on the link, or a copy in the sender's buffer.
    pub packet_type: PacketType,
    /// The sequence space of the number: 0 or 1.
    pub channel: u8,
    /// The packet's number on this link.
    pub sequence: SequenceNumber,
    pub retransmitted: bool,
    /// A dummy: no payload, carries the next unsent number.
    pub dummy: bool,
    /// Whether the sender asks for in-order delivery (false: LinkGuardianNB).
    pub blocking: bool,
    /// Whether the packet waits in the receiver's reordering buffer.
    pub rx_buffered: bool,
}

impl DataHeader {
    pub const fn new(packet_type: PacketType, sequence: SequenceNumber) -> Self {
        Self {
            packet_type,
            channel: 0,
            sequence,
            retransmitted: false,
            dummy: false,
            blocking: false,
            rx_buffered: false,
        }
    }

    /// Whether a switch may put this header on a link: waiting packets have other types and flags, and a dummy is never
    /// retransmitted.
    pub const fn is_for_links(&self) -> bool {
        matches!(self.packet_type, PacketType::Data) && !self.rx_buffered && !(self.dummy && self.retransmitted)
    }
}

impl Shim for DataHeader {
    const ID: ShimId = ShimId::new(3, 0);

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = (self.packet_type as u8) << 6
            | (self.channel & 1) << 5
            | self.sequence.era.bit() << 4
            | u8::from(self.retransmitted) << 3
            | u8::from(self.dummy) << 2
            | u8::from(self.blocking) << 1
            | u8::from(self.rx_buffered);
        bytes[1..3].copy_from_slice(&self.sequence.value.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        let flags = bytes[0];
        let value = u16::from_be_bytes([bytes[1], bytes[2]]);
        Self {
            packet_type: PacketType::from_bits(flags >> 6),
            channel: flags >> 5 & 1,
            sequence: SequenceNumber::new(value, Era::from_bit(flags >> 4)),
            retransmitted: flags & 8 != 0,
            dummy: flags & 4 != 0,
            blocking: flags & 2 != 0,
            rx_buffered: flags & 1 != 0,
        }
    }
}

/// The cumulative acknowledgement: the last number that the receiving switch has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct AckHeader {
    /// The sequence space of the number: 0 or 1.
    pub channel: u8,
    /// Last number of the range that has been received or reported lost.
    pub acknowledged: SequenceNumber,
    /// Whether it is on a packet of the reverse direction instead of an explicit ACK packet.
    pub piggybacked: bool,
}

impl Shim for AckHeader {
    const ID: ShimId = ShimId::new(3, 1);

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = (PacketType::Ack as u8) << 6
            | u8::from(self.piggybacked) << 5
            | self.acknowledged.era.bit() << 4
            | (self.channel & 1) << 3;
        bytes[1..3].copy_from_slice(&self.acknowledged.value.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        let value = u16::from_be_bytes([bytes[1], bytes[2]]);
        Self {
            channel: bytes[0] >> 3 & 1,
            acknowledged: SequenceNumber::new(value, Era::from_bit(bytes[0] >> 4)),
            piggybacked: bytes[0] & 0x20 != 0,
        }
    }
}

/// The part of a loss notification after its acknowledgement.
///
/// On the wire its era follows from the acknowledgement before it, corrected at a wrap; here it is carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct LossNotification {
    pub first_lost: SequenceNumber,
    /// The length of the run of lost numbers, at most 255.
    pub count: u8,
}

impl Shim for LossNotification {
    const ID: ShimId = ShimId::new(4, 0);
    const WIRE_BYTES: u32 = 3;

    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = self.count;
        bytes[1..3].copy_from_slice(&self.first_lost.value.to_be_bytes());
        bytes[3] = self.first_lost.era.bit();
    }

    fn parse(bytes: &[u8]) -> Self {
        let value = u16::from_be_bytes([bytes[1], bytes[2]]);
        Self { first_lost: SequenceNumber::new(value, Era::from_bit(bytes[3])), count: bytes[0] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Any bytes parse without a panic, and their meaning survives being written and read again.
        #[test]
        fn any_bytes_parse(bytes in any::<[u8; 4]>()) {
            let data = DataHeader::parse(&bytes[..DataHeader::BYTES]);
            let mut again = bytes;
            data.emit(&mut again[..DataHeader::BYTES]);
            prop_assert_eq!(DataHeader::parse(&again[..DataHeader::BYTES]), data);
            let ack = AckHeader::parse(&bytes[..AckHeader::BYTES]);
            ack.emit(&mut again[..AckHeader::BYTES]);
            prop_assert_eq!(AckHeader::parse(&again[..AckHeader::BYTES]), ack);
            let loss = LossNotification::parse(&bytes);
            loss.emit(&mut again);
            prop_assert_eq!(LossNotification::parse(&again), loss);
        }

        #[test]
        fn parse_inverts_emit(value in any::<u16>(), era in 0u8..2, bits in any::<u8>(), kind in 0u8..4) {
            let header = DataHeader {
                packet_type: PacketType::from_bits(kind),
                channel: bits >> 4 & 1,
                sequence: SequenceNumber::new(value, Era::from_bit(era)),
                retransmitted: bits & 1 != 0,
                dummy: bits & 2 != 0,
                blocking: bits & 4 != 0,
                rx_buffered: bits & 8 != 0,
            };
            let mut bytes = [0; DataHeader::BYTES];
            header.emit(&mut bytes);
            prop_assert_eq!(DataHeader::parse(&bytes), header);

            let ack = AckHeader { channel: header.channel, acknowledged: header.sequence, piggybacked: header.dummy };
            ack.emit(&mut bytes);
            prop_assert_eq!(AckHeader::parse(&bytes), ack);

            let loss = LossNotification { first_lost: header.sequence, count: bits };
            let mut bytes = [0; LossNotification::BYTES];
            loss.emit(&mut bytes);
            prop_assert_eq!(LossNotification::parse(&bytes), loss);
        }
    }
}
