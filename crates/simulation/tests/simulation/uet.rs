//! Spraying connections in a fat tree of 16 hosts, compared with Ultra Ethernet's simulator.

use hitless_core::engine::Progress;
use hitless_simulation::Outcome;

use crate::checkpoints;
use crate::support::{self, simulation, sound, sum, times};

const CONGESTIONS: [&str; 3] = ["nscc", "rccc", "both"];

/// The fabric of the simulator's validation: 100 Gb/s, links of 1 us, buffers of a bandwidth-delay product.
fn fabric(congestion: &str, more: &str, flows: &str) -> String {
    fabric_of((100, 1_000), congestion, more, flows)
}

/// The fabric with links of another rate in Gb/s and delay in nanoseconds.
fn fabric_of((gbps, delay_ns): (u64, u64), congestion: &str, more: &str, flows: &str) -> String {
    format!(
        "name = \"uet\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n\
         [topology]\nkind = \"fat-tree\"\nk = 4\n\
         host_link = {{ rate = \"{gbps} Gbps\", delay = \"{delay_ns} ns\", overhead_bytes = 0 }}\n\
         core_link = {{ rate = \"{gbps} Gbps\", delay = \"{delay_ns} ns\", overhead_bytes = 0 }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"178450 B\" }}\n\
         ecn = {{ threshold = \"37350 B\", maximum = \"145250 B\", probability = 1.0, at = \"dequeue\" }}\n\
         [[mechanism]]\nkind = \"trimming\"\ntrimmed_frame = \"64 B\"\nqueue = \"356900 B\"\n\
         [[transport]]\nname = \"t\"\nkind = \"uet\"\ncongestion = \"{congestion}\"\n{more}\n{flows}"
    )
}

fn one(bytes: u64) -> String {
    format!(
        "[[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0\"]\ndestinations = [\"h13\"]\n\
         sizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\nperiod = \"1 ms\"\ncount = 1\n"
    )
}

const INCAST: &str = "[[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0..h14\"]\n\
                      destinations = [\"h15\"]\nsizes = { kind = \"fixed\", bytes = \"300 KB\" }\n\
                      period = \"1 ns\"\ncount = 15\n";
const LOSSY: &str = "[[link]]\nname = \"agg0->core0\"\nloss = { kind = \"bernoulli\", rate = 0.02 }\n\
                     [[link]]\nname = \"edge0->agg0\"\nloss = { kind = \"bernoulli\", rate = 0.02 }\n";

fn last_us(outcome: &Outcome) -> f64 {
    times(outcome, "flows", "finished_ps").iter().copied().max().unwrap_or(0) as f64 / 1e6
}

#[test]
fn one_connection_takes_as_long_as_in_the_authors_simulator() {
    // Theirs: 176.2 us with NSCC, 177.4 us with RCCC and with both.
    for (congestion, theirs, tolerance) in [("nscc", 176.2, 0.005), ("rccc", 177.4, 0.005), ("both", 177.4, 0.005)] {
        let outcome = support::run(&fabric(congestion, "", &one(2_000_000)));
        let ours = last_us(&outcome);
        assert!((ours / theirs - 1.0).abs() < tolerance, "{congestion}: {ours} us, theirs {theirs}");
        assert_eq!(sum(&outcome, "flows", "packets_retransmitted"), 0, "{congestion}");
    }
}

#[test]
fn one_connection_fills_paths_of_other_rates_and_lengths() {
    for (gbps, delay_ns) in [(10, 1_000), (100, 10_000), (400, 100), (800, 5_000)] {
        for congestion in CONGESTIONS {
            let outcome = support::run(&fabric_of((gbps, delay_ns), congestion, "", &one(20_000_000)));
            // 4,895 packets, five more hops of the last one, and an acknowledgement over six links.
            let bytes = 20_000_000 + 4_895 * 64 + 5 * 4_150 + 6 * 64;
            let ideal = (12 * delay_ns) as f64 / 1e3 + bytes as f64 * 8e-3 / gbps as f64;
            let share = last_us(&outcome) / ideal;
            let retransmitted = sum(&outcome, "flows", "packets_retransmitted");
            assert!((0.99..1.03).contains(&share), "{gbps} Gb/s, {delay_ns} ns, {congestion}: {share} times the ideal");
            assert_eq!(retransmitted, 0, "{gbps} Gb/s, {delay_ns} ns, {congestion}");
        }
    }
}

