//! Messages between the two ends of a protected link that the published programs do not have.
//!
//! They travel in separate frames and never with a packet, so that the paper's headers stay three bytes long:
//!
//! ```text
//! kind:4 channel:1 era:1 argument:2 | zero:8 | sequence:16
//! ```
//!
//! A reader drops messages of an unknown kind; the only effect is that the message is ignored.

use super::sequence::{Era, SequenceNumber};
use hitless_core::wire::shim::{Shim, ShimId};

/// Levels of protection that an end can ask for, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, hitless_core::state::Value)]
pub enum Level {
    /// As commanded by the control plane.
    #[default]
    AsCommanded,
    /// Without keeping order.
    NonBlocking,
    /// Without protection.
    Off,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::AsCommanded, Level::NonBlocking, Level::Off];

    const fn from_bits(bits: u8) -> Option<Self> {
        match bits {
            0 => Some(Level::AsCommanded),
            1 => Some(Level::NonBlocking),
            2 => Some(Level::Off),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Message {
    /// From the sender: the next numbered packet will have this number, regardless of earlier ones.
    Start,
    /// From the receiver: it has accepted the number of [`Message::Start`].
    Started,
    /// From the receiver: it has restarted and asks for the first number.
    AskForStart,
    /// From the sender: this is the next unsent number; asks for the last one received.
    Probe,
    /// From the receiver, to a probe: all numbers up to this one have been received or reported lost.
    Answer {
        /// Whether no packet waits for a repair.
        in_order: bool,
    },
    /// From the receiver: a request for another level of protection.
    Request(Level),
    /// A message that no switch sends.
    Unknown,
}

impl Message {
    /// Kind and argument.
    const fn code(self) -> (u8, u8) {
        match self {
            Message::Unknown => (0, 0),
            Message::Start => (1, 0),
            Message::Started => (2, 0),
            Message::AskForStart => (3, 0),
            Message::Probe => (4, 0),
            Message::Answer { in_order } => (5, in_order as u8),
            Message::Request(level) => (6, level as u8),
        }
    }

    const fn from_code(kind: u8, argument: u8) -> Self {
        match (kind, argument) {
            (1, 0) => Message::Start,
            (2, 0) => Message::Started,
            (3, 0) => Message::AskForStart,
            (4, 0) => Message::Probe,
            (5, 0 | 1) => Message::Answer { in_order: argument == 1 },
            (6, level) => match Level::from_bits(level) {
                Some(level) => Message::Request(level),
                None => Message::Unknown,
            },
            _ => Message::Unknown,
        }
    }

    /// Whether the sending end sends it, not the receiving one.
    pub const fn is_of_sender(self) -> bool {
        matches!(self, Message::Start | Message::Probe)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct ControlHeader {
    pub message: Message,
    /// The sequence space of the link.
    pub channel: u8,
    /// The number of the message; 0 in messages without a number.
    pub sequence: SequenceNumber,
}

impl Shim for ControlHeader {
    const ID: ShimId = ShimId::new(4, 1);

    fn emit(&self, bytes: &mut [u8]) {
        let (kind, argument) = self.message.code();
        bytes[0] = kind << 4 | (self.channel & 1) << 3 | self.sequence.era.bit() << 2 | argument;
        bytes[1] = 0;
        bytes[2..4].copy_from_slice(&self.sequence.value.to_be_bytes());
    }

    fn parse(bytes: &[u8]) -> Self {
        let value = u16::from_be_bytes([bytes[2], bytes[3]]);
        Self {
            message: Message::from_code(bytes[0] >> 4, bytes[0] & 3),
            channel: bytes[0] >> 3 & 1,
            sequence: SequenceNumber::new(value, Era::from_bit(bytes[0] >> 2)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_message_survives_its_bytes() {
        let answers = [true, false].map(|in_order| Message::Answer { in_order });
        let requests = Level::ALL.map(Message::Request);
        let others = [Message::Start, Message::Started, Message::AskForStart, Message::Probe, Message::Unknown];
        for message in others.into_iter().chain(answers).chain(requests) {
            for (channel, era) in [(0, Era::Even), (1, Era::Odd)] {
                let header = ControlHeader { message, channel, sequence: SequenceNumber::new(0x1234, era) };
                let mut bytes = [0; ControlHeader::BYTES];
                header.emit(&mut bytes);
                assert_eq!(ControlHeader::parse(&bytes), header);
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_some_message(bytes in any::<[u8; 4]>()) {
            let header = ControlHeader::parse(&bytes);
            let mut again = [0; ControlHeader::BYTES];
            header.emit(&mut again);
            prop_assert_eq!(ControlHeader::parse(&again), header);
        }
    }
}
