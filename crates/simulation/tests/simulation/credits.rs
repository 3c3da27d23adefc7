//! Lossless classes by credits: throughput in closed form, incasts without drops, losses, deadlocks, refusals.

use crate::lossless::{INCAST, Incast, TWO_CLASSES, ring};
use crate::support::{self, check, drops, numbers, sound, sum, times};
use crate::{checkpoints, partitions};

/// A flow of datagrams at line rate through two switches without latency, over three equal links.
#[derive(Clone, Copy)]
struct OneFlow {
    gbps: u64,
    delay_ps: u64,
    frame_bytes: u64,
    /// Response time to updates.
    response_ps: u64,
}

/// Headers of a datagram's frame.
const HEADER_BYTES: u64 = 46;
const OVERHEAD_BYTES: u64 = 20;

impl OneFlow {
    fn text(&self, frames: u64, cbfc: &str) -> String {
        let OneFlow { gbps, delay_ps, frame_bytes, .. } = self;
        let link = format!("{{ rate = \"{gbps} Gbps\", delay = \"{delay_ps} ps\" }}");
        format!(
            "name = \"one\"\nclocks = \"ideal\"\nuntil = \"all-flows-done\"\nduration = \"10 s\"\n\
             [topology]\nkind = \"dumbbell\"\nhosts_left = 1\nhosts_right = 1\nhost_link = {link}\nbottleneck = {link}\n\
             [switch]\npreset = \"ideal\"\nbuffer = {{ kind = \"static\", per_port = \"1 GB\" }}\n{cbfc}\n\
             [[transport]]\nname = \"t\"\nkind = \"udp\"\nrate = \"{gbps} Gbps\"\nframe_bytes = \"{frame_bytes} B\"\n\
             [[flows]]\nname = \"f\"\nkind = \"schedule\"\ntransport = \"t\"\nsources = [\"h0\"]\n\
             destinations = [\"h1\"]\nsizes = {{ kind = \"fixed\", bytes = \"{} B\" }}\nperiod = \"1 us\"\ncount = 1\n",
            frames * (frame_bytes - HEADER_BYTES)
        )
    }

    fn cbfc(&self, more: &str) -> String {
        format!("cbfc = {{ response = \"{} ps\"{more} }}", self.response_ps)
    }

    /// Time until the last of `frames` has arrived.
    fn finish_ps(&self, frames: u64, cbfc: &str) -> i64 {
        let outcome = support::run(&self.text(frames, cbfc));
        assert!(outcome.summary.drops.is_empty(), "{:?}", outcome.summary.drops);
        times(&outcome, "flows", "finished_ps")[0]
    }

    fn line_ps(&self, bytes: u64) -> u64 {
        bytes * 8_000 / self.gbps
    }

    /// Time from the start of a frame until its credits can be used again: the frame, the cable both ways, an update of
    /// 8 B, the response time.
    fn round_trip_ps(&self) -> u64 {
        self.line_ps(self.frame_bytes + OVERHEAD_BYTES) + 2 * self.delay_ps + self.line_ps(8) + self.response_ps
    }
}

/// 5 ns/m, from 1 m to 10 km, and from 10 to 800 Gb/s.
const FLOWS: [OneFlow; 7] = [
    OneFlow { gbps: 10, delay_ps: 5_000, frame_bytes: 1_000, response_ps: 0 },
    OneFlow { gbps: 10, delay_ps: 50_000_000, frame_bytes: 9_000, response_ps: 3_430_000 },
    OneFlow { gbps: 100, delay_ps: 500_000, frame_bytes: 1_000, response_ps: 2_000_000 },
    OneFlow { gbps: 100, delay_ps: 1_000_000, frame_bytes: 4_150, response_ps: 0 },
    OneFlow { gbps: 400, delay_ps: 5_000, frame_bytes: 1_500, response_ps: 1_158_400 },
    OneFlow { gbps: 800, delay_ps: 5_000, frame_bytes: 9_000, response_ps: 0 },
    OneFlow { gbps: 800, delay_ps: 50_000_000, frame_bytes: 9_000, response_ps: 1_000_000 },
];

