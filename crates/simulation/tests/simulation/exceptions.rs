//! Settings of some hosts and switches that differ from the others.

use hitless_core::wire::Duration;
use hitless_scenario::{Protocol, Scenario};

use crate::lossless::{INCAST, Incast};
use crate::support::{check, leaf_spine, run, sound, texts, times};

fn text(more: &str) -> String {
    let group = |from: &str, to: &str| {
        format!(
            "[[flows]]\nname = \"{from}\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"{from}\"]\n\
             destinations = [\"{to}\"]\nsizes = {{ kind = \"fixed\", bytes = \"1 KB\" }}\nperiod = \"1 ms\"\n\
             count = 2\n"
        )
    };
    let flows = format!("[[transport]]\nname = \"t\"\nkind = \"roce\"\n{}{}", group("h0", "h2"), group("h3", "h1"));
    let fabric = leaf_spine([2, 1, 2], [10, 40]);
    format!(
        "name = \"exceptions\"\nclocks = \"ideal\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n{fabric}\
         [switch]\npreset = \"ideal\"\n{more}{flows}"
    )
}

/// The duration of each flow in picoseconds, with its source.
fn durations(more: &str) -> Vec<(String, i64)> {
    let outcome = run(&text(more));
    let started = times(&outcome, "flows", "started_ps");
    let taken =
        times(&outcome, "flows", "finished_ps").iter().zip(started).map(|(finished, started)| finished - started);
    let mut taken: Vec<_> = texts(&outcome, "flows", "source").iter().cloned().zip(taken).collect();
    taken.sort();
    taken
}

#[test]
fn only_the_hosts_of_an_exception_have_its_delays() {
    let plain = durations("");
    for hosts in ["\"h1\", \"h2\"", "\"h1..h2\"", "\"*1\", \"*2\""] {
        let exception = format!(
            "[[host.exceptions]]\nhosts = [{hosts}]\nnetwork_card = {{ send = \"5 us\", receive = \"300 ns\" }}\n"
        );
        let found = durations(&exception);
        for ((source, before), (_, after)) in plain.iter().zip(&found) {
            // Flows go from h0 to h2 and from h3 to h1, so that they share no queue.
            assert_eq!(after - before, 5_300_000, "{source}: {before} and {after} ps");
        }
    }
    let alone = durations("[[host.exceptions]]\nhosts = [\"h0\"]\nnetwork_card = { send = \"50 us\" }\n");
    for ((source, after), (_, before)) in alone.iter().zip(&plain) {
        let expected = if source == "h0" { 50_000_000 } else { 0 };
        assert_eq!(after - before, expected, "{source}: {before} and {after} ps");
    }
}

#[test]
fn exceptions_without_hosts_or_effect_are_refused() {
    let table = [
        ("hosts = [\"h1\"]", "has no effect: give kernel, network_card, tcp_small_queues or nic_queue"),
        ("hosts = [\"gpu*\"]\ntcp_small_queues = false", "no host has a name like 'gpu*'"),
        ("hosts = [\"leaf0\"]\ntcp_small_queues = false", "'leaf0' is a switch, not a host"),
        ("hosts = [\"h1\", \"h*\"]\ntcp_small_queues = false", "h1 is named twice: it has one exception"),
        ("hosts = [\"h1\"]\ntimer_tick = \"1 ms\"", "timer_tick"),
        (
            "hosts = [\"h1\"]\nnic_queue = \"1121 B\"",
            "must be 1122 B at least: the longest frame has 1102 B, and preamble and gap count too",
        ),
    ];
    for (exception, expected) in table {
        let error = check(&text(&format!("[[host.exceptions]]\n{exception}\n"))).expect_err(exception);
        assert!(error.contains(expected), "{exception}: {error}");
    }
}

#[test]
fn patterns_name_switches() {
    let ports = |switches: &str| {
        text(&format!(
            "[[switch.ports]]\nswitches = [{switches}]\nbuffer = \"20 KB\"\necn = {{ threshold = \"5 KB\" }}\n"
        ))
    };
    let [named, by_pattern] = [ports("\"leaf0\", \"leaf1\""), ports("\"leaf*\"")].map(|text| run(&text));
    assert_eq!(named.summary.trace_hash, by_pattern.summary.trace_hash);
    let error = check(&ports("\"tor*\"")).expect_err("no switch fits");
    assert!(error.contains("there is no switch of this name"), "{error}");
}

