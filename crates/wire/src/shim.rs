//! The shim stack: headers that mechanisms put between Ethernet and the payload.
//!
//! A shim is kept in the packet descriptor as the bytes that go on the wire, so that a live switch only has to
//! copy them, and a packet on which nobody put a shim pays nothing. What a P4 program would carry as bridged
//! metadata (valid inside one switch, never on a link) is a shim with [`Shim::WIRE_BYTES`] zero.

use std::fmt;

/// Names the kind of a shim. The order of the values has no meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum ShimKind {
    /// LinkGuardian's data header: [`crate::linkguardian::DataHeader`].
    LinkGuardianData = 1,
    /// LinkGuardian's cumulative acknowledgement: [`crate::linkguardian::AckHeader`].
    LinkGuardianAck = 2,
    /// LinkGuardian's loss notification: [`crate::linkguardian::LossNotification`].
    LinkGuardianLoss = 3,
    /// A priority flow control frame: [`crate::pause::PauseFrame`].
    PriorityFlowControl = 4,
    /// The number by which a checker recognises a packet at the far end of a link: [`CheckNumber`].
    CheckNumber = 5,
    /// SQR's metadata of a cached packet: [`crate::sqr::CacheMetadata`].
    SqrCache = 6,
    /// The number that Link Layer Retry puts into a frame's preamble: [`crate::link_layer_retry::PreambleSequence`].
    LinkLayerRetry = 7,
    /// RIMM's header of a detoured packet: [`crate::rimm::DetourHeader`].
    RimmDetour = 8,
    /// RIMM's in-band telemetry: [`crate::rimm::TelemetryHeader`].
    RimmTelemetry = 9,
    /// RIMM's message packet: [`crate::rimm::MessageHeader`].
    RimmMessage = 10,
    /// How often switches have detoured the packet: [`DetourCount`].
    DetourCount = 11,
    /// Wharf's header: [`crate::wharf::WharfHeader`].
    Wharf = 12,
    /// A message between the ends of a protected link: [`crate::linkguardian::ControlHeader`].
    LinkGuardianControl = 13,
    /// How urgent the sender holds the packet: [`crate::priority_mark::PriorityMark`].
    PriorityMark = 14,
    /// What is left of a packet whose payload a switch has cut off: [`crate::trimmed::Trimmed`].
    Trimmed = 18,
    /// A moving average on its way from ingress to egress: [`crate::deflection::CarriedMean`].
    DeflectionMean = 20,
    /// What a control packet says of a queue: [`crate::deflection::QueueState`].
    DeflectionControl = 21,
}

impl ShimKind {
    /// Every kind there is.
    pub const ALL: [ShimKind; 17] = [
        ShimKind::LinkGuardianData,
        ShimKind::LinkGuardianAck,
        ShimKind::LinkGuardianLoss,
        ShimKind::PriorityFlowControl,
        ShimKind::CheckNumber,
        ShimKind::SqrCache,
        ShimKind::LinkLayerRetry,
        ShimKind::DetourCount,
        ShimKind::RimmDetour,
        ShimKind::RimmTelemetry,
        ShimKind::RimmMessage,
        ShimKind::Wharf,
        ShimKind::LinkGuardianControl,
        ShimKind::PriorityMark,
        ShimKind::DeflectionMean,
        ShimKind::DeflectionControl,
        ShimKind::Trimmed,
    ];

    /// Whether it is for checkers and counters of a simulation: no room is counted for it on a link.
    pub const fn is_for_observers(self) -> bool {
        matches!(self, Self::CheckNumber | Self::DetourCount)
    }

    fn from_number(kind: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|&known| known as u8 == kind)
    }
}

/// The position of a packet among all that entered a protected link, for checkers only: it takes no room on the
/// wire, and no mechanism reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckNumber(pub u32);

impl Shim for CheckNumber {
    const KIND: ShimKind = ShimKind::CheckNumber;
    const BYTES: usize = 4;
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.0.to_be_bytes());
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

