//! SQR's parameters. Sections refer to the paper (Shared Queue Ring, ICNP 2019).

use std::borrow::Cow;
use std::collections::BTreeSet;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Bytes, Duration, ServiceKey};
use hitless_hosts::transport::uet::UetSettings;
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::switch::SwitchSettings;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, SwitchId, Topology};
use hitless_scenario::{FlowGroup, Protocol, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::crossing::Crossings;

/// SQR on the switches at the sending ends of some links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqrSettings {
    /// The protected links and directions, "sw6->sw10" or "sw6<->sw10"; the sending end must be a switch. Name a switch
    /// in a single entry: all its links share its parameters.
    #[schemars(length(min = 1))]
    pub links: Vec<String>,
    /// Protect packets of these traffic classes (the TOS bits). A packet is protected if it matches any of `classes`,
    /// `ports` and `vlans`; if all three are empty, every packet is protected.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(max = 127)))]
    pub classes: Vec<u8>,
    /// Protect flows with these TCP or UDP service ports.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1)))]
    pub ports: Vec<u16>,
    /// Protect flows in these VLANs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(range(min = 1, max = 4094)))]
    pub vlans: Vec<u16>,
    /// Traffic classes without an order (an extension of the paper): their packets are never held for it, and copies of
    /// lost packets are sent as soon as a path exists. Other classes keep their order. Left out: classes of spraying
    /// connections ("uet") that share neither class nor queue with other flows whose shortest paths cross `links`; in
    /// live runs an empty list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(max = 127)))]
    pub any_order: Option<Vec<u8>>,
    /// Maximum age of a copy that is sent after a failure; only for `any_order`. The sender has already repeated the
    /// packet of an older copy, and takes its late acknowledgement for congestion.
    #[schemars(extend("x-default" = "the shortest timeout of such \"uet\" flows, less their base_rtt; else unlimited"))]
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub any_order_age: Option<Duration>,
    /// Where copies are kept.
    #[serde(default)]
    pub caching: SqrCaching,
    /// Ports of the ring of caching queues; each port is named by its outgoing link.
    #[schemars(extend("x-default" = "all of the sending switches"))]
    #[serde(default)]
    pub caching_ports: Vec<String>,
    /// Lifetime of a copy without a failure (section III-C). It must cover the detection of a failure and the flight of
    /// the original, so that a copy still exists when the loss of its original is detected.
    #[schemars(extend("x-default" = "the longest detection and the longest flight of a full frame"))]
    #[serde(default, with = "Optional::<Duration>")]
    pub steady_delay: Option<Duration>,
    /// Lifetime of a copy once a failure is detected (section III-C).
    #[schemars(extend("x-default" = "steady_delay and reconfiguration"))]
    #[serde(default, with = "Optional::<Duration>")]
    pub failure_delay: Option<Duration>,
    /// Bits of the nanosecond clock that timestamps copies (algorithm 1).
    #[serde(default = "clock_bits")]
    #[schemars(range(min = 8, max = 32))]
    pub clock_bits: u32,
    /// Window for counting the bytes of each port, to find the least loaded port (section III-F: 150 us).
    #[serde(default = "utilization_window", with = "Text::<Duration>")]
    pub utilization_window: Duration,
    /// Whether copies look for a less loaded port, in turn. In section III-D only originals update the least loaded
    /// port, so that the ring never uses an idle port.
    #[serde(default = "finds_idle_ports")]
    pub finds_idle_ports: bool,
    /// When due copies may leave.
    #[serde(default)]
    pub release: SqrRelease,
    /// Stop caching while the packet buffer is nearly full (section VI). Default: always cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backstop: Option<SqrBackstop>,
    /// Hold of packets before they return to their own port after local rerouting, so that none overtakes packets on
    /// the other path.
    #[schemars(extend("x-default" = "125 KB at the lowest rate (100 us at 10G), or four flights of a frame"))]
    #[serde(default, with = "Optional::<Duration>")]
    pub return_hold: Option<Duration>,
}

fn clock_bits() -> u32 {
    32
}

fn utilization_window() -> Duration {
    Duration::from_us(150)
}

fn finds_idle_ports() -> bool {
    true
}

/// The bytes that may wait in a queue of the detour: 100 us at 10G.
const DETOUR_QUEUE: Bytes = Bytes(125_000);
/// The links of a detour (three in F10), and one for margin.
const DETOUR_LINKS: u64 = 4;

