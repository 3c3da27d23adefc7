//! What a scenario says of a P4 program.

use hitless_core::settings::quantity::{Optional, QueueLength};
use hitless_switch::QueueConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A P4 program as p4c compiles it for BMv2 (v1model), on switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Settings {
    /// Which switches run it, as "leaf0". Without any: all.
    pub switches: Vec<String>,
    /// The file that `p4c --target bmv2 --arch v1model` wrote.
    pub program: String,
    /// A file of commands of simple_switch_CLI, carried out on each of the switches; empty: none.
    pub commands: String,
    /// The program's p4info as text, which `p4c --p4runtime-files` wrote: what the numbers of `p4runtime` mean.
    pub p4info: String,
    /// A file of table entries in P4Runtime's text: a `p4.v1.WriteRequest`, carried out after the commands; empty:
    /// none.
    pub p4runtime: String,
    /// Digest of these files, which the effective configuration has. Given, files with other text are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Entries of tables, after those of the files.
    pub table: Vec<P4Entry>,
    /// A table that gets an entry for each host, with the port of the shortest way to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<P4Routes>,
    /// Queues of the program's own: the i-th at a port is its queue 224 + i (`OWN_QUEUE` of p4/hitless.p4).
    pub queue: Vec<P4Queue>,
    /// Queues that take turns, of which `current_round` tells.
    pub rounds: Vec<P4Rounds>,
    /// What the stream of random numbers of each switch is called: a program draws what a mechanism of that name would.
    pub random_stream: String,
}

impl Default for P4Settings {
    fn default() -> Self {
        Self {
            switches: Vec::new(),
            program: String::new(),
            commands: String::new(),
            p4info: String::new(),
            p4runtime: String::new(),
            digest: None,
            table: Vec::new(),
            routes: None,
            queue: Vec::new(),
            rounds: Vec::new(),
            random_stream: "p4".into(),
        }
    }
}

/// A queue of the program's own, at some ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Queue {
    /// The ports: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. Without any: all.
    pub ports: Vec<String>,
    /// A queue of a higher priority is served first. Those of traffic classes have 100, or with strict priorities 100
    /// plus their number.
    pub priority: u8,
    /// What it may hold; left out: as much as the buffer has.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueLength>,
}

impl Default for P4Queue {
    fn default() -> Self {
        Self { ports: Vec::new(), priority: QueueConfig::NORMAL_PRIORITY, limit: None }
    }
}

/// Queues that take turns: the one of the current round is served until it is empty, and is then the last (rotating
/// strict priority; AFQ, NSDI 2018, section 3.3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Rounds {
    /// The ports: "sw2->sw6" is the one that sends on this link, "sw2" all ports of a switch. Without any: all.
    pub ports: Vec<String>,
    /// How many.
    #[schemars(range(min = 2, max = 63))]
    pub queues: u8,
    /// What all of them at a port may hold together.
    #[schemars(extend("x-default" = "the static limit of the port; with a shared buffer only its alpha decides"))]
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueLength>,
}

impl Default for P4Rounds {
    fn default() -> Self {
        Self { ports: Vec::new(), queues: 32, limit: None }
    }
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
    /// The smallest is first, in tables with masks or ranges; of `p4runtime` the greatest.
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
