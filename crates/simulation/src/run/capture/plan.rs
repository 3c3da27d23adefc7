//! The places of captures, and the packets that they take.

use std::collections::BTreeMap;

use hitless_core::wire::link::{LinkHeaderSet, PRIORITIES};
use hitless_core::wire::{BitRate, HostId, Time};
use hitless_hosts::TransportConfig;
use hitless_scenario::network::topology::select::SwitchPort;
use hitless_scenario::network::topology::{DirectedLink, Node, SwitchId, Topology};
use hitless_scenario::{CapturedPlace, CapturedProtocol, PacketCapture, Scenario};
use hitless_switch::Switch;

/// The part of a link's frames that a place sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// All frames at the end of the link.
    Link,
    /// Frames that leave the sending end.
    Departures,
    /// Intact frames at the receiving end.
    Arrivals,
}

/// A place that one event can touch.
#[derive(Clone, Copy, Debug)]
pub struct Tap {
    /// Number of the capture.
    pub file: usize,
    /// Number of the interface in its file.
    pub interface: u32,
    pub view: View,
    /// Whether the packets there have different queues, so that the number of their queue is valid.
    pub has_queues: bool,
}

/// An interface of a file.
#[derive(Clone, Debug)]
pub struct Interface {
    pub name: String,
    pub description: &'static str,
    pub rate: Option<BitRate>,
}

/// One capture.
#[derive(Clone, Debug)]
pub struct FilePlan {
    pub settings: PacketCapture,
    pub interfaces: Vec<Interface>,
    /// Numbers of the groups of flows; empty: all packets.
    groups: Vec<u32>,
}

/// All captures of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    pub files: Vec<FilePlan>,
    pub at_links: BTreeMap<u32, Vec<Tap>>,
    pub at_ports: BTreeMap<SwitchPort, Vec<Tap>>,
    pub at_switches: BTreeMap<u32, Vec<Tap>>,
    pub at_cards: BTreeMap<u32, Vec<Tap>>,
    /// Headers of mechanisms with a number on links.
    pub spoken: LinkHeaderSet,
    /// By transport: maximum segment size.
    pub mss_bytes: Vec<u16>,
}

impl Plan {
    /// Plans the captures of `scenario`; `None` without any.
    ///
    /// # Errors
    /// If two mechanisms use one number on links: a bug in one of them.
    pub fn new(
        scenario: &Scenario,
        topology: &Topology,
        switches: &[Switch],
        is_here: Option<&[bool]>,
    ) -> Result<Option<Self>, String> {
        if scenario.measure.capture.is_empty() {
            return Ok(None);
        }
        let mut spoken = LinkHeaderSet::default();
        spoken.add(&PRIORITIES)?;
        let headers = scenario.mechanisms.iter().filter_map(|entry| entry.link_headers(topology));
        headers.map(|(headers, _)| headers).try_for_each(|headers| spoken.add(headers))?;
        let transports = scenario.transport_configs(topology);
        let (at_links, at_ports, at_switches, at_cards) = Default::default();
        let mss_bytes = transports.iter().map(mss_of).collect();
        let mut plan = Self { files: Vec::new(), at_links, at_ports, at_switches, at_cards, spoken, mss_bytes };
        for capture in &scenario.measure.capture {
            plan.add_file(capture, scenario, (topology, is_here), switches);
        }
        Ok(Some(plan))
    }

    fn add_file(
        &mut self,
        capture: &PacketCapture,
        scenario: &Scenario,
        (topology, is_here): (&Topology, Option<&[bool]>),
        switches: &[Switch],
    ) {
        let number = |name: &String| scenario.flows.iter().position(|group| group.name == *name);
        let groups = capture.groups.iter().filter_map(number).map(|group| group as u32).collect();
        let mut places = capture.places(topology, |_, _, _| {});
        places.retain(|&place| is_here.is_none_or(|is_here| is_place_here(place, topology, is_here)));
        if places.is_empty() {
            return;
        }
        self.files.push(FilePlan { settings: capture.clone(), interfaces: Vec::new(), groups });
        for place in places {
            self.add_place(place, topology, switches);
        }
    }

