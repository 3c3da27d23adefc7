//! Failures, their repair, and SQR: defaults and refusals.

use hitless_core::wire::Duration;
use hitless_mechanisms::sqr::SqrSettings;
use hitless_scenario::kind::Surroundings;

use super::*;

const TESTBED: &str = include_str!("failures.toml");

fn changed(from: &str, to: &str) -> String {
    assert!(TESTBED.contains(from), "the testbed has no {from:?}");
    TESTBED.replacen(from, to, 1)
}

fn sqr(text: &str) -> SqrSettings {
    first_settings(text)
}

const SAME_PORT: &str = "{ kind = \"same-port\" }";
const REROUTE: &str = "{ kind = \"local-reroute\" }\n[recovery.detection]\nkind = \"fixed\"";

/// The testbed with local rerouting of failures that last 5 ms.
fn rerouted() -> String {
    changed(SAME_PORT, REROUTE).replace("every = \"20 ms\"", "every = \"20 ms\"\noutage = \"5 ms\"")
}

#[test]
fn failures_and_their_repair_read_back_the_same_with_every_default_spelled_out() {
    let probes = changed(SAME_PORT, "{ kind = \"none\" }\ndetection = { kind = \"probes\" }")
        .replace("first =", "outage = \"1 ms\"\njitter = \"2 ms\"\ncount = 4\nfirst =");
    let signal = changed(SAME_PORT, "{ kind = \"same-port\" }\ndetection = { kind = \"signal-loss\" }");
    let backstop = changed(
        "ports = [5001]",
        "backstop = { pause = \"9 MB\", resume = \"8 MB\" }\ncaching = \"delay-queue\"\nrelease = \"when-rerouted\"",
    );
    for text in [TESTBED.to_owned(), rerouted(), probes, signal, backstop] {
        assert_reads_back_the_same(&text);
    }
    let effective = check(TESTBED, "").unwrap().effective_toml();
    for line in [
        "jitter = \"0 s\"",
        "delay = \"30 us\"",
        "reconfiguration = \"730 us\"",
        "caching = \"ring\"",
        "release = \"after-delay\"",
        "clock_bits = 32",
        "utilization_window = \"150 us\"",
        "return_hold = \"100 us\"",
        "port = 5001",
        "vlan = 10",
    ] {
        assert!(effective.lines().any(|known| known == line), "{line} is not in\n{effective}");
    }
}

#[test]
fn the_delays_are_the_least_that_keep_the_promise() {
    // A datagram of 1,518 bytes and 20 of overhead at 10G: 1,230.4 ns; egress 200, coding 280, propagation 1,000 ns.
    let table = [
        (TESTBED.to_owned(), Duration::from_ns(30_000 + 2_714), Duration::from_us(730)),
        (rerouted(), Duration::from_ns(32_714), Duration::ZERO),
        (
            changed(SAME_PORT, "{ kind = \"same-port\", reconfiguration = \"1 ms\" }"),
            Duration::from_ns(32_714),
            Duration::from_ms(1),
        ),
        (changed("every =", "outage = \"4030 us\"\nevery ="), Duration::from_ns(32_714), Duration::from_ms(4)),
        // Without recovery a path exists only after the outage, once its end is detected.
        (
            changed(SAME_PORT, "{ kind = \"none\" }").replace("every =", "outage = \"4030 us\"\nevery ="),
            Duration::from_ns(32_714),
            Duration::from_us(4_030),
        ),
        (
            changed("[recovery]", "[recovery]\ndetection = { kind = \"signal-loss\" }"),
            Duration::from_ns(2_755 + 2_714),
            Duration::from_us(730),
        ),
        (
            changed("[recovery]", "[recovery]\ndetection = { kind = \"probes\" }"),
            Duration::from_ns(32_714),
            Duration::from_us(730),
        ),
    ];
    for (text, steady, more) in table {
        let settings = sqr(&text);
        assert_eq!((settings.steady_delay, settings.failure_delay), (Some(steady), Some(steady + more)), "{text}");
    }
}

