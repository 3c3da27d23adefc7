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
    // 51.2 ns in one direction.
    let coded = base_rtt("[[link]]\nname = \"s->t\"\nfec = \"rs-544-514\"\n");
    assert_eq!(coded, base_rtt("[[link]]\nname = \"s->t\"\ndelay = \"1051200 ps\"\n"));
}

#[test]
fn a_rate_or_a_delay_that_cannot_be_simulated_is_refused() {
    for (link, field) in [("rate = \"1 kbps\"", "link[0].rate"), ("delay = \"300 s\"", "link[0].delay")] {
        let refused = check(&chain(1, "1 MB", &format!("[[link]]\nname = \"s->t\"\n{link}\n"))).expect_err(link);
        assert!(refused.contains(field), "{link}: {refused}");
    }
}

/// The rate in Gb/s and the delay in us of `s->t` from a time on.
pub type Period = (u64, u64, u64);

/// What the chain must do with datagrams that leave the host at its full rate: the time of the last delivery and the
/// number of drops. `limit` is the number of frames that fit at `s`, the one in transmission included.
fn oracle(frames: u64, limit: usize, periods: &[Period]) -> (i64, u64) {
    let at = |time: u64| periods.iter().rev().find(|period| period.0 <= time).expect("the first begins at 0");
    let (mut departures, mut free_at, mut free_at_b, mut dropped) = (Vec::<u64>::new(), 0, 0, 0);
    let (mut last_arrival, mut delivered) = (0, 0);
    for frame in 1..=frames {
        let arrival = frame * frame_ps(100) + 1_000_000;
        if departures.iter().filter(|&&departure| departure > arrival).count() >= limit {
            dropped += 1;
            continue;
        }
        let mut begins = arrival.max(free_at);
        // Frames never overtake: the first bit arrives after the last bit of the previous frame.
        loop {
            let held = last_arrival.max(begins + at(begins).2 * 1_000_000) - at(begins).2 * 1_000_000;
            if held == begins {
                break;
            }
            begins = held;
        }
        let (_, gbps, delay_us) = *at(begins);
        free_at = begins + frame_ps(gbps);
        departures.push(free_at);
        last_arrival = free_at + delay_us * 1_000_000;
        free_at_b = last_arrival.max(free_at_b) + frame_ps(100);
        delivered = free_at_b + 1_000_000;
    }
    (delivered as i64, dropped)
}

/// The entries of `s->t` for these periods.
pub fn changing(periods: &[Period]) -> String {
    let (_, gbps, delay_us) = periods[0];
    let mut text = format!("[[link]]\nname = \"s->t\"\nrate = \"{gbps} Gbps\"\ndelay = \"{delay_us} us\"\n");
    for (at, gbps, delay_us) in &periods[1..] {
        let change = format!("at = \"{at} ps\"\nrate = \"{gbps} Gbps\"\ndelay = \"{delay_us} us\"");
        writeln!(text, "[[link.changes]]\n{change}").expect("a string");
    }
    text
}

pub const US: u64 = 1_000_000;

#[test]
fn a_link_that_changes_delivers_each_frame_at_its_time() {
    let cases: [(&str, u64, usize, &[Period]); 7] = [
        ("falls to a tenth and recovers", 200, 1_000, &[(0, 100, 1), (5 * US, 10, 1), (60 * US, 100, 1)]),
        ("a frame in transmission ends at the old rate", 4, 1_000, &[(0, 1, 1), (2 * US, 100, 1)]),
        ("grows longer", 100, 1_000, &[(0, 50, 1), (7 * US, 50, 6)]),
        ("shrinks, and the next frame waits", 100, 1_000, &[(0, 50, 9), (7 * US, 50, 1)]),
        ("shrinks twice within a flight", 100, 1_000, &[(0, 50, 30), (7 * US, 40, 9), (8 * US, 50, 2)]),
        ("falls while the queue is full", 300, 20, &[(0, 50, 1), (15 * US, 5, 1), (40 * US, 80, 1)]),
        ("recovers while the queue is full", 300, 20, &[(0, 10, 1), (15 * US + 77, 100, 1)]),
    ];
    for (name, frames, limit, periods) in cases {
        let text = chain(frames, &format!("{limit} packets"), &changing(periods));
        let outcome = run(&text);
        let (delivered, dropped) = oracle(frames, limit, periods);
        assert_eq!(support::drops(&outcome, "queue full"), dropped, "{name}");
        let last = support::times(&outcome, "links", "last_arrival_ps").to_vec();
        let names = support::texts(&outcome, "links", "link");
        let at_b = names.iter().position(|known| known == "t->b").map(|row| last[row]);
        assert_eq!(at_b, Some(delivered), "{name}");
        if dropped == 0 {
            assert_eq!(messages_ps(&outcome), [delivered], "{name}");
        }
    }
}

#[test]
fn two_flows_share_a_link_that_falls_to_a_tenth_and_recovers() {
    // Both hosts fill their links, so that s->t never idles: 200 frames from the first arrival on.
    let flows = chain(100, "1 MB", &changing(&[(0, 100, 1), (10 * US, 10, 1), (30 * US, 100, 1)]));
    let flows = flows.replace("hosts_left = [\"a\"]", "hosts_left = [\"a\", \"c\"]");
    let outcome = run(&flows
        .replace("sources = [\"a\"]", "sources = [\"a\", \"c\"]")
        .replace("count = 1", "count = 2")
        .replace("1 ms", "1 ns"));
    let first = frame_ps(100) + US;
    let mut now = first;
    for _ in 0..200 {
        now += frame_ps(if (10 * US..30 * US).contains(&now) { 10 } else { 100 });
    }
    // The last frame of s->t, and the hop to b.
    let delivered = support::times(&outcome, "messages", "delivered_ps").iter().copied();
    assert_eq!(delivered.max(), Some((now + 2 * US + frame_ps(100)) as i64));
}

