//! Ports with settings that differ from the other ports.

use crate::support::{check, drops, example, ideal, leaf_spine, run, sound};

/// Number of drops if two hosts send at line rate to a receiver on another leaf: the queue is at the last port.
fn dropped(ports: &str) -> u64 {
    let (fabric, switch) = (leaf_spine([2, 1, 2], [10, 40]), ideal("20 packets"));
    let outcome = run(&format!(
        "name = \"ports\"\nduration = \"1 ms\"\n{fabric}{switch}{ports}\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"9 Gbps\"\n\
         [[flows]]\nname = \"burst\"\nkind = \"constant-rate\"\ntransport = \"udp\"\nstop = \"40 us\"\n\
         sources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h2\"]\n"
    ));
    drops(&outcome, "queue full")
}

#[test]
fn ports_that_mark_by_rate_are_enough_for_dctcp() {
    let unmarked = example("incast").replace("congestion = \"newreno\"", "congestion = \"dctcp\"");
    assert!(check(&unmarked).is_err());
    let ports = "[switch]\nports = [{ rate = \"10 Gbps\", ecn = { threshold = \"20 packets\" } }]";
    let marked = unmarked.replace("[switch]", ports);
    sound(&marked);
}

#[test]
fn an_entry_changes_the_ports_that_it_names_and_no_others() {
    // 40 us at 18 Gb/s into 10 Gb/s gives a queue of about 26 packets at leaf1->h2.
    let plain = dropped("");
    assert!(plain > 0);
    for (ports, is_changed) in [
        ("ports = [{ rate = \"10 Gbps\", buffer = \"100 packets\" }]", true),
        ("ports = [{ switches = [\"leaf1\"], buffer = \"100 packets\" }]", true),
        ("ports = [{ rate = \"40 Gbps\", buffer = \"100 packets\" }]", false),
        ("ports = [{ switches = [\"spine0\", \"leaf0\"], buffer = \"100 packets\" }]", false),
        ("ports = [{ rate = \"40 Gbps\", switches = [\"leaf1\"], buffer = \"100 packets\" }]", false),
        ("ports = [{ buffer = \"100 packets\" }, { rate = \"10 Gbps\", buffer = \"20 packets\" }]", false),
        ("ports = [{ buffer = \"20 packets\" }, { rate = \"10 Gbps\", buffer = \"100 packets\" }]", true),
    ] {
        let expected = if is_changed { 0 } else { plain };
        assert_eq!(dropped(ports), expected, "{ports}");
    }
}