#[test]
fn the_throughput_of_a_flow_is_the_line_or_the_memory_for_each_round_trip() {
    for flow in FLOWS {
        let frame_ps = flow.line_ps(flow.frame_bytes + OVERHEAD_BYTES);
        let whole_line = flow.round_trip_ps().div_ceil(frame_ps);
        let mut windows = vec![1, whole_line / 4, whole_line.saturating_sub(1), whole_line, whole_line + 3];
        windows.retain(|&window| window > 0);
        for window in windows {
            let memory_bytes = window * flow.frame_bytes.next_multiple_of(64);
            let cbfc = flow.cbfc(&format!(", buffer = \"{memory_bytes} B\""));
            let (few, many) = (2, 4);
            let passed_ps = flow.finish_ps(many * window, &cbfc) - flow.finish_ps(few * window, &cbfc);
            let expected_ps = (many - few) * flow.round_trip_ps().max(window * frame_ps);
            assert_eq!(passed_ps as u64, expected_ps, "{} Gb/s, {} ps, {window} frames", flow.gbps, flow.delay_ps);
        }
    }
}

/// The link between the switches has the longest round trip, because hosts have no pipelines.
#[test]
fn the_highest_throughput_of_a_scenario_is_that_of_the_slowest_link() {
    let flow = FLOWS[2];
    let latencies = "ingress_latency = \"300 ns\"\negress_latency = \"170 ns\"\nphy_latency = \"11 ns\"\n";
    for frames in [1, 5, 17] {
        let cbfc = flow.cbfc(&format!(", buffer = \"{} B\"", frames * 1_024));
        let scenario = sound(&flow.text(2 * frames, &(latencies.to_owned() + &cbfc)));
        let topology = scenario.build_topology().expect("the topology is sound");
        let settings = scenario.switch.cbfc.clone().unwrap_or_default();
        let links = topology.switches.iter().flat_map(|switch| &switch.ports).map(|port| port.link);
        let each = links.map(|link| scenario.credit_throughput(&settings, &topology, link).as_bps());
        let slowest_bps = each.min().expect("there are links") as f64;
        let finish_ps = |frames| flow.finish_ps(frames, &(latencies.to_owned() + &cbfc));
        let passed_ps = (finish_ps(8 * frames) - finish_ps(4 * frames)) as f64;
        let bps = (4 * frames * (flow.frame_bytes + OVERHEAD_BYTES) * 8) as f64 / (passed_ps * 1e-12);
        assert!((bps / slowest_bps - 1.0).abs() < 1e-6, "{frames} frames: {bps} of {slowest_bps}");
    }
}

/// A credit costs memory as a whole: 1,000 B take four credits of 250 B, or two of 512 B.
#[test]
fn a_frame_takes_whole_credits() {
    let flow = FLOWS[2];
    for (credit_bytes, memory_bytes, frames) in [(250, 4_000, 4), (250, 3_999, 3), (512, 4_096, 4), (512, 4_095, 3)] {
        let cbfc = flow.cbfc(&format!(", buffer = \"{memory_bytes} B\", credit = \"{credit_bytes} B\""));
        let passed_ps = flow.finish_ps(4 * frames, &cbfc) - flow.finish_ps(2 * frames, &cbfc);
        assert_eq!(passed_ps as u64, 2 * flow.round_trip_ps(), "{credit_bytes} B, {memory_bytes} B");
    }
}

#[test]
fn the_default_memory_keeps_every_line_busy() {
    for flow in FLOWS {
        let frames = 3 * flow.round_trip_ps() / flow.line_ps(flow.frame_bytes) + 20;
        assert_eq!(flow.finish_ps(frames, &flow.cbfc("")), flow.finish_ps(frames, ""), "{} Gb/s", flow.gbps);
        // Updates far apart need more memory, which the default has.
        let spaced = flow.cbfc(", update_spacing = \"50 KB\"");
        assert_eq!(flow.finish_ps(frames, &spaced), flow.finish_ps(frames, ""), "{} Gb/s, 50 KB", flow.gbps);
    }
}

/// Both directions are full, and each carries the updates of the other: 8 B for every 1,020 B.
#[test]
fn updates_take_their_time_on_the_line() {
    let flow = FLOWS[2];
    let both = |cbfc: &str| {
        let text = flow.text(2_000, cbfc).replace("sources = [\"h0\"]", "sources = [\"h0\", \"h1\"]");
        let outcome = support::run(
            &text
                .replace("destinations = [\"h1\"]", "destinations = [\"h0\", \"h1\"]")
                .replace("count = 1", "count = 2"),
        );
        assert_eq!(outcome.summary.flows.started, 2);
        let sent = sum(&outcome, "ports", "pause_frames_sent");
        (times(&outcome, "flows", "finished_ps").iter().max().copied().unwrap_or(0) as f64, sent)
    };
    let ((with, sent), (without, _)) = (both(&flow.cbfc("")), both(""));
    let factor = with / without;
    assert!((1.004..1.010).contains(&factor), "{factor}");
    // Each switch sends one for nearly every frame that leaves it: two switches, two directions.
    assert!((6_000..=8_000).contains(&sent), "{sent}");
}

