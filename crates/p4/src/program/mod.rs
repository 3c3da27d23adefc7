//! A program once it is compiled: flat arrays that name each other by number, and nothing that changes while it runs.

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

/// Everything that `compile` makes of a document.
#[derive(Debug, Default)]
pub struct Program {
    /// The P4 file it was made of, as the document names it.
    pub name: String,
    /// The compiler that wrote the document.
    pub compiler: String,
    /// How many bytes the values of a packet take.
    pub values_bytes: usize,
    /// Header instances and metadata.
    pub headers: Vec<Header>,
    /// Fields of all types of headers.
    pub fields: Vec<Field>,
    /// Stacks, of headers and of unions.
    pub stacks: Vec<Stack>,
    /// Header unions.
    pub unions: Vec<Union>,
    /// Operations of all expressions.
    pub nodes: Vec<Node>,
    /// Numbers in them.
    pub constants: Vec<Wide>,
    /// States of the parser.
    pub states: Vec<State>,
    /// The first one; none: nothing is parsed.
    pub start: Option<u32>,
    /// Names and widths of value sets.
    pub value_sets: Vec<ValueSet>,
    /// Headers in the order in which they leave.
    pub deparser: Vec<u32>,
    /// Actions.
    pub actions: Vec<Action>,
    /// Instructions of all actions.
    pub instructions: Vec<Instruction>,
    /// The place in the P4 source of each instruction; empty: not known.
    pub places: Vec<String>,
    /// Tables of ingress and egress.
    pub tables: Vec<Table>,
    /// Action profiles.
    pub profiles: Vec<Profile>,
    /// Steps of ingress and egress.
    pub steps: Vec<Step>,
    /// The first step of ingress.
    pub ingress: Option<u32>,
    /// The first step of egress.
    pub egress: Option<u32>,
    /// What hashes and checksums are made of.
    pub calculations: Vec<Calculation>,
    /// Checksums, in the order of the document.
    pub checksums: Vec<Checksum>,
    /// Fields that clones and the like keep, by number of the list.
    pub field_lists: Vec<FieldList>,
    /// The number of the list of those that a moved packet keeps (`MOVED_FIELDS` of p4/hitless.p4), if there is one.
    pub moved_list: Option<u32>,
    /// Fields of digests.
    pub digests: Vec<FieldList>,
    /// Register arrays.
    pub registers: Vec<RegisterArray>,
    /// Counter arrays that are no table's.
    pub counters: Vec<Array>,
    /// Meter arrays, of tables too.
    pub meters: Vec<MeterArray>,
    /// What the switch writes and reads.
    pub standard: Standard,
    /// Numbers of the errors of the core library.
    pub errors: Errors,
    /// Names of errors by number.
    pub error_names: Vec<(String, u64)>,
    /// Messages of `log_msg`, and what `assert` and `assume` say.
    pub messages: Vec<String>,
    /// Expressions that primitives take a list of.
    pub lists: Vec<Expression>,
    /// Fields that functions beyond v1model write.
    pub outputs: Vec<Slot>,
}

/// A header instance.
#[derive(Clone, Debug, Default)]
pub struct Header {
    /// Its name.
    pub name: String,
    /// Its type's name.
    pub kind: String,
    /// Where its values are, in bytes.
    pub start: u32,
    /// How many bytes they take, with the most that a varbit has.
    pub bytes: u32,
    /// How many bytes it has on the wire, without a varbit.
    pub wire_bytes: u32,
    /// Its fields in [`Program::fields`], those of its own.
    pub fields: Range<u32>,
    /// It is metadata: always valid and never on the wire.
    pub is_metadata: bool,
    /// The union it is a member of.
    pub union: Option<u32>,
    /// Its field of variable length.
    pub varbit: Option<Varbit>,
}

impl Header {
    /// Its bytes in the file of values.
    pub fn area(&self) -> Range<usize> {
        self.start as usize..(self.start + self.bytes) as usize
    }
}

/// The field of variable length of a header. Its values stand behind those of the other fields.
#[derive(Clone, Copy, Debug)]
pub struct Varbit {
    /// Bits on the wire before it.
    pub bits_before: u32,
    /// Where its values are, in bits.
    pub slot: Slot,
    /// The longest header, in bytes; 0 where only the field's own width is known.
    pub header_bytes_max: u32,
    /// The length in bits, where the type says it.
    pub length: Option<Expression>,
}

/// A field of a header instance.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Where it is; of a varbit the room that it has.
    pub slot: Slot,
    /// Whether its length varies.
    pub is_varbit: bool,
}

/// A stack of headers, or of unions.
#[derive(Clone, Debug)]
pub struct Stack {
    /// Its name.
    pub name: String,
    /// Its elements: headers, or unions.
    pub headers: Vec<u32>,
    /// They are unions.
    pub of_unions: bool,
}

/// A header union.
#[derive(Clone, Debug)]
pub struct Union {
    /// Its name.
    pub name: String,
    /// Its headers.
    pub headers: Vec<u32>,
    /// Their names within the union.
    pub members: Vec<String>,
}

/// A step of ingress or egress.
#[derive(Clone, Debug)]
pub enum Step {
    /// A table.
    Table(u32),
    /// A condition; what follows if it holds and if not; where it stands.
    Condition(NodeId, Option<u32>, Option<u32>, u32),
    /// An action; what follows.
    Call(u32, Option<u32>),
}