/// The time of one packet of 1,098 B on the line from a to b over the switches s, t and u, and of its acknowledgement of
/// 86 B back, in picoseconds.
fn round_trip_ps(switch: &str) -> i64 {
    let outcome = run(&format!(
        "name = \"crossing\"\nclocks = \"ideal\"\nuntil = \"all-flows-done\"\nduration = \"1 ms\"\n\
         [topology]\nkind = \"chain\"\nhosts_left = [\"a\"]\nswitches = [\"s\", \"t\", \"u\"]\nhosts_right = [\"b\"]\n\
         host_link = {{ rate = \"100 Gbps\", delay = \"1 us\" }}\n\
         switch_link = {{ rate = \"40 Gbps\", delay = \"2 us\" }}\n[switch]\n{switch}\n\
         [[transport]]\nname = \"t\"\nkind = \"roce\"\n\
         [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"a\"]\ndestinations = [\"b\"]\n\
         sizes = {{ kind = \"fixed\", bytes = \"1 KB\" }}\nperiod = \"1 ms\"\ncount = 1\n"
    ));
    times(&outcome, "flows", "finished_ps")[0] - times(&outcome, "flows", "started_ps")[0]
}

/// Two links of hosts, and two links between switches.
const ON_LINES_PS: i64 = 2 * (2_000_000 + (1_098 + 86) * 80) + 2 * (4_000_000 + (1_098 + 86) * 200);

#[test]
fn one_packet_takes_the_latencies_of_its_switches() {
    assert_eq!(round_trip_ps("preset = \"ideal\""), ON_LINES_PS);
    // By default a switch takes 400 ns, and the coding of each of the four links 280 ns.
    assert_eq!(round_trip_ps("preset = \"tofino-like\""), ON_LINES_PS + 2 * (3 * 400_000 + 4 * 280_000));
    let exceptions = "[[switch.exceptions]]\nswitches = [\"s\"]\ningress_latency = \"1001 ps\"\nphy_latency = \"30 ns\"\n\
                      [[switch.exceptions]]\nswitches = [\"u*\"]\negress_latency = \"70 ns\"\nphy_latency = \"11 ps\"\n";
    for queues in ["scheduler = \"fifo\"", "scheduler = \"strict\"\nqueues_per_port = 2"] {
        let found = round_trip_ps(&format!("preset = \"ideal\"\n{queues}\n{exceptions}"));
        // a-s has the coding of s, s-t a half of it, t-u 5 of 11 ps, u-b that of u.
        assert_eq!(found, ON_LINES_PS + 2 * (1_001 + 70_000 + 30_000 + 15_000 + 5 + 11), "{queues}");
    }
    let of_preset = "preset = \"ideal\"\n[[switch.exceptions]]\nswitches = [\"t\"]\npreset = \"tofino-like\"\n\
                     egress_latency = \"1 ns\"\n";
    // t has 200 ns and 1 ns of pipelines, and half of the coding of the links on both sides.
    assert_eq!(round_trip_ps(of_preset), ON_LINES_PS + 2 * (201_000 + 280_000));
}

#[test]
fn an_exception_like_the_other_switches_changes_nothing() {
    let plain = text("ingress_latency = \"300 ns\"\nphy_latency = \"7 ns\"\n");
    let exception = "[[switch.exceptions]]\nswitches = [\"leaf0..leaf1\"]\ningress_latency = \"300 ns\"\n";
    let same = text(&format!("ingress_latency = \"300 ns\"\nphy_latency = \"7 ns\"\n{exception}"));
    assert_eq!(run(&plain).summary.trace_hash, run(&same).summary.trace_hash);
}

const LATENCIES: &str = "ingress_latency = \"910 ns\"\negress_latency = \"470 ns\"\nmirror_latency = \"90 ns\"\n\
                         loopback_latency = \"33 ns\"\nphy_latency = \"555 ns\"\n";

/// Adds `settings` to `[switch]`, and `exceptions` behind it.
fn with_switches(text: &str, settings: &str, exceptions: &str) -> Scenario {
    let text = text.replacen("[switch]\n", &format!("[switch]\n{settings}"), 1);
    sound(&text.replacen("[[transport]]", &format!("{exceptions}[[transport]]"), 1))
}

