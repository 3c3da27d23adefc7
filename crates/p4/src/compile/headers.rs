//! Layout of header fields: consecutive as on the wire, header after header, in one array of values.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Compiler, number_of};
use crate::bits::Slot;
use crate::error::{Result, refuse};
use crate::json::HeaderType;
use crate::node::Expression;
use crate::number::FIELD_BITS_MAX;
use crate::program::{Field, Header, Stack, Union, Varbit};

/// Maximum size of a packet's values in bytes.
const VALUES_BYTES_MAX: u64 = 1 << 20;
/// Maximum length of a varbit if its header type sets none.
const VARBIT_BYTES_DEFAULT: u64 = 256;
/// Padding after the last value, so that any field can be read with one access.
const MARGIN_BYTES: usize = 16;

impl<'d> Compiler<'d> {
    pub(super) fn header_instances(&mut self) -> Result<()> {
        let document = self.document;
        let types: BTreeMap<_, _> = document.header_types.iter().map(|of| (of.name.as_str(), of)).collect();
        let mut end = 0;
        for (number, instance) in document.headers.iter().enumerate() {
            let Some(&of) = types.get(instance.header_type.as_str()) else {
                refuse!("the header {} has an unknown type {}", instance.name, instance.header_type);
            };
            let header = self.instance(&instance.name, instance.metadata, of, end)?;
            end += u64::from(header.bytes);
            if end > VALUES_BYTES_MAX {
                refuse!("the headers of the program take more than {VALUES_BYTES_MAX} bytes");
            }
            self.headers.insert(&instance.name, number as u32);
            self.header_ids.insert(instance.id, number as u32);
            self.program.headers.push(header);
        }
        self.spare = Slot { bit: 8 * end as u32, width: FIELD_BITS_MAX, is_signed: false };
        self.program.values_bytes = end as usize + FIELD_BITS_MAX as usize / 8 + MARGIN_BYTES;
        self.groups()?;
        self.lengths(&types)
    }

    fn instance(&mut self, name: &str, is_metadata: bool, of: &HeaderType, start: u64) -> Result<Header> {
        let first = self.program.fields.len() as u32;
        let mut bit = 8 * start;
        let mut varbit = None;
        for field in &of.fields {
            let Some(field_name) = field.first().and_then(Value::as_str) else {
                refuse!("the header type {} has a field without a name", of.name);
            };
            let is_signed = field.get(2).and_then(Value::as_bool).unwrap_or(false);
            let is_varbit = field.get(1).is_some_and(|width| width == "*");
            let width = field.get(1).and_then(Value::as_u64).filter(|&width| width <= FIELD_BITS_MAX.into());
            let width = match width {
                Some(width) => width as u32,
                None if is_varbit && varbit.is_none() => {
                    varbit = Some((self.program.fields.len(), bit - 8 * start));
                    0
                }
                None if is_varbit => refuse!("the header type {} has two fields of variable length", of.name),
                None => refuse!("{}.{field_name} is no field of up to {FIELD_BITS_MAX} bits", of.name),
            };
            let slot = Slot { bit: bit as u32, width, is_signed };
            self.program.fields.push(Field { name: field_name.to_string(), slot, is_varbit });
            bit += u64::from(width);
            if bit > 8 * VALUES_BYTES_MAX {
                refuse!("the header {name} is too long");
            }
        }
        let bits = bit - 8 * start;
        if !is_metadata && !bits.is_multiple_of(8) {
            refuse!("the header {name} has {bits} bits, which are no whole bytes");
        }
        let wire_bytes = bits.div_ceil(8);
        let mut header = Header {
            name: name.to_string(),
            kind: of.name.clone(),
            start: start as u32,
            bytes: wire_bytes as u32,
            wire_bytes: wire_bytes as u32,
            fields: first..self.program.fields.len() as u32,
            is_metadata,
            union: None,
            varbit: None,
        };
        // A varbit gets its room after the fixed fields, so that their positions do not depend on its length.
        if let Some((field, bits_before)) = varbit {
            let room = of.max_length.map_or(VARBIT_BYTES_DEFAULT, |most| most.saturating_sub(wire_bytes));
            let room = room.min(VALUES_BYTES_MAX);
            let slot = Slot { bit: (8 * (start + wire_bytes)) as u32, width: 8 * room as u32, is_signed: false };
            self.program.fields[field].slot = slot;
            header.bytes += room as u32;
            let header_bytes_max = of.max_length.map_or(0, |most| u32::try_from(most).unwrap_or(u32::MAX));
            header.varbit = Some(Varbit { bits_before: bits_before as u32, slot, header_bytes_max, length: None });
        }
        Ok(header)
    }

