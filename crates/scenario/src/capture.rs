//! `[[measure.capture]]`: packets as a file for Wireshark and tcpdump.

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::wire::{Time, Transport};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::topology::select::{SwitchPort, select_links, select_ports};
use crate::network::topology::{DirectedLink, Node, SwitchId, Topology};
use hitless_core::wire::HostId;

/// Default of `limit`: a file of about 80 MB. Wireshark's guide calls files above 100 MB slow.
const LIMIT_PACKETS: u64 = 500_000;
/// Stands for all places of a kind.
const ALL: &str = "*";

/// A protocol of captured packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CapturedProtocol {
    /// TCP.
    Tcp,
    /// Datagrams of constant-rate flows.
    Udp,
    /// RoCEv2.
    Roce,
    /// Packet-pair flow control.
    PacketPair,
    /// Spraying connections.
    Uet,
    /// Packets that switches create: pause frames, messages of mechanisms, notices of congestion.
    Control,
}

impl CapturedProtocol {
    pub const fn of(transport: &Transport) -> Self {
        match transport {
            Transport::None | Transport::CongestionNotice(_) => Self::Control,
            Transport::Tcp(_) => Self::Tcp,
            Transport::Udp(_) => Self::Udp,
            Transport::Roce(_) => Self::Roce,
            Transport::PacketPair(_) => Self::PacketPair,
            Transport::Uet(_) => Self::Uet,
        }
    }
}

/// Packets in a pcapng file, NAME.pcapng in the folder of results. Headers are complete, with correct checksums; the
/// payload is zeros and left out. A lab captures real frames. Times are in nanoseconds since the start of the run, and
/// each place is an interface of the file. At least one place is needed; "*" is all places of a kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PacketCapture {
    /// Name of the file.
    #[serde(default = "packets")]
    pub name: String,
    /// Hosts: the frames that the network card sends, when the last bit has left, and receives; and packets that do not
    /// fit into the card's queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Links, each in one direction "sw2->sw6" or in both "sw2<->sw6": the frames at the end of the link. Corrupted
    /// frames, and frames lost because the link was down, have a comment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<String>,
    /// Ports of switches, each named by the link that it sends on, "sw2->sw6", or all ports of a switch, "sw2": the
    /// frames that leave, when the last bit has left, and the packets that the port's queues drop, with the reason as a
    /// comment. Frames that have not arrived when the run ends are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<String>,
    /// Switches: all packets that end in the switch, with the reason as a comment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub switches: Vec<String>,
    /// Only packets of these groups of flows. A lab has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Only packets of these protocols.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub protocols: Vec<CapturedProtocol>,
    /// Only packets of these traffic classes, 0 to 7.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub classes: Vec<u8>,
    /// At `ports`: only packets of these queues.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queues: Vec<u8>,
    /// Only packets that are lost.
    #[serde(default)]
    pub dropped_only: bool,
    /// Start of the capture.
    #[serde(default, with = "Text::<Time>")]
    pub from: Time,
    /// End of the capture; left out: the end of the run.
    #[serde(default, with = "Optional::<Time>", skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
    /// Maximum number of packets in the file. A warning of the run counts the others.
    #[serde(default = "limit_packets")]
    #[schemars(range(min = 1), extend("x-default" = "500000: a file of about 80 MB"))]
    pub limit: u64,
    /// Whether payloads are kept, so that a reader can verify all checksums.
    #[serde(default)]
    pub payload: bool,
}

fn packets() -> String {
    "packets".to_owned()
}

const fn limit_packets() -> u64 {
    LIMIT_PACKETS
}

/// A place of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CapturedPlace {
    /// The network card of a host.
    Host(HostId),
    /// The end of a link.
    Link(DirectedLink),
    /// A port of a switch.
    Port(SwitchPort),
    /// All packets that end in a switch.
    Switch(SwitchId),
}

impl PacketCapture {
    pub const fn has_place(&self) -> bool {
        !(self.hosts.is_empty() && self.links.is_empty() && self.ports.is_empty() && self.switches.is_empty())
    }

    /// Returns the places by kind and in order, each once. Calls `unknown` with each unknown name, its field, and the
    /// broken rule.
    pub fn places(&self, topology: &Topology, mut unknown: impl FnMut(&str, String, String)) -> Vec<CapturedPlace> {
        type Select = fn(&Topology, &str) -> Result<Vec<CapturedPlace>, String>;
        let kinds: [(&str, &[String], Select); 4] = [
            ("hosts", &self.hosts, hosts),
            ("links", &self.links, links),
            ("ports", &self.ports, ports),
            ("switches", &self.switches, switches),
        ];
        let mut places = Vec::new();
        for (field, names, select) in kinds {
            for (index, name) in names.iter().enumerate() {
                match select(topology, name) {
                    Ok(found) => places.extend(found),
                    Err(rule) => unknown(name, format!("{field}[{index}]"), rule),
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

fn hosts(topology: &Topology, name: &str) -> Result<Vec<CapturedPlace>, String> {
    match topology.node(name) {
        _ if name == ALL => Ok(topology.host_ids().map(CapturedPlace::Host).collect()),
        Some(Node::Host(host)) => Ok(vec![CapturedPlace::Host(host)]),
        Some(Node::Switch(_)) => Err(format!("'{name}' is a switch; its packets are captured at ports or links")),
        None => Err(format!("there is no host '{name}'")),
    }
}

fn links(topology: &Topology, name: &str) -> Result<Vec<CapturedPlace>, String> {
    let links = match name {
        ALL => (0..2 * topology.links.len()).map(DirectedLink::from_index).collect(),
        name => select_links(topology, name)?,
    };
    Ok(links.into_iter().map(CapturedPlace::Link).collect())
}

fn ports(topology: &Topology, name: &str) -> Result<Vec<CapturedPlace>, String> {
    if name == ALL {
        return topology
            .switches
            .iter()
            .try_fold(Vec::new(), |all, switch| Ok([all, ports(topology, &switch.name)?].concat()));
    }
    Ok(select_ports(topology, name)?.into_iter().map(CapturedPlace::Port).collect())
}

fn switches(topology: &Topology, name: &str) -> Result<Vec<CapturedPlace>, String> {
    match topology.node(name) {
        _ if name == ALL => Ok(topology.switch_ids().map(CapturedPlace::Switch).collect()),
        Some(Node::Switch(switch)) => Ok(vec![CapturedPlace::Switch(switch)]),
        Some(Node::Host(_)) => Err(format!("'{name}' is a host")),
        None => Err(format!("there is no switch '{name}'")),
    }
}
