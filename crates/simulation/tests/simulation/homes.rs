//! Hosts with several ports: planes, dual ToRs, and failures of both.

use hitless_core::engine::Progress;
use hitless_simulation::Outcome;

use crate::checkpoints;
use crate::support::{self, of_link, run, simulation, sound, sum, texts, times};

const LINK: &str = "rate = \"100 Gbps\", delay = \"1 us\", overhead_bytes = 0";
const DETECTED: &str = "[recovery]\ndetection = { kind = \"signal-loss\", delay = \"10 us\" }\n";
const REROUTED: &str = "scheme = { kind = \"local-reroute\", backup = \"first\" }\n";
const UNREPAIRED: &str = "scheme = { kind = \"none\" }\n";
pub const TRANSPORTS: [&str; 5] = [
    "kind = \"tcp\"\ncongestion = \"dctcp\"\nrto_min = \"200 us\"",
    "kind = \"roce\"\ntimeout = \"200 us\"",
    "kind = \"uet\"",
    "kind = \"uet\"\npath_choice = \"mrc\"\npaths = 128",
    "kind = \"uet\"\ncongestion = \"rccc\"\npath_choice = \"reps\"",
];

/// A leaf-spine fabric with 4 leaves, 2 spines and 4 hosts per leaf, in each plane.
pub fn fabric(planes: u32, leaves_per_host: u32, more: &str) -> String {
    format!(
        "name = \"homes\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 4\nspines = 2\nhosts_per_leaf = 4\n\
         leaves_per_host = {leaves_per_host}\nplanes = {planes}\nhost_link = {{ {LINK} }}\ncore_link = {{ {LINK} }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"300 KB\" }}\n\
         ecn = {{ threshold = \"100 KB\" }}\n{more}"
    )
}

/// `count` flows between hosts on different leaves that start within `count` ns.
pub fn flows(transport: &str, count: u32, bytes: u64) -> String {
    format!(
        "[[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0..h1\"]\n\
         destinations = [\"h4..h5\"]\nsizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\nperiod = \"1 ns\"\n\
         count = {count}\n"
    )
}

fn failures(links: impl IntoIterator<Item = String>) -> String {
    let each = |link: String| format!("[[failure]]\nlink = \"{link}\"\nfirst = \"20 us\"\noutage = \"15 ms\"\n");
    links.into_iter().map(each).collect()
}

pub fn last_us(outcome: &Outcome) -> f64 {
    times(outcome, "flows", "finished_ps").iter().copied().max().unwrap_or(0) as f64 / 1e6
}

pub fn assert_all_completed(outcome: &Outcome, what: &str) {
    let outcomes = texts(outcome, "flows", "outcome");
    assert!(outcomes.iter().all(|outcome| outcome == "completed"), "{what}: {outcomes:?}");
}

/// Frames on the first links of hosts, by plane.
fn frames_sent(outcome: &Outcome, host: &str, leaf: &str, planes: u32) -> Vec<u64> {
    (0..planes).map(|plane| of_link(outcome, &format!("{host}->p{plane}-{leaf}"), "frames_sent")).collect()
}

#[test]
fn a_spraying_connection_has_the_sum_of_the_rates_of_all_ports() {
    let choices = ["oblivious", "bitmap", "reps", "mixed", "mrc"];
    for (choice, planes) in choices.iter().flat_map(|choice| [1, 2, 4, 8].map(|planes| (choice, planes))) {
        let transport = format!("kind = \"uet\"\npath_choice = \"{choice}\"\npaths = 128");
        let outcome = run(&fabric(planes, 1, &flows(&transport, 1, 8_172_000).replace("h0..h1", "h0")));
        // 2,000 packets of 4,150 B share the ports; the last one crosses three more links, and an acknowledgement all
        // four.
        let bytes = f64::from(2_000 * 4_150 / planes + 3 * 4_150 + 4 * 64);
        let ideal_us = bytes * 8e-5 + 8.0;
        let share = last_us(&outcome) / ideal_us;
        assert!((1.0..1.03).contains(&share), "{choice}, {planes} planes: {share} times the ideal");
        assert_eq!(sum(&outcome, "flows", "packets_retransmitted"), 0, "{choice}, {planes} planes");
        if planes > 1 {
            let sent = frames_sent(&outcome, "h0", "leaf0", planes);
            assert!(sent.iter().all(|&frames| frames == 2_000 / u64::from(planes)), "{choice}: {sent:?}");
        }
    }
}

