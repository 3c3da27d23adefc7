//! RIMM in a whole fabric: figure 6's leaf-spine, and a burst that exceeds the queue of its leaf.

use hitless_simulation::Outcome;

use crate::support::{self, counter, numbers, texts};

/// A steady 3 Gbps, plus a burst that exceeds leaf2's queue by 400 KB at 10 Gbps. Above the threshold, the queue has
/// room for 15 KB, which is a round trip to a spine at 40 Gbps.
fn run(mechanism: &str) -> Outcome {
    let fabric = support::leaf_spine([3, 2, 2], [10, 40]).replace("1 us", "100 ns");
    support::run(&format!(
        "name = \"rimm\"\nduration = \"3 ms\"\n{fabric}\
         [switch]\nbuffer = {{ kind = \"static\", per_port = \"90 KB\" }}\nchecked = true\n\
         [[transport]]\nname = \"background\"\nkind = \"udp\"\nrate = \"3 Gbps\"\n\
         [[transport]]\nname = \"burst\"\nkind = \"udp\"\nrate = \"10 Gbps\"\n\
         [[flows]]\nname = \"background\"\nkind = \"constant-rate\"\ntransport = \"background\"\n\
         sources = [\"h0\"]\ndestinations = [\"h4\"]\nstop = \"2 ms\"\n\
         [[flows]]\nname = \"burst\"\nkind = \"constant-rate\"\ntransport = \"burst\"\n\
         sources = [\"h2\"]\ndestinations = [\"h4\"]\nstart = \"500 us\"\nstop = \"820 us\"\n\
         [measure]\norder = true\n{mechanism}"
    ))
}

fn with(settings: &str) -> Outcome {
    run(&format!("[[mechanism]]\nkind = \"rimm\"\n{settings}\n"))
}

/// Sum of `value` over the rows of a table with `name` in the column `by`.
fn sum(outcome: &Outcome, table: &str, by: &str, name: &str, value: &str) -> u64 {
    let (names, values) = (texts(outcome, table, by), numbers(outcome, table, value));
    names.iter().zip(values).filter(|(known, _)| *known == name).map(|(_, value)| value).sum()
}

fn lost_and_reordered(outcome: &Outcome) -> (u64, u64) {
    let order = outcome.summary.order.as_ref().expect("order is measured");
    (order.packets_lost, order.packets_reordered)
}

#[test]
fn a_burst_that_the_queue_cannot_hold_is_lost_without_rimm_and_whole_and_in_order_with_it() {
    let basic = run("");
    let (lost, reordered) = lost_and_reordered(&basic);
    assert!(lost > 10 && reordered == 0, "{lost} {reordered}");
    for release in ["flowlet-gap", "exact"] {
        let outcome = with(&format!("release = \"{release}\"\nports = [\"leaf2->h4\"]"));
        assert_eq!(lost_and_reordered(&outcome), (0, 0), "{release}");
        assert!(counter(&outcome, "packets_detoured") > 10);
        assert_eq!(counter(&outcome, "strays"), 0);
        assert!(sum(&outcome, "histograms", "quantity", "message_round_trip_ns", "count") > 0);
    }
    let outcome = with("release = \"exact\"");
    assert_eq!(lost_and_reordered(&outcome), (0, 0));
    assert_eq!((counter(&outcome, "packets_away"), counter(&outcome, "slots_open")), (0, 0));
    let (_, reordered) = lost_and_reordered(&with("release = \"unordered\""));
    assert!(reordered > 10, "{reordered}");
}

#[test]
fn runs_repeat_and_recording_changes_nothing() {
    let [once, again, recorded] = ["", "", "record_choices = true"].map(with);
    assert_eq!(once.summary.trace_hash, again.summary.trace_hash);
    assert_eq!(once.summary.trace_hash, recorded.summary.trace_hash);
    let is_empty = |outcome: &Outcome| numbers(outcome, "series", "value").is_empty();
    assert!(is_empty(&once) && !is_empty(&recorded));
}

