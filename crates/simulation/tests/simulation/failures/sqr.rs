//! SQR in a scenario: with every recovery scheme, no packet is lost or reordered.

use hitless_simulation::Outcome;
use hitless_simulation::results::OrderCounts;

use super::triangle::TRIANGLE;
use crate::support::{example, of_link, run};

/// Failures of the link between sw3 and sw4, with a recovery and settings of SQR.
fn protected(rate: &str, failures: &str, recovery: &str, sqr: &str) -> Outcome {
    let fabric = TRIANGLE.replace("rate = \"1 Gbps\"", &format!("rate = \"{rate}\""));
    run(&format!(
        "{fabric}[[failure]]\nlink = \"sw3<->sw4\"\nfirst = \"5 ms\"\n{failures}\n[recovery]\n{recovery}\n\
         [[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw3<->sw4\"]\n{sqr}\n[measure]\norder = true\n"
    ))
}

fn order(outcome: &Outcome) -> OrderCounts {
    outcome.summary.order.expect("the checker was on")
}

const SAME_PORT: &str = "scheme = { kind = \"same-port\" }";
const REROUTE: &str = "scheme = { kind = \"local-reroute\" }";
const F10: &str = "scheme = { kind = \"local-reroute\", reconfiguration = \"970 us\", backup = \"first\" }";
const PROBES: &str = "detection = { kind = \"probes\" }";

#[test]
fn with_every_scheme_and_either_caching_nothing_is_lost_or_reordered() {
    let repeated = "every = \"6 ms\"\njitter = \"1 ms\"\n";
    let outage = format!("{repeated}outage = \"3 ms\"\n");
    let table = [
        (repeated, SAME_PORT.to_owned()),
        (repeated, format!("{PROBES}\n{SAME_PORT}")),
        (&outage, REROUTE.to_owned()),
        (&outage, format!("{PROBES}\n{REROUTE}")),
        (&outage, F10.to_owned()),
    ];
    for (failures, recovery) in table {
        for caching in ["ring", "delay-queue"] {
            let outcome = protected("1 Gbps", failures, &recovery, &format!("caching = \"{caching}\""));
            let order = order(&outcome);
            let verdict = (order.packets_lost, order.packets_reordered);
            assert_eq!(verdict, (0, 0), "{caching}, {recovery}: {order:?}");
            assert!(outcome.summary.failures.is_some_and(|totals| totals.happened >= 4));
            let lost = of_link(&outcome, "sw3->sw4", "frames_lost_down");
            assert!(lost > 0, "{caching}, {recovery}: the failures must have cost frames");
        }
    }
}

#[test]
fn only_flows_of_the_services_named_are_protected() {
    let fabric = TRIANGLE.replace("kind = \"constant-rate\"", "kind = \"constant-rate\"\nport = 5001");
    let lost = |marks: &str| {
        let text = format!(
            "{fabric}[[failure]]\nlink = \"sw3<->sw4\"\nfirst = \"5 ms\"\n[recovery]\n{SAME_PORT}\n\
             [[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw3<->sw4\"]\n{marks}\n[measure]\norder = true\n"
        );
        order(&run(&text)).packets_lost
    };
    assert_eq!(lost("ports = [5001]"), 0);
    assert_eq!(lost("ports = [80]\nclasses = [0]"), 0, "of any list");
    assert!(lost("ports = [80]") > 0);
    assert!(lost("vlans = [10]") > 0);
}

#[test]
fn the_testbed_of_the_paper_loses_nothing_although_its_link_fails_under_load() {
    let text = example("sqr-testbed").replace("\"100 ms\"", "\"20 ms\"");
    let outcome = run(&text);
    assert!(of_link(&outcome, "sw6->sw10", "frames_lost_down") > 0, "the flow takes the link that fails");
    assert_eq!((order(&outcome).packets_lost, order(&outcome).packets_reordered), (0, 0));
    let unprotected = text.replace("ports = [5001]", "ports = [5002]");
    assert!(order(&run(&unprotected)).packets_lost > 0);
}

#[test]
fn a_link_that_falls_to_a_fifth_fails_and_recovers_loses_nothing() {
    let change = |at_ms: u64, gbps: u64| format!("[[link.changes]]\nat = \"{at_ms} ms\"\nrate = \"{gbps} Gbps\"\n");
    // Failures at 5, 11, 17 and 23 ms fall on both rates.
    let changes = change(4, 2) + &change(9, 10) + &change(16, 2) + &change(20, 10);
    let repeated = "every = \"6 ms\"\n";
    let outage = format!("{repeated}outage = \"3 ms\"\n");
    for (failures, recovery) in [(repeated, SAME_PORT), (&outage, REROUTE)] {
        for caching in ["ring", "delay-queue"] {
            let sqr = format!("caching = \"{caching}\"\n[[link]]\nname = \"sw3<->sw4\"\n{changes}");
            let outcome = protected("1 Gbps", failures, recovery, &sqr);
            let order = order(&outcome);
            assert_eq!((order.packets_lost, order.packets_reordered), (0, 0), "{caching}, {recovery}: {order:?}");
            assert!(of_link(&outcome, "sw3->sw4", "frames_lost_down") > 0, "{caching}, {recovery}");
        }
    }
}
