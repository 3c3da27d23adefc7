//! Compiles a document to a program. Unsupported features are refused here, with their name and the line of the P4
//! source, so that the interpreter never has to refuse a packet.

mod actions;
mod calculations;
mod expressions;
mod headers;
mod parsers;
mod pipelines;
mod sizes;
mod whole;

use std::collections::BTreeMap;

use crate::bits::Slot;
use crate::error::{Result, refuse};
use crate::json::Document;
use crate::program::{Array, Errors, MeterArray, Named, Program, Standard};

/// Maximum number of words in all register arrays, and maximum number of counters and meters.
const STATE_WORDS_MAX: u64 = 1 << 26;

/// State shared by the passes over a document.
pub(crate) struct Compiler<'d> {
    document: &'d Document,
    program: Program,
    headers: BTreeMap<&'d str, u32>,
    header_ids: BTreeMap<i64, u32>,
    stacks: BTreeMap<&'d str, u32>,
    unions: BTreeMap<&'d str, u32>,
    union_ids: BTreeMap<i64, u32>,
    action_ids: BTreeMap<i64, u32>,
    /// Parameters of the action in compilation.
    parameters: Vec<(String, Slot)>,
    /// Scratch space for values written to fields that are located at run time.
    spare: Slot,
}

impl Program {
    /// Compiles the program in `text`, a document written by p4c with `--target bmv2 --arch v1model`.
    pub fn load(text: &str) -> Result<Self> {
        let document = Document::read(text)?;
        let compiler = Compiler::new(&document);
        compiler.compile()
    }
}

impl<'d> Compiler<'d> {
    fn new(document: &'d Document) -> Self {
        let program =
            Program { name: document.program.clone(), compiler: document.meta.compiler.clone(), ..Program::default() };
        Self {
            document,
            program,
            headers: BTreeMap::new(),
            header_ids: BTreeMap::new(),
            stacks: BTreeMap::new(),
            unions: BTreeMap::new(),
            union_ids: BTreeMap::new(),
            action_ids: BTreeMap::new(),
            parameters: Vec::new(),
            spare: Slot::default(),
        }
    }

    fn compile(mut self) -> Result<Program> {
        if let Some(instance) = self.document.extern_instances.first() {
            let place = crate::json::place(&instance.source_info);
            return Err(crate::error::Error::new(format!(
                "the extern object {} of type {} is not supported; functions of p4/hitless.p4 are",
                instance.name, instance.kind
            ))
            .at(place));
        }
        self.header_instances()?;
        self.standard();
        self.arrays()?;
        self.calculations()?;
        self.lists()?;
        self.actions()?;
        self.parser()?;
        self.deparser()?;
        self.checksums()?;
        self.pipelines()?;
        self.errors();
        self.program.assert_whole();
        Ok(self.program)
    }

    /// The position of a field by its name in the architecture.
    fn alias(&self, header: &str, field: &str) -> Option<Slot> {
        let known = format!("{header}.{field}");
        let aliases = self.document.field_aliases.iter();
        let found = aliases.filter(|(name, _)| *name == known).map(|(_, (header, field))| (header, field)).next();
        let (header, field) = found.map_or((header, field), |(header, field)| (header.as_str(), field.as_str()));
        self.slot(header, field).ok().or_else(|| self.slot("standard_metadata", field).ok())
    }

