//! Lossless classes by priority flow control: incasts without drops, headroom, deadlocks, watchdogs.

use hitless_core::engine::Progress;
use hitless_scenario::Scenario;
use hitless_simulation::Outcome;

use crate::support::{self, check, drops, numbers, simulation, sound, sum, times};
use crate::{checkpoints, partitions};

/// Speed of light in fibre: 5 ns/m.
const NS_PER_METRE: f64 = 5.0;

/// `senders` hosts on the left, and the receiver on the right.
pub struct Incast<'a> {
    pub senders: u32,
    pub gbps: u64,
    pub metres: f64,
    pub bytes: u64,
    pub pfc: &'a str,
    pub transport: &'a str,
    /// Bytes of the shared buffer beyond the headroom.
    pub shared_bytes: u64,
}

pub const INCAST: Incast<'_> = Incast {
    senders: 4,
    gbps: 100,
    metres: 200.0,
    bytes: 1_000_000,
    pfc: "pfc = {}",
    transport: "window = 100000\nmtu = \"4 KiB\"",
    shared_bytes: 100_000,
};

impl Incast<'_> {
    pub fn text(&self, total_bytes: u64) -> String {
        let Incast { senders, gbps, metres, bytes, pfc, transport, .. } = self;
        let link = format!("{{ rate = \"{gbps} Gbps\", delay = \"{:.0} ps\" }}", metres * NS_PER_METRE * 1e3);
        format!(
            "name = \"incast\"\nuntil = \"all-flows-done\"\nduration = \"60 s\"\n\
             [topology]\nkind = \"dumbbell\"\nhosts_left = {senders}\nhosts_right = 1\n\
             host_link = {link}\nbottleneck = {link}\n\
             [switch]\nbuffer = {{ kind = \"shared\", total = \"{total_bytes} B\", alpha = 1.0 }}\n\
             ecn = {{ threshold = \"20 KB\", maximum = \"80 KB\", probability = 0.2 }}\n{pfc}\n\
             [[transport]]\nname = \"t\"\nkind = \"roce\"\n{transport}\n\
             [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0..h{}\"]\n\
             destinations = [\"h{senders}\"]\nsizes = {{ kind = \"fixed\", bytes = \"{bytes} B\" }}\n\
             period = \"1 ps\"\ncount = {senders}\n",
            senders - 1
        )
    }

    /// The scenario with a buffer of the headroom that it needs, and little more.
    fn scenario(&self) -> Scenario {
        let ample = sound(&self.text(100_000_000_000));
        let topology = ample.build_topology().expect("the topology is sound");
        let reserved = topology.switch_ids().map(|switch| ample.headroom_of_switch(&topology, switch)).max();
        sound(&self.text(reserved.unwrap_or(0) + self.shared_bytes))
    }

    /// Runs it, and asserts that every byte arrives and nothing is dropped or retransmitted.
    pub fn runs_without_loss(&self) -> Outcome {
        let outcome = support::run_scenario(&self.scenario());
        let what = format!("{} Gb/s, {} m, {}: {:?}", self.gbps, self.metres, self.transport, outcome.summary.drops);
        assert_eq!(outcome.summary.flows.completed, u64::from(self.senders), "{what}");
        assert_eq!(sum(&outcome, "ports", "lossless_drops"), 0, "{what}");
        assert_eq!(sum(&outcome, "flows", "packets_retransmitted"), 0, "{what}");
        assert!(outcome.summary.drops.is_empty(), "{what}");
        outcome
    }
}

