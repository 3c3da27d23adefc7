//! The parser: extracts headers from bytes.

use crate::bits::{self, Slot};
use crate::expression::Computed;
use crate::node::Expression;
use crate::number::{Number, Wide};
use crate::observer::{Event, Observer};
use crate::packet::Packet;
use crate::program::{Case, CaseMatch, Extracted, KeyPart, ParserOperation, State};
use crate::run::{Run, STEPS_MAX};

/// Maximum length of a state's key in bytes.
pub const KEY_BYTES_MAX: usize = 256;

impl<O: Observer> Run<'_, '_, O> {
    /// Parses the packet and verifies its checksums.
    pub fn parse(&mut self, packet: &mut Packet) {
        let mut at = 0;
        packet.error = self.program.errors.none;
        packet.has_checksum_error = false;
        if let Err(error) = self.states(packet, &mut at) {
            packet.error = error;
            self.state.tally.parser_errors += 1;
            self.see(Event::ParserError(error));
        }
        assert!(at <= packet.bytes.len(), "the cursor of the parser stays within the packet");
        packet.payload_start = at;
        if !self.program.checksums.is_empty() {
            self.verify_checksums(packet);
        }
    }

    fn states(&mut self, packet: &mut Packet, at: &mut usize) -> Result<(), u64> {
        let program = self.program;
        let mut next = program.start;
        let mut steps = 0;
        while let Some(number) = next {
            self.see(Event::State(number));
            let state = &program.states[number as usize];
            for operation in &state.operations {
                self.operation(*operation, packet, at)?;
            }
            next = self.select(state, packet, *at);
            steps += 1;
            if steps == STEPS_MAX {
                return Err(program.errors.timeout);
            }
        }
        Ok(())
    }

    fn operation(&mut self, operation: ParserOperation, packet: &mut Packet, at: &mut usize) -> Result<(), u64> {
        let errors = self.program.errors;
        match operation {
            ParserOperation::Extract(what, length) => return self.extract(what, length, packet, at),
            ParserOperation::Set(slot, expression) => {
                let value = self.view(packet).computed(expression);
                value.write(&mut packet.values, slot);
            }
            ParserOperation::SetAhead(slot, offset, width) => {
                let bit = 8 * *at + offset as usize;
                if 8 * packet.bytes.len() < bit + width as usize {
                    return Err(errors.too_short);
                }
                let from = Slot { bit: bit as u32, width, is_signed: false };
                Wide::read(&packet.bytes, from).write(&mut packet.values, slot);
            }
            ParserOperation::Verify(condition, error) => {
                let view = self.view(packet);
                if !view.holds(condition) {
                    return Err(view.index(error));
                }
            }
            ParserOperation::Advance(by) => {
                // P4-16, packet_in: lengths that are not whole bytes are a ParserInvalidArgument.
                let bits = self.view(packet).index(by);
                if !bits.is_multiple_of(8) {
                    return Err(errors.argument);
                }
                let left = packet.bytes.len() - *at;
                let bytes = usize::try_from(bits / 8).unwrap_or(usize::MAX);
                if left < bytes {
                    return Err(errors.too_short);
                }
                *at += bytes;
            }
            ParserOperation::Run(start, end) => {
                self.state.parameters.clear();
                self.instructions(start, end, packet);
            }
        }
        Ok(())
    }

    #[inline]
    fn extract(
        &mut self,
        what: Extracted,
        length: Option<Expression>,
        packet: &mut Packet,
        at: &mut usize,
    ) -> Result<(), u64> {
        let program = self.program;
        let (header, stack) = match what {
            Extracted::Header(header) => (header, None),
            Extracted::Next(stack) => {
                let filled = packet.filled[stack as usize] as usize;
                let header = program.stacks[stack as usize].headers.get(filled).ok_or(program.errors.stack)?;
                (*header, Some(stack))
            }
            Extracted::NextMember(stack, member) => {
                let filled = packet.filled[stack as usize] as usize;
                let union = *program.stacks[stack as usize].headers.get(filled).ok_or(program.errors.stack)?;
                (program.unions[union as usize].headers[member as usize], Some(stack))
            }
        };
        let of = &program.headers[header as usize];
        if of.varbit.is_some() {
            self.extract_varbit(header, length, packet, at)?;
        } else {
            let bytes = of.wire_bytes as usize;
            let end = *at + bytes;
            let from = packet.bytes.get(*at..end).ok_or(program.errors.too_short)?;
            packet.values[of.area()].copy_from_slice(from);
            *at = end;
        }
        packet.validate(program, header);
        if let Some(stack) = stack {
            packet.filled[stack as usize] += 1;
        }
        self.see(Event::Extracted(header, packet));
        Ok(())
    }