    fn standard(&mut self) {
        self.program.standard = Standard {
            ingress_port: self.alias("standard_metadata", "ingress_port"),
            egress_spec: self.alias("standard_metadata", "egress_spec"),
            egress_port: self.alias("standard_metadata", "egress_port"),
            instance_type: self.alias("standard_metadata", "instance_type"),
            packet_length: self.alias("standard_metadata", "packet_length"),
            parser_error: self.alias("standard_metadata", "parser_error"),
            checksum_error: self.alias("standard_metadata", "checksum_error"),
            mcast_grp: self.alias("intrinsic_metadata", "mcast_grp"),
            egress_rid: self.alias("intrinsic_metadata", "egress_rid"),
            priority: self.alias("intrinsic_metadata", "priority"),
            ingress_timestamp: self.alias("intrinsic_metadata", "ingress_global_timestamp"),
            egress_timestamp: self.alias("intrinsic_metadata", "egress_global_timestamp"),
            enq_qdepth: self.alias("queueing_metadata", "enq_qdepth"),
            enq_timestamp: self.alias("queueing_metadata", "enq_timestamp"),
            deq_timedelta: self.alias("queueing_metadata", "deq_timedelta"),
            deq_qdepth: self.alias("queueing_metadata", "deq_qdepth"),
            qid: self.alias("queueing_metadata", "qid"),
        };
    }

    fn errors(&mut self) {
        let of = |name: &str, default: u64| {
            let found = self.document.errors.iter().find(|(known, _)| known == name);
            found.map_or(default, |&(_, number)| number)
        };
        // If a program names no error, its document lists none; these numbers are the ones that p4c assigns.
        self.program.errors = Errors {
            none: of("NoError", 0),
            too_short: of("PacketTooShort", 1),
            stack: of("StackOutOfBounds", 3),
            header_short: of("HeaderTooShort", 4),
            timeout: of("ParserTimeout", 5),
            argument: of("ParserInvalidArgument", 6),
        };
        self.program.error_names = self.document.errors.clone();
    }

    fn arrays(&mut self) -> Result<()> {
        let document = self.document;
        let mut words = 0u64;
        let mut room = |name: &str, count: u64, each: u64| {
            words = words.saturating_add(count.saturating_mul(each));
            if words > STATE_WORDS_MAX {
                refuse!("{name} has {count} cells; all arrays together may have {STATE_WORDS_MAX} words of 64 bits");
            }
            Ok(())
        };
        for array in &document.register_arrays {
            if array.width > crate::number::FIELD_BITS_MAX {
                refuse!("{} has cells of {} bits, and 2048 are the most", array.name, array.width);
            }
            room(&array.name, array.size, u64::from(array.width.div_ceil(64)))?;
            self.program.registers.push(array.clone());
        }
        for array in &document.counter_arrays {
            let size = if array.is_direct { 0 } else { array.size.unwrap_or(0) };
            room(&array.name, size, 2)?;
            let table = array.binding.clone().filter(|_| array.is_direct);
            self.program.counters.push(Array { name: array.name.clone(), size, table });
        }
        for array in &document.meter_arrays {
            let size = if array.is_direct { 0 } else { array.size.unwrap_or(0) };
            room(&array.name, size, 4)?;
            let counts_bytes = match array.kind.as_str() {
                "bytes" => true,
                "packets" => false,
                other => refuse!("the meter {} counts {other}; bytes and packets can be counted", array.name),
            };
            let target = match &array.result_target {
                Some((header, field)) if array.is_direct => Some(self.slot(header, field)?),
                _ => None,
            };
            let (name, rates, is_direct) = (array.name.clone(), array.rate_count, array.is_direct);
            self.program.meters.push(MeterArray { name, size, counts_bytes, rates, target, is_direct });
        }
        Ok(())
    }
}

/// Maps names to numbers.
trait Names {
    fn number(&self, name: &str) -> Option<u32>;
}

impl Names for BTreeMap<&str, u32> {
    fn number(&self, name: &str) -> Option<u32> {
        self.get(name).copied()
    }
}

impl<T: Named> Names for Vec<T> {
    fn number(&self, name: &str) -> Option<u32> {
        self.iter().position(|one| one.name() == name).map(|place| place as u32)
    }
}

/// The number of `name` among the declarations of the document.
fn number_of(of: &impl Names, what: &str, name: &str) -> Result<u32> {
    match of.number(name) {
        Some(number) => Ok(number),
        None => refuse!("the document has no {what} {name}"),
    }
}
