//! RIMM's parameters. Sections refer to the paper (Lin, Hung and Wen, IEEE Access 2022).

use std::collections::{BTreeMap, BTreeSet};

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Bytes, Duration, PortId};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::select::{SwitchPort, select_ports_by_switch};
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// RIMM: microbursts are detoured to a neighbouring switch and released in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RimmSettings {
    /// Ports with watched and relieved queues: "sw2->sw6" is the port that sends on this link, "sw2" all ports of a
    /// switch. The neighbours of these switches write their queue depths into packets for them. Name a port in a single
    /// entry; a switch has one set of parameters.
    #[schemars(extend("x-default" = "all ports of all switches"))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// alpha: depth at which detours begin (section III-A).
    #[schemars(extend(
        "x-default" = "5/6 of what the queue of the port may hold (section IV: 20,000 segments of 24,000)"
    ))]
    #[serde(with = "Optional::<Bytes>", skip_serializing_if = "Option::is_none")]
    pub threshold: Option<Bytes>,
    /// Size of a segment, the unit of depths, which have 16 bits (section V). The paper does not give it; 80 B is the
    /// cell of a Tofino.
    #[serde(with = "Text::<Bytes>")]
    pub segment: Bytes,
    /// The order of detoured packets, and the end of a flow's detour.
    pub release: RimmRelease,
    /// Neighbour of a packet that comes back too early and is detoured again. A new packet always gets the neighbour
    /// with the shortest queue.
    pub neighbour_for_returns: NeighbourForReturns,
    /// When new packets of a flow may use another neighbour than earlier ones.
    pub neighbour_change: NeighbourChange,
    /// Queue of message packets, here and at a neighbour on their return.
    pub messages: RimmMessages,
    /// chi, with release = "flowlet-gap": idle time between two packets of a flow that ends its detour (section III-C:
    /// a few milliseconds). It must be long enough for detoured packets to come back.
    #[schemars(extend(
        "x-default" = "three times the longest round trip through a neighbour whose queue is at the threshold, rounded \
                       up to 100 us (1 ms in the paper's testbed)"
    ))]
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub flowlet_gap: Option<Duration>,
    /// Maximum detour time of a microburst. A longer one is congestion: the detour ends until the queue has drained
    /// below the threshold (sections III-B and V: typically 1 ms). Detours hold a queue at the threshold, so that
    /// alarms belong to the same burst if the next comes within `predecessor_timeout`, the time for every detoured
    /// packet to return; with release = "unordered", or if this time is shorter, within this time.
    #[serde(with = "Text::<Duration>")]
    pub congestion_after: Duration,
    /// Maximum detour time of a flow, regardless of its queue. Default: until its detour ends.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub flow_detour_max: Option<Duration>,
    /// Bits of the hash of the 5-tuple that selects a flow's sequence numbers (section III-B: 12).
    #[schemars(range(min = 0, max = 20))]
    pub hash_bits: u8,
    /// Maximum number of detours of a packet. Then it is forwarded, regardless of its number and its queue.
    #[schemars(range(min = 1, max = 255))]
    pub detours_max: u8,
    /// Maximum wait for an earlier packet that has not come back; then it counts as lost.
    #[schemars(extend(
        "x-default" = "four times the longest round trip through a neighbour whose queue is at the threshold"
    ))]
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub predecessor_timeout: Option<Duration>,
    /// Lifetime of the news that a queue towards a neighbour is above its threshold, without further messages from the
    /// switch's egress: the message that the queue is below again may have been lost. While the queue stays above,
    /// egress repeats its message in each quarter of this time. The default is far above the duration of a microburst,
    /// so that only a lost message makes a difference.
    #[serde(with = "Text::<Duration>")]
    pub crossing_lifetime: Duration,
    /// Lifetime of a depth reported by a neighbour; later its queue counts as empty, as before the first report.
    /// Default: until the next report.
    #[serde(with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub telemetry_lifetime: Option<Duration>,
    /// Record the chosen ports, and the times when alarms were raised and cleared, as series. This takes memory, and
    /// changes nothing else.
    pub record_choices: bool,
}

