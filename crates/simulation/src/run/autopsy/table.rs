//! The tables of the autopsy: a row for each delivered message, and the frames in front of its longest wait.

use hitless_core::wire::PortId;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::{DirectedLink, Topology};

use super::front::{Front, Row, Tally};
use super::kind::Makers;
use super::ledger::Delivered;
use super::parts::{COLUMNS, Cause, Loss, Part, Place};
use super::rare::RareLedgers;
use crate::results::Table;

/// The delivered messages, in the order of delivery, and the names in their rows.
pub(super) struct Delivery<'a> {
    pub delivered: &'a [Delivered],
    pub rares: &'a RareLedgers,
    pub fronts: &'a [Front],
    pub tally: &'a Tally,
    pub makers: &'a Makers,
    /// Ports of a switch in the numbers of ports.
    pub stride: usize,
}

impl Delivery<'_> {
    pub fn tables(&self, scenario: &Scenario, topology: &Topology) -> Vec<Table> {
        let is_measured = |row: &&Delivered| row.ledger.origin >= scenario.warmup;
        let rows: Vec<&Delivered> = self.delivered.iter().filter(is_measured).collect();
        vec![self.parts(&rows, scenario, topology), self.front_rows(&rows, scenario)]
    }

    fn parts(&self, rows: &[&Delivered], scenario: &Scenario, topology: &Topology) -> Table {
        let rares = self.rares;
        let mut table = Table::new("autopsy")
            .unsigned("flow", rows, |row| row.flow.0.into())
            .text("group", rows, |row| scenario.flows[row.group as usize].name.clone())
            .unsigned("number", rows, |row| row.number)
            .unsigned("bytes", rows, |row| row.bytes)
            .time("started_ps", rows, |row| row.ledger.origin)
            .time("delivered_ps", rows, |row| row.ledger.at);
        for (part, column) in COLUMNS.into_iter().enumerate() {
            table = table.unsigned(column, rows, |row| row.ledger.parts(rares.of(row.ledger.rare))[part]);
        }
        let recovery = |row: &&Delivered| rares.of(row.ledger.rare).longest_recovery;
        let loss = |row: &&Delivered| recovery(row).and_then(|recovery| recovery.loss);
        table
            .unsigned("round_trips", rows, |row| row.ledger.round_trips.into())
            .unsigned("earlier_rounds_ps", rows, |row| (row.ledger.round_began - row.ledger.origin).as_ps())
            .text("longest_queue", rows, |row| self.longest_queue(topology, row))
            .unsigned("longest_queue_ps", rows, |row| row.ledger.longest_queue_ps)
            .unsigned("front_bytes", rows, |row| self.front(row).iter().map(|front| front.bytes).sum())
            .unsigned("recoveries", rows, |row| rares.of(row.ledger.rare).recoveries.into())
            .text("longest_recovery", rows, |row| recovery(row).map_or("", |longest| by(longest.part)).to_owned())
            .unsigned("longest_recovery_ps", rows, |row| recovery(row).map_or(0, |longest| longest.time_ps))
            .text("lost_at", rows, |row| loss(row).map_or(String::new(), |loss| place(topology, &loss)))
            .text("lost_because", rows, |row| loss(row).map_or("", |loss| because(loss.cause)).to_owned())
    }

    /// A row for each kind of frames in front of each message.
    fn front_rows(&self, rows: &[&Delivered], scenario: &Scenario) -> Table {
        let of_messages = rows.iter().flat_map(|&message| self.front(message).iter().map(move |row| (message, row)));
        let rows: Vec<(&Delivered, &Row)> = of_messages.collect();
        let group = |row: &Row| scenario.flows[self.tally.group(row) as usize].name.clone();
        Table::new("autopsy_front")
            .unsigned("flow", &rows, |(message, _)| message.flow.0.into())
            .unsigned("number", &rows, |(message, _)| message.number)
            .text("kind", &rows, |(_, row)| row.kind.name().to_owned())
            .text("front_group", &rows, |(_, row)| if row.flows > 0 { group(row) } else { String::new() })
            .unsigned("front_flow", &rows, |(_, row)| if row.flows > 0 { row.flow.into() } else { 0 })
            .unsigned("front_flows", &rows, |(_, row)| row.flows.into())
            .text("mechanism", &rows, |(_, row)| self.makers.name(row.kind).to_owned())
            .unsigned("frames", &rows, |(_, row)| row.frames.into())
            .unsigned("bytes", &rows, |(_, row)| row.bytes)
            .unsigned("time_ps", &rows, |(_, row)| row.time_ps)
    }

    /// The frames in front of the longest wait of a message.
    fn front(&self, row: &Delivered) -> &[Row] {
        self.waited(row).map_or(&[], |front| &front.rows)
    }

    fn waited(&self, row: &Delivered) -> Option<&Front> {
        (row.ledger.longest_wait as usize).checked_sub(1).map(|place| &self.fronts[place])
    }

    fn longest_queue(&self, topology: &Topology, row: &Delivered) -> String {
        let Some(front) = self.waited(row) else { return String::new() };
        let place = front.place as usize;
        port(topology, (place / self.stride) as u32, PortId((place % self.stride) as u16))
    }
}

/// The name of a port: the link that it sends on.
fn port(topology: &Topology, switch: u32, port: PortId) -> String {
    let switch = &topology.switches[switch as usize];
    let link = switch.ports.get(usize::from(port.0)).map(|port| topology.link_name(port.link));
    link.unwrap_or_else(|| format!("{}.recirculation{}", switch.name, usize::from(port.0) - switch.ports.len()))
}

fn place(topology: &Topology, loss: &Loss) -> String {
    match loss.place {
        Place::Link(link) => topology.link_name(DirectedLink::from_index(link as usize)),
        Place::Port(switch, egress) => port(topology, switch, egress),
        Place::Host(host) => topology.hosts[host as usize].name.clone(),
    }
}

const fn by(part: Part) -> &'static str {
    match part {
        Part::LinkRecovery => "link",
        Part::FastRecovery => "acknowledgement",
        Part::ReorderingTimer => "reordering timer",
        Part::Probe => "probe",
        _ => "timeout",
    }
}

const fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::Corrupted => "corrupted",
        Cause::LinkDown => "link down",
        Cause::Switch(reason) => reason.name(),
        Cause::CardFull => "network card full",
        Cause::Trimmed => "trimmed",
    }
}
