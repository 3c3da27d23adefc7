//! AFQ's settings: defaults, and refusals with the arithmetic.

use hitless_core::wire::Bytes;
use hitless_mechanisms::afq::{AfqSettings, AfqSketch};

use super::*;

fn with(settings: &str) -> String {
    let text = example("afq-neighbours").expect("the example exists");
    text.replace("ecn_rounds = 8", settings).replace("dctcp", "newreno")
}

fn afq(settings: &str) -> AfqSettings {
    first_settings(&with(settings))
}

#[test]
fn what_is_left_out_is_the_papers_simulation() {
    let settings = afq("");
    let derived = AfqSettings { bytes_per_round: Some(Bytes(1_518)), ..AfqSettings::default() };
    assert_eq!(settings, AfqSettings { measure_estimation: true, ..derived });
    assert_eq!((settings.queues, settings.sketch.rows, settings.sketch.columns), (32, 2, 16_384));
    let partial = afq("sketch = { columns = 1024 }");
    assert_eq!(partial.sketch, AfqSketch { columns: 1_024, ..AfqSketch::default() });
}

/// Section 5: d x l / (6 nQ), at least a full frame.
#[test]
fn bytes_per_round_follow_from_the_round_trip() {
    for (round_trip, bytes) in [("20 us", 1_518), ("200 us", 1_518), ("1 ms", 6_511)] {
        assert_eq!(afq(&format!("round_trip = \"{round_trip}\"")).bytes_per_round().0, bytes, "{round_trip}");
    }
    assert_eq!(afq("round_trip = \"1 ms\"\nqueues = 16").bytes_per_round().0, 13_021);
}