/// The same scenario with settings of all switches, and as exceptions.
fn two_ways(text: &str, settings: &str) -> [Scenario; 2] {
    let exceptions = format!("[[switch.exceptions]]\nswitches = [\"*\"]\n{settings}");
    [with_switches(text, settings, ""), with_switches(text, "", &exceptions)]
}

#[test]
fn exceptions_of_all_switches_are_other_settings_of_all() {
    let spraying = text("").replace("kind = \"roce\"", "kind = \"uet\"");
    let spraying = format!("routing = {{ choice = \"flowlets\" }}\n{spraying}");
    let credits = Incast { pfc: "cbfc = {}", ..INCAST }.text(10_000_000);
    let strict = format!("{LATENCIES}scheduler = \"strict\"\nqueues_per_port = 3\n");
    let in_turn = "scheduler = \"drr\"\nqueues_per_port = 2\ndrr_quantum = \"700 B\"\n";
    let of_classes = two_classes("");
    let of_queues = two_classes("scheduler = \"strict\"\nqueues_per_port = 2\n");
    let cases = [
        (text(""), LATENCIES),
        (INCAST.text(10_000_000), &strict),
        (credits, &strict),
        (spraying, LATENCIES),
        (of_classes.clone(), &strict),
        (of_classes, in_turn),
        (of_queues.clone(), "buffer = { kind = \"static\", per_port = \"20 KB\" }\n"),
        (of_queues, "buffer = { kind = \"shared\", total = \"60 KB\", alpha = 0.5 }\n"),
    ];
    for (text, settings) in cases {
        let [plain, exceptions] = two_ways(&text, settings);
        assert_eq!(plain.routing, exceptions.routing, "{text}");
        assert_eq!(plain.transports, exceptions.transports, "{text}");
        let [plain, exceptions] = [plain, exceptions].map(|scenario| crate::support::run_scenario(&scenario));
        assert_eq!(plain.summary.trace_hash, exceptions.summary.trace_hash, "{text}");
    }
}

#[test]
fn headroom_counts_the_pipelines_of_both_ends() {
    let slow = "egress_latency = \"1 us\"\ningress_latency = \"1 us\"\nphy_latency = \"0 s\"\n";
    let late = "[[switch.exceptions]]\nswitches = [\"right\"]\negress_latency = \"3 us\"\ningress_latency = \"5 us\"\n";
    let scenario = with_switches(&INCAST.text(10_000_000), slow, late);
    let topology = scenario.build_topology().expect("the topology is sound");
    let pipelines = |switch: usize, port: usize| {
        let needed = scenario.headroom_needed(&topology, &topology.switches[switch].ports[port]);
        needed.pipeline_bytes / 12_500
    };
    let between = topology.switches[0].ports.len() - 1;
    // In microseconds at 100 Gb/s: the own ingress and egress, and the partner's egress. A host counts like its switch.
    assert_eq!([pipelines(0, 0), pipelines(0, between), pipelines(1, 0), pipelines(1, 1)], [3, 5, 11, 9]);
}

#[test]
fn lossless_classes_lose_nothing_between_unequal_switches() {
    for pfc in ["pfc = {}", "cbfc = {}"] {
        for switch in ["left", "right"] {
            let exception = format!(
                "{pfc}\n[[switch.exceptions]]\nswitches = [\"{switch}\"]\negress_latency = \"4 us\"\n\
                 ingress_latency = \"6 us\"\nphy_latency = \"1 us\"\n"
            );
            Incast { pfc: &exception, bytes: 300_000, ..INCAST }.runs_without_loss();
        }
    }
}

#[test]
fn the_round_trip_of_spraying_connections_counts_each_switch() {
    let base_rtt = |exceptions: &str| {
        let text = text(exceptions).replace("kind = \"roce\"", "kind = \"uet\"");
        let Protocol::Uet(uet) = sound(&text).transports[0].protocol else { panic!("it is a spraying connection") };
        uet.base_rtt
    };
    let exceptions = "[[switch.exceptions]]\nswitches = [\"leaf1\"]\ningress_latency = \"3 us\"\n\
                      [[switch.exceptions]]\nswitches = [\"spine*\"]\nphy_latency = \"2 us\"\n";
    // There and back: once through leaf1, and half of 2 us on each of the two links of the spine.
    assert_eq!(base_rtt(exceptions), base_rtt("") + Duration::from_us(2 * 3 + 2 * 2));
}

