//! Bolt's senders and switches together, and compared with DCTCP and Swift under incast.

use hitless_simulation::Outcome;

use crate::support::{self, counter, ideal, leaf_spine, numbers, run, times};

const BOLT: &str = "congestion = \"bolt\"\n";
const SWITCHES: &str = "[[mechanism]]\nkind = \"bolt\"\nthreshold = \"10 KB\"\n";

/// `senders` hosts of a dumbbell send to as many receivers for 10 ms through a link of 10 Gb/s; the round-trip time is
/// 19 us.
fn dumbbell(senders: usize, transport: &str, rest: &str) -> Outcome {
    long_dumbbell("5 us", senders, transport, rest)
}

/// The same through a link with this delay.
fn long_dumbbell(delay: &str, senders: usize, transport: &str, rest: &str) -> Outcome {
    let (fabric, switch) = (support::dumbbell(senders, "2 us", delay), ideal("1 MB"));
    run(&format!(
        "name = \"bolt\"\nduration = \"10 ms\"\n{fabric}{switch}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nrto_min = \"5 ms\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0..h{}\"]\n\
         destinations = [\"h{senders}..h{}\"]\n{rest}\n\
         [measure]\norder = true\nqueue = [{{ ports = [\"left->right\"], period = \"5 us\" }}]\n\
         goodput = [{{ group = \"f\", period = \"100 us\" }}]\n",
        senders - 1,
        2 * senders - 1,
    ))
}

/// Queue and share of the link in the second half of the run.
fn second_half(outcome: &Outcome) -> (f64, f64) {
    let mean = |values: &[u64]| values.iter().sum::<u64>() as f64 / values.len() as f64;
    let queue = numbers(outcome, "queues", "value_bytes");
    let goodput = numbers(outcome, "goodput", "delivered_bytes");
    let delivered: u64 = goodput[goodput.len() / 2..].iter().sum();
    let possible = 10e9 / 8.0 * 5e-3 * 1_448.0 / 1_538.0;
    (mean(&queue[queue.len() / 2..]), delivered as f64 / possible)
}

#[test]
fn the_queue_stays_near_the_threshold_and_the_link_is_full() {
    for senders in [2, 8] {
        let outcome = dumbbell(senders, BOLT, SWITCHES);
        let (queue_bytes, share) = second_half(&outcome);
        assert!((2_000.0..20_000.0).contains(&queue_bytes), "{senders} senders: {queue_bytes} bytes");
        assert!(share > 0.97, "{senders} senders: {share} of the link");
        assert!(outcome.summary.drops.is_empty(), "{:?}", outcome.summary.drops);
        let notices = counter(&outcome, "notices_sent");
        let heard: u64 = numbers(&outcome, "goodput", "congestion_echoes").iter().sum();
        // Goodput is sampled every 100 us, so the last interval may be missing.
        assert!(notices > 0 && heard > notices * 9 / 10 && heard <= notices, "{heard} of {notices} notices heard");
    }
}

#[test]
fn the_order_checker_knows_packets_whose_flags_switches_change() {
    let outcome = dumbbell(2, BOLT, SWITCHES);
    let order = outcome.summary.order.expect("it was asked for");
    assert_eq!((order.packets_lost, order.packets_reordered, order.packets_duplicated), (0, 0, 0));
}

#[test]
fn bandwidth_that_nobody_uses_is_taken_at_once() {
    // An initial window of 10 on a path that holds 90 segments: with one segment every 110 us, it would be full only
    // after 9 ms.
    let second_ms = |transport: &str, switches: &str| {
        let outcome = long_dumbbell("50 us", 1, transport, switches);
        let delivered: u64 = numbers(&outcome, "goodput", "delivered_bytes")[10..20].iter().sum();
        delivered as f64 / (10e9 / 8.0 * 1e-3 * 1_448.0 / 1_538.0)
    };
    let granted = second_ms(BOLT, SWITCHES);
    let alone = second_ms("congestion = { kind = \"swift\", base_target = \"200 us\" }\n", "");
    assert!(granted > 0.95 && alone < 0.5, "{granted} of the link, {alone} by additive increase alone");
}

#[test]
fn many_flows_queue_a_segment_each_unless_they_add_less() {
    // 64 flows, while path and threshold hold 22 segments. Each notice halves a window of one segment or less, and each
    // round-trip time adds a whole segment regardless of the size, so about one segment of each flow is in flight.
    let start = format!("{BOLT}initial_window = 1\n");
    let (queue_bytes, share) = second_half(&dumbbell(64, &start, SWITCHES));
    assert!((40_000.0..75_000.0).contains(&queue_bytes) && share > 0.97, "{queue_bytes} bytes, {share} of the link");
    let less = "congestion = { kind = \"bolt\", ai = 0.1 }\ninitial_window = 1\n";
    let (less_bytes, less_share) = second_half(&dumbbell(64, less, SWITCHES));
    assert!(less_bytes < 25_000.0 && less_share > 0.9, "{less_bytes} bytes, {less_share} of the link");
}

/// Twenty simultaneous responses of 50 KB every 2 ms. Returns the longest queue and the mean completion time of a
/// response in picoseconds.
fn incast(transport: &str, switch: &str, rest: &str) -> (u64, f64) {
    let (fabric, buffer) = (leaf_spine([2, 2, 12], [10, 40]), ideal("300 KB"));
    let outcome = run(&format!(
        "name = \"incast\"\nduration = \"20 ms\"\n{fabric}{buffer}{switch}\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nrto_min = \"10 ms\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"incast\"\ntransport = \"t\"\nfan_in = 20\nsize = \"50 KB\"\n\
         period = \"2 ms\"\nstop = \"15 ms\"\nclients = [\"h0\"]\n{rest}\n\
         [measure]\nqueue = [{{ ports = [\"leaf0->h0\"], period = \"5 us\" }}]\n"
    ));
    let longest = *numbers(&outcome, "queues", "value_bytes").iter().max().expect("it was sampled");
    let (delivered, started) = (times(&outcome, "messages", "delivered_ps"), times(&outcome, "messages", "started_ps"));
    let rows = delivered.iter().zip(started).filter(|(delivered, _)| **delivered >= 0);
    let waits: Vec<i64> = rows.map(|(delivered, started)| delivered - started).collect();
    (longest, waits.iter().sum::<i64>() as f64 / waits.len() as f64)
}

#[test]
fn under_incast_bolt_and_swift_queue_less_than_dctcp() {
    let start = "initial_window = 4\n";
    let dctcp = incast(&format!("congestion = \"dctcp\"\n{start}"), "ecn = { threshold = \"65 packets\" }", "");
    let swift = incast(&format!("congestion = \"swift\"\n{start}"), "", "");
    let bolt = incast(&format!("{BOLT}{start}"), "", SWITCHES);
    assert!(swift.0 < dctcp.0 && bolt.0 < dctcp.0, "longest queues: DCTCP {dctcp:?}, Swift {swift:?}, Bolt {bolt:?}");
}
