//! Flows as messages on open connections, as in AFQ's testbed (section 6.1: 25 between each client and each server).

use hitless_scenario::Scenario;
use hitless_simulation::Outcome;

use crate::support::{self, run_scenario as run};

fn testbed(transport: &str, connections: &str, end: &str) -> Scenario {
    with_buffer(transport, connections, end, "512 KB")
}

fn with_buffer(transport: &str, connections: &str, end: &str, buffer: &str) -> Scenario {
    let (fabric, switch) = (support::dumbbell(4, "25 us", "25 us"), support::ideal(buffer));
    support::sound(&format!(
        "name = \"testbed\"\n{end}\n{fabric}{switch}\
         ecn = {{ threshold = \"65 packets\" }}\n\
         [[transport]]\nname = \"t\"\n{transport}\nrto_initial = \"5 ms\"\n\
         [[flows]]\nname = \"requests\"\nkind = \"poisson\"\ntransport = \"t\"\n{connections}\n\
         sizes = {{ kind = \"cdf\", table = \"enterprise_conga_numfabric\", largest = \"1 MB\" }}\n\
         flows_per_second = 20000.0\nsources = [\"h0..h3\"]\ndestinations = [\"h4..h7\"]\n"
    ))
}

fn rows(outcome: &Outcome, table: &str) -> usize {
    support::table(outcome, table).columns[0].1.len()
}

const TRANSPORTS: [&str; 3] =
    ["kind = \"tcp\"", "kind = \"tcp\"\ncongestion = \"dctcp\"", "kind = \"packet-pair\"\nrto_min = \"1 ms\""];

#[test]
fn each_flow_is_a_message_and_each_connection_ends_when_all_is_sent() {
    for transport in TRANSPORTS {
        let scenario = testbed(transport, "connections = 25\ncount = 2000", "until = \"all-flows-done\"");
        let outcome = run(&scenario);
        assert_eq!(outcome.summary.ended_by, "all flows done");
        assert_eq!(rows(&outcome, "messages"), 2_000, "{transport}");
        // 16 pairs of hosts and 400 connections: with five draws per connection, almost every one is used.
        let connections = rows(&outcome, "flows");
        assert!((380..=400).contains(&connections), "{transport}: {connections} connections");
        assert_eq!(outcome.summary.flows.completed as usize, connections);
    }
}

#[test]
fn connections_that_are_open_at_the_end_of_a_run_are_not_unfinished() {
    for transport in TRANSPORTS {
        // No flow starts during the last 20 ms.
        let outcome = run(&testbed(transport, "connections = 2\nstop = \"30 ms\"", "duration = \"50 ms\""));
        assert_eq!((rows(&outcome, "flows"), outcome.summary.flows.unfinished), (32, 0), "{transport}");
    }
}

#[test]
fn what_an_open_connection_loses_is_charged_to_its_group() {
    let (connections, end) = ("connections = 25\ncount = 2000", "until = \"all-flows-done\"");
    let scenario = with_buffer(TRANSPORTS[0], connections, end, "12 KB");
    let outcome = run(&scenario);
    let lost: u64 = outcome.summary.drops.values().sum();
    assert!(lost > 0, "nothing was lost in buffers of 12 KB");
    assert!(rows(&outcome, "drops") > 0);
}
