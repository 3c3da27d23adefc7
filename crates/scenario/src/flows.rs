//! `[[flows]]`: groups of flows, one generator each.

use std::num::NonZeroU32;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Bytes, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::workload::LoadDenominator;

/// A group of flows from one generator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowGroup {
    /// Unique name of the group in results. A group with another name draws other random numbers and takes other paths.
    pub name: String,
    /// Name of the transport.
    pub transport: String,
    /// Traffic class (priority) of the group's packets; it selects the queue.
    #[serde(default)]
    #[schemars(range(max = 127))]
    pub class: u8,
    /// TCP or UDP port of the group's service, by which a switch can classify its packets; 0: no particular port.
    #[serde(default)]
    pub port: u16,
    /// VLAN of the group's packets, acknowledgements included: each frame is longer by a tag of 4 bytes (IEEE 802.1Q).
    /// 0: untagged.
    #[serde(default)]
    #[schemars(range(max = 4094))]
    pub vlan: u16,
    /// Time at which the group starts.
    #[serde(default, with = "Text::<Time>")]
    pub start: Time,
    /// Time at which the group ends: no flow starts at or after it, and flows without a fixed size stop. Left out:
    /// never.
    #[serde(default, with = "Optional::<Time>", skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Rank on the marks of all data packets of the group; it overrides `host.priority_tagger` (a priority as in
    /// testbeds; a lower rank is more urgent). Left out: the rank from `host.priority_tagger`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// Divisor of the rank that `host.priority_tagger` computes, to simulate hosts that lie about their urgency. 1:
    /// honest hosts.
    #[serde(default = "honest")]
    pub rank_divisor: NonZeroU32,
    /// The generator and its parameters.
    #[serde(flatten)]
    pub pattern: FlowPattern,
}

fn honest() -> NonZeroU32 {
    NonZeroU32::MIN
}

/// The flows of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowPattern {
    /// Flows at random times (Poisson) between random hosts, at a given load.
    Poisson(PoissonFlows),
    /// Flows at regular times, each on a separate connection, independent of the completion of earlier flows.
    Schedule(ScheduledFlows),
    /// Flows one after the other, each on a separate connection; each starts when the previous one is complete.
    Sequence(SequentialFlows),
    /// Queries that many hosts answer at once.
    Incast(IncastFlows),
    /// Flows that send at full speed, between pairs of hosts.
    Long(PairedFlows),
    /// Flows at a constant rate between pairs of hosts; the transport must be "udp" and sets the rate.
    ConstantRate(PairedFlows),
    /// Messages one after the other on one connection, between pairs of hosts: "trials".
    Requests(RequestFlows),
    /// Every host sends to one other host and receives from one other host.
    Permutation(PermutationFlows),
    /// Every host sends to every other host at once: first to its successor, then to the one after, and so on.
    AllToAll(AllToAllFlows),
    /// Flows listed one by one.
    List(ListedFlows),
    /// Flows listed one by one; a flow can wait until others of the list have ended (docs/reference/files.md).
    DependencyList(ListedFlows),
}

impl FlowPattern {
    /// Returns the requests that clients send before flows, if they do.
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
    /// Offered load as a fraction of `load_of`; only payload counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Capacity that `load` is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of: Option<LoadDenominator>,
    /// Mean number of flow starts per second in the whole group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub flows_per_second: Option<f64>,
    /// Number of flows after which the group ends; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Number of open connections between each two hosts; each flow is a message on a random one of them, queued behind
    /// earlier messages. The table of flows then has a row for each connection, and the table of messages one for each
    /// flow. Left out: a separate connection for each flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535))]
    pub connections: Option<u32>,
    /// Sending hosts: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    #[serde(default = "all_hosts")]
    pub sources: Vec<String>,
    /// Receiving hosts; one is drawn for each flow, never the sender.
    #[serde(default = "all_hosts")]
    pub destinations: Vec<String>,
    /// Whether both hosts of a flow can be on the same switch.
    #[serde(default)]
    pub across: Across,
    /// Request of the receiver: it opens the connection and asks, and the flow is the answer. Left out: flows start
    /// without a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSettings>,
}

/// Request of a client before a flow. The client opens a connection (with the transport's handshake, if it has one) and
/// sends the request. The flow is returned on the same connection, so the round-trip time is already known from the
/// handshake. Loads count only the flows. In the table of messages `started_ps` is the time at which the client began
/// to open the connection, `requested_ps` the time at which it sent the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestSettings {
    /// Payload of the request.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Think time from the arrival of the request to the start of the flow.
    #[serde(default)]
    pub think: ThinkSettings,
}

/// Think time of a server: normally distributed, cut at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThinkSettings {
    /// Mean before the cut.
    #[serde(with = "Text::<Duration>")]
    pub mean: Duration,
    /// Standard deviation before the cut; 0 s: the think time is constant.
    #[serde(with = "Text::<Duration>")]
    pub deviation: Duration,
}

/// One flow in each period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduledFlows {
    /// Sizes of the flows.
    pub sizes: FlowSizes,
    /// Time between the starts of two flows; the first starts with the group.
    #[serde(with = "Text::<Duration>")]
    pub period: Duration,
    /// Sending hosts: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    pub sources: Vec<String>,
    /// Receiving hosts; one is drawn for each flow, never the sender.
    pub destinations: Vec<String>,
    /// Number of flows after which the group ends; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// One flow at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SequentialFlows {
    /// Sizes of the flows.
    pub sizes: FlowSizes,
    /// Sending hosts: names, ranges such as "h0..h15", or "all". One is drawn for each flow.
    pub sources: Vec<String>,
    /// Receiving hosts; one is drawn for each flow, never the sender.
    pub destinations: Vec<String>,
    /// Number of flows after which the group ends; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Pause between the end of a flow and the start of the next. A flow ends when its sender knows that everything has
    /// arrived.
    #[serde(default, with = "Text::<Duration>")]
    pub gap: Duration,
}