impl Default for SqrSettings {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            classes: Vec::new(),
            ports: Vec::new(),
            vlans: Vec::new(),
            any_order: None,
            any_order_age: None,
            caching: SqrCaching::default(),
            caching_ports: Vec::new(),
            steady_delay: None,
            failure_delay: None,
            clock_bits: clock_bits(),
            utilization_window: utilization_window(),
            finds_idle_ports: finds_idle_ports(),
            release: SqrRelease::default(),
            backstop: None,
            return_hold: None,
        }
    }
}

/// Where copies are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqrCaching {
    /// In the Multi-Queue Ring: copies circulate, as today's chips require (section III-B).
    #[default]
    Ring,
    /// In queues that hold a packet for a given time, as future chips could (section VII).
    DelayQueue,
}

/// When due copies may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqrRelease {
    /// After the whole delay (section III-C, algorithm 2).
    #[default]
    AfterDelay,
    /// As soon as a path exists.
    WhenRerouted,
}

/// Thresholds of the packet buffer's occupancy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqrBackstop {
    /// Caching stops at this occupancy.
    #[serde(with = "Text::<Bytes>")]
    pub pause: Bytes,
    /// Caching resumes when the occupancy has fallen to this value.
    #[serde(with = "Text::<Bytes>")]
    pub resume: Bytes,
}

/// Whether two classes share a queue at any switch. Switches look at three bits of a class.
fn share_a_queue(around: Surroundings<'_>, classes: [u8; 2]) -> bool {
    let Surroundings { scenario, topology } = around;
    let at_switch = |switch: &Cow<'_, SwitchSettings>| {
        let [one, other] = classes.map(|class| switch.queue_of_class(class & 7));
        one == other
    };
    scenario.switch.variants_at(topology, topology.switch_ids()).iter().any(at_switch)
}

/// The settings of a group's transport if it sprays packets.
fn spraying<'s>(scenario: &'s Scenario, group: &FlowGroup) -> Option<&'s UetSettings> {
    let named = scenario.transports.iter().find(|transport| transport.name == group.transport);
    match &named?.protocol {
        Protocol::Uet(uet) => Some(uet),
        _ => None,
    }
}

const NS: Duration = Duration::from_ns(1);

impl SqrSettings {
    /// The protected links; names that match no link are ignored.
    pub fn protected(&self, topology: &Topology) -> Vec<DirectedLink> {
        self.links.iter().flat_map(|name| select_links(topology, name).unwrap_or_default()).collect()
    }

    /// Whether packets of this class and service are protected (section III, footnote 2): those that match any of the
    /// lists, and all packets if the lists are empty. `service` is only called if the class does not decide.
    pub fn protects(&self, class: u8, service: impl FnOnce() -> ServiceKey) -> bool {
        let Self { classes, ports, vlans, .. } = self;
        if classes.is_empty() && ports.is_empty() && vlans.is_empty() || classes.contains(&class) {
            return true;
        }
        let key = service();
        (key.port != 0 && ports.contains(&key.port)) || (key.vlan != 0 && vlans.contains(&key.vlan))
    }

    /// The classes with packets that need no order: those of spraying flows, if no other flow over a protected link
    /// uses their queue. In a live run the scenario's flows are removed before the call.
    pub fn any_order(&self, around: Surroundings<'_>) -> Vec<u8> {
        if let Some(classes) = &self.any_order {
            return classes.clone();
        }
        let scenario = around.scenario;
        let (sprayed, others): (Vec<_>, Vec<_>) =
            scenario.flows.iter().partition(|group| spraying(scenario, group).is_some());
        let classes: BTreeSet<u8> = sprayed.iter().map(|group| group.class).collect();
        let crossings = self.crossings(around);
        let has_order = |class: u8| {
            let in_queue = |group: &&&FlowGroup| share_a_queue(around, [group.class, class]);
            others.iter().filter(in_queue).any(|group| crossings.can_cross(group))
        };
        classes.into_iter().filter(|&class| !has_order(class)).collect()
    }

