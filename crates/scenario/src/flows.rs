//! `[[flows]]`: groups of flows, one generator each.

use std::num::NonZeroU32;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::LoadDenominator;

/// A group of flows made by one generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowGroup {
    /// What results call it; unique. A group with another name draws other random numbers and takes other paths.
    pub name: String,
    /// Name of the transport.
    pub transport: String,
    /// Traffic class (priority) of its packets; it decides the queue.
    #[serde(default)]
    #[schemars(range(max = 127))]
    pub class: u8,
    /// TCP or UDP port of its service, which a switch may tell its packets by; 0: none that matters.
    #[serde(default)]
    pub port: u16,
    /// VLAN that its packets are in, acknowledgements too: each frame is longer by a tag of 4 bytes (IEEE 802.1Q). 0:
    /// untagged.
    #[serde(default)]
    #[schemars(range(max = 4094))]
    pub vlan: u16,
    /// When the group starts.
    #[serde(default, with = "Text::<Time>")]
    pub start: Time,
    /// When it ends: no flow starts at or after it, and flows without a size of their own stop. Left out: never.
    #[serde(default, with = "Optional::<Time>", skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Rank on the marks of all its data packets, whatever `host.priority_tagger` says (a priority as testbeds give it;
    /// lower is more urgent). Left out: as `host.priority_tagger` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Hosts that lie: the rank that `host.priority_tagger` gives is divided by this. 1: they tell the truth.
    #[serde(default = "honest")]
    pub rank_divisor: NonZeroU32,
    /// Which flows.
    #[serde(flatten)]
    pub pattern: FlowPattern,
}

fn honest() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// Which flows a group has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowPattern {
    /// Flows at random moments (Poisson) between random hosts, at a stated load.
    Poisson(PoissonFlows),
    /// Flows at regular moments, each a connection of its own, whether the one before is done or not.
    Schedule(ScheduledFlows),
    /// Flows one after the other, each a connection of its own that starts when the one before is done.
    Sequence(SequentialFlows),
    /// Queries that many hosts answer at once.
    Incast(IncastFlows),
    /// Flows that send as much as they can, between pairs of hosts.
    Long(PairedFlows),
    /// Constant rate, between pairs of hosts; the rate is that of the transport, which must be "udp".
    ConstantRate(PairedFlows),
    /// Messages one after the other on one connection, between pairs of hosts: "trials".
    Requests(RequestFlows),
    /// Every host sends to one other and receives from one other.
    Permutation(PermutationFlows),
    /// Flows listed one by one.
    List(ListedFlows),
}

impl FlowPattern {
    /// What clients ask before flows, if they do.
    pub fn request(&self) -> Option<&RequestSettings> {
        match self {
            FlowPattern::Poisson(flows) => flows.request.as_ref(),
            FlowPattern::Incast(flows) => flows.request.as_ref(),
            _ => None,
        }
    }
}

/// Poisson arrivals. Give either `load` and `load_of`, or `flows_per_second`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonFlows {
    /// Sizes of the flows.
    pub sizes: FlowSizes,
    /// Offered load as a fraction of `load_of`, counting payload only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// What `load` is a fraction of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of: Option<LoadDenominator>,
    /// Mean number of flows started in a second, in the whole group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub flows_per_second: Option<f64>,
    /// Number of flows after which the group is done; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Connections that two hosts keep open; each flow is a message on one of them at random, behind those that are
    /// under way on it. The table of flows then has a row for each connection, that of messages one for each flow.
    /// Left out: each flow has a connection of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub connections: Option<u32>,
    /// Hosts that send: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    #[serde(default = "all_hosts")]
    pub sources: Vec<String>,
    /// Hosts that receive; one is drawn for each flow, never the sender.
    #[serde(default = "all_hosts")]
    pub destinations: Vec<String>,
    /// Whether a flow may stay below one switch.
    #[serde(default)]
    pub across: Across,
    /// The receiver opens the connection and asks, and the flow is the answer. Left out: flows start by themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSettings>,
}

/// What a client asks before a flow. It opens a connection (with the transport's handshake, if that has one) and sends
/// this; the flow goes back on the same connection, whose round-trip time the handshake has shown. A load counts the
/// flows only. In the table of messages `started_ps` is when the client began to open the connection, `requested_ps`
/// when it sent the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestSettings {
    /// Payload of the request.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// From the arrival of the request to the start of the flow.
    #[serde(default)]
    pub think: ThinkSettings,
}

/// How long a server thinks: normally distributed, cut at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThinkSettings {
    /// Mean before the cut.
    #[serde(with = "Text::<Duration>")]
    pub mean: Duration,
    /// Standard deviation before the cut; 0 s: always the mean.
    #[serde(with = "Text::<Duration>")]
    pub deviation: Duration,
}

/// One flow each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledFlows {
    /// Sizes of the flows.
    pub sizes: FlowSizes,
    /// Time between the starts of two flows, the first at the group's start.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
    /// Hosts that send: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    pub sources: Vec<String>,
    /// Hosts that receive; one is drawn for each flow, never the sender.
    pub destinations: Vec<String>,
    /// Number of flows after which the group is done; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// One flow at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialFlows {
    /// Sizes of the flows.
    pub sizes: FlowSizes,
    /// Hosts that send: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    pub sources: Vec<String>,
    /// Hosts that receive; one is drawn for each flow, never the sender.
    pub destinations: Vec<String>,
    /// Number of flows after which the group is done; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Pause between the end of a flow and the start of the next. A flow ends when its sender knows that all has
    /// arrived.
    #[serde(default, with = "Text::<Duration>")]
    pub gap: Duration,
}