#[test]
fn a_link_that_changes_gives_equal_runs_on_threads_and_from_checkpoints() {
    let periods = [(0, 100, 4), (9 * US, 10, 2), (31 * US, 100, 1), (90 * US, 50, 7)];
    let clocks = |text: String| text.replace("clocks = \"ideal\"\n", "");
    let text = clocks(chain(400, "64 packets", &changing(&periods)));
    crate::partitions::compare(&text, &[(2, 1), (2, 2), (usize::MAX, 1)]);
    crate::checkpoints::goes_on(&sound(&text), &[0.0, 0.00001, 0.00003, 0.00007, 0.0002, 0.5]);
    let roce = text.replace("kind = \"udp\"\nrate = \"100 Gbps\"\nlinger = \"500 ms\"", "kind = \"roce\"");
    crate::partitions::compare(&roce, &[(2, 2), (usize::MAX, 1)]);
    crate::checkpoints::goes_on(&sound(&roce), &[0.05, 0.1, 0.4]);
}

#[test]
fn changes_that_nothing_can_follow_are_refused() {
    let change = "[[link.changes]]\nat = \"5 us\"\n";
    let cases = [
        (format!("name = \"s->t\"\n{change}"), "must change rate, delay or loss"),
        (format!("name = \"s->t\"\n{change}delay = \"0 s\"\n"), "must be above zero"),
        (format!("name = \"s->t\"\n{change}rate = \"1 bps\"\n"), "can be simulated"),
        (
            format!("name = \"s->t\"\nschedule = [{{ at = \"1 us\", state = \"down\" }}]\n{change}delay = \"2 us\"\n"),
            "constant delay",
        ),
    ];
    for (link, rule) in cases {
        let refused = check(&chain(1, "1 MB", &format!("[[link]]\n{link}"))).expect_err(&link);
        assert!(refused.contains(rule), "{link}: {refused}");
    }
}

#[test]
fn the_latency_of_the_error_correction_is_added_in_each_direction() {
    let message = |text: &str| messages_ps(&run(text))[0];
    let plain = chain(50, "1 MB", "");
    let of_link = |name: &str, fec: &str| chain(50, "1 MB", &format!("[[link]]\nname = \"{name}\"\nfec = \"{fec}\"\n"));
    // A codeword with 5,120 bits of data at 100 Gb/s.
    for (name, fec, later_ps) in [
        ("s->t", "none", 0),
        ("s->t", "rs-528-514", 51_200),
        ("s<->t", "rs-544-514", 51_200),
        ("a->s", "rs-544-514", 51_200),
        ("t->s", "rs-544-514", 0),
    ] {
        assert_eq!(message(&of_link(name, fec)) - message(&plain), later_ps, "{name}, {fec}");
    }
    let fabric = "switch_link = { rate = \"100 Gbps\", delay = \"1 us\"";
    let everywhere = plain.replace(fabric, &format!("{fabric}, fec = \"rs-544-514\""));
    assert_eq!(message(&everywhere) - message(&plain), 51_200);
    let longer = changing(&[(0, 100, 1), (2 * US, 100, 3)]);
    let coded = longer.replace("name = \"s->t\"\n", "name = \"s->t\"\nfec = \"rs-544-514\"\n");
    assert_eq!(message(&chain(50, "1 MB", &coded)) - message(&chain(50, "1 MB", &longer)), 51_200, "after a change");
}

/// A link whose `fec` has a latency, and losses by bit errors with another code, from the start or after a change.
#[test]
fn losses_by_another_code_than_the_fec_of_the_link_are_refused_with_both() {
    let loss = |fec: &str| format!("loss = {{ kind = \"bit-errors\", bit_error_rate = 1e-6, fec = \"{fec}\" }}");
    let change = |fec: &str| format!("changes = [{{ at = \"1 us\", {} }}]", loss(fec));
    let none = "changes = [{ at = \"1 us\", loss = { kind = \"none\" } }]";
    let with = |name: &str, fec: &str, lines: &[String]| {
        check(&chain(1, "1 MB", &format!("[[link]]\nname = \"{name}\"\n{fec}\n{}\n", lines.join("\n"))))
    };
    let (kr4, kp4) = ("rs-528-514", "rs-544-514");
    let given = format!("fec = \"{kp4}\"");
    let hint = "give both the same, or the link fec = \"none\": then it has no latency";
    for (name, lines, field, of_loss, of_link) in [
        ("s->t", vec![loss(kr4)], "link[0].loss.fec", kr4, "s->t"),
        ("s->t", vec![loss("none")], "link[0].loss.fec", "none", "s->t"),
        ("s<->t", vec![loss(kp4), change(kr4)], "link[0].changes[0].loss.fec", kr4, "s->t"),
        ("t->s", vec![change("none")], "link[0].changes[0].loss.fec", "none", "t->s"),
    ] {
        let refused = with(name, &given, &lines).expect_err("two codes");
        let rule = format!("is \"{of_loss}\", and {of_link} has fec = \"{kp4}\"");
        for part in [field, &rule, hint] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
    }
    for (fec, lines) in [
        (&*given, vec![loss(kp4), change(kp4)]),
        (&*given, vec![none.to_owned()]),
        ("", vec![loss(kr4), change("none")]),
        ("fec = \"none\"", vec![loss(kr4)]),
    ] {
        assert!(with("s->t", fec, &lines).is_ok(), "{fec} {lines:?}");
    }
}
