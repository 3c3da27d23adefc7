//! Hints for wrong scenarios, as new users write them.

use super::messages::changed;
use super::*;

/// Rows: the text to replace in the base, its replacement, the field of the only finding, and its hint.
const WRONG: &[[&str; 4]] = &[
    // Units.
    ["rate = \"10 Gbps\"", "rate = \"10 GB/s\"", "topology.host_link.rate", "did you mean \"80 Gbps\"?"],
    ["rate = \"10 Gbps\"", "rate = \"10 gbit\"", "topology.host_link.rate", "did you mean \"10 Gbps\"?"],
    ["rate = \"10 Gbps\"", "rate = \"10\"", "topology.host_link.rate", "give a unit, as in \"10 Gbps\""],
    ["rate = \"10 Gbps\"", "rate = 10", "topology.host_link.rate", "write it as in \"10 Gbps\""],
    ["duration = \"10 ms\"", "duration = \"10 msec\"", "duration", "did you mean \"10 ms\"?"],
    ["duration = \"10 ms\"", "duration = \"1 sec\"", "duration", "did you mean \"1 s\"?"],
    ["duration = \"10 ms\"", "duration = \"1e-2 s\"", "duration", "did you mean \"0.01 s\"?"],
    ["duration = \"10 ms\"", "duration = \"-10 ms\"", "duration", "a time is never negative"],
    ["size = \"10 KB\"", "size = \"10KBytes\"", "flows[1].size", "did you mean \"10 KB\"?"],
    ["size = \"10 KB\"", "size = \"80 kbit\"", "flows[1].size", "did you mean \"10 KB\"?"],
    // A value for a table, a table for a list.
    [LOSS, "loss = 1e-3", "link[0].loss", "write it as in { kind = \"bernoulli\", rate = 1e-3 }"],
    [LOSS, "loss = \"1 %\"", "link[0].loss", "write it as in { kind = \"bernoulli\", rate = 0.01 }"],
    [SIZES, "sizes = \"10 KB\"", "flows[0].sizes", "write it as in { kind = \"fixed\", bytes = \"10 KB\" }"],
    [SIZES, "sizes = \"websearch\"", "flows[0].sizes", "write it as in { kind = \"cdf\", table = \"websearch\" }"],
    ["ecn = { threshold = \"65 packets\" }", "ecn = \"9 KB\"", "switch.ecn", "write it as in { threshold = \"9 KB\" }"],
    ["[[link]]", "[link]", "link", "write [[link]]"],
    ["[[mechanism]]", "[mechanism]", "mechanism", "write [[mechanism]]"],
    ["[switch]", "[[switch]]", "switch", "write [switch]"],
    ["transport = \"udp\"", "transport = [\"udp\"]", "flows[2].transport", "without brackets: \"udp\""],
    ["rate = 1e-3", "rate = \"1 %\"", "link[0].loss.rate", "as a fraction of one: 0.01"],
    // Names of fields.
    ["[[link]]\nname", "[[link]]\nlink", "link[0].link", "did you mean `name`?"],
    ["sources = [\"h0\"]", "src = [\"h0\"]", "flows[2].src", "did you mean `sources`?"],
    ["core_link", "fabric", "topology.fabric", "did you mean `core_link`?"],
    ["kind = \"leaf-spine\"", "type = \"leaf-spine\"", "topology.type", "did you mean `kind`?"],
    ["kind = \"constant-rate\"\n", "", "flows[2].kind", "kind = \"long\" or \"constant-rate\""],
    ["name = \"steady\"\n", "", "flows[2].name", "Unique name of the group in results"],
    // Kinds, names and places.
    ["kind = \"tcp\"", "kind = \"dctcp\"", "transport[0].kind", "write kind = \"tcp\", congestion = \"dctcp\""],
    ["kind = \"linkguardian\"", "kind = \"LinkGuardian\"", "mechanism[0].kind", "did you mean \"linkguardian\"?"],
    ["transport = \"udp\"", "transport = \"quic\"", "flows[2].transport", "known: tcp, roce, udp"],
    ["sources = [\"h0\"]", "sources = [\"h9\"]", "flows[2].sources", "known: h0, h1, h2, h3"],
    ["sources = [\"h0\"]", "sources = [\"leaf0\"]", "flows[2].sources", "known: h0, h1, h2, h3"],
    ["name = \"leaf0->spine1\"", "name = \"leaf0-spine1\"", "link[0].name", "did you mean \"leaf0->spine1\"?"],
    ["link = \"leaf0->spine1\"", "link = \"leaf0->spine2\"", "mechanism[0].link", "known: spine0, spine1"],
    [
        "sources = [\"h0\"]\ndestinations = [\"h3\"]",
        "sources = [\"h0\", \"h1\"]\ndestinations = [\"h0\"]",
        "flows[2].destinations",
        "sources and destinations are paired in order, and the shorter list is repeated",
    ],
    // Not TOML.
    ["kind = \"tcp\"", "kind = tcp", "", "write \"tcp\""],
    ["active = true", "active = True", "", "write true"],
    ["rate = 1e-3", "rate = 1 %", "", "write 0.01"],
    ["rate = 1e-3", "rate = .001", "", "write 0.001"],
    ["rate = 1e-3", "rate = 0,001", "", "write 0.001: a number has a decimal point"],
    ["fan_in = 3", "fan_in = 3  // servers", "", "a comment begins with #"],
    ["fan_in = 3", "fan_in: 3", "", "write name = value"],
    ["sources = [\"h0\"]", "sources = [\"h0\"", "", "is a closing bracket missing above?"],
];

const LOSS: &str = "loss = { kind = \"bernoulli\", rate = 1e-3 }";
const SIZES: &str = "sizes = { kind = \"cdf\", table = \"websearch_dctcp_hpcc\" }";

#[test]
fn a_wrong_scenario_has_one_error_and_the_right_hint() {
    let mut failed = Vec::new();
    for [from, to, field, hint] in WRONG {
        let error = check(&changed(from, to), "base.toml").expect_err(to);
        let told: Vec<_> = error.findings.iter().map(|one| (&*one.field, one.hint.as_deref().unwrap_or(""))).collect();
        if told != [(*field, *hint)] {
            failed.push(format!("{to}\n{error}"));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}
