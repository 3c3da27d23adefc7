//! LinkGuardian's headers: three bytes in each direction (paper, section 3.5) and the loss notification (A.1).
//!
//! The bit layout is that of the published switch programs, in which `channel` is padding: a link that protects two
//! classes of traffic apart has two sequence spaces, 0 and 1.
//!
//! ```text
//! data:  type:2 channel:1 era:1 retransmitted:1 dummy:1 blocking:1 rx_buffered:1 | sequence:16
//! ack:   type:2 piggybacked:1 era:1 channel:1 pad:3                          | acknowledged:16
//! loss:  count:8 | first_lost:16            (follows an ack header of type 2)
//! ```

mod control;

use std::fmt;

pub use control::{ControlHeader, Level, Message};

use crate::shim::{Shim, ShimKind};

/// Which turn of the 16-bit sequence number space a number belongs to; toggles at each wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Era {
    /// The first turn, the third, ...
    #[default]
    Even,
    /// The second turn, the fourth, ...
    Odd,
}

impl Era {
    const fn from_bit(bit: u8) -> Self {
        if bit & 1 == 0 { Era::Even } else { Era::Odd }
    }

    const fn bit(self) -> u8 {
        match self {
            Era::Even => 0,
            Era::Odd => 1,
        }
    }
}

/// A 16-bit sequence number with its era bit (paper, section 3.5, "Handling seqNo Wrap-around").
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SequenceNumber {
    value: u16,
    era: Era,
}

impl SequenceNumber {
    /// How many numbers one era has.
    pub const RANGE: u32 = 1 << 16;

    /// Number `value` of era `era`.
    pub const fn new(value: u16, era: Era) -> Self {
        Self { value, era }
    }

    /// The 16 bits on the wire, also the index into register arrays of [`Self::RANGE`] entries.
    pub const fn value(self) -> u16 {
        self.value
    }

    /// The era bit.
    pub const fn era(self) -> Era {
        self.era
    }

    /// The number `count` further on; the era toggles at each wrap.
    #[inline]
    pub const fn plus(self, count: u16) -> Self {
        let (value, wrapped) = self.value.overflowing_add(count);
        Self { value, era: Era::from_bit(self.era.bit() ^ wrapped as u8) }
    }

    /// The number before this one.
    #[inline]
    pub const fn previous(self) -> Self {
        let (value, wrapped) = self.value.overflowing_sub(1);
        Self { value, era: Era::from_bit(self.era.bit() ^ wrapped as u8) }
    }

    /// How many steps forward lead from `other` to this number, on the circle of both eras: below 131,072.
    ///
    /// Unlike [`Self::ahead_of`] right for any two numbers, also those that only a forger can send.
    pub const fn steps_from(self, other: Self) -> u32 {
        self.position().wrapping_sub(other.position()) % (2 * Self::RANGE)
    }

    /// [`Self::steps_from`] with a sign: from -65,536 (half the circle) to 65,535.
    pub const fn offset_from(self, other: Self) -> i32 {
        let steps = self.steps_from(other) as i32;
        const RANGE: i32 = SequenceNumber::RANGE as i32;
        if steps < RANGE { steps } else { steps - 2 * RANGE }
    }

    const fn position(self) -> u32 {
        (self.era.bit() as u32) << 16 | self.value as u32
    }

    /// How far this number lies ahead of `other`; negative when it lies behind.
    ///
    /// The paper's era correction: numbers of different eras are both moved back by half the range before they
    /// are compared. Right as long as the two are less than half the range (32,768) apart.
    #[inline]
    pub const fn ahead_of(self, other: Self) -> i32 {
        let (left, right) = if self.era.bit() == other.era.bit() {
            (self.value, other.value)
        } else {
            const HALF: u16 = (SequenceNumber::RANGE / 2) as u16;
            (self.value.wrapping_sub(HALF), other.value.wrapping_sub(HALF))
        };
        left as i32 - right as i32
    }
}

impl fmt::Debug for SequenceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.value, if self.era == Era::Odd { "'" } else { "" })
    }
}

/// The two type bits that both headers begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PacketType {
    /// A protected packet on the link.
    Data = 0,
    /// An acknowledgement.
    Ack = 1,
    /// An acknowledgement that a loss notification follows.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// Data on the link, or a copy in the sender's buffer.
    pub packet_type: PacketType,
    /// Which of the link's sequence spaces the number is of: 0 or 1.
    pub channel: u8,
    /// The packet's number on this link.
    pub sequence: SequenceNumber,
    /// A retransmitted copy.
    pub retransmitted: bool,
    /// A dummy: no payload, carries the next unsent number.
    pub dummy: bool,
    /// The sender asks for in-order delivery (false: LinkGuardianNB).
    pub blocking: bool,
    /// Waiting in the receiver's reordering buffer.
    pub rx_buffered: bool,
}

impl DataHeader {
    /// A header of `packet_type` with all flags clear.
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

    /// Whether a switch puts such a header on a link: packets that wait have other types and flags, and a dummy is
    /// never retransmitted.
    pub const fn is_for_links(&self) -> bool {
        matches!(self.packet_type, PacketType::Data) && !self.rx_buffered && !(self.dummy && self.retransmitted)
    }
}

impl Shim for DataHeader {
    const KIND: ShimKind = ShimKind::LinkGuardianData;
    const BYTES: usize = 3;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckHeader {
    /// Which of the link's sequence spaces the number is of: 0 or 1.
    pub channel: u8,
    /// Everything up to and including this number has been seen or reported lost.
    pub acknowledged: SequenceNumber,
    /// Rides on a packet of the reverse direction rather than on an explicit ACK packet.
    pub piggybacked: bool,
}

impl Shim for AckHeader {
    const KIND: ShimKind = ShimKind::LinkGuardianAck;
    const BYTES: usize = 3;

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

/// The part of a loss notification that follows its acknowledgement.
///
/// On the wire its era is that of the acknowledgement before it, corrected at a wrap; here it is carried along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossNotification {
    /// The first lost number.
    pub first_lost: SequenceNumber,
    /// How many numbers in a row were lost, at most 255.
    pub count: u8,
}

impl Shim for LossNotification {
    const KIND: ShimKind = ShimKind::LinkGuardianLoss;
    const BYTES: usize = 4;
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

    fn number(position: u32) -> SequenceNumber {
        SequenceNumber::new(position as u16, Era::from_bit((position >> 16) as u8))
    }

    proptest! {
        #[test]
        fn era_correction_orders_numbers_less_than_half_a_range_apart(start in 0u32..1 << 17, gap in 0u32..32_768) {
            let (near, far) = (number(start), number((start + gap) % (1 << 17)));
            prop_assert_eq!(far.ahead_of(near), gap as i32);
            prop_assert_eq!(near.ahead_of(far), -(gap as i32));
            prop_assert_eq!((far.offset_from(near), near.offset_from(far)), (gap as i32, -(gap as i32)));
        }

        #[test]
        fn steps_lead_from_any_number_to_any_other(start in 0u32..1 << 17, steps in 0u32..1 << 17) {
            prop_assert_eq!(number((start + steps) % (1 << 17)).steps_from(number(start)), steps);
        }

        #[test]
        fn plus_walks_the_seventeen_bit_circle(start in 0u32..1 << 17, count in any::<u16>()) {
            prop_assert_eq!(number(start).plus(count), number((start + u32::from(count)) % (1 << 17)));
            prop_assert_eq!(number(start).plus(1).previous(), number(start));
        }

        /// Any bytes parse without a panic, and what they mean survives being written and read again.
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
