//! The order checker: compares packets sent by hosts with packets that arrive at the other end.
//!
//! It is a test oracle, so it is simple: it ignores switches, mechanisms and transports, and compares no sequence
//! numbers. The whole transport header identifies a packet. If several packets of a flow have equal headers, an arrival
//! is matched with the packet that yields the best verdict for the network.

mod path;

use std::collections::{BTreeMap, HashSet};

use hitless_core::engine::Pages;
use hitless_core::wire::{Duration, FlowId, HostId, Packet, TcpHeader, Time, Transport};

use crate::results::OrderCounts;
use path::PathOrder;

/// The packets of a flow in both directions.
#[derive(Debug, Default, hitless_core::state::Value)]
struct FlowOrder {
    /// The host that sent first, which is the source of the data.
    source: Option<HostId>,
    data: PathOrder,
    acknowledgements: PathOrder,
}

impl FlowOrder {
    fn path(&mut self, packet: &Packet) -> &mut PathOrder {
        if self.note_source(packet) { &mut self.data } else { &mut self.acknowledgements }
    }

    /// Notes the source of the first packet; returns whether this packet is data.
    fn note_source(&mut self, packet: &Packet) -> bool {
        packet.source == *self.source.get_or_insert(packet.source)
    }
}

/// The checker's verdict on a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FlowVerdict {
    /// Both directions together.
    pub counts: OrderCounts,
    /// The longest time between two first arrivals of data packets.
    pub longest_gap: Duration,
    /// Mean absolute difference between the transit times of consecutive first arrivals of data packets: |D(i - 1, i)|
    /// of RFC 3550, section 6.4.1.
    pub jitter: Duration,
}

/// The order checker for all flows.
#[derive(Debug, Default, hitless_core::state::Value)]
pub(super) struct OrderChecker {
    flows: Pages<FlowOrder>,
    /// Sum over all freed flows.
    gone: OrderCounts,
}

/// The identity of a packet: its transport header without the field that switches change. `None` for packets that
/// switches create.
fn name_of(packet: &Packet) -> Option<Transport> {
    match packet.transport {
        Transport::None | Transport::CongestionNotice(_) => None,
        Transport::Tcp(header) => Some(Transport::Tcp(TcpHeader { congestion_option: 0, ..header })),
        other => Some(other),
    }
}

impl OrderChecker {
    /// The state of a flow; `None` if it was freed.
    fn flow(&mut self, flow: FlowId) -> Option<&mut FlowOrder> {
        let index = flow.0 as usize;
        while index >= self.flows.len() {
            self.flows.push(FlowOrder::default());
        }
        self.flows.get_mut(index)
    }

    /// Applies `look` to the direction of a packet.
    fn path(&mut self, packet: &Packet, look: impl FnOnce(&mut PathOrder)) {
        if let Some(flow) = self.flow(packet.flow) {
            look(flow.path(packet));
        }
    }

    /// A host has put a packet on its link.
    #[inline(never)]
    pub fn sent(&mut self, now: Time, packet: &Packet) {
        if let Some(name) = name_of(packet) {
            self.path(packet, |path| path.sent(now, name));
        }
    }

    /// A packet has arrived at a host. A trimmed packet counts as lost.
    #[inline(never)]
    pub fn arrived(&mut self, now: Time, packet: &Packet) {
        if let Some(name) = name_of(packet).filter(|_| !packet.is_trimmed()) {
            self.path(packet, |path| path.arrived(now, name));
        }
    }

    /// A flow has ended: forgets its delivered packets.
    pub fn ended(&mut self, flow: FlowId) {
        if let Some(flow) = self.flow(flow) {
            flow.data.forget();
            flow.acknowledgements.forget();
        }
    }

    /// Frees a flow without remaining packets, after its verdict has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        let counts = self.verdict(flow).counts;
        self.gone = self.gone.plus(counts);
        if let Some(of) = self.flow(flow) {
            *of = FlowOrder::default();
            self.flows.let_go(flow.0 as usize);
        }
    }

    /// Marks the packets that still exist at the end of the run: they are in flight, not lost.
    pub fn still_exist<'a>(&mut self, packets: impl Iterator<Item = &'a Packet>) {
        let mut names: BTreeMap<(FlowId, bool), HashSet<Transport>> = BTreeMap::new();
        for packet in packets {
            let Some(name) = name_of(packet) else { continue };
            let Some(flow) = self.flow(packet.flow) else { continue };
            let is_data = flow.note_source(packet);
            names.entry((packet.flow, is_data)).or_default().insert(name);
        }
        for ((flow, is_data), names) in names {
            let Some(flow) = self.flow(flow) else { continue };
            let path = if is_data { &mut flow.data } else { &mut flow.acknowledgements };
            path.still_exist(&names);
        }
    }

    /// The verdict on a flow, final after [`Self::still_exist`].
    pub fn verdict(&self, flow: FlowId) -> FlowVerdict {
        let Some(flow) = self.flows.get(flow.0 as usize) else { return FlowVerdict::default() };
        let counts = flow.data.counts().plus(flow.acknowledgements.counts());
        FlowVerdict { counts, longest_gap: flow.data.longest_gap(), jitter: flow.data.jitter() }
    }

    /// The counts of all flows.
    pub fn totals(&self) -> OrderCounts {
        let of_flow = |flow: &FlowOrder| flow.data.counts().plus(flow.acknowledgements.counts());
        self.flows.iter().map(|(_, flow)| of_flow(flow)).fold(self.gone, OrderCounts::plus)
    }
}
