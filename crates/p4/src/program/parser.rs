use crate::bits::Slot;
use crate::node::{Expression, HeaderPlace, NodeId};

#[derive(Clone, Debug, Default)]
pub struct State {
    pub name: String,
    pub operations: Vec<ParserOperation>,
    pub key: Vec<KeyPart>,
    /// Size of the key in bytes; each part is padded to whole bytes.
    pub key_bytes: u32,
    pub cases: Vec<Case>,
    /// The next state if no case matches; `None` accepts the packet.
    pub otherwise: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub enum ParserOperation {
    /// Extracts a header, with the length of its varbit in bits.
    Extract(Extracted, Option<Expression>),
    Set(Slot, Expression),
    /// Sets a field by a lookahead: target, offset and width in bits.
    SetAhead(Slot, u32, u32),
    /// Stops with this error unless the condition holds.
    Verify(NodeId, Expression),
    /// Skips this many bits.
    Advance(Expression),
    /// Runs instructions, as in an action: first, end.
    Run(u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub enum Extracted {
    Header(u32),
    /// The next element of a stack.
    Next(u32),
    /// This member of the next element of a stack of unions.
    NextMember(u32, u32),
}

#[derive(Clone, Copy, Debug)]
pub enum KeyPart {
    Field(Slot),
    /// A field of the last element of a stack: header, field, width.
    Last(HeaderPlace, u32, u32),
    /// A lookahead: offset and width in bits.
    Ahead(u32, u32),
}

impl KeyPart {
    pub fn width(self) -> u32 {
        match self {
            Self::Field(slot) => slot.width,
            Self::Last(_, _, width) | Self::Ahead(_, width) => width,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    pub matches: CaseMatch,
    /// The next state; `None` accepts the packet.
    pub next: Option<u32>,
}

#[derive(Clone, Debug)]
pub enum CaseMatch {
    /// Equal to this value under the mask; for keys of at most 8 bytes.
    Short(u64, u64),
    /// Equal to this value under the mask.
    Long(Box<[u8]>, Box<[u8]>),
    /// In this value set, under the mask.
    Set(u32, Option<Box<[u8]>>),
}

/// A set of values written by the control plane.
#[derive(Clone, Debug)]
pub struct ValueSet {
    pub name: String,
    pub width: u32,
    /// Widths of the parts of the key that it is compared with.
    pub parts: Vec<u32>,
}
