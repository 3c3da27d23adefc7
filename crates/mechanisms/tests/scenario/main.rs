//! Scenarios with mechanisms: defaults, refusals, and their wording.

#![allow(clippy::too_many_lines, reason = "tables of rows")]

mod afq;
mod bolt;
mod budget;
mod captures;
mod deflection;
mod every_nth;
mod failures;
mod flow_queueing;
mod hints;
mod layers;
mod link_protection;
mod losses;
mod memory;
mod messages;
mod plan;
mod refused_traffic;
mod rimm;
mod round_trip;
mod together;
mod trimming;

use hitless_core::settings::SettingsError;
use hitless_core::settings::quantity::Quantity;
use hitless_core::wire::Time;
use hitless_mechanisms::builtin;
use hitless_mechanisms::linkguardian::LinkGuardianSettings;
use hitless_scenario::network::switch::{SwitchPreset, SwitchSettings};
use hitless_scenario::*;

fn check(text: &str, file_name: &str) -> Result<Scenario, SettingsError> {
    hitless_scenario::check(text, file_name, builtin())
}

fn check_for(text: &str, file_name: &str, purpose: Purpose) -> Result<Scenario, SettingsError> {
    hitless_scenario::check_for(text, file_name, purpose, builtin(), None)
}

const BASE: &str = include_str!("base.toml");

fn base() -> Scenario {
    check(BASE, "base.toml").unwrap_or_else(|error| panic!("{error}"))
}

/// A flow from one leaf to the other over two spines, with lines for the switch, the transport and the mechanisms.
fn leaf_spine(switch: &str, transport: &str, mechanisms: &str) -> String {
    format!(
        "name = \"test\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\n{switch}\n\
         [[transport]]\nname = \"t\"\n{transport}\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
         destinations = [\"h2\"]\n{mechanisms}\n"
    )
}

const TCP: &str = "kind = \"tcp\"\n";

fn sound(text: &str) -> Scenario {
    check(text, "").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn first_settings<S: Clone + 'static>(text: &str) -> S {
    sound(text).mechanisms[0].settings::<S>().expect("the first mechanism is of that kind").clone()
}

/// The single finding of a refused text: "field: rule", and a line "hint: ..." if there is one.
fn told(text: &str) -> String {
    let error = check(text, "base.toml").expect_err("should be refused");
    let [finding] = error.findings.as_slice() else { panic!("not one finding:\n{error}\n{text}") };
    assert!(!finding.source_line.is_empty(), "{error}");
    let hint = finding.hint.as_ref().map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    format!("{}: {}{hint}", finding.field, finding.rule)
}

fn assert_reads_back_the_same(text: &str) {
    let scenario = sound(text);
    assert_eq!(sound(&scenario.effective_toml()), scenario);
}

/// Checks texts, each with the refused field and a part of the rule.
fn assert_refused<'a>(rows: impl IntoIterator<Item = (String, &'a str, &'a str)>) {
    for (text, field, rule) in rows {
        let message = check(&text, "").expect_err(rule).to_string();
        assert!(message.contains(field) && message.contains(rule), "{message}");
    }
}

