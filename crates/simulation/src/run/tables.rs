//! The tables of a run's outcome.

use hitless_core::wire::{PortId, Time};
use hitless_scenario::network::topology::{DirectedLink, SwitchId, Topology};
use hitless_switch::{Counter, MacCounters, Report};

use super::edge::Edge;
use super::event_loop::Run;
use crate::results::Table;

/// Adds all other tables of `run` to those of flows and messages.
pub(super) fn tables<E: Edge>(
    run: &Run<E>,
    reports: &[(SwitchId, Report)],
    flow_tables: Vec<Table>,
    ended_at: Time,
) -> Vec<Table> {
    let (shared, topology, groups) = (&run.network.shared, &run.network.topology, &run.global.scenario.flows);
    let failures = run.global.control_plane.recovery.table(topology, &shared.links);
    let mut all = flow_tables;
    all.extend([run.link_table(), run.port_table(ended_at), failures, run.global.totals.table(&run.global.scenario)]);
    all.push(run.corrupted_runs());
    all.push(shared.drops.table(topology, groups));
    all.push(mechanisms(topology, reports));
    all.push(histograms(topology, reports));
    all.push(series(topology, reports));
    all.extend(run.global.samplers.tables(groups));
    all.extend(shared.edge.tables(&run.global.scenario, topology));
    all
}

impl<E: Edge> Run<E> {
    /// Whether unused links and ports get rows too. In a larger fabric, their names alone would take more memory than
    /// the fabric itself.
    fn has_all_rows(&self) -> bool {
        const LINKS_MAX: usize = 1 << 18;
        self.network.shared.links.iter().len() <= LINKS_MAX
    }