/// The order of detoured packets, and the end of a detour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RimmRelease {
    /// Release detoured packets in the order of their numbers. New packets of a flow are detoured until an idle time of
    /// `flowlet_gap` between two of them, as in the paper's switch (section III-C).
    #[default]
    FlowletGap,
    /// Like "flowlet-gap", but new packets are detoured until all earlier ones are released, S_a = S_f, which the
    /// paper's switch could not do (section V).
    Exact,
    /// No numbers: a packet that comes back is forwarded as soon as its queue is below the threshold ("detour-based
    /// forwarding", table 1).
    Unordered,
}

/// Queue of message packets, which the paper leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RimmMessages {
    /// A separate queue, served before all others.
    #[default]
    First,
    /// The queue of the copied packet: behind detoured packets.
    InOrder,
}

/// When new packets of a flow may use another neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RimmChange")]
pub enum NeighbourChange {
    /// When a detour of the flow begins. All packets of a detour take one path and stay in order there. They leave it
    /// when the neighbour's queue is at half of its threshold, which leaves room until its next report, or when the
    /// link is down.
    #[default]
    BetweenDetours,
    /// Whenever another neighbour's queue is the shortest (section III-A2). Packets on different paths wait for each
    /// other.
    AnyTime,
}

/// Neighbour of a packet that is detoured again, which the paper leaves open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(rename = "RimmAgain")]
pub enum NeighbourForReturns {
    /// The neighbour that it came from: packets on one path stay in order, and no queue grows because of them.
    #[default]
    SameNeighbour,
    /// The neighbour with the shortest queue: all returning packets go to the minimum of the last reported depths.
    LeastLoaded,
}

impl Default for RimmSettings {
    fn default() -> Self {
        Self {
            ports: Vec::new(),
            threshold: None,
            segment: Bytes(80),
            release: RimmRelease::FlowletGap,
            neighbour_for_returns: NeighbourForReturns::SameNeighbour,
            neighbour_change: NeighbourChange::BetweenDetours,
            messages: RimmMessages::First,
            flowlet_gap: None,
            congestion_after: Duration::from_us(1_000),
            flow_detour_max: None,
            hash_bits: 12,
            detours_max: 255,
            predecessor_timeout: None,
            crossing_lifetime: Duration::from_us(20_000),
            telemetry_lifetime: None,
            record_choices: false,
        }
    }
}

/// Default of alpha as a share of the queue (section IV: 20,000 segments of 24,000).
const THRESHOLD_SHARE: (u64, u64) = (5, 6);
/// Round trips after which a packet counts as lost.
const ROUND_TRIPS: u64 = 4;
/// Round trips in chi. In the paper's testbed a round trip takes 0.32 ms, with 1.6 MB at 40 Gb/s, so that chi is 1 ms
/// there.
const GAP_ROUND_TRIPS: u64 = 3;
/// chi is rounded up to a multiple of this.
const GAP_STEP: Duration = Duration::from_us(100);

impl RimmSettings {
    /// The existing ports among `ports`, in order, by switch.
    pub fn ports_by_switch(&self, topology: &Topology) -> BTreeMap<SwitchId, Vec<SwitchPort>> {
        select_ports_by_switch(topology, &self.ports)
    }

