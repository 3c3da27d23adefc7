use crate::bits::Slot;

pub type NodeId = u32;

/// The size of a computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Word,
    Double,
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expression {
    /// A field of the packet: the usual case, without a walk through nodes.
    Field(Slot),
    /// Any other expression.
    Tree(NodeId, Size),
}

/// A reference to a header, possibly resolved only at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeaderPlace {
    Fixed(u32),
    /// The element of a stack of headers: stack, index.
    Element(u32, NodeId),
    /// The last filled element of a stack.
    Last(u32),
    /// The member of a union in a stack: stack, index, member.
    Member(u32, NodeId, u32),
    /// The member of the last filled union in a stack: stack, member.
    LastMember(u32, u32),
}

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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// Casts to a width, which is the second operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cast {
    /// `two_comp_mod`: truncated to two's complement.
    Wrap,
    /// `usat_cast`: clamped to the unsigned range.
    Saturate,
    /// `sat_cast`: clamped to the signed range.
    SaturateSigned,
}

/// An operation. Its operands have smaller indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// A constant of the program, by index.
    Constant(u32),
    Field(Slot),
    /// A field of a header that is located at run time: header, number of the field, width and sign.
    Access(HeaderPlace, u32, Slot),
    /// A parameter of the action, from the data of the table entry.
    Parameter(Slot),
    /// A cell of a register array: array, index, width.
    Register(u32, NodeId, u32),
    Arithmetic(Arithmetic, NodeId, NodeId),
    Not(NodeId),
    /// A cast to this width.
    Cast(Cast, NodeId, u32),
    /// The second operand if the first holds, else the third.
    Choice(NodeId, NodeId, NodeId),
    /// 1 if the condition holds, else 0.
    FromBool(NodeId),
    /// Number of filled elements of a stack, minus the second operand.
    Filled(u32, u32),

    Bool(bool),
    /// A comparison of two numbers in this size.
    Compare(Comparison, NodeId, NodeId, Size),
    Both(NodeId, NodeId),
    Either(NodeId, NodeId),
    Negate(NodeId),
    /// Equality of two truth values.
    Same(NodeId, NodeId),
    /// Whether a number is nonzero.
    ToBool(NodeId, Size),
    Valid(HeaderPlace),
    ValidUnion(u32),
    /// Whether two headers are valid with equal fields.
    HeadersEqual(HeaderPlace, HeaderPlace),
    /// Whether two unions have the same valid header, with equal fields.
    UnionsEqual(u32, u32),
    /// Whether the variable-length fields of two headers have equal lengths and contents.
    VarbitsEqual(u32, u32),
}

impl Node {
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
