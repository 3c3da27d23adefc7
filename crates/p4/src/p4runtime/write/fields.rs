//! Match fields and action parameters: byte strings, checked against their widths.

use super::Write;
use crate::entries::{Match, call};
use crate::error::{Error, Result, refuse};
use crate::number::{FIELD_BITS_MAX, Number, Wide, wide};
use crate::p4runtime::info::{FieldInfo, TableInfo};
use crate::p4runtime::schema::{At, Message};
use crate::program::{Call, Table};

/// Parses a byte string for a field of `width` bits. Leading zeros are allowed (P4Runtime, section "Bytestrings").
pub(super) fn number(bytes: &[u8], width: u32, what: &str) -> Result<Wide> {
    if width == 0 {
        refuse!("{what} is written as text (@p4runtime_translation of a string), which is not supported");
    }
    let Some(first) = bytes.iter().position(|&byte| byte != 0) else {
        if bytes.is_empty() {
            refuse!("{what} ({width} bits) has no value: a byte string has a byte at least, and 0 is \"\\x00\"");
        }
        return Ok(Wide::ZERO);
    };
    let bytes = &bytes[first..];
    let bits = 8 * bytes.len() - bytes[0].leading_zeros() as usize;
    if bits > width as usize {
        let text = if bytes.len() > 32 { String::new() } else { format!(" {}", hexadecimal(bytes)) };
        refuse!("the value{text} of {what} has {bits} bits, and there is room for {width}");
    }
    Ok(wide(bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold("0x".to_string(), |text, byte| text + &format!("{byte:02x}"))
}

/// A number with the low `width` bits set.
fn ones(width: u32) -> Wide {
    Wide::ONE.left(u64::from(width.min(FIELD_BITS_MAX))) - Wide::ONE
}

/// The match of an omitted field, which accepts any value.
fn anything(field: &FieldInfo) -> Result<Match> {
    match field.kind {
        "LPM" => Ok(Match::Prefix(Wide::ZERO, 0)),
        "TERNARY" | "OPTIONAL" => Ok(Match::Ternary(Wide::ZERO, Wide::ZERO)),
        "RANGE" => Ok(Match::Range(Wide::ZERO, ones(field.width))),
        _ => refuse!("the field {} has no value, and may not be left out: it is matched EXACT", field.name),
    }
}

/// The match of a field by the rules of P4Runtime, section "Match Format".
pub(super) fn matched(field: &FieldInfo, given: Message<'_>) -> Result<Match> {
    let expected = field.kind.to_ascii_lowercase();
    let FieldInfo { name, width, .. } = field;
    let of = match given.chosen("field_match_type") {
        Some(kind) if kind == expected => given.message(kind),
        Some(kind) => refuse!("the field {name} is matched {}, and is given {kind}", field.kind),
        None => None,
    };
    let Some(of) = of else { refuse!("the field {name} has no value: {expected} {{ ... }} is due") };
    let value = |part: &str| number(of.bytes(part), *width, &format!("the field {name}"));
    match field.kind {
        "LPM" => {
            let length = of.signed("prefix_len");
            let Some(length) = u32::try_from(length).ok().filter(|length| length <= width) else {
                refuse!("the field {name} has {width} bits, and the prefix {length}");
            };
            if length == 0 {
                refuse!("the field {name} has a prefix of 0 bits: a field that may be anything is left out");
            }
            let value = value("value")?;
            if !(value & ones(width - length)).is_zero() {
                let text = hexadecimal(of.bytes("value"));
                refuse!("the field {name} has the value {text} with ones behind its prefix of {length} bits");
            }
            Ok(Match::Prefix(value, length))
        }
        "TERNARY" => {
            let (value, mask) = (value("value")?, value("mask")?);
            if mask.is_zero() {
                refuse!("the field {name} has a mask of 0: a field that may be anything is left out");
            }
            if value & mask != value {
                let (value, mask) = (hexadecimal(of.bytes("value")), hexadecimal(of.bytes("mask")));
                refuse!("the field {name} has the value {value} with ones where its mask {mask} has none");
            }
            Ok(Match::Ternary(value, mask))
        }
        "RANGE" => {
            let (low, high) = (value("low")?, value("high")?);
            if low > high {
                let (low, high) = (hexadecimal(of.bytes("low")), hexadecimal(of.bytes("high")));
                refuse!("the field {name} has the range {low} to {high}, which ends before it begins");
            }
            if low.is_zero() && high == ones(*width) {
                refuse!("the field {name} has the range of all values: a field that may be anything is left out");
            }
            Ok(Match::Range(low, high))
        }
        "OPTIONAL" => Ok(Match::Ternary(value("value")?, ones(*width))),
        _ => Ok(Match::Exact(value("value")?)),
    }
}

/// One match for each of `fields`, in order; `thing` is the owner of the key.
pub(super) fn matches(thing: &str, fields: &[FieldInfo], given: Message<'_>) -> Result<Vec<Match>> {
    let mut found: Vec<Option<Match>> = vec![None; fields.len()];
    for one in given.messages("match") {
        add(fields, one, &mut found).in_line(one, thing)?;
    }
    let all = fields.iter().zip(found).map(|(field, found)| found.map_or_else(|| anything(field), Ok));
    all.collect()
}

fn add(fields: &[FieldInfo], given: Message<'_>, found: &mut [Option<Match>]) -> Result<()> {
    let id = given.id("field_id");
    let Some(place) = fields.iter().position(|field| field.id == id) else {
        let known: Vec<_> = fields.iter().map(|field| format!("{} {}", field.id, field.name)).collect();
        refuse!("the key has no field_id {id}, but {}", known.join(", "));
    };
    if found[place].is_some() {
        refuse!("the field {} (field_id {id}) is given twice", fields[place].name);
    }
    found[place] = Some(matched(&fields[place], given)?);
    Ok(())
}

impl Write<'_> {
    pub(super) fn call(&self, info: &TableInfo, table: &Table, action: Message<'_>) -> Result<Call> {
        let id = action.id("action_id");
        let Some(of) = self.info.actions.get(&id).filter(|_| info.actions.contains_key(&id)) else {
            let known = info.actions.keys().filter_map(|id| self.info.actions.get(id).map(|of| (id, &of.name)));
            let known: Vec<_> = known.map(|(id, name)| format!("{id} {name}")).collect();
            refuse!("the action_id is {}; the actions of the table are {}", self.info.describe(id), known.join(", "));
        };
        let mut found = table.actions.iter().copied();
        let Some(number) = found.find(|&number| self.commands.program.actions[number as usize].name == of.name) else {
            refuse!("the program has no action {} in this table: the compiler took it out", of.name);
        };
        let mut values = vec![None; of.parameters.len()];
        for given in action.messages("params") {
            let id = given.id("param_id");
            let Some(place) = of.parameters.iter().position(|(known, ..)| *known == id) else {
                refuse!("the action {} has no param_id {id}", of.name);
            };
            let (_, name, width) = &of.parameters[place];
            let what = format!("the parameter {name} of {}", of.name);
            if values[place].replace(self::number(given.bytes("value"), *width, &what)?).is_some() {
                refuse!("{what} (param_id {id}) is given twice");
            }
        }
        let values = of.parameters.iter().zip(values).map(|((id, name, width), value)| {
            let missing = || format!("the parameter {name} (param_id {id}, {width} bits) of {} has no value", of.name);
            value.ok_or_else(|| Error::new(missing()))
        });
        call(self.commands.program, number, &values.collect::<Result<Vec<_>>>()?)
    }
}
