//! Compiled programs: immutable flat arrays that refer to each other by index.

mod action;
mod parser;
mod table;

use std::ops::Range;

use crate::bits::Slot;
use crate::hash::Algorithm;
use crate::node::{Expression, Node, NodeId};
use crate::number::Wide;

pub use action::{Action, Beyond, Instruction};
pub use parser::{Case, CaseMatch, Extracted, KeyPart, ParserOperation, State, ValueSet};
pub use table::{Call, Entry, Key, KeySource, Lookup, MatchKind, Next, Profile, Table, Target};

/// The output of `compile`.
#[derive(Debug, Default)]
pub struct Program {
    /// The P4 source file, as named in the document.
    pub name: String,
    /// The compiler that wrote the document.
    pub compiler: String,
    /// Size of a packet's values in bytes.
    pub values_bytes: usize,
    pub headers: Vec<Header>,
    pub fields: Vec<Field>,
    pub stacks: Vec<Stack>,
    pub unions: Vec<Union>,
    pub nodes: Vec<Node>,
    pub constants: Vec<Wide>,
    pub states: Vec<State>,
    /// The first state; `None` if nothing is parsed.
    pub start: Option<u32>,
    /// Names and widths of value sets.
    pub value_sets: Vec<ValueSet>,
    /// Headers in the deparser's order.
    pub deparser: Vec<u32>,
    pub actions: Vec<Action>,
    pub instructions: Vec<Instruction>,
    /// Place in the P4 source by instruction; empty if unknown.
    pub places: Vec<String>,
    pub tables: Vec<Table>,
    pub profiles: Vec<Profile>,
    pub steps: Vec<Step>,
    /// The first step of ingress.
    pub ingress: Option<u32>,
    /// The first step of egress.
    pub egress: Option<u32>,
    /// Inputs and algorithms of hashes and checksums.
    pub calculations: Vec<Calculation>,
    /// Checksums, in the order of the document.
    pub checksums: Vec<Checksum>,
    /// Lists of preserved fields, for clones and the like.
    pub field_lists: Vec<FieldList>,
    /// Number of the list of fields that a moved packet keeps (`MOVED_FIELDS` of p4/hitless.p4), if it exists.
    pub moved_list: Option<u32>,
    pub digests: Vec<FieldList>,
    pub registers: Vec<RegisterArray>,
    /// Counter arrays, except direct counters.
    pub counters: Vec<Array>,
    /// Meter arrays, including direct meters.
    pub meters: Vec<MeterArray>,
    /// Standard metadata fields, which the switch writes and reads.
    pub standard: Standard,
    pub errors: Errors,
    pub error_names: Vec<(String, u64)>,
    /// Messages of `log_msg`, `assert` and `assume`.
    pub messages: Vec<String>,
    /// Expressions in argument lists of primitives.
    pub lists: Vec<Expression>,
    /// Target fields of functions beyond v1model.
    pub outputs: Vec<Slot>,
}

#[derive(Clone, Debug, Default)]
pub struct Header {
    pub name: String,
    /// The name of the header's type.
    pub kind: String,
    /// Position of its values in bytes.
    pub start: u32,
    /// Size of its values in bytes, with a varbit at its maximum length.
    pub bytes: u32,
    /// Size on the wire in bytes, without a varbit.
    pub wire_bytes: u32,
    /// Its fields in [`Program::fields`].
    pub fields: Range<u32>,
    /// Whether it is metadata, which is always valid and never on the wire.
    pub is_metadata: bool,
    /// The union that it belongs to.
    pub union: Option<u32>,
    pub varbit: Option<Varbit>,
}

impl Header {
    /// The bytes of its values.
    pub fn area(&self) -> Range<usize> {
        self.start as usize..(self.start + self.bytes) as usize
    }
}

/// The variable-length field of a header. Its values come after the values of the other fields.
#[derive(Clone, Copy, Debug)]
pub struct Varbit {
    /// Number of bits before it on the wire.
    pub bits_before: u32,
    /// Position of its values.
    pub slot: Slot,
    /// Maximum length of the header in bytes; 0 if only the field's own width is known.
    pub header_bytes_max: u32,
    /// The length in bits, if the type defines it.
    pub length: Option<Expression>,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: String,
    /// The field's position; for a varbit, at its maximum length.
    pub slot: Slot,
    pub is_varbit: bool,
}

#[derive(Clone, Debug)]
pub struct Stack {
    pub name: String,
    /// Its elements: headers or unions.
    pub headers: Vec<u32>,
    pub of_unions: bool,
}

#[derive(Clone, Debug)]
pub struct Union {
    pub name: String,
    pub headers: Vec<u32>,
    /// Names of the headers within the union.
    pub members: Vec<String>,
}

/// A step of ingress or egress.
#[derive(Clone, Debug)]
pub enum Step {
    Table(u32),
    /// A condition: node, next step if it holds, next step if not, place in the source.
    Condition(NodeId, Option<u32>, Option<u32>, u32),
    /// An action, and the next step.
    Call(u32, Option<u32>),
}

