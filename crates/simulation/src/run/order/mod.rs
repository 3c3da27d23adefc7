//! The order checker: what hosts put on their links, compared packet by packet with what arrives at the other end.
//!
//! An oracle, so it is simple: it knows nothing of switches, mechanisms and transports, and looks at no sequence
//! number. A packet is known by its whole transport header. Two packets of a flow with equal headers cannot be told
//! apart; an arrival is then taken for the one that blames the network least.

mod path;

use std::collections::{BTreeMap, HashSet};

use hitless_core::engine::Pages;
use hitless_core::wire::{Duration, FlowId, HostId, Packet, TcpHeader, Time, Transport};

use crate::results::OrderCounts;
use path::PathOrder;

/// One flow: the packets of its two directions.
#[derive(Debug, Default, hitless_core::state::Value)]
struct FlowOrder {
    /// The host that sent first: where the data comes from.
    source: Option<HostId>,
    data: PathOrder,
    acknowledgements: PathOrder,
}

impl FlowOrder {
    fn path(&mut self, packet: &Packet) -> &mut PathOrder {
        if self.is_data(packet) { &mut self.data } else { &mut self.acknowledgements }
    }

    fn is_data(&mut self, packet: &Packet) -> bool {
        packet.source == *self.source.get_or_insert(packet.source)
    }
}

/// What the checker says of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowVerdict {
    /// Both directions together.
    pub counts: OrderCounts,
    /// The longest time between two packets of data that arrived, each for the first time.
    pub longest_gap: Duration,
    /// By how much the transit of a packet of data took longer or shorter than that of the one that arrived before it,
    /// mean:
    /// |D(i - 1, i)| of RFC 3550, section 6.4.1.
    pub jitter: Duration,
}

/// Packets of all flows.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(super) struct OrderChecker {
    flows: Pages<FlowOrder>,
    /// Of flows that were let go, all together.
    gone: OrderCounts,
}

/// What a packet is known by: its transport header without what switches change. No host has sent what a switch makes.
fn name_of(packet: &Packet) -> Option<Transport> {
    match packet.transport {
        Transport::None | Transport::CongestionNotice(_) => None,
        Transport::Tcp(header) => Some(Transport::Tcp(TcpHeader { congestion_option: 0, ..header })),
        other => Some(other),
    }
}

impl OrderChecker {
    /// A flow; `None`: it was let go.
    fn flow(&mut self, flow: FlowId) -> Option<&mut FlowOrder> {
        let index = flow.0 as usize;
        while index >= self.flows.len() {
            self.flows.push(FlowOrder::default());
        }
        self.flows.get_mut(index)
    }

    /// Looks at the direction of a packet.
    fn path(&mut self, packet: &Packet, look: impl FnOnce(&mut PathOrder)) {
        if let Some(flow) = self.flow(packet.flow) {
            look(flow.path(packet));
        }
    }

    /// A host puts a packet on its link.
    #[inline(never)]
    pub fn sent(&mut self, now: Time, packet: &Packet) {
        if let Some(name) = name_of(packet) {
            self.path(packet, |path| path.sent(now, name));
        }
    }

    /// A packet arrives at a host. One that comes without its payload is lost.
    #[inline(never)]
    pub fn arrived(&mut self, now: Time, packet: &Packet) {
        if let Some(name) = name_of(packet).filter(|_| !packet.is_trimmed()) {
            self.path(packet, |path| path.arrived(now, name));
        }
    }

    /// A flow has ended: what has arrived may be forgotten.
    pub fn ended(&mut self, flow: FlowId) {
        if let Some(flow) = self.flow(flow) {
            flow.data.forget();
            flow.acknowledgements.forget();
        }
    }

    /// No packet of a flow exists, or will, and what was said of it has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        let counts = self.verdict(flow).counts;
        self.gone = self.gone.plus(counts);
        if let Some(of) = self.flow(flow) {
            *of = FlowOrder::default();
            self.flows.let_go(flow.0 as usize);
        }
    }

    /// The packets that exist at the end of the run: they are not lost.
    pub fn still_exist<'a>(&mut self, packets: impl Iterator<Item = &'a Packet>) {
        let mut names: BTreeMap<(FlowId, bool), HashSet<Transport>> = BTreeMap::new();
        for packet in packets {
            let Some(name) = name_of(packet) else { continue };
            let Some(flow) = self.flow(packet.flow) else { continue };
            let is_data = flow.is_data(packet);
            names.entry((packet.flow, is_data)).or_default().insert(name);
        }
        for ((flow, is_data), names) in names {
            let Some(flow) = self.flow(flow) else { continue };
            let path = if is_data { &mut flow.data } else { &mut flow.acknowledgements };
            path.still_exist(&names);
        }
    }

    /// What became of the packets of a flow, once [`Self::still_exist`] has been told of all that exist.
    pub fn verdict(&self, flow: FlowId) -> FlowVerdict {
        let Some(flow) = self.flows.get(flow.0 as usize) else { return FlowVerdict::default() };
        let counts = flow.data.counts().plus(flow.acknowledgements.counts());
        FlowVerdict { counts, longest_gap: flow.data.longest_gap(), jitter: flow.data.jitter() }
    }

    /// All flows together.
    pub fn totals(&self) -> OrderCounts {
        let of_flow = |flow: &FlowOrder| flow.data.counts().plus(flow.acknowledgements.counts());
        self.flows.iter().map(|(_, flow)| of_flow(flow)).fold(self.gone, OrderCounts::plus)
    }
}
