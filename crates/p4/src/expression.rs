//! Evaluation of expressions for a packet.

use crate::bits::Slot;
use crate::node::{Arithmetic, Cast, Comparison, Expression, HeaderPlace, Node, NodeId, Size};
use crate::number::{Number, Wide};
use crate::packet::Packet;
use crate::program::Program;
use crate::state::Registers;

/// The data that expressions can read.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub program: &'a Program,
    pub packet: &'a Packet,
    pub registers: &'a [Registers],
    pub parameters: &'a [u8],
}

impl View<'_> {
    /// The value as an index or an amount.
    #[inline]
    pub fn index(&self, expression: Expression) -> u64 {
        match expression {
            Expression::Field(slot) if slot.width <= 62 => i64::read(&self.packet.values, slot).index(),
            Expression::Field(slot) => Wide::read(&self.packet.values, slot).index(),
            Expression::Tree(node, Size::Word) => self.number::<i64>(node).index(),
            Expression::Tree(node, Size::Double) => self.number::<i128>(node).index(),
            Expression::Tree(node, Size::Wide) => self.number::<Wide>(node).index(),
        }
    }

    /// The value in the size of its computation.
    #[inline]
    pub fn computed(&self, expression: Expression) -> Computed {
        match expression {
            Expression::Field(slot) if slot.width <= 64 => Computed::Word(i64::read(&self.packet.values, slot)),
            Expression::Field(slot) if slot.width <= 128 => Computed::Double(i128::read(&self.packet.values, slot)),
            Expression::Field(slot) => Computed::Wide(Wide::read(&self.packet.values, slot)),
            Expression::Tree(node, Size::Word) => Computed::Word(self.number(node)),
            Expression::Tree(node, Size::Double) => Computed::Double(self.number(node)),
            Expression::Tree(node, Size::Wide) => Computed::Wide(self.number(node)),
        }
    }

    /// The number of a node in the size chosen for its expression.
    fn number<N: Number>(&self, node: NodeId) -> N {
        match self.program.nodes[node as usize] {
            Node::Constant(constant) => N::constant(&self.program.constants[constant as usize]),
            Node::Field(slot) => N::read(&self.packet.values, slot),
            Node::Parameter(slot) => N::read(self.parameters, slot),
            Node::Access(place, field, _) => match self.header(place) {
                Some(header) => N::read(&self.packet.values, self.program.field_of(header, field)),
                None => N::zero(),
            },
            Node::Register(array, index, _) => {
                let cells = &self.registers[array as usize];
                cells.cell(self.number::<i64>(index).index()).map_or_else(N::zero, N::from_words)
            }
            Node::Arithmetic(operation, one, other) => arithmetic(operation, self.number(one), self.number(other)),
            Node::Not(of) => !self.number::<N>(of),
            Node::Cast(cast, of, width) => {
                let (value, width) = (self.number::<N>(of), u64::from(width));
                match cast {
                    Cast::Wrap => value.wrap(width),
                    Cast::Saturate => value.saturate(width, false),
                    Cast::SaturateSigned => value.saturate(width, true),
                }
            }
            Node::Choice(condition, one, other) => self.number(if self.holds(condition) { one } else { other }),
            Node::FromBool(of) => N::small(u64::from(self.holds(of))),
            Node::Filled(stack, less) => {
                N::small(u64::from(self.packet.filled[stack as usize])).wrapping_sub(&N::small(u64::from(less)))
            }
            _ => N::small(u64::from(self.holds(node))),
        }
    }

    /// Whether the condition holds; for a number, whether it is nonzero.
    pub fn holds(&self, node: NodeId) -> bool {
        match self.program.nodes[node as usize] {
            Node::Bool(value) => value,
            Node::Compare(comparison, one, other, Size::Word) => self.compare::<i64>(comparison, one, other),
            Node::Compare(comparison, one, other, Size::Double) => self.compare::<i128>(comparison, one, other),
            Node::Compare(comparison, one, other, Size::Wide) => self.compare::<Wide>(comparison, one, other),
            Node::Both(one, other) => self.holds(one) && self.holds(other),
            Node::Either(one, other) => self.holds(one) || self.holds(other),
            Node::Negate(of) => !self.holds(of),
            Node::Same(one, other) => self.holds(one) == self.holds(other),
            Node::ToBool(of, Size::Word) => self.number::<i64>(of) != 0,
            Node::ToBool(of, Size::Double) => self.number::<i128>(of) != 0,
            Node::ToBool(of, Size::Wide) => !self.number::<Wide>(of).is_zero(),
            Node::Valid(place) => self.header(place).is_some_and(|header| self.packet.valid[header as usize]),
            Node::ValidUnion(union) => {
                let members = &self.program.unions[union as usize].headers;
                members.iter().any(|&header| self.packet.valid[header as usize])
            }
            Node::HeadersEqual(one, other) => match (self.header(one), self.header(other)) {
                (Some(one), Some(other)) => self.alike(one, other),
                _ => false,
            },
            Node::UnionsEqual(one, other) => {
                let members = |union: u32| self.program.unions[union as usize].headers.iter().copied();
                let valid = |header: u32| self.packet.valid[header as usize];
                let same = members(one)
                    .zip(members(other))
                    .all(|(one, other)| valid(one) == valid(other) && (!valid(one) || self.alike(one, other)));
                same && members(one).any(valid)
            }
            Node::VarbitsEqual(one, other) => self.varbit(one) == self.varbit(other),
            _ => !self.number::<Wide>(node).is_zero(),
        }
    }

    /// The bytes of a header's variable-length field.
    fn varbit(&self, header: u32) -> &[u8] {
        let start = self.program.headers[header as usize].varbit.map_or(0, |varbit| varbit.slot.bit as usize / 8);
        &self.packet.values[start..start + self.packet.var_bits[header as usize] as usize / 8]
    }

    fn compare<N: Number>(&self, comparison: Comparison, one: NodeId, other: NodeId) -> bool {
        let (one, other) = (self.number::<N>(one), self.number::<N>(other));
        match comparison {
            Comparison::Equal => one == other,
            Comparison::NotEqual => one != other,
            Comparison::Less => one < other,
            Comparison::LessEqual => one <= other,
            Comparison::Greater => one > other,
            Comparison::GreaterEqual => one >= other,
        }
    }

    fn alike(&self, one: u32, other: u32) -> bool {
        let packet = self.packet;
        let both = packet.valid[one as usize] && packet.valid[other as usize];
        let (first, second) = (&self.program.headers[one as usize], &self.program.headers[other as usize]);
        both && packet.values[first.area()] == packet.values[second.area()]
            && packet.var_bits[one as usize] == packet.var_bits[other as usize]
    }

    /// The header at `place`; `None` beyond the end of the stack.
    #[inline]
    pub fn header(&self, place: HeaderPlace) -> Option<u32> {
        let last = |stack: u32| self.packet.filled[stack as usize].checked_sub(1).map(|last| last as usize);
        let at = |index: NodeId| usize::try_from(self.number::<i64>(index).index()).ok();
        match place {
            HeaderPlace::Fixed(header) => Some(header),
            HeaderPlace::Element(stack, index) => self.program.stacks[stack as usize].headers.get(at(index)?).copied(),
            HeaderPlace::Last(stack) => self.program.stacks[stack as usize].headers.get(last(stack)?).copied(),
            HeaderPlace::Member(stack, index, member) => self.member(stack, at(index)?, member),
            HeaderPlace::LastMember(stack, member) => self.member(stack, last(stack)?, member),
        }
    }

    fn member(&self, stack: u32, element: usize, member: u32) -> Option<u32> {
        let union = *self.program.stacks[stack as usize].headers.get(element)?;
        self.program.unions[union as usize].headers.get(member as usize).copied()
    }
}

