//! Ledger of packets lost in switches and in the hosts' network cards: by place, group and reason, and by flow.

use std::collections::BTreeMap;

use hitless_core::engine::Pages;
use hitless_core::wire::{FlowId, HostId};
use hitless_scenario::FlowGroup;
use hitless_scenario::network::topology::Topology;
use hitless_switch::DropReason;

use crate::results::Table;

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

/// Losses of a flow: in switches, and in its hosts' network cards.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct OfFlow {
    group: u32,
    lost: Lost,
    refused_by_nic: u64,
}

/// The name of this host drop in tables and summaries.
pub(super) const NETWORK_CARD_FULL: &str = "network card full";

/// Losses in switches and in the hosts' network cards.
#[derive(hitless_core::state::State)]
pub(super) struct DropLedger {
    /// Number of groups, plus one for packets without a flow.
    #[configured]
    columns: usize,
    /// By switch, group and reason.
    entries: Vec<Lost>,
    /// By host and group.
    of_hosts: BTreeMap<(u32, u32), Lost>,
    of_flows: Pages<OfFlow>,
}

impl DropLedger {
    pub fn new(switches: usize, groups: usize) -> Self {
        let columns = groups + 1;
        let entries = vec![Lost::default(); switches * columns * DropReason::COUNT];
        Self { columns, entries, of_hosts: BTreeMap::new(), of_flows: Pages::default() }
    }

    /// Adds the next flow, which belongs to this group.
    pub fn add_flow(&mut self, group: usize) {
        self.of_flows.push(OfFlow { group: group as u32, lost: Lost::default(), refused_by_nic: 0 });
    }

    /// Counts a packet lost in a switch: one of a flow, or a control packet of a switch.
    pub fn note(&mut self, switch: u32, flow: Option<FlowId>, reason: DropReason, frame_bytes: u32) {
        assert!(reason.is_loss(), "what ends without loss is no drop: {reason:?}");
        // Packets of a freed flow no longer exist, except those that a mechanism rebuilds from memory. These count for
        // no flow.
        let of_flow = flow.and_then(|flow| self.of_flows.get_mut(flow.0 as usize));
        let group = of_flow.as_ref().map_or(self.columns - 1, |of| of.group as usize);
        if let Some(of) = of_flow {
            of.lost.add(frame_bytes);
        }
        let place = (switch as usize * self.columns + group) * DropReason::COUNT + reason as usize;
        self.entries[place].add(frame_bytes);
    }

    /// Counts a packet that found a host's network card full.
    pub fn note_at_host(&mut self, host: HostId, flow: FlowId, frame_bytes: u32) {
        let Some(of) = self.of_flows.get_mut(flow.0 as usize) else { return };
        of.refused_by_nic += 1;
        self.of_hosts.entry((host.0, of.group)).or_default().add(frame_bytes);
    }

    /// Adds the losses of another partition.
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

    /// Losses of a flow in switches: data, acknowledgements and copies.
    pub fn of_flow(&self, flow: FlowId) -> Lost {
        self.of_flows.get(flow.0 as usize).map_or(Lost::default(), |of| of.lost)
    }

    /// Number of the flow's packets that found a network card full.
    pub fn refused_by_nic(&self, flow: FlowId) -> u64 {
        self.of_flows.get(flow.0 as usize).map_or(0, |of| of.refused_by_nic)
    }

    /// Frees a flow without remaining packets, after its losses have been handed over.
    pub fn let_go(&mut self, flow: FlowId) {
        self.of_flows.let_go(flow.0 as usize);
    }

    /// All nonzero entries: switch, group (`None` for packets without a flow), reason and losses.
    fn of_switches(&self) -> impl Iterator<Item = (usize, Option<usize>, DropReason, Lost)> + '_ {
        let entries = self.entries.iter().enumerate().filter(|(_, lost)| lost.packets > 0);
        entries.map(|(place, &lost)| {
            let (of, reason) = (place / DropReason::COUNT, DropReason::ALL[place % DropReason::COUNT]);
            let group = Some(of % self.columns).filter(|&group| group + 1 < self.columns);
            (of / self.columns, group, reason, lost)
        })
    }

    /// The table of losses; each row names a switch or a host.
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
