//! What a scenario says of a P4 program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A P4 program as p4c compiles it for BMv2 (v1model), on switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Settings {
    /// Which switches run it, as "leaf0". Without any: all.
    pub switches: Vec<String>,
    /// The file that `p4c --target bmv2 --arch v1model` wrote.
    pub program: String,
    /// A file of commands of simple_switch_CLI, carried out on each of the switches; empty: none.
    pub commands: String,
    /// Digest of both files, which the effective configuration has. Given, files with other text are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Entries of tables, after those of the commands.
    pub table: Vec<P4Entry>,
    /// A table that gets an entry for each host, with the port of the shortest way to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<P4Routes>,
}

/// An entry of a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Entry {
    /// The table, or the end of its name.
    pub table: String,
    /// What fields of its key must be, each as "hdr.ipv4.dstAddr = 10.0.0.0/8": a value, a prefix, a value with a mask
    /// ("0x800&&&0xffff"), or a range ("1->5").
    #[serde(rename = "match")]
    pub key: Vec<String>,
    /// The action, or the end of its name.
    pub action: String,
    /// Values of its parameters, each as "port = 3".
    pub values: Vec<String>,
    /// The smallest is first, in tables with masks or ranges.
    pub priority: i64,
    /// On this switch only; empty: on all that run the program.
    pub switch: String,
}

/// A table with an entry for each host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Routes {
    /// The table; its key is the IPv4 address of the destination alone.
    pub table: String,
    /// The action.
    pub action: String,
    /// Its parameter for the port.
    pub port: String,
    /// Its parameter for the address of the next hop's card; empty: it has none.
    pub address: String,
}