/// What a hash or checksum is made of.
#[derive(Clone, Debug)]
pub struct Calculation {
    /// Its name.
    pub name: String,
    /// How.
    pub algorithm: Algorithm,
    /// Of what.
    pub input: Vec<Input>,
    /// And of what follows the parsed headers.
    pub with_payload: bool,
}

/// A part of what a hash is made of.
#[derive(Clone, Debug)]
pub enum Input {
    /// So many bits of a header, if it is valid: header, first bit, count.
    Bits(u32, u32, u32),
    /// A field of variable length.
    Varbit(u32),
    /// A constant: bytes and width.
    Constant(Box<[u8]>, u32),
    /// A header as on the wire.
    Header(u32),
}

/// A checksum that is verified after parsing or updated before deparsing.
#[derive(Clone, Debug)]
pub struct Checksum {
    /// Its name.
    pub name: String,
    /// The header of its field.
    pub header: u32,
    /// Its field.
    pub target: Slot,
    /// What it is made of.
    pub calculation: u32,
    /// When.
    pub condition: Option<NodeId>,
    /// It is updated.
    pub is_updated: bool,
    /// It is verified.
    pub is_verified: bool,
}

/// A list of fields.
#[derive(Clone, Debug)]
pub struct FieldList {
    /// Its number in the document.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its fields.
    pub fields: Vec<Slot>,
}

/// A register array.
#[derive(Clone, Debug)]
pub struct RegisterArray {
    /// Its name.
    pub name: String,
    /// How many cells it has.
    pub size: u64,
    /// The width of a cell.
    pub width: u32,
}

/// An array of counters.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// How many it has.
    pub size: u64,
    /// The table that it is part of; such a one has a counter for each entry.
    pub table: Option<String>,
}

/// An array of meters.
#[derive(Clone, Debug)]
pub struct MeterArray {
    /// Its name.
    pub name: String,
    /// How many it has.
    pub size: u64,
    /// It counts bytes, not packets.
    pub counts_bytes: bool,
    /// How many rates a meter has.
    pub rates: u32,
    /// Where a table's meter puts its colour.
    pub target: Option<Slot>,
    /// It has one meter for each entry of a table.
    pub is_direct: bool,
}

/// Numbers of the errors that parsing may end with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Errors {
    /// None.
    pub none: u64,
    /// The packet ends too early.
    pub too_short: u64,
    /// A stack has no such element.
    pub stack: u64,
    /// A header is too short for its field of variable length.
    pub header_short: u64,
    /// A length is none.
    pub argument: u64,
    /// It takes too long.
    pub timeout: u64,
}

/// Fields of standard_metadata, where the program has them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard {
    /// Where the packet came in.
    pub ingress_port: Option<Slot>,
    /// Where it is to leave.
    pub egress_spec: Option<Slot>,
    /// Where it leaves.
    pub egress_port: Option<Slot>,
    /// How it came about.
    pub instance_type: Option<Slot>,
    /// Its length in bytes.
    pub packet_length: Option<Slot>,
    /// What parsing ended with.
    pub parser_error: Option<Slot>,
    /// Whether a checksum is wrong.
    pub checksum_error: Option<Slot>,
    /// Its group, for multicast.
    pub mcast_grp: Option<Slot>,
    /// Which copy of a multicast it is.
    pub egress_rid: Option<Slot>,
    /// The number of its queue; 0: that of its class.
    pub priority: Option<Slot>,
    /// Microseconds at ingress.
    pub ingress_timestamp: Option<Slot>,
    /// Microseconds at egress.
    pub egress_timestamp: Option<Slot>,
    /// Packets in the queue before it was there.
    pub enq_qdepth: Option<Slot>,
    /// Microseconds when it was queued.
    pub enq_timestamp: Option<Slot>,
    /// Microseconds in the queue.
    pub deq_timedelta: Option<Slot>,
    /// Packets in the queue when it left.
    pub deq_qdepth: Option<Slot>,
    /// Its queue.
    pub qid: Option<Slot>,
}

impl Program {
    /// The field of `header` with this number within its type.
    #[inline]
    pub fn field_of(&self, header: u32, field: u32) -> Slot {
        let first = self.headers[header as usize].fields.start;
        self.fields[(first + field) as usize].slot
    }

    /// The table of this name; or the only one whose name ends in it.
    pub fn table(&self, name: &str) -> Option<u32> {
        find(&self.tables, name)
    }

    /// The action of this name among `of`; or the only one whose name ends in it.
    pub fn action(&self, of: &[u32], name: &str) -> Option<u32> {
        let actions: Vec<_> = of.iter().map(|&action| &self.actions[action as usize]).collect();
        find(&actions, name).map(|place| of[place as usize])
    }
}

/// What the control plane finds by its name.
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

/// The element of this name, or the only one whose name ends in it.
pub(crate) fn find<T: Named>(of: &[T], name: &str) -> Option<u32> {
    let exact = of.iter().position(|one| one.name() == name);
    let mut ending = (0..of.len()).filter(|&place| of[place].name().ends_with(name));
    let place = exact.or_else(|| ending.next().filter(|_| ending.next().is_none()));
    place.and_then(|place| u32::try_from(place).ok())
}