    fn extract_varbit(
        &mut self,
        header: u32,
        length: Option<Expression>,
        packet: &mut Packet,
        at: &mut usize,
    ) -> Result<(), u64> {
        let program = self.program;
        let of = &program.headers[header as usize];
        let Some(varbit) = of.varbit else { return Ok(()) };
        let (start, before) = (8 * of.start as usize, varbit.bits_before as usize);
        let first = 8 * *at;
        let fixed = of.wire_bytes as usize;
        if packet.bytes.len() - *at < fixed {
            return Err(program.errors.too_short);
        }
        // A length given by the header type depends on other fields of the header, so these are extracted first.
        bits::copy(&mut packet.values, start, &packet.bytes, first, before);
        let length = length.or(varbit.length).map_or(0, |length| self.view(packet).index(length));
        if !length.is_multiple_of(8) {
            return Err(program.errors.argument);
        }
        let bytes = usize::try_from(length / 8).unwrap_or(usize::MAX);
        if packet.bytes.len() - *at - fixed < bytes {
            return Err(program.errors.too_short);
        }
        let is_too_long =
            varbit.header_bytes_max > 0 && (varbit.header_bytes_max as usize).saturating_sub(fixed) < bytes;
        if is_too_long || length > u64::from(varbit.slot.width) {
            return Err(program.errors.header_short);
        }
        let length = length as usize;
        assert!(before <= 8 * fixed, "the bits before a field of variable length are of its header");
        bits::copy(&mut packet.values, varbit.slot.bit as usize, &packet.bytes, first + before, length);
        let after = 8 * fixed - before;
        bits::copy(&mut packet.values, start + before, &packet.bytes, first + before + length, after);
        packet.var_bits[header as usize] = length as u32;
        *at += fixed + bytes;
        Ok(())
    }

    #[inline]
    fn select(&mut self, state: &State, packet: &Packet, at: usize) -> Option<u32> {
        if state.key.is_empty() {
            return state.otherwise;
        }
        // Most keys have at most 8 bytes: they are compared as one number.
        if state.key_bytes <= 8 {
            let mut key = 0;
            for &part in &state.key {
                let width = part.width();
                let value = self.key_part(part, packet, at);
                // A part of more than 56 bits is the only one, and a shift by 64 would be an overflow.
                key = (if width > 56 { 0 } else { key << (8 * width.div_ceil(8)) }) | value.word(0);
            }
            let bytes = key.to_be_bytes();
            let bytes = &bytes[8 - state.key_bytes as usize..];
            let next = self.decide(state, bytes, |value, mask| key & mask == value);
            self.see(Event::Selected(bytes, next));
            return next;
        }
        let mut key = [0; KEY_BYTES_MAX];
        let mut end = 0;
        for &part in &state.key {
            end += part.width().div_ceil(8);
            assert!(end as usize <= KEY_BYTES_MAX, "the parts of a parser state's key fit into it");
            let slot = Slot { bit: 8 * end - part.width(), width: part.width(), is_signed: false };
            self.key_part(part, packet, at).write(&mut key, slot);
        }
        let key = &key[..end as usize];
        let next = self.decide(state, key, |_, _| false);
        self.see(Event::Selected(key, next));
        next
    }

    #[inline]
    fn decide(&self, state: &State, key: &[u8], fits_short: impl Fn(u64, u64) -> bool) -> Option<u32> {
        let fits = |case: &&Case| match &case.matches {
            CaseMatch::Short(value, mask) => fits_short(*value, *mask),
            CaseMatch::Long(value, mask) => {
                key.iter().zip(mask).zip(value).all(|((key, mask), value)| key & mask == *value)
            }
            CaseMatch::Set(set, mask) => self.state.value_sets[*set as usize].iter().any(|member| match mask {
                None => **member == *key,
                Some(mask) => {
                    key.iter().zip(&**member).zip(mask).all(|((key, member), mask)| key & mask == member & mask)
                }
            }),
        };
        state.cases.iter().find(fits).map_or(state.otherwise, |case| case.next)
    }

    #[inline]
    fn key_part(&self, part: KeyPart, packet: &Packet, at: usize) -> Computed {
        match part {
            KeyPart::Field(slot) => read(&packet.values, slot),
            KeyPart::Last(place, field, _) => match self.header(place, packet) {
                Some(header) => read(&packet.values, self.program.field_of(header, field)),
                None => Computed::Word(0),
            },
            KeyPart::Ahead(offset, width) => {
                read(&packet.bytes, Slot { bit: (8 * at) as u32 + offset, width, is_signed: false })
            }
        }
    }
}

fn read(bytes: &[u8], slot: Slot) -> Computed {
    if slot.width <= 64 {
        Computed::Word(bits::read(bytes, slot.bit as usize, slot.width as usize) as i64)
    } else {
        Computed::Wide(Wide::read(bytes, Slot { is_signed: false, ..slot }))
    }
}
