//! Settings of a P4 program.

use hitless_core::settings::quantity::{Optional, QueueLength};
use hitless_switch::QueueConfig;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A P4 program, compiled by p4c for BMv2 (v1model), on switches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Settings {
    /// Switches that run it, for example "leaf0". Default: all.
    pub switches: Vec<String>,
    /// File written by `p4c --target bmv2 --arch v1model`.
    pub program: String,
    /// File of simple_switch_CLI commands, executed on each of the switches; empty: none.
    pub commands: String,
    /// The program's p4info as text, written by `p4c --p4runtime-files`: it defines the numbers in `p4runtime`.
    pub p4info: String,
    /// File of table entries in P4Runtime's text format: a `p4.v1.WriteRequest`, executed after the commands; empty:
    /// none.
    pub p4runtime: String,
    /// Digest of these files, as shown in the effective configuration. If given, changed files are refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Table entries, added after the files.
    pub table: Vec<P4Entry>,
    /// Table that gets an entry for each host, with the port of the shortest path to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routes: Option<P4Routes>,
    /// Queues for the program: the i-th at a port is its queue 224 + i (`OWN_QUEUE` of p4/hitless.p4).
    pub queue: Vec<P4Queue>,
    /// Rotating queues; `current_round` returns their round.
    pub rounds: Vec<P4Rounds>,
    /// Name of each switch's stream of random numbers: a program draws the same numbers as a mechanism of that name.
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

/// A queue for the program, at some ports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Queue {
    /// Ports: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Default: all.
    pub ports: Vec<String>,
    /// Priority; the highest is served first. Queues of traffic classes have 100, or with strict priorities 100 plus
    /// their number.
    pub priority: u8,
    /// Limit of the queue. Default: the buffer.
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueLength>,
}

impl Default for P4Queue {
    fn default() -> Self {
        Self { ports: Vec::new(), priority: QueueConfig::NORMAL_PRIORITY, limit: None }
    }
}

/// Rotating queues: the queue of the current round is served until it is empty, and then becomes the last (rotating
/// strict priority; AFQ, NSDI 2018, section 3.3.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Rounds {
    /// Ports: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a switch. Default: all.
    pub ports: Vec<String>,
    /// Number of queues.
    #[schemars(range(min = 2, max = 63))]
    pub queues: u8,
    /// Maximum contents of all these queues of a port together.
    #[schemars(extend("x-default" = "the static limit of the port; with a shared buffer only its alpha decides"))]
    #[serde(with = "Optional::<QueueLength>", skip_serializing_if = "Option::is_none")]
    pub limit: Option<QueueLength>,
}

impl Default for P4Rounds {
    fn default() -> Self {
        Self { ports: Vec::new(), queues: 32, limit: None }
    }
}

/// A table entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Entry {
    /// The table, or the end of its name.
    pub table: String,
    /// Values of key fields, each as "hdr.ipv4.dstAddr = 10.0.0.0/8": a value, a prefix, a value with a mask
    /// ("0x800&&&0xffff"), or a range ("1->5").
    #[serde(rename = "match")]
    pub key: Vec<String>,
    /// The action, or the end of its name.
    pub action: String,
    /// Values of its parameters, each as "port = 3".
    pub values: Vec<String>,
    /// Priority in tables with masks or ranges: the smallest is first; in `p4runtime` the greatest.
    pub priority: i64,
    /// Restricts the entry to this switch; empty: all that run the program.
    pub switch: String,
}

/// A table with an entry for each host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct P4Routes {
    /// The table; its key must be only the IPv4 address of the destination.
    pub table: String,
    /// The action.
    pub action: String,
    /// Parameter of the action for the port.
    pub port: String,
    /// Parameter of the action for the MAC address of the next hop; empty: none.
    pub address: String,
}
