//! From the bytes of a packet back to the lines of the P4 source that wrote them.

use std::collections::BTreeSet;

use crate::bits::Slot;
use crate::node::HeaderPlace;
use crate::packet::Packet;
use crate::program::{Instruction, Program};

/// A field of a header instance, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, hitless_core::state::Value)]
pub struct FieldNumber {
    pub header: u32,
    /// The field within its type.
    pub field: u32,
}

impl Program {
    /// Finds the field that contains byte `at` of the departing packet, or `None` for a byte of the payload.
    pub fn field_at(&self, packet: &Packet, at: usize) -> Option<FieldNumber> {
        let mut end = 0;
        for &header in self.deparser.iter().filter(|&&header| packet.valid[header as usize]) {
            let start = end;
            end += packet.wire_bytes(self, header);
            if at >= end {
                continue;
            }
            let of = &self.headers[header as usize];
            let bit = of.start as usize * 8 + 8 * (at - start);
            let fields = self.fields[of.fields.start as usize..of.fields.end as usize].iter();
            let covers = |slot: Slot| (slot.bit as usize) < bit + 8 && (slot.bit + slot.width) as usize > bit;
            let found = fields.clone().position(|field| !field.is_varbit && covers(field.slot));
            let field = found.or_else(|| fields.clone().position(|field| field.is_varbit))?;
            return Some(FieldNumber { header, field: field as u32 });
        }
        None
    }

    pub fn field_name(&self, of: FieldNumber) -> String {
        let header = &self.headers[of.header as usize];
        format!("{}.{}", header.name, self.fields[(header.fields.start + of.field) as usize].name)
    }

    /// The places in the source that write a field, directly or with its header.
    pub fn writers(&self, of: FieldNumber) -> BTreeSet<&str> {
        let slot = self.field_of(of.header, of.field);
        self.places_of(|instruction| match self.written(instruction) {
            Written::Slots(slots) => slots.iter().any(|other| overlap(slot, *other)),
            Written::Field(place, field) => field == of.field && self.may_be(place, of.header),
            Written::Header(place) => self.may_be(place, of.header),
            Written::Headers(headers) => headers.contains(&of.header),
            Written::Nothing => false,
        })
    }

    /// The places in the source that change the packet's length.
    pub fn resizers(&self) -> BTreeSet<&str> {
        self.places_of(|instruction| {
            matches!(self.written(instruction), Written::Header(_) | Written::Headers(_))
                || matches!(instruction, Instruction::Truncate(_))
        })
    }

    fn places_of(&self, is_meant: impl Fn(&Instruction) -> bool) -> BTreeSet<&str> {
        let all = self.instructions.iter().zip(&self.places);
        all.filter(|(one, place)| !place.is_empty() && is_meant(one)).map(|(_, place)| place.as_str()).collect()
    }

    fn written<'i>(&'i self, instruction: &'i Instruction) -> Written<'i> {
        let union = |union: u32| self.unions[union as usize].headers.clone();
        match instruction {
            Instruction::Assign(slot, _)
            | Instruction::Random(slot, ..)
            | Instruction::Hash(slot, ..)
            | Instruction::Meter(_, _, slot)
            | Instruction::RegisterRead(slot, ..) => Written::Slots(std::slice::from_ref(slot)),
            Instruction::Beyond(function, _, output) => {
                let first = *output as usize;
                Written::Slots(&self.outputs[first..first + function.outputs()])
            }
            Instruction::AssignAt(place, field, _) => Written::Field(*place, *field),
            Instruction::AssignHeader(place, _) | Instruction::Validate(place) | Instruction::Invalidate(place) => {
                Written::Header(*place)
            }
            Instruction::AssignVarbit(header, _) => Written::Headers(vec![*header]),
            Instruction::AssignUnion(to, _) => Written::Headers(union(*to)),
            Instruction::AssignStack(stack, _) | Instruction::Push(stack, _) | Instruction::Pop(stack, _) => {
                let of = &self.stacks[*stack as usize];
                let headers = of.headers.iter().copied();
                Written::Headers(if of.of_unions { headers.flat_map(union).collect() } else { headers.collect() })
            }
            _ => Written::Nothing,
        }
    }

    /// Whether a header that is located at run time can be this one.
    fn may_be(&self, place: HeaderPlace, header: u32) -> bool {
        match place {
            HeaderPlace::Fixed(fixed) => fixed == header,
            HeaderPlace::Element(stack, _) | HeaderPlace::Last(stack) => {
                self.stacks[stack as usize].headers.contains(&header)
            }
            HeaderPlace::Member(stack, _, member) | HeaderPlace::LastMember(stack, member) => {
                let mut unions = self.stacks[stack as usize].headers.iter();
                unions.any(|&union| self.unions[union as usize].headers.get(member as usize) == Some(&header))
            }
        }
    }
}

enum Written<'p> {
    Slots(&'p [Slot]),
    Field(HeaderPlace, u32),
    Header(HeaderPlace),
    Headers(Vec<u32>),
    Nothing,
}

fn overlap(one: Slot, other: Slot) -> bool {
    one.bit < other.bit + other.width && other.bit < one.bit + one.width
}
