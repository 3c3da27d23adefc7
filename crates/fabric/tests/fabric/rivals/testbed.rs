//! The testbed of LinkGuardian's figure 7 with datagrams, for its rivals.

use hitless_fabric::results::{Column, Table};
use hitless_fabric::{Outcome, Progress, Simulation, scenario};

/// The link that corrupts.
pub const PROTECTED: &str = "sw2->sw6";

/// Datagrams at `load_percent` of the line rate for 2 ms, over a link that loses `loss` of its frames.
pub fn testbed(rate_gbps: u64, load_percent: u64, loss: f64, sections: &str) -> String {
    let load_mbps = rate_gbps * load_percent * 10;
    format!(
        r#"
name = "test"
duration = "3 ms"
[topology]
kind = "chain"
hosts_left = ["h4"]
switches = ["sw2", "sw6"]
hosts_right = ["h8"]
host_link = {{ rate = "{rate_gbps} Gbps", delay = "50 ns" }}
switch_link = {{ rate = "{rate_gbps} Gbps", delay = "50 ns" }}
[switch]
checked = true
[[transport]]
name = "udp"
kind = "udp"
rate = "{load_mbps} Mbps"
[[flows]]
name = "datagrams"
transport = "udp"
kind = "constant-rate"
sources = ["h4"]
destinations = ["h8"]
stop = "2 ms"
[[link]]
name = "{PROTECTED}"
loss = {{ kind = "bernoulli", rate = {loss} }}
{sections}
"#
    )
}

/// Runs it; nothing that must hold may have been broken.
pub fn run(text: &str) -> Outcome {
    let scenario = scenario::check(text, "test").unwrap_or_else(|error| panic!("{error}"));
    let outcome = Simulation::new(scenario).expect("the scenario can be built").run(&Progress::default());
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

fn table<'a>(outcome: &'a Outcome, name: &str) -> &'a Table {
    outcome.tables.iter().find(|table| table.name == name).expect("the table exists")
}

fn numbers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    match table.columns.iter().find(|(column, _)| *column == name) {
        Some((_, Column::Unsigned(values))) => values,
        other => panic!("{name}: {other:?}"),
    }
}

fn texts<'a>(table: &'a Table, name: &str) -> &'a [String] {
    match table.columns.iter().find(|(column, _)| *column == name) {
        Some((_, Column::Text(values))) => values,
        other => panic!("{name}: {other:?}"),
    }
}

/// A counter of a mechanism, summed over ports and switches.
pub fn counter(outcome: &Outcome, name: &str) -> u64 {
    let mechanisms = table(outcome, "mechanisms");
    let rows = texts(mechanisms, "counter").iter().zip(numbers(mechanisms, "value"));
    let mut values = rows.filter(|(counter, _)| *counter == name).map(|(_, value)| value).peekable();
    assert!(values.peek().is_some(), "there is no counter {name:?}");
    values.sum()
}

/// What a link counted.
pub fn link_count(outcome: &Outcome, link: &str, column: &str) -> u64 {
    let links = table(outcome, "links");
    let place = texts(links, "link").iter().position(|name| name == link).expect("the link exists");
    numbers(links, column)[place]
}

/// Packets sent, and received and reordered ones at the far host.
pub fn received(outcome: &Outcome) -> (u64, u64, u64) {
    let flows = table(outcome, "flows");
    let of = |column| numbers(flows, column)[0];
    (of("packets_sent"), of("packets_received"), of("packets_reordered"))
}
