//! Which packets switches lost: by switch, group of flows and reason, and by flow.

use hitless_network::topology::Topology;
use hitless_scenario::FlowGroup;
use hitless_switch::DropReason;
use hitless_wire::FlowId;

use crate::results::Table;

/// Packets and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    pub packets: u64,
    pub bytes: u64,
}

hitless_state::value!(Lost { packets, bytes });

impl Lost {
    fn add(&mut self, frame_bytes: u32) {
        self.packets += 1;
        self.bytes += u64::from(frame_bytes);
    }
}

/// What was lost in switches.
pub(super) struct DropLedger {
    /// By flow: its group.
    group_of: Vec<u32>,
    /// Groups, and one more for packets that belong to no flow.
    columns: usize,
    /// By switch, group and reason.
    entries: Vec<Lost>,
    /// By flow, as far as any has lost a packet.
    of_flows: Vec<Lost>,
}

hitless_state::state!(DropLedger { values: group_of, entries, of_flows; configured: columns });

impl DropLedger {
    pub fn new(switches: usize, groups: usize) -> Self {
        let columns = groups + 1;
        let entries = vec![Lost::default(); switches * columns * DropReason::COUNT];
        Self { group_of: Vec::new(), columns, entries, of_flows: Vec::new() }
    }

    /// The next flow is of this group.
    pub fn add_flow(&mut self, group: usize) {
        self.group_of.push(group as u32);
    }

    /// A switch has lost a packet, of a flow or of its own.
    pub fn note(&mut self, switch: u32, flow: Option<FlowId>, reason: DropReason, frame_bytes: u32) {
        debug_assert!(reason.is_loss(), "what ends without loss is no drop: {reason:?}");
        let group = flow.map_or(self.columns - 1, |flow| self.group_of[flow.0 as usize] as usize);
        let place = (switch as usize * self.columns + group) * DropReason::COUNT + reason as usize;
        self.entries[place].add(frame_bytes);
        if let Some(flow) = flow {
            let index = flow.0 as usize;
            if index >= self.of_flows.len() {
                self.of_flows.resize(index + 1, Lost::default());
            }
            self.of_flows[index].add(frame_bytes);
        }
    }

    /// Takes over what the switches of another partition have lost.
    pub fn merge(&mut self, other: Self) {
        let add = |own: &mut Vec<Lost>, other: Vec<Lost>| {
            if own.len() < other.len() {
                own.resize(other.len(), Lost::default());
            }
            for (own, other) in own.iter_mut().zip(other) {
                own.packets += other.packets;
                own.bytes += other.bytes;
            }
        };
        add(&mut self.entries, other.entries);
        add(&mut self.of_flows, other.of_flows);
    }

    /// What the switches have lost of a flow, data and acknowledgements, copies included.
    pub fn of_flow(&self, flow: FlowId) -> Lost {
        self.of_flows.get(flow.0 as usize).copied().unwrap_or_default()
    }

    /// Switch, group (none: packets of no flow), reason and what was lost, where anything was.
    fn rows(&self) -> impl Iterator<Item = (usize, Option<usize>, DropReason, Lost)> + '_ {
        let entries = self.entries.iter().enumerate().filter(|(_, lost)| lost.packets > 0);
        entries.map(|(place, &lost)| {
            let (of, reason) = (place / DropReason::COUNT, DropReason::ALL[place % DropReason::COUNT]);
            let group = Some(of % self.columns).filter(|&group| group + 1 < self.columns);
            (of / self.columns, group, reason, lost)
        })
    }

    /// The table of what switches lost.
    pub fn table(&self, topology: &Topology, groups: &[FlowGroup]) -> Table {
        let rows: Vec<_> = self.rows().collect();
        let group = |group: Option<usize>| group.map_or(String::new(), |group| groups[group].name.clone());
        Table::new("drops")
            .text("switch", &rows, |row| topology.switches[row.0].name.clone())
            .text("group", &rows, |row| group(row.1))
            .text("reason", &rows, |row| row.2.name().to_owned())
            .unsigned("packets", &rows, |row| row.3.packets)
            .unsigned("bytes", &rows, |row| row.3.bytes)
    }
}
