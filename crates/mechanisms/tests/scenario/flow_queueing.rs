use hitless_core::settings::Finding;
use hitless_core::wire::{Bytes, Duration};
use hitless_scenario::network::switch::FlowQueueingSettings;

use super::*;

fn text(switch: &str, flows: &str) -> String {
    format!(
        "name = \"rivals\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 2\nhosts_right = 1\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\nbottleneck = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\n{switch}\n\
         [[transport]]\nname = \"tcp\"\nkind = \"tcp\"\n\
         [[flows]]\nname = \"long\"\nkind = \"long\"\ntransport = \"tcp\"\nsources = [\"h0\", \"h1\"]\n\
         destinations = [\"h2\", \"h2\"]\n{flows}\n"
    )
}

const STATIC: &str = "preset = \"ideal\"\nbuffer = { kind = \"static\", per_port = \"200 packets\" }\n";

fn queueing(settings: &str) -> FlowQueueingSettings {
    let text = text(&format!("{STATIC}flow_queueing = {settings}"), "");
    let switch = check(&text, "rivals").unwrap_or_else(|error| panic!("{error}")).switch;
    switch.flow_queueing.expect("it is given")
}

#[test]
fn defaults_are_those_of_the_sources() {
    let FlowQueueingSettings::FqCodel(codel) = queueing("{ kind = \"fq-codel\" }") else { panic!("another kind") };
    assert_eq!((codel.flows, codel.quantum, codel.limit, codel.drop_batch), (1_024, Bytes(1_514), 10_240, 64));
    assert_eq!((codel.target, codel.interval, codel.ecn), (Duration::from_ms(5), Duration::from_ms(100), true));
    let FlowQueueingSettings::Sfq(sfq) = queueing("{ kind = \"sfq\" }") else { panic!("another kind") };
    assert_eq!((sfq.queues, sfq.quantum, sfq.perturbation), (32, Bytes(1_518), None));
    let FlowQueueingSettings::Drr(drr) = queueing("{ kind = \"drr\" }") else { panic!("another kind") };
    assert_eq!((drr.quantum, drr.weights), (Bytes(1_518), Vec::new()));
    let FlowQueueingSettings::IdealFq(ideal) = queueing("{ kind = \"ideal-fq\" }") else { panic!("another kind") };
    assert_eq!((ideal.bytes_per_round, ideal.mark_rounds, ideal.charge_drops), (Bytes(1_518), None, false));
}

#[test]
fn only_what_marks_is_enough_for_dctcp() {
    for (settings, marks) in [
        ("{ kind = \"fq-codel\" }", true),
        ("{ kind = \"fq-codel\", ecn = false }", false),
        ("{ kind = \"ideal-fq\", mark_rounds = 8 }", true),
        ("{ kind = \"ideal-fq\" }", false),
        ("{ kind = \"drr\" }", false),
        ("{ kind = \"drr\" }\necn = { threshold = \"20 packets\" }", true),
    ] {
        let text = text(&format!("{STATIC}flow_queueing = {settings}"), "");
        let dctcp = text.replace("kind = \"tcp\"\n", "kind = \"tcp\"\ncongestion = \"dctcp\"\n");
        assert_eq!(check(&dctcp, "rivals").is_ok(), marks, "{settings}");
    }
}

#[test]
fn weights_make_classes() {
    let weighted = "flow_queueing = { kind = \"drr\", weights = [1, 2, 4] }";
    for (switch, class, is_legal) in [(weighted, 2, true), (weighted, 3, false), ("", 1, false)] {
        let text = text(&format!("{STATIC}{switch}"), &format!("class = {class}"));
        assert_eq!(check(&text, "rivals").is_ok(), is_legal, "{switch} {class}");
    }
}

fn findings(switch: &str) -> Vec<Finding> {
    check(&text(switch, ""), "rivals").expect_err(switch).findings
}

#[test]
fn what_does_not_go_with_it_is_refused_with_a_hint() {
    let sfq = "flow_queueing = { kind = \"sfq\" }\n";
    type Row<'a> = (String, &'a str, &'a str);
    let table: &[Row<'_>] = &[
        (format!("{STATIC}{sfq}scheduler = \"drr\"\n"), "switch.scheduler", "flow_queueing = { kind = \"drr\" }"),
        (
            format!("{STATIC}{sfq}scheduler = \"strict\"\nqueues_per_port = 2\n"),
            "switch.queues_per_port",
            "flow_queueing.weights",
        ),
        (format!("preset = \"tofino-like\"\n{sfq}"), "switch.buffer", "kind = \"static\""),
        (
            format!("{STATIC}flow_queueing = {{ kind = \"fq-codel\" }}\necn = {{ threshold = \"20 packets\" }}\n"),
            "switch.ecn",
            "flow_queueing.ecn",
        ),
    ];
    for (switch, field, hint) in table {
        let found = findings(switch);
        let [finding] = found.as_slice() else { panic!("{switch}: {found:?}") };
        assert_eq!(finding.field, *field, "{switch}");
        let given = finding.hint.as_deref().unwrap_or("");
        assert!(given.contains(hint), "{switch}: {given}");
    }
}

#[test]
fn mechanisms_that_ask_for_queues_are_refused() {
    let text = text(&format!("{STATIC}flow_queueing = {{ kind = \"sfq\" }}"), "");
    let text = format!("{text}[[mechanism]]\nkind = \"linkguardian\"\nlink = \"left->right\"\n");
    let found = check(&text, "rivals").expect_err("they do not go together").findings;
    assert!(found.iter().any(|finding| finding.field == "switch.flow_queueing"), "{found:?}");
}

#[test]
fn parameters_without_sense_are_refused() {
    for (settings, field) in [
        ("{ kind = \"drr\", quantum = \"0 B\" }", "quantum"),
        ("{ kind = \"drr\", weights = [1, 0] }", "weights[1]"),
        ("{ kind = \"ideal-fq\", weights = [1001] }", "weights[0]"),
        ("{ kind = \"ideal-fq\", bytes_per_round = \"0 B\" }", "bytes_per_round"),
        ("{ kind = \"ideal-fq\", mark_rounds = 0 }", "mark_rounds"),
        ("{ kind = \"sfq\", queues = 0 }", "queues"),
        ("{ kind = \"sfq\", perturbation = \"0 s\" }", "perturbation"),
        ("{ kind = \"fq-codel\", target = \"0 us\" }", "target"),
        ("{ kind = \"fq-codel\", target = \"1 ms\", interval = \"1 ms\" }", "interval"),
        ("{ kind = \"fq-codel\", quantum = \"63 B\" }", "quantum"),
        ("{ kind = \"fq-codel\", limit = 0 }", "limit"),
    ] {
        let found = findings(&format!("{STATIC}flow_queueing = {settings}"));
        let [finding] = found.as_slice() else { panic!("{settings}: {found:?}") };
        assert_eq!(finding.field, format!("switch.flow_queueing.{field}"), "{settings}");
    }
}