#[test]
fn a_flow_of_another_transport_stays_on_the_port_of_its_hash() {
    for transport in &TRANSPORTS[..2] {
        let one = run(&fabric(4, 1, &flows(transport, 1, 1_000_000).replace("h0..h1", "h0")));
        let sent = frames_sent(&one, "h0", "leaf0", 4);
        assert_eq!(sent.iter().filter(|&&frames| frames > 0).count(), 1, "{transport}: {sent:?}");
        let many = run(&fabric(4, 1, &flows(transport, 100, 20_000).replace("h0..h1", "h0")));
        let sent = frames_sent(&many, "h0", "leaf0", 4);
        let even = sent.iter().sum::<u64>() / 4;
        // 25 flows for each port, give or take three standard deviations of 4.3.
        assert!(sent.iter().all(|&frames| frames.abs_diff(even) < even * 13 / 25), "{transport}: {sent:?}");
        assert_all_completed(&many, transport);
    }
}

#[test]
fn datagrams_are_lost_until_the_host_detects_that_its_port_is_down() {
    // Without a failure only the port of the flow carries frames.
    let udp = "[[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"8 Gbps\"\nframe_bytes = \"1000 B\"\n\
               [[flows]]\nname = \"f\"\nkind = \"constant-rate\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
               destinations = [\"h4\"]\nstop = \"200 us\"\n";
    let sound_text = fabric(2, 1, udp).replace("until = \"all-flows-done\"\n", "");
    let sent = frames_sent(&run(&sound_text), "h0", "leaf0", 2);
    let plane = sent.iter().position(|&frames| frames > 0).expect("a port is used");
    assert_eq!(sent[1 - plane], 0);
    let failure = failures([format!("h0<->p{plane}-leaf0")]);
    let outcome = run(&format!("{sound_text}{failure}{DETECTED}{UNREPAIRED}"));
    // A frame per microsecond, and 10 us of detection. Of the frames within the 1 us of the wire one is lost, too.
    let lost = of_link(&outcome, &format!("h0->p{plane}-leaf0"), "frames_lost_down");
    assert!((10..=11).contains(&lost), "{lost} frames lost");
    let moved = frames_sent(&outcome, "h0", "leaf0", 2)[1 - plane];
    assert_eq!(moved, sent[plane] - 30 + u64::from(moved + 30 > sent[plane]), "the rest of the flow has moved");
}

/// All links of plane 1 fail at 20 us.
fn failed_plane() -> String {
    let links = (0..16).map(|host| format!("h{host}<->p1-leaf{}", host / 4));
    let core = (0..8).map(|link| format!("p1-leaf{}<->p1-spine{}", link / 2, link % 2));
    failures(links.chain(core))
}

#[test]
fn flows_continue_on_the_other_planes_after_one_has_failed() {
    for transport in TRANSPORTS {
        let text = fabric(2, 1, &format!("{}{}{DETECTED}{UNREPAIRED}", flows(transport, 8, 1_000_000), failed_plane()));
        let outcome = run(&text);
        assert_all_completed(&outcome, transport);
        let sent = frames_sent(&outcome, "h0", "leaf0", 2);
        assert!(sent[0] > sent[1], "{transport}: {sent:?}");
        assert!(last_us(&outcome) < 5_000.0, "{transport}: {} us", last_us(&outcome));
    }
}

#[test]
fn a_spraying_connection_goes_on_at_the_rate_of_the_other_plane() {
    let flows = flows("kind = \"uet\"", 1, 8_172_000);
    let outcome = run(&fabric(2, 1, &format!("{flows}{}{DETECTED}{UNREPAIRED}", failed_plane())));
    // 2,000 packets of 332 ns at 100 Gb/s. Both planes carry them until 20 us, then plane 0.
    let ideal_us = 2_000.0 * 0.332 - 20.0 + 8.0;
    let share = last_us(&outcome) / ideal_us;
    assert!((1.0..1.08).contains(&share), "{share} times the ideal of {ideal_us} us");
}

/// All links of leaf 1 of a fabric with dual ToRs.
fn failed_leaf() -> String {
    let links = (0..4).map(|host| format!("h{host}<->leaf1"));
    failures(links.chain((0..2).map(|spine| format!("leaf1<->spine{spine}"))))
}

#[test]
fn flows_of_all_transports_complete_when_one_of_two_tors_fails() {
    for transport in TRANSPORTS {
        for (sources, destinations) in [("h0..h1", "h4..h5"), ("h4..h5", "h0..h1")] {
            let flows = flows(transport, 8, 500_000).replace("h4..h5", "X").replace("h0..h1", sources);
            let flows = flows.replace('X', destinations);
            let outcome = run(&fabric(1, 2, &format!("{flows}{}{DETECTED}{REROUTED}", failed_leaf())));
            assert_all_completed(&outcome, transport);
            assert!(last_us(&outcome) < 5_000.0, "{transport}, {sources}: {} us", last_us(&outcome));
        }
    }
}

#[test]
fn a_switch_reaches_a_host_with_a_failed_port_through_its_other_tor() {
    for transport in TRANSPORTS {
        let failure = failures(["h4<->leaf2".to_owned(), "h5<->leaf3".to_owned()]);
        let outcome = run(&fabric(1, 2, &format!("{}{failure}{DETECTED}{REROUTED}", flows(transport, 8, 500_000))));
        assert_all_completed(&outcome, transport);
        assert!(last_us(&outcome) < 5_000.0, "{transport}: {} us", last_us(&outcome));
    }
}

#[test]
fn senders_avoid_the_plane_in_which_a_receiver_has_lost_its_port() {
    for transport in TRANSPORTS {
        let failure = failures(["h4<->p1-leaf1".to_owned(), "h5<->p0-leaf1".to_owned()]);
        let text = fabric(2, 1, &format!("{}{failure}{DETECTED}{REROUTED}", flows(transport, 8, 500_000)));
        let outcome = run(&text);
        assert_all_completed(&outcome, transport);
        assert!(last_us(&outcome) < 5_000.0, "{transport}: {} us", last_us(&outcome));
    }
}

/// Two hosts with two links to one switch each, and a host with one link.
const GRAPH: &str = "[topology]\nkind = \"graph\"\nhosts = [\"a\", \"b\", \"c\"]\nswitches = [\"s\", \"t\"]\n";

#[test]
fn links_to_one_switch_are_shared_in_both_directions() {
    let link = |ends: &str| format!("{{ ends = [{ends}], {LINK} }},\n");
    let ends = ["\"a\", \"s\"", "\"a\", \"s\"", "\"b\", \"t\"", "\"b\", \"t\"", "\"c\", \"t\"", "\"s\", \"t\""];
    let links: String = ends.iter().map(|ends| link(ends)).collect();
    let tcp = "kind = \"tcp\"\ncongestion = \"cubic\"";
    let flows = flows(tcp, 100, 20_000).replace("h0..h1", "a").replace("\"h4..h5\"", "\"b\", \"c\"");
    let text = format!(
        "name = \"graph\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n{GRAPH}links = [\n{links}]\n\
         {}{flows}",
        support::ideal("10 MB")
    );
    let outcome = run(&text);
    assert_all_completed(&outcome, "tcp");
    let frames = |link: &str| of_link(&outcome, link, "frames_sent");
    for [first, second] in [["a->s", "a->s#1"], ["t->b", "t->b#1"], ["s->a", "s->a#1"]] {
        let (first, second) = (frames(first), frames(second));
        assert!(first.min(second) * 3 > first.max(second), "{first} and {second} frames");
    }
}

#[test]
fn runs_with_ports_are_the_same_in_partitions_and_go_on_from_checkpoints() {
    for transport in TRANSPORTS {
        for (planes, leaves_per_host, failed) in [(2, 1, failed_plane()), (1, 2, failed_leaf())] {
            let flows = flows(transport, 20, 100_000);
            let kernel = "[host]\nkernel = { send = \"1 us\", receive = \"2 us\" }\n";
            let text = fabric(planes, leaves_per_host, &format!("{kernel}{flows}{failed}{DETECTED}{REROUTED}"));
            let scenario = sound(&text);
            checkpoints::goes_on(&scenario, &[0.2, 0.6]);
            let whole = simulation(&scenario).run_divided(1, 1, &Progress::default());
            for (partitions, threads) in [(4, 2), (1_000, 2)] {
                let nodes = (16 / leaves_per_host + 6 * planes) as usize;
                let divided = simulation(&scenario).run_divided(partitions.min(nodes), threads, &Progress::default());
                for (one, other) in whole.tables.iter().zip(&divided.tables) {
                    assert_eq!(one, other, "{transport}: table {} in {partitions} partitions", one.name);
                }
            }
        }
    }
}

#[test]
fn a_live_run_refuses_several_ports_with_the_reason() {
    let text = fabric(2, 1, "");
    let live = hitless_scenario::Purpose::Live;
    let error = hitless_scenario::check_for(&text, "test", live, hitless_mechanisms::builtin(), None)
        .expect_err("a host has two links")
        .to_string();
    assert!(error.contains("h0 has 2 links, and in a live run a host has one interface"), "{error}");
}

#[test]
fn a_constant_rate_must_fit_one_port_and_autopsies_and_flow_control_need_hosts_with_one() {
    let udp = |rate| {
        format!(
            "[[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"{rate}\"\n[[flows]]\nname = \"f\"\n\
             kind = \"constant-rate\"\ntransport = \"t\"\nsources = [\"h0\"]\ndestinations = [\"h4\"]\nstop = \"1 ms\"\n"
        )
    };
    sound(&fabric(2, 1, &udp("100 Gbps")));
    for (section, rule) in [("[measure]\nautopsy = true\n", "measure.autopsy"), ("[switch.pfc]\n", "switch.pfc")] {
        let error =
            support::check(&fabric(2, 1, &(udp("1 Gbps") + section))).expect_err("it needs hosts with one port");
        assert!(error.contains(rule) && error.contains("needs hosts with one port"), "{error}");
    }
    let error = support::check(&fabric(2, 1, &udp("150 Gbps"))).expect_err("it exceeds a port");
    assert!(error.contains("its rate (150 Gbps) is above that of the link of h0 (100 Gbps)"), "{error}");
}

/// Both uplinks of a leaf fail at 20 us, and all switches know it at 60 us.
#[test]
fn with_withdrawn_paths_hosts_leave_a_port_that_leads_nowhere_and_return_to_it() {
    let withdrawn = "scheme = { kind = \"withdraw\", notice = \"30 us\" }\n";
    for (planes, leaves_per_host, prefix) in [(2, 1, "p0-"), (1, 2, "")] {
        let links = [0, 1].map(|spine| format!("{prefix}leaf0<->{prefix}spine{spine}"));
        let failures = failures(links).replace("15 ms", "300 us");
        for transport in TRANSPORTS {
            // Eight flows of hosts of the leaf, in both directions.
            let flows = flows(transport, 8, 3_000_000);
            let back =
                flows.replace("name = \"f\"", "name = \"back\"").replace("h4..h5", "h9").replace("h0..h1", "h4..h5");
            let back = back
                .replace("h9", "h0..h1")
                .split_once("[[flows]]")
                .map_or(String::new(), |(_, rest)| format!("[[flows]]{rest}"));
            let text = fabric(planes, leaves_per_host, &format!("{flows}{back}{failures}{DETECTED}{withdrawn}"));
            let at = |us: u64| run(&text.replace("\"20 ms\"", &format!("\"{us} us\"")));
            let [known, before, after] = [75, 310, 1_500].map(at);
            for link in [format!("h0->{prefix}leaf0"), format!("{prefix}leaf0->h0")] {
                let sent = [&known, &before, &after].map(|outcome| of_link(outcome, &link, "frames_sent"));
                let what = format!("{transport}, {planes} planes, {link}: {sent:?}");
                assert_eq!(sent[0], sent[1], "{what}");
                assert!(sent[2] > sent[1], "{what}");
            }
            assert_all_completed(&run(&text), transport);
        }
    }
}