/// A number in the size of its computation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "it lives on the stack for one instruction, and a box would allocate")]
pub enum Computed {
    Word(i64),
    Double(i128),
    Wide(Wide),
}

impl Computed {
    /// Writes the low bits to the field of `bytes` at `slot`.
    #[inline]
    pub fn write(&self, bytes: &mut [u8], slot: Slot) {
        match self {
            Self::Word(value) => value.write(bytes, slot),
            Self::Double(value) => value.write(bytes, slot),
            Self::Wide(value) => value.write(bytes, slot),
        }
    }

    #[inline]
    pub fn word(&self, number: usize) -> u64 {
        match self {
            Self::Word(value) => value.word(number),
            Self::Double(value) => value.word(number),
            Self::Wide(value) => value.word(number),
        }
    }
}

#[inline]
fn arithmetic<N: Number>(operation: Arithmetic, one: N, other: N) -> N {
    match operation {
        Arithmetic::Add => one.wrapping_add(&other),
        Arithmetic::Sub => one.wrapping_sub(&other),
        Arithmetic::Mul => one.wrapping_mul(&other),
        Arithmetic::Div => one.checked_div(&other).unwrap_or_else(N::zero),
        Arithmetic::Mod => one.checked_rem(&other).unwrap_or_else(N::zero),
        Arithmetic::And => one & other,
        Arithmetic::Or => one | other,
        Arithmetic::Xor => one ^ other,
        Arithmetic::ShiftLeft => one.left(other.index()),
        Arithmetic::ShiftRight => one.right(other.index()),
    }
}