/// Which pairs of hosts are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Across {
    /// Any two hosts.
    #[default]
    Any,
    /// Only hosts on different switches.
    Switches,
}

fn all_hosts() -> Vec<String> {
    vec!["all".into()]
}

/// How long flows are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowSizes {
    /// Drawn from an empirical distribution.
    Cdf(CdfSizes),
    /// All the same.
    Fixed(FixedSizes),
    /// Pareto.
    Pareto(ParetoSizes),
}

/// Sizes from a table, by linear interpolation between its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CdfSizes {
    /// Name of a table that comes with the program (`hitless scenario schema` lists them), or the path of a file that
    /// ends in ".txt", relative to the scenario.
    pub table: String,
    /// Draw again what is larger than this; left out: keep all.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub largest: Option<Bytes>,
}

/// One size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedSizes {
    /// Payload of each flow.
    #[serde(with = "Text::<Bytes>")]
    pub bytes: Bytes,
}

/// Pareto-distributed sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ParetoSizes {
    /// Shape; above 1, or there is no mean.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub shape: f64,
    /// Mean of the distribution before it is cut at `largest`. The mean of what is drawn is smaller, and the one that a
    /// load is computed with: of shape 1.1 and 30 KB (AFQ, section 6.2.1), 21.7 KB are left by the default `largest`,
    /// since one flow in 1.3 million is larger and those carry more than a quarter of all bytes.
    #[serde(with = "Text::<Bytes>")]
    pub mean: Bytes,
    /// Draw again what is larger than this.
    #[serde(default = "pareto_largest", with = "Text::<Bytes>")]
    pub largest: Bytes,
}

fn pareto_largest() -> Bytes {
    Bytes(1_000_000_000)
}

/// Incast queries: at the same moment `fan_in` hosts each send `size` to one host.
/// Give one of `queries_per_second`, `period`, or `load` with `load_of`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncastFlows {
    /// Answers to a query, each from another host unless `servers_repeat`.
    #[schemars(range(min = 1, max = 65535))]
    pub fan_in: u32,
    /// Payload of each answer.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Mean number of queries in a second, at random moments (Poisson), in the whole group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub queries_per_second: Option<f64>,
    /// Time between two queries, the first at the group's start.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
    /// Offered load as a fraction of `load_of`, counting payload only; queries come at random moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// What `load` is a fraction of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of: Option<LoadDenominator>,
    /// Number of queries after which the group is done; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Hosts that ask, and receive; one is drawn for each query.
    #[serde(default = "all_hosts")]
    pub clients: Vec<String>,
    /// Hosts that answer; `fan_in` of them are drawn, never the client.
    #[serde(default = "all_hosts")]
    pub servers: Vec<String>,
    /// Servers are drawn one by one, so that a host may give several answers to a query; `fan_in` may exceed their
    /// number.
    #[serde(default)]
    pub servers_repeat: bool,
    /// The client opens a connection to each server and asks. Left out: all servers begin to answer by themselves at
    /// the moment of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSettings>,
}

/// One flow for each pair of hosts. The shorter of the two lists is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairedFlows {
    /// Hosts that send: names or ranges such as "h0..h15".
    #[schemars(length(min = 1))]
    pub sources: Vec<String>,
    /// Hosts that receive, in the same order.
    #[schemars(length(min = 1))]
    pub destinations: Vec<String>,
    /// Time between the starts of two pairs.
    #[serde(default, with = "Text::<Duration>")]
    pub spacing: Duration,
}

/// For each pair of hosts one connection with `count` messages. The shorter of the two lists is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFlows {
    /// Hosts that send.
    #[schemars(length(min = 1))]
    pub sources: Vec<String>,
    /// Hosts that receive, in the same order.
    #[schemars(length(min = 1))]
    pub destinations: Vec<String>,
    /// Payload of each message.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Messages on each connection.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Pause between the completion of a message and the start of the next.
    #[serde(default, with = "Text::<Duration>")]
    pub gap: Duration,
    /// Time between the starts of two pairs.
    #[serde(default, with = "Text::<Duration>")]
    pub spacing: Duration,
}

/// A random permutation without fixed points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermutationFlows {
    /// Payload of each flow.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// The hosts that take part.
    #[serde(default = "all_hosts")]
    pub hosts: Vec<String>,
    /// Flows start at random within this time after the group's start.
    #[serde(default, with = "Text::<Duration>")]
    pub spread: Duration,
}

/// A file with a line for each flow: `source destination size start_ns` (docs/reference/files.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedFlows {
    /// Name of a list that comes with the program (`hitless scenario schema` shows them), or the path of a file that
    /// ends in ".flows", relative to the scenario. Start times count from the group's start.
    pub file: String,
    /// Sizes in the list count packets with this much payload each; left out: bytes. How a flow is cut into packets its
    /// transport says (`mss`, `mtu` or `frame_bytes`), not this.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<Bytes>,
}
