//! The edge of a fabric: absent in a simulation, the boundary to real nodes in a live run, or an observer.

use hitless_core::engine::{PacketHandle, PacketStore};
use hitless_core::wire::capture::FrameBytes;
use hitless_core::wire::link::LinkHeaderSet;
use hitless_core::wire::{Duration, FlowId, HostId, Packet, PortId, QueueId, ServiceKey, Time};
use hitless_hosts::{FlowRecords, HostStep};
use hitless_scenario::network::topology::{Node, Topology};
use hitless_scenario::{CapturedProtocol, Scenario};
use hitless_switch::{DropReason, Half, Stop, SwitchEvent, Verdict};

use crate::link::Fate;
use crate::results::Table;

/// The facts that captures need about a packet with a real frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RealFrame {
    /// `None` for a protocol that filters cannot name.
    pub protocol: Option<CapturedProtocol>,
    /// The same number at all places.
    pub identity: u64,
}

/// The way of a packet through a switch in one step.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    pub switch: u32,
    /// The port that sends it.
    pub port: PortId,
    pub flow: FlowId,
    pub frame_bytes: u32,
    /// Time of the frame on the port's line.
    pub transmission: Duration,
    pub last_bit_at: Time,
}

/// Interface between a run and the owner of the nodes that are not simulated.
///
/// It is a type parameter of the run, and every default method does nothing, so a simulation pays nothing for the hooks
/// of a live run.
pub trait Edge: Send {
    /// True without an edge: the run then skips the checks on arriving packets.
    const IS_CLOSED: bool = false;

    /// Whether it follows packets: the methods from [`Self::arrived`] on are then called.
    const OBSERVES: bool = false;

    /// Sets the time of the calls that follow.
    #[inline(always)]
    fn set_time(&mut self, _now: Time) {}

    /// The service of a packet whose flow is not in the scenario; `None` selects the service of its flow.
    #[inline(always)]
    fn service_key(&self, _packet: &Packet) -> Option<ServiceKey> {
        None
    }

    /// Whether a packet is a broadcast, which has no route.
    #[inline(always)]
    fn is_for_everyone(&self, _packet: &Packet) -> bool {
        false
    }

    /// Gives a broadcast packet a destination and returns the copies for the other nodes, which are in the store and
    /// have the same port of arrival. `None` discards the packet.
    #[inline(always)]
    fn resolve(
        &mut self,
        _switch: u32,
        _packet: PacketHandle,
        _packets: &mut PacketStore,
    ) -> Option<Vec<PacketHandle>> {
        Some(Vec::new())
    }

    /// Takes a packet at the end of a link to a node that is not simulated. The packet then leaves the run.
    #[inline(always)]
    fn takes(&mut self, _now: Time, _link: u32, _packet: PacketHandle, _packets: &PacketStore) -> bool {
        false
    }

    /// The frame of a packet that real nodes have sent; `None` for other packets.
    fn real_frame(&self, _packet: &Packet) -> Option<RealFrame> {
        None
    }

    /// The bytes of a packet on this link, or in a switch, for a capture; `None` if they follow from the packet alone.
    /// Without `is_whole` the payload is left out.
    fn frame_bytes(
        &self,
        _link: Option<u32>,
        _packet: &Packet,
        _spoken: &LinkHeaderSet,
        _is_whole: bool,
    ) -> Option<FrameBytes> {
        None
    }

    /// A link has lost a packet; the packet leaves the run.
    #[inline(always)]
    fn lost(&mut self, _link: u32, _packet: PacketHandle, _packets: &PacketStore, _fate: Fate) {}

    /// A switch sends a packet.
    #[inline(always)]
    fn transmitted(
        &mut self,
        _switch: u32,
        _port: PortId,
        _packet: PacketHandle,
        _packets: &PacketStore,
        _last_bit_at: Time,
    ) {
    }

    /// A mechanism of a switch has created a packet: a copy, or a control packet.
    #[inline(always)]
    fn created(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore) {}

    /// A packet has ended in a switch and leaves the run.
    #[inline(always)]
    fn ended(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore, _reason: DropReason) {}

    /// A hook of a switch has returned a verdict other than "continue".
    #[inline(always)]
    fn decided(&mut self, _switch: u32, _packet: PacketHandle, _packets: &PacketStore, _half: Half, _verdict: Verdict) {
    }

    /// A frame has arrived at the end of a link, before its fate is known.
    #[inline(always)]
    fn arrived(&mut self, _packet: PacketHandle, _at: Node) {}

    /// A frame has arrived at the end of a link, and the switch has sent it on at once. Replaces [`Self::arrived`] and
    /// [`Self::transmitted`].
    #[inline(always)]
    fn passed(&mut self, _packet: PacketHandle, _passage: Passage, _packets: &PacketStore) {}

    /// The network card of a host has taken a packet; its last bit leaves at `last_bit_at`.
    #[inline(always)]
    fn left_host(&mut self, _host: HostId, _packet: PacketHandle, _packets: &PacketStore, _last_bit_at: Time) {}

    /// The network card of a host has refused a packet.
    #[inline(always)]
    fn refused_by_card(&mut self, _host: HostId, _packet: PacketHandle, _packets: &PacketStore) {}

    /// A switch has scheduled an event.
    #[inline(always)]
    fn scheduled(&mut self, _switch: u32, _at: Time, _event: SwitchEvent, _packets: &PacketStore) {}

    /// Hooks have run for a packet; see [`hitless_switch::Environment::hook_ran`].
    #[inline(always)]
    fn hook_ran(&mut self, _packet: PacketHandle) {}

    /// A queue has stopped, or is served again.
    #[inline(always)]
    fn stopped(&mut self, _queue: (u32, PortId, QueueId), _by: Stop) {}

    /// A flow makes a step at its hosts.
    #[inline(always)]
    fn host_step(&mut self, _step: HostStep, _packets: &PacketStore) {}

    /// A flow of this group has been added; flows are numbered in this order.
    #[inline(always)]
    fn flow_added(&mut self, _group: u32) {}

    /// Both ends of a flow have ended.
    #[inline(always)]
    fn flow_ended(&mut self, _flow: FlowId) {}

    /// Contradictions between the observer and the records of flows, at the end of the run.
    fn violations(&self, _records: &FlowRecords) -> Vec<String> {
        Vec::new()
    }

    /// The tables of the observer.
    fn tables(&self, _scenario: &Scenario, _topology: &Topology) -> Vec<Table> {
        Vec::new()
    }
}

/// No edge: every node is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Closed;

impl Edge for Closed {
    const IS_CLOSED: bool = true;
}
