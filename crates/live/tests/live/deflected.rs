//! Deflection and RIMM between real nodes: code points of hosts take effect, and no internal header leaves the fabric.

use hitless_live::recording::RecorderOptions;
use hitless_live::{Options, Status};
use proptest::prelude::*;

use super::apart::number_of;
use super::lab::{Lab, graph, station};
use super::replay::{counter, recorded, replayed};

const HOSTS: [&str; 4] = ["h0", "h1", "h2", "slow"];
const SLOW: usize = 3;
const DATAGRAM_BYTES: usize = 1_014;
const URGENT: u8 = 46;
pub const RIMM: &str = "[[mechanism]]\nkind = \"rimm\"\nports = [\"leaf1->slow\"]\n";
pub const PREEMPTIVE: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\nalpha = 0.5\n\
                          relative_priority = { kind = \"quantile\", sample_every = 1 }\n";
pub const BY_DSCP: &str = "[host]\npriority_tagger = { by = \"dscp\" }\n";

/// h0, h1, h2 - leaf0 - two spines - leaf1 - slow; the last link has a tenth of the others' rate.
pub fn leaf_spine(slow_buffer: &str, other_buffer: &str, more: &str) -> String {
    let ends = [
        ("h0", "leaf0"),
        ("h1", "leaf0"),
        ("h2", "leaf0"),
        ("slow", "leaf1"),
        ("leaf0", "spine0"),
        ("leaf0", "spine1"),
        ("leaf1", "spine0"),
        ("leaf1", "spine1"),
    ];
    let graph = graph("leaf-spine", &["leaf0", "leaf1", "spine0", "spine1"], &ends);
    format!(
        "{}[switch]\ndepth_visible = \"ingress-and-egress\"\n\
         buffer = {{ kind = \"static\", per_port = \"{other_buffer}\" }}\n\
         [[switch.ports]]\nrate = \"100 Mbps\"\nbuffer = \"{slow_buffer}\"\n\
         [[switch.ports]]\nswitches = [\"leaf0\"]\nbuffer = \"1 MB\"\n{more}",
        graph.replace("\"leaf1\"], rate = \"1 Gbps\"", "\"leaf1\"], rate = \"100 Mbps\"")
    )
}

/// UDP over IPv4 or IPv6 with this code point; `number` is in the payload.
pub fn datagram(from: u8, to: u8, dscp: u8, number: u32, is_ipv6: bool) -> Vec<u8> {
    let ether_type: [u8; 2] = if is_ipv6 { [0x86, 0xdd] } else { [0x08, 0x00] };
    let mut frame: Vec<u8> = station(to).into_iter().chain(station(from)).chain(ether_type).collect();
    let ip_bytes = (DATAGRAM_BYTES - 14) as u16;
    let traffic_class = dscp << 2;
    if is_ipv6 {
        frame.extend([0x60 | traffic_class >> 4, traffic_class << 4, 0, 0]);
        frame.extend((ip_bytes - 40).to_be_bytes());
        frame.extend([17, 64]);
        [from, to].iter().for_each(|&host| frame.extend([0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host]));
    } else {
        frame.extend([0x45, traffic_class]);
        frame.extend(ip_bytes.to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 17, 0, 0]);
        [from, to].iter().for_each(|&host| frame.extend([10, 0, 0, host]));
    }
    let udp_bytes = (DATAGRAM_BYTES - frame.len()) as u16;
    frame.extend([0x9c, 0x40, 0, 9]);
    frame.extend(udp_bytes.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend(number.to_be_bytes());
    frame.resize(DATAGRAM_BYTES, from);
    frame
}

/// Sends a burst from all three hosts to the slow one; h0's datagrams have a code point. Returns the number of arrivals
/// by host.
fn incast(text: &str, each: u32, dscp: u8, is_ipv6: bool) -> ([u32; 3], Status) {
    let mut lab = Lab::build(text, &HOSTS, &[], Options::default(), (2_048, 4_096));
    lab.know_stations();
    for number in 0..each {
        for host in 0..3 {
            lab.send(host as usize, &datagram(host, 3, if host == 0 { dscp } else { 0 }, number, is_ipv6));
        }
    }
    lab.run_for(60_000_000);
    let received = &lab.received()[SLOW];
    // The last byte of the Ethernet source address is the host's number.
    let of = |host: u8| received.iter().filter(|bytes| bytes[11] == host).count() as u32;
    let found = [of(0), of(1), of(2)];
    (found, lab.finish())
}

#[test]
fn an_incast_spares_what_hosts_mark_as_urgent_by_their_code_point() {
    let marked = leaf_spine("30 KB", "30 KB", &format!("{BY_DSCP}{PREEMPTIVE}"));
    let unmarked = leaf_spine("30 KB", "30 KB", PREEMPTIVE);
    let plain = leaf_spine("30 KB", "30 KB", BY_DSCP);
    for is_ipv6 in [false, true] {
        let ([urgent, ..], _) = incast(&plain, 80, URGENT, is_ipv6);
        assert!(urgent < 60, "a plain switch looks at no code point, and lets {urgent} of 80 through");
        let ([urgent, other, another], status) = incast(&marked, 80, URGENT, is_ipv6);
        assert_eq!(urgent, 80, "{:?}", status.drops);
        assert!(other + another < 160, "there was no room for all: {other} and {another}");
        // Lower Effort comes last, so its packets are dropped.
        let ([last, ..], status) = incast(&marked, 80, 1, is_ipv6);
        assert!(last < urgent, "{last}, {:?}", status.drops);
        let ([of_one, ..], status) = incast(&unmarked, 80, URGENT, is_ipv6);
        assert!(of_one < 80, "without marks all are alike, {:?}", status.drops);
    }
}

#[test]
fn acknowledgements_go_first_whatever_their_code_point() {
    let mut bytes = datagram(0, 3, 0, 7, false);
    bytes[23] = 6;
    let [with, without] = [bytes.len(), 14 + 20 + 20].map(|length| {
        let mut bytes = bytes[..length].to_vec();
        bytes[16..18].copy_from_slice(&((length - 14) as u16).to_be_bytes());
        bytes[14 + 20 + 12] = 5 << 4;
        hitless_core::wire::frame::Frame::parse(&bytes).expect("it has a header").priority_mark()
    });
    assert_eq!((with.map(|mark| mark.urgency()), without), (Some(1_835_008), None));
}

/// Sends a burst that the slow port cannot hold; returns the numbers of the arrivals, which must be unchanged. Above
/// RIMM's threshold the port has room for the arrivals during one departure, because egress sees the queue's depth only
/// then.
fn microburst(more: &str) -> (Vec<u32>, Status) {
    let text = leaf_spine("90 KB", "300 KB", more);
    let (mut lab, disk) = recorded(&text, &HOSTS, RecorderOptions::default());
    lab.know_stations();
    for number in 0..160 {
        lab.send(1, &datagram(1, 3, 0, number, false));
        lab.turn();
    }
    lab.run_for(40_000_000);
    let received = std::mem::take(&mut lab.received()[SLOW]);
    let numbers: Vec<u32> = received.iter().map(|bytes| number_of(bytes)).collect();
    for (bytes, &number) in received.iter().zip(&numbers) {
        assert_eq!(*bytes, datagram(1, 3, 0, number, false), "what leaves is what came");
    }
    let (status, _) = lab.finish_with_results();
    replayed(&disk);
    (numbers, status)
}

#[test]
fn rimm_brings_a_microburst_whole_in_order_and_without_its_headers() {
    let (plain, _) = microburst("");
    assert!(plain.len() < 130, "a plain switch loses of it: {} of 160 came", plain.len());
    let (numbers, status) = microburst(&format!("{RIMM}congestion_after = \"20 ms\"\nflowlet_gap = \"5 ms\"\n"));
    assert_eq!(numbers, (0..160).collect::<Vec<_>>(), "{:?} {:?}", status.drops, status.mechanisms);
    assert!(counter(&status, "rimm", "packets_detoured") > 30, "{:?}", status.mechanisms);
    assert!(counter(&status, "rimm", "messages_returned") > 0);
}

#[test]
fn preemptive_deflection_decides_the_same_under_both_clocks() {
    let (mut lab, disk) =
        recorded(&leaf_spine("30 KB", "30 KB", &format!("{BY_DSCP}{PREEMPTIVE}")), &HOSTS, RecorderOptions::default());
    lab.know_stations();
    for number in 0..60 {
        (0..3).for_each(|host| lab.send(host as usize, &datagram(host, 3, host * 20, number, false)));
    }
    lab.run_for(40_000_000);
    let (status, _) = lab.finish_with_results();
    assert!(counter(&status, "preemptive-deflection", "packets_detoured") > 30, "{:?}", status.mechanisms);
    assert!(replayed(&disk).equal > 1_000);
}

#[test]
fn what_a_rank_guard_has_marked_leaves_without_the_mark() {
    let guard = "[[mechanism]]\nkind = \"rank-guard\"\nallowance = \"1 KB\"\n";
    for marking in ["", BY_DSCP] {
        let text = leaf_spine("30 KB", "30 KB", &format!("{marking}{PREEMPTIVE}{guard}"));
        // `finish` asserts that no internal header has left the fabric.
        let (found, status) = incast(&text, 20, 56, false);
        assert!(found.iter().sum::<u32>() > 30, "{found:?}");
        assert!(counter(&status, "rank-guard", "packets_raised") > 0, "{:?}", status.mechanisms);
    }
}

#[test]
fn a_host_that_marks_all_as_most_urgent_gains_what_a_guard_lets_it() {
    let with = |more: &str| leaf_spine("30 KB", "30 KB", &format!("{BY_DSCP}{PREEMPTIVE}{more}"));
    let ([unguarded, ..], _) = incast(&with(""), 80, 56, false);
    let guard = "[[mechanism]]\nkind = \"rank-guard\"\nallowance = \"10 KB\"\nidle = \"1 s\"\n";
    let ([guarded, ..], status) = incast(&with(guard), 80, 56, false);
    assert_eq!(counter(&status, "rank-guard", "flows_found_out"), 1);
    assert_eq!(unguarded, 80, "whoever claims most gets all");
    assert!(guarded < unguarded, "{guarded} of {unguarded}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any bursts and code points, each frame leaves at most once and unchanged.
    #[test]
    fn what_leaves_came(
        bursts in prop::collection::vec((0..3u8, 0..64u8, 1..40u32, 0..400_000u64), 1..12),
        mechanism in prop::sample::select(vec![RIMM, PREEMPTIVE]),
        by_dscp in any::<bool>(),
    ) {
        let marking = if by_dscp { BY_DSCP } else { "" };
        let text = leaf_spine("30 KB", "60 KB", &format!("{marking}{mechanism}"));
        let mut lab = Lab::build(&text, &HOSTS, &[], Options::default(), (1_024, 2_048));
        lab.know_stations();
        let mut sent = std::collections::BTreeMap::new();
        let mut number = 0;
        for (host, dscp, count, pause_ns) in bursts {
            for _ in 0..count {
                number += 1;
                let bytes = datagram(host, 3, dscp, number, number % 2 == 0);
                lab.send(usize::from(host), &bytes);
                *sent.entry(bytes).or_insert(0u32) += 1;
            }
            lab.turn();
            lab.stall(pause_ns);
        }
        lab.run_for(60_000_000);
        let ports = lab.received();
        prop_assert!(ports[..SLOW].iter().all(Vec::is_empty), "only one host was sent to");
        for bytes in &ports[SLOW] {
            let left = sent.get_mut(bytes);
            prop_assert!(left.is_some_and(|left| std::mem::replace(left, 0) == 1), "it left twice, or never came");
        }
        lab.finish();
    }
}
