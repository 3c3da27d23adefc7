//! Swift in a fabric: hop counts come from the switches, settings reach the hosts.

use hitless_simulation::Outcome;

use crate::support;

/// Two hosts send to two of the other leaf for 20 ms, over three switches with a shared link of 10 Gb/s.
fn run(transport: &str) -> Outcome {
    let (fabric, switch) = (support::leaf_spine([2, 1, 2], [40, 10]), support::ideal("300 KB"));
    let text = format!(
        "name = \"swift\"\nduration = \"20 ms\"\n{fabric}{switch}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nrto_min = \"10 ms\"\n{transport}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"long\"\nsources = [\"h0\", \"h1\"]\n\
         destinations = [\"h2\", \"h3\"]\n\
         [[measure.queue]]\nports = [\"leaf0->spine0\"]\nperiod = \"10 us\"\n"
    );
    support::run(&text)
}

/// Mean queue of the bottleneck in bytes in the second half of the run.
fn queue_bytes(outcome: &Outcome) -> f64 {
    let depths = support::numbers(outcome, "queues", "value_bytes");
    let later = &depths[depths.len() / 2..];
    later.iter().sum::<u64>() as f64 / later.len() as f64
}

fn swift(settings: &str) -> String {
    format!("congestion = {{ kind = \"swift\", fs_range = \"0 us\", {settings} }}")
}

#[test]
fn the_queue_is_what_the_target_leaves_after_three_hops() {
    let without = run(&swift("base_target = \"40 us\", per_hop = \"0 us\""));
    let with = run(&swift("base_target = \"40 us\", per_hop = \"10 us\""));
    // 30 us at 10 Gb/s.
    let (before, added) = (queue_bytes(&without), queue_bytes(&with) - queue_bytes(&without));
    // 40 us minus 8 us of link delay and the transmission of a packet and its acknowledgement.
    assert!((28_000.0..40_000.0).contains(&before), "{before} bytes");
    assert!((32_000.0..43_000.0).contains(&added), "{added} bytes more");
    assert!(with.summary.drops.is_empty(), "{:?}", with.summary.drops);
}

#[test]
fn the_largest_window_holds() {
    // Two windows of 5 segments are less than 10 us of line rate, so only simultaneous arrivals queue.
    let bounded = run(&swift("base_target = \"100 us\", max_cwnd = 5.0"));
    assert!(queue_bytes(&bounded) < 6.0 * 1_518.0, "{}", queue_bytes(&bounded));
}

#[test]
fn the_parameters_of_practical_packet_deflection_are_reachable() {
    let outcome = run("initial_window = 1\nmss = \"1452 B\"\nsack = false\nrack_tlp = false\n\
        congestion = { kind = \"swift\", base_target = \"60 us\", per_hop = \"30 us\", fs_range = \"300 us\", \
        fs_min_cwnd = 0.1, fs_max_cwnd = 100.0, ai = 1.0, beta = 0.8, max_mdf = 0.5, rtt_gain = 0.25, \
        min_cwnd = 0.001, max_cwnd = 43.0, retransmit_reset_threshold = 100 }");
    // Two windows of 43 segments of 1,522 bytes, minus the bytes in flight: the target of 150 us and more is never
    // reached.
    let queue = queue_bytes(&outcome);
    assert!((110_000.0..131_000.0).contains(&queue), "{queue} bytes");
}