#[test]
fn all_ports_with_a_link_have_a_caching_queue_unless_some_are_named() {
    let ports = ["sw6->sw9", "sw6->sw10", "sw6->sw2", "sw10->h4", "sw10->sw5", "sw10->sw6"];
    assert_eq!(sqr(TESTBED).caching_ports, ports);
    let named = "caching_ports = [\"sw6->sw9\", \"sw10->sw5\"]\nports = [5001]";
    assert_eq!(sqr(&changed("ports = [5001]", named)).caching_ports, ["sw6->sw9", "sw10->sw5"]);
}

/// The classes of packets that need no order, in the testbed with spraying flows of `class` next to datagrams of class
/// 0, and more of SQR's settings.
fn any_order(class: u8, switch: &str, more: &str) -> Result<Vec<u8>, String> {
    let sprays = format!(
        "[[transport]]\nname = \"spray\"\nkind = \"uet\"\n\n[[flows]]\nname = \"sprayed\"\nkind = \"long\"\n\
         transport = \"spray\"\nclass = {class}\nsources = [\"h1\"]\ndestinations = [\"h3\"]\n\n{switch}[[link]]"
    );
    let text = changed("[[link]]", &sprays).replace("ports = [5001]", more);
    let scenario = check(&text, "").map_err(|error| error.to_string())?;
    Ok(any_order_of(&scenario))
}

fn any_order_of(scenario: &Scenario) -> Vec<u8> {
    defaults_of(scenario).0
}

/// The default classes without an order, and the default maximum age of their copies.
fn defaults_of(scenario: &Scenario) -> (Vec<u8>, Option<Duration>) {
    let topology = scenario.build_topology().expect("a valid fabric");
    let around = Surroundings { scenario, topology: &topology };
    let settings = scenario.mechanisms[0].settings::<SqrSettings>().expect("an entry of SQR");
    (settings.any_order(around), settings.any_order_age(around))
}