    fn crossings<'a>(&self, around: Surroundings<'a>) -> Crossings<'a> {
        Crossings::new(around, self.protected(around.topology))
    }

    /// The maximum age of a copy that is sent: its packet arrives and is acknowledged before the sender's timeout.
    pub fn any_order_age(&self, around: Surroundings<'_>) -> Option<Duration> {
        if self.any_order_age.is_some() {
            return self.any_order_age;
        }
        let classes = self.any_order(around);
        let groups = around.scenario.flows.iter().filter(|group| classes.contains(&group.class));
        let sprayed = groups.filter_map(|group| Some((group, spraying(around.scenario, group)?)));
        let crossings = self.crossings(around);
        let over = sprayed.filter(|(group, _)| crossings.can_cross(group));
        over.map(|(_, uet)| uet.timeout.saturating_sub(uet.base_rtt)).min()
    }

    /// A group of flows in order over a protected link, with a class of `any_order` in the same queue.
    pub(super) fn shared_queue<'s>(&self, around: Surroundings<'s>) -> Option<(u8, &'s FlowGroup)> {
        let classes = self.any_order.as_deref().unwrap_or_default();
        let ordered: Vec<_> = around.scenario.flows.iter().filter(|group| !classes.contains(&group.class)).collect();
        let shares = |class: u8, group: &FlowGroup| share_a_queue(around, [group.class, class]);
        let crossings = self.crossings(around);
        let in_order =
            |class: u8| ordered.iter().copied().find(|group| shares(class, group) && crossings.can_cross(group));
        classes.iter().find_map(|&class| Some((class, in_order(class)?)))
    }

    /// The steady delay and the failure delay.
    pub fn delays(&self) -> (Duration, Duration) {
        self.steady_delay.zip(self.failure_delay).expect("a scenario that was checked has both delays")
    }

    /// The sending switches of the protected links.
    pub fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        let sender = |link| topology.ends(link).0.node.switch();
        self.protected(topology).into_iter().filter_map(sender).collect()
    }

    /// The minimum `steady_delay`: every copy still exists when a failure that lost its original is detected.
    pub fn steady_bound(&self, scenario: &Scenario, topology: &Topology) -> Duration {
        let flight = |&link: &DirectedLink| scenario.flight_bound(topology, link);
        let longest = self.protected(topology).iter().map(flight).max().unwrap_or(Duration::ZERO);
        Duration(scenario.detection().bound().as_ps().saturating_add(longest.as_ps()))
    }

    /// The hold of packets before they return to their own port.
    pub fn return_hold(&self) -> Duration {
        self.return_hold.unwrap_or(Duration::ZERO).max(self.delays().0)
    }

    /// The maximum time to find a path once the failure of a protected link is detected.
    pub fn reconfiguration_bound(&self, scenario: &Scenario, topology: &Topology) -> Duration {
        let bounds = self.protected(topology).into_iter().flat_map(|link| {
            let (failures, settings) = (scenario.failures_of(topology, link.link), topology.slowest_spec(link));
            failures.map(|failure| scenario.reconfiguration_bound(failure, settings)).collect::<Vec<_>>()
        });
        let scheme = scenario.recovery.as_ref().map_or(Duration::ZERO, |recovery| recovery.reconfiguration());
        bounds.fold(scheme, Duration::max)
    }

    /// Fills in settings that follow from the rest of the scenario.
    pub(super) fn resolve(&mut self, scenario: &Scenario, topology: &Topology) {
        if self.caching_ports.is_empty() {
            let ports = self.switches(topology).into_iter().flat_map(|switch| &topology.switch(switch).ports);
            self.caching_ports = ports.map(|port| topology.link_name(port.link)).collect();
        }
        let links = || topology.slowest_specs();
        // Packets on the detour are late by the queues of its links or by their flights; the hold covers the longer of
        // both.
        let all = (0..2 * topology.links.len()).map(DirectedLink::from_index);
        let flight = all.map(|link| scenario.flight_bound(topology, link)).max().unwrap_or(Duration::ZERO);
        let drain = links().map(|link| link.rate.time_for(DETOUR_QUEUE.0)).max().unwrap_or(Duration::ZERO);
        let hold = drain.max(Duration(flight.as_ps().saturating_mul(DETOUR_LINKS)));
        self.return_hold.get_or_insert(hold);
        let bound = self.steady_bound(scenario, topology);
        let in_whole_ns = Duration(bound.as_ps().div_ceil(NS.as_ps()).saturating_mul(NS.as_ps()));
        let steady = *self.steady_delay.get_or_insert(in_whole_ns);
        let reconfiguration = self.reconfiguration_bound(scenario, topology);
        self.failure_delay.get_or_insert(Duration(steady.as_ps().saturating_add(reconfiguration.as_ps())));
    }
}
