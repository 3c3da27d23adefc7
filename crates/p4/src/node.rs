//! What expressions are made of once they are compiled.

use crate::bits::Slot;

/// A place in a program's nodes.
pub type NodeId = u32;

/// In which size an expression is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// 64 bits.
    Word,
    /// 128 bits.
    Double,
    /// 2176 bits.
    Wide,
}

/// An expression whose value is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A field of the packet, the most frequent.
    Field(Slot),
    /// Anything else.
    Tree(NodeId, Size),
}

/// A header, which may be known only when a packet is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPlace {
    /// This one.
    Fixed(u32),
    /// Element of a stack.
    Element(u32, NodeId),
    /// The last one of a stack that was filled.
    Last(u32),
    /// Stack of unions, element, number of the member.
    Member(u32, NodeId, u32),
    /// Stack of unions, the last one that was filled, number of the member.
    LastMember(u32, u32),
}

/// Operations on two numbers whose value is a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

/// Comparisons of two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Casts to a width, the second number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// `two_comp_mod`: cut off, as a number in two's complement.
    Wrap,
    /// `usat_cast`: kept between 0 and the most.
    Saturate,
    /// `sat_cast`: the same of signed numbers.
    SaturateSigned,
}

/// One operation. The nodes below it have smaller numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A number of a program's constants.
    Constant(u32),
    /// A field.
    Field(Slot),
    /// A field of a header that is found when the packet is there; the field's number, width and sign.
    Access(HeaderPlace, u32, Slot),
    /// A parameter of the action, in the data of the table's entry.
    Parameter(Slot),
    /// A cell of a register array: array, index, width.
    Register(u32, NodeId, u32),
    /// Two numbers.
    Arithmetic(Arithmetic, NodeId, NodeId),
    /// `~`
    Not(NodeId),
    /// A cast to so many bits.
    Cast(Cast, NodeId, u32),
    /// The second if the first holds, else the third.
    Choice(NodeId, NodeId, NodeId),
    /// 1 if it holds, else 0.
    FromBool(NodeId),
    /// How many elements of a stack are filled, less the last number.
    Filled(u32, u32),

    /// True or false.
    Bool(bool),
    /// A comparison of two numbers, in their size.
    Compare(Comparison, NodeId, NodeId, Size),
    /// Both hold.
    Both(NodeId, NodeId),
    /// One holds.
    Either(NodeId, NodeId),
    /// It does not hold.
    Negate(NodeId),
    /// Both hold or neither.
    Same(NodeId, NodeId),
    /// A number is not 0.
    ToBool(NodeId, Size),
    /// A header is valid.
    Valid(HeaderPlace),
    /// A header of a union is valid: its first and the number of its headers.
    ValidUnion(u32),
    /// Two headers are valid and alike.
    HeadersEqual(HeaderPlace, HeaderPlace),
    /// Two unions have the same header valid, and it is alike.
    UnionsEqual(u32, u32),
    /// The fields of variable length of two headers are of one length and alike.
    VarbitsEqual(u32, u32),
}

impl Node {
    /// Whether its value is true or false.
    pub fn is_bool(&self) -> bool {
        matches!(
            self,
            Self::Bool(_)
                | Self::Compare(..)
                | Self::Both(..)
                | Self::Either(..)
                | Self::Negate(_)
                | Self::Same(..)
                | Self::ToBool(..)
                | Self::Valid(_)
                | Self::ValidUnion(_)
                | Self::HeadersEqual(..)
                | Self::UnionsEqual(..)
                | Self::VarbitsEqual(..)
        )
    }
}
