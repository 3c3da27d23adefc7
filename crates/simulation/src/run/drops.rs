//! Packets lost in switches and in the network cards of their hosts: by place, group of flows and reason, and by flow.

use std::collections::BTreeMap;

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, HostId};
use hitless_scenario::FlowGroup;
use hitless_scenario::network::topology::Topology;
use hitless_switch::DropReason;

use crate::results::Table;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, hitless_core::state::Value)]
pub(super) struct Lost {
    pub packets: u64,
    pub bytes: u64,
}

impl Lost {
    fn add(&mut self, frame_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(frame_bytes);
    }

    pub fn plus(self, other: Lost) -> Lost {
        Lost { packets: self.packets + other.packets, bytes: self.bytes + other.bytes }
    }
}

/// A flow: its group, what switches lost of it, and packets that the cards of its own hosts had no room for.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct OfFlow {
    group: u32,
    lost: Lost,
    refused_by_nic: u64,
}

/// Why a host's own card loses a packet, as tables and summaries name it.
pub(super) const NETWORK_CARD_FULL: &str = "network card full";

/// What was lost in switches and in the cards of hosts.
pub(super) struct DropLedger {
    /// Groups, and one more for packets that belong to no flow.
    columns: usize,
    /// By switch, group and reason.
    entries: Vec<Lost>,
    /// By host and group.
    of_hosts: BTreeMap<(u32, u32), Lost>,
    of_flows: Pages<OfFlow>,
}

hitless_core::state!(DropLedger { values: entries, of_hosts, of_flows; configured: columns });

impl DropLedger {
    pub fn new(switches: usize, groups: usize) -> Self {
        let columns = groups + 1;
        let entries = vec![Lost::default(); switches * columns * DropReason::COUNT];
        Self { columns, entries, of_hosts: BTreeMap::new(), of_flows: Pages::default() }
    }

    /// The next flow is of this group.
    pub fn add_flow(&mut self, group: usize) {
        self.of_flows.push(OfFlow { group: group as u32, lost: Lost::default(), refused_by_nic: 0 });
    }

    /// A switch has lost a packet, of a flow or of its own.
    pub fn note(&mut self, switch: u32, flow: Option<FlowId>, reason: DropReason, frame_bytes: u32) {
        debug_assert!(reason.is_loss(), "what ends without loss is no drop: {reason:?}");
        // Of a flow that was let go there is no packet, unless a mechanism makes one of what it has remembered: that
        // one counts for no flow.
        let of_flow = flow.and_then(|flow| self.of_flows.get_mut(flow.0 as usize));
        let group = of_flow.as_ref().map_or(self.columns - 1, |of| of.group as usize);
        if let Some(of) = of_flow {
            of.lost.add(frame_bytes);
        }
        let place = (switch as usize * self.columns + group) * DropReason::COUNT + reason as usize;
        self.entries[place].add(frame_bytes);
    }

    /// The card of a host has had no room for a packet.
    pub fn note_at_host(&mut self, host: HostId, flow: FlowId, frame_bytes: u32) {
        let Some(of) = self.of_flows.get_mut(flow.0 as usize) else { return };
        of.refused_by_nic += 1;
        self.of_hosts.entry((host.0, of.group)).or_default().add(frame_bytes);
    }

    /// Takes over what was lost in another partition.
    pub fn merge(&mut self, other: Self) {
        self.entries.iter_mut().zip(&other.entries).for_each(|(own, &other)| *own = own.plus(other));
        for (&place, &lost) in &other.of_hosts {
            let own = self.of_hosts.entry(place).or_default();
            *own = own.plus(lost);
        }
        for (flow, own) in self.of_flows.iter_mut() {
            own.lost = own.lost.plus(other.of_flow(FlowId(flow as u32)));
            own.refused_by_nic += other.refused_by_nic(FlowId(flow as u32));
        }
    }

    /// What the switches have lost of a flow, data and acknowledgements, copies included.
    pub fn of_flow(&self, flow: FlowId) -> Lost {
        self.of_flows.get(flow.0 as usize).map_or(Lost::default(), |of| of.lost)
    }

    /// Packets of a flow that the cards of its hosts had no room for.
    pub fn refused_by_nic(&self, flow: FlowId) -> u64 {
        self.of_flows.get(flow.0 as usize).map_or(0, |of| of.refused_by_nic)
    }

    /// No packet of a flow exists, or will, and what was lost of it has been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.of_flows.let_go(flow.0 as usize);
    }

    /// Switch, group (none: packets of no flow), reason and what was lost, where anything was.
    fn of_switches(&self) -> impl Iterator<Item = (usize, Option<usize>, DropReason, Lost)> + '_ {
        let entries = self.entries.iter().enumerate().filter(|(_, lost)| lost.packets > 0);
        entries.map(|(place, &lost)| {
            let (of, reason) = (place / DropReason::COUNT, DropReason::ALL[place % DropReason::COUNT]);
            let group = Some(of % self.columns).filter(|&group| group + 1 < self.columns);
            (of / self.columns, group, reason, lost)
        })
    }

    /// The table of what was lost: a row has a switch or a host.
    pub fn table(&self, topology: &Topology, groups: &[FlowGroup]) -> Table {
        let name_of = |group: usize| groups[group].name.clone();
        let at_switch = |(switch, group, reason, lost): (usize, Option<usize>, DropReason, Lost)| {
            let switch = topology.switches[switch].name.clone();
            (switch, String::new(), group.map_or(String::new(), name_of), reason.name(), lost)
        };
        let at_host = |(&(host, group), &lost): (&(u32, u32), &Lost)| {
            let host = topology.host(HostId(host)).name.clone();
            (String::new(), host, name_of(group as usize), NETWORK_CARD_FULL, lost)
        };
        let rows: Vec<_> = self.of_switches().map(at_switch).chain(self.of_hosts.iter().map(at_host)).collect();
        Table::new("drops")
            .text("switch", &rows, |row| row.0.clone())
            .text("host", &rows, |row| row.1.clone())
            .text("group", &rows, |row| row.2.clone())
            .text("reason", &rows, |row| row.3.to_owned())
            .unsigned("packets", &rows, |row| row.4.packets)
            .unsigned("bytes", &rows, |row| row.4.bytes)
    }
}
