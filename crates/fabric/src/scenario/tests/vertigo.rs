//! Vertigo's settings: what is filled in, and what is refused.

use super::*;

fn text(switch: &str, mechanisms: &str) -> String {
    format!(
        "name = \"vertigo\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\ncore_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\n{switch}\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"tcp\"\nsources = [\"h0\"]\n\
         destinations = [\"h2\"]\n{mechanisms}\n"
    )
}

const VERTIGO: &str = "[[mechanism]]\nkind = \"vertigo\"\n";

#[test]
fn what_is_left_out_is_all_ports_two_candidates_and_the_way_back() {
    let scenario = check(&text("", VERTIGO), "").unwrap_or_else(|error| panic!("{error}"));
    let Some(MechanismSettings::Vertigo(settings)) = scenario.mechanisms.first() else { panic!("no Vertigo") };
    let expected = VertigoSettings { ports: Vec::new(), candidates: 2, to_arrival_port: true, record_ranks: false };
    assert_eq!(*settings, expected);
    let topology = scenario.topology.build().expect("the fabric is sound");
    let counts: Vec<usize> = settings.ports_by_switch(&topology).into_values().map(|ports| ports.len()).collect();
    assert_eq!(counts, [4, 4, 2, 2]);
}

#[test]
fn settings_are_read_back_the_same() {
    for settings in ["", "candidates = 1\nto_arrival_port = false\nrecord_ranks = true\n", "ports = [\"leaf0\"]\n"] {
        let scenario = check(&text("", &format!("{VERTIGO}{settings}")), "").unwrap_or_else(|error| panic!("{error}"));
        let effective = scenario.effective_toml();
        let again = check(&effective, "").unwrap_or_else(|error| panic!("{error}\n{effective}"));
        assert_eq!(again, scenario);
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let beside = |other: &str| format!("{VERTIGO}[[mechanism]]\nkind = \"{other}\"\n");
    let twice = format!("{VERTIGO}ports = [\"leaf0\"]\n{VERTIGO}ports = [\"leaf0->h0\"]\n");
    let rows = [
        (text("", &format!("{VERTIGO}ports = [\"h0\"]\n")), "ports[0]", "'h0' is a host"),
        (text("", &format!("{VERTIGO}ports = [\"leaf0\", \"leaf0->h0\"]\n")), "ports[1]", "names a port twice"),
        (text("", &format!("{VERTIGO}candidates = 3\n")), "mechanism[0].candidates", "must be between 1 and 2"),
        (text("", &twice), "mechanism[1].ports", "leaf0 has Vertigo by another entry"),
        (text("", &beside("afq")), "mechanism[0].ports", "runs AFQ too"),
        (text("", &beside("rimm")), "mechanism[0].ports", "runs RIMM too"),
        (text("", &beside("dibs")), "mechanism[0].ports", "runs DIBS too"),
        (text("flow_queueing = { kind = \"drr\" }\n", VERTIGO), "switch.flow_queueing", "leave out [[mechanism]]"),
    ];
    for (text, field, rule) in rows {
        let message = check(&text, "vertigo").expect_err("this cannot be meant").to_string();
        assert!(message.contains(field) && message.contains(rule), "{message}");
    }
    let sees_in_egress_only = "checked = true\ndepth_visible = \"egress\"\n";
    check(&text(sees_in_egress_only, VERTIGO), "").unwrap_or_else(|error| panic!("{error}"));
}
