//! Relations between runs: a change of a scenario and the change of its results that follows.

mod exact;
mod symmetry;

use std::collections::BTreeMap;

use hitless_simulation::Outcome;

use crate::support::{numbers, texts, times};

/// Hosts around one switch; `hosts` in the order in which the file names them and their links.
fn star(hosts: &[&str], gbps: u32, buffer: &str) -> String {
    let list: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
    let link = |host: &&str| format!("{{ ends = [\"{host}\", \"s\"], rate = \"{gbps} Gbps\", delay = \"1 us\" }}");
    let links: Vec<String> = hosts.iter().map(link).collect();
    format!(
        "[topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [\"s\"]\nlinks = [{}]\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"{buffer}\" }}\n",
        list.join(", "),
        links.join(", ")
    )
}

/// Delivered bytes by the name of the source.
fn delivered(outcome: &Outcome) -> BTreeMap<String, u64> {
    let mut delivered = BTreeMap::new();
    for (source, bytes) in texts(outcome, "flows", "source").iter().zip(numbers(outcome, "flows", "delivered_bytes")) {
        *delivered.entry(source.clone()).or_insert(0) += bytes;
    }
    delivered
}

/// Source, destination, start and end of each message, sorted.
fn messages(outcome: &Outcome) -> Vec<(String, String, i64, i64)> {
    let (sources, destinations) = (texts(outcome, "flows", "source"), texts(outcome, "flows", "destination"));
    let flows = numbers(outcome, "flows", "flow").iter().zip(sources.iter().zip(destinations));
    let ends: BTreeMap<u64, _> = flows.map(|(&flow, ends)| (flow, ends)).collect();
    let (started, delivered) = (times(outcome, "messages", "started_ps"), times(outcome, "messages", "delivered_ps"));
    let row = |(row, flow): (usize, &u64)| {
        let (source, destination) = ends[flow];
        (source.clone(), destination.clone(), started[row], delivered[row])
    };
    let mut rows: Vec<_> = numbers(outcome, "messages", "flow").iter().enumerate().map(row).collect();
    rows.sort_unstable();
    rows
}
