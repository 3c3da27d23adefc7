//! Compiles actions and the primitives of parser states.

use serde_json::Value;

use super::expressions::{Destination, Operand};
use super::{Compiler, number_of};
use crate::bits::Slot;
use crate::error::{Error, Result, refuse};
use crate::json::{Primitive, TypedValue, place};
use crate::node::{Expression, HeaderPlace};
use crate::program::{Action, Beyond, Field, Instruction};

/// Padding after the data of an entry, so that any parameter can be read with one 8-byte access.
const MARGIN_BYTES: u32 = 8;
const DATA_BYTES_MAX: u32 = 1 << 16;

impl Compiler<'_> {
    pub(super) fn actions(&mut self) -> Result<()> {
        let document = self.document;
        for action in &document.actions {
            self.parameters.clear();
            let mut bytes = 0;
            for parameter in &action.runtime_data {
                bytes += parameter.bitwidth.div_ceil(8).min(DATA_BYTES_MAX);
                if bytes > DATA_BYTES_MAX || parameter.bitwidth > crate::number::FIELD_BITS_MAX {
                    refuse!("the parameters of {} are too long", action.name);
                }
                let bit = 8 * bytes - parameter.bitwidth;
                let slot = Slot { bit, width: parameter.bitwidth, is_signed: false };
                self.parameters.push((parameter.name.clone(), slot));
            }
            let code = self.primitives(&action.primitives);
            let code = code.map_err(|error| error.within("action", &action.name, place(&action.source_info)))?;
            self.action_ids.insert(action.id, self.program.actions.len() as u32);
            let parameters = std::mem::take(&mut self.parameters);
            let (name, data_bytes) = (action.name.clone(), bytes + MARGIN_BYTES);
            self.program.actions.push(Action { name, parameters, data_bytes, code });
        }
        Ok(())
    }

    /// Compiles primitives. Jumps name primitives in the document; they become jumps to the first instruction of that
    /// primitive.
    pub(super) fn primitives(&mut self, primitives: &[Primitive]) -> Result<std::ops::Range<u32>> {
        let mut code = Vec::new();
        let mut starts = Vec::new();
        for primitive in primitives {
            starts.push(code.len() as u32);
            let at = place(&primitive.source_info);
            self.primitive(primitive, &mut code).map_err(|error| error.at(at.clone()))?;
            self.program.places.resize(self.program.instructions.len() + code.len(), at.unwrap_or_default());
        }
        let end = code.len() as u32;
        for instruction in &mut code {
            if let Instruction::Jump(to) | Instruction::JumpIfZero(_, to) = instruction {
                *to = starts.get(*to as usize).copied().unwrap_or(end);
            }
        }
        let start = self.program.instructions.len() as u32;
        self.program.instructions.extend(code);
        assert_eq!(self.program.instructions.len(), self.program.places.len(), "each instruction has its place");
        Ok(start..start + end)
    }

    fn primitive(&mut self, primitive: &Primitive, code: &mut Vec<Instruction>) -> Result<()> {
        let of = &primitive.parameters[..];
        let instruction = match (primitive.op.as_str(), of) {
            ("assign" | "modify_field", [to, value]) => return self.assign(to, &json_of(value), code),
            ("add_to_field", [to, value]) => return self.assign(to, &operation("+", to, value), code),
            ("subtract_from_field", [to, value]) => return self.assign(to, &operation("-", to, value), code),
            ("_jump", [to]) => Instruction::Jump(constant(to)?),
            ("_jump_if_zero", [condition, to]) => Instruction::JumpIfZero(self.value(condition)?, constant(to)?),
            ("exit", _) => Instruction::Exit,
            ("no_op", _) => return Ok(()),
            ("assert" | "assume", [condition]) => {
                let at = place(&primitive.source_info).map_or(String::new(), |place| format!(" at {place}"));
                let message = self.message(&format!("{}{at} does not hold", primitive.op));
                Instruction::Assert(self.value(condition)?, message)
            }
            ("log_msg", [format, values @ ..]) => self.log(format, values)?,
            ("drop", []) | ("mark_to_drop", _) => Instruction::MarkToDrop,
            ("modify_field_rng_uniform", [to, least, most]) => {
                let (least, most) = (self.value(least)?, self.value(most)?);
                return self.write_field(to, code, |slot| Instruction::Random(slot, least, most));
            }
            ("modify_field_with_hash_based_offset", [to, base, calculation, size]) => {
                let calculation = number_of(&self.program.calculations, "calculation", calculation.text()?)?;
                let (base, size) = (self.value(base)?, self.value(size)?);
                return self.write_field(to, code, |slot| Instruction::Hash(slot, base, calculation, size));
            }
            ("count", [array, index]) => {
                let array = number_of(&self.program.counters, "counter array", array.text()?)?;
                Instruction::Count(array, self.value(index)?)
            }
            ("execute_meter", [array, index, to]) => {
                let array = number_of(&self.program.meters, "meter array", array.text()?)?;
                let index = self.value(index)?;
                return self.write_field(to, code, |slot| Instruction::Meter(array, index, slot));
            }
            ("register_read", [to, array, index]) => {
                let array = number_of(&self.program.registers, "register array", array.text()?)?;
                let index = self.value(index)?;
                return self.write_field(to, code, |slot| Instruction::RegisterRead(slot, array, index));
            }
            ("register_write", [array, index, value]) => {
                let array = number_of(&self.program.registers, "register array", array.text()?)?;
                let (index, width) = (self.value(index)?, self.program.registers[array as usize].width);
                let value = self.low(&json_of(value), width)?;
                Instruction::RegisterWrite(array, index, value)
            }
            ("clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress", [session, list]) => {
                Instruction::Clone(self.value(session)?, self.value(list)?)
            }
            ("resubmit", [list]) => Instruction::Resubmit(self.value(list)?),
            ("recirculate", [list]) => Instruction::Recirculate(self.value(list)?),
            ("generate_digest", [_, list]) => Instruction::Digest(self.value(list)?),
            ("truncate", [length]) => Instruction::Truncate(self.value(length)?),
            _ => self.headers_primitive(primitive)?,
        };
        code.push(instruction);
        Ok(())
    }

    /// Compiles primitives on whole headers, and functions beyond v1model.
    fn headers_primitive(&mut self, primitive: &Primitive) -> Result<Instruction> {
        let of = &primitive.parameters[..];
        Ok(match (primitive.op.as_str(), of) {
            ("add_header", [header]) => Instruction::Validate(self.header_place(header)?),
            ("remove_header", [header]) => Instruction::Invalidate(self.header_place(header)?),
            ("assign_VL", [to, from]) => Instruction::AssignVarbit(self.varbit(to)?, self.varbit(from)?),
            ("assign_header" | "copy_header", [to, from]) => {
                Instruction::AssignHeader(self.header_place(to)?, self.header_place(from)?)
            }
            ("assign_union", [to, from]) => Instruction::AssignUnion(self.union(to)?, self.union(from)?),
            ("assign_header_stack" | "assign_union_stack", [to, from]) => {
                let (to, from) = (self.stack(&json_of(to))?, self.stack(&json_of(from))?);
                let lengths = [to, from].map(|stack| {
                    let stack = &self.program.stacks[stack as usize];
                    (stack.headers.len(), stack.of_unions)
                });
                if lengths[0] != lengths[1] {
                    refuse!("stacks of different kinds are assigned");
                }
                Instruction::AssignStack(to, from)
            }
            ("push", [stack, by]) => Instruction::Push(self.stack(&json_of(stack))?, self.value(by)?),
            ("pop", [stack, by]) => Instruction::Pop(self.stack(&json_of(stack))?, self.value(by)?),
            (name, arguments) => match Beyond::of(name) {
                Some((function, writes)) if writes.len() == arguments.len() => self.beyond(function, writes, of)?,
                Some((_, writes)) => refuse!("{name} takes {} arguments, and has {}", writes.len(), arguments.len()),
                None => refuse!("the primitive {name} with {} arguments is not supported", arguments.len()),
            },
        })
    }

    fn beyond(&mut self, function: Beyond, writes: &[bool], arguments: &[TypedValue]) -> Result<Instruction> {
        let (mut values, mut outputs) = (Vec::new(), Vec::new());
        for (argument, is_written) in arguments.iter().zip(writes) {
            if !is_written {
                values.push(self.value(argument)?);
                continue;
            }
            match self.destination(argument)? {
                Destination::Field(slot) => outputs.push(slot),
                Destination::At(..) => refuse!("{function:?} writes no field that is found when the packet is there"),
            }
        }
        let first = (self.program.lists.len() as u32, self.program.outputs.len() as u32);
        self.program.lists.extend(values);
        self.program.outputs.extend(outputs);
        Ok(Instruction::Beyond(function, first.0, first.1))
    }

    fn assign(&mut self, to: &TypedValue, value: &Value, code: &mut Vec<Instruction>) -> Result<()> {
        let instruction = match self.destination(to)? {
            Destination::Field(slot) => Instruction::Assign(slot, self.low(value, slot.width)?),
            Destination::At(place, field, slot) => Instruction::AssignAt(place, field, self.low(value, slot.width)?),
        };
        code.push(instruction);
        Ok(())
    }

    /// Compiles a write to a field. A field with a location known only at run time takes a second instruction.
    fn write_field(
        &mut self,
        to: &TypedValue,
        code: &mut Vec<Instruction>,
        instruction: impl FnOnce(Slot) -> Instruction,
    ) -> Result<()> {
        match self.destination(to)? {
            Destination::Field(slot) => code.push(instruction(slot)),
            Destination::At(place, field, slot) => {
                let spare = Slot { width: slot.width, ..self.spare };
                code.push(instruction(spare));
                code.push(Instruction::AssignAt(place, field, Expression::Field(spare)));
            }
        }
        Ok(())
    }

    fn log(&mut self, format: &TypedValue, values: &[TypedValue]) -> Result<Instruction> {
        let message = self.message(format.text()?);
        let list = values.first().map_or(&Value::Null, |list| &list.value);
        let values = list.as_array().cloned().unwrap_or_default();
        let values: Result<Vec<_>> = values.iter().map(|value| self.exact(value)).collect();
        let (first, values) = (self.program.lists.len() as u32, values?);
        let count = values.len() as u32;
        self.program.lists.extend(values);
        Ok(Instruction::Log(message, first, count))
    }

    pub(super) fn message(&mut self, text: &str) -> u32 {
        self.program.messages.push(text.to_string());
        self.program.messages.len() as u32 - 1
    }

    fn value(&mut self, of: &TypedValue) -> Result<Expression> {
        self.exact(&json_of(of))
    }

    fn header_place(&mut self, of: &TypedValue) -> Result<HeaderPlace> {
        match self.operand(&json_of(of))? {
            Operand::Header(place) => Ok(place),
            other => refuse!("a header is needed, and there is {other:?}"),
        }
    }

    fn union(&mut self, of: &TypedValue) -> Result<u32> {
        match self.operand(&json_of(of))? {
            Operand::Union(union) => Ok(union),
            other => refuse!("a header union is needed, and there is {other:?}"),
        }
    }

    /// The header with this variable-length field.
    fn varbit(&mut self, of: &TypedValue) -> Result<u32> {
        let (name, field) = of.pair()?;
        match self.field_named(name, field)? {
            (header, Field { is_varbit: true, .. }) => Ok(header),
            _ => refuse!("{name}.{field} has no variable length"),
        }
    }
}

fn json_of(of: &TypedValue) -> Value {
    serde_json::json!({"type": of.kind, "value": of.value})
}

fn operation(op: &str, left: &TypedValue, right: &TypedValue) -> Value {
    let value = serde_json::json!({"op": op, "left": json_of(left), "right": json_of(right)});
    serde_json::json!({"type": "expression", "value": value})
}

fn constant(of: &TypedValue) -> Result<u32> {
    let bytes = crate::json::hex_bytes(of.text()?)?;
    let value = bytes.iter().fold(0u64, |value, &byte| (value << 8) | u64::from(byte));
    u32::try_from(value).map_err(|_| Error::new(format!("{} is no place to jump to", of.value)))
}