/// All classes are in use, and fill the line. The links of the scenario never lose a frame, but they could.
#[test]
fn counts_of_consumed_credits_leave_nearly_the_whole_line_to_frames() {
    for (flow, classes) in [(FLOWS[0], 1), (FLOWS[2], 3), (FLOWS[2], 8), (FLOWS[4], 4), (FLOWS[5], 8)] {
        let finish_ps = |spacing: &str, link: &str| {
            let cbfc = format!("cbfc = {{ classes = {:?}{spacing} }}", (0..classes).collect::<Vec<u64>>());
            let text = flow.text(4_000 / classes, &format!("queues_per_port = 8\nscheduler = \"drr\"\n{cbfc}"));
            let (scenario, group) = text.split_once("[[flows]]").expect("a group of flows");
            let of_class =
                |class| format!("[[flows]]\n{}class = {class}\n", group.replace("\"f\"", &format!("\"f{class}\"")));
            let outcome =
                support::run(&((0..classes).fold(scenario.to_owned(), |text, class| text + &of_class(class)) + link));
            assert!(outcome.summary.drops.is_empty(), "{:?}", outcome.summary.drops);
            *times(&outcome, "flows", "finished_ps").iter().max().expect("flows") as f64
        };
        let rare = lossy("right->h1", 1e-15);
        let without = finish_ps("", "");
        let minimum = format!(", sync_spacing = \"{} B\"", 16 * 84 * classes);
        for (spacing, share_max) in [("", 84.0 / 16_384.0), (&*minimum, 1.0 / 16.0)] {
            let share = 1.0 - without / finish_ps(spacing, &rare);
            // A class sends counts only while its credits are in use: of eight classes each is idle for some time.
            let range = 0.4 * share_max..share_max;
            assert!(range.contains(&share), "{} Gb/s, {classes} classes{spacing}: {share}", flow.gbps);
        }
    }
}

#[test]
fn an_incast_from_sixteen_loses_nothing_at_any_rate_and_length_of_cable() {
    for (gbps, metres) in [(10, 1.0), (10, 10_000.0), (100, 200.0), (400, 20.0), (800, 500.0)] {
        // Sixteen senders wait for the whole incast, longer than for a default timeout.
        let transport = "window = 100000\nmtu = \"4 KiB\"\ntimeout = \"50 ms\"";
        let incast = Incast { senders: 16, gbps, metres, bytes: 100_000, pfc: "cbfc = {}", transport, ..INCAST };
        let outcome = incast.runs_without_loss();
        let peaks = numbers(&outcome, "ports", "headroom_peak_bytes");
        assert!(peaks.iter().max().is_some_and(|&peak| peak > 20_000), "{gbps} Gb/s, {metres} m: {peaks:?}");
    }
    for more in ["", "dcqcn = \"vendor\"", "recovery = \"selective-repeat\""] {
        let transport = format!("{}\ntimeout = \"50 ms\"\n{more}", INCAST.transport);
        Incast { senders: 16, pfc: "cbfc = {}", transport: &transport, ..INCAST }.runs_without_loss();
    }
}

/// Rows of the table in docs/how-to/lossless.md, for frames of 4,174 B: rate, headroom of PFC, default memory of credits.
/// A class with credits loses nothing with memory for one frame.
#[test]
fn credits_lose_nothing_with_less_memory_than_pauses_need() {
    let reserved = |gbps: u64, metres: f64, control: &str| {
        let scenario = sound(&Incast { senders: 16, gbps, metres, pfc: control, ..INCAST }.text(100_000_000_000));
        let topology = scenario.build_topology().expect("the topology is sound");
        assert_eq!(scenario.frame_max().0, 4_174);
        let port = topology.switches[1].ports.iter().find(|port| port.faces_switch()).expect("the bottleneck");
        scenario.reserved(&topology, port)
    };
    let rows = [(10, 1.0), (100, 200.0), (400, 20.0), (800, 10_000.0)]
        .map(|(gbps, metres)| [gbps, reserved(gbps, metres, "pfc = {}"), reserved(gbps, metres, "cbfc = {}")]);
    assert_eq!(
        rows,
        [[10, 19_456, 21_120], [100, 77_824, 80_256], [400, 139_264, 143_616], [800, 10_186_752, 10_260_096]]
    );
    for metres in [20.0, 2_000.0] {
        let (pfc, transport) =
            ("cbfc = { buffer = \"4224 B\" }", "window = 100000\nmtu = \"4 KiB\"\ntimeout = \"50 ms\"");
        Incast { senders: 16, metres, bytes: 40_000, pfc, transport, ..INCAST }.runs_without_loss();
    }
}