#[test]
fn an_incast_loses_nothing_at_any_rate_and_length_of_cable() {
    for gbps in [10, 25, 100, 400, 800] {
        for metres in [1.0, 100.0, 10_000.0] {
            let cable_bytes = (metres * NS_PER_METRE * gbps as f64 / 8.0) as u64;
            let incast = Incast { gbps, metres, bytes: 300_000 + 4 * cable_bytes, ..INCAST };
            let outcome = incast.runs_without_loss();
            let used = numbers(&outcome, "ports", "headroom_peak_bytes").iter().max().copied().unwrap_or(0);
            let topology = incast.scenario().build_topology().expect("the topology is sound");
            let needed = incast.scenario().headroom_needed(&topology, &topology.switches[0].ports[0]);
            let sent = sum(&outcome, "ports", "pause_frames_sent");
            assert!(used > 0 && sent > 0, "{gbps} Gb/s, {metres} m: nothing was paused");
            assert!(used <= needed.bytes(), "{gbps} Gb/s, {metres} m: {used} B of {}", needed.arithmetic());
            // A group drains at a quarter of the rate at which it fills, and the shared buffer takes a part.
            let most = needed.cable_bytes + needed.response_bytes;
            assert!(used * 3 > most, "{gbps} Gb/s, {metres} m: {used} B of {}", needed.arithmetic());
        }
    }
}

#[test]
fn dcqcn_and_selective_repeat_lose_nothing_either() {
    for more in ["", "dcqcn = \"vendor\"", "recovery = \"selective-repeat\""] {
        let transport = format!("{}\ntimeout = \"50 ms\"\n{more}", INCAST.transport);
        Incast { transport: &transport, ..INCAST }.runs_without_loss();
    }
}

#[test]
fn all_of_127_connections_finish_in_an_incast_that_makes_them_give_up_without_flow_control() {
    let incast = Incast { senders: 127, bytes: 300_000, shared_bytes: 1_000_000, transport: "window = 512", ..INCAST };
    let outcome = incast.runs_without_loss();
    assert!(sum(&outcome, "ports", "pause_frames_sent") > 0, "nothing was paused");
    let without = Incast { pfc: "", ..incast };
    let outcome = support::run_scenario(&sound(&without.text(1_000_000)));
    assert!(outcome.summary.flows.failed > 0, "{:?}", outcome.summary.flows);
}

/// astra-sim#366: a headroom of three times rate and delay, as in ns-3's model, lacks the response time.
#[test]
fn headroom_too_small_for_the_cable_drops_packets_and_the_run_warns_with_the_arithmetic() {
    for (gbps, metres) in [(100, 200.0), (400, 20.0)] {
        let headroom = (3.0 * gbps as f64 * metres * NS_PER_METRE / 8.0) as u64;
        let pfc = format!("pfc = {{ headroom = \"{headroom} B\" }}");
        let incast = Incast { gbps, metres, pfc: &pfc, bytes: 2_000_000, ..INCAST };
        let outcome = support::run_scenario(&incast.scenario());
        assert!(sum(&outcome, "ports", "lossless_drops") > 0, "{gbps} Gb/s, {metres} m: no packet was dropped");
        assert_eq!(sum(&outcome, "ports", "lossless_drops"), drops(&outcome, "shared buffer full"));
        for part in [format!("switch.pfc.headroom is {headroom} B"), "(response)".into(), "lossless class 0".into()] {
            assert!(outcome.summary.warnings.iter().any(|line| line.contains(&part)), "{:?}", outcome.summary.warnings);
        }
    }
}

#[test]
fn buffers_that_cannot_hold_the_headroom_are_refused_with_the_arithmetic() {
    let refused = |text: &str, parts: &[&str]| {
        let error = check(text).expect_err("the buffer is too small");
        parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
    };
    let incast = Incast { gbps: 400, metres: 10_000.0, ..INCAST };
    refused(&incast.text(22_000_000), &["switch.buffer.total", "(cable, both ways)", "left reserves", "5 ports"]);
    let text = incast.text(1);
    let fixed =
        text.replace("kind = \"shared\", total = \"1 B\", alpha = 1.0", "kind = \"static\", per_port = \"300 KB\"");
    refused(&fixed, &["switch.buffer.per_port", "300000 B", "(response)"]);
    let mixed = format!(
        "{}[[flows]]\nname = \"g\"\nkind = \"long\"\ntransport = \"u\"\nclass = 1\nsources = [\"h0\"]\n\
         destinations = [\"h1\"]\n[[transport]]\nname = \"u\"\nkind = \"tcp\"\n",
        INCAST.text(22_000_000)
    );
    refused(&mixed, &["flows[1].class", "shares queue 0 with class 0"]);
    let changing = "[[link]]\nname = \"left->right\"\nchanges = [{ at = \"1 us\", delay = \"9 us\" }]\n";
    refused(&(INCAST.text(22_000_000) + changing), &["switch.pfc", "needs constant links"]);
}

