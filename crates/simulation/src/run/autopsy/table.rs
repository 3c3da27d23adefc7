//! The table of the autopsy: a row for each delivered message.

use hitless_core::wire::PortId;
use hitless_scenario::Scenario;
use hitless_scenario::network::topology::{DirectedLink, Topology};

use super::ledger::{Delivered, Ledger};
use super::parts::{COLUMNS, Cause, Loss, Part, Place};
use super::rare::RareLedgers;
use crate::results::Table;

/// Makes the table, in the order of delivery.
pub(super) fn table(
    (delivered, rares): (&[Delivered], &RareLedgers),
    scenario: &Scenario,
    topology: &Topology,
) -> Table {
    let rows: Vec<&Delivered> = delivered.iter().filter(|row| row.ledger.origin >= scenario.warmup).collect();
    let mut table = Table::new("autopsy")
        .unsigned("flow", &rows, |row| row.flow.0.into())
        .text("group", &rows, |row| scenario.flows[row.group as usize].name.clone())
        .unsigned("number", &rows, |row| row.number)
        .time("started_ps", &rows, |row| row.ledger.origin)
        .time("delivered_ps", &rows, |row| row.ledger.at);
    for (part, column) in COLUMNS.into_iter().enumerate() {
        table = table.unsigned(column, &rows, |row| row.ledger.parts(rares.of(row.ledger.rare))[part]);
    }
    let recovery = |row: &&Delivered| rares.of(row.ledger.rare).longest_recovery;
    let loss = |row: &&Delivered| recovery(row).and_then(|recovery| recovery.loss);
    table
        .unsigned("round_trips", &rows, |row| row.ledger.round_trips.into())
        .unsigned("earlier_rounds_ps", &rows, |row| (row.ledger.round_began - row.ledger.origin).as_ps())
        .text("longest_queue", &rows, |row| longest_queue(topology, &row.ledger))
        .unsigned("longest_queue_ps", &rows, |row| row.ledger.longest_queue_ps)
        .unsigned("recoveries", &rows, |row| rares.of(row.ledger.rare).recoveries.into())
        .text("longest_recovery", &rows, |row| recovery(row).map_or("", |longest| by(longest.part)).to_owned())
        .unsigned("longest_recovery_ps", &rows, |row| recovery(row).map_or(0, |longest| longest.time_ps))
        .text("lost_at", &rows, |row| loss(row).map_or(String::new(), |loss| place(topology, &loss)))
        .text("lost_because", &rows, |row| loss(row).map_or("", |loss| because(loss.cause)).to_owned())
}

fn longest_queue(topology: &Topology, ledger: &Ledger) -> String {
    if ledger.longest_queue_ps == 0 {
        return String::new();
    }
    port(topology, ledger.longest_queue_switch, ledger.longest_queue_port)
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
    }
}