    fn link_table(&self) -> Table {
        let links = &self.network.shared.links;
        let counted = (0..links.iter().len()).map(|index| (index, links.counters(index)));
        let rows: Vec<_> = counted.filter(|(_, link)| self.has_all_rows() || link.frames_sent > 0).collect();
        Table::new("links")
            .text("link", &rows, |(index, _)| self.network.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames_sent", &rows, |(_, link)| link.frames_sent)
            .unsigned("frames_arrived", &rows, |(_, link)| link.frames_arrived)
            .unsigned("arrived_bytes", &rows, |(_, link)| link.bytes_arrived)
            .unsigned("frames_corrupted", &rows, |(_, link)| link.frames_corrupted)
            .unsigned("frames_lost_down", &rows, |(_, link)| link.frames_lost_down)
            .time("last_arrival_ps", &rows, |(_, link)| link.last_arrival)
    }

    /// Histogram of runs of consecutive corrupted frames.
    fn corrupted_runs(&self) -> Table {
        let of_link = |(index, runs): (usize, &[u64])| {
            let runs = (1_u64..).zip(runs.to_vec());
            runs.filter(|(_, count)| *count > 0).map(move |(length, count)| (index, length, count))
        };
        let rows: Vec<_> = self.network.shared.links.corrupted_runs().flat_map(of_link).collect();
        Table::new("corrupted_runs")
            .text("link", &rows, |(index, ..)| self.network.topology.link_name(DirectedLink::from_index(*index)))
            .unsigned("frames", &rows, |(_, length, _)| *length)
            .unsigned("count", &rows, |(.., count)| *count)
    }

    fn port_table(&self, ended_at: Time) -> Table {
        let of_switch = |(number, switch): (usize, &hitless_switch::Switch)| {
            let count = switch.port_count();
            let counted = (0..count).map(|port| {
                let port = PortId(port as u16);
                (number, port, switch.mac(port), switch.flow_control(ended_at, port))
            });
            let is_used = |mac: &MacCounters| mac.frames_received_all + mac.frames_sent > 0;
            counted.filter(|(_, _, mac, _)| self.has_all_rows() || is_used(mac)).collect::<Vec<_>>()
        };
        let rows: Vec<_> = self.network.switches.iter().enumerate().flat_map(of_switch).collect();
        Table::new("ports")
            .text("switch", &rows, |(number, ..)| self.network.topology.switches[*number].name.clone())
            .unsigned("port", &rows, |(_, port, ..)| port.0.into())
            .text("link", &rows, |(number, port, ..)| self.port_name(*number, *port))
            .unsigned("frames_received_ok", &rows, |(_, _, mac, _)| mac.frames_received_ok)
            .unsigned("frames_received_all", &rows, |(_, _, mac, _)| mac.frames_received_all)
            .unsigned("received_bytes", &rows, |(_, _, mac, _)| mac.bytes_received_ok)
            .unsigned("frames_sent", &rows, |(_, _, mac, _)| mac.frames_sent)
            .unsigned("sent_bytes", &rows, |(_, _, mac, _)| mac.bytes_sent)
            .unsigned("pause_frames_received", &rows, |(_, _, mac, _)| mac.pause_frames_received)
            .unsigned("pause_frames_sent", &rows, |(.., control)| control.pause_frames_sent)
            .unsigned("paused_ps", &rows, |(.., control)| control.paused.as_ps())
            .unsigned("headroom_peak_bytes", &rows, |(.., control)| control.headroom_peak_bytes)
            .unsigned("lossless_drops", &rows, |(.., control)| control.lossless_drops)
            .unsigned("pause_storms", &rows, |(.., control)| control.storms)
    }

    fn port_name(&self, switch: usize, port: PortId) -> String {
        let ports = &self.network.topology.switches[switch].ports;
        match ports.get(usize::from(port.0)) {
            Some(port) => self.network.topology.link_name(port.link),
            None => format!("recirculation {}", usize::from(port.0) - ports.len()),
        }
    }
}

/// A counter of a mechanism: switch, mechanism, scope, key, label, value.
pub type Counted = (String, &'static str, String, &'static str, &'static str, u64);

/// The counters of all mechanisms.
pub fn counted(topology: &Topology, reports: &[(SwitchId, Report)]) -> Vec<Counted> {
    let mut rows = Vec::new();
    for (switch, report) in reports {
        let name = &topology.switch(*switch).name;
        let row = |(scope, counter, value): &(String, Counter, u64)| {
            (name.clone(), report.mechanism, scope.clone(), counter.key, counter.label, *value)
        };
        rows.extend(report.counters.iter().map(row));
    }
    rows
}

/// The table of all mechanism counters, one row each.
pub(super) fn mechanisms(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let rows = counted(topology, reports);
    Table::new("mechanisms")
        .text("switch", &rows, |row| row.0.clone())
        .text("mechanism", &rows, |row| row.1.to_owned())
        .text("scope", &rows, |row| row.2.clone())
        .text("counter", &rows, |row| row.3.to_owned())
        .text("label", &rows, |row| row.4.to_owned())
        .unsigned("value", &rows, |row| row.5)
}

fn histograms(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let mut rows = Vec::new();
    for (switch, report) in reports {
        for (scope, quantity, histogram) in &report.histograms {
            let name = &topology.switch(*switch).name;
            let recorded = histogram.iter_recorded();
            rows.extend(recorded.map(|bar| {
                (name.clone(), scope.clone(), *quantity, bar.value_iterated_to(), bar.count_since_last_iteration())
            }));
        }
    }
    Table::new("histograms")
        .text("switch", &rows, |row| row.0.clone())
        .text("scope", &rows, |row| row.1.clone())
        .text("quantity", &rows, |row| row.2.key.to_owned())
        .text("label", &rows, |row| row.2.label.to_owned())
        .unsigned("value", &rows, |row| row.3)
        .unsigned("count", &rows, |row| row.4)
}

fn series(topology: &Topology, reports: &[(SwitchId, Report)]) -> Table {
    let mut rows = Vec::new();
    for (switch, report) in reports {
        let name = &topology.switch(*switch).name;
        for (scope, quantity, steps) in &report.series {
            rows.extend(steps.iter().map(|&(at, value)| (name.clone(), scope.clone(), *quantity, at, value)));
        }
    }
    Table::new("series")
        .text("switch", &rows, |row| row.0.clone())
        .text("scope", &rows, |row| row.1.clone())
        .text("quantity", &rows, |row| row.2.key.to_owned())
        .text("label", &rows, |row| row.2.label.to_owned())
        .time("time_ps", &rows, |row| row.3)
        .unsigned("value", &rows, |row| row.4)
}