#[test]
fn exceptions_of_switches_without_effect_are_refused() {
    let table = [
        (
            "switches = [\"leaf0\"]",
            "has no effect: give a preset, a latency, scheduler, queues_per_port, drr_quantum or buffer",
        ),
        ("switches = [\"leaf0\"]\nqueues_per_port = 2", "the scheduler \"fifo\" serves one queue"),
        ("switches = [\"leaf0\"]\nscheduler = \"drr\"\ndrr_quantum = \"0 B\"", "must be from 1 B to 1 GB"),
        ("switches = [\"tor*\"]\negress_latency = \"1 ns\"", "no switch has a name like 'tor*'"),
        ("switches = [\"h0\"]\negress_latency = \"1 ns\"", "'h0' is a host, not a switch"),
        ("switches = [\"leaf0\", \"leaf*\"]\negress_latency = \"1 ns\"", "leaf0 is named twice: it has one exception"),
        ("switches = [\"leaf7\"]\negress_latency = \"1 ns\"", "there is no node called 'leaf7'"),
        ("switches = [\"leaf0\"]\nchecked = true", "checked"),
    ];
    for (exception, expected) in table {
        let error = check(&text(&format!("[[switch.exceptions]]\n{exception}\n"))).expect_err(exception);
        assert!(error.contains(expected), "{exception}: {error}");
    }
}

/// 100 KB of class 0 and of class 1 from two hosts over one link of their rate.
fn two_classes(more: &str) -> String {
    let group = |class: u8| {
        format!(
            "[[flows]]\nname = \"class {class}\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h{class}\"]\n\
             destinations = [\"h{}\"]\nclass = {class}\nsizes = {{ kind = \"fixed\", bytes = \"100 KB\" }}\n\
             period = \"1 ms\"\ncount = 1\n",
            class + 2
        )
    };
    let fabric = crate::support::dumbbell(2, "1 us", "1 us");
    format!(
        "name = \"classes\"\nclocks = \"ideal\"\nuntil = \"all-flows-done\"\nduration = \"20 ms\"\n{fabric}\
         [switch]\npreset = \"ideal\"\n{more}[[transport]]\nname = \"t\"\nkind = \"roce\"\n{}{}",
        group(0),
        group(1)
    )
}

#[test]
fn only_the_switches_of_an_exception_have_its_scheduler() {
    let urgent_ps = |text: &str| {
        let outcome = run(text);
        let place = texts(&outcome, "flows", "source").iter().position(|source| source == "h1");
        let place = place.expect("there is a flow of class 1");
        times(&outcome, "flows", "finished_ps")[place] - times(&outcome, "flows", "started_ps")[place]
    };
    let at = |switch: &str| {
        let queues = "scheduler = \"strict\"\nqueues_per_port = 2\n";
        urgent_ps(&two_classes(&format!("[[switch.exceptions]]\nswitches = [\"{switch}\"]\n{queues}")))
    };
    // The queue is at the left switch: there class 1 waits at most for the frame of class 0 on the line.
    let (left, right) = (at("left"), at("right"));
    let alone = urgent_ps(
        &two_classes("[[switch.exceptions]]\nswitches = [\"left\"]\nscheduler = \"strict\"\nqueues_per_port = 2\n")
            .replace(
                "class = 0\nsizes = { kind = \"fixed\", bytes = \"100 KB\" }",
                "class = 0\nsizes = { kind = \"fixed\", bytes = \"1 B\" }",
            ),
    );
    let frame_ps = 1_122 * 800;
    assert!(left - alone <= frame_ps, "{left} and {alone} ps");
    assert!(right - alone > 50 * frame_ps, "{right} and {alone} ps");
}