fn lossy(link: &str, rate: f64) -> String {
    format!("[[link]]\nname = \"{link}\"\nloss = {{ kind = \"bernoulli\", rate = {rate} }}\n")
}

/// Frames and messages are lost in both directions. A lost frame takes credits along, a lost update keeps them.
#[test]
fn lost_frames_and_lost_credits_are_repaired() {
    let transport =
        "window = 100000\nmtu = \"1 KiB\"\nrecovery = \"selective-repeat\"\ntimeout = \"2 ms\"\nretries = 100";
    for (rate, buffer) in [(1e-3, ""), (1e-2, ""), (5e-2, "buffer = \"5 KB\"")] {
        let control = format!("cbfc = {{ {buffer} }}");
        let incast = Incast { pfc: &control, transport, bytes: 400_000, metres: 20.0, ..INCAST };
        let links: String =
            ["left->right", "right->left", "h0->left", "left->h0"].map(|link| lossy(link, rate)).concat();
        let outcome = support::run(&(incast.text(22_000_000) + &links));
        assert_eq!(outcome.summary.flows.completed, 4, "{rate}: {:?}", outcome.summary.warnings);
        assert!(drops(&outcome, "corrupted on a link") > 0, "{rate}");
        assert_eq!(sum(&outcome, "ports", "lossless_drops"), 0, "{rate}");
    }
}

/// A link is down for a while with the memory of the class in flight.
#[test]
fn credits_of_frames_that_a_failure_took_return() {
    let incast = Incast {
        pfc: "cbfc = { buffer = \"10 KB\" }",
        transport: "window = 100000\nmtu = \"1 KiB\"\nrecovery = \"selective-repeat\"\ntimeout = \"1 ms\"\nretries = 100",
        ..INCAST
    };
    let failure = "[[failure]]\nlink = \"left<->right\"\nfirst = \"20 us\"\noutage = \"30 us\"\n";
    let outcome = support::run(&(incast.text(22_000_000) + failure));
    assert_eq!(outcome.summary.flows.completed, 4, "{:?}", outcome.summary.warnings);
    assert!(drops(&outcome, "lost on a link that was down") > 0);
}

/// Frames end before their queues while counts of consumed credits arrive: first those without a route, because all
/// switches have withdrawn the only path, then those with a TTL that is too short.
#[test]
fn credits_of_frames_that_end_in_ingress_return_once() {
    let transport =
        "window = 100000\nmtu = \"1 KiB\"\nrecovery = \"selective-repeat\"\ntimeout = \"50 us\"\nretries = 100";
    let incast = Incast { pfc: "preset = \"tofino-like\"\ncbfc = { buffer = \"10 KB\" }", transport, ..INCAST };
    let failure = "[[failure]]\nlink = \"left<->right\"\nfirst = \"20 us\"\noutage = \"300 us\"\n\
                   [recovery]\ndetection = { kind = \"fixed\", delay = \"10 us\" }\n\
                   scheme = { kind = \"withdraw\", notice = \"20 us\" }\n";
    let outcome = support::run(&(incast.text(22_000_000) + failure));
    assert!(drops(&outcome, "no route") > 0, "{:?}", outcome.summary.drops);
    assert_eq!(outcome.summary.flows.completed, 4, "{:?}", outcome.summary.warnings);
    let text =
        incast.text(22_000_000).replace("60 s", "2 ms") + &lossy("h0->left", 1e-2) + "[host]\ntime_to_live = 1\n";
    let outcome = support::run(&text);
    // The receiver has memory for 40 frames, so that credits of dropped frames must have returned.
    assert!(drops(&outcome, "time to live") > 200, "{:?}", outcome.summary.drops);
}

#[test]
fn a_watchdog_breaks_the_deadlock_of_credits() {
    let outcome = support::run(&ring(WATCHED));
    assert!(sum(&outcome, "ports", "pause_storms") > 0);
    assert!(drops(&outcome, "dropped by the watchdog of flow control") > 0);
    assert!(!outcome.summary.warnings.iter().any(|line| line.contains("deadlock")), "{:?}", outcome.summary.warnings);
    assert!(outcome.summary.flows.completed > 0, "{:?}", outcome.summary.flows);
}

