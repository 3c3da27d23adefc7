//! Messages between the two ends of a protected link that the published programs do not have.
//!
//! They travel in frames of their own and never with a packet, so that the paper's headers stay three bytes long:
//!
//! ```text
//! kind:4 channel:1 era:1 argument:2 | zero:8 | sequence:16
//! ```
//!
//! A reader that does not know a kind drops the frame: what a message is for is then not done, and nothing else.

use super::sequence::{Era, SequenceNumber};
use hitless_core::wire::shim::{Shim, ShimId};

/// How much protection an end asks for, best first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, hitless_core::state::Value)]
pub enum Level {
    /// As the control plane has said.
    #[default]
    AsCommanded,
    /// Without keeping packets in order.
    NonBlocking,
    /// None.
    Off,
}

impl Level {
    /// All levels, best first.
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

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub enum Message {
    /// Sender: the next numbered packet will have this number, whatever has been before.
    Start,
    /// Receiver: it has taken the number of [`Message::Start`] up.
    Started,
    /// Receiver: it knows no numbers, since it has been started anew.
    AskForStart,
    /// Sender: this is the next number not yet sent; which has the receiver seen?
    Probe,
    /// Receiver, to a probe: all up to this number has been seen or reported lost.
    Answer {
        /// Nothing waits for a repair.
        in_order: bool,
    },
    /// Receiver: the protection that it wants from now on.
    Request(Level),
    /// What no switch sends.
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

    /// Whether the sending end of a link says it, and not the receiving one.
    pub const fn is_of_sender(self) -> bool {
        matches!(self, Message::Start | Message::Probe)
    }
}

/// A message with the channel and the number that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
pub struct ControlHeader {
    /// What is said.
    pub message: Message,
    /// Of which of a link's sequence spaces.
    pub channel: u8,
    /// The number that the message names; 0 where it names none.
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
