//! Runs of small fabrics.

use hitless_fabric::results::{Column, Table};
use hitless_fabric::{Outcome, Progress, Simulation, scenario};

/// Two hosts, i at sw4, h at sw3, and sw5 as the way round the link between sw3 and sw4.
pub const TRIANGLE: &str = r#"
name = "triangle"
duration = "30 ms"
[topology]
kind = "graph"
hosts = ["h", "i"]
switches = ["sw3", "sw4", "sw5"]
links = [
    { ends = ["h", "sw3"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["i", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw4"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw3", "sw5"], rate = "10 Gbps", delay = "1 us" },
    { ends = ["sw4", "sw5"], rate = "10 Gbps", delay = "1 us" },
]
[[transport]]
name = "udp"
kind = "udp"
rate = "1 Gbps"
[[flows]]
name = "steady"
kind = "constant-rate"
transport = "udp"
sources = ["h"]
destinations = ["i"]
stop = "25 ms"
"#;

pub fn run(text: &str) -> Outcome {
    let scenario = scenario::check(text, "test").unwrap_or_else(|error| panic!("{error}"));
    let outcome = Simulation::new(scenario).expect("the scenario can be built").run(&Progress::default());
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome
}

fn column<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a Column {
    let table: &Table = outcome.tables.iter().find(|known| known.name == table).expect("the table exists");
    let column = table.columns.iter().find(|(known, _)| *known == name);
    &column.unwrap_or_else(|| panic!("{} has no {name}", table.name)).1
}

pub fn numbers<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [u64] {
    match column(outcome, table, name) {
        Column::Unsigned(values) => values,
        other => panic!("{name}: {other:?}"),
    }
}

pub fn times<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [i64] {
    match column(outcome, table, name) {
        Column::Signed(values) => values,
        other => panic!("{name}: {other:?}"),
    }
}

pub fn texts<'a>(outcome: &'a Outcome, table: &str, name: &str) -> &'a [String] {
    match column(outcome, table, name) {
        Column::Text(values) => values,
        other => panic!("{name}: {other:?}"),
    }
}

/// A counter of a link.
pub fn of_link(outcome: &Outcome, link: &str, name: &str) -> u64 {
    let row = texts(outcome, "links", "link").iter().position(|known| known == link);
    numbers(outcome, "links", name)[row.expect("the link exists")]
}

/// Datagrams that were sent and did not arrive.
pub fn lost(outcome: &Outcome) -> u64 {
    let sent = numbers(outcome, "flows", "packets_sent")[0];
    sent - numbers(outcome, "flows", "packets_received")[0]
}