#[test]
fn a_class_without_credit_leaves_the_other_classes_of_its_host_alone() {
    let text = TWO_CLASSES.replace("pfc = {}", "cbfc = {}");
    let outcome = support::run(&(text + "[measure]\nautopsy = true\norder = true\n"));
    assert_eq!(outcome.summary.flows.completed, 5);
    assert!(outcome.summary.drops.is_empty(), "{:?}", outcome.summary.drops);
}

const WATCHED: &str = "cbfc = { buffer = \"30 KB\", watchdog = { detection = \"200 us\" } }";

#[test]
fn runs_with_credits_go_on_from_checkpoints_and_are_the_same_in_partitions() {
    let loss = lossy("left->right", 1e-2) + &lossy("left->h0", 1e-2);
    let transport = "window = 100000\nmtu = \"1 KiB\"\nrecovery = \"selective-repeat\"\ntimeout = \"1 ms\"";
    let lossy_incast = Incast { pfc: "cbfc = {}", transport, bytes: 200_000, ..INCAST }.text(2_000_000) + &loss;
    let texts = [TWO_CLASSES.replace("pfc = {}", "cbfc = {}"), lossy_incast, ring(WATCHED)];
    for text in texts {
        checkpoints::goes_on(&sound(&text), &[0.05, 0.3, 0.7]);
        partitions::compare_in_pieces(&text, &[(2, 2), (5, 2)]);
    }
}

#[test]
fn memory_below_the_round_trip_warns_with_the_highest_throughput() {
    let incast = Incast { pfc: "cbfc = { buffer = \"10 KB\" }", ..INCAST };
    let outcome = support::run_scenario(&sound(&incast.text(22_000_000)));
    for part in ["switch.cbfc.buffer is 10000 B", "(cable, both ways)", "a class of frames of 4174 B gets at most 1"] {
        assert!(outcome.summary.warnings.iter().any(|line| line.contains(part)), "{:?}", outcome.summary.warnings);
    }
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_arithmetic() {
    let with = |control: &str| Incast { pfc: control, ..INCAST }.text(22_000_000);
    let far = Incast { pfc: "cbfc = { credit = \"1 B\" }", metres: 10_000.0, gbps: 400, ..INCAST }.text(1_000_000_000);
    let cases = [
        (with("cbfc = { buffer = \"4 KB\" }"), vec!["switch.cbfc.buffer", "holds 3968 B", "it would never start"]),
        (with("cbfc = {}\npfc = {}"), vec!["switch.cbfc", "leave out switch.pfc"]),
        (with("cbfc = { credit = \"0 B\" }"), vec!["switch.cbfc.credit", "from 1 to 65535 B"]),
        (with("cbfc = { update_spacing = \"7 B\" }"), vec!["switch.cbfc.update_spacing", "at least 8 B"]),
        (with("cbfc = { watchdog = { action = \"forward\" } }"), vec!["switch.cbfc.watchdog.action", "no room"]),
        (with("cbfc = { sync_spacing = \"0 B\" }"), vec!["switch.cbfc.sync_spacing", "at least 1344 B"]),
        (
            with("cbfc = { sync_spacing = \"1343 B\" }"),
            vec![
                "switch.cbfc.sync_spacing",
                "at least 1344 B, 16 counts of 84 B for each lossless class (1)",
                "1/16 of a",
            ],
        ),
        (
            with("queues_per_port = 8\nscheduler = \"drr\"\ncbfc = { classes = [1, 3, 5], sync_spacing = \"4 KB\" }"),
            vec!["switch.cbfc.sync_spacing", "at least 4032 B, 16 counts of 84 B for each lossless class (3)"],
        ),
        (with("cbfc = { buffer = \"9 MB\" }"), vec!["switch.buffer.total", "memory for credits", "switch.cbfc.buffer"]),
        (far, vec!["switch.cbfc.credit", "a counter has 20 bits", "credit = \"64 B\""]),
        (
            with("cbfc = {}") + "[[mechanism]]\nkind = \"link-layer-retry\"\nlink = \"left->right\"\n",
            vec!["mechanism[0].kind", "out of the order", "leave out [switch.cbfc]"],
        ),
        (
            with("cbfc = {}") + "[[link]]\nname = \"left->right\"\nchanges = [{ at = \"1 us\", delay = \"9 us\" }]\n",
            vec!["switch.cbfc", "needs constant links"],
        ),
    ];
    for (text, parts) in cases {
        let error = check(&text).err().unwrap_or_else(|| panic!("{parts:?} was accepted"));
        parts.iter().for_each(|part| assert!(error.contains(part), "{part}: {error}"));
    }
}
