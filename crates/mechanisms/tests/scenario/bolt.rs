//! Bolt's settings of senders and of switches: defaults and refusals.

use hitless_core::wire::Bytes;
use hitless_mechanisms::bolt::BoltSettings;
use hitless_scenario::network::topology::select::select_ports_by_switch;

use super::*;

fn text(switch: &str, transport: &str, mechanisms: &str) -> String {
    leaf_spine(switch, &format!("{TCP}{transport}"), mechanisms)
}

const SENDERS: &str = "congestion = \"bolt\"\n";
const SWITCHES: &str = "[[mechanism]]\nkind = \"bolt\"\n";

#[test]
fn what_is_left_out_is_all_ports_and_the_authors_values() {
    let scenario = sound(&text("", SENDERS, SWITCHES));
    let Some(settings) = scenario.mechanisms[0].settings::<BoltSettings>() else { panic!("no Bolt") };
    assert_eq!((settings.threshold, settings.supply_max, settings.ramp_up_max), (Bytes(62_000), Bytes(30_000), 256));
    let topology = scenario.topology.build().expect("the fabric is sound");
    let counts: Vec<usize> =
        select_ports_by_switch(&topology, &settings.ports).into_values().map(|ports| ports.len()).collect();
    assert_eq!(counts, [4, 4, 2, 2]);
}

#[test]
fn settings_are_read_back_the_same() {
    let senders = [
        SENDERS,
        "congestion = { kind = \"bolt\" }\n",
        "congestion = { kind = \"bolt\", ai = 0.5, min_cwnd = 0.1, max_cwnd = 43.0, reaction = \"inverse-share\" }\n",
    ];
    for (sender, switches) in senders.into_iter().zip(["", "ports = [\"leaf0\"]\n", "threshold = \"10 KB\"\n"]) {
        assert_reads_back_the_same(&text("", sender, &format!("{SWITCHES}{switches}")));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let with = |settings: &str| format!("{SWITCHES}{settings}\n");
    let twice = format!("{SWITCHES}ports = [\"leaf0\"]\n{SWITCHES}ports = [\"leaf0->h0\"]\n");
    let beside_afq = format!("{SWITCHES}[[mechanism]]\nkind = \"afq\"\nports = [\"leaf0\"]\n");
    let protected = format!(
        "{SWITCHES}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine0\"\nbuffering = \"paused-queue\"\n"
    );
    let blind = "checked = true\ndepth_visible = \"egress\"\n";
    let rows = [
        (text("", SENDERS, ""), "transport[0].congestion", "Bolt needs switches that tell it what to do"),
        (text("", "", SWITCHES), "mechanism[0]", "has no effect: no flow sends with Bolt"),
        (text("", &format!("{SENDERS}ecn = true\n"), SWITCHES), "transport[0].ecn", "not to marks"),
        (text("", SENDERS, &with("ports = [\"h0\"]")), "ports[0]", "'h0' is a host"),
        (text("", SENDERS, &with("ports = [\"leaf0\", \"leaf0->h0\"]")), "ports[1]", "names a port twice"),
        (text("", SENDERS, &twice), "mechanism[1].ports", "leaf0 has Bolt by another entry"),
        (text("", SENDERS, &with("threshold = \"0 B\"")), "threshold", "must be above zero"),
        (text("", SENDERS, &with("segment = \"40 KB\"")), "segment", "from 64 to 9216 B"),
        (text("", SENDERS, &with("supply_max = \"1 KB\"")), "supply_max", "must be at least segment"),
        (text("", SENDERS, &with("notice_bytes = \"20 B\"")), "notice_bytes", "from 64 to 9216 B"),
        (text(blind, SENDERS, SWITCHES), "mechanism[0]", "reads the depths of queues"),
        (text("flow_queueing = { kind = \"drr\" }\n", SENDERS, SWITCHES), "switch.flow_queueing", "a queue of its own"),
        (text("", SENDERS, &beside_afq), "mechanism[1].ports", "leaf0 runs Bolt and AFQ, and queues are chosen"),
        (
            text("", SENDERS, &protected),
            "mechanism[1].link",
            "the fabric runs Bolt and LinkGuardian, and the protection",
        ),
        (
            text("scheduler = \"strict\"\nqueues_per_port = 64\n", SENDERS, SWITCHES),
            "switch.queues_per_port",
            "Bolt 1 are 65",
        ),
    ];
    assert_refused(rows);
    let live = check_for(&text("", SENDERS, SWITCHES), "bolt", Purpose::Live).expect_err("only hosts of ours send it");
    assert!(live.to_string().contains("has no effect live"), "{live}");
}
