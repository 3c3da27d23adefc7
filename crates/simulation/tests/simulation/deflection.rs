//! Deflection in a fabric: prevented losses, paths of deflected packets, and the end of their deflection.

use hitless_simulation::Outcome;

use crate::support::{counter, drops, ideal, leaf_spine, run, texts, times};

/// Hosts of other leaves send to h0 at the same time; the queues hold 20 frames.
pub fn text(transport: &str, flows: &str, mechanism: &str) -> String {
    let (fabric, switch) = (leaf_spine([4, 2, 3], [10, 40]), ideal("30 KB"));
    format!(
        "name = \"deflection\"\nduration = \"20 ms\"\n{fabric}\
         {switch}checked = true\ndepth_visible = \"ingress-and-egress\"\n\
         [measure]\norder = true\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\n{flows}\n{mechanism}\n"
    )
}

pub const TCP: &str = "kind = \"tcp\"\ncongestion = \"newreno\"\n";
pub const INCAST: &str = "kind = \"incast\"\nfan_in = 6\nsize = \"15 KB\"\nperiod = \"1 ms\"\ncount = 15\n\
    clients = [\"h0\"]\nservers = [\"h3..h11\"]\n";
pub const OVERLOAD: &str =
    "kind = \"constant-rate\"\nsources = [\"h3\", \"h6\"]\ndestinations = [\"h0\", \"h0\"]\nstop = \"5 ms\"\n";