/// How often switches have sent the packet to a neighbour instead of to its own full queue; for counters: it takes no room on the
/// wire. Only PABO decides by it, whose authors count bounces in the packet too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetourCount(pub u8);

impl Shim for DetourCount {
    const KIND: ShimKind = ShimKind::DetourCount;
    const BYTES: usize = 1;
    const WIRE_BYTES: u32 = 0;

    #[inline]
    fn emit(&self, bytes: &mut [u8]) {
        bytes[0] = self.0;
    }

    #[inline]
    fn parse(bytes: &[u8]) -> Self {
        Self(bytes[0])
    }
}

/// A header that can be pushed on a [`ShimStack`].
pub trait Shim: Copy {
    /// Which kind it is; one type per kind.
    const KIND: ShimKind;
    /// Bytes it takes in the descriptor.
    const BYTES: usize;
    /// Bytes it adds to the frame on a link; zero for metadata that stays inside a switch.
    const WIRE_BYTES: u32 = Self::BYTES as u32;

    /// Writes the header into `bytes`, which is [`Self::BYTES`] long.
    fn emit(&self, bytes: &mut [u8]);

    /// Reads the header back from `bytes`, which is [`Self::BYTES`] long and was written by [`Self::emit`].
    fn parse(bytes: &[u8]) -> Self;
}

/// What names the kind of a shim before its bytes.
const KIND_BYTES: usize = 1;
const CAPACITY_BYTES: usize = 28;

/// As many shims as have room in 28 bytes, each with [`ShimStack::needed_bytes`].
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct ShimStack {
    /// Shims from the bottom, each its kind and its bytes; behind the last of them zeros, which are no kind.
    bytes: [u8; CAPACITY_BYTES],
}

/// The stack has no room for one more shim: too many mechanisms were composed on one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShimStackFull;

impl fmt::Display for ShimStackFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a packet carries at most {CAPACITY_BYTES} bytes of shim headers and their kinds")
    }
}

impl std::error::Error for ShimStackFull {}

impl ShimStack {
    /// What all shims of a packet may need together.
    pub const CAPACITY_BYTES: usize = CAPACITY_BYTES;

    /// What a shim of type `S` needs: its bytes, and one for its kind.
    pub const fn needed_bytes<S: Shim>() -> usize {
        KIND_BYTES + S::BYTES
    }

    /// Whether no shim is on the stack.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes[0] == 0
    }

    /// Whether a shim of type `S` is on the stack.
    #[inline]
    pub fn contains<S: Shim>(&self) -> bool {
        self.find(S::KIND).is_some()
    }

    /// Puts `shim` on top.
    ///
    /// # Errors
    /// [`ShimStackFull`] when it has no room; the stack is unchanged.
    pub fn push<S: Shim>(&mut self, shim: S) -> Result<(), ShimStackFull> {
        let used_bytes = self.used_bytes();
        let room = self.bytes.get_mut(used_bytes..used_bytes + Self::needed_bytes::<S>()).ok_or(ShimStackFull)?;
        room[0] = S::KIND as u8;
        shim.emit(&mut room[KIND_BYTES..]);
        Ok(())
    }

    /// A copy of the shim of type `S`.
    #[inline]
    pub fn get<S: Shim>(&self) -> Option<S> {
        let start = self.find(S::KIND)?;
        Some(S::parse(&self.bytes[start..start + S::BYTES]))
    }

    /// Overwrites the shim of type `S`; false when there is none.
    #[inline]
    pub fn replace<S: Shim>(&mut self, shim: S) -> bool {
        let Some(start) = self.find(S::KIND) else { return false };
        shim.emit(&mut self.bytes[start..start + S::BYTES]);
        true
    }

    /// Takes the shim of type `S` off the stack, wherever it lies.
    pub fn remove<S: Shim>(&mut self) -> Option<S> {
        let start = self.find(S::KIND)?;
        let shim = S::parse(&self.bytes[start..start + S::BYTES]);
        self.bytes.copy_within(start + S::BYTES.., start - KIND_BYTES);
        self.bytes[CAPACITY_BYTES - Self::needed_bytes::<S>()..].fill(0);
        Some(shim)
    }

    /// The kinds on the stack and their bytes, from the bottom.
    pub fn iter(&self) -> impl Iterator<Item = (ShimKind, &[u8])> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let kind = *self.bytes.get(start)?;
            let bytes = &self.bytes[start + KIND_BYTES..][..stored_bytes(kind)?];
            start += KIND_BYTES + bytes.len();
            Some((ShimKind::from_number(kind)?, bytes))
        })
    }

    /// Where the bytes of the shim of this kind begin.
    #[inline]
    fn find(&self, wanted: ShimKind) -> Option<usize> {
        let mut start = 0;
        loop {
            let kind = *self.bytes.get(start)?;
            if kind == wanted as u8 {
                return Some(start + KIND_BYTES);
            }
            start += KIND_BYTES + stored_bytes(kind)?;
        }
    }

    fn used_bytes(&self) -> usize {
        let mut used = 0;
        while let Some(bytes) = self.bytes.get(used).and_then(|&kind| stored_bytes(kind)) {
            used += KIND_BYTES + bytes;
        }
        used
    }
}

