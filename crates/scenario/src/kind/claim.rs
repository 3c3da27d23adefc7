//! What mechanisms claim, and where.

use std::collections::BTreeSet;

use hitless_core::wire::{Shim, ShimStack};
use serde::Deserialize;

use crate::network::topology::select::SwitchPort;
use crate::network::topology::{DirectedLink, SwitchId, Topology};

/// What a mechanism does that another may not do at the same place, or does not go with what another does. Which pairs
/// do not go together is one table, that of conflicts among the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// Takes all frames of a link, and speaks with its other end by frames of its own.
    OwnsLink,
    /// Chooses the port of packets that were to leave by these.
    ChoosesPort,
    /// Sends packets that were to leave by other ports to these instead: what their queues refuse, or would.
    SendsElsewhere,
    /// Sends packets by a detour that begins, passes or ends at these ports, by the depth of the one queue of each.
    Detours,
    /// Chooses the queue of all packets that leave by these ports.
    ChoosesQueue,
    /// Has queues sorted.
    SortsQueues,
    /// Keeps packets, and sends them in an order of its own keeping.
    KeepsOrder,
    /// Gives packets up before a queue refuses them.
    DropsEarly,
    /// Decides what becomes of a packet that its queue has refused.
    DecidesOnDrop,
    /// Has packets leave ahead of those that came before, by a queue of their own.
    JumpsTheQueue,
    /// Pauses the queues of data.
    PausesQueues,
    /// Sends notices to senders, by a queue of their own.
    NoticesToSenders,
    /// Writes on packets in ingress what egress is to know at once.
    WritesOnPackets,
    /// Sends copies of packets some time after the packets.
    SendsCopiesLate,
    /// Takes care of packets that routing sends to a port without a path, when they leave the queue there: routing is
    /// to go on sending them.
    RedirectsAtEgress,
}

/// Where a claim holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// At ports.
    Ports(BTreeSet<SwitchPort>),
    /// On links, and at the switches at their ends.
    Links(Vec<DirectedLink>),
    /// At all ports of switches.
    Switches(BTreeSet<SwitchId>),
}

/// A claim and where it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// What is claimed.
    pub claim: Claim,
    /// Where.
    pub at: Places,
}

impl Claim {
    /// It holds at these ports.
    pub fn at_ports(self, ports: impl IntoIterator<Item = SwitchPort>) -> Claimed {
        Claimed { claim: self, at: Places::Ports(ports.into_iter().collect()) }
    }

    /// It holds on these links.
    pub fn on_links(self, links: &[DirectedLink]) -> Claimed {
        Claimed { claim: self, at: Places::Links(links.to_vec()) }
    }

    /// It holds on all of these switches.
    pub fn on_switches(self, switches: &BTreeSet<SwitchId>) -> Claimed {
        Claimed { claim: self, at: Places::Switches(switches.clone()) }
    }
}

impl Places {
    /// The links, as far as the claim is one of links.
    pub fn links(&self) -> &[DirectedLink] {
        if let Self::Links(links) = self { links } else { &[] }
    }

    /// The ports, as far as the claim is one of ports.
    pub(crate) fn ports(&self) -> impl Iterator<Item = SwitchPort> + '_ {
        let ports = if let Self::Ports(ports) = self { Some(ports) } else { None };
        ports.into_iter().flatten().copied()
    }

    /// The switches: those with the ports, and those at the ends of the links.
    pub(crate) fn switches(&self, topology: &Topology) -> BTreeSet<SwitchId> {
        match self {
            Self::Ports(ports) => ports.iter().map(|port| port.switch).collect(),
            Self::Links(links) => switches_at_ends(topology, links),
            Self::Switches(switches) => switches.clone(),
        }
    }
}

/// The switches at the ends of links; an end that is a host is left out.
pub fn switches_at_ends(topology: &Topology, links: &[DirectedLink]) -> BTreeSet<SwitchId> {
    let ends = links.iter().map(|&link| topology.ends(link)).flat_map(|(from, to)| [from, to]);
    ends.filter_map(|end| end.node.switch()).collect()
}

/// Headers that a mechanism writes on a packet, and where the packet bears them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// What they are, as messages call it. Headers of one name are the same headers: whoever finds them there writes
    /// no others.
    pub of: &'static str,
    /// Their length in the descriptor of a packet, each with the byte of its kind.
    pub bytes: usize,
    /// Where packets bear them.
    pub reach: Reach,
}

/// Where packets bear a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach {
    /// From switch to switch, wherever they go.
    Everywhere,
    /// At these ports, whatever else packets bear there.
    Along(BTreeSet<SwitchPort>),
    /// At these ports, or on the links of these: a packet bears one header of this reach at a time.
    OneHop(Vec<SwitchPort>),
}

impl Header {
    /// A header of the type `S`.
    pub const fn of<S: Shim>(of: &'static str, reach: Reach) -> Self {
        Self { of, bytes: ShimStack::needed_bytes::<S>(), reach }
    }

    /// Another beside it, of the type `S`.
    #[must_use]
    pub fn and<S: Shim>(self) -> Self {
        Self { bytes: self.bytes + ShimStack::needed_bytes::<S>(), ..self }
    }
}