/// The possible pairs of hosts.
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

/// Sizes of flows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FlowSizes {
    /// Drawn from an empirical distribution.
    Cdf(CdfSizes),
    /// One size for all flows.
    Fixed(FixedSizes),
    /// Drawn from a Pareto distribution.
    Pareto(ParetoSizes),
}

/// Sizes from a table, by linear interpolation between its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CdfSizes {
    /// Name of a built-in table (`hitless scenario schema` lists them), or the path of a file that ends in ".txt",
    /// relative to the scenario.
    pub table: String,
    /// Maximum size; larger sizes are drawn again. Left out: no limit.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub largest: Option<Bytes>,
}

/// One size for all flows.
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
    /// Shape; it must be above 1, because otherwise the mean is infinite.
    #[schemars(range(min = 1.0, max = 100.0))]
    pub shape: f64,
    /// Mean of the distribution before it is cut at `largest`. Loads are computed with the mean after the cut, which is
    /// smaller. Example: with shape 1.1 and 30 KB (AFQ, section 6.2.1), the default `largest` leaves a mean of 21.7 KB,
    /// since one flow in 1.3 million is larger and these carry more than a quarter of all bytes.
    #[serde(with = "Text::<Bytes>")]
    pub mean: Bytes,
    /// Maximum size; larger sizes are drawn again.
    #[serde(default = "pareto_largest", with = "Text::<Bytes>")]
    pub largest: Bytes,
}

fn pareto_largest() -> Bytes {
    Bytes(1_000_000_000)
}

/// Incast queries: `fan_in` hosts each send `size` to one host at the same time. Give one of `queries_per_second`,
/// `period`, or `load` with `load_of`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IncastFlows {
    /// Number of answers to a query, each from a different host unless `servers_repeat` is set.
    #[schemars(range(min = 1, max = 65535))]
    pub fan_in: u32,
    /// Payload of each answer.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Mean number of queries per second in the whole group, at random times (Poisson).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0))]
    pub queries_per_second: Option<f64>,
    /// Time between two queries; the first starts with the group.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub period: Option<Duration>,
    /// Offered load as a fraction of `load_of`; only payload counts. Queries come at random times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Capacity that `load` is relative to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_of: Option<LoadDenominator>,
    /// Number of queries after which the group ends; left out: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Hosts that ask and receive; one is drawn for each query.
    #[serde(default = "all_hosts")]
    pub clients: Vec<String>,
    /// Hosts that answer; `fan_in` of them are drawn, never the client.
    #[serde(default = "all_hosts")]
    pub servers: Vec<String>,
    /// Draw servers independently, so that a host can give several answers to a query and `fan_in` can exceed the
    /// number of servers.
    #[serde(default)]
    pub servers_repeat: bool,
    /// Request of the client: it opens a connection to each server and asks. Left out: all servers begin to answer at
    /// the time of the query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestSettings>,
}

/// One flow for each pair of hosts. The shorter of the two lists is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PairedFlows {
    /// Sending hosts: names or ranges such as "h0..h15".
    #[schemars(length(min = 1))]
    pub sources: Vec<String>,
    /// Receiving hosts, in the order of `sources`. Two sources with one destination both send to it.
    #[schemars(length(min = 1))]
    pub destinations: Vec<String>,
    /// Time between the starts of two pairs.
    #[serde(default, with = "Text::<Duration>")]
    pub spacing: Duration,
}

/// One connection with `count` messages for each pair of hosts. The shorter of the two lists is repeated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestFlows {
    /// Sending hosts: names or ranges such as "h0..h15".
    #[schemars(length(min = 1))]
    pub sources: Vec<String>,
    /// Receiving hosts, in the order of `sources`. Two sources with one destination both send to it.
    #[schemars(length(min = 1))]
    pub destinations: Vec<String>,
    /// Payload of each message.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Number of messages on each connection.
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Pause between the completion of a message and the start of the next.
    #[serde(default, with = "Text::<Duration>")]
    pub gap: Duration,
    /// Time between the starts of two pairs.
    #[serde(default, with = "Text::<Duration>")]
    pub spacing: Duration,
}

/// A random permutation in a single cycle: no host sends to itself, nor back to its sender (with three or more hosts).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PermutationFlows {
    /// Payload of each flow.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Hosts that take part.
    #[serde(default = "all_hosts")]
    pub hosts: Vec<String>,
    /// Spread of the starts: each flow starts at a random time within this duration after the group's start.
    #[serde(default, with = "Text::<Duration>")]
    pub spread: Duration,
}

/// A shifted all-to-all: all flows start at once, listed shift by shift; the first shift goes to the next host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAllFlows {
    /// Payload of each flow.
    #[serde(with = "Text::<Bytes>")]
    pub size: Bytes,
    /// Hosts that take part, in the order of the shifts.
    #[serde(default = "all_hosts")]
    pub hosts: Vec<String>,
}

/// A file with one flow per line: `source destination size start_ns` (docs/reference/files.md).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListedFlows {
    /// Name of a built-in list (`hitless scenario schema` shows them), or the path of a file that ends in ".flows",
    /// relative to the scenario. Start times are relative to the group's start.
    pub file: String,
    /// Payload of one packet, if the list gives sizes in packets; left out: the list gives bytes. This only converts
    /// sizes. The transport (`mss`, `mtu` or `frame_bytes`) decides how a flow is cut into packets.
    #[serde(default, with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub packet_bytes: Option<Bytes>,
}
