//! SQR's parameters. Sections are those of the paper (Shared Queue Ring, ICNP 2019).

use std::collections::BTreeSet;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Bytes, Duration, ServiceKey};
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::select::select_links;
use hitless_scenario::network::topology::{DirectedLink, SwitchId, Topology};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// SQR on the switches at the sending ends of some links.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqrSettings {
    /// The protected links and directions, "sw6->sw10" or "sw6<->sw10"; the sending end must be a switch. A switch is
    /// named in one entry only: all its links share its parameters.
    #[schemars(length(min = 1))]
    pub links: Vec<String>,
    /// Protect packets of these traffic classes (the TOS bits). A packet that fits any of `classes`, `ports` and
    /// `vlans` is protected; all three empty: every packet is.
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
    /// Where copies are kept.
    #[serde(default)]
    pub caching: SqrCaching,
    /// Ports whose caching queues make up the ring, each by the link that it sends on.
    #[schemars(extend("x-default" = "all of the sending switches"))]
    #[serde(default)]
    pub caching_ports: Vec<String>,
    /// How long a copy is kept while all is well (section III-C): until a failure that took the original would have
    /// been detected, however late the original was on its way.
    #[schemars(extend("x-default" = "the longest detection and the longest flight of a full frame"))]
    #[serde(default, with = "Optional::<Duration>")]
    pub steady_delay: Option<Duration>,
    /// How long a copy is kept once a failure has been detected (section III-C).
    #[schemars(extend("x-default" = "steady_delay and reconfiguration"))]
    #[serde(default, with = "Optional::<Duration>")]
    pub failure_delay: Option<Duration>,
    /// Bits of the nanosecond clock that copies are stamped with (algorithm 1).
    #[serde(default = "clock_bits")]
    #[schemars(range(min = 8, max = 32))]
    pub clock_bits: u32,
    /// Over what time the bytes of each port are counted to find the least loaded one (section III-F: 150 us).
    #[serde(default = "utilization_window", with = "Text::<Duration>")]
    pub utilization_window: Duration,
    /// Whether copies look in turn for a port that sends less. In section III-D only an original updates the least
    /// loaded port, so the ring never uses an idle port.
    #[serde(default = "finds_idle_ports")]
    pub finds_idle_ports: bool,
    /// When copies that are due may leave.
    #[serde(default)]
    pub release: SqrRelease,
    /// Cache nothing while the packet buffer is nearly full (section VI); left out: always cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backstop: Option<SqrBackstop>,
    /// How long packets wait when they go back to their own port after local rerouting, so that none overtakes those
    /// that went the other way.
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

/// The bytes that may wait in a queue of the way around a failed link: 100 us at 10G.
const DETOUR_QUEUE: Bytes = Bytes(125_000);
/// The links of the way around a failed link (three in F10), and one for margin.
const DETOUR_LINKS: u64 = 4;

impl Default for SqrSettings {
    fn default() -> Self {
        Self {
            links: Vec::new(),
            classes: Vec::new(),
            ports: Vec::new(),
            vlans: Vec::new(),
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
    /// Round and round through the Multi-Queue Ring, as on today's chips (section III-B).
    #[default]
    Ring,
    /// In queues that hold a packet for a time, as future chips could (section VII).
    DelayQueue,
}

/// When copies that are due may leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SqrRelease {
    /// When they have been kept for the whole delay (section III-C, algorithm 2).
    #[default]
    AfterDelay,
    /// As soon as there is a way for them.
    WhenRerouted,
}

/// Thresholds of the occupancy of the packet buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SqrBackstop {
    /// Nothing is cached from this occupancy on.
    #[serde(with = "Text::<Bytes>")]
    pub pause: Bytes,
    /// Packets are cached again when the occupancy has fallen to this.
    #[serde(with = "Text::<Bytes>")]
    pub resume: Bytes,
}

const NS: Duration = Duration::from_ns(1);

impl SqrSettings {
    /// The protected links whose names mean something.
    pub fn protected(&self, topology: &Topology) -> Vec<DirectedLink> {
        self.links.iter().flat_map(|name| select_links(topology, name).unwrap_or_default()).collect()
    }

    /// Whether packets of this class and service are protected (section III, footnote 2): one that fits any of the
    /// lists, and all when there are none. `service` is asked when the class does not decide.
    pub fn protects(&self, class: u8, service: impl FnOnce() -> ServiceKey) -> bool {
        let Self { classes, ports, vlans, .. } = self;
        if classes.is_empty() && ports.is_empty() && vlans.is_empty() || classes.contains(&class) {
            return true;
        }
        let key = service();
        (key.port != 0 && ports.contains(&key.port)) || (key.vlan != 0 && vlans.contains(&key.vlan))
    }

    /// How long a copy is kept while all is well, and once a failure has been detected.
    ///
    /// # Panics
    /// In a scenario that was not read by `check`, which fills them in.
    pub fn delays(&self) -> (Duration, Duration) {
        self.steady_delay.zip(self.failure_delay).expect("a scenario that was checked has both delays")
    }

    /// The switches that send on them, in order.
    pub fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        let sender = |link| topology.ends(link).0.node.switch();
        self.protected(topology).into_iter().filter_map(sender).collect()
    }

    /// The least `steady_delay`: every copy still exists when a failure that took its original is detected.
    pub fn steady_bound(&self, scenario: &Scenario, topology: &Topology) -> Duration {
        let flight = |link: &DirectedLink| scenario.flight_bound(topology.link(link.link).settings);
        let longest = self.protected(topology).iter().map(flight).max().unwrap_or(Duration::ZERO);
        Duration(scenario.detection().bound().as_ps().saturating_add(longest.as_ps()))
    }

    /// How long packets wait before they go back to their own port.
    pub fn return_hold(&self) -> Duration {
        self.return_hold.unwrap_or(Duration::ZERO).max(self.delays().0)
    }

    /// The time that it takes to find a way, once the failure of a protected link has been detected.
    pub fn reconfiguration_bound(&self, scenario: &Scenario, topology: &Topology) -> Duration {
        let bounds = self.protected(topology).into_iter().flat_map(|link| {
            let (failures, settings) = (scenario.failures_of(topology, link.link), topology.link(link.link).settings);
            failures.map(|failure| scenario.reconfiguration_bound(failure, settings)).collect::<Vec<_>>()
        });
        let scheme = scenario.recovery.as_ref().map_or(Duration::ZERO, |recovery| recovery.reconfiguration());
        bounds.fold(scheme, Duration::max)
    }

    /// Gives what is left out the value that follows from the rest of the scenario.
    pub(super) fn resolve(&mut self, scenario: &Scenario, topology: &Topology) {
        if self.caching_ports.is_empty() {
            let ports = self.switches(topology).into_iter().flat_map(|switch| &topology.switch(switch).ports);
            self.caching_ports = ports.map(|port| topology.link_name(port.link)).collect();
        }
        let links = || topology.links.iter().map(|link| link.settings);
        let flight = links().map(|link| scenario.flight_bound(link)).max().unwrap_or(Duration::ZERO);
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