#[test]
fn every_setting_of_what_the_switch_does_changes_something() {
    let usual = with("").summary.trace_hash;
    for settings in [
        "threshold = \"20 KB\"",
        "segment = \"4 KB\"",
        "release = \"exact\"",
        "neighbour_for_returns = \"least-loaded\"",
        "neighbour_change = \"any-time\"",
        "messages = \"in-order\"",
        "flowlet_gap = \"2 us\"",
        "congestion_after = \"2 us\"",
        "flow_detour_max = \"20 us\"",
        "detours_max = 2",
        "hash_bits = 0",
        "ports = [\"leaf0\"]",
    ] {
        assert_ne!(with(settings).summary.trace_hash, usual, "{settings}");
    }
    // A detour keeps its neighbour, so it requests depths too rarely for their age to matter.
    let any_time = "neighbour_change = \"any-time\"\n";
    let forgetful = format!("{any_time}telemetry_lifetime = \"100 ns\"");
    assert_ne!(with(&forgetful).summary.trace_hash, with(any_time).summary.trace_hash);
}

#[test]
fn linkguardian_on_the_way_of_a_detour_repairs_what_the_link_corrupts() {
    let lossy = |kind: &str| {
        let link = "[[link]]\nname = \"spine0<->leaf2\"\nloss = { kind = \"bernoulli\", rate = 0.01 }\n";
        let guardian = |name| format!("[[mechanism]]\nkind = \"linkguardian\"\nlink = \"{name}\"\n");
        let guardians = [guardian("spine0->leaf2"), guardian("leaf2->spine0")].concat();
        run(&format!(
            "[[mechanism]]\nkind = \"rimm\"\nrelease = \"exact\"\n{link}{}",
            if kind == "protected" { guardians } else { String::new() }
        ))
    };
    let (lost, _) = lost_and_reordered(&lossy("bare"));
    assert!(lost > 0);
    assert_eq!(lost_and_reordered(&lossy("protected")).0, 0);
}

/// Three hosts send 160 KB each to a fourth, `count` times, through a queue of 300 KB with the threshold at 250 KB. The
/// fourth host's neighbour sends 1 Gb/s back to the first leaf.
fn bursts(period: &str, count: u32, settings: &str) -> Outcome {
    let fabric = support::leaf_spine([3, 2, 4], [10, 40]).replace("1 us", "50 ns");
    let burst = |source: &str| {
        format!(
            "[[flows]]\nname = \"{source}\"\nkind = \"schedule\"\ntransport = \"burst\"\n\
             sizes = {{ kind = \"fixed\", bytes = \"160 KB\" }}\nsources = [\"{source}\"]\n\
             destinations = [\"h8\"]\nstart = \"1 ms\"\nperiod = \"{period}\"\ncount = {count}\n"
        )
    };
    let bursts: String = ["h0", "h4", "h1"].map(burst).concat();
    support::run(&format!(
        "name = \"bursts\"\nduration = \"20 ms\"\n{fabric}\
         [switch]\npreset = \"tofino-like\"\nbuffer = {{ kind = \"static\", per_port = \"300 KB\" }}\n\
         [[transport]]\nname = \"burst\"\nkind = \"udp\"\nrate = \"10 Gbps\"\n\
         [[transport]]\nname = \"up\"\nkind = \"udp\"\nrate = \"1 Gbps\"\n{bursts}\
         [[flows]]\nname = \"up\"\nkind = \"constant-rate\"\ntransport = \"up\"\n\
         sources = [\"h9\"]\ndestinations = [\"h2\"]\nstop = \"18 ms\"\n\
         [measure]\norder = true\n[[mechanism]]\nkind = \"rimm\"\n{settings}\n"
    ))
}

/// Regression: alarms less than 1 ms apart counted as one congestion, so detours ended and 83 to 90 packets were lost.
#[test]
fn bursts_whose_packets_are_back_before_the_next_are_microbursts() {
    for (period, count) in [("800 us", 12), ("500 us", 20)] {
        for settings in ["", "release = \"exact\"", "flowlet_gap = \"100 us\""] {
            let outcome = bursts(period, count, settings);
            assert!(counter(&outcome, "packets_detoured") > 100);
            assert_eq!(counter(&outcome, "detours_ended_by_congestion"), 0, "{period} {settings}");
            assert_eq!(lost_and_reordered(&outcome), (0, 0), "{period} {settings}");
        }
    }
}

/// Regression: a packet of the upward flow, which cannot be detoured, ended the detour of the bursts and reordered 127
/// of their packets.
#[test]
fn flows_that_share_a_slot_keep_their_own_order() {
    for settings in ["hash_bits = 0", "hash_bits = 0\nrelease = \"exact\""] {
        let outcome = bursts("5 ms", 3, settings);
        assert!(counter(&outcome, "packets_detoured") > 100);
        assert_eq!(lost_and_reordered(&outcome), (0, 0), "{settings}");
    }
}