pub const UDP: &str = "kind = \"udp\"\nrate = \"9 Gbps\"\n";
const DIBS: &str = "[[mechanism]]\nkind = \"dibs\"\n";
const SIMPLE: &str = "[[mechanism]]\nkind = \"simple-deflection\"\n";
const FIVE_BIT: &str = "[[mechanism]]\nkind = \"simple-deflection\"\nstart = \"five-bit\"\n";
const QUANTILE: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\n";
const DISTRIBUTION: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\ncandidates = 2\nmemory = true\n\
                            relative_priority = { kind = \"distribution\" }\n";
const LATE: &str =
    "[[mechanism]]\nkind = \"preemptive-deflection\"\noccupancy = { kind = \"update-gap\", gap = \"500 ns\" }\n";
const NAIVE: &str = "[[mechanism]]\nkind = \"dibs\"\nto_full_ports = true\n";
const PABO: &str = "[[mechanism]]\nkind = \"pabo\"\nthreshold = 0.5\n";
const ALL: [&str; 8] = [DIBS, NAIVE, SIMPLE, FIVE_BIT, QUANTILE, DISTRIBUTION, LATE, PABO];

#[test]
fn an_incast_that_overflows_one_queue_loses_nothing_when_what_is_too_much_goes_elsewhere() {
    let without = run(&text(TCP, INCAST, ""));
    assert!(drops(&without, "queue full") > 50, "{:?}", without.summary.drops);
    for mechanism in [DIBS, SIMPLE, FIVE_BIT] {
        let with = run(&text(TCP, INCAST, mechanism));
        // Hosts retransmit late packets, and the second copy may arrive after the flow's end.
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
        // 18 Gbps towards a link of 10 Gbps: the excess must be dropped somewhere.
        let reasons = ["time to live", "given up by a mechanism", "queue full"];
        let ended: u64 = reasons.map(|reason| drops(&outcome, reason)).into_iter().sum();
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
        // Ports with an egress hook have managed queues, which cause other events.
        if mechanism != LATE {
            assert_eq!(run_with(1, &never), run_with(1, ""), "a switch on which nothing is full changes nothing");
        }
    }
}

/// Background flows to h0's leaf and an incast of short flows to h0; the hosts tag packets with the flow's remaining
/// bytes.
fn marked(switch: &str, mechanism: &str) -> String {
    let background = "kind = \"long\"\nsources = [\"h4\", \"h7\", \"h10\"]\ndestinations = [\"h0\", \"h0\", \"h0\"]\n";
    let text = text(TCP, background, mechanism);
    let text = text.replace(
        "[measure]",
        "[host]\npriority_tagger = { by = \"remaining-bytes\" }\nreorder_buffer = { timeout = \"360 us\" }\n[measure]",
    );
    let text = text.replace("preset = \"ideal\"", &format!("preset = \"ideal\"\n{switch}"));
    let incast = "kind = \"incast\"\nfan_in = 6\nsize = \"10 KB\"\nperiod = \"1 ms\"\ncount = 15\nclients = [\"h0\"]\n\
                  servers = [\"h3..h11\"]\n";
    format!("{text}\n[[flows]]\nname = \"short\"\ntransport = \"t\"\n{incast}")
}

/// Mean time of short flows in ms; an unfinished flow counts until the end of the run.
fn short_ms(outcome: &Outcome) -> f64 {
    let [started, delivered] = ["started_ps", "delivered_ps"].map(|name| times(outcome, "messages", name));
    let groups = texts(outcome, "messages", "group").iter();
    let rows = groups.zip(started.iter().zip(delivered)).filter(|(group, _)| *group == "short");
    let end_ps = (outcome.summary.simulated_s * 1e12) as i64;
    let took: Vec<i64> = rows.map(|(_, (&from, &to))| if to < 0 { end_ps - from } else { to - from }).collect();
    assert!(!took.is_empty(), "there are short flows");
    took.iter().sum::<i64>() as f64 / took.len() as f64 / 1e9
}

#[test]
fn short_flows_of_an_incast_end_earlier_with_preemptive_deflection() {
    for mechanism in [QUANTILE, DISTRIBUTION] {
        let [without, with] = ["", mechanism].map(|mechanism| run(&marked("", mechanism)));
        let (before, after) = (short_ms(&without), short_ms(&with));
        assert!(after < before, "{mechanism}: {before} ms without it, {after} ms with it");
    }
}

/// Control packets of a switch with real latencies have a round trip of 427 ns; an update gap of the same length tells
/// ingress about the same.
#[test]
fn an_update_gap_stands_for_control_packets() {
    let real = "ingress_latency = \"200 ns\"\negress_latency = \"200 ns\"\nmirror_latency = \"200 ns\"\n\
                loopback_latency = \"20 ns\"\nrecirculation_ports = 1\n";
    let runs = |occupancy: &str| {
        let mechanism = format!("{SIMPLE}occupancy = {{ {occupancy} }}\n");
        let text = marked(real, &mechanism);
        [1, 2, 3].map(|seed| run(&text.replace("duration = \"20 ms\"", &format!("duration = \"4 ms\"\nseed = {seed}"))))
    };
    let by_packets = runs("kind = \"control-packets\"");
    let by_gap = runs("kind = \"update-gap\", gap = \"427 ns\"");
    let rounds = counter(&by_packets[0], "control_packet_recirculations");
    let expected = 28.0 * 4e6 / 427.36;
    assert!((rounds as f64 / expected - 1.0).abs() < 0.01, "{rounds}, and {expected} in 4 ms for 28 queues");
    let total = |of: fn(&Outcome) -> f64| [&by_packets, &by_gap].map(|runs| runs.iter().map(of).sum::<f64>());
    let [packets, gap] = total(|outcome| counter(outcome, "packets_detoured") as f64);
    assert!(packets > 50.0 && (packets / gap).ln().abs() < 0.5, "{packets} and {gap} packets deflected");
    let [packets, gap] = total(short_ms);
    assert!((packets / gap).ln().abs() < 0.5, "{packets} ms and {gap} ms");
}

#[test]
fn a_rank_guard_raises_liars_and_leaves_honest_hosts_alone() {
    let guard = "[[mechanism]]\nkind = \"rank-guard\"\n";
    let with_guard = format!("{QUANTILE}alpha = 0.5\n{guard}");
    let honest = run(&marked("", &with_guard));
    assert_eq!(counter(&honest, "packets_raised"), 0);
    assert!(counter(&honest, "packets_seen") > 0);
    // A fraction of an endless flow is endless too, so flows that misreport their size send 2 MB.
    let lies = |mechanism: &str| {
        let large =
            "rank_divisor = 1000\nkind = \"sequence\"\nsizes = { kind = \"fixed\", bytes = \"2 MB\" }\ncount = 1";
        let text = marked("", mechanism).replacen("kind = \"long\"", large, 1);
        let hosts = "sources = [\"h4\", \"h7\", \"h10\"]\ndestinations = [\"h0\", \"h0\", \"h0\"]";
        text.replacen(hosts, "sources = [\"h4\"]\ndestinations = [\"h0\"]", 1)
    };
    let caught = run(&lies(&with_guard));
    let names = ["packets_raised", "flows_found_out"];
    let [raised, found_out] = names.map(|name| counter(&caught, name));
    assert!(raised > 100 && found_out == 1, "{raised} raised, {found_out} flows found out");
}
