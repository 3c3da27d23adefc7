//! Ports of a fabric that differ from the others.

use hitless_engine::Progress;
use hitless_scenario::Scenario;
use hitless_simulation::Simulation;

/// Two senders at line rate to one receiver on another leaf: the queue is at the last port, or at a link to a spine.
fn scenario(core_gbps: u32, ports: &str) -> Scenario {
    let text = format!(
        "name = \"ports\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         core_link = {{ rate = \"{core_gbps} Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"20 packets\" }}\n{ports}\n\
         [[transport]]\nname = \"udp\"\nkind = \"udp\"\nrate = \"9 Gbps\"\n\
         [[flows]]\nname = \"burst\"\nkind = \"constant-rate\"\ntransport = \"udp\"\nstop = \"40 us\"\n\
         sources = [\"h0\", \"h1\"]\ndestinations = [\"h2\", \"h2\"]\n"
    );
    hitless_scenario::check(&text, "ports", hitless_mechanisms::builtin()).unwrap_or_else(|error| panic!("{error}"))
}

fn dropped(scenario: Scenario) -> u64 {
    let outcome = Simulation::new(scenario).expect("the scenario can be built").run(&Progress::default());
    assert_eq!(outcome.violations, Vec::<String>::new());
    outcome.summary.drops.get("queue full").copied().unwrap_or(0)
}

#[test]
fn ports_that_mark_by_rate_are_enough_for_dctcp() {
    let text = hitless_scenario::example("incast").expect("the example exists");
    let unmarked = text.replace("congestion = \"newreno\"", "congestion = \"dctcp\"");
    assert!(hitless_scenario::check(&unmarked, "unmarked", hitless_mechanisms::builtin()).is_err());
    let ports = "[switch]\nports = [{ rate = \"10 Gbps\", ecn = { threshold = \"20 packets\" } }]";
    let marked = unmarked.replace("[switch]", ports);
    hitless_scenario::check(&marked, "marked", hitless_mechanisms::builtin()).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn an_entry_changes_the_ports_that_it_names_and_no_others() {
    // 40 us at 18 Gb/s into 10 Gb/s: a queue of about 26 packets at leaf1->h2.
    let plain = dropped(scenario(40, ""));
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
        assert_eq!(dropped(scenario(40, ports)), expected, "{ports}");
    }
}
