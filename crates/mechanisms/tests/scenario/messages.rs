//! Messages to users.

use hitless_core::settings::SettingsError;

use super::*;

fn errors(text: &str) -> SettingsError {
    check(text, "base.toml").expect_err("should be refused")
}

/// The base scenario with `from` replaced by `to`.
pub(super) fn changed(from: &str, to: &str) -> String {
    assert!(BASE.contains(from), "the base has no {from:?}");
    BASE.replacen(from, to, 1)
}

#[test]
fn a_message_shows_file_line_field_value_rule_and_hint() {
    let text = "name = \"x\"\nuntil = \"all-flows-dne\"\nduration = 5\n\n[switch]\nqueus_per_port = 2\n";
    let expected = "\
base.toml:1:1: topology: must be given
  |
1 | name = \"x\"
  | ^
  = hint: for example: topology = { kind = \"leaf-spine\", ... }

base.toml:2:9: until = \"all-flows-dne\": must be one of \"duration\", \"all-flows-done\"
  |
2 | until = \"all-flows-dne\"
  |         ^^^^^^^^^^^^^^^
  = hint: did you mean \"all-flows-done\"?

base.toml:3:12: duration = 5: a time is text with a unit
  |
3 | duration = 5
  |            ^
  = hint: write it as in \"5 ms\"

base.toml:6:1: switch.queus_per_port: there is no such field
  |
6 | queus_per_port = 2
  | ^^^^^^^^^^^^^^
  = hint: did you mean `queues_per_port`?
";
    assert_eq!(errors(text).to_string(), expected);
}

#[test]
fn a_congestion_control_has_only_its_own_parameters() {
    let wrong = "congestion = { kind = \"cubic\", gain = 0.5 }\nbbr_rtprop_window = \"5 s\"";
    let text = changed("congestion = \"dctcp\"", wrong);
    let expected = "\
base.toml:21:32: transport[0].congestion.gain: there is no such field
   |
21 | congestion = { kind = \"cubic\", gain = 0.5 }
   |                                ^^^^
   = hint: known here: kind, time, window_validation

base.toml:22:1: transport[0].bbr_rtprop_window: there is no such field
   |
22 | bbr_rtprop_window = \"5 s\"
   | ^^^^^^^^^^^^^^^^^
   = hint: write congestion = { kind = \"bbr\", rtprop_window = ... }
";
    assert_eq!(errors(&text).to_string(), expected);
}

#[test]
fn a_syntax_error_points_at_the_place() {
    let error = errors("name = \"x\n[switch]\nchecked = maybe\n");
    let places: Vec<usize> = error.findings.iter().map(|finding| finding.line).collect();
    assert_eq!(places, [1, 3], "{error}");
    assert!(error.findings.iter().all(|finding| finding.rule.starts_with("not valid TOML: ")), "{error}");
}

/// Checks rows: the text to replace in the base, its replacement, and the expected message.
pub(super) fn check_rows(rows: &[(&str, &str, &str)]) {
    for (from, to, expected) in rows {
        assert_eq!(told(&changed(from, to)), *expected, "{to}");
    }
}

/// Checks rows that are added below `line`.
pub(super) fn check_below(line: &str, rows: &[(&str, &str)]) {
    rows.iter().for_each(|(added, expected)| check_rows(&[(line, &format!("{line}\n{added}"), expected)]));
}

/// Checks rows that are added above `line`, as a section or as the end of a section.
pub(super) fn check_above(line: &str, rows: &[(&str, &str)]) {
    rows.iter().for_each(|(added, expected)| check_rows(&[(line, &format!("{added}\n\n{line}"), expected)]));
}

#[test]
fn a_kind_that_there_is_not_is_told_with_all_that_there_are() {
    let kinds: Vec<String> = hitless_mechanisms::builtin().names().map(|kind| format!("{kind:?}")).collect();
    let told = format!("mechanism[0].kind: must be one of {}\nhint: did you mean \"linkguardian\"?", kinds.join(", "));
    check_rows(&[("kind = \"linkguardian\"", "kind = \"linkgardian\"", &told)]);
}

#[test]
fn structure() {
    check_rows(&[
        ("leaves = 2", "leafs = 2\nleaves = 2", "topology.leafs: there is no such field\nhint: did you mean `leaves`?"),
        ("leaves = 2\n", "", "topology.leaves: must be given\nhint: for example: leaves = 1"),
        ("leaves = 2", "leaves = 2.5", "topology.leaves: must be a whole number"),
        ("leaves = 2", "leaves = \"2\"", "topology.leaves: must be a number\nhint: without quotes: 2"),
        ("leaves = 2", "leaves = 0", "topology.leaves: must be between 1 and 4096"),
        ("leaves = 2", "leaves = 99999999999999999999", "topology.leaves: must be between 1 and 4096"),
        (
            "\"leaf-spine\"",
            "\"leafspine\"",
            "topology.kind: must be one of \"leaf-spine\", \"fat-tree\", \"dumbbell\", \"chain\", \"graph\"\n\
             hint: did you mean \"leaf-spine\"?",
        ),
        ("kind = \"leaf-spine\"\n", "", "topology.kind: must be given\nhint: kind = \"leaf-spine\""),
        (
            "loss = { kind = \"none\" }",
            "loss = { rate = 1e-3 }",
            "link[0].changes[0].loss.kind: must be given\nhint: kind = \"bernoulli\"",
        ),
        ("load = 0.5", "load = \"60 %\"", "flows[0].load: must be a number\nhint: as a fraction of one: 0.6"),
        ("load = 0.5", "load = \"high\"", "flows[0].load: must be a number"),
        ("load = 0.5", "load = 1.5", "flows[0].load: must be between 0 and 1"),
        ("load = 0.5", "load = nan", "flows[0].load: must be between 0 and 1"),
        (
            "load = 0.5",
            "lod = 0.5\nflows_per_second = 5",
            "flows[0].lod: there is no such field\nhint: did you mean `load`?",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = \"1 Gps\"",
            "transport[2].rate: a rate is a number and a unit (bps, Kbps, Mbps, Gbps, Tbps), as in \"100 Gbps\"\n\
             hint: did you mean \"1 Gbps\"?",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = 1000",
            "transport[2].rate: a rate is text with a unit\nhint: write it as in \"100 Gbps\"",
        ),
        (
            "rate = \"1 Gbps\"",
            "rate = \"0 Gbps\"",
            "transport[2].rate: a rate must be above zero\n\
             hint: to stop a link from carrying anything, take it down",
        ),
        (
            "ecn = { threshold = \"65 packets\" }",
            "ecn = 65",
            "switch.ecn: must be a table\nhint: write it as in { threshold = \"65 packets\" }",
        ),
        (
            "sources = [\"h0\"]",
            "sources = \"h0\"",
            "flows[2].sources: must be a list in square brackets\nhint: in square brackets: [\"h0\"]",
        ),
        ("sources = [\"h0\"]", "sources = []", "flows[2].sources: must have at least 1 entries"),
        ("sources = [\"h0\"]", "sources = [7]", "flows[2].sources[0]: must be text in quotes\nhint: in quotes: \"7\""),
        ("state = \"down\"", "state = \"off\"", "link[0].schedule[0].state: must be one of \"up\", \"down\""),
        (
            "active = true",
            "active = \"yes\"",
            "mechanism[0].activation[0].active: must be true or false\nhint: write true",
        ),
        (
            "link = \"leaf0->spine1\"\n",
            "",
            "mechanism[0].link: must be given\n\
             hint: Protected link and direction, \"sw2->sw6\": the first node is the sending switch",
        ),
        ("rate = 1e-3", "rate = 2", "link[0].loss.rate: must be between 0 and 1"),
        (
            "duration = ",
            "bandwidth = 4\nduration = ",
            "bandwidth: there is no such field\nhint: known here: clocks, description, duration, failure, failure_file, flows, \
             host, link, measure, mechanism, name, recovery, routing, seed, switch, topology, transport, \
             until, warmup",
        ),
    ]);
}

#[test]
fn the_run() {
    check_rows(&[
        (
            "name = \"base\"",
            "name = \"a b\"",
            "name: must be letters, digits, '-', '_' and '.', because a folder is named after it",
        ),
        (
            "duration = \"10 ms\"\n",
            "",
            "duration: must be given, because nothing else ends the run\n\
             hint: give duration = \"100 ms\", or until = \"all-flows-done\"",
        ),
        (
            "duration = \"10 ms\"",
            "duration = \"10 ms\"\nwarmup = \"10 ms\"",
            "warmup: must end before the run does (duration = 10 ms)",
        ),
    ]);
}

#[test]
fn the_fabric() {
    check_rows(&[
        (
            "threshold = \"65 packets\"",
            "threshold = \"0 KB\"",
            "switch.ecn.threshold: must be above zero, and at most 4294967295 packets",
        ),
        (
            "{ threshold = \"65 packets\" }",
            "{ threshold = \"65 packets\", maximum = \"200 packets\" }",
            "switch.ecn: maximum and probability belong together: give both or neither",
        ),
        (
            "{ threshold = \"65 packets\" }",
            "{ threshold = \"65 packets\", maximum = \"200 KB\", probability = 0.2 }",
            "switch.ecn.maximum: must be in the unit of threshold: packets or bytes",
        ),
        (
            "{ threshold = \"65 packets\" }",
            "{ threshold = \"65 packets\", maximum = \"65 packets\", probability = 0.2 }",
            "switch.ecn.maximum: must be above threshold",
        ),
        ("p999 = \"9 us\"", "p999 = \"0.5 us\"", "host.kernel.jitter.p999: must not be below the median"),
        (
            "kernel = { jitter",
            "kernel = { gro = { interrupt_packets = 0 }, jitter",
            "host.kernel.gro.interrupt_packets: must be between 1 and 4294967295",
        ),
    ]);
    check_below(
        "[switch]",
        &[
            (
                "ports = [{ ecn = { threshold = \"9 KB\", probability = 0.2 } }]",
                "switch.ports[0].ecn: maximum and probability belong together: give both or neither",
            ),
            (
                "buffer = { kind = \"static\", per_port = \"50 packets\" }",
                "switch.ecn.threshold: is above buffer.per_port: nothing would ever be marked",
            ),
            (
                "buffer = { kind = \"shared\", total = \"1 MB\", alpha = 1, queue_max = \"2 MB\" }",
                "switch.buffer.queue_max: must be above zero and at most buffer.total",
            ),
            ("ports = [{ rate = \"25 Gbps\" }]", "switch.ports[0]: has no effect: give buffer, ecn or both"),
            (
                "ports = [{ rate = \"40 Gbps\", ecn = { threshold = \"80 packets\" } }]",
                "switch.ports[0]: no switch has such a port",
            ),
            (
                "ports = [{ switches = [\"leaf0\", \"spine7\"], ecn = { threshold = \"80 packets\" } }]",
                "switch.ports[0].switches[1]: there is no switch of this name\nhint: known: spine0, spine1",
            ),
            (
                "ports = [{ buffer = \"1 MB\" }]",
                "switch.ports[0].buffer: needs a limit for each port: switch.buffer of kind \"static\"",
            ),
            (
                "buffer = { kind = \"static\", per_port = \"500 packets\" }\n\
             ports = [{ ecn = { threshold = \"501 packets\" } }]",
                "switch.ports[0]: marks above the port's buffer: nothing would ever be marked",
            ),
            (
                "scheduler = \"fifo\"\nqueues_per_port = 3",
                "switch.queues_per_port: the scheduler \"fifo\" serves one queue\n\
             hint: choose scheduler = \"strict\" or \"drr\", or queues_per_port = 1",
            ),
            ("scheduler = \"drr\"\ndrr_quantum = \"0 B\"", "switch.drr_quantum: must be from 1 B to 1 GB"),
        ],
    );
}

#[test]
fn a_run_until_all_flows_are_done_needs_flows_that_end() {
    let error = errors(&changed("duration", "until = \"all-flows-done\"\nduration"));
    let fields: Vec<&str> = error.findings.iter().map(|finding| finding.field.as_str()).collect();
    assert_eq!(fields, ["flows[0]", "flows[1]", "flows[2]"], "{error}");
}

#[test]
fn faults_mechanisms_and_measurements() {
    check_rows(&[
        (
            "name = \"leaf0->spine1\"",
            "name = \"leaf0->spne1\"",
            "link[0].name: there is no node called 'spne1'\nhint: did you mean \"spine1\"?",
        ),
        (
            "name = \"leaf0->spine1\"",
            "name = \"leaf0->leaf1\"",
            "link[0].name: there is no link between 'leaf0' and 'leaf1'\nhint: leaf0 has links to h0, h1, spine0, spine1",
        ),
        ("at = \"4 ms\"", "at = \"3 ms\"", "link[0].schedule[1].at: must be later than the one before"),
        ("at = \"4 ms\"", "at = \"10 ms\"", "link[0].schedule[1].at: must be before the run ends (duration)"),
        (
            "state = \"up\"",
            "state = \"down\"",
            "link[0].schedule[1].state: the link is in this state already (it is up at the start)",
        ),
        (
            "link = \"leaf0->spine1\"",
            "link = \"leaf0->h1\"",
            "mechanism[0].link: LinkGuardian needs a switch at both ends, and a host is at one",
        ),
        ("link = \"leaf0->spine1\"", "link = \"leaf0<->spine1\"", "mechanism[0].link: must be one direction: \"a->b\""),
        (
            "active = true }",
            "active = true }, { at = \"2 ms\", active = true }",
            "mechanism[0].activation[1].active: it is in this state already",
        ),
        (
            "ports = [\"leaf0->spine1\"]",
            "ports = [\"h0->leaf0\"]",
            "measure.queue[0].ports[0]: 'h0' is a host, and only switches have ports with queues",
        ),
        (
            "links = [\"leaf0->spine1\"], period = \"1 ms\"",
            "links = [\"leaf0->spine1\"], period = \"0 s\"",
            "measure.throughput[0].period: must be above zero",
        ),
        (
            "links = [\"leaf0->spine1\"], period = \"1 ms\"",
            "links = [\"leaf0->spine1\"], period = \"1 ps\"",
            "measure.throughput: takes 10000000000 samples, and at most 50000000 are kept\n\
             hint: make the period longer or the run shorter",
        ),
        (
            "[[mechanism]]",
            "[[link]]\nname = \"leaf0<->spine1\"\n\n[[mechanism]]",
            "link[1].name: this direction has a [[link]] entry already",
        ),
        (
            "[switch]\n",
            "[switch]\nrecirculation_ports = 0\n",
            "mechanism[0].link: needs a recirculation port: switch.recirculation_ports is 0",
        ),
        (
            "[measure]",
            "[measure]\nflow = [{ group = \"randm\", period = \"1 ms\" }]",
            "measure.flow[0].group: no [[flows]] has this name\nhint: did you mean \"random\"?",
        ),
    ]);
    check_above(
        "[measure]",
        &[
            (
                "[[mechanism]]\nkind = \"linkguardian\"\nlink = \"leaf0->spine1\"",
                "mechanism[1].link: leaf0->spine1 has LinkGuardian by another entry, and a link has one protection",
            ),
            (
                "copies = 2\nactual_loss_rate = 0.1",
                "mechanism[0].actual_loss_rate: has no effect when copies are given",
            ),
            ("pause_threshold = \"1 KB\"", "mechanism[0].pause_threshold: must be above resume_threshold"),
            // Found by the swarm: endless reports exhausted memory.
            (
                "notification_period = \"1 ps\"",
                "mechanism[0].notification_period: must be at least 430.08 ns, or reports fill the link that \
             they go back on",
            ),
            (
                "reordering_buffer = \"1 KB\"",
                "mechanism[0].reordering_buffer: must be at least 75767 B: pause_threshold (64614 B), and 11153 B that \
                 arrive until a pause has an effect (3.56912 us)\nhint: leave it out: it then follows from the link",
            ),
        ],
    );
}

#[test]
fn graphs_are_checked_as_a_whole() {
    let graph = "
[topology]
kind = \"graph\"
hosts = [\"a\", \"b\", \"a\", \"-c\"]
switches = [\"s\"]
links = [{ ends = [\"a\", \"x\"], rate = \"1 Gbps\", delay = \"1 us\" }]
";
    let start = BASE.find("[topology]").unwrap();
    let end = BASE.find("[switch]").unwrap();
    let error = errors(&format!("{}{graph}\n{}", &BASE[..start], &BASE[end..]));
    let rules: Vec<&str> = error.findings.iter().map(|finding| finding.rule.as_str()).collect();
    assert!(
        rules.contains(&"two nodes are called 'a'") && rules.contains(&"a link names 'x', which is no node"),
        "{error}"
    );
    assert!(error.findings.iter().all(|finding| finding.source_line == "[topology]"), "{error}");
}

#[test]
fn a_slip_of_a_digit_does_not_fill_the_memory() {
    let error =
        errors(&BASE.replace("leaves = 2", "leaves = 4096").replace("hosts_per_leaf = 2", "hosts_per_leaf = 4096"));
    assert_eq!(error.findings[0].rule, "16785408 links; at most 16777216 can be simulated");
}

#[test]
fn a_scenario_without_flows_and_end_runs_live_only() {
    let text = "\
        name = \"x\"\n\
        topology = { kind = \"dumbbell\", hosts_left = 1, hosts_right = 1, \
        host_link = { rate = \"1 Gbps\", delay = \"0 s\" }, bottleneck = { rate = \"1 Gbps\", delay = \"0 s\" } }\n\
        failure = [{ link = \"left<->right\", first = \"5 s\", outage = \"1 s\" }]\n";
    let scenario = check_for(text, "base.toml", Purpose::Live).expect("it may run live");
    let again = check_for(&scenario.effective_toml(), "base.toml", Purpose::Live).expect("so may what it spells out");
    assert_eq!(scenario, again);
    assert_eq!(scenario.frame_max().0, 1_518, "real hosts send full frames");
    let refused = errors(text).to_string();
    assert!(refused.contains("flows: must be given, because nothing else sends"), "{refused}");
    assert!(refused.contains("duration: must be given"), "{refused}");
    let with_end = format!("duration = \"1 s\"\n{text}");
    check_for(&with_end, "base.toml", Purpose::Live).expect("a live run knows no end, so nothing is behind it");
}
