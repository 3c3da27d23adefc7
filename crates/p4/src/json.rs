//! The document that p4c writes for BMv2, as in the file (format version 2, described in `docs/JSON_format.md` of
//! p4lang's behavioral-model). `compile` interprets its expressions and parameters.
//!
//! Like BMv2, it accepts documents without `__meta__` as version 2, and tables that list only the names of their
//! `actions`, as written by compilers before p4c.

use serde::Deserialize;
use serde_json::Value;

use crate::error::{Error, Result, refuse};
use crate::program::RegisterArray;

#[derive(Clone, Debug, Default, Deserialize)]
pub struct SourceInfo {
    #[serde(default)]
    pub filename: String,
    #[serde(default)]
    pub line: u64,
}

impl SourceInfo {
    /// The position as "file.p4:12".
    pub fn place(&self) -> String {
        format!("{}:{}", self.filename, self.line)
    }
}

/// The position of an optional source reference.
pub fn place(of: &Option<SourceInfo>) -> Option<String> {
    of.as_ref().map(SourceInfo::place)
}

#[derive(Debug, Deserialize)]
pub struct Document {
    #[serde(rename = "__meta__", default)]
    pub meta: Meta,
    /// The P4 source file.
    #[serde(default)]
    pub program: String,
    pub(crate) header_types: Vec<HeaderType>,
    pub(crate) headers: Vec<Header>,
    #[serde(default)]
    pub(crate) header_stacks: Vec<Stack>,
    #[serde(default)]
    pub(crate) header_union_types: Vec<UnionType>,
    #[serde(default)]
    pub(crate) header_unions: Vec<Union>,
    #[serde(default)]
    pub(crate) header_union_stacks: Vec<UnionStack>,
    #[serde(default)]
    pub(crate) field_lists: Vec<FieldList>,
    #[serde(default)]
    pub(crate) learn_lists: Vec<FieldList>,
    #[serde(default)]
    pub(crate) errors: Vec<(String, u64)>,
    pub(crate) parsers: Vec<Parser>,
    #[serde(default)]
    pub(crate) parse_vsets: Vec<ValueSet>,
    pub(crate) deparsers: Vec<Deparser>,
    #[serde(default)]
    pub(crate) meter_arrays: Vec<MeterArray>,
    #[serde(default)]
    pub(crate) counter_arrays: Vec<CounterArray>,
    #[serde(default)]
    pub(crate) register_arrays: Vec<RegisterArray>,
    #[serde(default)]
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) actions: Vec<Action>,
    pub(crate) pipelines: Vec<Pipeline>,
    #[serde(default)]
    pub(crate) checksums: Vec<Checksum>,
    #[serde(default)]
    pub(crate) extern_instances: Vec<ExternInstance>,
    #[serde(default)]
    pub(crate) field_aliases: Vec<(String, (String, String))>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Meta {
    pub version: Option<(u32, u32)>,
    #[serde(default)]
    pub compiler: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct HeaderType {
    pub name: String,
    pub fields: Vec<Vec<Value>>,
    pub length_exp: Option<Value>,
    pub max_length: Option<u64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Header {
    pub name: String,
    pub id: i64,
    pub header_type: String,
    #[serde(default)]
    pub metadata: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Stack {
    pub name: String,
    pub header_ids: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnionType {
    pub name: String,
    pub headers: Vec<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Union {
    pub name: String,
    pub id: i64,
    pub union_type: String,
    pub header_ids: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct UnionStack {
    pub name: String,
    pub header_union_ids: Vec<i64>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FieldList {
    pub id: u32,
    #[serde(default)]
    pub name: String,
    pub elements: Vec<TypedValue>,
    pub source_info: Option<SourceInfo>,
}

/// A typed value: the form of values, objects and expressions in the document.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct TypedValue {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub value: Value,
    pub bitwidth: Option<u32>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Parser {
    pub name: String,
    pub init_state: Option<String>,
    pub parse_states: Vec<ParseState>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ParseState {
    pub name: String,
    #[serde(default)]
    pub parser_ops: Vec<ParserOp>,
    #[serde(default)]
    pub transition_key: Vec<TypedValue>,
    pub transitions: Vec<Transition>,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ParserOp {
    pub op: String,
    #[serde(default)]
    pub parameters: Vec<Value>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Transition {
    #[serde(rename = "type", default)]
    pub kind: Option<String>,
    pub value: Option<String>,
    pub mask: Option<String>,
    pub next_state: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ValueSet {
    pub name: String,
    pub compressed_bitwidth: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Deparser {
    pub order: Vec<String>,
    #[serde(default)]
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MeterArray {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub rate_count: u32,
    pub size: Option<u64>,
    pub is_direct: bool,
    pub result_target: Option<(String, String)>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct CounterArray {
    pub name: String,
    pub size: Option<u64>,
    #[serde(default)]
    pub is_direct: bool,
    pub binding: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Calculation {
    pub name: String,
    pub algo: String,
    pub input: Vec<TypedValue>,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Action {
    pub name: String,
    pub id: i64,
    pub runtime_data: Vec<RuntimeData>,
    pub primitives: Vec<Primitive>,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct RuntimeData {
    pub name: String,
    pub bitwidth: u32,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Primitive {
    pub op: String,
    #[serde(default)]
    pub parameters: Vec<TypedValue>,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Pipeline {
    pub name: String,
    pub init_table: Option<String>,
    pub tables: Vec<Table>,
    #[serde(default)]
    pub action_profiles: Vec<ActionProfile>,
    #[serde(default)]
    pub conditionals: Vec<Conditional>,
    #[serde(default)]
    pub action_calls: Vec<ActionCall>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionProfile {
    pub name: String,
    pub selector: Option<Selector>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Selector {
    pub algo: String,
    pub input: Vec<TypedValue>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Conditional {
    pub name: String,
    pub expression: Value,
    pub true_next: Option<String>,
    pub false_next: Option<String>,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct ActionCall {
    pub name: String,
    pub action_id: i64,
    pub next_node: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Table {
    pub name: String,
    #[serde(default)]
    pub key: Vec<Key>,
    pub match_type: String,
    #[serde(rename = "type", default = "simple")]
    pub kind: String,
    pub action_profile: Option<String>,
    pub max_size: Option<u64>,
    #[serde(default)]
    pub with_counters: bool,
    pub direct_meters: Option<String>,
    /// Numbers of the table's actions; [`Document::read`] adds them if the table lists only names.
    #[serde(default)]
    pub action_ids: Vec<i64>,
    #[serde(default)]
    pub actions: Vec<String>,
    #[serde(default)]
    pub next_tables: serde_json::Map<String, Value>,
    pub base_default_next: Option<String>,
    pub default_entry: Option<DefaultEntry>,
    #[serde(default)]
    pub entries: Vec<Entry>,
    pub source_info: Option<SourceInfo>,
}

fn simple() -> String {
    "simple".to_string()
}

#[derive(Debug, Deserialize)]
pub(crate) struct Key {
    pub match_type: String,
    pub name: Option<String>,
    pub target: Value,
    pub mask: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct DefaultEntry {
    pub action_id: i64,
    #[serde(default)]
    pub action_const: bool,
    #[serde(default)]
    pub action_data: Vec<String>,
    #[serde(default)]
    pub action_entry_const: bool,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Entry {
    pub match_key: Vec<MatchValue>,
    pub action_entry: DefaultEntry,
    #[serde(default)]
    pub priority: i64,
    pub source_info: Option<SourceInfo>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct MatchValue {
    pub match_type: String,
    #[serde(default)]
    pub key: Value,
    pub prefix_length: Option<u32>,
    pub mask: Option<String>,
    pub start: Option<String>,
    pub end: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Checksum {
    pub name: String,
    pub target: (String, String),
    #[serde(rename = "type")]
    pub kind: String,
    pub calculation: String,
    pub if_cond: Option<Value>,
    #[serde(default = "yes")]
    pub update: bool,
    #[serde(default = "yes")]
    pub verify: bool,
    pub source_info: Option<SourceInfo>,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
pub(crate) struct ExternInstance {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
    pub source_info: Option<SourceInfo>,
}

impl Document {
    /// Reads the document in `text`. Refuses text that is not JSON, lacks required parts, or has another version.
    pub fn read(text: &str) -> Result<Self> {
        let mut document: Self = serde_json::from_str(text)
            .map_err(|error| Error::new(format!("this is no document that p4c writes for BMv2: {error}")))?;
        let (major, minor) = document.meta.version.unwrap_or((2, 0));
        if major != 2 {
            refuse!("the document has format version {major}.{minor}, and hitless reads 2.x");
        }
        document.number_actions()?;
        Ok(document)
    }

    /// Adds the numbers of actions to tables that list only names.
    fn number_actions(&mut self) -> Result<()> {
        let tables = self.pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.tables);
        for table in tables.filter(|table| table.action_ids.is_empty()) {
            for name in &table.actions {
                let mut named = self.actions.iter().filter(|action| action.name == *name);
                match (named.next(), named.next()) {
                    (Some(action), None) => table.action_ids.push(action.id),
                    (None, _) => refuse!("the table {}: the document has no action {name}", table.name),
                    (Some(_), Some(_)) => refuse!(
                        "the table {}: the document has several actions {name}, and the table no action_ids",
                        table.name
                    ),
                }
            }
        }
        Ok(())
    }
}

impl TypedValue {
    pub fn of(value: &Value) -> Result<Self> {
        Self::deserialize(value).map_err(|_| Error::new(format!("{value} has no \"type\" and \"value\"")))
    }

    pub fn text(&self) -> Result<&str> {
        self.value.as_str().ok_or_else(|| Error::new(format!("a {} is named by {}, no text", self.kind, self.value)))
    }

    pub fn pair(&self) -> Result<(&str, &str)> {
        let names = self.value.as_array().filter(|names| names.len() == 2);
        let pair = names.and_then(|names| Some((names[0].as_str()?, names[1].as_str()?)));
        pair.ok_or_else(|| Error::new(format!("a {} needs two names, and has {}", self.kind, self.value)))
    }
}

/// The bytes of a hexadecimal number such as "0x0800", as many as its digits give.
pub(crate) fn hex_bytes(text: &str) -> Result<Vec<u8>> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    if !is_hex {
        refuse!("\"{text}\" is no hexadecimal number");
    }
    let padded = if digits.len() % 2 == 1 { format!("0{digits}") } else { digits.to_string() };
    let pairs = padded.as_bytes().chunks(2);
    Ok(pairs.map(|pair| (value_of(pair[0]) << 4) | value_of(pair[1])).collect())
}

fn value_of(digit: u8) -> u8 {
    (digit as char).to_digit(16).unwrap_or(0) as u8
}
