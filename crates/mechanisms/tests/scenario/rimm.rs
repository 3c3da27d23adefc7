//! RIMM's settings: defaults, and refusals with the arithmetic.

use hitless_core::wire::Duration;
use hitless_mechanisms::rimm::RimmSettings;

use super::*;

const FABRIC: &str = r#"
name = "rimm"
duration = "1 ms"
topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2, host_link = { rate = "10 Gbps", delay = "1 us" }, core_link = { rate = "40 Gbps", delay = "1 us" } }
switch = { preset = "ideal", buffer = { kind = "static", per_port = "1920 KB" } }
transport = [{ name = "tcp", kind = "tcp" }]
flows = [{ name = "long", kind = "long", transport = "tcp", sources = ["h0"], destinations = ["h2"] }]
"#;

fn with(settings: &str) -> String {
    format!("{FABRIC}[[mechanism]]\nkind = \"rimm\"\n{settings}\n")
}

fn rimm(settings: &str) -> (Scenario, RimmSettings) {
    (sound(&with(settings)), first_settings(&with(settings)))
}

#[test]
fn what_is_left_out_is_the_papers_or_follows_from_the_fabric() {
    let (scenario, settings) = rimm("");
    let topology = scenario.topology.build().expect("the fabric is sound");
    let at = *settings.ports_by_switch(&topology).values().flatten().next().expect("there are ports");
    // 20,000 segments of 24,000.
    assert_eq!(settings.threshold_of(&scenario, &topology, at).0, 1_600_000);
    assert_eq!(
        (settings.segment.0, settings.hash_bits, settings.flowlet_gap),
        (80, 12, Some(Duration::from_us(1_000)))
    );
    // 320 us in a queue of 1.6 MB at 40 Gbps, and twice 1 us and a frame of 1514 bytes with 20 of preamble and gap.
    let frame = scenario.frame_max().0 + 20;
    let round_trip_ps = 320_000_000 + 2 * (1_000_000 + frame * 200);
    assert_eq!(settings.round_trip_bound(&scenario, &topology).as_ps(), round_trip_ps);
    assert_eq!(
        settings.predecessor_timeout.map(|timeout| timeout.as_ps() / 1_000),
        Some(4 * round_trip_ps / 1_000 + 1)
    );
    assert_eq!(rimm("release = \"exact\"").1.flowlet_gap, None);
    assert_eq!(rimm("release = \"unordered\"").1.predecessor_timeout, None);
}

#[test]
fn settings_are_read_back_the_same() {
    for settings in [
        "",
        "ports = [\"leaf0\", \"leaf1->h2\"]\nthreshold = \"1 MB\"\nrelease = \"exact\"\nneighbour_for_returns = \"least-loaded\"",
        "release = \"unordered\"\nmessages = \"in-order\"\nhash_bits = 0\ndetours_max = 3\nrecord_choices = true",
        "flowlet_gap = \"3 ms\"\nflow_detour_max = \"1 ms\"\ntelemetry_lifetime = \"10 us\"\ncongestion_after = \"2 ms\"\n\
         crossing_lifetime = \"5 ms\"",
    ] {
        assert_reads_back_the_same(&with(settings));
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_numbers() {
    let rows = [
        ("ports = [\"h0\"]", "ports[0]", "'h0' is a host"),
        ("ports = [\"leaf0\", \"leaf0->h0\"]", "ports[1]", "names a port twice"),
        ("[[mechanism]]\nkind = \"rimm\"", "ports", "has RIMM by another entry"),
        ("threshold = \"1920 KB\"", "threshold", "whose queue holds 1920 KB at most"),
        ("threshold = \"79 B\"", "threshold", "less than one segment"),
        ("segment = \"20 B\"", "threshold", "80000 segments of 20 B, and a depth has 16 bits"),
        ("segment = \"0 B\"", "segment", "must be 1 B or more"),
        ("release = \"exact\"\nflowlet_gap = \"1 ms\"", "flowlet_gap", "with release = \"flowlet-gap\" only"),
        ("release = \"exact\"\nflow_detour_max = \"1 ms\"", "flow_detour_max", "with release = \"flowlet-gap\" only"),
        ("release = \"unordered\"\npredecessor_timeout = \"1 ms\"", "predecessor_timeout", "nothing waits"),
        ("predecessor_timeout = \"100 us\"", "predecessor_timeout", "a packet may be away for 322."),
        ("congestion_after = \"0 us\"", "congestion_after", "must be above zero"),
        ("ports = [\"spine0\"]", "ports", "no neighbour would send anything back"),
        (
            "[[mechanism]]\nkind = \"afq\"\nports = [\"leaf0->h0\"]",
            "ports",
            "leaf0->h0 runs RIMM and AFQ, and detours go by the depth of one queue",
        ),
    ];
    assert_refused(rows.map(|(settings, field, rule)| (with(settings), field, rule)));
}
