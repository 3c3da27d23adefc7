//! The power of two choices among next hops: balanced load for each packet, but reordering. Flowlets: a next hop for each
//! part of a flow between two pauses.

use hitless_core::wire::Duration;
use hitless_simulation::Outcome;

use crate::support::{check, ideal, leaf_spine, run};

/// Four hosts of a leaf send to four of the other over four spines, each at the rate of a spine link.
fn text(routing: &str) -> String {
    let (fabric, switch) = (leaf_spine([2, 4, 4], [10, 10]), ideal("60 KB"));
    format!(
        "name = \"two-choices\"\nduration = \"5 ms\"\n{fabric}\
         [routing]\n{routing}\n{switch}[measure]\norder = true\n\
         [[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"8 Gbps\"\n\
         [[flows]]\nname = \"pairs\"\ntransport = \"t\"\nkind = \"constant-rate\"\nsources = [\"h0..h3\"]\n\
         destinations = [\"h4..h7\"]\nspacing = \"310 ns\"\nstop = \"4 ms\"\n"
    )
}

const TWO: &str = "choice = \"two-choices\"";

#[test]
fn flows_that_collide_by_their_hash_share_all_links_by_two_choices() {
    let (hashed, chosen) = (run(&text("")), run(&text(TWO)));
    let drops = &hashed.summary.drops;
    assert!(drops.contains_key("queue full"), "two of the four flows collide: {drops:?}");
    assert!(chosen.summary.drops.is_empty(), "{:?}", chosen.summary.drops);
    let reordered = |outcome: &Outcome| outcome.summary.order.as_ref().map(|order| order.packets_reordered);
    assert_eq!(reordered(&hashed), Some(0));
    assert!(reordered(&chosen) > Some(0), "packets overtake each other");
}

#[test]
fn the_choices_follow_the_seed() {
    let hash = |seed: u64| run(&text(TWO).replace("duration", &format!("seed = {seed}\nduration"))).summary.trace_hash;
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

#[test]
fn a_flowlet_ends_only_with_a_pause_above_the_gap() {
    // A host sends a packet every 1.5 us; its card delays some by about a frame (1.2 us).
    let run = |gap: &str| run(&text(&format!("choice = \"flowlets\"\nflowlet_gap = \"{gap}\"")));
    let (single, whole) = (run("100 ns"), run("5 us"));
    let counts = |outcome: &Outcome| {
        let order = outcome.summary.order.as_ref().expect("it is measured");
        (order.packets_reordered, outcome.summary.drops.values().sum::<u64>())
    };
    let (reordered, dropped) = counts(&whole);
    assert_eq!(reordered, 0, "a flow without pauses keeps its next hop");
    assert!(dropped > 2 * counts(&single).1, "two flows share a spine: {dropped} and {:?}", counts(&single));
}

#[test]
fn the_gap_of_flowlets_follows_from_the_fabric() {
    let gap = |text: &str| check(text).expect("it can run").routing.flowlet_gap.map(Duration::as_ps);
    let flowlets = text("choice = \"flowlets\"");
    // Four links of 10 Gb/s with frames of 1,538 B, each way, and their delays.
    assert_eq!(gap(&flowlets), Some(8 * (1_000_000 + 1_230_400)));
    let jumbo = flowlets.replace("rate = \"8 Gbps\"", "rate = \"8 Gbps\"\nframe_bytes = \"9018 B\"");
    assert_eq!(gap(&jumbo), Some(8 * (1_000_000 + 7_230_400)));
    assert_eq!(gap(&text("")), None);
    let error = check(&text("flowlet_gap = \"1 us\"")).expect_err("it has no effect");
    assert!(error.contains("routing.flowlet_gap") && error.contains("no effect"), "{error}");
}

#[test]
fn what_two_choices_cannot_know_is_refused() {
    let checked = text(TWO).replace("preset = \"ideal\"", "checked = true\ndepth_visible = \"egress\"");
    let rerouted = text(TWO).replace(
        "[measure]",
        "[recovery]\nscheme = { kind = \"local-reroute\" }\n[[failure]]\nlink = \"leaf0<->spine0\"\nfirst = \"1 ms\"\n\
         outage = \"1 ms\"\n[measure]",
    );
    let flowlets = rerouted.replace(TWO, "choice = \"flowlets\"");
    for (text, expected) in [
        (checked, "reads the depths of queues in ingress"),
        (rerouted, "no way round a failed link"),
        (flowlets, "no way round a failed link"),
    ] {
        let error = check(&text).expect_err("this cannot be meant");
        assert!(error.contains("routing.choice") && error.contains(expected), "{error}");
    }
}