#[test]
fn every_kind_of_setting_is_read_back_the_same() {
    let variants = [
        "",
        "scheduler = { kind = \"deficit-round-robin\" }\nclass_weights = [1, 2.5]\nport_buffer = \"300 packets\"",
        "scheduler = { kind = \"two-groups\", delay = \"2 us\" }\nports = [\"left\", \"right->h5\"]\nflow_key = \"class\"",
        "scheduler = { kind = \"rotating-strict-priority\", step = \"2 ns\", late = \"named-queue\" }\nbytes_per_round = \"900B\"",
        "round = \"from-occupancy\"\noccupancy = { granularity = \"80 B\", refresh = \"1 us\" }\ndrop_ahead = \"beyond-queues\"",
        "sketch = { update = \"increment\", hash = \"checksums\", rows = 4, bid_bits = 64 }\nidle_round = \"line-rate\"",
        "sketch = { update = \"figure-3\" }\nport_buffer = \"512KB\"",
        "round_trip = \"1 ms\"",
        "classes = [0]",
    ];
    for settings in variants {
        assert_reads_back_the_same(&with(settings));
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_the_numbers() {
    let rows = [
        ("ports = [\"h0\"]", "ports[0]", "'h0' is a host, and only switches have ports with queues"),
        ("ports = [\"left\", \"left->right\"]", "ports[1]", "names a port twice"),
        ("sketch = { bid_bits = 48 }", "sketch.bid_bits", "must be 32 or 64"),
        ("sketch = { hash = \"checksums\", rows = 5 }", "sketch.rows", "four rows at most"),
        ("sketch = { update = \"increment\" }", "sketch.update", "too far ahead for ever"),
        ("sketch = { update = \"increment\" }\nidle_round = \"line-rate\"", "sketch.bid_bits", "too short"),
        ("round = \"from-occupancy\"\nidle_round = \"line-rate\"", "idle_round", "an inferred round"),
        ("round = \"from-occupancy\"\ncharge_refused = false", "charge_refused", "may have changed"),
        ("scheduler = { kind = \"deficit-round-robin\" }\nidle_round = \"line-rate\"", "idle_round", "the turn"),
        (
            "scheduler = { kind = \"deficit-round-robin\", quantum = \"1000 B\" }",
            "scheduler.quantum",
            "must be from 1518 B",
        ),
        ("charge_refused = false\nsketch = { update = \"figure-3\" }", "charge_refused", "needs increments"),
        ("occupancy = { refresh = \"1 us\" }", "occupancy", "has no effect without"),
        ("scheduler = { kind = \"two-groups\" }\nqueues = 9", "queues", "must be even"),
        ("scheduler = { kind = \"two-groups\" }\nround = \"from-occupancy\"", "round", "one round after the other"),
        ("adaptive = {}", "adaptive", "must be of kind \"shared\""),
        (
            "queues = 2\nbytes_per_round = \"759 B\"",
            "bytes_per_round",
            "2 rounds x 759 B = 1518 B, and a full frame is charged 1518 B",
        ),
        (
            "class_weights = [0.5]\nqueues = 2",
            "bytes_per_round",
            "2 rounds x 1518 B = 3036 B, and a full frame is charged 3036 B",
        ),
        (
            "bytes_per_round = \"17 KB\"",
            "bytes_per_round",
            "32 rounds x 17 KB = 544 KB queued, and the buffer of a port has 512 KB",
        ),
        ("round_trip = \"1 ms\"\nbytes_per_round = \"3 KB\"", "bytes_per_round", "is 6511 B by round_trip"),
        ("round_trip = \"0 s\"", "round_trip", "must be above zero"),
        ("round_trip = \"10 ms\"", "bytes_per_round", "= 2083360 B queued, and the buffer of a port has 512 KB"),
        ("class_weights = [4, 12]", "bytes_per_round", "32 rounds x 1518 B x weight 12 = 582912 B queued"),
        ("port_buffer = \"40 KB\"", "bytes_per_round", "= 48576 B queued, and the buffer of a port has 40 KB"),
        ("port_buffer = \"10 GB\"\nbytes_per_round = \"80 MB\"", "bytes_per_round", "below 2^31 bytes"),
    ];
    for (settings, field, rule) in rows {
        let error = check(&with(settings), "afq.toml").expect_err(settings);
        let found = error.findings.iter().find(|finding| finding.field == format!("mechanism[0].{field}"));
        let found = found.unwrap_or_else(|| panic!("{settings}: nothing about {field}:\n{error}"));
        assert!(found.rule.contains(rule), "{settings}: {}", found.rule);
    }
}

#[test]
fn a_checked_switch_refuses_what_hardware_cannot_do() {
    let text = |settings: &str| with(settings).replace("preset = \"ideal\"", "preset = \"ideal\"\nchecked = true");
    assert!(check(&text(""), "afq.toml").is_ok());
    let refused = [
        ("sketch = { update = \"figure-3\" }", "sketch.update"),
        ("round = \"from-occupancy\"", "round"),
        ("charge_refused = false", "charge_refused"),
    ];
    for (settings, field) in refused {
        let error = check(&text(settings), "afq.toml").expect_err(settings);
        let [finding] = error.findings.as_slice() else { panic!("not one finding:\n{error}") };
        assert_eq!(finding.field, format!("mechanism[0].{field}"));
    }
}

#[test]
fn settings_of_the_switch_that_afq_leaves_without_effect_are_refused() {
    let switch = |setting: &str| with("").replace("preset = \"ideal\"", &format!("preset = \"ideal\"\n{setting}"));
    for (setting, field) in [
        ("ecn = { threshold = \"30 KB\" }", "switch.ecn"),
        ("queues_per_port = 2\nscheduler = \"strict\"", "switch.queues_per_port"),
    ] {
        let error = check(&switch(setting), "afq.toml").expect_err(setting);
        assert_eq!(error.findings[0].field, field, "{error}");
    }
}

#[test]
fn the_queues_of_all_mechanisms_must_fit_on_a_port() {
    let sqr = "[[mechanism]]\nkind = \"sqr\"\nlinks = [\"left->right\"]\n\n[measure]";
    let error = check(&with("queues = 62").replace("[measure]", sqr), "afq.toml").expect_err("72 queues");
    let rule = "a port has 64 queues at most: AFQ 62, the switch 1, SQR 9 are 72";
    let found = error.findings.iter().find(|finding| finding.field == "mechanism[0].queues");
    assert_eq!(found.map(|finding| finding.rule.as_str()), Some(rule), "{error}");
}

/// A flow fills 400G over 20 us cables with 160 us x 400 Gbps / (6 x 32) in each round.
#[test]
fn left_out_bytes_per_round_follow_from_the_links_and_the_buffer() {
    let of = |switch: &str, transport: &str| {
        let text = leaf_spine(switch, transport, "[[mechanism]]\nkind = \"afq\"");
        let text = text.replace("delay = \"1 us\"", "delay = \"20 us\"").replace("10 Gbps", "400 Gbps");
        first_settings::<AfqSettings>(&text).bytes_per_round().0
    };
    let buffer = |text: &str| format!("buffer = {{ kind = \"static\", per_port = \"{text}\" }}");
    assert_eq!(of(&buffer("4 MB"), TCP), 41_667);
    assert_eq!(of(&buffer("320 KB"), TCP), 10_000);
    assert_eq!(of(&buffer("50 KB"), TCP), 1_562);
    assert_eq!(of(&buffer("4 MB"), "kind = \"packet-pair\""), 1_518);
}

fn with_classes(scheduler: &str, settings: &str) -> String {
    let switch = format!("preset = \"ideal\"\nqueues_per_port = 4\nscheduler = \"{scheduler}\"");
    with(settings).replace("preset = \"ideal\"", &switch)
}

#[test]
fn classes_that_cannot_be_fair_queued_are_refused() {
    let rows = [
        ("strict", "classes = []", "classes", "is empty"),
        ("strict", "classes = [1, 4]", "classes", "class 4 has no separate queue: switch.queues_per_port is 4"),
        ("strict", "classes = [0, 3]", "classes", "class 1 is between them"),
        ("strict", "classes = [1]\nclass_weights = [2, 3]", "class_weights[0]", "is not among classes"),
        ("drr", "classes = [1]\nflow_key = \"class\"\nclass_weights = [1, 3, 2]", "class_weights[2]", "is not among"),
    ];
    for (scheduler, settings, field, rule) in rows {
        let error = check(&with_classes(scheduler, settings), "afq.toml").expect_err(settings);
        let found = error.findings.iter().find(|finding| finding.field == format!("mechanism[0].{field}"));
        let found = found.unwrap_or_else(|| panic!("{settings}: nothing about {field}:\n{error}"));
        assert!(found.rule.contains(rule), "{settings}: {}", found.rule);
    }
    // All classes everywhere: the queues of the switch would stay empty, as without a list.
    let error = check(&with_classes("strict", "classes = [0, 1, 2, 3]"), "afq.toml").expect_err("no other class");
    assert_eq!(error.findings[0].field, "switch.queues_per_port", "{error}");
    let twice = "classes = [1]\n[[mechanism]]\nkind = \"afq\"\nclasses = [2]";
    let error = check(&with_classes("strict", twice), "afq.toml").expect_err("two entries");
    assert!(error.findings[0].rule.contains("has AFQ by another entry"), "{error}");
    for (scheduler, settings) in [
        ("strict", "classes = [1, 2]\nclass_weights = [1, 3]"),
        ("drr", "classes = [0, 3]"),
        ("strict", "classes = [3]\nflow_key = \"class\"\nclass_weights = [1, 1, 1, 2, 2, 2]"),
        ("strict", "classes = [2]\nscheduler = { kind = \"two-groups\" }"),
    ] {
        check(&with_classes(scheduler, settings), "afq.toml").expect(settings);
    }
}

/// 512 KB for four queues.
#[test]
fn listed_classes_have_the_limits_of_the_queues_that_they_replace() {
    let error = check(&with_classes("strict", "classes = [1]\nbytes_per_round = \"5 KB\""), "afq.toml");
    let error = error.expect_err("160 KB of one flow");
    let rule = "32 rounds x 5 KB = 160 KB queued, and the room of these classes at a port is 128 KB";
    assert!(error.findings[0].rule.contains(rule), "{error}");
    for enough in ["classes = [1, 2]", "classes = [1]\nport_buffer = \"160 KB\""] {
        let text = with_classes("strict", &format!("bytes_per_round = \"5 KB\"\n{enough}"));
        check(&text, "afq.toml").expect(enough);
    }
}
