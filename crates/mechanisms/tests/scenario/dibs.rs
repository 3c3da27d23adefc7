//! DIBS's settings: what is filled in, and what is refused.

use hitless_mechanisms::deflection::DibsSettings;
use hitless_network::topology::select::select_ports_by_switch;

use super::*;

fn text(switch: &str, mechanisms: &str) -> String {
    leaf_spine(switch, TCP, mechanisms)
}

const DIBS: &str = "[[mechanism]]\nkind = \"dibs\"\n";

#[test]
fn what_is_left_out_is_all_ports_and_the_way_back() {
    let scenario = sound(&text("", DIBS));
    let Some(settings) = scenario.mechanisms[0].settings::<DibsSettings>() else { panic!("no DIBS") };
    assert_eq!(*settings, DibsSettings { ports: Vec::new(), to_arrival_port: true, to_full_ports: false });
    let topology = scenario.topology.build().expect("the fabric is sound");
    let counts: Vec<usize> =
        select_ports_by_switch(&topology, &settings.ports).into_values().map(|ports| ports.len()).collect();
    assert_eq!(counts, [4, 4, 2, 2]);
}

#[test]
fn settings_are_read_back_the_same() {
    for settings in ["", "to_arrival_port = false\nto_full_ports = true\n", "ports = [\"leaf0\", \"leaf1->h2\"]\n"] {
        assert_reads_back_the_same(&text("", &format!("{DIBS}{settings}")));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let chain = |text: String| {
        let from = text.find("[topology]").expect("the text has a fabric");
        let to = text.find("[switch]").expect("the text has switches");
        let one = "[topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h2\"]\nswitches = [\"alone\"]\nlinks = [\
                   { ends = [\"h0\", \"alone\"], rate = \"10 Gbps\", delay = \"1 us\" },\
                   { ends = [\"h2\", \"alone\"], rate = \"10 Gbps\", delay = \"1 us\" }]\n";
        format!("{}{one}{}", &text[..from], &text[to..])
    };
    let twice = format!("{DIBS}ports = [\"leaf0\"]\n{DIBS}ports = [\"leaf0->h0\"]\n");
    let beside_afq = format!("{DIBS}[[mechanism]]\nkind = \"afq\"\nports = [\"leaf0\"]\n");
    let beside_rimm = format!("{DIBS}[[mechanism]]\nkind = \"rimm\"\n");
    let rows = [
        (text("", &format!("{DIBS}ports = [\"h0\"]\n")), "ports[0]", "'h0' is a host"),
        (text("", &format!("{DIBS}ports = [\"leaf0\", \"leaf0->h0\"]\n")), "ports[1]", "names a port twice"),
        (text("", &twice), "mechanism[1].ports", "leaf0 has DIBS by another entry"),
        (text("checked = true\ndepth_visible = \"egress\"\n", DIBS), "mechanism[0]", "reads the depths of queues"),
        (text("flow_queueing = { kind = \"drr\" }\n", DIBS), "switch.flow_queueing", "makes room by dropping"),
        (text("", &beside_afq), "mechanism[1].ports", "leaf0->h0 runs DIBS and AFQ, and both would choose"),
        (text("", &beside_rimm), "mechanism[1].ports", "runs DIBS and RIMM, and both would choose"),
        (chain(text("", DIBS)), "mechanism[0].ports", "has no switch that could send a packet to a neighbour"),
    ];
    assert_refused(rows);
    let sees = "checked = true\ndepth_visible = \"ingress-and-egress\"\n";
    sound(&text(sees, DIBS));
}
