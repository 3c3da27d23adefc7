//! The table of stalls, and the report of a run in progress.

use std::collections::BTreeMap;
use std::fmt::Write;

use hitless_core::wire::Time;

use super::View;
use super::flows::{Cause, State, Survey, Waiting};
use super::words::{flows, in_us};
use crate::results::{Explanation, Stalls, Table};
use crate::run::edge::Edge;

/// Maximum rows of the table. Flows that move come last.
const ROWS: usize = 10_000;

/// Waits named in a report.
const WAITS: usize = 5;

impl<E: Edge> View<'_, E> {
    /// Explains the unfinished flows and those that gave up.
    pub fn explain(&self) -> Explanation {
        let survey = self.survey();
        let stalls = |sentence| Stalls { sentence, table: self.table(&survey) };
        Explanation(self.sentence(&survey).map(stalls))
    }

    fn table(&self, survey: &Survey) -> Table {
        let rows: Vec<&Waiting> = survey.rows.iter().take(ROWS).collect();
        let (scenario, topology) = (&self.global.scenario, self.topology());
        let optional = |at: Time| i64::try_from(at.as_ps()).unwrap_or(-1);
        Table::new("stalls")
            .text("state", &rows, |row| row.state.name().to_owned())
            .signed("flow", &rows, |row| row.flow.map_or(-1, |flow| i64::from(flow.0)))
            .text("group", &rows, |row| scenario.flows[row.group].name.clone())
            .unsigned("position", &rows, |row| row.position)
            .text("source", &rows, |row| topology.host(row.source).name.clone())
            .text("destination", &rows, |row| topology.host(row.destination).name.clone())
            .text("cause", &rows, |row| row.cause.name().to_owned())
            .text("place", &rows, |row| self.place(row))
            .signed("needs_flow", &rows, |row| match row.cause {
                Cause::Flow(_, Some(flow)) => flow.0.into(),
                _ => -1,
            })
            .signed("since_ps", &rows, |row| optional(row.since))
            .signed("until_ps", &rows, |row| optional(row.until))
            .unsigned("timeouts", &rows, |row| row.timeouts)
            .unsigned("written_bytes", &rows, |row| row.written_bytes)
            .unsigned("acknowledged_bytes", &rows, |row| row.acknowledged_bytes)
            .text("reason", &rows, |row| self.reason(row))
    }

    /// The port, switch or host where a flow waits; empty if it waits nowhere.
    fn place(&self, row: &Waiting) -> String {
        let topology = self.topology();
        match row.cause {
            Cause::Gate(gate) => topology.link_name(self.link_of(gate)),
            Cause::Mechanism(switch, port) => {
                topology.link_name(topology.switch(switch).ports[usize::from(port.0)].link)
            }
            Cause::LinkDown(link, _) => topology.link_name(link),
            Cause::NoRoute(switch, _) => topology.switch(switch).name.clone(),
            Cause::Gap | Cause::Credit => topology.host(row.receiver()).name.clone(),
            Cause::Moves | Cause::Lost | Cause::Nothing | Cause::Flow(..) => String::new(),
        }
    }

    /// The report of a run in progress: flows by group, the sentence, and the oldest waits.
    pub fn report(&self) -> String {
        let survey = self.survey();
        let totals = self.networks.iter().map(|network| network.hosts.totals());
        let (started, completed) =
            totals.fold((0, 0), |sum, one| (sum.0 + one.flows_started, sum.1 + one.flows_completed));
        let mut text =
            format!("{} simulated: {} started, {completed} completed\n", in_us(self.now), flows(started as usize));
        for (group, [unfinished, stalled]) in by_group(&survey.rows) {
            let name = &self.global.scenario.flows[group].name;
            let _ = writeln!(text, "  {name}: {unfinished} unfinished, {stalled} of them stalled");
        }
        if let Some(sentence) = self.sentence(&survey) {
            let _ = writeln!(text, "{sentence}");
        }
        let mut oldest: Vec<&Waiting> = survey.rows.iter().filter(|row| row.state == State::Stalled).collect();
        oldest.sort_by_key(|row| (row.since, row.flow.map(|flow| flow.0)));
        for row in oldest.into_iter().take(WAITS) {
            let _ = writeln!(text, "  since {}: {}", in_us(row.since), self.named_with_reason(row));
        }
        text
    }
}

/// Numbers of unfinished and of stalled flows, by group.
fn by_group(rows: &[Waiting]) -> BTreeMap<usize, [u64; 2]> {
    let mut found: BTreeMap<usize, [u64; 2]> = BTreeMap::new();
    for row in rows.iter().filter(|row| matches!(row.state, State::Stalled | State::Moving)) {
        let [unfinished, stalled] = found.entry(row.group).or_default();
        *unfinished += 1;
        *stalled += u64::from(row.state == State::Stalled);
    }
    found
}
