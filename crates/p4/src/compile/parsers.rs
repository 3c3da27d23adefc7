//! Compiles parsers, value sets and the deparser's order.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Compiler, number_of};
use crate::error::{Error, Result, refuse};
use crate::json::{ParseState, ParserOp, Primitive, Transition, TypedValue, hex_bytes, place};
use crate::node::HeaderPlace;
use crate::parser::KEY_BYTES_MAX;
use crate::program::{Case, CaseMatch, Extracted, KeyPart, ParserOperation, State, ValueSet};

impl Compiler<'_> {
    pub(super) fn parser(&mut self) -> Result<()> {
        let document = self.document;
        for set in &document.parse_vsets {
            let (name, width) = (set.name.clone(), set.compressed_bitwidth);
            self.program.value_sets.push(ValueSet { name, width, parts: Vec::new() });
        }
        let named = document.parsers.iter().find(|parser| parser.name == "parser");
        let Some(parser) = named.or(document.parsers.first()) else { return Ok(()) };
        let states: BTreeMap<_, _> =
            parser.parse_states.iter().enumerate().map(|(number, of)| (of.name.as_str(), number as u32)).collect();
        for of in &parser.parse_states {
            let state = self.state(of, &states);
            let state = state.map_err(|error| error.within("parser state", &of.name, place(&of.source_info)))?;
            self.program.states.push(state);
        }
        let start = parser.init_state.as_ref().map(|name| number_of(&states, "parser state", name));
        self.program.start = start.transpose()?;
        Ok(())
    }

    pub(super) fn deparser(&mut self) -> Result<()> {
        let document = self.document;
        let Some(deparser) = document.deparsers.first() else { return Ok(()) };
        if let Some(primitive) = deparser.primitives.first() {
            let error = Error::new(format!("{} in a deparser is not supported", primitive.op));
            return Err(error.at(place(&primitive.source_info)));
        }
        for name in &deparser.order {
            match self.union_named(name) {
                Some(union) => self.program.deparser.extend(&self.program.unions[union as usize].headers),
                None => self.program.deparser.push(self.header(name)?),
            }
        }
        Ok(())
    }

    fn state(&mut self, of: &ParseState, states: &BTreeMap<&str, u32>) -> Result<State> {
        let mut state = State { name: of.name.clone(), ..State::default() };
        for operation in &of.parser_ops {
            state.operations.push(self.parser_operation(operation)?);
        }
        for part in &of.transition_key {
            state.key.push(self.key_part(part)?);
        }
        let widths: Vec<_> = state.key.iter().map(|part| part.width()).collect();
        state.key_bytes = widths.iter().map(|width| width.div_ceil(8)).sum();
        if state.key_bytes as usize > KEY_BYTES_MAX {
            refuse!("the key has {} bytes, and {KEY_BYTES_MAX} are the most", state.key_bytes);
        }
        for transition in &of.transitions {
            let next = transition.next_state.as_ref().map(|name| number_of(states, "parser state", name));
            let next = next.transpose()?;
            match self.case(transition, &widths, state.key_bytes as usize)? {
                Some(matches) => state.cases.push(Case { matches, next }),
                None => state.otherwise = next,
            }
        }
        Ok(state)
    }

    /// The condition on the key; `None` matches any key.
    fn case(&mut self, of: &Transition, widths: &[u32], bytes: usize) -> Result<Option<CaseMatch>> {
        let value = of.value.as_deref().unwrap_or("default");
        let is_default = of.kind.as_deref() == Some("default") || (of.kind.is_none() && value == "default");
        if is_default {
            return Ok(None);
        }
        let mask = of.mask.as_deref().map(hex_bytes).transpose()?;
        if let Some(mask) = mask.as_ref().filter(|mask| mask.len() != bytes) {
            refuse!("the mask of a transition has {} bytes, and its key {bytes}", mask.len());
        }
        match of.kind.as_deref() {
            Some("parse_vset") => {
                let set = number_of(&self.program.value_sets, "value set", value)?;
                let known = &mut self.program.value_sets[set as usize];
                let width: u32 = widths.iter().sum();
                if width != known.width {
                    refuse!(
                        "the value set {value} has values of {} bits, and is compared with keys of {width}",
                        known.width
                    );
                }
                if !known.parts.is_empty() && known.parts != widths {
                    refuse!("the value set {value} is compared with keys of different widths");
                }
                known.parts = widths.to_vec();
                Ok(Some(CaseMatch::Set(set, mask.map(Into::into))))
            }
            Some("hexstr") | None => {
                let value = hex_bytes(value)?;
                if value.len() != bytes {
                    refuse!("the value of a transition has {} bytes, and its key {bytes}", value.len());
                }
                let mask = mask.unwrap_or_else(|| vec![0xff; bytes]);
                let masked: Vec<_> = value.iter().zip(&mask).map(|(value, mask)| value & mask).collect();
                let word = |of: &[u8]| of.iter().fold(0, |word, &byte| (word << 8) | u64::from(byte));
                Ok(Some(if bytes <= 8 {
                    CaseMatch::Short(word(&masked), word(&mask))
                } else {
                    CaseMatch::Long(masked.into(), mask.into())
                }))
            }
            Some(other) => refuse!("a transition of type \"{other}\" is not supported"),
        }
    }

    fn key_part(&mut self, of: &TypedValue) -> Result<KeyPart> {
        match of.kind.as_str() {
            "field" => {
                let (header, field) = of.pair()?;
                Ok(KeyPart::Field(self.slot(header, field)?))
            }
            "stack_field" => {
                let (stack, field) = of.pair()?;
                let stack = number_of(&self.stacks, "header stack", stack)?;
                let (place, number, slot) = self.access(HeaderPlace::Last(stack), field)?;
                Ok(KeyPart::Last(place, number, slot.width))
            }
            "union_stack_field" => {
                let names: Vec<_> = of.value.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
                let &[stack, member, field] = &names[..] else { refuse!("a union_stack_field needs three names") };
                let (stack, member) = self.member(stack, member)?;
                let (place, number, slot) = self.access(HeaderPlace::LastMember(stack, member), field)?;
                Ok(KeyPart::Last(place, number, slot.width))
            }
            "lookahead" => {
                let (offset, width) = ahead(&of.value)?;
                Ok(KeyPart::Ahead(offset, width))
            }
            other => refuse!("a key of type \"{other}\" is not supported"),
        }
    }

    /// The number of a stack of unions, and of a member within its unions.
    fn member(&self, stack: &str, member: &str) -> Result<(u32, u32)> {
        let number = number_of(&self.stacks, "header union stack", stack)?;
        let of = &self.program.stacks[number as usize];
        let union = of.headers.first().filter(|_| of.of_unions).map(|&union| &self.program.unions[union as usize]);
        let place = union.and_then(|union| union.members.iter().position(|known| known == member));
        match place {
            Some(place) => Ok((number, place as u32)),
            None => refuse!("the stack {stack} has no union with a member {member}"),
        }
    }

    fn parser_operation(&mut self, of: &ParserOp) -> Result<ParserOperation> {
        let null = Value::Null;
        let (first, second) = (of.parameters.first().unwrap_or(&null), of.parameters.get(1).unwrap_or(&null));
        Ok(match of.op.as_str() {
            "extract" => ParserOperation::Extract(self.extracted(first)?, None),
            "extract_VL" => ParserOperation::Extract(self.extracted(first)?, Some(self.exact(second)?)),
            "set" => {
                let to = TypedValue::of(first)?;
                let (header, field) = to.pair()?;
                let to = self.slot(header, field)?;
                let from = TypedValue::of(second)?;
                if from.kind == "lookahead" {
                    let (offset, width) = ahead(&from.value)?;
                    ParserOperation::SetAhead(to, offset, width)
                } else {
                    ParserOperation::Set(to, self.low(second, to.width)?)
                }
            }
            "verify" => ParserOperation::Verify(self.condition(first)?, self.exact(second)?),
            "shift" => {
                let bytes = first.as_u64().ok_or_else(|| Error::new("a shift needs a number of bytes"))?;
                let bits = format!("0x{:x}", bytes.saturating_mul(8));
                let bits = self.exact(&serde_json::json!({"type": "hexstr", "value": bits}))?;
                ParserOperation::Advance(bits)
            }
            "advance" => ParserOperation::Advance(self.exact(first)?),
            "primitive" => {
                let primitive = Primitive::deserialize(first)
                    .map_err(|error| Error::new(format!("a primitive of a parser state cannot be read: {error}")))?;
                let code = self.primitives(std::slice::from_ref(&primitive))?;
                ParserOperation::Run(code.start, code.end)
            }
            other => refuse!("the operation \"{other}\" of a parser is not supported"),
        })
    }

    fn extracted(&mut self, of: &Value) -> Result<Extracted> {
        let of = TypedValue::of(of)?;
        match of.kind.as_str() {
            "regular" => Ok(Extracted::Header(self.header(of.text()?)?)),
            "stack" => Ok(Extracted::Next(number_of(&self.stacks, "header stack", of.text()?)?)),
            "union_stack" => {
                let (stack, member) = of.pair()?;
                let (stack, member) = self.member(stack, member)?;
                Ok(Extracted::NextMember(stack, member))
            }
            other => refuse!("to extract a \"{other}\" is not supported"),
        }
    }
}

/// Offset and width of a lookahead.
fn ahead(of: &Value) -> Result<(u32, u32)> {
    let number = |place: usize| of.get(place).and_then(Value::as_u64).and_then(|value| u32::try_from(value).ok());
    match (number(0), number(1)) {
        (Some(offset), Some(width)) if width <= 2048 && offset <= 1 << 20 => Ok((offset, width)),
        _ => refuse!("a lookahead of {of} is not supported: it needs an offset and a width of up to 2048 bits"),
    }
}
