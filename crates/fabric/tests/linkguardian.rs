//! LinkGuardian on a fabric, from a scenario file: what users switch on, and what must then hold.

use hitless_fabric::results::{Column, Table};
use hitless_fabric::{Outcome, Progress, Simulation, scenario};

/// The testbed with datagrams at half the line rate for 2 ms, and one mechanism table.
fn testbed(rate_gbps: u64, mechanism: &str) -> String {
    let load_mbps = rate_gbps * 500;
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
name = "sw2->sw6"
loss = {{ kind = "bernoulli", rate = 0.01 }}
{mechanism}
"#
    )
}

fn run(text: &str) -> Outcome {
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

fn counter(outcome: &Outcome, name: &str) -> u64 {
    let mechanisms = table(outcome, "mechanisms");
    let rows = texts(mechanisms, "counter").iter().zip(numbers(mechanisms, "value"));
    rows.filter(|(counter, _)| *counter == name).map(|(_, value)| value).sum()
}

/// Packets sent, and received, duplicates and reordered ones at the far host.
fn received(outcome: &Outcome) -> (u64, u64, u64) {
    let flows = table(outcome, "flows");
    let sent = numbers(flows, "packets_sent")[0];
    (sent, numbers(flows, "packets_received")[0], numbers(flows, "packets_reordered")[0])
}

const PROTECT: &str = "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"sw2->sw6\"\n";

#[test]
fn without_protection_one_in_a_hundred_is_lost() {
    let (sent, received, _) = received(&run(&testbed(25, "")));
    let lost_percent = 100.0 * (sent - received) as f64 / sent as f64;
    assert!((0.5..2.0).contains(&lost_percent), "{lost_percent} %");
}

#[test]
fn blocking_mode_loses_and_reorders_nothing_at_any_rate_and_with_either_buffering() {
    for rate_gbps in [10, 25, 100] {
        for buffering in ["recirculation", "paused-queue"] {
            let outcome = run(&testbed(rate_gbps, &format!("{PROTECT}buffering = \"{buffering}\"\n")));
            let (sent, received, reordered) = received(&outcome);
            assert_eq!((sent - received, reordered), (0, 0), "{rate_gbps}G {buffering}");
            assert!(counter(&outcome, "packets recovered") > 0, "{rate_gbps}G {buffering}");
        }
    }
}

#[test]
fn non_blocking_mode_loses_nothing_and_says_that_it_reorders() {
    let outcome = run(&testbed(25, &format!("{PROTECT}mode = \"non-blocking\"\ncopies = 3\n")));
    let flows = table(&outcome, "flows");
    let duplicates = numbers(flows, "packets_duplicate")[0];
    let (sent, received, reordered) = received(&outcome);
    assert_eq!(received - duplicates, sent);
    assert!(reordered > 0);
}

#[test]
fn a_reordering_buffer_that_is_too_small_overflows_but_keeps_order() {
    let text = testbed(100, &format!("{PROTECT}backpressure = false\nreordering_buffer = \"5 KB\"\n"));
    let (sent, received, reordered) = received(&run(&text));
    assert!(sent > received);
    assert_eq!(reordered, 0);
}

#[test]
fn protection_can_be_switched_on_and_off_during_a_run() {
    let activation = "activation = [{ at = \"500 us\", active = true }, { at = \"1500 us\", active = false }]\n";
    let outcome = run(&testbed(25, &format!("{PROTECT}{activation}")));
    let protected = counter(&outcome, "packets protected") as f64;
    let (sent, received, _) = received(&outcome);
    let sent = sent as f64;
    assert!((0.45..0.55).contains(&(protected / sent)), "{protected} of {sent}");
    let lost = sent - received as f64;
    assert!((0.003..0.008).contains(&(lost / sent)), "about half of the packets were unprotected: {lost} of {sent}");
}

#[test]
fn a_mechanism_that_never_acted_is_reported() {
    let outcome = run(&testbed(25, &format!("{PROTECT}activation = [{{ at = \"2900 us\", active = true }}]\n")));
    assert!(
        outcome.summary.warnings.iter().any(|warning| warning.contains("never acted")),
        "{:?}",
        outcome.summary.warnings
    );
}

#[test]
fn both_directions_of_a_link_can_be_protected_at_once() {
    let back = PROTECT.replace("sw2->sw6", "sw6->sw2");
    let text = testbed(25, &format!("{PROTECT}{back}actual_loss_rate = 0.01\n"));
    let both = text.replace(
        "sources = [\"h4\"]\ndestinations = [\"h8\"]",
        "sources = [\"h4\", \"h8\"]\ndestinations = [\"h8\", \"h4\"]",
    );
    let outcome = run(&both);
    let flows = table(&outcome, "flows");
    assert_eq!(numbers(flows, "packets_sent"), numbers(flows, "packets_received"));
    assert!(counter(&outcome, "piggybacked acknowledgements") > 0);
}