    /// The switches that detour, and their neighbours, which report depths.
    pub fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        let relieved: BTreeSet<SwitchId> = self.ports_by_switch(topology).into_keys().collect();
        let around = relieved.iter().flat_map(|&switch| neighbours(topology, switch));
        let others: BTreeSet<SwitchId> = around.map(|(_, neighbour)| neighbour).collect();
        &relieved | &others
    }

    /// The links from the switches that detour to their neighbours.
    pub fn links_to_neighbours(&self, topology: &Topology) -> Vec<DirectedLink> {
        let links = |switch| {
            let ports = neighbours(topology, switch).map(|(port, _)| usize::from(port.0));
            ports.map(|port| topology.switch(switch).ports[port].link).collect::<Vec<_>>()
        };
        self.ports_by_switch(topology).into_keys().flat_map(links).collect()
    }

    /// The ports of all detours: the relieved ones, the ports of their switches towards the neighbours, and the
    /// neighbours' ports through which packets come back. While all links work, no numbered packet passes another port.
    pub fn ports_of_detours(&self, topology: &Topology) -> BTreeSet<SwitchPort> {
        let by_switch = self.ports_by_switch(topology);
        let between = by_switch.keys().flat_map(|&switch| {
            neighbours(topology, switch).flat_map(move |(port, _)| {
                let peer = topology.switch(switch).ports[usize::from(port.0)].peer;
                let back = peer.node.switch().map(|neighbour| SwitchPort { switch: neighbour, port: peer.port });
                back.into_iter().chain([SwitchPort { switch, port }])
            })
        });
        between.chain(by_switch.values().flatten().copied()).collect()
    }

    /// alpha of a port.
    pub fn threshold_of(&self, scenario: &Scenario, topology: &Topology, at: SwitchPort) -> Bytes {
        let (part, whole) = THRESHOLD_SHARE;
        let share = || Bytes(scenario.queue_max(topology, at).0 / whole * part);
        self.threshold.unwrap_or_else(share)
    }

    /// The maximum time of a full frame to a neighbour and back, through a queue there that is at its threshold.
    pub fn round_trip_bound(&self, scenario: &Scenario, topology: &Topology) -> Duration {
        let relieved = self.ports_by_switch(topology).into_keys();
        let through = |switch| neighbours(topology, switch).map(move |(port, _)| SwitchPort { switch, port });
        let round_trip = |at: SwitchPort| {
            let port = &topology.switch(at.switch).ports[usize::from(at.port.0)];
            let settings = topology.spec(port.link);
            let Node::Switch(neighbour) = port.peer.node else { return Duration::ZERO };
            let depth = self.threshold_of(scenario, topology, SwitchPort { switch: neighbour, port: port.peer.port });
            let in_queue = settings.rate.time_for(depth.0);
            let one_way = |link| scenario.hop_bound(topology, link).as_ps();
            let on_links = one_way(port.link).saturating_add(one_way(port.link.reversed()));
            Duration(on_links.saturating_add(in_queue.as_ps()))
        };
        relieved.flat_map(through).map(round_trip).max().unwrap_or(Duration::ZERO)
    }

    /// The time after an alarm within which another one belongs to the same burst.
    pub(super) fn row_gap(&self) -> Duration {
        self.predecessor_timeout.map_or(self.congestion_after, |timeout| timeout.min(self.congestion_after))
    }

    /// Fills in settings that follow from the rest of the scenario.
    pub(super) fn resolve(&mut self, scenario: &Scenario, topology: &Topology) {
        if self.release == RimmRelease::Unordered {
            return;
        }
        let bound = self.round_trip_bound(scenario, topology).as_ps();
        if self.release == RimmRelease::FlowletGap {
            // chi must exceed the time of every detoured packet to return (section III-C).
            let steps = bound.saturating_mul(GAP_ROUND_TRIPS).div_ceil(GAP_STEP.as_ps()).max(1);
            self.flowlet_gap.get_or_insert(Duration(steps.saturating_mul(GAP_STEP.as_ps())));
        }
        if self.predecessor_timeout.is_none() {
            let bound = bound.saturating_mul(ROUND_TRIPS);
            self.predecessor_timeout = Some(Duration(bound.next_multiple_of(Duration::from_ns(1).as_ps())));
        }
    }
}

/// The ports of a switch towards other switches, with these switches.
pub(super) fn neighbours(topology: &Topology, switch: SwitchId) -> impl Iterator<Item = (PortId, SwitchId)> {
    let ports = (0..).zip(&topology.switch(switch).ports);
    ports.filter_map(|(number, port)| Some((PortId(number), port.peer.node.switch()?)))
}
