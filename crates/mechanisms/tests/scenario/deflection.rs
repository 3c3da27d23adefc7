//! Settings of mechanisms that choose ports, and of the rank guard: defaults and refusals.

use hitless_mechanisms::deflection::priority::{DivideBy, QuantileOf, RelativePriority};
use hitless_mechanisms::deflection::{DibsSettings, PreemptiveDeflectionSettings, SimpleDeflectionSettings};
use hitless_mechanisms::vertigo::VertigoSettings;
use hitless_scenario::network::topology::select::select_ports_by_switch;

use super::*;

fn text(switch: &str, mechanisms: &str) -> String {
    leaf_spine(switch, TCP, mechanisms)
}

const DIBS: &str = "[[mechanism]]\nkind = \"dibs\"\n";
const VERTIGO: &str = "[[mechanism]]\nkind = \"vertigo\"\n";
const SIMPLE: &str = "[[mechanism]]\nkind = \"simple-deflection\"\n";
const PREEMPTIVE: &str = "[[mechanism]]\nkind = \"preemptive-deflection\"\n";
const AIFO: &str = "[[mechanism]]\nkind = \"aifo\"\n";
const PABO: &str = "[[mechanism]]\nkind = \"pabo\"\n";
const GUARD: &str = "[[mechanism]]\nkind = \"rank-guard\"\n";

fn filled_in<S: Clone + 'static>(mechanism: &str) -> S {
    first_settings(&text("", mechanism))
}

#[test]
fn what_is_left_out_is_what_the_papers_say() {
    let settings = filled_in::<PreemptiveDeflectionSettings>(PREEMPTIVE);
    let RelativePriority::Quantile(quantile) = settings.relative_priority else { panic!("no quantile") };
    assert_eq!((quantile.window, quantile.sample_every, settings.alpha), (20, 20, 0.1), "section 5.2");
    assert_eq!((quantile.of, quantile.divide_by), (QuantileOf::Enqueued, DivideBy::Fill));
    assert_eq!((settings.candidates, settings.memory, settings.draw_own_port), (1, false, false));
    assert_eq!(filled_in::<SimpleDeflectionSettings>(SIMPLE), SimpleDeflectionSettings::default());
    let dibs = DibsSettings { ports: Vec::new(), to_arrival_port: true, to_full_ports: false };
    assert_eq!(filled_in::<DibsSettings>(DIBS), dibs);
    let vertigo = VertigoSettings { ports: Vec::new(), candidates: 2, to_arrival_port: true, record_ranks: false };
    assert_eq!(filled_in::<VertigoSettings>(VERTIGO), vertigo);
    let topology = sound(&text("", PREEMPTIVE)).topology.build().expect("the fabric is sound");
    for ports in [settings.ports, dibs.ports, vertigo.ports] {
        let counts = select_ports_by_switch(&topology, &ports).into_values().map(|ports| ports.len());
        assert_eq!(counts.collect::<Vec<_>>(), [4, 4, 2, 2], "all ports of all switches");
    }
}

