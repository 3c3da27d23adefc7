//! AFQ in whole fabrics: shares, conservation, and agreement between its schedulers.

use hitless_simulation::Outcome;

use crate::support::{self, counter, numbers, run};

fn example() -> String {
    support::example("afq-neighbours").replace("duration = \"50 ms\"", "duration = \"10 ms\"")
}

/// The example with additional settings of its mechanism.
fn with(settings: &str) -> String {
    example().replace("measure_estimation = true", &format!("measure_estimation = true\n{settings}"))
}

fn delivered(outcome: &Outcome) -> Vec<u64> {
    numbers(outcome, "flows", "delivered_bytes").to_vec()
}

/// Jain's index of the flows' bytes (Jain, Chiu and Hawe 1984).
fn jain(bytes: &[u64]) -> f64 {
    let sum: f64 = bytes.iter().map(|&bytes| bytes as f64).sum();
    let squares: f64 = bytes.iter().map(|&bytes| (bytes as f64).powi(2)).sum();
    sum * sum / (bytes.len() as f64 * squares)
}

#[test]
fn a_neighbour_that_does_not_yield_gets_its_share_and_no_more() {
    let outcome = run(&example());
    let bytes = delivered(&outcome);
    assert!(jain(&bytes) > 0.99, "{bytes:?}");
    assert!(counter(&outcome, "packets_dropped_too_far_ahead") > 1_000);
    assert_eq!(counter(&outcome, "packets_refused_by_buffer"), 0);
}

/// Regression: with a period of 10 us the four fair flows fell from 1.88 to 0.20 Gb/s, and the neighbour had 8.14,
/// because 16 rounds of five flows take 97 us.
#[test]
fn two_groups_share_a_link_as_rotating_strict_priority_does() {
    for text in [example(), example().replace("sources = [\"h1..h4\"]", "sources = [\"h1\"]")] {
        let rotating = delivered(&run(&text));
        let groups = "measure_estimation = true\nscheduler = { kind = \"two-groups\" }";
        let outcome = run(&text.replace("measure_estimation = true", groups));
        assert_eq!(counter(&outcome, "packets_left_behind"), 0);
        assert!(counter(&outcome, "swaps") > 50);
        for (rotating, groups) in rotating.iter().zip(delivered(&outcome)) {
            let ratio = groups as f64 / *rotating as f64;
            assert!((0.98..1.02).contains(&ratio), "{rotating} B and {groups} B");
        }
    }
    let hasty = run(&with("scheduler = { kind = \"two-groups\", period = \"10 us\" }"));
    let is_told = |warning: &String| warning.contains("left behind by a swap: the period of 10 us");
    assert!(hasty.summary.warnings.iter().any(is_told), "{:?}", hasty.summary.warnings);
}

#[test]
fn without_afq_the_same_neighbour_takes_nearly_all() {
    let text = example().replace("dctcp", "newreno");
    let cut = text.find("[[mechanism]]").expect("the example has a mechanism");
    let bytes = delivered(&run(&text[..cut]));
    assert!(jain(&bytes) < 0.5, "{bytes:?}");
}

#[test]
fn deficit_round_robin_with_a_quantum_that_lasts_is_the_rotating_strict_priority() {
    let rotating = run(&with("scheduler = { kind = \"rotating-strict-priority\", late = \"named-queue\" }"));
    let deficit = run(&with("scheduler = { kind = \"deficit-round-robin\" }"));
    assert_eq!(rotating.summary.trace_hash, deficit.summary.trace_hash);
    assert_eq!(rotating.tables, deficit.tables);
    let short = run(&with("scheduler = { kind = \"deficit-round-robin\", quantum = \"1518 B\" }"));
    assert_ne!(short.summary.trace_hash, deficit.summary.trace_hash);
}

/// Long flows of packet pair through a bottleneck of 10 Gb/s between hosts with 100 Gb/s.
fn pairs(flows: usize, delay: &str, transport: &str, afq: &str) -> Outcome {
    run(&format!(
        "name = \"pairs\"\nduration = \"40 ms\"\n{}{}\
         [[transport]]\nname = \"t\"\nkind = \"packet-pair\"\nrto_min = \"200 us\"\nrto_initial = \"1 ms\"\n\
         ack_delay = \"200 us\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0..h{}\"]\n\
         destinations = [\"h{flows}..h{}\"]\n[[mechanism]]\nkind = \"afq\"\necn_rounds = 8\n{afq}\n",
        support::dumbbell(flows, delay, delay).replacen("10 Gbps", "100 Gbps", 1),
        support::ideal("512 KB"),
        flows - 1,
        2 * flows - 1
    ))
}

/// Share of the bottleneck that the flows fill together.
fn filled(outcome: &Outcome) -> f64 {
    let bytes: u64 = delivered(outcome).iter().sum();
    bytes as f64 * 8.0 / (40e-3 * 10e9) * 1_538.0 / 1_448.0
}

/// Regression: BpR / gap gave the rate of an 80 Gb/s link, and 10,237 of 26,646 packets were dropped.
#[test]
fn packet_pair_measures_a_slower_link_with_rounds_of_eight_frames() {
    for flows in [1, 4] {
        let rounds = "bytes_per_round = \"12144 B\"";
        let outcome = pairs(flows, "8 us", rounds, rounds);
        assert_eq!(outcome.summary.drops.values().sum::<u64>(), 0, "{flows} flows");
        assert!(filled(&outcome) > 0.98, "{flows} flows: {}", filled(&outcome));
    }
}