/// Static buffers: the port's part of the buffer limits what enters through it.
#[test]
fn a_static_buffer_is_divided_into_threshold_and_headroom() {
    let text = INCAST.text(1);
    let text =
        text.replace("kind = \"shared\", total = \"1 B\", alpha = 1.0", "kind = \"static\", per_port = \"300 KB\"");
    let outcome = support::run(&text);
    assert!(sum(&outcome, "ports", "pause_frames_sent") > 0 && outcome.summary.drops.is_empty());
    assert_eq!(outcome.summary.flows.completed, 4);
}

/// A ring of five switches with a host each. Every host sends to the host two hops clockwise.
pub fn ring(pfc: &str) -> String {
    let hosts = (0..5).map(|i| format!("{{ ends = [\"h{i}\", \"s{i}\"], rate = \"100 Gbps\", delay = \"1 us\" }}"));
    let ring =
        (0..5).map(|i| format!("{{ ends = [\"s{i}\", \"s{}\"], rate = \"100 Gbps\", delay = \"1 us\" }}", (i + 1) % 5));
    let links: Vec<String> = hosts.chain(ring).collect();
    let flows = (0..5).map(|i| {
        format!(
            "[[flows]]\nname = \"f{i}\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h{i}\"]\n\
             destinations = [\"h{}\"]\nsizes = {{ kind = \"fixed\", bytes = \"2 MB\" }}\nperiod = \"1 us\"\ncount = 1\n",
            (i + 2) % 5
        )
    });
    format!(
        "name = \"ring\"\nuntil = \"all-flows-done\"\nduration = \"60 ms\"\n[topology]\nkind = \"graph\"\n\
         hosts = [\"h0\", \"h1\", \"h2\", \"h3\", \"h4\"]\nswitches = [\"s0\", \"s1\", \"s2\", \"s3\", \"s4\"]\n\
         links = [{}]\n[switch]\nbuffer = {{ kind = \"shared\", total = \"1 MB\", alpha = 1.0 }}\n{pfc}\n\
         [[transport]]\nname = \"t\"\nkind = \"roce\"\nwindow = 100000\n{}",
        links.join(", "),
        flows.collect::<String>()
    )
}

#[test]
fn a_ring_with_cyclic_routes_deadlocks_and_the_run_names_the_cycle() {
    for control in ["pfc = { xoff = \"30 KB\" }", "cbfc = { buffer = \"30 KB\" }"] {
        let scenario = sound(&ring(control));
        let outcome = support::run_scenario(&scenario);
        let cycle = "s0->s1 waits for s1->s2 waits for s2->s3 waits for s3->s4 waits for s4->s0 waits for s0->s1";
        let warnings = &outcome.summary.warnings;
        assert!(warnings.iter().any(|line| line.contains("deadlock") && line.contains(cycle)), "{warnings:?}");
        assert_eq!(outcome.summary.flows.completed, 0);
        let divided = simulation(&scenario).run_divided(3, 2, &Progress::default());
        assert_eq!(divided.summary.warnings, *warnings);
        assert_eq!(divided.summary.trace_hash, outcome.summary.trace_hash);
    }
}

#[test]
fn a_deadlock_is_told_once_although_another_switch_feeds_its_cycle() {
    let feeder = "[[flows]]\nname = \"feeder\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h5\"]\n\
                  destinations = [\"h1\"]\nsizes = { kind = \"fixed\", bytes = \"2 MB\" }\nperiod = \"1 us\"\ncount = 1\n";
    let link = |ends: &str| format!("{{ ends = [{ends}], rate = \"100 Gbps\", delay = \"1 us\" }}, ");
    let more = link("\"h5\", \"s5\"") + &link("\"s5\", \"s0\"");
    let text = ring("pfc = { xoff = \"30 KB\" }")
        .replace("\"h4\"]\nswitches", "\"h4\", \"h5\"]\nswitches")
        .replace("\"s4\"]\nlinks = [", &format!("\"s4\", \"s5\"]\nlinks = [{more}"));
    let outcome = support::run(&(text + feeder));
    let deadlocks = outcome.summary.warnings.iter().filter(|line| line.contains("deadlock")).count();
    assert_eq!(deadlocks, 1, "{:?}", outcome.summary.warnings);
}