/// Bytes that a shim of this kind takes in the descriptor; `None` for a number that is no kind.
#[inline]
fn stored_bytes(kind: u8) -> Option<usize> {
    use crate::linkguardian::{AckHeader, ControlHeader, DataHeader, LossNotification};
    use crate::pause::PauseFrame;
    use crate::rimm::{DetourHeader, MessageHeader, TelemetryHeader};
    const DATA: u8 = ShimKind::LinkGuardianData as u8;
    const ACK: u8 = ShimKind::LinkGuardianAck as u8;
    const LOSS: u8 = ShimKind::LinkGuardianLoss as u8;
    const PFC: u8 = ShimKind::PriorityFlowControl as u8;
    const CHECK: u8 = ShimKind::CheckNumber as u8;
    const SQR: u8 = ShimKind::SqrCache as u8;
    const RETRY: u8 = ShimKind::LinkLayerRetry as u8;
    const DETOURS: u8 = ShimKind::DetourCount as u8;
    const DETOUR: u8 = ShimKind::RimmDetour as u8;
    const TELEMETRY: u8 = ShimKind::RimmTelemetry as u8;
    const MESSAGE: u8 = ShimKind::RimmMessage as u8;
    const WHARF: u8 = ShimKind::Wharf as u8;
    const CONTROL: u8 = ShimKind::LinkGuardianControl as u8;
    const MARK: u8 = ShimKind::PriorityMark as u8;
    const TRIMMED: u8 = ShimKind::Trimmed as u8;
    const MEAN: u8 = ShimKind::DeflectionMean as u8;
    const STATE: u8 = ShimKind::DeflectionControl as u8;
    match kind {
        DATA => Some(DataHeader::BYTES),
        ACK => Some(AckHeader::BYTES),
        LOSS => Some(LossNotification::BYTES),
        PFC => Some(PauseFrame::BYTES),
        CHECK => Some(CheckNumber::BYTES),
        SQR => Some(crate::sqr::CacheMetadata::BYTES),
        RETRY => Some(crate::link_layer_retry::PreambleSequence::BYTES),
        DETOURS => Some(DetourCount::BYTES),
        DETOUR => Some(DetourHeader::BYTES),
        TELEMETRY => Some(TelemetryHeader::BYTES),
        MESSAGE => Some(MessageHeader::BYTES),
        WHARF => Some(crate::wharf::WharfHeader::BYTES),
        CONTROL => Some(ControlHeader::BYTES),
        MARK => Some(crate::priority_mark::PriorityMark::BYTES),
        TRIMMED => Some(crate::trimmed::Trimmed::BYTES),
        MEAN => Some(crate::deflection::CarriedMean::BYTES),
        STATE => Some(crate::deflection::QueueState::BYTES),
        _ => None,
    }
}