/// Regression: each flow kept measuring the whole link; the two never stopped dropping and filled only 73 % of it.
#[test]
fn two_flows_of_packet_pair_share_a_long_link() {
    let outcome = pairs(2, "33333 ns", "sack = false\nrack_tlp = false", "");
    let bytes = delivered(&outcome);
    assert!(filled(&outcome) > 0.94 && jain(&bytes) > 0.999, "{} {bytes:?}", filled(&outcome));
    let dropped = outcome.summary.drops.values().sum::<u64>();
    assert!(dropped < 100, "{dropped}");
    let figure = pairs(2, "33333 ns", "sack = false\nrack_tlp = false\nlongest_pair = 1", "");
    assert!(figure.summary.drops.values().sum::<u64>() > 1_000);
}

#[test]
fn queues_that_are_too_short_for_rate_and_round_trip_are_told() {
    let is_told = |delay, settings| {
        let afq = format!("ports = [\"left->right\"]\n{settings}");
        let warnings = pairs(1, delay, "", &afq).summary.warnings;
        warnings.iter().any(|text| text.contains("take bytes_per_round = \"6511 B\""))
    };
    assert!(is_told("166667 ns", ""));
    assert!(!is_told("166667 ns", "round_trip = \"1 ms\""));
    assert!(!is_told("8 us", ""));
}

/// The example with messages of 10 KB in class 1; its other flows have class 0. `switch` has the queues of a port.
fn with_control(switch: &str, mechanism: &str) -> Outcome {
    let text = example().replace("preset = \"ideal\"", &format!("preset = \"ideal\"\n{switch}"));
    let cut = text.find("[[mechanism]]").expect("the example has a mechanism");
    run(&format!(
        "{}[[flows]]\nname = \"control\"\nkind = \"sequence\"\ntransport = \"newreno\"\nclass = {}\ncount = 60\n\
         gap = \"50 us\"\nsources = [\"h0\"]\ndestinations = [\"h9\"]\nsizes = {{ kind = \"fixed\", bytes = \"10 KB\" }}\n\
         {mechanism}",
        text[..cut].replace("dctcp", "newreno"),
        u8::from(switch.contains("queues_per_port")),
    ))
}

/// The mean time of the control messages in microseconds.
fn control_us(outcome: &Outcome) -> f64 {
    let [started, delivered] = ["started_ps", "delivered_ps"].map(|name| support::times(outcome, "messages", name));
    let both = started.iter().zip(delivered).filter(|(_, delivered)| **delivered >= 0);
    let took_us: Vec<_> = both.map(|(started, delivered)| (delivered - started) as f64 / 1e6).collect();
    assert_eq!(took_us.len(), 60, "the other flows never end");
    took_us.iter().sum::<f64>() / 60.0
}

#[test]
fn a_class_above_the_fair_ones_is_as_fast_as_without_afq() {
    let strict = "queues_per_port = 2\nscheduler = \"strict\"";
    let plain = with_control(strict, "");
    let fair = with_control(strict, "[[mechanism]]\nkind = \"afq\"\nclasses = [0]\nmeasure_estimation = true\n");
    let ratio = control_us(&fair) / control_us(&plain);
    assert!((0.9..1.1).contains(&ratio), "{ratio}");
    // The flows of the example come last.
    let [without, bytes] = [&plain, &fair].map(|outcome| delivered(outcome).split_off(60));
    assert!(jain(&without) < 0.5 && jain(&bytes) > 0.99, "{without:?} {bytes:?}");
    let all = with_control("", "[[mechanism]]\nkind = \"afq\"\n");
    assert!(control_us(&all) > 1.5 * control_us(&fair), "{} {}", control_us(&all), control_us(&fair));
}

/// A lossy link whose protection pauses classes, below AFQ for one of them.
#[test]
fn linkguardian_keeps_every_packet_of_all_classes_in_order() {
    let guarded = |kind: &str| {
        let link = "[[link]]\nname = \"left->right\"\nloss = { kind = \"bernoulli\", rate = 0.003 }\n";
        let strict = "queues_per_port = 2\nscheduler = \"strict\"";
        with_control(
            strict,
            &format!(
                "{link}[[mechanism]]\nkind = \"afq\"\nclasses = [{kind}]\n\
             [[mechanism]]\nkind = \"linkguardian\"\nlink = \"left->right\"\nbuffering = \"paused-queue\"\n\
             pause_threshold = \"4 KB\"\nresume_threshold = \"2 KB\"\n[measure]\norder = true\n"
            ),
        )
    };
    for class in ["0", "1"] {
        let outcome = guarded(class);
        assert!(counter(&outcome, "pauses") > 10, "class {class}: {}", counter(&outcome, "pauses"));
        assert!(control_us(&outcome) < 100.0, "class {class}: {}", control_us(&outcome));
    }
}

/// The exact bids counted a spraying connection as one flow, and the sketch counts each of its paths.
#[test]
fn exact_bids_count_paths_of_spraying_connections_as_the_sketch_does() {
    for update in ["figure-3", "predicated-increment"] {
        let outcome = support::run(&format!(
            "name = \"paths\"\nduration = \"1 ms\"\n{}[switch]\npreset = \"ideal\"\n\
             [[mechanism]]\nkind = \"afq\"\nmeasure_estimation = true\nsketch = {{ update = \"{update}\" }}\n\
             [[transport]]\nname = \"t\"\nkind = \"uet\"\n\
             [[flows]]\nname = \"f\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
             destinations = [\"h1\"]\n",
            support::dumbbell(1, "1 us", "1 us"),
        ));
        assert_eq!(outcome.violations, Vec::<String>::new(), "{update}");
        assert!(support::counter(&outcome, "bids_checked") > 100, "{update}");
    }
}