#[test]
fn a_watchdog_breaks_the_deadlock() {
    for action in ["drop", "forward"] {
        let watchdog =
            format!("pfc = {{ xoff = \"30 KB\", watchdog = {{ action = \"{action}\", detection = \"200 us\" }} }}");
        let outcome = support::run(&ring(&watchdog));
        assert!(sum(&outcome, "ports", "pause_storms") > 0, "{action}");
        assert!(!outcome.summary.warnings.iter().any(|line| line.contains("deadlock")), "{action}");
        assert!(outcome.summary.flows.completed > 0, "{action}: {:?}", outcome.summary.flows);
        assert_eq!(drops(&outcome, "dropped by the watchdog of flow control") > 0, action == "drop", "{action}");
    }
}

/// Class 3 is paused, class 0 of the same host continues.
pub const TWO_CLASSES: &str = "name = \"two\"\nuntil = \"all-flows-done\"\nduration = \"1 s\"\n\
    [topology]\nkind = \"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = 6\n\
    host_link = { rate = \"100 Gbps\", delay = \"1 us\" }\ncore_link = { rate = \"100 Gbps\", delay = \"1 us\" }\n\
    [switch]\nqueues_per_port = 8\nscheduler = \"strict\"\nbuffer = { kind = \"shared\", total = \"2 MB\", alpha = 1.0 }\n\
    pfc = {}\n[host]\nkernel = { send = \"2 us\", receive = \"2 us\" }\n\
    [[transport]]\nname = \"r\"\nkind = \"roce\"\nwindow = 100000\n\
    [[transport]]\nname = \"t\"\nkind = \"tcp\"\n\
    [[flows]]\nname = \"r\"\nkind = \"schedule\"\ntransport = \"r\"\nclass = 3\nsources = [\"h0..h3\"]\n\
    destinations = [\"h4\"]\nsizes = { kind = \"fixed\", bytes = \"4 MB\" }\nperiod = \"1 ps\"\ncount = 4\n\
    [[flows]]\nname = \"t\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
    destinations = [\"h5\"]\nsizes = { kind = \"fixed\", bytes = \"4 MB\" }\nperiod = \"1 us\"\ncount = 1\n";

#[test]
fn a_paused_class_leaves_the_other_classes_of_its_host_alone() {
    let outcome = support::run(TWO_CLASSES);
    assert_eq!(outcome.summary.flows.completed, 5);
    assert!(outcome.summary.drops.is_empty(), "{:?}", outcome.summary.drops);
    let finished = times(&outcome, "flows", "finished_ps");
    let groups = support::texts(&outcome, "flows", "group");
    let last = |name: &str| groups.iter().zip(finished).filter(|(group, _)| *group == name).map(|(_, at)| *at).max();
    let (tcp, roce) = (last("t").expect("a flow"), last("r").expect("a flow"));
    // TCP has the line of its host nearly to itself while RoCE is paused.
    assert!(tcp * 2 < roce, "TCP ends at {tcp} ps, RoCE at {roce}");
}

#[test]
fn lossless_runs_go_on_from_checkpoints_and_are_the_same_in_partitions() {
    let watched = ring("pfc = { xoff = \"30 KB\", watchdog = { detection = \"200 us\" } }");
    let texts = [TWO_CLASSES.to_owned(), INCAST.text(2_000_000), ring("pfc = { xoff = \"30 KB\" }"), watched];
    for text in texts {
        checkpoints::goes_on(&sound(&text), &[0.05, 0.3, 0.7]);
        partitions::compare_in_pieces(&text, &[(2, 2), (5, 2)]);
    }
}
