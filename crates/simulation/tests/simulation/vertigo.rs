//! Vertigo in a fabric: paths of deflected packets, the end of their deflection, and no double counting.

use hitless_simulation::Outcome;
use proptest::prelude::*;

use crate::deflection::{self, INCAST, OVERLOAD, TCP, UDP};
use crate::support::{counters, drops, run, texts, times};

/// The scenario of the deflection tests, with two next hops to choose from for each packet.
fn text(seed: u64, transport: &str, flows: &str, mechanism: &str) -> String {
    let text = deflection::text(transport, flows, mechanism);
    format!("seed = {seed}\n{}", text.replace("[measure]", "[routing]\nchoice = \"two-choices\"\n[measure]"))
}

const VERTIGO: &str = "[[mechanism]]\nkind = \"vertigo\"\n";

const MARKED: &str = "priority_tagger = { by = \"remaining-bytes\" }\n";
const LAYERS: &str = "priority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"360 us\" }\n";

/// Maximum number of deflections of a packet, over all switches.
fn most_deflections(outcome: &Outcome) -> u64 {
    counters(outcome, "packet_detours_max").into_iter().max().expect("Vertigo runs")
}

fn driven_out(outcome: &Outcome) -> u64 {
    counters(outcome, "packets_driven_out").iter().sum()
}

/// Duration of the slowest flow of the group "short"; an unfinished flow counts until the end of the run.
fn slowest_flow_us(outcome: &Outcome) -> u64 {
    let [groups, outcomes] = ["group", "outcome"].map(|name| texts(outcome, "flows", name));
    let [started, finished] = ["started_ps", "finished_ps"].map(|name| times(outcome, "flows", name));
    let short = || (0..groups.len()).filter(|&row| groups[row] == "short");
    let end = |row: usize| if outcomes[row] == "completed" { finished[row] } else { 20_000_000_000 };
    short().map(|row| (end(row) - started[row]) as u64 / 1_000_000).max().expect("there are short flows")
}

#[test]
fn an_incast_that_overflows_one_queue_loses_nothing_with_vertigo() {
    let without = run(&text(1, TCP, INCAST, ""));
    assert!(drops(&without, "queue full") > 50, "{:?}", without.summary.drops);
    let with = run(&text(1, TCP, INCAST, VERTIGO));
    let lost = ["queue full", "evicted from a full buffer", "time to live"].map(|reason| drops(&with, reason));
    assert_eq!(lost, [0; 3], "{:?}", with.summary.drops);
    assert_eq!(with.summary.flows.completed, 15 * 6, "all within 20 ms");
}

#[test]
fn what_an_overload_sends_round_ends_by_its_time_to_live_or_for_a_better_packet() {
    let outcome = run(&text(1, UDP, OVERLOAD, VERTIGO));
    // 18 Gbps towards a link of 10 Gbps: the excess must be dropped somewhere.
    assert!(drops(&outcome, "time to live") > 100, "{:?}", outcome.summary.drops);
    let order = outcome.summary.order.expect("the checker is on");
    assert_eq!(order.packets_under_way, 0, "15 ms after the last was sent, none is on its way any more");
}

/// Overload by long flows plus an incast of short flows: the queues keep the short flows' packets.
#[test]
fn what_is_almost_done_stays_and_what_has_long_to_go_is_driven_out() {
    let long = "kind = \"long\"\nsources = [\"h3\", \"h6\", \"h9\"]\ndestinations = [\"h0\", \"h0\", \"h0\"]\n";
    let short = format!("[[flows]]\nname = \"short\"\ntransport = \"t\"\n{INCAST}");
    let slowest = |host: &str| {
        let host = format!("[host]\n{host}[measure]\n");
        let outcome = run(&text(1, TCP, &format!("{long}{short}"), VERTIGO).replace("[measure]\n", &host));
        (driven_out(&outcome), slowest_flow_us(&outcome))
    };
    let ((unmarked_out, unmarked_us), (out, us)) = (slowest(""), slowest(LAYERS));
    // Without tags all packets have equal rank, so none is evicted.
    assert!(unmarked_out == 0 && out > 50, "{unmarked_out} and {out} packets were driven out");
    assert!(us * 2 < unmarked_us, "the slowest of the short flows took {us} us, without marks {unmarked_us} us");
}

#[test]
fn the_random_choices_follow_the_seed() {
    let hash = |seed| run(&text(seed, TCP, INCAST, VERTIGO)).summary.trace_hash;
    assert_eq!(hash(1), hash(1));
    assert_ne!(hash(1), hash(2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any load: each packet arrives once or is lost once, at no host but its own, and takes no more hops than its
    /// time to live.
    #[test]
    fn each_packet_arrives_at_its_host_or_is_lost_once(
        seed in 1u64..1_000, fan_in in 2u32..9, size_kb in 1u32..60,
        time_to_live in prop::sample::select(vec![4u8, 16, 64, 250]),
        candidates in 1u8..3, to_arrival_port in any::<bool>(),
        mechanism in prop::sample::select(vec!["", "ports = [\"leaf0\", \"leaf2\"]\n"]),
        marking in prop::sample::select(vec!["", MARKED, LAYERS]),
    ) {
        let flows = INCAST.replace("fan_in = 6", &format!("fan_in = {fan_in}")).replace("15 KB", &format!("{size_kb} \
            KB"));
        let settings = format!("{VERTIGO}candidates = {candidates}\nto_arrival_port = {to_arrival_port}\n{mechanism}");
        let host = format!("[host]\ntime_to_live = {time_to_live}\n{marking}[measure]\n");
        let outcome = run(&text(seed, TCP, &flows, &settings).replace("[measure]\n", &host));
        prop_assert_eq!(drops(&outcome, "arrived at the wrong host"), 0);
        let order = outcome.summary.order.as_ref().expect("the checker is on");
        prop_assert_eq!(order.packets_duplicated, 0);
        prop_assert!(order.packets_sent > 0);
        prop_assert!(most_deflections(&outcome) < u64::from(time_to_live));
    }
}