#[test]
fn settings_are_read_back_the_same() {
    let rows = [
        (DIBS, ""),
        (DIBS, "to_arrival_port = false\nto_full_ports = true\n"),
        (DIBS, "ports = [\"leaf0\", \"leaf1->h2\"]\n"),
        (VERTIGO, ""),
        (VERTIGO, "candidates = 1\nto_arrival_port = false\nrecord_ranks = true\n"),
        (VERTIGO, "ports = [\"leaf0\"]\n"),
        (SIMPLE, "start = \"five-bit\"\nto_arrival_port = false\nports = [\"leaf0\"]\n"),
        (SIMPLE, "occupancy = { kind = \"update-gap\", gap = \"1700 ns\", sees_full_at_once = true }\n"),
        (SIMPLE, "occupancy = { kind = \"control-packets\", packets = 512 }\n"),
        (PREEMPTIVE, "occupancy = { kind = \"control-packets\" }\n"),
        (AIFO, "headroom = 0.2\nadmit_in_headroom = false\nwindow = 9\nsample_every = 20\n"),
        (PABO, "threshold = 0.5\nlambda = 10.0\nports = [\"leaf0\"]\n"),
        (GUARD, "ports = [\"leaf0->h0\"]\nslots = 16\nallowance = \"3 KB\"\nidle = \"1 ms\"\n"),
        (PREEMPTIVE, ""),
        (
            PREEMPTIVE,
            "relative_priority = { kind = \"quantile\", window = 5, of = \"evaluated\", divide_by = \"window\" }\n",
        ),
        (PREEMPTIVE, "relative_priority = { kind = \"distribution\", mean = \"moving-average\", gain = 0.1 }\n"),
        (PREEMPTIVE, "relative_priority = { kind = \"distribution\", arithmetic = \"tables\" }\ncandidates = 2\n"),
        (PREEMPTIVE, "decision = { kind = \"probabilistic\", times_alpha = true }\nmemory = true\nalpha = 0.9\n"),
        (PREEMPTIVE, "capacity = { kind = \"constant\", size = \"100 KB\" }\ndraw_own_port = true\n"),
    ];
    for (mechanism, settings) in rows {
        assert_reads_back_the_same(&text("", &format!("{mechanism}{settings}")));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let beside = |other: &str| format!("{PREEMPTIVE}[[mechanism]]\nkind = \"{other}\"\n");
    let with = |setting: &str| format!("{PREEMPTIVE}{setting}\n");
    let shared = "buffer = { kind = \"shared\", total = \"1 MB\", alpha = 1.0 }\n";
    let packets = "buffer = { kind = \"static\", per_port = \"100 packets\" }\n";
    let of_ports = "[[switch.ports]]\nrate = \"10 Gbps\"\nbuffer = \"100 packets\"\n";
    let rows = [
        (text("", &with("alpha = 1.5")), "mechanism[0].alpha", "between 0 and 1"),
        (text("", &with("candidates = 3")), "mechanism[0].candidates", "between 1 and 2"),
        (text("", &with("relative_priority = { kind = \"quantile\", window = 0 }")), "window", "must be"),
        (text("", &with("ports = [\"leaf0\", \"leaf0\"]")), "ports[1]", "names a port twice"),
        (text("", &beside("preemptive-deflection")), "mechanism[1].ports", "share one set of parameters"),
        (text("", &beside("dibs")), "mechanism[1].ports", "leaf0 runs Preemptive Deflection and DIBS, and both"),
        (text("", &beside("rimm")), "mechanism[1].ports", "runs Preemptive Deflection and RIMM, and both"),
        (text("checked = true\ndepth_visible = \"egress\"\n", SIMPLE), "mechanism[0]", "Simple Deflection reads"),
        (text("flow_queueing = { kind = \"drr\" }\n", SIMPLE), "switch.flow_queueing", "makes room by dropping"),
        (text(packets, PREEMPTIVE), "mechanism[0].capacity", "no limit of its own in bytes"),
        (text(of_ports, PREEMPTIVE), "mechanism[0].capacity", "no limit of its own in bytes"),
        (text(shared, PREEMPTIVE), "mechanism[0].capacity", "no limit of its own in bytes"),
        (text("", &with("capacity = { kind = \"current-threshold\" }")), "mechanism[0].capacity", "is \"static\""),
        (
            text("", &with("capacity = { kind = \"constant\", size = \"0 B\" }")),
            "capacity.size",
            "room for a frame of 1518 B",
        ),
        (
            text("", &with("decision = { kind = \"probabilistic\", minimum_threshold = \"300 KB\" }")),
            "decision.minimum_threshold",
            "must be below what a queue may hold",
        ),
    ];
    let late = "occupancy = { kind = \"update-gap\" }";
    let told = "occupancy = { kind = \"control-packets\" }";
    let exact = "relative_priority = { kind = \"distribution\" }";
    let none = "recirculation_ports = 0\n";
    let of_egress = "checked = true\ndepth_visible = \"egress\"\n";
    let rows = rows.into_iter().chain([
        (text(packets, &format!("{SIMPLE}{late}")), "mechanism[0].occupancy", "is given in packets"),
        (
            text("", &format!("{SIMPLE}{}", late.replace("-gap\"", "-gap\", gap = \"0 s\""))),
            "occupancy.gap",
            "above zero",
        ),
        (text(none, &with(told)), "mechanism[0].occupancy", "switch.recirculation_ports is 0"),
        (
            text("", &with(&format!("{told}\n{exact}"))),
            "relative_priority.mean",
            "control packets carry a moving average",
        ),
        (text(of_egress, &with(&format!("{late}\n{exact}"))), "mechanism[0]", "Preemptive Deflection reads the depths"),
        (text(of_egress, AIFO), "mechanism[0]", "AIFO reads the depths"),
        (text(packets, AIFO), "mechanism[0].capacity", "no limit of its own in bytes"),
        (text(packets, PABO), "mechanism[0].capacity", "no limit of its own in bytes"),
        (text("", &format!("{AIFO}{SIMPLE}")), "mechanism[1].ports", "leaf0 runs AIFO and Simple Deflection, and both"),
        (
            text("", &format!("{GUARD}ports = [\"leaf0->spine0\"]\n")),
            "mechanism[0].ports",
            "no port by which packets of a host",
        ),
        (
            text("", GUARD).replace("name = \"long\"\n", "name = \"long\"\nrank = 45\n"),
            "flows[0].rank",
            "takes the first rank of a flow for the bytes that it promises",
        ),
        (text("", &format!("{GUARD}{GUARD}")), "mechanism[1].ports", "leaf0 has a rank guard by another entry"),
        (text("", &format!("{GUARD}ports = [\"h0\"]\n")), "mechanism[0].ports[0]", "'h0' is a host"),
    ]);
    assert_refused(rows);
    sound(&text(shared, &with("capacity = { kind = \"current-threshold\" }")));
    sound(&text(shared, &with("capacity = { kind = \"constant\", size = \"100 KB\" }")));
    sound(&text(shared.replace("1.0 }", "1.0, queue_max = \"300 KB\" }").as_str(), PREEMPTIVE));
    sound(&text(packets, SIMPLE));
    sound(&text(of_egress, &with(told)));
    sound(&text(of_egress, &with(late)));
    sound(&text("", &format!("{GUARD}{PREEMPTIVE}")));
}

#[test]
fn what_dibs_and_vertigo_cannot_mean_is_refused() {
    let beside = |one: &str, other: &str| text("", &format!("{one}[[mechanism]]\nkind = \"{other}\"\n"));
    let beside_afq = format!("{DIBS}[[mechanism]]\nkind = \"afq\"\nports = [\"leaf0\"]\n");
    let of_egress = "checked = true\ndepth_visible = \"egress\"\n";
    let by_flow = "flow_queueing = { kind = \"drr\" }\n";
    for (mechanism, title) in [(DIBS, "DIBS"), (VERTIGO, "Vertigo")] {
        let twice = format!("{mechanism}ports = [\"leaf0\"]\n{mechanism}ports = [\"leaf0->h0\"]\n");
        assert_refused([
            (text("", &format!("{mechanism}ports = [\"h0\"]\n")), "ports[0]", "'h0' is a host"),
            (text("", &format!("{mechanism}ports = [\"leaf0\", \"leaf0->h0\"]\n")), "ports[1]", "names a port twice"),
            (text("", &twice), "mechanism[1].ports", &format!("leaf0 has {title} by another entry")),
            (beside(mechanism, "rimm"), "mechanism[1].ports", &format!("runs {title} and RIMM, and both would choose")),
        ]);
    }
    assert_refused([
        (text(of_egress, DIBS), "mechanism[0]", "reads the depths of queues"),
        (text(by_flow, DIBS), "switch.flow_queueing", "makes room by dropping"),
        (text("", &beside_afq), "mechanism[1].ports", "leaf0->h0 runs DIBS and AFQ, and both would choose"),
        (switch_alone(&text("", DIBS)), "mechanism[0].ports", "has no switch that could send a packet to a neighbour"),
        (text("", &format!("{VERTIGO}candidates = 3\n")), "mechanism[0].candidates", "must be between 1 and 2"),
        (beside(VERTIGO, "afq"), "mechanism[1].ports", "leaf0 runs Vertigo and AFQ, and both"),
        (beside(VERTIGO, "dibs"), "mechanism[1].ports", "leaf0 runs Vertigo and DIBS, and both would choose"),
        (text(by_flow, VERTIGO), "switch.flow_queueing", "leave out [[mechanism]]"),
    ]);
    sound(&text("checked = true\ndepth_visible = \"ingress-and-egress\"\n", DIBS));
    sound(&text(of_egress, VERTIGO));
}

/// The scenario with a single switch and its two hosts as the fabric.
fn switch_alone(text: &str) -> String {
    let from = text.find("[topology]").expect("the text has a fabric");
    let to = text.find("[switch]").expect("the text has switches");
    let one = "[topology]\nkind = \"graph\"\nhosts = [\"h0\", \"h2\"]\nswitches = [\"alone\"]\nlinks = [\
               { ends = [\"h0\", \"alone\"], rate = \"10 Gbps\", delay = \"1 us\" },\
               { ends = [\"h2\", \"alone\"], rate = \"10 Gbps\", delay = \"1 us\" }]\n";
    format!("{}{one}{}", &text[..from], &text[to..])
}