#[test]
fn packets_need_no_order_if_only_spraying_flows_use_their_queue() {
    let queues = "[switch]\nqueues_per_port = 3\nscheduler = \"drr\"\n\n";
    let table = [
        (0, "", "", Ok(vec![])),
        (1, queues, "", Ok(vec![1])),
        (0, queues, "", Ok(vec![])),
        (1, queues, "any_order = []", Ok(vec![])),
        (1, queues, "any_order = [0, 1]", Ok(vec![0, 1])),
        (0, "", "any_order_age = \"9 us\"", Err("has no effect: packets of all classes keep their order")),
        (0, "", "any_order = [1]", Err("class 1 shares its queue with class 0 of the flows 'steady'")),
    ];
    for (class, switch, more, expected) in table {
        match (any_order(class, switch, more), expected) {
            (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
            (found, expected) => assert_eq!(found, expected.map_err(String::from), "{class} {switch:?} {more:?}"),
        }
    }
}

/// Live runs remove the flows.
#[test]
fn without_flows_all_packets_keep_their_order() {
    let text = TESTBED.replace("kind = \"udp\"\nrate = \"1 Gbps\"", "kind = \"uet\"");
    let mut scenario = check(&text.replace("constant-rate", "long"), "").expect("it is valid");
    let Protocol::Uet(uet) = &scenario.transports[0].protocol else { panic!("no spraying transport") };
    let useful = uet.timeout.saturating_sub(uet.base_rtt);
    assert!(useful > Duration::ZERO);
    assert_eq!(defaults_of(&scenario), (vec![0], Some(useful)));
    scenario.flows.clear();
    assert_eq!(defaults_of(&scenario), (vec![], None));
}

/// A group of TCP far away changed the default, and with it the completion times of flows over the protected link.
#[test]
fn only_flows_over_the_protected_links_decide_about_their_order() {
    let sprayed =
        TESTBED.replace("kind = \"udp\"\nrate = \"1 Gbps\"", "kind = \"uet\"").replace("constant-rate", "long");
    let beside = |transport: &str, pattern: &str, hosts: &str| {
        let more = format!(
            "[[transport]]\nname = \"other\"\n{transport}\n\n[[flows]]\nname = \"other\"\ntransport = \"other\"\n\
             kind = \"{pattern}\"\n{hosts}\n\n[[link]]"
        );
        defaults_of(&check(&sprayed.replacen("[[link]]", &more, 1), "").unwrap_or_else(|error| panic!("{error}")))
    };
    let alone = defaults_of(&check(&sprayed, "").unwrap_or_else(|error| panic!("{error}")));
    assert_eq!(alone.0, [0]);
    let in_order = (vec![], None);
    let (tcp, soon) = ("kind = \"tcp\"", "kind = \"uet\"\ntimeout = \"100 us\"");
    let (there, far) = ("sources = [\"h1\"]\ndestinations = [\"h4\"]", "sources = [\"h1\"]\ndestinations = [\"h3\"]");
    let back = "sources = [\"h4\"]\ndestinations = [\"h2\"]";
    assert_eq!(beside(tcp, "long", far), alone);
    assert_eq!(beside(tcp, "long", there), in_order);
    assert_eq!(beside(tcp, "long", back), in_order, "acknowledgements keep their order too");
    assert_eq!(beside(tcp, "permutation", "size = \"1 KB\"\nhosts = [\"h1\", \"h2\", \"h3\"]"), alone);
    assert_eq!(beside(tcp, "all-to-all", "size = \"1 KB\""), in_order);
    assert_eq!(beside(soon, "long", far), alone, "their copies are elsewhere");
    assert!(beside(soon, "long", there).1 < alone.1);
}

#[test]
fn failures_that_cannot_be_are_refused() {
    let link = "link = \"sw6<->sw10\"";
    let table = [
        (
            link,
            "link = \"sw6<->sw11\"",
            "link: there is no node called 'sw11'\nhint: known: sw1, sw2, sw3, sw4, sw5, sw6 and 4 more",
        ),
        (link, "link = \"sw6->sw10\"", "link: a failed link is dead both ways: \"a<->b\""),
        (link, "link = \"sw1<->sw3\"", "link: has a schedule in [[link]]: a link goes down by the one or the other"),
        ("first = \"10 ms\"", "first = \"1 s\"", "first: must be before the run ends (duration)"),
        ("every = \"20 ms\"", "count = 3", "count: has no effect without every"),
        (
            "every = \"20 ms\"",
            "every = \"2760 us\"\njitter = \"2 ms\"",
            "every: must be longer than it takes to repair the link and to know of it (760 us) and jitter (2 ms) \
             together",
        ),
        (
            "every = \"20 ms\"",
            "outage = \"759 us\"",
            "outage: is shorter than the repair takes: detection 30 us, reconfiguration 730 us",
        ),
        (
            SAME_PORT,
            "{ kind = \"none\" }",
            "outage: must be given: only the recovery scheme \"same-port\" repairs a link\n\
             hint: give outage = \"5 ms\", or [recovery] scheme = { kind = \"same-port\" }",
        ),
    ];
    for (from, to, expected) in table {
        assert_eq!(told(&changed(from, to)), format!("failure[0].{expected}"));
    }
    let at_a_host = rerouted().replacen(link, "link = \"h4<->sw10\"", 1);
    assert_eq!(told(&at_a_host), "failure[0].link: h4 has one port: nothing can be rerouted");
    let never_probed = changed("[recovery]", "[recovery]\ndetection = { kind = \"probes\", interval = \"0 s\" }");
    assert_eq!(told(&never_probed), "recovery.detection.interval: must be above zero");
    let never_polled =
        rerouted().replace("{ kind = \"local-reroute\" }", "{ kind = \"local-reroute\", probe_period = \"0 s\" }");
    assert_eq!(told(&never_polled), "recovery.scheme.probe_period: must be above zero");
    let no_scheme = check(&changed("scheme = { kind = \"same-port\" }", ""), "").expect_err("no scheme");
    assert_eq!(no_scheme.findings[0].field, "recovery.scheme");
}

#[test]
fn sqr_that_cannot_keep_its_promise_is_refused_with_the_arithmetic() {
    let table = [
        (
            "steady_delay = \"32710 ns\"",
            "steady_delay",
            "is too short: detection takes 30 us and a full frame 2.7136 us, 32.7136 us together",
            "",
        ),
        (
            "failure_delay = \"762 us\"",
            "failure_delay",
            "is too short: steady_delay 32.714 us and reconfiguration 730 us are 762.714 us together",
            "",
        ),
        (
            "clock_bits = 20",
            "failure_delay",
            "must be 524.286 us at most, half a turn of a clock of 20 bits",
            "give more clock_bits",
        ),
        ("utilization_window = \"0 s\"", "utilization_window", "must be above zero", ""),
        ("backstop = { pause = \"9 MB\", resume = \"9 MB\" }", "backstop.resume", "must be below pause", ""),
        (
            "backstop = { pause = \"23 MB\", resume = \"9 MB\" }",
            "backstop.pause",
            "is above switch.buffer.total: it would never act",
            "",
        ),
        ("caching_ports = [\"sw6->sw9\"]", "caching_ports", "sw10 has no caching port", ""),
        (
            "caching_ports = [\"sw6->sw9\", \"sw10->h4\", \"sw1->sw3\"]",
            "caching_ports[2]",
            "is at a switch that sends on none of the protected links",
            "",
        ),
        (
            "caching_ports = [\"h4->sw10\"]",
            "caching_ports[0]",
            "'h4' is a host, and only switches have ports with queues",
            "",
        ),
    ];
    for (line, field, rule, hint) in table {
        let text = changed("ports = [5001]", line);
        let error = check(&text, "").expect_err(rule);
        let finding = error.findings.iter().find(|finding| finding.field == format!("mechanism[0].{field}"));
        let finding = finding.unwrap_or_else(|| panic!("{error}"));
        assert_eq!((finding.rule.as_str(), finding.hint.as_deref().unwrap_or("")), (rule, hint), "{error}");
    }
    let ideal = changed("[[transport]]", "[switch]\npreset = \"ideal\"\n\n[[transport]]");
    let expected = "mechanism[0].caching: a ring needs a switch.mirror_latency above 0: copies would go round it in no \
                    time\n\
                    hint: take switch.preset = \"tofino-like\", or caching = \"delay-queue\"";
    assert_eq!(told(&ideal), expected);
    let small =
        changed("[[transport]]", "[switch.buffer]\nkind = \"shared\"\ntotal = \"900 KB\"\nalpha = 1\n\n[[transport]]");
    let error = check(&small, "").expect_err("too small");
    let rule =
        "sw6 would have to keep (10 Gbps) x 762.714 us = 953392 B, and switch.buffer.total is 900 KB (equation 1)";
    assert_eq!(error.findings[0].rule, rule, "{error}");
    assert_eq!(error.findings[0].value, "762.714 us");
}

#[test]
fn packets_that_wait_for_their_return_must_fit_into_the_buffer() {
    let small = "[switch.buffer]\nkind = \"shared\"\ntotal = \"120 KB\"\nalpha = 1\n\n[[transport]]";
    let error = check(&rerouted().replace("[[transport]]", small), "").expect_err("too small");
    let rule = "sw6 would have to keep (10 Gbps) x 100 us = 125 KB, and switch.buffer.total is 120 KB (equation 1)";
    let finding = &error.findings[0];
    assert_eq!((finding.field.as_str(), finding.rule.as_str()), ("mechanism[0].return_hold", rule), "{error}");
}

#[test]
fn sqr_on_a_failing_link_needs_someone_who_detects_it() {
    let text = changed("[recovery]\nscheme = { kind = \"same-port\" }\n", "")
        .replace("every = \"20 ms\"", "every = \"20 ms\"\noutage = \"2 ms\"");
    let expected = "mechanism[0].links: sw6->sw10 fails, and nobody detects it\n\
                    hint: give [recovery], or SQR is never told that it has to send its copies";
    assert_eq!(told(&text), expected);
    let elsewhere = text.replacen("link = \"sw6<->sw10\"", "link = \"sw6<->sw9\"", 1);
    sound(&elsewhere);
}

#[test]
fn marks_that_no_packet_can_bear_are_refused() {
    for (list, least_or_most) in
        [("classes = [128]", "127"), ("ports = [0]", "1"), ("vlans = [0]", "1"), ("vlans = [4095]", "4094")]
    {
        let error = check(&changed("ports = [5001]", list), "").expect_err(list);
        let [finding] = error.findings.as_slice() else { panic!("{error}") };
        assert!(finding.field.starts_with("mechanism[0].") && finding.rule.contains(least_or_most), "{error}");
    }
}

#[test]
fn sqr_needs_links_of_switches_each_in_one_entry() {
    let table = [
        ("links = [\"h4->sw10\"]", "links[0]", "a host is at the sending end, and SQR runs on switches"),
        ("links = [\"sw6<->sw10\", \"sw6->sw10\"]", "links[1]", "this direction is in the list already"),
        ("links = []", "links", "must have at least 1 entries"),
    ];
    for (links, field, rule) in table {
        let text = changed("links = [\"sw6<->sw10\"]", links);
        let error = check(&text, "").expect_err(rule);
        let found = error
            .findings
            .iter()
            .any(|finding| finding.field == format!("mechanism[0].{field}") && finding.rule == rule);
        assert!(found, "{error}");
    }
    let twice = format!("{TESTBED}\n[[mechanism]]\nkind = \"sqr\"\nlinks = [\"sw6->sw9\"]\n");
    let rule = "sw6 has SQR by another entry, and its links share one set of parameters";
    assert_eq!(told(&twice), format!("mechanism[1].links: {rule}"));
}

#[test]
fn protected_flows_of_constant_rate_must_have_room_on_their_link() {
    let two_to_h4 = |rate: &str, ports: &str| {
        TESTBED
            .replace("\"sw6<->sw10\"", "\"sw10<->h4\"")
            .replace("links = [\"sw10<->h4\"]", "links = [\"sw10->h4\"]")
            .replace("sources = [\"h2\"]", "sources = [\"h2\", \"h3\"]")
            .replace("rate = \"1 Gbps\"", &format!("rate = \"{rate}\""))
            .replace("ports = [5001]", ports)
    };
    let expected = "mechanism[0].links: protected flows of constant rate send 12 Gbps over sw10->h4; after a failure \
                    sw10->h4 has to carry them, and carries 10 Gbps\nhint: what waits could never be sent";
    for marks in ["ports = [5001]", "vlans = [10]"] {
        assert_eq!(told(&two_to_h4("6 Gbps", marks)), expected);
    }
    for legal in [two_to_h4("5 Gbps", "ports = [5001]"), two_to_h4("6 Gbps", "ports = [80]")] {
        sound(&legal);
    }
    // Between sw8 and sw10 each flow has two paths, so that no link must carry both.
    let across = TESTBED
        .replace("sources = [\"h2\"]", "sources = [\"h1\", \"h2\"]")
        .replace("rate = \"1 Gbps\"", "rate = \"6 Gbps\"");
    sound(&across);
}

#[test]
fn local_rerouting_under_sqr_needs_a_backup() {
    sound(&rerouted());
    // The only path from sw2 to h4 is through sw6.
    let protected = rerouted().replacen("links = [\"sw6<->sw10\"]", "links = [\"sw2->sw6\"]", 1);
    check(&protected, "").unwrap_or_else(|error| panic!("it never fails\n{error}"));
    let text = protected.replacen("link = \"sw6<->sw10\"", "link = \"sw2<->sw6\"", 1);
    let expected = "mechanism[0].links: sw2->sw6 has no backup: from every other neighbour of sw2 some of its packets \
                    come back\nhint: local rerouting needs another way; protect another link, or take the scheme \
                    \"same-port\"";
    assert_eq!(told(&text), expected);
}