#[test]
fn every_example_is_a_legal_scenario_and_says_what_it_shows() {
    for Example { name, text } in EXAMPLES {
        let scenario = check(text, name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(scenario.name, *name);
        assert!(text.starts_with("# "), "{name}");
        assert_eq!(example(name), Some(*text));
    }
    assert_eq!(example("nothing"), None);
}

#[test]
fn presets_fill_what_is_not_given() {
    let with_switch = |lines: &str| {
        let text = BASE.replace("[switch]\n", &format!("[switch]\n{lines}\n"));
        check(&text, "base.toml").unwrap_or_else(|error| panic!("{error}")).switch
    };
    let tofino = SwitchSettings::of(SwitchPreset::TofinoLike);
    let ecn = base().switch.ecn;
    assert_eq!(with_switch(""), SwitchSettings { ecn, ..tofino.clone() });
    let ideal = SwitchSettings::of(SwitchPreset::Ideal);
    assert_eq!(with_switch("preset = \"ideal\""), SwitchSettings { ecn, ..ideal });
    let kept = with_switch("ingress_latency = \"1 us\"");
    assert_eq!(kept, SwitchSettings { ecn, ingress_latency: hitless_core::wire::Duration::from_us(1), ..tofino });
}

#[test]
fn linkguardian_takes_its_parameters_from_the_rate_and_delay_of_its_link() {
    // Over 1 us a round trip takes 1.6 us more than in a rack, and the loop of the copies is fuller accordingly.
    let table = [
        ("10 Gbps", "13.5 us", "15.26 us", (49_760, 70_642)),
        ("25 Gbps", "7.5 us", "9.5 us", (39_760, 61_414)),
        ("100 Gbps", "7 us", "10.2 us", (36_800, 56_800)),
        ("400 Gbps", "7 us", "15 us", (35_646, 55_646)),
    ];
    let of = |rate: &str, delay: &str| {
        let link = format!("rate = \"{rate}\", delay = \"{delay}\"");
        let text = BASE.replace("rate = \"25 Gbps\", delay = \"1 us\"", &link).replace("25 Gbps", rate);
        let text = text.replace("[measure]", "admission_control = false\n[measure]");
        let settings = first_settings::<LinkGuardianSettings>(&text);
        (settings.timeout(), settings.thresholds().0.0)
    };
    for (rate, timeout, over_200_m, (resume_bytes, resume_over_200_m)) in table {
        assert_eq!(of(rate, "50 ns"), (Quantity::read(timeout).unwrap(), resume_bytes), "{rate}");
        assert_eq!(of(rate, "1 us"), (Quantity::read(over_200_m).unwrap(), resume_over_200_m), "{rate} over 1 us");
    }
}

#[test]
fn dctcp_uses_ecn_unless_told_otherwise() {
    let Protocol::Tcp(tcp) = &base().transports[0].protocol else { panic!("no TCP") };
    assert!(tcp.ecn);
    let text = BASE.replace("congestion = \"dctcp\"", "congestion = \"cubic\"");
    let Protocol::Tcp(tcp) = &check(&text, "").unwrap().transports[0].protocol else { panic!("no TCP") };
    assert!(!tcp.ecn);
}

#[test]
fn bbr_is_paced_unless_told_otherwise() {
    let pacing = |congestion: &str| {
        let text = BASE.replace("congestion = \"dctcp\"", congestion);
        let Protocol::Tcp(tcp) = &check(&text, "").unwrap().transports[0].protocol else { panic!("no TCP") };
        (tcp.pacing, tcp.ecn)
    };
    assert_eq!(pacing("congestion = \"bbr\""), (true, false));
    assert_eq!(pacing("congestion = \"cubic\""), (false, false));
    assert_eq!(pacing("congestion = \"cubic\"\npacing = true"), (true, false));
}

#[test]
fn dcqcn_needs_switches_that_mark() {
    let text = BASE.replace("kind = \"roce\"", "kind = \"roce\"\ndcqcn = {}");
    let marks = "ecn = { threshold = \"65 packets\" }";
    assert!(check(&text, "").is_ok());
    let text = text.replace(marks, "").replace("dctcp", "cubic");
    let error = check(&text, "").expect_err("nothing marks").to_string();
    assert!(error.contains("DCQCN needs switches that mark, and these do not"), "{error}");
}

#[test]
fn a_load_is_a_fraction_of_the_capacity_that_it_names() {
    let topology = base().topology.build().unwrap();
    // 4 hosts at 10G, 4 core links at 25G.
    let table = [("host-links", 40e9), ("leaf-spine-links", 100e9), ("source-host-links", 40e9)];
    for (denominator, capacity_bps) in table {
        let text = BASE.replace("host-links", denominator).replace("duration = \"10 ms\"", "duration = \"20 s\"");
        let text = text.replace("load = 0.5", "load = 0.5\nstop = \"10 s\"");
        let scenario = check(&text, "base.toml").unwrap_or_else(|error| panic!("{error}"));
        let streams = hitless_core::engine::RandomStreams::new(1);
        let workload = hitless_scenario::workload::build(&scenario, &topology, &streams).unwrap();
        let bytes = workload
            .take_while(|flow| flow.start < Time(10_000_000_000_000))
            .filter(|flow| flow.group == 0)
            .map(|flow| match flow.size {
                hitless_scenario::workload::FlowSize::Bytes(bytes) => bytes,
                hitless_scenario::workload::FlowSize::Unlimited => 0,
            });
        let load = bytes.sum::<u64>() as f64 * 8.0 / 10.0 / capacity_bps;
        assert!((load - 0.5).abs() < 0.03, "{denominator}: {load}");
    }
}

#[test]
fn copies_follow_equation_2_unless_they_are_given() {
    for (actual, copies) in [(1e-5, 1), (1e-4, 1), (1e-3, 2), (1e-2, 3), (0.0, 1), (1e-9, 1)] {
        let settings = LinkGuardianSettings { actual_loss_rate: Some(actual), ..LinkGuardianSettings::default() };
        assert_eq!(settings.copy_count(), copies, "{actual}");
        assert_eq!(LinkGuardianSettings { copies: Some(4), ..settings }.copy_count(), 4);
    }
    assert_eq!(LinkGuardianSettings::default().copy_count(), 1);
}

#[test]
fn linkguardian_expects_the_losses_of_its_link() {
    let expected = |text: &str| first_settings::<LinkGuardianSettings>(text).actual_loss_rate;
    assert_eq!(expected(BASE), Some(1e-3));
    assert_eq!(expected(&BASE.replace("rate = 1e-3", "rate = 1.0")), Some(0.5));
    assert_eq!(expected(&BASE.replace("link = \"leaf0->spine1\"", "link = \"leaf0->spine0\"")), None);
    assert_eq!(expected(&BASE.replace("[measure]", "copies = 2\n[measure]")), None);
}

#[test]
fn the_loss_rate_of_a_link_is_the_highest_of_the_run() {
    let scenario = base();
    let topology = scenario.topology.build().unwrap();
    let rate = |name: &str| {
        let link = hitless_scenario::network::topology::select::select_links(&topology, name).unwrap()[0];
        scenario.loss_rate_max(&topology, link)
    };
    assert_eq!(rate("leaf0->spine1"), 1e-3);
    assert_eq!(rate("spine1->leaf0"), 0.0);
}

#[test]
fn a_class_that_afq_gives_a_weight_needs_no_queue_of_the_switch() {
    let text = example("afq-neighbours").unwrap().replace("kind = \"long\"", "kind = \"long\"\nclass = 1");
    assert!(check(&text, "no weights").is_err());
    let weighed = text.replace("ecn_rounds = 8", "ecn_rounds = 8\nclass_weights = [1, 4]");
    check(&weighed, "weights").unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn the_schema_documents_every_field() {
    fn undocumented(value: &serde_json::Value, path: &str, found: &mut Vec<String>) {
        if let Some(properties) = value.get("properties").and_then(|properties| properties.as_object()) {
            let is_tag = |schema: &serde_json::Value| schema.get("const").is_some();
            let bare = properties.iter().filter(|(_, schema)| !is_tag(schema) && schema.get("description").is_none());
            found.extend(bare.map(|(name, _)| format!("{path}.{name}")));
        }
        match value {
            serde_json::Value::Object(object) => {
                object.iter().for_each(|(name, child)| undocumented(child, &format!("{path}.{name}"), found));
            }
            serde_json::Value::Array(items) => items.iter().for_each(|child| undocumented(child, path, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    undocumented(builtin().schema(), "", &mut found);
    assert!(found.is_empty(), "{found:?}");
}