/// The calculation of a hash or checksum.
#[derive(Clone, Debug)]
pub struct Calculation {
    pub name: String,
    pub algorithm: Algorithm,
    pub input: Vec<Input>,
    /// Whether the input includes the bytes after the parsed headers.
    pub with_payload: bool,
}

#[derive(Clone, Debug)]
pub enum Input {
    /// Bits of a header, if it is valid: header, first bit, number of bits.
    Bits(u32, u32, u32),
    Varbit(u32),
    /// A constant: bytes and width.
    Constant(Box<[u8]>, u32),
    /// A header as on the wire.
    Header(u32),
}

/// A checksum that is verified after parsing or updated before deparsing.
#[derive(Clone, Debug)]
pub struct Checksum {
    pub name: String,
    pub header: u32,
    pub target: Slot,
    pub calculation: u32,
    /// The condition for verification or update.
    pub condition: Option<NodeId>,
    pub is_updated: bool,
    pub is_verified: bool,
}

#[derive(Clone, Debug)]
pub struct FieldList {
    pub id: u32,
    pub name: String,
    pub fields: Vec<Slot>,
}

#[derive(Clone, Debug, serde::Deserialize)]
pub struct RegisterArray {
    pub name: String,
    pub size: u64,
    /// Width of a cell in bits.
    #[serde(rename = "bitwidth")]
    pub width: u32,
}

#[derive(Clone, Debug)]
pub struct Array {
    pub name: String,
    pub size: u64,
    /// The table of a direct counter array, which has a counter for each entry.
    pub table: Option<String>,
}

#[derive(Clone, Debug)]
pub struct MeterArray {
    pub name: String,
    pub size: u64,
    /// Whether it counts bytes instead of packets.
    pub counts_bytes: bool,
    pub rates: u32,
    /// The target field for the colour of a direct meter.
    pub target: Option<Slot>,
    /// Whether it is direct, with a meter for each table entry.
    pub is_direct: bool,
}

/// Numbers of the parser's errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    pub none: u64,
    /// The packet ends too early.
    pub too_short: u64,
    /// A stack index is out of bounds.
    pub stack: u64,
    /// A header is too short for its variable-length field.
    pub header_short: u64,
    /// A length is invalid.
    pub argument: u64,
    /// Parsing exceeds the limit of steps.
    pub timeout: u64,
}

/// Fields of standard_metadata that the program has.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard {
    /// Port of arrival.
    pub ingress_port: Option<Slot>,
    /// Selected port of departure.
    pub egress_spec: Option<Slot>,
    pub egress_port: Option<Slot>,
    /// Origin of the packet.
    pub instance_type: Option<Slot>,
    /// Length in bytes.
    pub packet_length: Option<Slot>,
    pub parser_error: Option<Slot>,
    pub checksum_error: Option<Slot>,
    pub mcast_grp: Option<Slot>,
    /// Replication id of a multicast copy.
    pub egress_rid: Option<Slot>,
    /// Number of the queue; 0 selects the queue of the packet's class.
    pub priority: Option<Slot>,
    /// Time at ingress in us.
    pub ingress_timestamp: Option<Slot>,
    /// Time at egress in us.
    pub egress_timestamp: Option<Slot>,
    /// Number of packets in the queue at enqueueing.
    pub enq_qdepth: Option<Slot>,
    /// Time of enqueueing in us.
    pub enq_timestamp: Option<Slot>,
    /// Time in the queue in us.
    pub deq_timedelta: Option<Slot>,
    /// Number of packets in the queue at dequeueing.
    pub deq_qdepth: Option<Slot>,
    pub qid: Option<Slot>,
}

impl Program {
    /// The field of `header` with this number within its type.
    #[inline]
    pub fn field_of(&self, header: u32, field: u32) -> Slot {
        let first = self.headers[header as usize].fields.start;
        self.fields[(first + field) as usize].slot
    }

    /// The table with this name, or the only one with a name that ends in it.
    pub fn table(&self, name: &str) -> Option<u32> {
        find(&self.tables, name)
    }

    /// The action with this name among `of`, or the only one with a name that ends in it.
    pub fn action(&self, of: &[u32], name: &str) -> Option<u32> {
        let actions: Vec<_> = of.iter().map(|&action| &self.actions[action as usize]).collect();
        find(&actions, name).map(|place| of[place as usize])
    }
}

/// Objects that the control plane finds by name.
pub(crate) trait Named {
    fn name(&self) -> &str;
}

macro_rules! named {
    ($($kind:ty),*) => {
        $(impl Named for $kind {
            fn name(&self) -> &str {
                &self.name
            }
        })*
    };
}

named!(Table, &Action, Profile, RegisterArray, Array, MeterArray, ValueSet, Calculation);

/// The element with this name, or the only one with a name that ends in it.
pub(crate) fn find<T: Named>(of: &[T], name: &str) -> Option<u32> {
    let exact = of.iter().position(|one| one.name() == name);
    let mut ending = (0..of.len()).filter(|&place| of[place].name().ends_with(name));
    let place = exact.or_else(|| ending.next().filter(|_| ending.next().is_none()));
    place.and_then(|place| u32::try_from(place).ok())
}