impl fmt::Debug for ShimStack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|(kind, _)| kind)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkguardian::{AckHeader, DataHeader, Era, LossNotification, PacketType, SequenceNumber};
    use crate::packet::PortId;
    use crate::priority_mark::PriorityMark;
    use crate::rimm::DetourHeader;
    use crate::sqr::CacheMetadata;

    fn data(value: u16) -> DataHeader {
        DataHeader::new(PacketType::Data, SequenceNumber::new(value, Era::Even))
    }

    fn ack(value: u16) -> AckHeader {
        AckHeader { channel: 0, acknowledged: SequenceNumber::new(value, Era::Odd), piggybacked: true }
    }

    #[test]
    fn what_is_pushed_can_be_read_replaced_and_removed_in_any_order() {
        let mut stack = ShimStack::default();
        stack.push(data(7)).unwrap();
        stack.push(ack(9)).unwrap();
        assert_eq!(stack.get::<DataHeader>(), Some(data(7)));
        assert!(stack.replace(data(8)));
        assert_eq!(stack.remove::<DataHeader>(), Some(data(8)));
        assert_eq!(stack.get::<AckHeader>(), Some(ack(9)));
        assert!(!stack.contains::<DataHeader>());
        assert!(!stack.replace(data(1)));
        assert_eq!(stack.remove::<AckHeader>(), Some(ack(9)));
        assert_eq!(stack, ShimStack::default());
    }

    #[test]
    fn every_kind_on_the_stack_is_listed_with_its_bytes() {
        let mut stack = ShimStack::default();
        stack.push(CheckNumber(0x0102_0304)).unwrap();
        stack.push(ack(9)).unwrap();
        let listed: Vec<_> = stack.iter().map(|(kind, bytes)| (kind, bytes.to_vec())).collect();
        let expected = [(ShimKind::CheckNumber, vec![1, 2, 3, 4]), (ShimKind::LinkGuardianAck, vec![0x70, 0, 9])];
        assert_eq!(listed, expected);
    }

    #[test]
    fn every_kind_has_a_length() {
        for kind in ShimKind::ALL {
            assert!(stored_bytes(kind as u8).is_some_and(|bytes| (1..CAPACITY_BYTES).contains(&bytes)), "{kind:?}");
        }
    }

    #[test]
    fn a_full_stack_refuses_and_stays_as_it_was() {
        let mut stack = ShimStack::default();
        stack.push(data(1)).unwrap();
        stack.push(ack(2)).unwrap();
        stack.push(LossNotification { first_lost: SequenceNumber::new(3, Era::Even), count: 1 }).unwrap();
        stack.push(CheckNumber(5)).unwrap();
        stack.push(CheckNumber(6)).unwrap();
        stack.push(DetourCount(7)).unwrap();
        let before = stack;
        assert_eq!(stack.push(data(4)), Err(ShimStackFull), "25 of 28 bytes are taken, and it needs 4");
        assert_eq!(stack, before);
    }

    #[test]
    fn what_can_meet_on_a_packet_fits_to_the_byte() {
        let mut stack = ShimStack::default();
        stack.push(PriorityMark::default()).unwrap();
        stack.push(DetourCount(1)).unwrap();
        let carried = stack;
        let metadata = CacheMetadata { tag: 1, started_ns: 2, primary: PortId(3), is_kept_back: true, skip: None };
        stack.push(metadata).unwrap();
        assert_eq!((stack.used_bytes(), stack.get()), (CAPACITY_BYTES, Some(metadata)));
        let mut stack = carried;
        stack.push(DetourHeader { sequence: 1, origin: 2, detours: 3, depth_segments: 4 }).unwrap();
        stack.push(data(7)).unwrap();
        stack.push(CheckNumber(9)).unwrap();
        assert_eq!((stack.used_bytes(), stack.get()), (CAPACITY_BYTES, Some(CheckNumber(9))));
        assert_eq!(stack.push(DetourCount(2)), Err(ShimStackFull));
        assert_eq!(stack.iter().count(), 5);
        assert_eq!(stack.remove::<DetourCount>(), Some(DetourCount(1)));
        assert_eq!((stack.get(), stack.get()), (Some(PriorityMark::default()), Some(data(7))));
    }
}