#[test]
fn mechanisms_and_flow_control_look_at_the_queues_of_their_switches() {
    let one_queue = |switch: &str| {
        format!(
            "scheduler = \"strict\"\nqueues_per_port = 2\n\
             [[switch.exceptions]]\nswitches = [\"{switch}\"]\nqueues_per_port = 1\n"
        )
    };
    let with =
        |switches: &str, mechanism: &str| check(&format!("{}[[mechanism]]\n{mechanism}\n", two_classes(switches)));
    let afq = "kind = \"afq\"\nports = [\"left->right\"]\nclasses = [1]";
    with(&one_queue("right"), afq).expect("AFQ is at the left switch");
    let error = with(&one_queue("left"), afq).expect_err("class 1 has no queue at the left switch");
    assert!(error.contains("class 1 has no separate queue: switch.queues_per_port is 1"), "{error}");
    let trimming = "kind = \"trimming\"\nports = [\"left->right\"]\nheaders_per_packet = 2";
    let strict = |switch: &str| {
        format!("[[switch.exceptions]]\nswitches = [\"{switch}\"]\nqueues_per_port = 2\nscheduler = \"strict\"\n")
    };
    with(&strict("right"), trimming).expect("packets are trimmed at the left switch");
    let error = with(&strict("left"), trimming).expect_err("headers need turns");
    assert!(error.contains("share a port by deficit round robin"), "{error}");
    let lossless = two_classes(&format!(
        "pfc = {{ classes = [1] }}\nbuffer = {{ kind = \"shared\", total = \"9 MB\", alpha = 1.0 }}\n{}",
        one_queue("right")
    ));
    let error = check(&lossless).expect_err("the classes share a queue at the right switch");
    assert!(error.contains("class 0 shares queue 0 with class 1, which is lossless"), "{error}");
}

#[test]
fn only_the_switches_of_an_exception_have_its_buffer() {
    let dropped = |exception: &str| {
        let queues = "scheduler = \"strict\"\nqueues_per_port = 2\n";
        let outcome = run(&two_classes(&format!("{queues}[[switch.exceptions]]\n{exception}")));
        outcome.summary.drops.values().sum::<u64>()
    };
    // 100 KB wait at the left switch, and nothing at the right one. Each class has half of a static buffer.
    for (small, ample) in [
        ("{ kind = \"static\", per_port = \"20 KB\" }", "{ kind = \"static\", per_port = \"600 KB\" }"),
        (
            "{ kind = \"shared\", total = \"20 KB\", alpha = 8.0 }",
            "{ kind = \"shared\", total = \"1 MB\", alpha = 8.0 }",
        ),
    ] {
        let at = |switch: &str, buffer: &str| dropped(&format!("switches = [\"{switch}\"]\nbuffer = {buffer}\n"));
        assert!(at("left", small) > 0, "{small}");
        assert_eq!([at("left", ample), at("right", small), at("right", ample)], [0; 3], "{small}");
    }
}

#[test]
fn buffers_of_exceptions_are_checked_like_the_others() {
    let table = [
        ("buffer = { kind = \"static\", per_port = \"0 B\" }", "", "switch.exceptions[0].buffer.per_port"),
        (
            "buffer = { kind = \"shared\", total = \"1 KB\", alpha = 1.0, queue_max = \"2 KB\" }",
            "",
            "must be above zero and at most buffer.total",
        ),
        (
            "buffer = { kind = \"static\", per_port = \"4 KB\" }",
            "ecn = { threshold = \"5 KB\" }\n",
            "is above buffer.per_port: nothing would ever be marked",
        ),
        (
            "buffer = { kind = \"shared\", total = \"1 MB\", alpha = 1.0 }",
            "ports = [{ switches = [\"l*\"], buffer = \"9 KB\" }]\n",
            "needs a limit for each port: switch.buffer of kind \"static\"",
        ),
        (
            "buffer = { kind = \"shared\", total = \"1 MB\", alpha = 1.0 }",
            "flow_queueing = { kind = \"drr\" }\n",
            "queues of flows share the buffer of one port",
        ),
    ];
    for (exception, settings, expected) in table {
        let exception = format!("{settings}[[switch.exceptions]]\nswitches = [\"leaf1\"]\n{exception}\n");
        let error = check(&text(&exception)).expect_err(&exception);
        assert!(error.contains(expected), "{exception}: {error}");
    }
    let tight = "[[switch.exceptions]]\nswitches = [\"right\"]\nbuffer = { kind = \"shared\", total = \"9 KB\", alpha = 1.0 }\n";
    let text = INCAST.text(10_000_000).replacen("[[transport]]", &format!("{tight}[[transport]]"), 1);
    let error = check(&text).expect_err("no headroom at the right switch");
    assert!(error.contains("is 9000 B, and right reserves"), "{error}");
}
