//! Selects the size for the computation of each expression. BMv2 computes with unbounded integers. 64 or 128 bits give
//! the same result if no operation needs more: the low bits of sums, products, left shifts and bitwise operations do
//! not depend on bits above, and a mask or the target field needs only low bits. All other operations need exact
//! operands.

use super::Compiler;
use crate::error::{Result, refuse};
use crate::node::{Arithmetic, Cast, Expression, Node, NodeId, Size};
use crate::number::{Number, WIDE_WORDS};

/// The bits of a value that are used.
#[derive(Clone, Copy, Debug)]
pub(super) enum Demand {
    Whole,
    Low(u32),
}

/// More bits than any size has.
const UNBOUNDED: u32 = 1 << 20;
const SIZES: [(Size, u32); 3] = [(Size::Word, 64), (Size::Double, 128), (Size::Wide, 64 * WIDE_WORDS as u32)];

impl Compiler<'_> {
    /// `node` in the smallest size that gives the demanded bits correctly.
    pub(super) fn sized(&self, node: NodeId, demand: Demand) -> Result<Expression> {
        if let Node::Field(slot) = self.program.nodes[node as usize] {
            return Ok(Expression::Field(slot));
        }
        match SIZES.into_iter().find(|&(_, bits)| self.suffices(node, demand, bits)) {
            Some((size, _)) => Ok(Expression::Tree(node, size)),
            None => refuse!("an expression needs numbers of more than {} bits", 64 * WIDE_WORDS),
        }
    }

    /// The smallest size that compares two numbers correctly.
    pub(super) fn compared(&self, one: NodeId, other: NodeId, for_equality: bool) -> Result<Size> {
        let fits = |bits: u32| {
            let whole = [one, other].into_iter().all(|node| self.suffices(node, Demand::Whole, bits));
            // For numbers without sign, equal low bits mean equal numbers.
            let alike = || {
                for_equality
                    && [one, other].into_iter().all(|node| {
                        self.is_positive(node)
                            && self.bits(node) <= bits + 1
                            && self.suffices(node, Demand::Low(bits), bits)
                    })
            };
            whole || alike()
        };
        match SIZES.into_iter().find(|&(_, bits)| fits(bits)) {
            Some((size, _)) => Ok(size),
            None => refuse!("a comparison needs numbers of more than {} bits", 64 * WIDE_WORDS),
        }
    }

    /// Whether `size` bits suffice to compute the demanded bits of `node`.
    fn suffices(&self, node: NodeId, demand: Demand, size: u32) -> bool {
        let needed = match demand {
            Demand::Whole => self.bits(node),
            Demand::Low(width) => width,
        };
        if needed > size {
            return matches!(demand, Demand::Low(_)) && self.suffices_whole(node, size);
        }
        // Operations keep only low bits right (module head), and a value that fits is correct if its low bits are.
        let low = Demand::Low(needed.min(size));
        match self.program.nodes[node as usize] {
            Node::Arithmetic(operation, one, other) => match operation {
                Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul | Arithmetic::Or | Arithmetic::Xor => {
                    self.suffices(one, low, size) && self.suffices(other, low, size)
                }
                Arithmetic::And => {
                    let mask = self.mask_bits(one).or(self.mask_bits(other)).unwrap_or(needed);
                    let low = Demand::Low(needed.min(mask));
                    self.suffices(one, low, size) && self.suffices(other, low, size)
                }
                Arithmetic::ShiftLeft => self.suffices(one, low, size) && self.suffices(other, Demand::Whole, size),
                Arithmetic::ShiftRight | Arithmetic::Div | Arithmetic::Mod => self.suffices_whole(node, size),
            },
            Node::Not(of) => self.suffices(of, low, size),
            Node::Cast(Cast::Wrap, of, width) => width <= size && self.suffices(of, Demand::Low(width), size),
            Node::Cast(..) => self.suffices_whole(node, size),
            Node::Choice(_, one, other) => self.suffices(one, low, size) && self.suffices(other, low, size),
            Node::Register(_, index, _) => self.suffices(index, Demand::Whole, 64),
            _ => true,
        }
    }

    /// Whether the result of an operation with exact operands fits, and the operands too.
    fn suffices_whole(&self, node: NodeId, size: u32) -> bool {
        let fits = |node| self.bits(node) <= size && self.suffices(node, Demand::Whole, size);
        match self.program.nodes[node as usize] {
            Node::Arithmetic(_, one, other) => self.bits(node) <= size && fits(one) && fits(other),
            Node::Cast(_, of, width) => width < size && fits(of),
            _ => fits(node),
        }
    }

    /// The bits of a mask, if it is a nonnegative constant.
    fn mask_bits(&self, node: NodeId) -> Option<u32> {
        match self.program.nodes[node as usize] {
            Node::Constant(constant) => {
                let value = &self.program.constants[constant as usize];
                (!value.is_negative()).then(|| value.bits())
            }
            _ => None,
        }
    }

    /// Whether the value is never negative.
    fn is_positive(&self, node: NodeId) -> bool {
        match self.program.nodes[node as usize] {
            Node::Constant(_) => self.mask_bits(node).is_some(),
            Node::Field(slot) | Node::Access(_, _, slot) | Node::Parameter(slot) => !slot.is_signed,
            Node::Register(..) | Node::FromBool(_) | Node::Cast(Cast::Saturate, ..) => true,
            Node::Arithmetic(Arithmetic::And, one, other) => self.is_positive(one) || self.is_positive(other),
            Node::Arithmetic(Arithmetic::Sub, ..) => false,
            Node::Arithmetic(_, one, other) => self.is_positive(one) && self.is_positive(other),
            Node::Choice(_, one, other) => self.is_positive(one) && self.is_positive(other),
            _ => false,
        }
    }

    /// Maximum number of bits of the exact value in two's complement.
    fn bits(&self, node: NodeId) -> u32 {
        let bits = match self.program.nodes[node as usize] {
            Node::Constant(constant) => {
                let value = &self.program.constants[constant as usize];
                1 + if value.is_negative() { (!value).bits() } else { value.bits() }
            }
            Node::Field(slot) | Node::Access(_, _, slot) | Node::Parameter(slot) => {
                slot.width + u32::from(!slot.is_signed)
            }
            Node::Register(_, _, width) => width + 1,
            Node::Arithmetic(operation, one, other) => self.arithmetic_bits(operation, one, other),
            Node::Not(of) => self.bits(of),
            Node::Cast(Cast::Saturate, _, width) => width + 1,
            Node::Cast(_, _, width) => width,
            Node::Choice(_, one, other) => self.bits(one).max(self.bits(other)),
            Node::Filled(..) => 33,
            _ => 2,
        };
        bits.min(UNBOUNDED)
    }

    fn arithmetic_bits(&self, operation: Arithmetic, one: NodeId, other: NodeId) -> u32 {
        let (first, second) = (self.bits(one), self.bits(other));
        match operation {
            Arithmetic::Add | Arithmetic::Sub => first.max(second) + 1,
            Arithmetic::Mul => first + second,
            Arithmetic::Div | Arithmetic::Mod | Arithmetic::ShiftRight => first,
            Arithmetic::And => {
                let positive = [(one, first), (other, second)].into_iter().filter(|&(node, _)| self.is_positive(node));
                positive.map(|(_, bits)| bits).min().unwrap_or(first.max(second))
            }
            Arithmetic::Or | Arithmetic::Xor => first.max(second),
            Arithmetic::ShiftLeft => match self.program.nodes[other as usize] {
                Node::Constant(by) => {
                    let by = self.program.constants[by as usize].index();
                    u32::try_from(by).map_or(UNBOUNDED, |by| first.saturating_add(by))
                }
                _ => UNBOUNDED,
            },
        }
    }
}