    fn add_place(&mut self, place: CapturedPlace, topology: &Topology, switches: &[Switch]) {
        let rate = |link: DirectedLink| Some(topology.spec(link).rate);
        match place {
            CapturedPlace::Host(host) => {
                let node = topology.host(host);
                for (number, port) in node.ports.iter().enumerate() {
                    let name =
                        if node.is_multi_homed() { format!("{} port {number}", node.name) } else { node.name.clone() };
                    let tap = self.tap(name, "network card of a host", rate(port.link));
                    self.add_card(host, port.link, number == 0, tap);
                }
            }
            CapturedPlace::Link(link) => {
                let tap = self.tap(topology.link_name(link), "end of a link", rate(link));
                self.at_link(link, View::Link, tap);
            }
            CapturedPlace::Port(port) => {
                let link = topology.switch(port.switch).ports[usize::from(port.port.0)].link;
                let tap = self.tap(format!("{} port", topology.link_name(link)), "port of a switch", rate(link));
                let has_queues = switches[port.switch.0 as usize].queue_count(port.port) > 1;
                self.add_port(port, link, Tap { has_queues, ..tap });
            }
            CapturedPlace::Switch(SwitchId(switch)) => {
                let name = topology.switches[switch as usize].name.clone();
                let tap = self.tap(name, "packets that end in a switch", None);
                self.at_switches.entry(switch).or_default().push(tap);
            }
        }
    }

    /// Adds an interface to the newest file.
    fn tap(&mut self, name: String, description: &'static str, rate: Option<BitRate>) -> Tap {
        let file = self.files.len() - 1;
        let interfaces = &mut self.files[file].interfaces;
        interfaces.push(Interface { name, description, rate });
        Tap { file, interface: interfaces.len() as u32 - 1, view: View::Link, has_queues: false }
    }

    fn at_link(&mut self, link: DirectedLink, view: View, tap: Tap) {
        self.at_links.entry(link.index() as u32).or_default().push(Tap { view, ..tap });
    }

    /// Adds a port of a host; packets that its cards refuse are at the `first`.
    fn add_card(&mut self, host: HostId, sends_on: DirectedLink, is_first: bool, tap: Tap) {
        self.at_link(sends_on, View::Departures, tap);
        self.at_link(sends_on.reversed(), View::Arrivals, tap);
        if is_first {
            self.at_cards.entry(host.0).or_default().push(tap);
        }
    }

    fn add_port(&mut self, port: SwitchPort, link: DirectedLink, tap: Tap) {
        self.at_link(link, View::Departures, tap);
        self.at_ports.entry(port).or_default().push(tap);
    }
}

/// Returns whether a switch that is here sees the packets of a place.
fn is_place_here(place: CapturedPlace, topology: &Topology, is_here: &[bool]) -> bool {
    let is_one = |node: Node| node.switch().is_some_and(|switch| is_here[switch.0 as usize]);
    match place {
        CapturedPlace::Host(host) => topology.host(host).ports.iter().any(|port| is_one(port.peer.node)),
        CapturedPlace::Link(link) => {
            let (from, to) = topology.ends(link);
            is_one(from.node) || is_one(to.node)
        }
        CapturedPlace::Port(SwitchPort { switch, .. }) | CapturedPlace::Switch(switch) => is_one(Node::Switch(switch)),
    }
}

fn mss_of(transport: &TransportConfig) -> u16 {
    match transport {
        TransportConfig::Tcp(tcp) => tcp.mss.0.min(u16::MAX.into()) as u16,
        _ => 0,
    }
}

impl FilePlan {
    /// Returns whether the capture takes a packet of this class, protocol and group at this time. `queue` is valid at
    /// ports with queues.
    pub fn takes(
        &self,
        at: Time,
        (class, protocol): (u8, Option<CapturedProtocol>),
        group: Option<u32>,
        queue: Option<u8>,
        is_lost: bool,
    ) -> bool {
        let PacketCapture { protocols, classes, queues, dropped_only, from, until, .. } = &self.settings;
        let is_among = |all: &[u8], one: u8| all.is_empty() || all.contains(&one);
        at >= *from
            && until.is_none_or(|until| at < until)
            && (is_lost || !dropped_only)
            && (self.groups.is_empty() || group.is_some_and(|group| self.groups.contains(&group)))
            && (protocols.is_empty() || protocol.is_some_and(|protocol| protocols.contains(&protocol)))
            && is_among(classes, class)
            && queue.is_none_or(|queue| is_among(queues, queue))
    }
}
