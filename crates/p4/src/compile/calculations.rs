//! Compiles the inputs of hashes and checksums, and field lists.

use serde_json::Value;

use super::{Compiler, number_of};
use crate::bits::Slot;
use crate::error::{Error, Result, refuse};
use crate::hash::Algorithm;
use crate::json::{FieldList as ListDocument, TypedValue, hex_bytes, place};
use crate::program::{Calculation, Checksum, FieldList, Input};

/// The name that p4c gives to the list of `@field_list(7)`.
const MOVED_LIST: &str = "field_list7";

impl Compiler<'_> {
    pub(super) fn calculations(&mut self) -> Result<()> {
        let document = self.document;
        for calculation in &document.calculations {
            let made = self.calculation(&calculation.name, &calculation.algo, &calculation.input);
            let made = made.map_err(|error| error.at(place(&calculation.source_info)))?;
            self.program.calculations.push(made);
        }
        Ok(())
    }

    pub(super) fn calculation(&mut self, name: &str, algorithm: &str, input: &[TypedValue]) -> Result<Calculation> {
        let Some(algorithm) = Algorithm::of(algorithm) else {
            refuse!("the hash algorithm \"{algorithm}\" is not supported");
        };
        let mut parts = Vec::new();
        let mut with_payload = false;
        for part in input {
            match part.kind.as_str() {
                "field" => {
                    let (header, field) = part.pair()?;
                    let (header, field) = self.field_named(header, field)?;
                    let Slot { bit, width, .. } = field.slot;
                    match parts.last_mut() {
                        _ if field.is_varbit => parts.push(Input::Varbit(header)),
                        Some(Input::Bits(last, start, count)) if *last == header && *start + *count == bit => {
                            *count += width;
                        }
                        _ => parts.push(Input::Bits(header, bit, width)),
                    }
                }
                "hexstr" => {
                    let mut bytes = hex_bytes(part.text()?)?;
                    let Some(width) = part.bitwidth.filter(|&width| width <= 1 << 16) else {
                        refuse!("a constant of the calculation {name} has no width");
                    };
                    let needed = width.div_ceil(8) as usize;
                    while bytes.len() < needed {
                        bytes.insert(0, 0);
                    }
                    parts.push(Input::Constant(bytes[bytes.len() - needed..].into(), width));
                }
                "header" => parts.push(Input::Header(self.header(part.text()?)?)),
                "payload" => with_payload = true,
                other => refuse!("a calculation over a value of type \"{other}\" is not supported"),
            }
        }
        Ok(Calculation { name: name.to_string(), algorithm, input: parts, with_payload })
    }

    pub(super) fn checksums(&mut self) -> Result<()> {
        let document = self.document;
        for checksum in &document.checksums {
            let at = |error: Error| error.at(place(&checksum.source_info));
            if checksum.kind != "generic" {
                refuse!(
                    "the checksum {} is of type \"{}\", and \"generic\" is supported",
                    checksum.name,
                    checksum.kind
                );
            }
            let condition = match &checksum.if_cond {
                Some(Value::Null) | None => None,
                Some(condition) => Some(self.condition(condition).map_err(at)?),
            };
            let made = Checksum {
                name: checksum.name.clone(),
                header: self.header(&checksum.target.0).map_err(at)?,
                target: self.slot(&checksum.target.0, &checksum.target.1).map_err(at)?,
                calculation: number_of(&self.program.calculations, "calculation", &checksum.calculation).map_err(at)?,
                condition,
                is_updated: checksum.update,
                is_verified: checksum.verify,
            };
            self.program.checksums.push(made);
        }
        Ok(())
    }

    pub(super) fn lists(&mut self) -> Result<()> {
        let document = self.document;
        for list in &document.field_lists {
            let list = self.list(list, true)?;
            self.program.field_lists.push(list);
        }
        let moved = self.program.field_lists.iter().find(|list| list.name == MOVED_LIST);
        self.program.moved_list = moved.map(|list| list.id);
        for list in &document.learn_lists {
            let list = self.list(list, false)?;
            self.program.digests.push(list);
        }
        Ok(())
    }

    fn list(&self, list: &ListDocument, keeps: bool) -> Result<FieldList> {
        let at = |error: Error| error.at(place(&list.source_info));
        // A constant keeps its value without a copy.
        let elements = list.elements.iter().filter(|element| !(keeps && element.kind == "hexstr"));
        let fields = elements.map(|element| match element.kind.as_str() {
            "field" => {
                let (header, field) = element.pair()?;
                self.slot(header, field)
            }
            other => refuse!("the list {} has an element of type \"{other}\", and fields are supported", list.name),
        });
        let fields: Result<Vec<_>> = fields.collect();
        Ok(FieldList { id: list.id, name: list.name.clone(), fields: fields.map_err(at)? })
    }
}