#[test]
fn an_incast_ends_and_a_lossy_fabric_delivers_every_byte() {
    for congestion in CONGESTIONS {
        for (flows, more) in [(INCAST, ""), (INCAST, LOSSY)] {
            let text = fabric(congestion, "", &format!("{flows}{more}"));
            let outcome = support::run(&text);
            assert_eq!(outcome.violations, Vec::<String>::new(), "{text}");
            assert_eq!(sum(&outcome, "flows", "delivered_bytes"), 15 * 300_000, "{text}");
            assert!(times(&outcome, "flows", "finished_ps").iter().all(|&at| at >= 0), "{text}");
        }
    }
}

/// Loses the 51st frame of the sending host, the last packet of a flow of 50 and one byte.
const LOSES_THE_LAST: &str =
    "[[link]]\nname = \"h0->edge0\"\nloss = { kind = \"periodic\", every = 1000000, first = 51 }\n";

#[test]
fn a_lost_last_packet_takes_a_probe_instead_of_the_timeout() {
    let run = |more: &str| {
        let text = fabric("nscc", more, &format!("{}{LOSES_THE_LAST}", one(50 * 4_086 + 1)));
        let outcome = support::run(&text);
        let counts = ["tail_loss_probes", "timeouts", "packets_retransmitted"].map(|name| sum(&outcome, "flows", name));
        (last_us(&outcome), counts)
    };
    let ((slow_us, by_timeout), (us, by_probe)) = (run(""), run("sack_recovery = true"));
    assert_eq!(by_probe, [1, 0, 1]);
    // A packet before the last one arrives, but only the last one asks for an acknowledgement.
    assert_eq!(by_timeout, [0, 2, 2]);
    // The timeout is 7 round trips after the loss. The probe goes 1.75 after the last acknowledgement, and comes back
    // after less than one; the acknowledgement itself is up to a round trip later than the loss.
    let round_trip_us = 14.023;
    assert!((3.0..6.0).contains(&((slow_us - us) / round_trip_us)), "{slow_us} and {us} us");
}

/// Trimmed originals shrank the window of connections with SACK recovery: an incast of 15 took 1,077 us instead of 632.
#[test]
fn sack_recovery_costs_little_where_switches_trim() {
    let flows = INCAST.replace("h0..h14", "h0..h3").replace("300 KB", "2 MB").replace("count = 15", "count = 4");
    for gbps in [10, 100, 400] {
        let run = |more: &str| support::run(&fabric_of((gbps, 1_000), "nscc", more, &flows));
        let (without, with) = (run(""), run("sack_recovery = true"));
        assert!(last_us(&with) < 1.05 * last_us(&without), "{gbps} Gb/s: {} us", last_us(&with));
        let duplicates = sum(&with, "flows", "packets_duplicate");
        assert!(duplicates < 40, "{gbps} Gb/s: {duplicates} of 1,960 packets arrive twice");
    }
}

#[test]
fn runs_go_on_from_checkpoints_and_are_the_same_in_partitions() {
    for congestion in CONGESTIONS {
        for choice in ["mixed", "reps", "mrc"] {
            let more = format!("path_choice = \"{choice}\"\nsack_recovery = true");
            let scenario = sound(&fabric(congestion, &more, &format!("{INCAST}{LOSSY}")));
            checkpoints::goes_on(&scenario, &[0.3, 0.7]);
            let whole = simulation(&scenario).run_divided(1, 1, &Progress::default());
            let divided = simulation(&scenario).run_divided(5, 2, &Progress::default());
            for (one, other) in whole.tables.iter().zip(&divided.tables) {
                assert_eq!(one, other, "{congestion}, {choice}: table {}", one.name);
            }
        }
    }
}
