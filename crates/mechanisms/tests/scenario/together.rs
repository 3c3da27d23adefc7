//! Mechanisms that share a switch, by their ports.

use super::{TCP, assert_refused, leaf_spine, sound};

fn on(kind: &str, ports: &str) -> String {
    format!("[[mechanism]]\nkind = \"{kind}\"\nports = [{ports}]\n")
}

#[test]
fn mechanisms_of_different_ports_share_a_switch() {
    let [deflection, rimm, afq] = ["preemptive-deflection", "rimm", "afq"];
    let rows = [
        (on(deflection, "\"leaf0->h0\"") + &on(rimm, "\"leaf0->h1\""), "both on one leaf"),
        (on(deflection, "\"leaf0->h0\"") + &on(afq, "\"leaf0->h1\""), "AFQ towards the host beside"),
        (on(rimm, "\"leaf0->h0\"") + &on(afq, "\"leaf0->h1\", \"spine0->leaf1\""), "AFQ on no way of a detour"),
        (on("aifo", "\"leaf0->h0\"") + &on(afq, "\"leaf0->spine0\""), "AIFO sends nothing elsewhere"),
        (on(deflection, "\"leaf0->h0\"") + &on(afq, "\"spine0->leaf0\""), "what comes back is AFQ's like all else"),
    ];
    for (mechanisms, what) in rows {
        let scenario = sound(&leaf_spine("", TCP, &mechanisms));
        assert_eq!(scenario.mechanisms.len(), 2, "{what}");
    }
}

#[test]
fn a_port_has_one_mechanism_that_decides_what_becomes_of_its_packets() {
    let [deflection, rimm, afq] = ["preemptive-deflection", "rimm", "afq"];
    let both = "both would choose where a packet goes";
    let passed =
        "leaf0->spine0 runs Preemptive Deflection and AFQ, and what is sent there from a full queue would pass by";
    let rows = [
        (on(deflection, "\"leaf0->h0\"") + &on(afq, "\"leaf0->h0\""), both),
        (on(deflection, "\"leaf0->h0\"") + &on(afq, "\"leaf0->spine0\""), passed),
        (on(deflection, "\"leaf0->h0\"") + &on(rimm, "\"leaf0->h0\""), both),
        (on(deflection, "\"spine0->leaf0\"") + &on(rimm, "\"leaf0->h0\""), both),
        (on(rimm, "\"leaf0->h0\"") + &on(afq, "\"leaf0->spine0\""), "leaf0->spine0 runs RIMM and AFQ"),
        (on(rimm, "\"leaf0->h0\"") + &on(afq, "\"spine1->leaf0\""), "spine1->leaf0 runs RIMM and AFQ"),
    ];
    assert_refused(rows.map(|(mechanisms, rule)| (leaf_spine("", TCP, &mechanisms), "mechanism[1].ports", rule)));
}
