//! Deflection in a fabric: what it saves, where packets go, and what ends their wandering.

use hitless_fabric::results::Outcome;
use hitless_fabric::{Progress, Simulation, scenario};

/// Senders of other leaves send to h0 at once; the queues hold 20 frames.
fn text(transport: &str, flows: &str, mechanism: &str) -> String {
    format!(
        "name = \"deflection\"\nduration = \"20 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 3\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"40 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"30 KB\" }}\nchecked = true\n\
         depth_visible = \"ingress-and-egress\"\n\
         [measure]\norder = true\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\n{flows}\n{mechanism}\n"
    )
}

const TCP: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\n";
const INCAST: &str = "kind = \"incast\"\nfan_in = 6\nsize = \"15 KB\"\nperiod = \"1 ms\"\ncount = 15\nclients = [\"h0\"]\nservers = [\"h3..h11\"]\n";
const OVERLOAD: &str =
    "kind = \"constant-rate\"\nsources = [\"h3\", \"h6\"]\ndestinations = [\"h0\", \"h0\"]\nstop = \"5 ms\"\n";
const UDP: &str = "kind = \"udp\"\nrate = \"9 Gbps\"\n";
const DIBS: &str = "[[mechanism]]\nkind = \"dibs\"\n";
const SIMPLE: &str = "[[mechanism]]\nkind = \"simple-deflection\"\n";
const FIVE_BIT: &str = "[[mechanism]]\nkind = \"simple-deflection\"\nstart = \"five-bit\"\n";
const QUANTILE: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\n";
const DISTRIBUTION: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\ncandidates = 2\nmemory = true\n\
                            relative_priority = { kind = \"distribution\" }\n";
const ALL: [&str; 5] = [DIBS, SIMPLE, FIVE_BIT, QUANTILE, DISTRIBUTION];

fn run(text: &str) -> Outcome {
    let scenario = scenario::check(text, "dibs").unwrap_or_else(|error| panic!("{error}"));
    let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}"));
    let outcome = simulation.run(&Progress::default());
    assert!(outcome.violations.is_empty(), "{:?}", outcome.violations);
    outcome
}

/// By reason.
fn drops(outcome: &Outcome, reason: &str) -> u64 {
    outcome.summary.drops.get(reason).copied().unwrap_or(0)
}

#[test]
fn an_incast_that_overflows_one_queue_loses_nothing_when_what_is_too_much_goes_elsewhere() {
    let without = run(&text(TCP, INCAST, ""));
    assert!(drops(&without, "queue full") > 50, "{:?}", without.summary.drops);
    for mechanism in [DIBS, SIMPLE, FIVE_BIT] {
        let with = run(&text(TCP, INCAST, mechanism));
        // Hosts send again what comes late, and the second copy may find the flow over.
        let lost = ["queue full", "time to live"].map(|reason| drops(&with, reason));
        assert_eq!(lost, [0, 0], "{mechanism}: {:?}", with.summary.drops);
        let order = with.summary.order.expect("the checker is on");
        assert!(order.packets_reordered > 0, "{order:?}");
        assert_eq!(with.summary.flows.completed, 15 * 6, "{mechanism}: all within 20 ms");
    }
}

#[test]
fn preemptive_deflection_gives_up_what_its_deflection_port_does_not_let_in() {
    let overload = OVERLOAD
        .replace("\"h3\", \"h6\"", "\"h3\", \"h6\", \"h9\"")
        .replace("\"h0\", \"h0\"", "\"h0\", \"h0\", \"h0\"");
    let outcome = run(&text(UDP, &overload, QUANTILE));
    assert!(drops(&outcome, "given up by a mechanism") > 100, "{:?}", outcome.summary.drops);
    assert_eq!(drops(&outcome, "queue full"), 0, "it knows which queues are full");
}

#[test]
fn the_time_to_live_ends_what_an_overload_sends_round_for_ever() {
    for mechanism in ALL {
        let outcome = run(&text(UDP, OVERLOAD, mechanism));
        // 18 Gbps to a link of 10: what is too much must end somewhere.
        let ended = drops(&outcome, "time to live") + drops(&outcome, "given up by a mechanism");
        assert!(ended > 100, "{mechanism}: {:?}", outcome.summary.drops);
        let order = outcome.summary.order.expect("the checker is on");
        assert_eq!(order.packets_under_way, 0, "15 ms after the last was sent, none is on its way any more");
    }
}

#[test]
fn no_host_gets_what_is_for_another() {
    for (flows, mechanism) in [INCAST, OVERLOAD].into_iter().flat_map(|flows| ALL.map(|mechanism| (flows, mechanism))) {
        let transport = if flows == INCAST { TCP } else { UDP };
        let outcome = run(&text(transport, flows, mechanism));
        assert_eq!(drops(&outcome, "arrived at the wrong host"), 0);
        let order = outcome.summary.order.expect("the checker is on");
        let arrived = order.packets_sent - order.packets_lost - order.packets_under_way;
        assert!(arrived > 0 && order.packets_duplicated == 0, "{order:?}");
    }
}

#[test]
fn the_random_choices_follow_the_seed_and_move_nothing_else() {
    let run_with = |seed: u64, mechanism: &str| {
        let text = text(TCP, INCAST, mechanism).replace("duration", &format!("seed = {seed}\nduration"));
        run(&text).summary.trace_hash
    };
    for mechanism in ALL {
        assert_eq!(run_with(1, mechanism), run_with(1, mechanism));
        assert_ne!(run_with(1, mechanism), run_with(2, mechanism), "{mechanism}");
        let kind = mechanism.lines().nth(1).expect("a line with its kind");
        let never = mechanism.replace(kind, &format!("{kind}\nports = [\"leaf3\"]"));
        assert_eq!(run_with(1, &never), run_with(1, ""), "a switch on which nothing is full changes nothing");
    }
}
