//! The claims of mechanisms, and the places where they hold.

use std::collections::BTreeSet;

use hitless_core::wire::{Shim, ShimStack};
use serde::Deserialize;

use crate::network::topology::select::SwitchPort;
use crate::network::topology::{DirectedLink, SwitchId, Topology};

/// An action of a mechanism that can conflict with another mechanism at the same place. A single table among the cross
/// checks (`conflicts`) lists the pairs of claims that exclude each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Takes all frames of a link, and exchanges additional frames with its other end.
    OwnsLink,
    /// Chooses a different egress port for packets of these ports.
    ChoosesPort,
    /// Redirects packets of other ports to these ports when their queues refuse them, or would.
    SendsElsewhere,
    /// Sends packets on a detour that begins, passes or ends at these ports, depending on the depth of each port's
    /// single queue.
    Detours,
    /// Chooses the queue of all packets that leave through these ports.
    ChoosesQueue,
    /// Requires sorted queues.
    SortsQueues,
    /// Holds packets and decides the order of their departure.
    KeepsOrder,
    /// Drops packets before a queue refuses them.
    DropsEarly,
    /// Decides what happens to a packet that its queue has refused.
    DecidesOnDrop,
    /// Sends some packets ahead of earlier ones through a separate queue.
    JumpsTheQueue,
    /// Pauses the queues of data.
    PausesQueues,
    /// Sends notices to senders through a separate queue.
    NoticesToSenders,
    /// Writes metadata on packets in ingress that egress must know at once.
    WritesOnPackets,
    /// Sends copies of packets some time after the packets.
    SendsCopiesLate,
    /// Handles packets that routing sends to a port without a path, when they leave the queue there; routing must
    /// continue to send them to this port.
    RedirectsAtEgress,
}

/// The places where a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// At ports.
    Ports(BTreeSet<SwitchPort>),
    /// On links, and at the switches at their ends.
    Links(Vec<DirectedLink>),
    /// At all ports of switches.
    Switches(BTreeSet<SwitchId>),
}

/// A claim and its places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    pub claim: Claim,
    pub at: Places,
}

impl Claim {
    pub fn at_ports(self, ports: impl IntoIterator<Item = SwitchPort>) -> Claimed {
        Claimed { claim: self, at: Places::Ports(ports.into_iter().collect()) }
    }

    pub fn on_links(self, links: &[DirectedLink]) -> Claimed {
        Claimed { claim: self, at: Places::Links(links.to_vec()) }
    }

    pub fn on_switches(self, switches: &BTreeSet<SwitchId>) -> Claimed {
        Claimed { claim: self, at: Places::Switches(switches.clone()) }
    }
}

impl Places {
    /// Returns the links if this is a set of links, else an empty slice.
    pub fn links(&self) -> &[DirectedLink] {
        if let Self::Links(links) = self { links } else { &[] }
    }

    /// Returns the ports if this is a set of ports, else nothing.
    pub(crate) fn ports(&self) -> impl Iterator<Item = SwitchPort> + '_ {
        let ports = if let Self::Ports(ports) = self { Some(ports) } else { None };
        ports.into_iter().flatten().copied()
    }

    /// Returns the switches: those with the ports, or those at the ends of the links.
    pub(crate) fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        match self {
            Self::Ports(ports) => ports.iter().map(|port| port.switch).collect(),
            Self::Links(links) => switches_at_ends(topology, links),
            Self::Switches(switches) => switches.clone(),
        }
    }
}

/// Returns the switches at the ends of links; hosts are left out.
pub fn switches_at_ends(topology: &Topology, links: &[DirectedLink]) -> BTreeSet<SwitchId> {
    let ends = links.iter().map(|&link| topology.ends(link)).flat_map(|(from, to)| [from, to]);
    ends.filter_map(|end| end.node.switch()).collect()
}

/// Headers that a mechanism writes on a packet, and where packets carry them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Name of the headers in messages. Equal names mean the same headers: a mechanism that finds them on a packet does
    /// not add them again.
    pub of: &'static str,
    /// Length of the headers in the descriptor of a packet, including a byte for the kind of each.
    pub bytes: usize,
    /// Places where packets carry them.
    pub reach: Reach,
}

/// Places where packets carry a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Between all switches.
    Everywhere,
    /// At these ports, in addition to any other headers.
    Along(BTreeSet<SwitchPort>),
    /// At these ports, or on their links; a packet carries only one header with this reach at a time.
    OneHop(Vec<SwitchPort>),
}

impl Header {
    /// Describes a header of the type `S`.
    pub const fn of<S: Shim>(of: &'static str, reach: Reach) -> Self {
        Self { of, bytes: ShimStack::needed_bytes::<S>(), reach }
    }

    /// Adds another header of the type `S`.
    #[must_use]
    pub fn and<S: Shim>(self) -> Self {
        Self { bytes: self.bytes + ShimStack::needed_bytes::<S>(), ..self }
    }
}
