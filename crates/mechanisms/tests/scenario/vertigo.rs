//! Vertigo's settings: what is filled in, and what is refused.

use hitless_mechanisms::vertigo::VertigoSettings;
use hitless_network::topology::select::select_ports_by_switch;

use super::*;

fn text(switch: &str, mechanisms: &str) -> String {
    leaf_spine(switch, TCP, mechanisms)
}

const VERTIGO: &str = "[[mechanism]]\nkind = \"vertigo\"\n";

#[test]
fn what_is_left_out_is_all_ports_two_candidates_and_the_way_back() {
    let scenario = sound(&text("", VERTIGO));
    let Some(settings) = scenario.mechanisms[0].settings::<VertigoSettings>() else { panic!("no Vertigo") };
    let expected = VertigoSettings { ports: Vec::new(), candidates: 2, to_arrival_port: true, record_ranks: false };
    assert_eq!(*settings, expected);
    let topology = scenario.topology.build().expect("the fabric is sound");
    let counts: Vec<usize> =
        select_ports_by_switch(&topology, &settings.ports).into_values().map(|ports| ports.len()).collect();
    assert_eq!(counts, [4, 4, 2, 2]);
}

#[test]
fn settings_are_read_back_the_same() {
    for settings in ["", "candidates = 1\nto_arrival_port = false\nrecord_ranks = true\n", "ports = [\"leaf0\"]\n"] {
        assert_reads_back_the_same(&text("", &format!("{VERTIGO}{settings}")));
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
        (text("", &beside("afq")), "mechanism[1].ports", "leaf0 runs Vertigo and AFQ, and both"),
        (text("", &beside("rimm")), "mechanism[1].ports", "leaf0 runs Vertigo and RIMM, and both"),
        (text("", &beside("dibs")), "mechanism[1].ports", "leaf0 runs Vertigo and DIBS, and both would choose"),
        (text("flow_queueing = { kind = \"drr\" }\n", VERTIGO), "switch.flow_queueing", "leave out [[mechanism]]"),
    ];
    assert_refused(rows);
    let sees_in_egress_only = "checked = true\ndepth_visible = \"egress\"\n";
    sound(&text(sees_in_egress_only, VERTIGO));
}
