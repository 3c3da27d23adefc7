//! The parser of a program.

use crate::bits::Slot;
use crate::node::{Expression, HeaderPlace, NodeId};

/// A state of the parser.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Its name.
    pub name: String,
    /// What it does, in order.
    pub operations: Vec<ParserOperation>,
    /// What it decides by.
    pub key: Vec<KeyPart>,
    /// Bytes of the key, each part filled up to whole ones.
    pub key_bytes: u32,
    /// Where to, in order.
    pub cases: Vec<Case>,
    /// Where to if none fits; none: the packet is parsed.
    pub otherwise: Option<u32>,
}

/// Something that a state of the parser does.
#[derive(Clone, Copy, Debug)]
pub enum ParserOperation {
    /// Takes a header from the packet; with the length in bits of its varbit.
    Extract(Extracted, Option<Expression>),
    /// Sets a field.
    Set(Slot, Expression),
    /// Sets a field from what lies so many bits ahead: offset, width.
    SetAhead(Slot, u32, u32),
    /// Stops with this error unless the condition holds.
    Verify(NodeId, Expression),
    /// Skips so many bits.
    Advance(Expression),
    /// Instructions as an action has them.
    Run(u32, u32),
}

/// What is taken from the packet.
#[derive(Clone, Copy, Debug)]
pub enum Extracted {
    /// A header.
    Header(u32),
    /// The next element of a stack.
    Next(u32),
    /// This member of the next element of a stack of unions.
    NextMember(u32, u32),
}

/// A part of the key of a state.
#[derive(Clone, Copy, Debug)]
pub enum KeyPart {
    /// A field.
    Field(Slot),
    /// A field of the last element of a stack; field and width.
    Last(HeaderPlace, u32, u32),
    /// What lies so many bits ahead: offset, width.
    Ahead(u32, u32),
}

impl KeyPart {
    /// Its width in bits.
    pub fn width(self) -> u32 {
        match self {
            Self::Field(slot) => slot.width,
            Self::Last(_, _, width) | Self::Ahead(_, width) => width,
        }
    }
}

/// A transition.
#[derive(Clone, Debug)]
pub struct Case {
    /// What the key must be.
    pub matches: CaseMatch,
    /// Where to; none: the packet is parsed.
    pub next: Option<u32>,
}

/// What a key must be.
#[derive(Clone, Debug)]
pub enum CaseMatch {
    /// This, under the mask; keys of at most 8 bytes.
    Short(u64, u64),
    /// This, under the mask.
    Long(Box<[u8]>, Box<[u8]>),
    /// In this value set, under the mask.
    Set(u32, Option<Box<[u8]>>),
}

/// A set of values that the control plane fills.
#[derive(Clone, Debug)]
pub struct ValueSet {
    /// Its name.
    pub name: String,
    /// The width of a value.
    pub width: u32,
    /// The widths of the parts of the key it is compared with.
    pub parts: Vec<u32>,
}
