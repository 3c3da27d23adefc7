//! Links with rates and delays of their own, in any topology.

use std::fmt::Write;

use hitless_scenario::Scenario;
use hitless_scenario::network::topology::{Node, Topology};

use crate::support::{self, check, run, simulation, sound};

const WIRE_BYTES: u64 = 1_538;

/// The picoseconds of a full frame at `gbps`.
pub fn frame_ps(gbps: u64) -> u64 {
    WIRE_BYTES * 8_000 / gbps
}

/// A host, two switches and a host, with links of 100 Gb/s and 1 us, and `frames` datagrams of the host at full rate.
pub fn chain(frames: u64, buffer: &str, more: &str) -> String {
    let link = "{ rate = \"100 Gbps\", delay = \"1 us\" }";
    format!(
        "name = \"chain\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\nclocks = \"ideal\"\n\
         [topology]\nkind = \"chain\"\nhosts_left = [\"a\"]\nswitches = [\"s\", \"t\"]\nhosts_right = [\"b\"]\n\
         host_link = {link}\nswitch_link = {link}\n\
         [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"{buffer}\" }}\n\
         [host]\nnic_queue = \"1 GB\"\n\
         [[transport]]\nname = \"u\"\nkind = \"udp\"\nrate = \"100 Gbps\"\nlinger = \"500 ms\"\n\
         [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"u\"\nsources = [\"a\"]\ndestinations = [\"b\"]\n\
         sizes = {{ kind = \"fixed\", bytes = \"{} B\" }}\nperiod = \"1 ms\"\ncount = 1\n{more}",
        frames * 1_472
    )
}

#[test]
fn a_slow_link_and_a_long_link_of_a_chain_take_their_time() {
    let cases = [
        ("", 2 * frame_ps(100) + 3_000_000, 100),
        ("name = \"s->t\"\nrate = \"10 Gbps\"\n", 2 * frame_ps(100) + 3_000_000, 10),
        ("name = \"s<->t\"\nrate = \"25 Gbps\"\ndelay = \"7 us\"\n", 2 * frame_ps(100) + 9_000_000, 25),
        ("name = \"t->b\"\ndelay = \"3 us\"\nrate = \"50 Gbps\"\n", 2 * frame_ps(100) + 5_000_000, 50),
        // The other direction does not carry the datagrams.
        ("name = \"t->s\"\nrate = \"1 Gbps\"\ndelay = \"9 us\"\n", 2 * frame_ps(100) + 3_000_000, 100),
    ];
    for (link, once_ps, gbps) in cases {
        let link = if link.is_empty() { String::new() } else { format!("[[link]]\n{link}") };
        let outcome = run(&chain(50, "1 MB", &link));
        assert_eq!(messages_ps(&outcome), [(once_ps + 50 * frame_ps(gbps)) as i64], "{link}");
    }
}

/// The times from the start of each message to its delivery.
pub fn messages_ps(outcome: &hitless_simulation::Outcome) -> Vec<i64> {
    let [started, delivered] = ["started_ps", "delivered_ps"].map(|name| support::times(outcome, "messages", name));
    started.iter().zip(delivered).map(|(started, delivered)| delivered - started).collect()
}

/// The same fabric as a graph that gives each link its rate and delay.
fn as_graph(scenario: &Scenario) -> String {
    let topology: Topology = scenario.build_topology().expect("the fabric is sound");
    let list = |names: Vec<&str>| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    let hosts = list(topology.hosts.iter().map(|host| &*host.name).collect());
    let switches = list(topology.switches.iter().map(|switch| &*switch.name).collect());
    let mut text = format!("[topology]\nkind = \"graph\"\nhosts = [{hosts}]\nswitches = [{switches}]\n");
    for link in &topology.links {
        let [a, b] = [link.a.node, link.b.node].map(|node: Node| topology.name(node));
        let [spec, back] = link.specs;
        assert_eq!(spec, back, "a graph has equal directions");
        let (rate, delay) = (spec.rate.as_bps(), spec.delay.as_ps());
        let ends = format!("ends = [\"{a}\", \"{b}\"]");
        writeln!(text, "[[topology.links]]\n{ends}\nrate = \"{rate} bps\"\ndelay = \"{delay} ps\"").expect("a string");
    }
    text
}

#[test]
fn a_fat_tree_with_slow_and_long_links_is_the_graph_with_these_links() {
    let shape = "[topology]\nkind = \"fat-tree\"\nk = 4\nhost_link = { rate = \"10 Gbps\", delay = \"1 us\" }\n\
                 core_link = { rate = \"40 Gbps\", delay = \"2 us\" }\n";
    let links = "[[link]]\nname = \"core0<->agg0\"\nrate = \"1 Gbps\"\n[[link]]\nname = \"edge2<->agg2\"\n\
                 delay = \"900 ns\"\nrate = \"25 Gbps\"\n[[link]]\nname = \"h3<->edge1\"\nrate = \"5 Gbps\"\n";
    let rest = "[switch]\npreset = \"ideal\"\nbuffer = { kind = \"static\", per_port = \"100 KB\" }\n\
                [[transport]]\nname = \"r\"\nkind = \"roce\"\n\
                [[flows]]\nname = \"f\"\nkind = \"poisson\"\ntransport = \"r\"\nflows_per_second = 100000\n\
                sizes = { kind = \"fixed\", bytes = \"40 KB\" }\ncount = 60\nsources = [\"all\"]\ndestinations = [\"all\"]\n";
    let top = "name = \"shapes\"\nuntil = \"all-flows-done\"\nduration = \"50 ms\"\n";
    let shaped = sound(&format!("{top}{shape}{rest}{links}"));
    let listed = sound(&format!("{top}{}{rest}", as_graph(&shaped)));
    let hash = |scenario: &Scenario| simulation(scenario).run(&Default::default()).summary.trace_hash;
    assert_eq!(hash(&shaped), hash(&listed));
    let plain = sound(&format!("{top}{shape}{rest}"));
    assert_ne!(hash(&shaped), hash(&plain), "the links matter");
}

#[test]
fn the_round_trip_of_a_spraying_connection_follows_from_the_slowest_direction_of_each_link() {
    let base_rtt = |links: &str| {
        let text = format!("{}{links}", chain(1, "1 MB", "")).replace(
            "kind = \"udp\"\nrate = \"100 Gbps\"\nlinger = \"500 ms\"",
            "kind = \"uet\"\ncongestion = \"nscc\"",
        );
        let effective = sound(&text).effective_toml();
        let line = effective.lines().find(|line| line.starts_with("base_rtt")).expect("it is a default");
        line.to_owned()
    };
    let plain = base_rtt("");
    assert_ne!(plain, base_rtt("[[link]]\nname = \"s->t\"\nrate = \"10 Gbps\"\n"));
    // Twice 3 us more for both directions, once for one.
    let longer = |name: &str| base_rtt(&format!("[[link]]\nname = \"{name}\"\ndelay = \"4 us\"\n"));
    assert_eq!(longer("s->t"), longer("t->s"));
    assert_ne!(longer("s->t"), longer("s<->t"));
}

#[test]
fn a_rate_or_a_delay_that_cannot_be_simulated_is_refused() {
    for (link, field) in [("rate = \"1 kbps\"", "link[0].rate"), ("delay = \"300 s\"", "link[0].delay")] {
        let refused = check(&chain(1, "1 MB", &format!("[[link]]\nname = \"s->t\"\n{link}\n"))).expect_err(link);
        assert!(refused.contains(field), "{link}: {refused}");
    }
}
