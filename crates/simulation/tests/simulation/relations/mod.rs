//! Metamorphic relations: a change of a scenario, and the resulting change of its results.

mod exact;
mod symmetry;

use std::collections::BTreeMap;

use hitless_simulation::Outcome;

use crate::support::{numbers, texts, times};

/// A star of hosts around a switch; the file names hosts and links in the order of `hosts`.
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

/// Delivered bytes by source.
fn delivered(outcome: &Outcome) -> BTreeMap<String, u64> {
    let mut delivered = BTreeMap::new();
    for (source, bytes) in texts(outcome, "flows", "source").iter().zip(numbers(outcome, "flows", "delivered_bytes")) {
        *delivered.entry(source.clone()).or_insert(0) += bytes;
    }
    delivered
}

/// Sorted list of all messages: source, destination, start and end.
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
