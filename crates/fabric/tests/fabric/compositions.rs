//! Whatever is combined in a scenario is either refused with a message or runs.

use hitless_fabric::{Progress, Simulation, scenario};
use proptest::prelude::*;

const LANES: [&str; 6] = [
    "",
    "scheduler = \"strict\"\nqueues_per_port = 2",
    "scheduler = \"drr\"\nqueues_per_port = 30",
    "scheduler = \"strict\"\nqueues_per_port = 100",
    "flow_queueing = { kind = \"drr\" }",
    "flow_queueing = { kind = \"fq-codel\" }",
];
const BUFFERS: [&str; 2] = [
    "buffer = { kind = \"static\", per_port = \"300 KB\" }",
    "buffer = { kind = \"shared\", total = \"4 MB\", alpha = 1.0 }",
];
const AFQ: [&str; 6] = [
    "",
    "ports = [\"left->right\"]",
    "ports = [\"left\"]\nqueues = 63",
    "queues = 62\nmeasure_estimation = true",
    "scheduler = { kind = \"two-groups\" }\nadaptive = {}",
    "round = \"from-occupancy\"\nscheduler = { kind = \"deficit-round-robin\" }",
];
const DIBS: [&str; 3] = ["", "ports = [\"left->right\"]", "to_arrival_port = false\nports = [\"right\"]"];
/// Kind and settings of a mechanism that chooses where packets go, or changes their marks.
const CHOOSERS: [(&str, &str); 9] = [
    ("simple-deflection", "occupancy = { kind = \"update-gap\" }"),
    ("simple-deflection", "occupancy = { kind = \"control-packets\", packets = 40 }\nports = [\"left\"]"),
    ("preemptive-deflection", "candidates = 2\nmemory = true\nalpha = 0.9"),
    ("preemptive-deflection", "capacity = { kind = \"current-threshold\" }"),
    ("aifo", "capacity = { kind = \"constant\", size = \"100 KB\" }"),
    ("pabo", "threshold = 0.1"),
    ("rank-guard", "slots = 3"),
    ("vertigo", ""),
    ("vertigo", "candidates = 1\nports = [\"left\"]\nrecord_ranks = true"),
];
const TRIMMING: [&str; 2] = ["", "headers_per_packet = 0\nports = [\"left\"]\nqueue = \"4 packets\""];
const SQR: [&str; 2] = ["links = [\"left->right\"]", "links = [\"left<->right\"]\ncaching = \"delay-queue\""];
const RIMM: [&str; 2] = ["release = \"exact\"", "ports = [\"right->h8\"]\nmessages = \"in-order\""];
const LINKGUARDIAN: [&str; 2] = ["link = \"left->right\"", "link = \"right->left\"\nmode = \"non-blocking\""];

const RETRY: [&str; 2] = ["link = \"left->right\"", "link = \"right->left\"\nmax_outstanding_bytes = \"3 KB\""];
const WHARF: [&str; 2] = ["link = \"left->right\"", "link = \"right->left\"\ndata_frames = 25\nparity_frames = 5"];

fn section(kind: &str, lines: Option<&str>) -> String {
    lines.map_or_else(String::new, |lines| format!("[[mechanism]]\nkind = \"{kind}\"\n{lines}\n"))
}

fn text(preset: &str, lane: &str, buffer: &str, mechanisms: &str) -> String {
    format!(
        "name = \"composition\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 8\nhosts_right = 8\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\nbottleneck = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"{preset}\"\n{buffer}\n{lane}\n\
         [[transport]]\nname = \"cubic\"\nkind = \"tcp\"\ncongestion = \"cubic\"\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"cubic\"\n\
         sources = [\"h0..h3\"]\ndestinations = [\"h8..h11\"]\n{mechanisms}"
    )
}

/// True: it ran; false: it was refused.
fn runs(text: &str) -> bool {
    match scenario::check(text, "composition") {
        Ok(scenario) => {
            let simulation = Simulation::new(scenario).unwrap_or_else(|error| panic!("{error}\n{text}"));
            simulation.run(&Progress::default());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_combination_is_refused_or_runs(
        preset in prop_oneof![Just("ideal"), Just("tofino-like")],
        lane in prop::sample::select(&LANES[..]),
        buffer in prop::sample::select(&BUFFERS[..]),
        afq in prop::option::of(prop::sample::select(&AFQ[..])),
        sqr in prop::option::of(prop::sample::select(&SQR[..])),
        linkguardian in prop::option::of(prop::sample::select(&LINKGUARDIAN[..])),
        rimm in prop::option::of(prop::sample::select(&RIMM[..])),
        dibs in prop::option::of(prop::sample::select(&DIBS[..])),
        chooser in prop::option::of(prop::sample::select(&CHOOSERS[..])),
        trimming in prop::option::of(prop::sample::select(&TRIMMING[..])),
        retry in prop::option::of(prop::sample::select(&RETRY[..])),
        wharf in prop::option::of(prop::sample::select(&WHARF[..])),
    ) {
        let of_links =
            [section("linkguardian", linkguardian), section("link-layer-retry", retry), section("wharf", wharf)];
        let (kind, lines) = chooser.unzip();
        let chooser = section(kind.unwrap_or_default(), lines);
        let detours = [section("rimm", rimm), section("dibs", dibs), section("trimming", trimming), chooser];
        let mechanisms = [section("afq", afq), section("sqr", sqr), of_links.concat(), detours.concat()].concat();
        runs(&text(preset, lane, buffer, &mechanisms));
    }
}

#[test]
fn all_mechanisms_run_together_at_one_port() {
    let mechanisms =
        [section("afq", Some("")), section("sqr", Some(SQR[0])), section("linkguardian", Some(LINKGUARDIAN[0]))];
    assert!(runs(&text("tofino-like", "", BUFFERS[0], &mechanisms.concat())));
}

#[test]
fn rimm_and_linkguardian_run_together_at_one_port() {
    let mechanisms = [section("rimm", Some(RIMM[0])), section("linkguardian", Some(LINKGUARDIAN[0]))];
    assert!(runs(&text("tofino-like", "", BUFFERS[0], &mechanisms.concat())));
    assert!(runs(&text("tofino-like", "", BUFFERS[1], &mechanisms.concat())));
}

#[test]
fn what_a_switch_cannot_run_is_refused_with_the_numbers() {
    let nine: String =
        (0..9).map(|port| section("afq", Some(&format!("ports = [\"left->{}\"]", name(port))))).collect();
    let eight: String =
        (0..8).map(|port| section("afq", Some(&format!("ports = [\"left->{}\"]", name(port))))).collect();
    assert!(runs(&text("ideal", "", BUFFERS[0], &eight)));
    let rows = [
        (LANES[0], nine.as_str(), "left would run 9 mechanisms, and a switch runs 8 at most"),
        (LANES[3], "", "a port has 64 queues at most: the switch 100"),
        (LANES[4], "[[mechanism]]\nkind = \"afq\"\n", "ports that queue by flow have none to give"),
    ];
    for (lane, mechanisms, rule) in rows {
        let refusal = scenario::check(&text("ideal", lane, BUFFERS[0], mechanisms), "composition");
        let message = refusal.expect_err("this cannot run").to_string();
        assert!(message.contains(rule), "{message}");
    }
}

fn name(port: usize) -> String {
    if port == 8 { "right".to_owned() } else { format!("h{port}") }
}