    /// Compiles stacks and unions.
    fn groups(&mut self) -> Result<()> {
        let document = self.document;
        for (number, union) in document.header_unions.iter().enumerate() {
            let of = document.header_union_types.iter().find(|of| of.name == union.union_type);
            let members = of.map(|of| of.headers.iter().map(|(name, _)| name.clone()).collect()).unwrap_or_default();
            let headers = self.by_id(&union.name, &union.header_ids)?;
            for &header in &headers {
                self.program.headers[header as usize].union = Some(number as u32);
            }
            self.unions.insert(&union.name, number as u32);
            self.union_ids.insert(union.id, number as u32);
            self.program.unions.push(Union { name: union.name.clone(), headers, members });
        }
        for stack in &document.header_stacks {
            let headers = self.by_id(&stack.name, &stack.header_ids)?;
            self.stacks.insert(&stack.name, self.program.stacks.len() as u32);
            self.program.stacks.push(Stack { name: stack.name.clone(), headers, of_unions: false });
        }
        for stack in &document.header_union_stacks {
            let unions: Option<Vec<_>> =
                stack.header_union_ids.iter().map(|id| self.union_ids.get(id).copied()).collect();
            let Some(headers) = unions else { refuse!("the stack {} names an unknown union", stack.name) };
            self.stacks.insert(&stack.name, self.program.stacks.len() as u32);
            self.program.stacks.push(Stack { name: stack.name.clone(), headers, of_unions: true });
        }
        Ok(())
    }

    fn by_id(&self, name: &str, ids: &[i64]) -> Result<Vec<u32>> {
        let found: Option<Vec<_>> = ids.iter().map(|id| self.header_ids.get(id).copied()).collect();
        match found {
            Some(headers) => Ok(headers),
            None => refuse!("{name} names an unknown header"),
        }
    }

    /// Compiles header lengths given as expressions over the header's own fields.
    fn lengths(&mut self, types: &BTreeMap<&str, &HeaderType>) -> Result<()> {
        for number in 0..self.program.headers.len() {
            let header = &self.program.headers[number];
            let Some(expression) = types.get(header.kind.as_str()).and_then(|of| of.length_exp.as_ref()) else {
                continue;
            };
            if header.varbit.is_none() {
                continue;
            }
            let own = own_fields(expression, &header.name.clone());
            let length: Expression = self.exact(&own)?;
            if let Some(varbit) = &mut self.program.headers[number].varbit {
                varbit.length = Some(length);
            }
        }
        Ok(())
    }

    pub(super) fn header(&self, name: &str) -> Result<u32> {
        number_of(&self.headers, "header", name)
    }

    /// The union with this name, if no header has it.
    pub(super) fn union_named(&self, name: &str) -> Option<u32> {
        self.unions.get(name).copied().filter(|_| !self.headers.contains_key(name))
    }

    pub(super) fn field_number(&self, header: u32, field: &str) -> Result<u32> {
        let of = &self.program.headers[header as usize];
        let fields = &self.program.fields[of.fields.start as usize..of.fields.end as usize];
        match fields.iter().position(|known| known.name == field) {
            Some(number) => Ok(number as u32),
            None => refuse!("the header {} has no field {field}", of.name),
        }
    }

    /// A field by name, with the number of its header.
    pub(super) fn field_named(&self, header: &str, field: &str) -> Result<(u32, &Field)> {
        let number = self.header(header)?;
        let first = self.program.headers[number as usize].fields.start;
        Ok((number, &self.program.fields[(first + self.field_number(number, field)?) as usize]))
    }

    /// The position of a field. Refuses variable-length fields, because numbers have a fixed width.
    pub(super) fn slot(&self, header: &str, field: &str) -> Result<Slot> {
        let (_, of) = self.field_named(header, field)?;
        if of.is_varbit {
            refuse!("{header}.{field} has a variable length and cannot be computed with");
        }
        Ok(of.slot)
    }
}

/// Qualifies the fields in `expression` with the header's name.
fn own_fields(expression: &Value, header: &str) -> Value {
    match expression {
        Value::Object(of) if of.get("type").is_some_and(|kind| kind == "field") => {
            let mut of = of.clone();
            if let Some(Value::Array(names)) = of.get_mut("value")
                && names.len() == 1
            {
                names.insert(0, Value::String(header.to_string()));
            }
            Value::Object(of)
        }
        Value::Object(of) => {
            Value::Object(of.iter().map(|(name, value)| (name.clone(), own_fields(value, header))).collect())
        }
        other => other.clone(),
    }
}
